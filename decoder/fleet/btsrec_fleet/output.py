# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers as text or as JSON Lines."""

import datetime
import json

from . import rank, tables
from .store import Store

# A false discovery rate at which what is printed is called significant.
SIGNIFICANT = 0.05


def place(store: Store, function: str, offset: int) -> str:
    name = store.name_of(function) if function else "-"
    if not offset:
        return name
    head, bracket, module = name.partition(" [")
    return f"{head}+{offset:#x}{bracket}{module}"


def described(store: Store, feature: rank.Feature) -> str:
    text = place(store, feature.place, feature.place_offset)
    if feature.kind == "edge":
        text += " -> " + place(store, feature.target, feature.target_offset)
    return text


def day(time_ns: int | None) -> str:
    if not time_ns:
        return "-"
    return datetime.datetime.fromtimestamp(time_ns // 10**9, datetime.timezone.utc).strftime("%F")


def counted(nr: int, what: str) -> str:
    return f"{nr} {what}" if nr == 1 else f"{nr} {what}{'es' if what.endswith('sh') else 's'}"


def count_groups(store: Store, found: list[rank.Group]) -> str:
    healthy = store.one("SELECT coalesce(sum(crashes), 0) FROM cell WHERE healthy = 1")
    return (f"{counted(sum(group.crashes for group in found), 'crash')} in "
            f"{counted(len(found), 'group')}, {counted(healthy, 'healthy snapshot')}")


def print_groups(store: Store, found: list[rank.Group], nr_rows: int | None) -> None:
    print(count_groups(store, found))
    print(f"\ncrashes kernels first      last       verdict                {found[0].grouped_by}"
          if found else "", end="\n" if found else "")
    for group in found[:nr_rows]:
        verdict = tables.shown(group.verdict) or "-"
        if group.verdicts > 1:
            verdict += f", {group.verdicts - 1} more"
        print(f"{group.crashes:7} {group.kernels:7} {day(group.first_ns):10} "
              f"{day(group.last_ns):10} {verdict:22} {rank.title(store, group)}")


def group_json(store: Store, group: rank.Group, kind: str = "group") -> None:
    row = {"kind": kind, "grouped_by": group.grouped_by, "name": group.name,
           "title": rank.title(store, group), "crashes": group.crashes, "kernels": group.kernels,
           "verdict": group.verdict, "verdicts": group.verdicts}
    row.update({key: value for key, value in (("first_ns", group.first_ns),
                                              ("last_ns", group.last_ns)) if value})
    print(json.dumps(row))


def feature_json(store: Store, feature: rank.Feature) -> None:
    row = {"kind": "feature", "feature": feature.kind, "rank": feature.rank, "alike": feature.alike,
           "text": described(store, feature)}
    if feature.place:
        row.update(function=feature.place, offset=feature.place_offset)
    if feature.target:
        row.update(to=feature.target, to_offset=feature.target_offset)
    row.update(group=feature.bad, others=feature.good, nr_group=feature.nr_bad,
               nr_others=feature.nr_good, why=feature.why, ochiai=feature.ochiai,
               tarantula=feature.tarantula, increase=feature.increase, p=feature.p, q=feature.q)
    print(json.dumps(row))


def chosen(found: list[rank.Feature], kind: str, nr_rows: int | None) -> list[rank.Feature]:
    """What the group has more often than the others; the first rows of that."""
    return [one for one in found if one.kind == kind and one.bad and one.increase > 0][:nr_rows]


def print_features(store: Store, found: list[rank.Feature], kinds: tuple[str, ...],
                   nr_rows: int | None) -> None:
    significant = sum(one.q <= SIGNIFICANT for one in found)
    print(f"features: {len(found)}, {significant} significant "
          f"(false discovery rate {SIGNIFICANT})")
    for kind in kinds:
        rows = chosen(found, kind, nr_rows)
        if not rows:
            print(f"\nno {kind} is more frequent in the group")
            continue
        print(f"\nrank alike Ochiai Tarantula Increase      group     others        q  why  {kind}")
        for one in rows:
            print(f"{one.rank:4} {one.alike:5} {one.ochiai:6.3f} {one.tarantula:9.3f} "
                  f"{one.increase:8.3f} {f'{one.bad}/{one.nr_bad}':>10} "
                  f"{f'{one.good}/{one.nr_good}':>10} {one.q:8.2g} {one.why:4}  "
                  f"{described(store, one)}")


def print_ranking(store: Store, group: rank.Group, other: str, nr_good: int) -> None:
    print(f"group:    {group.grouped_by} {rank.title(store, group)}: "
          f"{counted(group.crashes, 'crash')}, {tables.shown(group.verdict) or 'no verdict'}")
    print(f"against:  {other.format(nr=nr_good)}")
