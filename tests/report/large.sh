#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: large.sh CHROMIUM BTSREC MKIMAGE [CPUS [BRANCHES [SCREENSHOT]]]
# The report of a big machine in a real browser: it is there in seconds, and nothing that a user
# does holds the page up. Without CPUS and BRANCHES it has 64 CPUs with full rings of 1 MiB.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
chromium=$1 btsrec=$2 mkimage=$3 cpus=${4:-64} branches=${5:-43690} screenshot=${6:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Ten times what a quiet machine of two CPUs takes: a freeze is more.
max_ready_ms=20000 max_step_ms=1000

browse() {
	timeout 600 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$work/profile" --window-size=1400,1500 --hide-scrollbars "$@" 2>"$work/log"
}

"$here/large.py" "$cpus" "$branches" "$work/map" | "$mkimage" "$work/dump"
"$btsrec" report --no-names --system-map "$work/map" "$work/dump" "$work/plain.html"
cat >"$work/user.html" <<'END'
<script>
"use strict";
const took = { ready: Math.round(performance.now()) };
function measure(what, run) {
	const begin = performance.now();
	run();
	took[what] = Math.round(performance.now() - begin);
}
measure("paint", paint);
measure("search", () => { $("search").value = "function_10"; $("search").oninput(); });
measure("found", paint);
measure("next", () => $("next").onclick());
measure("click", () => select(D.cpus[D.cpus.length - 1], 0, true));
measure("open", () => { D.cpus.forEach((cpu) => { cpu.open = true; }); paint(); });
measure("scroll", () => { $("scroll").scrollTop = parseInt($("tall").style.height) / 2; paint(); });
measure("zoom", () => { zoom(0.5, (view[0] + view[1]) / 2); paint(); });
took.drawn = Number(draw.getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte));
took.branches = D.cpus.reduce((sum, cpu) => sum + cpu.branches.length / 2, 0);
document.title = Object.entries(took).map(([what, ms]) => `${what}=${ms}`).join(" ");
</script>
END
sed "/<\/body>/{
	r $work/user.html
	N
}" "$work/plain.html" >"$work/report.html"
if [ -n "$screenshot" ]; then
	browse --screenshot="$screenshot" "file://$work/plain.html" >/dev/null
fi

# What is slow in the page, of one look at it.
slow() {
	local title step limit
	title=$(browse --dump-dom "file://$work/report.html" |
		sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' | head -n 1)
	echo "$(stat -c %s "$work/plain.html") bytes; ms: $title" >&2
	case "$title " in
	*" drawn=1 branches=$((cpus * branches)) ") ;;
	*)
		tail -n 5 "$work/log" >&2
		return 1
		;;
	esac
	for step in $title; do
		limit=$max_step_ms
		case $step in
		ready=*) limit=$max_ready_ms ;;
		drawn=* | branches=*) continue ;;
		esac
		[ "${step#*=}" -le "$limit" ] || echo "${step%=*} takes more than $limit ms"
	done
}

# A page that freezes does so each time, a busy machine does not.
for _ in 1 2 3; do
	found=$(slow)
	[ -n "$found" ] || exit 0
	echo "$found"
done
exit 1
