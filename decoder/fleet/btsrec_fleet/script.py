# SPDX-License-Identifier: GPL-2.0-or-later
"""The same questions as a script for a column store, which reads the tables itself."""

from .store import SQL

ENGINES = ("duckdb", "clickhouse")
VIEWS = ("label", "present", "feature")
# What the sides are, as in rank.against().
AGAINST = {"healthy": "healthy = 1", "others": "healthy = 0", "all": "1 = 1"}


def read(name: str) -> str:
    return (SQL / name).read_text(encoding="utf-8")


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def script(engine: str, question: str, grouped_by: str, group: str, against: str) -> str:
    """Views over the folder "tables", then the query."""
    parts = [read(f"load-{engine}.sql").rstrip().rstrip(";")]
    parts += [f"CREATE VIEW {view} AS\n{read(f'{view}.sql').rstrip()}" for view in VIEWS]
    if question == "rank":
        inside = f"healthy = 0 AND {grouped_by} = {quoted(group)}"
        parts.append("CREATE VIEW side AS\n"
                     f"SELECT member, CASE WHEN {inside} THEN 1 ELSE 0 END AS bad, crashes\n"
                     f"FROM label\nWHERE ({inside}) OR {AGAINST[against]}")
    query = read(f"{question}.sql").rstrip()
    if question == "groups":
        query = f"SELECT * FROM (\n{query}\n) g\nWHERE grouped_by = {quoted(grouped_by)}"
    order = "crashes DESC, name" if question == "groups" else "kind, ochiai DESC, increase DESC"
    parts.append(f"{query}\nORDER BY {order}")
    return ";\n\n".join(parts) + ";\n"
