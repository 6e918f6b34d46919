# SPDX-License-Identifier: GPL-2.0-or-later
"""Each call of the recorder into the kernel that can fail does so once.

guest/btsfail.ko lets the Nth call fail, without making it: each allocation of pages, each
mapping, each event, hook, probe and notifier, for N from 1 until loading needs fewer. Either
the module is refused, and has said in a sentence why and that it wants memory, or it does
without. Then it is unloaded, and what it was given it must have given back: btsfail counts pages, mappings,
events, hooks and so on; DEBUGCTL, IA32_DS_AREA, the DS area and the page tables of the
cpu_entry_area are what they were before. At the end it must load and arm.

Then rings of another size are asked for while armed, and again each call fails once: the CPU keeps
its ring and records on, or cannot begin, and has said so; what is held is what was held before.
--no-resize leaves that out, --no-copies what a recorder needs for on_trigger=copy.

Before that it is refused once for another reason, with ftrace switched off, and says what
to do about that.

The kernel needs memory to unhook a kprobe from ftrace, and says nothing when it has none. While
guest/btsunhook.ko is loaded it has none: with other probes in the kernel and without any,
disarming and unloading leave none of ours there, a sentence says so, and what was left hooked is
unhooked by the next arming and disarming.

With --inject, on a kernel that has fault injection (debug-kernel), it is the allocations of
the kernel that fail, each in turn: all that the module's init, arming, a look at the device, a
mark and disarming ask slab and page allocator for in the thread that does it, which
guest/failnth.c counts by /proc/thread-self/fail-nth. After each failure the recorder is armed
or it is not, as was answered; nothing is left over, the hardware is as before, and what failed
works at once.
"""

import re

from errors import Failure
from scenarios import perf_check

SUMMARY = "every call that can fail fails once: refused with a sentence, nothing leaked"

# Two pages.
OTHER_SIZE = "8K"

# The function in which the kernel itself warns of it; the compiler may have it inlined.
CANNOT_UNHOOK = "(disarm|disable)_kprobe"

UNHOOK = """
mount -t debugfs none /sys/kernel/debug 2>/dev/null
probes() { sort /sys/kernel/debug/kprobes/list; }
hooked() { grep -q '^fixup_exception ' /sys/kernel/tracing/enabled_functions; }
to_device() { echo $1 >/dev/btsrec; }
cannot_unhook() {
	dmesg -c >/dev/null
	insmod /modules/btsunhook.ko || fail "no btsunhook"
	"$@" || fail "$*: refused where nothing can be unhooked"
	[ "$(cat /sys/module/btsunhook/parameters/failed)" != 0 ] || fail "$*: unhooks nothing"
	rmmod btsunhook
	[ "$(probes)" = "$unloaded" ] || fail "$*: in the kernel were $unloaded; now $(probes)"
	dmesg | grep -q 'btsrec: The kernel could not unhook fixup_exception()' || fail "$*: unsaid"
}
unhook() {
	unloaded=$(probes)
	load || fail "does not load"
	loaded=$(probes)
	[ "$loaded" != "$unloaded" ] && hooked || fail "no probes"
	cannot_unhook to_device disarm
	to_device arm
	grep -q '^state: armed' /dev/btsrec || fail "not armed after what could not be unhooked"
	[ "$(probes)" = "$loaded" ] || fail "in the kernel were $loaded; now $(probes)"
	cannot_unhook rmmod btsrec
	load || fail "does not load after what could not be unhooked"
	hooked || fail "hooks no longer: the kernel has counted what is unhooked twice"
	rmmod btsrec || fail "cannot unload"
	! hooked || fail "still hooked"
}
"""

