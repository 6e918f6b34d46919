#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A big machine for mkimage: CPUs with full rings of branches that are calls in a tree.

Function i calls i + 1 and i + 2; each CPU begins somewhere else in the walk of that tree,
and another thread takes over now and then.
"""

import argparse

DEPTH = 20
START_KVA = 0xffffffff81000000
STEP_BYTES = 0x100
BRANCHES_PER_THREAD = 4000
KHZ = 2_000_000
TICKS_PER_BRANCH = 60


def start(i):
    return START_KVA + i * STEP_BYTES


def call(at, to):
    return b"\xe8" + (to - at - 5 & 0xffffffff).to_bytes(4, "little")


def code(i):
    if i >= DEPTH - 2:
        return b"\xc3"
    first = start(i)
    text = call(first, start(i + 1)) + call(first + 5, start(i + 2))
    # The outermost one goes round.
    return text + (b"\xeb" + (-12 & 0xff).to_bytes() if i == 0 else b"\xc3")


def walk(i, back):
    if i < DEPTH - 2:
        for site, child in ((0, i + 1), (5, i + 2)):
            yield start(i) + site, start(child)
            yield from walk(child, start(i) + site + 5)
    if i:
        yield start(i) + (10 if i < DEPTH - 2 else 0), back
    else:
        yield start(0) + 10, start(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cpus", type=int)
    parser.add_argument("branches", type=int, help="of each CPU")
    parser.add_argument("map", help="gets the names of the functions")
    options = parser.parse_args()
    nr_cpus, nr_branches = options.cpus, options.branches
    with open(options.map, "w", encoding="ascii") as names:
        print(f"{START_KVA:x} T _stext", file=names)
        for i in range(DEPTH):
            print(f"{start(i):x} T function_{i:02}", file=names)
        print(f"{start(DEPTH):x} T _end", file=names)
    tree = [f"branch {one:#x} {other:#x}" for one, other in walk(0, 0)]
    print(f"root cpus={nr_cpus} ring={nr_branches + 200} tsc_khz={KHZ} freeze_reason=1 "
          f"freeze_cpu=0 freeze_tsc={nr_branches * TICKS_PER_BRANCH}")
    for i in range(DEPTH):
        print(f"code kernel {start(i):#x} {code(i).hex()}")
    for cpu in range(nr_cpus):
        print(f"cpu {cpu}\narm tsc=1 now={cpu + 1}/{cpu + 1}/0x100000/work{cpu}")
        for n in range(nr_branches):
            pid = cpu + 1 + n // BRANCHES_PER_THREAD * 1000
            if n and n % BRANCHES_PER_THREAD == 0:
                print(f"switch tsc={n * TICKS_PER_BRANCH} "
                      f"prev={pid - 1000}/{pid - 1000}/0x100000/work{cpu} "
                      f"next={pid}/{pid}/0x100000/work{cpu}")
            print(tree[(n + cpu * 977) % len(tree)])
        to = tree[(nr_branches - 1 + cpu * 977) % len(tree)].split()[2]
        print(f"freeze reason=panic via_nmi={int(cpu > 0)} "
              f"tsc={nr_branches * TICKS_PER_BRANCH + cpu} stop_ip={to}")


if __name__ == "__main__":
    main()
