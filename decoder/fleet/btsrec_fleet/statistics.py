# SPDX-License-Identifier: GPL-2.0-or-later
"""Is it chance? Fisher's exact test, and Benjamini and Hochberg's correction for many tests."""

import math


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)


def _term(bad: int, shown: int, nr_bad: int, nr_good: int) -> float:
    """The probability of exactly @bad, if which of all crashes are bad is chance."""
    return math.exp(_log_choose(nr_bad, bad) + _log_choose(nr_good, shown - bad) -
                    _log_choose(nr_bad + nr_good, shown))


def _tail(bad: int, shown: int, nr_bad: int, nr_good: int, step: int) -> float:
    """The sum of terms from @bad on, in the direction in which they fall."""
    term = total = _term(bad, shown, nr_bad, nr_good)
    while term > total * 1e-17:
        if step > 0:
            term *= (nr_bad - bad) * (shown - bad) / ((bad + 1) * (nr_good - shown + bad + 1))
        else:
            term *= bad * (nr_good - shown + bad) / ((nr_bad - bad + 1) * (shown - bad + 1))
        bad += step
        total += term
    return total


def fisher(bad: int, good: int, nr_bad: int, nr_good: int) -> float:
    """The probability that chance puts at least @bad of @bad + @good into the group.

    Each of @nr_bad crashes of the group and @nr_good others shows the feature or not; @bad and
    @good of them do. One-sided: what the group has less often is no suspect.
    """
    shown = bad + good
    if not bad or not nr_good - good + nr_bad - bad:
        return 1.0
    if bad * (nr_bad + nr_good) > shown * nr_bad:
        return min(1.0, _tail(bad, shown, nr_bad, nr_good, 1))
    below = bad - 1
    if below < 0 or shown - below > nr_good:
        return 1.0
    return max(0.0, 1.0 - _tail(below, shown, nr_bad, nr_good, -1))


def benjamini_hochberg(chances: list[float]) -> list[float]:
    """For each chance the false discovery rate at which it is still called significant.

    It holds for tests that are independent or depend on each other positively, as edges of one
    function do.
    """
    order = sorted(range(len(chances)), key=chances.__getitem__, reverse=True)
    rates, least = [0.0] * len(chances), 1.0
    for nr_before, index in enumerate(order):
        least = min(least, chances[index] * len(chances) / (len(chances) - nr_before))
        rates[index] = least
    return rates
