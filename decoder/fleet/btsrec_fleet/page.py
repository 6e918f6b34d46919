# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups and their suspects as one page for a browser, without a script and without a network."""

import html
import os
import pathlib
import stat

from . import output, rank, tables
from .store import Store

TEMPLATE = pathlib.Path(__file__).parent / "page.html"
HEADS = {"function": "Functions that ran", "edge": "Branches that were taken",
         "value": "Where the bad value came from"}
AGAINST = {"healthy": "healthy machines", "others": "the crashes of other groups",
           "all": "healthy machines and other crashes"}
COLUMNS = ("rank", "alike", "Ochiai", "Tarantula", "Increase", "group", "others", "q", "why")


def write(store: Store, path: pathlib.Path, grouped_by: str, against: str, limits: tuple[int, int],
          progress) -> None:
    """The page of so many groups with so many rows of each kind; whole, or not there.

    A page that is there is replaced, and nothing else: no table, no database, no device.
    """
    if os.path.lexists(path) and not is_page(path):
        raise FileExistsError(f"{path} is there, and is no page of btsrec-fleet: remove it first")
    nr_groups, nr_rows = limits
    found = rank.groups(store, grouped_by)
    if not found:
        raise rank.Refused("there is no crash")
    shown = found[:nr_groups]
    parts = []
    for number, group in enumerate(shown):
        parts.append(of_group(store, group, against, nr_rows, number == 0,
                              group.crashes / max(1, found[0].crashes)))
        progress(number + 1, len(shown))
    counts = output.count_groups(store, found) + f"; each group beside {AGAINST[against]}"
    if len(shown) < len(found):
        counts += f"; the {len(shown)} largest groups are shown"
    text = TEMPLATE.read_text(encoding="utf-8")
    # The groups last: their names may be anything.
    for name, value in (("counts", html.escape(counts)), ("significant", str(output.SIGNIFICANT)),
                        ("groups", "\n".join(parts))):
        text = text.replace("{" + name + "}", value, 1)
    put(path, text)


def is_page(path: pathlib.Path) -> bool:
    """A regular file that begins as each page of ours does."""
    head = TEMPLATE.read_bytes().partition(b"</title>")[0]
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(len(head)) == head
    except OSError:
        return False


def put(path: pathlib.Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    try:
        with open(part, "x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def of_group(store: Store, group: rank.Group, against: str, nr_rows: int, is_open: bool,
             share: float) -> str:
    verdict = tables.shown(group.verdict) or "no verdict"
    if group.verdicts > 1:
        verdict += f", {group.verdicts - 1} more"
    facts = f"{verdict}; {output.counted(group.kernels, 'kernel')}; " \
        f"{output.day(group.first_ns)} to {output.day(group.last_ns)}"
    return (f"<details{' open' if is_open else ''}><summary>"
            f"<b>{html.escape(rank.title(store, group))}</b>: "
            f"{output.counted(group.crashes, 'crash')}<span>{html.escape(facts)}</span>"
            f'<div class="share"><i style="width: {100 * share:.1f}%"></i></div></summary>\n'
            f"{suspects(store, group, against, nr_rows)}</details>")


def suspects(store: Store, group: rank.Group, against: str, nr_rows: int) -> str:
    try:
        rank.against(store, group, against)
    except rank.Refused as error:
        return f'<p class="none">{html.escape(str(error))}</p>\n'
    found = rank.features(store)
    # Values first: they name the cause in one row or two.
    return "".join(of_kind(store, output.chosen(found, kind, nr_rows), kind)
                   for kind in reversed(rank.KINDS))


def of_kind(store: Store, rows: list[rank.Feature], kind: str) -> str:
    head = f"<h2>{HEADS[kind]}</h2>\n"
    if not rows:
        return f'{head}<p class="none">None is more frequent in the group.</p>\n'
    names = "".join(f'<th scope="col">{name}</th>' for name in (*COLUMNS, kind))
    return (f'{head}<div class="rows"><table><thead><tr>{names}</tr></thead><tbody>\n'
            + "".join(of_feature(store, one) for one in rows) + "</tbody></table></div>\n")


def of_feature(store: Store, one: rank.Feature) -> str:
    cells = (one.rank, one.alike, f"{one.ochiai:.3f}", f"{one.tarantula:.3f}",
             f"{one.increase:.3f}", f"{one.bad}/{one.nr_bad}", f"{one.good}/{one.nr_good}",
             f"{one.q:.2g}", one.why, output.described(store, one))
    return (f"<tr{' class=chance' if one.q > output.SIGNIFICANT else ''}>"
            + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>\n")
