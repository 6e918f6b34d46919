# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a shell script of your own in the guest.

The script has busybox, and from /lib/guest.sh: send FILE (to the host), say TEXT,
fail TEXT, finish STATUS, and "ask dump NAME", which writes a dump and goes on.
"""

from pathlib import Path

from errors import Failure

SUMMARY = "a shell script of your own, with modules and a dump"


def add_options(parser):
    parser.add_argument("file", help="the script")
    parser.add_argument("--modules", default="", metavar="LIST",
                        help="modules to load first: 'a.ko x=1,qemu_fw_cfg'; a name without "
                        "slash or .ko is one of the distribution's")
    parser.add_argument("--dump", metavar="FILE", help="dump to write at the panic or the end")
    parser.add_argument("--format", default="kdump-raw-zlib", help="its format, as for QMP")
    parser.add_argument("--append", default="nopti", help="kernel command line (nopti)")
    parser.add_argument("--no-plugin", action="store_true", help="a CPU without the BTS model")
    parser.add_argument("--plugin-args", default="", metavar="LIST", help="perfmon=1,…")
    parser.add_argument("--allow-violations", action="store_true",
                        help="go on after the model's objections")
    parser.add_argument("--timeout", type=float, default=120)


def _modules(context, text):
    for item in filter(None, text.split(",")):
        name, _, parameters = item.strip().partition(" ")
        is_file = "/" in name or name.endswith(".ko")
        path = Path(name).resolve() if is_file else context.os.module(name)
        if not path.is_file():
            raise Failure(f"no module {path}")
        yield path, parameters


def run(context):
    options = context.options
    arguments = dict(item.split("=", 1) for item in filter(None, options.plugin_args.split(",")))
    config = {"plugin": None} if options.no_plugin else {"plugin_args": arguments}

    def dump(machine, name):
        machine.dump(context.out / Path(name).name, options.format, resume=True)
        return "dumped"

    machine = context.boot(Path(options.file).read_text(), list(_modules(context, options.modules)),
                           answers={"dump": dump}, append=options.append, **config)
    if options.allow_violations:
        machine.check_violations = lambda: None
    with machine:
        machine.run(context.seconds(options.timeout))
        for name, data in machine.files.items():
            (context.out / Path(name).name).write_bytes(data)
        if options.dump:
            machine.dump(Path(options.dump).resolve(), options.format)
        machine.quit()
        print(machine.console(), end="")
        if machine.violations():
            print(f"violations:\n{machine.violations()}")
        if machine.finish_status:
            raise Failure(f"the script's status is {machine.finish_status}")
        context.say(f"panicked: {machine.panicked}; everything is in {machine.config.out}")
