# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories of the kernel that a drgn program debugs.

>>> from btsrec.drgn import history, task, arguments
>>> history(prog).summary()

Memory is read through the program, so whatever drgn opens is read, and addresses of a history
become drgn objects.  Tried with drgn 0.0.22, 0.0.31 and 0.3.0.
"""

import drgn

import btsrec

PAGE_BYTES = 4096
# System V ABI for AMD64, 3.2.3: where a function of the kernel finds its first arguments.
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")


def _reader(prog):
    def read(pa, length):
        try:
            return prog.read(pa, length, physical=True)
        except drgn.FaultError:
            return b"".join(_pages(prog, pa, length))

    return read


def _pages(prog, pa, length):
    """Memory up to the first page that the program does not have."""
    end = pa + length
    while pa < end:
        part = min(end - pa, PAGE_BYTES - pa % PAGE_BYTES)
        try:
            yield prog.read(pa, part, physical=True)
        except drgn.FaultError:
            return
        pa += part


def _vmcoreinfo(prog):
    try:
        return prog["VMCOREINFO"].string_().decode()
    except LookupError:
        return None


def history(prog, **options):
    """The btsrec.Dump of the program, opened once; options are those of btsrec.open_image()."""
    if "btsrec" not in prog.cache or options:
        options.setdefault("vmcoreinfo", _vmcoreinfo(prog))
        prog.cache["btsrec"] = btsrec.open_image(_reader(prog), title="of a drgn program", **options)
    return prog.cache["btsrec"]


def task(prog, event):
    """The struct task_struct * that ran from this event on, or None."""
    for name, member in (("sw", "next_task_kva"), ("resume", "task_kva"), ("freeze", "task_kva")):
        part = getattr(event, name)
        if part is not None and getattr(part, member):
            return drgn.Object(prog, "struct task_struct *", getattr(part, member))
    return None


def arguments(prog, call):
    """The arguments of a call by their names, as drgn objects of their types.

    One that the history does not show for certain is None.  So are those that are in no register,
    and those after one that is no number and no pointer.  A LookupError: drgn does not know the
    function, or knows another one of that name, or not where its module is: drgn 0.0.22 does
    not place the modules of Linux 6.4 and newer.
    """
    function = prog.function(call.to.name)
    if function.address_ != call.to_va:
        at = "nowhere" if function.address_ is None else f"at {function.address_:#x}"
        raise LookupError(f"{call.to.name} is {at} in drgn, not at {call.to_va:#x}: another one of "
                          "that name, or drgn does not place modules of this kernel")
    parameters = function.type_.parameters
    found = dict.fromkeys(parameter.name for parameter in parameters)
    for parameter, register in zip(parameters, ARGUMENTS):
        if not _is_scalar(parameter.type):
            break
        asked = history(prog).why(cpu=call.cpu, value=register, at_n=call.n)[0]
        if asked.value_certainty == "certain":
            found[parameter.name] = drgn.Object(prog, parameter.type,
                                                _cast(asked.value, parameter.type))
    return found


def _plain(type_):
    while type_.kind == drgn.TypeKind.TYPEDEF:
        type_ = type_.type
    return type_


def _is_scalar(type_):
    return _plain(type_).kind in (drgn.TypeKind.INT, drgn.TypeKind.BOOL, drgn.TypeKind.ENUM,
                                  drgn.TypeKind.POINTER) and drgn.sizeof(type_) <= 8


def _cast(value, type_):
    """A register as a value that may be shorter, and signed: the rest of it means nothing."""
    bits = 8 * drgn.sizeof(type_)
    value &= (1 << bits) - 1
    plain = _plain(type_)
    is_signed = plain.kind == drgn.TypeKind.INT and plain.is_signed
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value