# $1: the size that there is, $2: of another number of pages. What fails first is memory: then each
# CPU that has not changed records on in its old ring.
RESIZE = """
to_size() { echo "ring_bytes $1" >/dev/btsrec; }
all_record() { [ "$(grep -c '^cpu[0-9]*: armed' /dev/btsrec)" = "$(nproc)" ]; }
resize() {
	load || fail "does not load"
	held=$(cat $fails/held)
	n=0
	while :; do
		n=$((n + 1))
		dmesg -c >/dev/null
		echo $n >$fails/nth
		to_size $2 2>/dev/null
		status=$?
		what=$(cat $fails/failed)
		echo 0 >$fails/nth
		[ "$what" = none ] && break
		[ $status != 0 ] || fail "resizing, call $n, $what: failed without an error"
		verdict=$(dmesg | sed -n 's/.*btsrec: Not/Not/p')
		echo "$verdict" | grep -qE "$wants_memory" || fail "resizing, call $n, $what: $(dmesg)"
		case $verdict in
		"Not resized: "*) all_record || fail "resizing, call $n, $what: $(cat /dev/btsrec)" ;;
		esac
		echo "$n $what: $verdict" >>/tmp/results
		echo arm >/dev/btsrec || fail "resizing, call $n, $what: does not arm"
		all_record || fail "resizing, call $n, $what: not all record again"
		to_size $1 || fail "resizing, call $n, $what: does not go back"
		[ "$(cat $fails/held)" = "$held" ] ||
			fail "resizing, call $n, $what: before: $held; now: $(cat $fails/held)"
	done
	[ $status = 0 ] || fail "not resized although nothing failed"
	to_size $1
	[ "$(cat $fails/held)" = "$held" ] || fail "resized: before: $held; now: $(cat $fails/held)"
	rmmod btsrec || fail "cannot unload"
	what=resizing
	clean
}
"""

SCRIPT = UNHOOK + RESIZE + """
fails=/sys/module/btsfail/parameters
state() { cat /sys/module/btsmsr/parameters/state /sys/module/btstables/parameters/used; }
load() { /bin/load /modules/btsrec.ko "ring_bytes=%(size)s console_records=4 pti=map %(more)s"; }
clean() {
	[ "$(cat $fails/held)" = none ] || fail "call $n, $what: left over: $(cat $fails/held)"
	[ "$(state)" = "$before" ] || fail "call $n, $what: before: $before; after: $(state)"
}
ftrace_off() {
	echo 0 >/proc/sys/kernel/ftrace_enabled || fail "ftrace cannot be switched off"
	dmesg -c >/dev/null
	load 2>/dev/null && fail "loads without ftrace"
	dmesg | grep -q 'btsrec: Not armed: .*(error -16).*; set kernel.ftrace_enabled=1[.]$' ||
		fail "ftrace is off: $(dmesg)"
	echo 1 >/proc/sys/kernel/ftrace_enabled
}
wants_memory='; (free some( memory)? and try again|choose a smaller ring_bytes)[.]$'
echo 0 >/proc/sys/debug/kprobes-optimization
before=$(state)
ftrace_off
unhook
insmod /modules/btsfail.ko || fail "no btsfail"
n=0
while :; do
	n=$((n + 1))
	echo $n >$fails/nth
	dmesg -c >/dev/null
	if load 2>/dev/null; then
		what=$(cat $fails/failed)
		[ "$what" = none ] && break
		grep -q '^state: armed' /dev/btsrec || fail "call $n, $what: loaded, not armed"
		missing=$(grep '^missing_hook: ' /dev/btsrec | cut -d: -f2 | tr -d ' ')
		[ -n "$missing" ] || fail "call $n, $what: /dev/btsrec does not say what is missing"
		dmesg | grep -q "btsrec: Cannot hook $missing (error -12): .*[.]$" ||
			fail "call $n, $what: the log does not say that $missing is missing"
		rmmod btsrec || fail "call $n, $what: cannot unload"
		verdict="does without $missing"
	else
		what=$(cat $fails/failed)
		[ "$what" = none ] && fail "refused without a reason"
		verdict=$(dmesg | sed -n 's/.*btsrec: Not/Not/p')
		[ -n "$verdict" ] || fail "call $n, $what: refused without a sentence"
		! echo "$verdict" | grep -vE "$wants_memory" ||
			fail "call $n, $what: lacks memory and is advised otherwise: $verdict"
	fi
	clean
	echo "$n $what: $verdict" >>/tmp/results
done
echo 0 >$fails/nth
grep -q '^state: armed' /dev/btsrec || fail "not armed after $n failures"
grep -q '^hooks_missing: 0$' /dev/btsrec || fail "does without: $(grep missing_ /dev/btsrec)"
[ "$(cat $fails/held)" = none ] && fail "btsfail counts nothing"
cat $fails/held
rmmod btsrec || fail "cannot unload"
what=nothing
clean
%(resize)s
unhook
what=unhooking
clean
send /tmp/results
finish 0
"""

