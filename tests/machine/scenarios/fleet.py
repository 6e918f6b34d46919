# SPDX-License-Identifier: GPL-2.0-or-later
"""Real crashes of a driver with twenty bugs, and healthy machines that run it, too: does
btsrec-fleet name the guilty function of each bug?

One machine is taken back after each crash. The tables of all are in tables/. Each bug's crashes are
looked for in the group, by culprit, that most of them are in. The answer is right if the guilty
function is in the first row of functions, of edges or of values, as the command prints them,
against healthy machines or against all. With the labels of all crashes shuffled something may be
significant in one of twenty questions, as the false discovery rate says.
"""

import random
import statistics
import sys
from collections import Counter

import dump
import vm
import workload
from chosen import chosen
from context import SOURCE
from errors import Failure

sys.path.insert(0, str(SOURCE / "decoder/fleet"))

# pylint: disable=wrong-import-position
from btsrec_fleet import rank, store, tables  # noqa: E402

SUMMARY = "twenty bugs of a driver: btsrec-fleet ranks the guilty function first"

# The bug's step, and the function that does what is wrong in it.
BUGS = {"trim": "trim", "shift": "shift", "mark": "mark", "lookup": "lookup_failed",
        "store": "rollback", "chain": "chain", "hook": "hook", "pick": "pick",
        "divide": "divide", "put": "put", "truncate": "truncate", "unlink": "unlink",
        "flag": "flag", "fill": "fill", "submit": "retry", "await": "timeout", "append": "grow",
        "reserve": "share_out", "drop": "drop_twice", "drain": "drain"}
HEALTHY = "none"
SIGNIFICANT = 0.05
# Of so many questions one is expected to have something significant: by chance it is seldom four.
NR_SHUFFLES = 20
MAX_BY_CHANCE = 3
# The tables of a crash: two CPUs with rings of 1 MiB.
MAX_BYTES = 200_000

SCRIPT = workload.SHELL + """
echo 1 >/proc/sys/kernel/panic_on_oops
run=/sys/module/btsfleet/parameters/run
start_work
hurry
(while :; do echo none 20 >$run; usleep 2000; done) &
sleep 1
machine=$(ask machine)
# MILLISECONDS.STEP.NUMBER
usleep "${machine%%.*}000"
step=${machine#*.}
step=${step%%.*}
[ $step != none ] || finish 0
echo $step 40 >$run
"""


def add_options(parser):
    parser.add_argument("--bugs", default="all", metavar="LIST",
                        help='which: "all", or some by comma: ' + ", ".join(BUGS))
    parser.add_argument("--crashes", type=int, default=3, help="of each bug (3)")
    parser.add_argument("--healthy", type=int, default=15, help="snapshots (15)")
    parser.add_argument("--wanted", type=int, default=18,
                        help="of twenty bugs so many must be ranked first (18)")
    parser.add_argument("--again", action="store_true", help="no machine: the tables that are kept")


def _machines(context, bugs) -> list[str]:
    """What the guest is told, one for each crash and snapshot; the same each time."""
    wanted = [(step, number) for step in bugs for number in range(context.options.crashes)] + \
        [(HEALTHY, number) for number in range(context.options.healthy)]
    return [f"{random.Random(f'{step} {number}').randrange(50, 900)}.{step}.{number}"
            for step, number in wanted]


def _make(context, bugs, folder):
    """The tables of all crashes, a folder each; those that are there are kept."""
    path = context.out / "dump"
    wanted = [one for one in _machines(context, bugs) if not (folder / one).exists()]
    if not wanted:
        return
    modules = [*context.recorder_modules(), context.guest_module("btsfleet")]
    with context.boot(SCRIPT, modules, memory_mib=256, append=vm.TIME_LEAPS) as machine:
        for nr_done, one in enumerate(machine.each_end("machine", wanted, context.seconds(120))):
            if machine.panicked == (f".{HEALTHY}." in one):
                raise machine.failure(f"{one} has come to another end")
            path.unlink(missing_ok=True)
            machine.dump(path)
            dump.btsrec(context, "export", "--to", "tables", path, folder / one, ok=(0, 1))
            if nr_done % 20 == 0:
                context.say(f"{nr_done} of {len(wanted)} machines: {one}")
        machine.quit()
    path.unlink()


def _read(bugs, folder) -> dict[str, list[dict]]:
    """The rows of each crash by step; snapshots are of "none"."""
    found = {}
    for one in tables.folders(folder):
        step = one.name.split(".")[1]
        if step in (*bugs, HEALTHY):
            found.setdefault(step, []).append(
                {table: tables.rows(one, table) for table in tables.COLUMNS})
    return found


