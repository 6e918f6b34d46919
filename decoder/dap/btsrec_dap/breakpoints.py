# SPDX-License-Identifier: GPL-2.0-or-later
"""Breakpoints: places of a history at which a run stops, forward or back."""

import os


class Breakpoints:
    """@source_path says which file of this machine a name of debug information is."""

    def __init__(self, source_path):
        self._source_path = source_path
        self._newest = 0
        self._lines = {}
        self._addresses = {}
        self._functions = {}

    def _set(self, keys, places, matches):
        """Numbers by key, and an answer for each; one that did not run is no fault."""
        numbers, answers = {}, []
        for key in keys:
            self._newest += 1
            numbers[key] = self._newest
            answer = {"id": self._newest,
                      "verified": any(matches(place, key) for place in places)}
            if not answer["verified"]:
                answer["message"] = "it did not run in what is loaded of any CPU"
            answers.append(answer)
        return numbers, answers

    def set_lines(self, path, lines, places):
        """All of a file; those before are gone."""
        near = [place for place in places if self._same_file(path, place.file)]
        self._lines[path], answers = self._set(lines, near, lambda place, key: place.line == key)
        return [answer | {"line": line} for answer, line in zip(answers, lines)]

    def set_addresses(self, addresses, places):
        self._addresses, answers = self._set(addresses, places,
                                             lambda place, key: place.ip == key)
        return [answer | {"instructionReference": f"{va:#x}"}
                for answer, va in zip(answers, addresses)]

    def set_functions(self, names, places):
        # A module follows its function: "set [driver]".
        entries = [f"{base}+0x0{space}{module}" for base, space, module in
                   (name.partition(" ") for name in names)]
        self._functions, answers = self._set(entries, places,
                                             lambda place, key: place.function == key)
        return answers

    def _same_file(self, path, name):
        if not name or os.path.basename(name) != os.path.basename(path):
            return False
        mine = self._source_path(name)
        return path == name or (mine is not None and
                                os.path.realpath(path) == os.path.realpath(mine))

    def hit(self, place):
        """The numbers of those at a place."""
        found = [table[key] for table, key in ((self._addresses, place.ip),
                                               (self._functions, place.function)) if key in table]
        if place.line is not None:
            found += [lines[place.line] for path, lines in self._lines.items()
                      if place.line in lines and self._same_file(path, place.file)]
        return found