INJECT = """
fails=/sys/module/btsfail/parameters
parameters="ring_bytes=%s console_records=4 arm=0 pti=map on_trigger=copy"
mount -t debugfs none /sys/kernel/debug 2>/dev/null
for kind in failslab fail_page_alloc; do
	cd /sys/kernel/debug/$kind || fail "the kernel has no $kind"
	echo N >ignore-gfp-wait
	echo 0 >verbose
done
echo N >ignore-gfp-highmem
echo 0 >min-order
cd /
echo 0 >/proc/sys/debug/kprobes-optimization
cat $fails/held | grep -qx none || fail "something is held before"
each() {
	/bin/failnth "$@" >/tmp/result
	status=$?
	tee -a /tmp/results </tmp/result
	[ $status = 0 ] || fail "$1: see above"
}
actions=" %s "
[ "${actions#* load }" = "$actions" ] || each load %d "$parameters"
/bin/load /modules/btsrec.ko "$parameters" || fail "does not load"
for action in $actions; do
	[ $action = load ] || each $action %d
done
grep -qx none $fails/held && fail "btsfail counts nothing"
rmmod btsrec || fail "cannot unload"
grep -qx none $fails/held || fail "left over: $(cat $fails/held)"
send /tmp/results
finish 0
"""

RESULT = re.compile(r"^(\d+) (\w+): (.+)$", re.MULTILINE)

# Of each there must be at least one among what failed.
NEEDED = ("get_zeroed_page", "pages", "kvmalloc", "vmap", "perf_event_create_kernel_counter",
          "__register_nmi_handler", "register_ftrace_function", "tracepoint_probe_register",
          "__cpuhp_setup_state", "misc_register", "register_module_notifier",
          "register_reboot_notifier", "register_kretprobe", "register_kprobe")


def add_options(parser):
    parser.add_argument("--ring-bytes", default="768", metavar="SIZE",
                        help="768 needs one page for each CPU (default)")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--no-resize", action="store_true", help="without other sizes")
    parser.add_argument("--no-copies", action="store_true", help="without on_trigger=copy")
    parser.add_argument("--inject", action="store_true",
                        help="the kernel's own allocations; needs --kernel-dir")
    parser.add_argument("--actions", default="load read mark disarm", metavar="ACTIONS",
                        help="with --inject; also arm, which takes ten seconds for each of "
                        "some two hundred allocations: see --most")
    parser.add_argument("--most", type=int, default=100000, metavar="N",
                        help="of one action, so many; then every other, every fourth…")


def _report(context, text: str, needed):
    results = RESULT.findall(text)
    for name in needed:
        if not any(name in function for _, function, _ in results):
            raise Failure(f"no {name} has failed:\n{text}")
    said: dict[tuple[str, str], int] = {}
    for _, function, verdict in results:
        verdict = re.sub(r"CPU \d+", "CPU N", verdict.partition("; ")[0])
        said[function, verdict] = said.get((function, verdict), 0) + 1
    for (function, verdict), count in said.items():
        context.say(f"{count:3} x {function}: {verdict}")
    context.say(f"{len(results)} calls failed, each once; nothing was left over")


def _inject(context, modules):
    options = context.options
    machine = perf_check.boot(
        context,
        INJECT % (options.ring_bytes, options.actions, options.most, options.most), *modules,
        files=[("modules/btsrec.ko", context.recorder.read_bytes()),
               ("bin/load", context.guest_program("load.c")),
               ("bin/failnth", context.guest_program("failnth.c"))],
        append="pti=on" if options.pti else "nopti")
    with machine:
        machine.expect_finish(context.seconds(900), due=CANNOT_UNHOOK)
        machine.quit()
    for line in machine.files["results"].decode().splitlines():
        context.say(line)
        if "arm: 0 of" in line or "load: 0 of" in line:
            raise Failure("nothing has failed")


def run(context):
    options = context.options
    if options.inject:
        _inject(context, [context.guest_module(name)
                          for name in ("btsmsr", "btstables", "btsfail")])
        return
    modules = [context.guest_module(name) for name in ("btsmsr", "btstables")]
    script = SCRIPT % {
        "size": options.ring_bytes,
        "more": "" if options.no_copies else "on_trigger=copy",
        "resize": "" if options.no_resize else f"resize {options.ring_bytes} {OTHER_SIZE}"}
    machine = perf_check.boot(
        context, script, *modules,
        files=[("modules/btsrec.ko", context.recorder.read_bytes()),
               *[(f"modules/{name}.ko", context.guest_module(name).read_bytes())
                 for name in ("btsfail", "btsunhook")],
               ("bin/load", context.guest_program("load.c"))],
        append="pti=on" if options.pti else "nopti")
    with machine:
        machine.expect_finish(context.seconds(600), due=CANNOT_UNHOOK)
        machine.quit()
    needed = [name for name in NEEDED if name != "vmap" or not options.pti]
    _report(context, machine.files["results"].decode(), needed)
