# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of btsrec-fleet(1)."""

import argparse
import functools
import os
import pathlib
import signal
import sqlite3
import sys

import btsrec_standard

from . import output, page, parquet, rank, script, tables
from .store import Store

AGAINST = {"healthy": "{nr} snapshots of healthy machines", "others": "{nr} crashes of other groups",
           "all": "{nr} healthy snapshots and other crashes"}
BUSY = "another btsrec-fleet reads crashes into the database; try again when it is done"
EXIT_OK, EXIT_INCOMPLETE, EXIT_USAGE, EXIT_NOTHING, EXIT_SYSTEM = 0, 1, 2, 3, 5


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not 1 or more")
    return number


def path(text: str) -> pathlib.Path:
    """An empty one is that of a variable which is not set, and would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path is none")
    return pathlib.Path(text)


def parser() -> argparse.ArgumentParser:
    made = btsrec_standard.Parser(
        prog="btsrec-fleet", description="What the crashes of a fleet have in common.",
        epilog="DIR has a folder for each crash, as btsrec export --to tables writes it. "
               "btsrec-fleet(1) explains the output.")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (("groups", "how many crashes have what in common"),
                       ("rank", "what a group shows that healthy machines do not"),
                       ("compare", "what one group shows that another does not"),
                       ("report", "all groups and their suspects as a page for a browser")):
        command = commands.add_parser(name, help=text, description=text)
        add_by(command)
        if name == "rank":
            command.add_argument("--group", metavar="NAME", help="this group (default: the largest)")
            add_against(command)
        if name == "report":
            command.add_argument("--groups", type=positive, default=20, metavar="COUNT",
                                 help="so many of the largest (20)")
            add_against(command)
        if name in ("rank", "compare"):
            command.add_argument("--kind", choices=rank.KINDS, action="append", metavar="KIND",
                                 help="only function, edge or value (default: all)")
        command.add_argument("-n", "--count", type=positive, metavar="COUNT",
                             default=None if name == "groups" else 10,
                             help="rows of each list")
        if name != "report":
            command.add_argument("-f", "--format", choices=("text", "jsonl"), default="text",
                                 metavar="FORMAT", help="text (default) or jsonl")
        command.add_argument("-j", "--jobs", type=positive, default=min(os.cpu_count() or 1, 4),
                             metavar="COUNT", help="processes that read")
        command.add_argument("--database", metavar="FILE", type=path,
                             help="what was read (default: DIR/fleet.sqlite)")
        if name == "compare":
            command.add_argument("group", metavar="GROUP")
            command.add_argument("other", metavar="OTHER")
        command.add_argument("dir", metavar="DIR", type=path)
        if name == "report":
            command.add_argument("out", metavar="OUT", type=path)
    add_sql(commands)
    text = "write the tables of all crashes as Parquet, by DuckDB"
    command = commands.add_parser("parquet", help=text, description=text)
    command.add_argument("dir", metavar="DIR", type=path)
    command.add_argument("out", metavar="OUT", type=path,
                         help="a folder, which gets a file for each table")
    return made


def add_by(command) -> None:
    command.add_argument("--by", choices=rank.GROUPED_BY, default="signature", metavar="LABEL",
                         help="group by signature (default), culprit, site or kernel")


def add_against(command) -> None:
    command.add_argument("--against", choices=AGAINST, default="healthy", metavar="WHAT",
                         help="compare with healthy (default), others or all")


def add_sql(commands) -> None:
    text = "print groups or rank as a script for a column store"
    command = commands.add_parser("sql", help=text, description=text)
    command.add_argument("engine", choices=script.ENGINES, metavar="ENGINE",
                         help="duckdb or clickhouse")
    command.add_argument("question", choices=("groups", "rank"), metavar="QUESTION",
                         help="groups or rank")
    add_by(command)
    command.add_argument("--group", metavar="NAME", default="",
                         help="of rank: as the query of groups prints it")
    add_against(command)


def progress(done: str, nr_done: int, nr_all: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} {nr_done} of {nr_all}", end="\n" if nr_done == nr_all else "",
              file=sys.stderr, flush=True)


def say(text: str) -> None:
    print(f"btsrec-fleet: {tables.printable(text)}", file=sys.stderr)


def answer(args: argparse.Namespace, store: Store) -> None:
    if args.command == "groups":
        found = rank.groups(store, args.by)
        if args.format == "text":
            output.print_groups(store, found, args.count)
        else:
            for group in found[:args.count]:
                output.group_json(store, group)
        return
    if args.command == "report":
        page.write(store, args.out, args.by, args.against, (args.groups, args.count),
                   functools.partial(progress, "groups ranked:"))
        print(args.out)
        return
    group = rank.choose(store, args.by, args.group)
    if args.command == "rank":
        _, nr_good = rank.against(store, group, args.against)
        other = AGAINST[args.against]
    else:
        second = rank.choose(store, args.by, args.other)
        _, nr_good = rank.between(store, group, second)
        other = f"{rank.title(store, second)}: {{nr}} crashes"
    found = rank.features(store)
    kinds = tuple(kind for kind in rank.KINDS if kind in (args.kind or rank.KINDS))
    if args.format == "text":
        output.print_ranking(store, group, other, nr_good)
        output.print_features(store, found, kinds, args.count)
        return
    output.group_json(store, group)
    if args.command == "compare":
        output.group_json(store, second, "other")
    for kind in kinds:
        for feature in output.chosen(found, kind, args.count):
            output.feature_json(store, feature)


def nr_left_out(top: pathlib.Path, faults: list[str]) -> int:
    """How many folders are left out; says why."""
    for fault in faults:
        say(fault)
    unfinished = tables.nr_unfinished(top)
    if unfinished:
        say(f"{output.counted(unfinished, 'folder')} without crash.jsonl.zst left out: "
            "being written, or not written to the end")
    return len(faults) + unfinished


def run_parquet(args: argparse.Namespace) -> int:
    written, faults = parquet.write(args.dir, args.out,
                                    functools.partial(progress, "crashes read:"))
    left_out = nr_left_out(args.dir, faults)
    if not written:
        raise rank.Refused("there is no crash")
    for table, nr_rows, nr_bytes in written:
        print(f"{args.out / table}.parquet: {output.counted(nr_rows, 'row')}, {nr_bytes} bytes")
    return EXIT_INCOMPLETE if left_out else EXIT_OK


def run(args: argparse.Namespace) -> int:
    if args.command == "sql":
        print(script.script(args.engine, args.question, args.by, args.group, args.against), end="")
        return EXIT_OK
    if not args.dir.is_dir():
        say(f"{args.dir} is no folder")
        return EXIT_SYSTEM
    if tables.has(args.dir, "crash") and not tables.folders(args.dir):
        say(f"{args.dir} has the tables of one crash; DIR is the folder that has such folders")
        return EXIT_SYSTEM
    if args.command == "parquet":
        return run_parquet(args)
    store = Store(str(args.database or args.dir / "fleet.sqlite"))
    faults = store.add(args.dir, args.jobs, functools.partial(progress, "crashes read:"))
    left_out = nr_left_out(args.dir, faults)
    answer(args, store)
    return EXIT_INCOMPLETE if left_out else EXIT_OK


def main() -> int:
    btsrec_standard.catch_interrupts()
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = run(parser().parse_args())
        # What is refused now is a fault of this command, not of the interpreter's end.
        sys.stdout.flush()
        return status
    except rank.Refused as error:
        say(str(error))
        return EXIT_NOTHING
    except KeyboardInterrupt:
        say("interrupted; what was kept before stays")
        # Who started it sees that the signal ended it: a loop of a shell ends, too.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return EXIT_SYSTEM
    except BrokenPipeError:
        btsrec_standard.drop_output()
        return EXIT_OK
    except (tables.Unreadable, parquet.Refused, sqlite3.Error, OSError) as error:
        busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
        say(BUSY if busy else str(error))
        btsrec_standard.drop_output()
        return EXIT_SYSTEM
