# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of all crashes as Parquet, a file each, made by DuckDB."""

import csv
import pathlib
import shutil
import subprocess
import tempfile

from . import tables

# docs/schema/tables.schema.json, in DuckDB's types.
TYPES = {
    "crash": {"crash": "VARCHAR", "schema": "UBIGINT", "btsrec": "VARCHAR", "release": "VARCHAR",
              "build_id": "VARCHAR", "time_ns": "UBIGINT", "cpu": "UBIGINT", "verdict": "VARCHAR",
              "text": "VARCHAR", "access": "VARCHAR", "survived": "BOOLEAN",
              "function": "VARCHAR", "offset": "UBIGINT", "reason": "VARCHAR",
              "signature": "VARCHAR", "signature_complete": "BOOLEAN",
              "signature_functions": "VARCHAR[]"},
    "cpu": {"crash": "VARCHAR", "cpu": "UBIGINT", "state": "VARCHAR", "reason": "VARCHAR",
            "slots": "UBIGINT", "valid_slots": "UBIGINT", "events": "UBIGINT",
            "wrapped": "VARCHAR"},
    "thread": {"crash": "VARCHAR", "pid": "UBIGINT", "tgid": "UBIGINT", "comm": "VARCHAR",
               "branches": "UBIGINT", "calls": "UBIGINT"},
    "call": {"crash": "VARCHAR", "type": "VARCHAR", "vector": "UBIGINT", "from": "VARCHAR",
             "from_offset": "UBIGINT", "to": "VARCHAR", "to_offset": "UBIGINT",
             "branches": "UBIGINT", "complete": "BOOLEAN", "min_ns": "UBIGINT",
             "max_ns": "UBIGINT", "level": "UBIGINT", "pid": "UBIGINT", "cpu": "UBIGINT",
             "n": "UBIGINT"},
    "edge": {"crash": "VARCHAR", "from": "VARCHAR", "from_offset": "UBIGINT", "to": "VARCHAR",
             "to_offset": "UBIGINT", "count": "UBIGINT"},
    "function": {"crash": "VARCHAR", "function": "VARCHAR", "name": "VARCHAR",
                 "module": "VARCHAR", "build_id": "VARCHAR", "user": "BOOLEAN",
                 "branches": "UBIGINT", "calls": "UBIGINT"},
    "gap": {"crash": "VARCHAR", "cpu": "UBIGINT", "n": "UBIGINT", "gap": "VARCHAR",
            "slots": "UBIGINT", "reason": "VARCHAR"},
    "value": {"crash": "VARCHAR", "step": "UBIGINT", "what": "VARCHAR", "function": "VARCHAR",
              "offset": "UBIGINT", "insn": "VARCHAR", "reg": "VARCHAR", "class": "VARCHAR"},
}
ABSENT = ("parquet needs DuckDB: its program duckdb (https://duckdb.org) in the path, or its Python "
          "module (pip install duckdb)")


class Refused(Exception):
    """DuckDB is not here, or has not done it."""


def whole(top: pathlib.Path, progress) -> tuple[dict, list[str]]:
    """The files of each table of all crashes, each crash once, and the rows that these have.

    A folder with a damaged table is left out: DuckDB reads what is cut off without a word.
    Returns also why folders are left out.
    """
    found: dict[str, list] = {table: [] for table in TYPES}
    faults, seen, folders = [], set(), tables.folders(top)
    for nr_read, folder in enumerate(folders, 1):
        try:
            if not tables.is_text(str(folder)):
                raise tables.Unreadable("its name is no text, as DuckDB wants one")
            crash = tables.rows(folder, "crash")
            tables.check_crash(crash)
            if crash[0]["crash"] in seen:
                raise tables.Unreadable("the same crash was read from another folder")
            files = [(table, path, tables.unpack(path).count(b"\n")) for table, path in
                     ((table, folder / f"{table}.jsonl.zst") for table in TYPES) if path.exists()]
        except tables.Unreadable as error:
            faults.append(f"{folder.name}: {error}")
        else:
            seen.add(crash[0]["crash"])
            for table, path, nr_rows in files:
                found[table].append((path, nr_rows))
        progress(nr_read, len(folders))
    return {table: files for table, files in found.items() if files}, faults


def quoted(path: pathlib.Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def copy(table: str, files: list[tuple], target: str) -> str:
    paths = ", ".join(quoted(path) for path, _ in files)
    columns = ", ".join(f'"{column}": \'{of}\'' for column, of in TYPES[table].items())
    return (f"COPY (SELECT * FROM read_json([{paths}], format = 'newline_delimited', "
            f"columns = {{{columns}}})) TO {target} (FORMAT parquet, COMPRESSION zstd);\n")


def run_module(duckdb, text: str) -> dict[str, int]:
    try:
        return dict(duckdb.connect(":memory:").execute(text).fetchall())
    except duckdb.Error as error:
        raise Refused(f"DuckDB: {error}") from error


def run_program(program: str, text: str) -> dict[str, int]:
    done = subprocess.run([program, "-bail", "-csv"], input=text, text=True, capture_output=True,
                          check=False)
    if done.returncode:
        raise Refused(f"DuckDB: {done.stderr.strip() or f'it ended with {done.returncode}'}")
    return {row[0]: int(row[1]) for row in csv.reader(done.stdout.splitlines())
            if len(row) == 2 and row[0] in TYPES and row[1].isdigit()}


def engine():
    """What runs a script and returns what its last query has: how many rows each table has."""
    program = shutil.which("duckdb")
    if program:
        return lambda text: run_program(program, text)
    try:
        import duckdb  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Refused(ABSENT) from None
    return lambda text: run_module(duckdb, text)


def write(top: pathlib.Path, out: pathlib.Path, progress) -> tuple[list[tuple], list[str]]:
    """Writes OUT/TABLE.parquet; returns each with its rows and bytes, and what was left out.

    What is there of an earlier run is replaced only when all tables are written and whole.
    """
    run = engine()
    found, faults = whole(top.resolve(), progress)
    if not found:
        return [], faults
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".parquet-", dir=out.resolve()) as folder:
        paths = {table: pathlib.Path(folder) / f"{table}.parquet" for table in found}
        counts = write_tables(run, found, paths)
        written = [(table, counts[table], path.stat().st_size) for table, path in paths.items()]
        for path in paths.values():
            path.replace(out / path.name)
    return written, faults


def write_tables(run, found: dict[str, list[tuple]], paths: dict[str, pathlib.Path]) -> dict:
    """The tables at PATHS; how many rows each has."""
    targets = {table: quoted(path) for table, path in paths.items()}
    counts = run("".join(copy(table, files, targets[table]) for table, files in found.items()) +
                 "\nUNION ALL ".join(f"SELECT '{table}' AS name, count(*) AS nr_rows "
                                     f"FROM read_parquet({target})"
                                     for table, target in targets.items()) + ";\n")
    for table, files in found.items():
        want = sum(nr_rows for _, nr_rows in files)
        if counts.get(table) != want:
            raise Refused(f"DuckDB has {counts.get(table)} of {want} rows of {table}")
    return counts
