# SPDX-License-Identifier: GPL-2.0-or-later
"""What "btsrec why" says of bugs that were planted: is it the function that made the bad value?
Is what it says of the newest events the same, or weaker?

One machine runs into each kind of btsbugs: after a panic it is what it was before. The function
that stores or makes the bad value is known by the kind. An answer is right if the last instruction of the chain, or a candidate, is in it. An
answer that is certain and wrong is a failure.
"""

import json

import dump
import vm
import window
from chosen import chosen
from errors import Failure

SUMMARY = "planted bugs: why names the function that made the bad value"

SCRIPT = """
echo 1 >/proc/sys/kernel/panic_on_oops
kind=$(ask kind)
usleep 200000
for module in btsbugs btsbugs_more; do
    echo $kind >/sys/module/$module/parameters/bug
done 2>/dev/null
"""

# The functions of which any is the true origin.
KINDS = {
    "null": ["null_cause"],
    "call": ["call_cause"],
    "uninitialised": ["uninitialised_cause"],
    "after-free": ["after_free_cause"],
    "overflow": ["overflow_cause"],
    "length": ["length_cause", "memcpy", "__memcpy"],
    "stale": ["stale_cause"],
    "double-put": ["double_put_cause"],
    "index": ["index_cause"],
    "sign": ["sign_cause", "sign_plant"],
    "truncated": ["truncated_cause"],
    "bit": ["bit_cause"],
    "error": ["error_cause"],
    "list": ["list_cause"],
    "member": ["member_cause"],
    "caller": ["caller_cause"],
    "smash": ["smash_cause"],
    "race": ["race_cause"],
    "forgotten": ["forgotten_cause"],
    "order": ["order_cause", "order_plant"],
    "underflow": ["underflow_cause", "underflow_plant"],
    "copied": ["copied_cause"],
    "callback": ["callback_cause"],
    "user": ["user_cause", "__get_user_8"],
    "percpu": ["percpu_cause"],
    "setbit": ["setbit_cause"],
    "divide": ["divide_cause"],
    "xchg": ["xchg_cause"],
    "local": ["local_cause"],
    "narrow": ["narrow_cause"],
    "fill": ["fill_cause", "memset", "__memset", "memset_orig", "memset_erms"],
    "cmpxchg": ["cmpxchg_cause"],
    "decrement": ["decrement_cause"],
    "half": ["half_cause"],
    "timer": ["timer_cause"],
    "table": ["table_cause"],
    "assigned": ["assigned_cause"],
    "migrate": ["migrate_cause"],
    "block": ["block_cause", "copy_user_generic_unrolled", "copy_user_enhanced_fast_string",
              "copy_user_generic_string", "rep_movs_alternative", "_copy_from_user"],
    "zeroed": ["zeroed_cause", "memset", "__memset", "memset_orig", "memset_erms"],
    "string": ["string_cause"],
    # Of btsbugs_more.
    "tagged": ["tagged_cause", "tagged_plant"],
    "offbyone": ["offbyone_cause"],
    "bitfield": ["bitfield_cause"],
    "empty": ["empty_cause"],
    "work": ["work_cause"],
    "ipi": ["ipi_cause"],
    "xadd": ["xadd_cause"],
    "byvalue": ["byvalue_cause"],
    "stalecpu": ["stalecpu_cause"],
    "movsxd": ["movsxd_cause", "movsxd_plant"],
    "errptr": ["errptr_cause", "errptr_second"],
    "stackarray": ["stackarray_cause"],
    "shift": ["shift_cause"],
    "hlist": ["hlist_cause"],
    "scaled": ["scaled_cause", "scaled_plant"],
    "backwards": ["backwards_cause", "memmove", "__memmove"],
    "unaligned": ["unaligned_cause"],
    "setcc": ["setcc_cause"],
    "handed": ["handed_cause"],
    "restored": ["restored_cause"],
    "sibling": ["sibling_cause"],
    "runaway": ["runaway_cause"],
    "base": ["base_cause"],
    "ops": ["ops_cause"],
    "rcu": ["rcu_cause"],
}


def add_options(parser):
    parser.add_argument("--kinds", default="all", metavar="LIST",
                        help='which to plant: "all", or some by comma: ' + ", ".join(KINDS))
    parser.add_argument("--wanted", type=int, default=32, help="answers that must be right (32)")
    parser.add_argument("--keep", action="store_true", help="keep the dumps")
    parser.add_argument("--again", action="store_true",
                        help="no machine: ask what --keep has kept once more")


def _dumps(context, kinds):
    """(kind, dump) of each of KINDS."""
    paths = {kind: context.out / f"dump-{kind}" for kind in kinds}
    if context.options.again:
        yield from paths.items()
        return
    modules = [*context.recorder_modules(), context.guest_module("btsbugs"),
               context.guest_module("btsbugs_more")]
    with context.boot(SCRIPT, modules, append=vm.TIME_LEAPS) as machine:
        for kind in machine.each_end("kind", kinds, context.seconds(200)):
            if not machine.panicked:
                raise machine.failure(f"the guest did not panic by {kind}")
            paths[kind].unlink(missing_ok=True)
            yield kind, machine.dump(paths[kind])
        machine.quit()


def _function(row) -> str:
    """Without what gcc adds to a copy of a function: .constprop.0"""
    return row.get("ip_sym", "").split("+")[0].split(".")[0]


def _judge(context, kind: str, path) -> tuple[bool, bool]:
    """(right, certain) of what is said of KIND."""
    rows = [json.loads(line) for line in
            dump.btsrec(context, "why", "--format", "jsonl", path).splitlines()]
    hops = [row for row in rows if row["kind"] == "origin"]
    if not hops:
        context.say(f"{kind}: nothing is asked for")
        return False, False
    named = [_function(row) for row in hops if "ip" in row][-1:] + \
        [_function(row) for row in rows if row["kind"] == "candidate"]
    right = any(name in KINDS[kind] for name in named)
    certain = hops[-1]["class"] == "certain" and \
        hops[-1]["what"] in ("constant", "stored", "computed")
    said = " < ".join(f"{row['what']} {_function(row)}".strip() for row in hops[-4:])
    context.say(f"{kind}: {'right' if right else 'wrong' if certain else 'not known'}, "
                f"{hops[-1]['class']}: {said}; {named[1:]}")
    return right, certain


def run(context):
    right, wrong, differing = [], [], 0
    kinds = chosen(context.options.kinds, KINDS)
    for kind, path in _dumps(context, kinds):
        is_right, is_certain = _judge(context, kind, path)
        differing += window.compare(context, path)
        if is_right:
            right.append(kind)
        elif is_certain:
            wrong.append(kind)
        if not context.options.keep and not context.options.again:
            path.unlink()
    context.say(f"{len(right)} of {len(kinds)} origins are named right")
    context.say(f"{differing} answers of the newest events alone are likely and others")
    if wrong:
        raise Failure(f"certain and wrong: {', '.join(wrong)}")
    if len(right) < min(context.options.wanted, len(kinds)):
        raise Failure(f"right are only {', '.join(right)}")