def _stored(crashes) -> tuple[store.Store, list[str]]:
    """All of them in a database in memory; and the culprit of each."""
    into = store.Store(":memory:")
    into.connection.executescript(store.ROWS)
    culprits = []
    for rows in crashes:
        fault = into.add_crash({table: [tuple(map(row.get, columns)) for row in rows[table]]
                                for table, columns in tables.COLUMNS.items()})
        if fault:
            raise Failure(f"{rows['crash'][0]['crash']}: {fault}")
        culprits.append(into.one(
            "SELECT culprit FROM cell JOIN crash_read USING (cell) WHERE crash = ?",
            rows["crash"][0]["crash"]))
    return into, culprits


def _place(into, found, kind: str, guilty: str) -> tuple[int, int]:
    """(row, rank) of the first feature of KIND that has the guilty function; 0: none has it."""
    rows = [one for one in found if one.kind == kind]
    for number, one in enumerate(rows, 1):
        if guilty in (into.name_of(one.place), into.name_of(one.target)):
            return number, one.rank
    return 0, 0


def _judge(context, into, step: str, culprits: list[str]) -> bool:
    """Is the guilty function the first that is named?"""
    guilty = f"{BUGS[step]} [btsfleet]"
    (culprit, nr_in), = Counter(culprits).most_common(1)
    group = rank.choose(into, "culprit", culprit)
    places = {}
    for against in ("healthy", "all"):
        rank.against(into, group, against)
        found = rank.features(into)
        for kind in rank.KINDS:
            places[kind, against] = _place(into, found, kind, guilty)
    right = any(row == 1 for row, _ in places.values())
    said = ", ".join(f"{kind} against {against}: row {row} of rank {number}"
                     for (kind, against), (row, number) in places.items())
    context.say(f"{step}: {'first' if right else 'not first'}; {nr_in} of {len(culprits)} in a "
                f"group of {group.crashes} by {rank.title(into, group)}; {said}")
    return right


def _by_chance(crashes) -> int:
    """How often anything that the largest group shows is not called chance, labels shuffled.

    What a crash shows is stored once, each in a cell of its own; by label goes only who is in the
    group. Values are left out: they are of the fault, as the label is.
    """
    into, _ = _stored(rows | {"value": [], "crash": [rows["crash"][0] | {"release": str(number)}]}
                      for number, rows in enumerate(crashes))
    cells = [row[0] for row in into.connection.execute("SELECT cell FROM cell")]
    nr_bad = rank.choose(into, "signature", None).crashes
    chance = random.Random(7)
    found = 0
    for _ in range(NR_SHUFFLES):
        into.connection.execute("DELETE FROM side")
        into.connection.executemany(
            "INSERT INTO side VALUES (?, ?, 1)",
            [(cell, int(place < nr_bad))
             for place, cell in enumerate(chance.sample(cells, len(cells)))])
        found += any(one.q <= SIGNIFICANT for one in rank.features(into))
    return found


def _say_sizes(context, folder) -> int:
    """Rows and bytes of each table, medians; returns the median of all tables of a crash."""
    folders = tables.folders(folder)
    sizes = {}
    for path in sorted(folders[0].glob("*.zst")):
        rows = [tables.unpack(one / path.name).count(b"\n") for one in folders]
        sizes[path.name] = [(one / path.name).stat().st_size for one in folders]
        context.say(f"{path.name}: {statistics.median(rows):.0f} rows, "
                    f"{statistics.median(sizes[path.name]):.0f} bytes")
    whole = sorted(map(sum, zip(*sizes.values())))
    context.say(f"all tables: {statistics.median(whole):.0f} bytes, {whole[0]} to {whole[-1]}")
    return statistics.median(whole)


def run(context):
    bugs = chosen(context.options.bugs, BUGS)
    folder = context.out / "tables"
    folder.mkdir(exist_ok=True)
    if not context.options.again:
        _make(context, bugs, folder)
    found = _read(bugs, folder)
    crashes = [rows for step in found for rows in found[step]]
    into, culprits = _stored(crashes)
    steps = [step for step in found for _ in found[step]]
    first = [step for step in bugs if _judge(context, into, step, [
        culprit for culprit, of_step in zip(culprits, steps) if of_step == step])]
    context.say(f"of {len(bugs)} bugs the guilty function is first of {len(first)}; "
                f"{len(crashes) - len(found.get(HEALTHY, []))} crashes, "
                f"{len(found.get(HEALTHY, []))} snapshots")
    by_chance = _by_chance(crashes)
    context.say(f"{NR_SHUFFLES} times with shuffled labels: something is significant "
                f"{by_chance} times")
    if by_chance > MAX_BY_CHANCE:
        raise Failure("what chance does is called significant")
    if len(first) * len(BUGS) < context.options.wanted * len(bugs):
        raise Failure(f"first are only {', '.join(first)}")
    if _say_sizes(context, folder) > MAX_BYTES:
        raise Failure(f"a crash takes more than {MAX_BYTES} bytes")
