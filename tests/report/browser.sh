#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: browser.sh CHROMIUM BTSREC MKIMAGE [DUMP [SCREENSHOT]]
# The report in a real browser: it draws, a search finds calls, a click on a call shows its
# branches, folding a CPU makes the page shorter, and a hostile name stays a name.  So does a
# page of the newest events, which says what it leaves out and numbers the rest as before.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
chromium=$1 btsrec=$2 mkimage=$3 dump=${4:-} screenshot=${5:-}
names=() newest=5000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

browse() {
	timeout 600 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$work/profile" --hide-scrollbars --window-size=1400,1700 \
		--virtual-time-budget=5000 "$@" 2>"$work/log"
}

if [ -z "$dump" ]; then
	dump=$work/dump
	cat >"$work/map" <<-'END'
		ffffffff81000000 T _stext
		ffffffff81000000 T main_loop
		ffffffff81000100 T helper
		ffffffff81001000 T _end
	END
	"$mkimage" "$dump" <<-'END'
		root cpus=2 ring=128
		idt 236 0xffffffff81000f00
		code kernel 0xffffffff81000000 fae8fa00000085c07506cccccccccccc90f490ebeb
		code kernel 0xffffffff81000100 9090c3
		cpu 0
		arm tsc=1000 now=7/7/0x100000/</script><b>
		branch 0xffffffff81000013 0xffffffff81000000
		branch 0xffffffff81000001 0xffffffff81000100
		branch 0xffffffff81000102 0xffffffff81000006 p
		branch 0xffffffff81000008 0xffffffff81000010
		branch 0xffffffff81000013 0xffffffff81000000
		branch 0xffffffff81000001 0xffffffff81000100
		freeze reason=panic tsc=9000 stop_ip=0xffffffff81000100
		cpu 1
		arm tsc=2000 now=8/8/0x100000/other
		branch 0xffffffff81000013 0xffffffff81000000
		branch 0xffffffff81000001 0xffffffff81000100
		freeze reason=panic via_nmi=1 tsc=9100 stop_ip=0xffffffff81000100
	END
	names=(--system-map "$work/map" --no-names) newest=5
fi

# What a user would do, behind the page's own script; the outcome is the page's title.
cat >"$work/user.html" <<'END'
<script>
"use strict";
const found = [];
const check = (what, right) => { if (!right) found.push(what); };
// What is thrown ends the checks: it is the outcome, or the title would be the page's own.
window.onerror = (text) => { document.title = "WRONG: " + text; };
window.onunhandledrejection = (event) => { document.title = "WRONG: " + event.reason; };
canvas.setPointerCapture = () => {};
// At y of all that could be scrolled to.
function tap(x, y) {
	$("scroll").scrollTop = y - 100;
	paint();
	const at = canvas.getBoundingClientRect();
	y -= $("scroll").scrollTop;
	for (const type of ["pointerdown", "pointerup"])
		canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: at.left + x, clientY: at.top + y }));
}
check("something is drawn", draw.getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte));
check("the reason is the title", $("title").textContent.includes("panic on CPU"));
check("the summary is there", $("summary").textContent.includes("first fault: panic"));
check("the summary is whole", $("summary").textContent === D.summary);
check("locks are counted once", $("locks").hidden === !$("lockslist").textContent &&
	!$("lockslist").textContent.includes("# held:"));
check("the verdict is on top", !$("verdict").hidden && $("verdict").textContent.length > 5);
const links = [...$("summary").querySelectorAll("button")];
check("a keyboard reaches each link", links.length && links.every((one) => one.tabIndex === 0));
for (const link of links.filter((one) => one.title.startsWith("show event"))) {
	$("detail").hidden = true;
	link.click();
	check(link.title + " shows its call", !$("detail").hidden && selected.from === Number(link.textContent) &&
		link.title.endsWith(`of CPU ${selected.cpu.cpu}`));
}
for (const link of links.filter((one) => one.title.startsWith("show CPU"))) {
	link.click();
	check(link.title + " opens it", document.activeElement === canvas && D.cpus.some((cpu) => cpu.open &&
		link.title.includes(`CPU ${cpu.cpu} `)));
}
check("no element came out of a name", !document.querySelector("main b:not(h1 b)"));
check("every address is known", D.cpus.every((cpu) => cpu.branches.every((a) => a < D.addresses.length)));
check("every branch has a kind", D.cpus.every((cpu) => cpu.types.length === cpu.branches.length / 2));
check("events are numbered", D.cpus.every((cpu) => cpu.branches.length / 2 === 0 ||
	cpu.branchOf(cpu.eventOf(cpu.branches.length / 2 - 1)) === cpu.branches.length / 2 - 1));
check("the newest event is the last", D.cpus.every((cpu) => !cpu.others.length ||
	cpu.others[cpu.others.length - 1].n < cpu.end));
