# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of crashes, and what one shows that another does not."""

import collections
import dataclasses
import itertools

from . import statistics, tables
from .store import Store

GROUPED_BY = ("signature", "culprit", "site", "kernel")
KINDS = ("function", "edge", "value")


class Refused(Exception):
    """A question without an answer, and why."""


@dataclasses.dataclass
class Group:
    """Crashes that have a label in common."""

    grouped_by: str
    name: str
    crashes: int
    first_ns: int | None
    last_ns: int | None
    kernels: int
    verdict: str
    verdicts: int


@dataclasses.dataclass
class Feature:
    """What the group shows; bad and good count crashes that do, of nr_bad and nr_good."""

    kind: str
    place: str
    place_offset: int
    target: str
    target_offset: int
    bad: int
    good: int
    nr_bad: int
    nr_good: int
    ochiai: float
    tarantula: float
    increase: float
    why: int = 0  # crashes of the group in which btsrec why comes to this function
    p: float = 1.0
    q: float = 1.0
    rank: int = 0  # the same for those with the same scores
    alike: int = 1  # how many have this rank


def groups(store: Store, grouped_by: str) -> list[Group]:
    """The largest first."""
    found = [Group(*row) for row in store.run("groups.sql") if row[0] == grouped_by]
    return sorted(found, key=lambda group: (-group.crashes, group.name))


def title(store: Store, group: Group) -> str:
    """What the group has in common, for people."""
    if group.grouped_by in ("culprit", "site"):
        return store.name_of(group.name) if group.name else "(not known)"
    return tables.shown(group.name) or "(none)"


def choose(store: Store, grouped_by: str, name: str | None) -> Group:
    """The group of that name, or of the only name that begins so; None: the largest."""
    found = groups(store, grouped_by)
    if not found:
        raise Refused("there is no crash, only snapshots" if store.one("SELECT count(*) FROM cell")
                      else "there is no crash")
    if name is None:
        return found[0]
    named = [group for group in found if name in (group.name, title(store, group))] or \
        [group for group in found if group.name.startswith(name) or
         title(store, group).startswith(name)]
    if len(named) != 1:
        raise Refused(f"{len(named) or 'no'} groups by {grouped_by} are called '{name}'")
    return named[0]


def is_in(grouped_by: str, number: int) -> str:
    return f"healthy = 0 AND {grouped_by} = :name{number}"


def against(store: Store, group: Group, what: str) -> tuple[int, int]:
    """Compare a group with healthy machines, with other crashes, or with both."""
    inside = is_in(group.grouped_by, 1)
    good = {"healthy": "healthy = 1", "others": f"healthy = 0 AND NOT ({inside})",
            "all": f"NOT ({inside})"}[what]
    nr_bad, nr_good = store.set_sides(inside, good, {"name1": group.name})
    if not nr_good:
        raise Refused({"healthy": "there is no snapshot of a healthy machine; --against others "
                                  "compares with other crashes"}.get(what, "there is no other crash"))
    return nr_bad, nr_good


def between(store: Store, group: Group, other: Group) -> tuple[int, int]:
    """Compare two groups."""
    if group.name == other.name:
        raise Refused("the two groups are one")
    return store.set_sides(is_in(group.grouped_by, 1), is_in(other.grouped_by, 2),
                           {"name1": group.name, "name2": other.name})


def features(store: Store) -> list[Feature]:
    """All that either side shows, the most suspicious of each kind first."""
    found = [Feature(*row) for row in store.run("rank.sql")]
    chances: dict[tuple[int, int], float] = {}
    for feature in found:
        both = feature.bad, feature.good = int(feature.bad), int(feature.good)
        sides = feature.nr_bad, feature.nr_good = int(feature.nr_bad), int(feature.nr_good)
        if both not in chances:
            chances[both] = statistics.fisher(*both, *sides)
        feature.p = chances[both]
    for feature, rate in zip(found, statistics.benjamini_hochberg([one.p for one in found])):
        feature.q = rate
    number(found, dict(store.connection.execute(
        "SELECT culprit, sum(side.crashes) FROM side JOIN cell ON cell = member"
        " WHERE bad = 1 GROUP BY culprit")))
    return found


def number(found: list[Feature], culprits: dict[str, int]) -> None:
    """Sort, and give ranks.

    Within one those come first that are the culprit of most crashes, then those that btsrec why
    names.
    """
    why: dict[str, int] = {}
    for feature in found:
        if feature.kind == "value":
            why[feature.place] = max(why.get(feature.place, 0), feature.bad)
    for feature in found:
        feature.why = max(why.get(feature.place, 0), why.get(feature.target, 0))

    def scores(feature: Feature) -> tuple:
        return KINDS.index(feature.kind), -round(feature.ochiai, 12), -round(feature.increase, 12)

    found.sort(key=lambda one: (*scores(one), -max(culprits.get(one.place, 0),
                                                   culprits.get(one.target, 0)),
                                -one.why, one.place, one.place_offset, one.target,
                                one.target_offset))
    nr_kind = collections.Counter()
    for _, alike in itertools.groupby(found, key=scores):
        alike = list(alike)
        rank = nr_kind[alike[0].kind] + 1
        nr_kind[alike[0].kind] += len(alike)
        for feature in alike:
            feature.rank, feature.alike = rank, len(alike)
