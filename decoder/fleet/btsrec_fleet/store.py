# SPDX-License-Identifier: GPL-2.0-or-later
"""Crashes that were read, counted in a SQLite database.

Crashes with the same labels are a cell. The database counts for each cell in how many of its crashes
each feature is. So a question takes as long as there are cells and features, not crashes. Each crash
is read once, and its folder may go then.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import signal
import sqlite3

from . import tables

VERSION = 2
SQL = pathlib.Path(__file__).parent / "sql"
LABELS = ("healthy", "signature", "culprit", "site", "kernel", "verdict")
# After so many crashes what was read is kept.
COMMIT_CRASHES = 50
# Processes that read: each takes some MB.
MAX_JOBS = 256

MAKE = """
CREATE TABLE crash_read (crash TEXT PRIMARY KEY, cell INTEGER, text TEXT) WITHOUT ROWID;
CREATE TABLE folder_read (folder TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE cell (cell INTEGER PRIMARY KEY, healthy INTEGER, signature TEXT, culprit TEXT,
	site TEXT, kernel TEXT, verdict TEXT, crashes INTEGER, first_ns INTEGER, last_ns INTEGER,
	UNIQUE (healthy, signature, culprit, site, kernel, verdict));
CREATE TABLE known (id INTEGER PRIMARY KEY, feature TEXT UNIQUE, kind TEXT, place TEXT,
	place_offset INTEGER, target TEXT, target_offset INTEGER, site TEXT);
CREATE TABLE tally (cell INTEGER, id INTEGER, crashes INTEGER, PRIMARY KEY (id, cell))
	WITHOUT ROWID;
CREATE TABLE name (function TEXT PRIMARY KEY, name TEXT, module TEXT) WITHOUT ROWID;
CREATE VIEW label AS SELECT cell AS member, * FROM cell;
"""

# What the SQL of the column stores finds here.  Numbers stand for the texts of features.
VIEWS = """
CREATE TEMP VIEW present AS SELECT cell AS member, id AS feature, crashes FROM tally;
CREATE TEMP VIEW feature AS SELECT k.id AS feature, k.kind, k.place, k.place_offset, k.target,
	k.target_offset, s.id AS site FROM known k LEFT JOIN known s ON s.feature = k.site;
CREATE TEMP TABLE side (member INTEGER PRIMARY KEY, bad INTEGER, crashes INTEGER);
"""

# One crash at a time: its rows, for label.sql and present.sql.
ROWS = "".join(f"CREATE TEMP TABLE {table} ({', '.join(f'{chr(34)}{name}{chr(34)}' for name in names)});"
               for table, names in tables.COLUMNS.items()) + """
CREATE TEMP TABLE shown (member TEXT, kind TEXT, feature TEXT, place TEXT, place_offset INTEGER,
	target TEXT, target_offset INTEGER, site TEXT, crashes INTEGER);
"""


class Store:
    """The database of a folder of crashes."""

    def __init__(self, path: str):
        try:
            self.open(path)
        except sqlite3.Error as error:
            elsewhere = "; --database puts it elsewhere" \
                if isinstance(error, sqlite3.OperationalError) else ""
            raise tables.Unreadable(f"{path}: {error}{elsewhere}") from error

    def open(self, path: str) -> None:
        """Make it, or find it as it was left."""
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                      "PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY;")
        version = self.one("PRAGMA user_version")
        if version not in (0, VERSION):
            raise tables.Unreadable(f"{path} is of another version; remove it to read all again")
        if not version:
            self.connection.executescript(f"BEGIN; {MAKE} PRAGMA user_version = {VERSION}; COMMIT;")
        self.connection.executescript(VIEWS)

    def one(self, query: str, *values):
        row = self.connection.execute(query, values).fetchone()
        return row[0] if row else None

    def run(self, name: str) -> sqlite3.Cursor:
        """The rows of a file of SQL."""
        return self.connection.execute((SQL / name).read_text(encoding="utf-8"))

    # --- Reading ----------------------------------------------------------

    def add(self, top: pathlib.Path, jobs: int, progress) -> list[str]:
        """Read the crashes below @top that are new; returns why some were left out."""
        known = {row[0] for row in self.connection.execute("SELECT folder FROM folder_read")}
        new = [folder for folder in tables.folders(top) if key_of(folder) not in known]
        faults = []
        if not new:
            return faults
        self.connection.executescript(ROWS)
        self.connection.execute("BEGIN IMMEDIATE")
        with readers(jobs, new) as found:
            for nr_read, (folder, read, fault) in enumerate(found, 1):
                # One that cannot be read may be being copied: it is tried again, and told again.
                if not fault:
                    fault = self.add_crash(read)
                    self.connection.execute("INSERT INTO folder_read VALUES (?)",
                                            (key_of(folder),))
                if fault:
                    faults.append(f"{folder.name}: {fault}")
                if nr_read % COMMIT_CRASHES == 0:
                    self.keep()
                progress(nr_read, len(new))
        self.connection.execute("COMMIT")
        for table in (*tables.COLUMNS, "shown"):
            self.connection.execute(f"DROP TABLE temp.{table}")
        return faults

    def keep(self) -> None:
        """What is counted so far stays, whatever happens."""
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")

    def add_crash(self, read: dict[str, list[tuple]]) -> str | None:
        """Count a crash; a sentence: it is left out."""
        for table, names in tables.COLUMNS.items():
            self.connection.execute(f"DELETE FROM temp.{table}")
            self.connection.executemany(
                f"INSERT INTO temp.{table} VALUES ({', '.join('?' * len(names))})", read[table])
        crash = read["crash"][0]
        if self.one("SELECT crash FROM crash_read WHERE crash = ?", crash[0]):
            return "the same crash was read from another folder"
        cell = self.cell_of(self.run("label.sql").fetchone())
        self.connection.execute("INSERT INTO crash_read VALUES (?, ?, ?)",
                                (crash[0], cell, crash[4]))
        self.count_features(cell)
        return None

    def cell_of(self, label: tuple) -> int:
        """The number of the cell with these labels, which has a crash more."""
        _, _, *labels, time_ns, _ = label
        where = " AND ".join(f"{name} = ?" for name in LABELS)
        cell = self.one(f"SELECT cell FROM cell WHERE {where}", *labels)
        if cell is None:
            cell = self.connection.execute(
                f"INSERT INTO cell ({', '.join(LABELS)}, crashes, first_ns, last_ns)"
                " VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)", (*labels, time_ns, time_ns)).lastrowid
        self.connection.execute(
            "UPDATE cell SET crashes = crashes + 1, last_ns = max(last_ns, :time), first_ns ="
            " min(coalesce(nullif(first_ns, 0), :time), coalesce(nullif(:time, 0), first_ns))"
            " WHERE cell = :cell", {"time": time_ns, "cell": cell})
        return cell

    def count_features(self, cell: int) -> None:
        """One crash more for each feature of the rows."""
        self.connection.execute("DELETE FROM shown")
        self.connection.execute("INSERT INTO shown " +
                                (SQL / "present.sql").read_text(encoding="utf-8"))
        self.connection.execute("""
            INSERT OR IGNORE INTO known (feature, kind, place, place_offset, target, target_offset,
                site) SELECT feature, kind, place, place_offset, target, target_offset, site
                FROM shown WHERE feature NOT IN (SELECT feature FROM known)""")
        self.connection.execute("""
            INSERT INTO tally SELECT ?, k.id, 1 FROM shown s CROSS JOIN known k ON k.feature = s.feature
            WHERE true ON CONFLICT DO UPDATE SET crashes = crashes + 1""", (cell,))
        self.connection.execute(
            "INSERT OR IGNORE INTO name SELECT function, name, module FROM temp.function")

    # --- Asking -----------------------------------------------------------

    def set_sides(self, bad: str, good: str, values: dict) -> tuple[int, int]:
        """Put the cells that the conditions choose on their sides; returns the crashes of each."""
        self.connection.execute("DELETE FROM side")
        self.connection.execute(f"INSERT INTO side SELECT cell, 1, crashes FROM cell WHERE {bad}",
                                values)
        self.connection.execute(f"INSERT OR IGNORE INTO side SELECT cell, 0, crashes FROM cell"
                                f" WHERE {good}", values)
        return tuple(self.one("SELECT coalesce(sum(crashes), 0) FROM side WHERE bad = ?", bad)
                     for bad in (1, 0))

    def name_of(self, function: str) -> str:
        """As the commands of btsrec print it; the key itself if it was never named."""
        row = self.connection.execute("SELECT name, module FROM name WHERE function = ?",
                                      (function,)).fetchone()
        if not row or not (row[0] or row[1]):
            return function
        name, module = row
        return tables.shown(" ".join(filter(None, (name, f"[{module}]" if module else ""))))


def key_of(folder: pathlib.Path) -> str:
    """Its name, as a text: names are bytes."""
    return os.fsencode(folder.name).decode(errors="backslashreplace")


def read_folder(folder: pathlib.Path):
    """In a process of its own: what a folder has, or why it has nothing."""
    try:
        return folder, tables.read(folder), None
    except tables.Unreadable as error:
        return folder, None, str(error)


@contextlib.contextmanager
def readers(jobs: int, new: list[pathlib.Path]):
    """What the folders have, in their order; with several jobs they are read ahead."""
    if jobs < 2 or len(new) < 2:
        yield map(read_folder, new)
        return
    # All of them begin at once.
    jobs = min(jobs, len(new), MAX_JOBS)
    pool = concurrent.futures.ProcessPoolExecutor(jobs - 1, initializer=ignore_interrupt)
    try:
        yield ahead(pool, new, 4 * jobs)
    finally:
        # A second interrupt would leave processes behind that wait for ever.
        before = ignore_interrupt()
        pool.shutdown(cancel_futures=True)
        signal.signal(signal.SIGINT, before)


def ignore_interrupt():
    """A terminal sends it to all processes: one of them ends the others. Returns what was before."""
    return signal.signal(signal.SIGINT, signal.SIG_IGN)


def ahead(pool, new: list[pathlib.Path], nr_ahead: int):
    """As pool.map(), with at most @nr_ahead results that wait."""
    waiting = [submit(pool, folder) for folder in new[:nr_ahead]]
    for folder in new[nr_ahead:] + [None] * len(waiting):
        yield waiting.pop(0).result()
        if folder is not None:
            waiting.append(submit(pool, folder))


def submit(pool, folder: pathlib.Path):
    """
    It may start a process, which inherits the mask: an interrupt that comes before
    ignore_interrupt() runs there must not end it. Here it is delivered right afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(read_folder, folder)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