check("what is left out is printed", $("left").hidden !== D.cpus.some((cpu) => cpu.omitted));
for (const cpu of D.cpus.filter((one) => one.omitted)) {
	check("no more than asked for", cpu.end - cpu.first === D.max_events);
	check("CPU " + cpu.cpu + " says what it lacks", $("lefts").textContent.includes(
		`CPU ${cpu.cpu}: ${cpu.omitted.toLocaleString("en")} older events are left out: btsrec show --cpu ${cpu.cpu}\n`));
	check("no other event is older", cpu.others.every((event) => event.n >= cpu.first));
	check("time goes on from what is left out", !cpu.before || cpu.tscOf(cpu.first) >= cpu.before[1]);
}

const some = D.cpus.find((cpu) => cpu.calls.length), name = functionOf(some.calls[3]);
$("search").value = name;
$("search").oninput();
check("the search finds " + name, parseInt($("hits").textContent) > 0);
$("next").onclick();
check("the found call is shown", !$("detail").hidden && $("name").textContent === name);
check("its branches are shown", $("branches").rows.length > 0 && document.querySelector("tr.here"));
$("search").value = "nothing has this name";
$("search").oninput();
check("nothing is found", $("hits").textContent === "0 calls");

$("all").onclick();
paint();
const row = some.rows.findIndex((one) => one.length), piece = some.rows[row].reduce((a, b) => b[1] - b[0] > a[1] - a[0] ? b : a);
$("detail").hidden = true;
tap((xOf(piece[0]) + xOf(piece[1])) / 2, some.top + HEAD + LANE + row * ROW + 5);
check("a click shows the call", !$("detail").hidden && $("name").textContent === functionOf(some.calls[piece[2] + 3]));
const before = $("tall").style.height;
tap(20, some.top + 5);
paint();
check("a CPU can be folded", parseInt($("tall").style.height) < parseInt(before));
tap(20, some.top + 5);
for (const cpu of D.cpus.filter((one) => one.omitted && one.calls.length)) {
	select(cpu, 0, false);
	while (listed)
		$("older").onclick();
	check("the list begins with what is left out", $("branches").rows[0].textContent.includes(
		`left outlisted by btsrec show --cpu ${cpu.cpu}`));
	check("and goes on after it", $("branches").rows[1].cells[0].textContent === String(cpu.first));
}
for (const cpu of D.cpus.filter((one) => one.calls.length)) {
	const nr = cpu.branches.length / 2, numbers = [];
	select(cpu, 0, false);
	while (listed)
		$("older").onclick();
	for (let page = 0; page < 3; page++, $("newer").onclick()) {
		for (const one of $("branches").rows)
			if (one.cells[1].textContent !== "left out")
				numbers.push(Number(one.cells[0].textContent));
		if (listed + PAGE >= nr)
			break;
	}
	check("CPU " + cpu.cpu + " has each event once, in order", numbers.length && numbers.every((n, i) => n === cpu.first + i));
}
for (const link of $("nav").children) {
	const part = document.querySelector(link.getAttribute("href"));
	check(link.textContent + " leads to a part that is shown", part && !part.hidden);
}
const heads = (D.code || []).filter((one) => one.kind === "coverage");
const insns = [...new Map((D.code || []).filter((one) => one.ip).map((one) => [one.ip, one])).values()];
check("the code of the path is there", !$("code").hidden === heads.length > 0);
for (const fold of $("functions").querySelectorAll("details")) {
	fold.open = true;
	fold.dispatchEvent(new Event("toggle"));
}
check("each instruction is there, as one that ran or not",
	$("functions").querySelectorAll("tr:not(.place)").length === insns.length &&
	$("functions").querySelectorAll("tr.never").length === insns.filter((one) => !one.count).length);
check("each function has its name", heads.every((one) => $("functions").textContent.includes(
	one.function.split("+")[0])));
