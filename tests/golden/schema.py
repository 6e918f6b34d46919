#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every line of JSON that the golden cases expect is one of the published schema.

usage: schema.py SCHEMA FOLDER

Knows as much of JSON Schema as that schema uses, and fails on the rest.  Beyond
the schema, an event may have no member that its kind does not list: the schema
lets readers meet new members, this program must not write any by accident.
"""

import json
import pathlib
import re
import sys

KNOWN = {"$schema", "$comment", "$defs", "$ref", "title", "description", "type", "required",
         "properties", "enum", "const", "oneOf", "minimum", "maximum", "pattern", "items"}
# Of lines that the schema is about; "btsrec info" has objects of its own.
STARTS = ('{"cpu":', '{"kind":"no-lines"', '{"kind":"profile"', '{"kind":"function"',
          '{"kind":"coverage"', '{"kind":"executed"', '{"kind":"unreadable"', '{"kind":"diff"',
          '{"kind":"same"', '{"kind":"only"', '{"kind":"search"', '{"kind":"log"')
TYPES = {"object": dict, "string": str, "integer": int, "boolean": bool, "array": list,
         "number": float}


class Schema:
    def __init__(self, path):
        self.root = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))

    def errors(self, value, schema=None, at="event"):
        """Yield what is wrong with value, one text per fault."""
        schema = self.root if schema is None else schema
        unknown = set(schema) - KNOWN
        if unknown:
            raise SystemExit(f"this program does not know {unknown}")
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            yield from self.errors(value, self.root["$defs"][name], at)
        yield from self._scalar_errors(value, schema, at)
        if isinstance(value, dict):
            yield from self._object_errors(value, schema, at)
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield from self.errors(item, schema["items"], f"{at}[{number}]")
        if "oneOf" in schema:
            fitting = [s for s in schema["oneOf"] if not list(self.errors(value, s, at))]
            if len(fitting) != 1:
                yield f"{at}: fits {len(fitting)} kinds"

    def _scalar_errors(self, value, schema, at):
        if "type" in schema and type(value) is not TYPES[schema["type"]]:
            yield f"{at}: no {schema['type']}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{at}: {value!r} is none of {schema['enum']}"
        if "const" in schema and value != schema["const"]:
            yield f"{at}: not {schema['const']!r}"
        if "minimum" in schema and value < schema["minimum"]:
            yield f"{at}: too small"
        if "maximum" in schema and value > schema["maximum"]:
            yield f"{at}: too big"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{at}: {value!r} does not match {schema['pattern']}"

    def _object_errors(self, value, schema, at):
        for key in schema.get("required", ()):
            if key not in value:
                yield f"{at}: no {key}"
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield from self.errors(value[key], part, f"{at}.{key}")

    def unlisted(self, event):
        listed = set(self.root["properties"]) | set(
            self.root["$defs"][event["kind"]]["properties"])
        return set(event) - listed


def event_lines(folder):
    for path in sorted(pathlib.Path(folder).glob("*.out")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith(STARTS):
                yield f"{path.name}:{number}", line


def main():
    schema = Schema(sys.argv[1])
    kinds = set()
    nr_faults = 0
    for place, line in event_lines(sys.argv[2]):
        event = json.loads(line)
        faults = list(schema.errors(event))
        if not faults:
            kinds.add(event["kind"])
            faults = [f"unlisted member {key}" for key in schema.unlisted(event)]
        for fault in faults:
            print(f"{place}: {fault}")
            nr_faults += 1
    missing = set(schema.root["properties"]["kind"]["enum"]) - kinds
    if missing:
        print(f"no golden case has events of these kinds: {missing}")
    return 1 if nr_faults or missing else 0


if __name__ == "__main__":
    sys.exit(main())
