# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the branch history that btsrec left in a kernel dump.

>>> import btsrec
>>> with btsrec.open("dump") as dump:
...     print(dump.summary()[0].sentence)

A dump has a method for each view of btsrec(1); it returns a list of values.  A value is a named
tuple with the members of the C structure in <btsrec/values.h>.  What is not known is None.
"""

import inspect
import os
import types

from . import _core
from ._core import *  # noqa: F403: what the headers declare

__version__ = _core.version

# Members with such names, or of such a unit, are addresses or registers.
_ADDRESSES = {"from_", "to", "flags", "cr3", "ip", "sp", "bp", "cs", "rflags", "stop_ip", "debugctl",
              "value", "magic", "poison", "phys_base"}
_UNITS = ("_va", "_kva", "_pa")


def _word(name, value):
    if isinstance(value, int) and (name in _ADDRESSES or name.endswith(_UNITS)):
        return f"{name}={value:#x}"
    if isinstance(value, _Enum):
        return f"{name}={value.name}"
    return f"{name}={value!r}"


def _repr(self):
    """What is known; what is None, False or empty is not."""
    names = type(self).__match_args__
    words = [_word(name, value) for name, value in zip(names, self)
             if value is not None and value is not False and value not in ("", ())
             and (name, value) != ("vector", -1)]
    return f"{type(self).__name__}({', '.join(words)})"


def _name_str(self):
    """function+0x10 [module], as the command prints it."""
    if self.no_name is not None:
        return f"({self.no_name})"
    module = f" [{self.module}]" if self.module else ""
    return f"{self.name}+{self.offset_bytes:#x}{module}" if self.name else \
        f"[{self.module}]+{self.offset_bytes:#x}"


def _arg_str(self):
    """TYPE NAME=VALUE, with ~ where it is likely, and =? where it is not known."""
    if self.value is None:
        value = "=?"
    else:
        value = f"{'=' if self.certainty == 'certain' else '~'}{self.value:#x}"
    blank = "" if not self.name or self.type.endswith("*") else " "
    return f"{self.type}{blank}{self.name or ''}{value}"


_Enum = _core.Status.__mro__[1]
for _type in vars(_core).copy().values():
    if isinstance(_type, type) and issubclass(_type, tuple):
        _type.__repr__ = _repr
Name.__repr__ = Name.__str__ = _name_str  # noqa: F405
Arg.__str__ = _arg_str  # noqa: F405
del _type


class Branches:
    """The branches of a CPU as columns, the oldest first.

    n, from_, to and flags are buffers of unsigned 64-bit numbers, which numpy.asarray() takes
    without copying; records is one buffer of all but n.  BRANCH_PREDICTED is a bit of flags.
    """

    __slots__ = ("cpu", "n", "from_", "to", "flags", "records")

    def __init__(self, cpu, columns):
        self.cpu = cpu
        self.n, self.from_, self.to, self.flags, self.records = columns

    def __len__(self):
        return len(self.n)

    def __repr__(self):
        return f"<{len(self)} branches of CPU {self.cpu}>"


BRANCH_PREDICTED = 1 << 4


class Dump:
    """A dump that is open; open() makes it.  One thread at a time may use it."""

    def __init__(self, session, title):
        self._session = session
        self._title = title

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    def __repr__(self):
        return f"<btsrec.Dump {self._title}>"

    def close(self):
        """Free all that the library holds.  Values that it gave stay valid."""
        self._session.close()

    @property
    def root(self):
        """The recorder's root page."""
        return self._session.root()

    @property
    def cpus(self):
        """The numbers of the CPUs that have a history."""
        return [cpu for cpu in range(self.root.nr_cpu_ids) if self.cpu(cpu)]

    def cpu(self, cpu):
        """The recorder's page of a CPU; None: it has none, or check() says why not."""
        return self._session.cpu(cpu)

    def events(self, cpu, each=None):
        """All events of a CPU, the oldest first; branches() takes less time and memory."""
        return self._session.events(cpu, each)

    def other_events(self, cpu, each=None):
        """Of these the ones that are no branches."""
        return self._session.other_events(cpu, each)

    def branches(self, cpu):
        """The branches of a CPU as columns."""
        return Branches(cpu, self._session.branches(cpu))

    def has_losses(self, cpu, max_events=0):
        """Is something missing in the history of a CPU, or in its newest so many events?"""
        return self._session.has_losses(cpu, max_events)

    def module_at(self, va):
        """The module with this address in its text, or None."""
        return self._session.module_at(va)

    def resolve(self, va):
        """The name of an address, or None."""
        return self._session.resolve(va)


def _view(name, doc, has_other, keywords):
    """A method of Dump for a view of the library."""
    words = [word for word, _ in keywords]
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    if has_other:
        parameters.append(inspect.Parameter("other", inspect.Parameter.POSITIONAL_OR_KEYWORD))
    parameters += [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=None)
                   for word in ["each", *words]]

    if has_other:
        def method(self, other, *, each=None, **options):
            return self._session.view(name, getattr(other, "_session", other), each, options)
    else:
        def method(self, *, each=None, **options):
            return self._session.view(name, None, each, options)
    method.__name__ = name
    method.__qualname__ = f"Dump.{name}"
    method.__doc__ = "\n".join([doc[0].upper() + doc[1:] + ".", "",
                                "each: is called with each value; False ends the view.",
                                *(f"{word}: {text or 'see the header'}"
                                  for word, text in keywords)])
    method.__signature__ = inspect.Signature(parameters)
    return method


for _entry in _core.views:
    setattr(Dump, _entry[0], _view(*_entry))
del _entry


def open(path, *, threads=1, root_pa=0, scan=Scan.DMA, dump_names=True,  # noqa: F405
         raw_names=False, system_map=None, vmlinux=None, sysroot=None, debuginfo=None):
    """Open a dump or a small file; a list of paths is a dump that was split.

    "/proc/kcore" is the recorder that runs on this machine.  Options are those of btsrec(1).
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else list(path)
    names = tuple(os.fsencode(name) for name in paths)
    return Dump(_core.Session(names, None, None, root_pa, 0, threads, scan, dump_names, raw_names,
                              system_map, vmlinux, sysroot, debuginfo),
                ", ".join(map(os.fsdecode, names)))


def open_image(read, *, title="image", vmcoreinfo=None, root_pa=0, max_pa=0,
               scan=Scan.DMA, dump_names=True, raw_names=False,  # noqa: F405
               system_map=None, vmlinux=None, sysroot=None, debuginfo=None):
    """Open memory that is read through a function.

    read(pa, len) returns bytes of physical memory, fewer if the rest is not there.  An exception
    in it ends the call that needed the memory.
    """
    return Dump(_core.Session((), read, vmcoreinfo, root_pa, max_pa, 1, scan, dump_names,
                              raw_names, system_map, vmlinux, sysroot, debuginfo), title)


__all__ = [_name for _name, _value in vars().items()
           if not _name.startswith("_") and not isinstance(_value, types.ModuleType)
           and _name not in ("Session", "views", "version")]