const press = (target, key, more) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
press(document.body, "/");
check("a key leads to the search", document.activeElement === $("search"));
press($("search"), "t");
check("but not while one types", document.activeElement === $("search"));
$("search").blur();
press(document.body, "t");
check("a key leads to the timeline", document.activeElement === canvas);
const child = D.cpus.map((cpu) => [cpu, family(cpu).parents.findIndex((to) => to >= 0)]).find((one) => one[1] >= 0);
if (child) {
	select(child[0], 5 * child[1], false);
	press(canvas, "ArrowUp");
	check("a key leads to the caller", selected.c === 5 * child[0].parents[child[1]]);
	press(canvas, "ArrowDown");
	check("and back to its first call", child[0].parents[selected.c / 5] === child[0].parents[child[1]]);
}
const wide = view[1] - view[0];
$("in").onclick();
check("zoom", view[1] - view[0] < wide);
$("all").onclick();
paint();
const callers = $("inverted").querySelector("details");
callers.open = true;
callers.dispatchEvent(new Event("toggle"));
// The page counts in turns, so that it answers meanwhile: on a slow machine that takes a while.
async function counted() {
	let top1;
	while (!(top1 = callers.querySelector("details")))
		await new Promise((done) => setTimeout(done, 10));
	return top1;
}
counted().then((top1) => {
	check("functions are by their own branches", $("inverted").textContent.includes("%"));
	top1.open = true;
	top1.dispatchEvent(new Event("toggle"));
	check("below each is who called it", top1.children.length > 1);
	for (const cpu of D.cpus) {
		const sum = cpu.own.reduce((a, b) => a + b, 0);
		check("no branch is counted twice on CPU " + cpu.cpu, sum <= cpu.branches.length / 2);
		check("a caller is less deep and began before", cpu.parents.every((to, i) => to < 0 ||
			(cpu.calls[5 * to + 2] < cpu.calls[5 * i + 2] && cpu.calls[5 * to] <= cpu.calls[5 * i])));
	}
	document.title = found.length ? "WRONG: " + found.join("; ") : "ALL RIGHT";
});
</script>
END
# What only the dump of tests/golden/report-newest.in can show: a thread with calls that began in
# what is left out, and that comes to run later.
cat >"$work/carried.html" <<'END'
<script>
"use strict";
const cpu = D.cpus.find((one) => one.cpu === 0), wrong = [];
const began = (depth) => cpu.rows[depth].map((piece) => [cpu.calls[piece[2]], piece[0]]);
const at = (n) => cpu.tscOf(n);
if (JSON.stringify(began(0)) !== JSON.stringify([[2, at(13)]]))
	wrong.push("helper: " + JSON.stringify(began(0)));
if (JSON.stringify(began(1)) !== JSON.stringify([[9, at(9)], [3, at(13)]]))
	wrong.push("schedule: " + JSON.stringify(began(1)));
select(cpu, 4 * 5, false);
if (!$("what").textContent.includes("call at event 2 of CPU 0, which is left out") ||
	!$("what").textContent.includes("init, pid 7"))
	wrong.push($("what").textContent);
const numbers = [...$("branches").rows].map((one) => one.cells[0].textContent).join(" ");
if (numbers !== "0–5 6 7 8 9 10 11 12 13 14 15 16")
	wrong.push("events " + numbers);
if (at(4) !== 1500 || at(6) !== 1500 + 2 / 7 * 100)
	wrong.push("event 6 at " + at(6));
document.title = wrong.length ? "WRONG: " + wrong.join("; ") : "ALL RIGHT";
</script>
END

# Of calls that nobody saw the end of, in tests/golden: they are not drawn over others.
cat >"$work/drawn.html" <<'END'
<script>
"use strict";
const over = D.cpus.flatMap((cpu) => cpu.rows.flatMap((row) =>
	row.filter((one, i) => i && row[i - 1][1] > one[0]).map((one) => `CPU ${cpu.cpu}: call ${cpu.calls[one[2]]}`)));
document.title = over.length ? "WRONG: " + over.join("; ") : "ALL RIGHT";
</script>
END

# make_case NAME: the dump and the symbols of a case of tests/golden, as $work/NAME and NAME.map
make_case() {
	local case
	case=$(dirname "$0")/../golden/$1.in
	sed '1,/^@file/d;/^@end/,$d' "$case" >"$work/$1.map"
	sed '1,/^@end/d' "$case" | "$mkimage" "$work/$1"
}

# open_page USER DUMP OPTION...: the report of a dump, with a user.
open_page() {
	local user=$1 from=$2 title
	shift 2
	"$btsrec" report --force "$@" "$from" "$work/plain.html" || exit 1
	sed "/<\/body>/{
		r $user
		N
	}" "$work/plain.html" >"$work/report.html"
	title=$(browse --dump-dom "file://$work/report.html" |
		sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' | head -n 1)
	echo "$title"
	[ "$title" = "ALL RIGHT" ] || {
		tail -n 5 "$work/log"
		exit 1
	}
}

# leaves_out WHETHER: does the page, as it should?
leaves_out() {
	if grep -q '"omitted":' "$work/plain.html"; then found=yes; else found=no; fi
	[ "$found" = "$1" ] || {
		echo "something is left out: $found"
		exit 1
	}
}

if [ ${#names[@]} -gt 0 ]; then
	make_case report-newest
	open_page "$work/carried.html" "$work/report-newest" -n 11 --no-names \
		--system-map "$work/report-newest.map"
	for name in functions stack-begin; do
		make_case "$name"
		open_page "$work/drawn.html" "$work/$name" --no-names --system-map "$work/$name.map"
	done
fi
open_page "$work/user.html" "$dump" -n "$newest" "${names[@]}"
leaves_out yes
open_page "$work/user.html" "$dump" -n 0 "${names[@]}"
leaves_out no
open_page "$work/user.html" "$dump" "${names[@]}"
if [ -n "$screenshot" ]; then
	browse --screenshot="$screenshot" "file://$work/report.html" >/dev/null
fi
