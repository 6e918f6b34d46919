# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the entry scripts share: installing packages, building, showing that a step is alive.

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "needs root for: $*" >&2
		return 1
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"
}

# missing_packages LIST...: what is in the lists of tests/lib and not installed, or
# behind the archive in the one case where that matters: headers must fit the guest.
missing_packages() {
	local name state list
	local -a lists=()
	for list; do
		lists+=("$source_dir/tests/lib/$list")
	done
	while read -r name; do
		state=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)
		[ "$state" = installed ] || echo "$name"
	done < <(grep -hv '^#' "${lists[@]}")
	local headers=linux-headers-cloud-amd64
	if dpkg-query -W "$headers" >/dev/null 2>&1 &&
	   [ "$(dpkg-query -W -f '${Version}' "$headers")" != "$(candidate "$headers")" ]; then
		echo "$headers"
	fi
}

candidate() {
	LC_ALL=C apt-cache policy "$1" | sed -n 's/^  Candidate: //p'
}

lists_are_fresh() {
	[ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mtime -1 -print -quit)" ] &&
		apt-cache show linux-image-cloud-amd64 >/dev/null 2>&1
}

# install_packages LIST...
# A source that is none of our business may be unreachable; what we need decides.
install_packages() {
	local missing
	missing=$(missing_packages "$@" | sort -u)
	if [ -n "$missing" ] || ! lists_are_fresh; then
		apt update || echo "apt-get update reports errors; going on" >&2
		missing=$(missing_packages "$@" | sort -u)
	fi
	if [ -z "$missing" ]; then
		echo "all packages are installed"
		return 0
	fi
	# shellcheck disable=SC2086
	apt install --no-install-recommends $missing
}

# Where a password is asked for nothing else may write to the terminal.
ask_for_root() {
	local missing
	missing=$(missing_packages "$@" | sort -u | tr '\n' ' ')
	if [ -z "$missing" ]; then
		# Without new lists the packages are there all the same.
		lists_are_fresh || as_root true || true
	elif ! as_root true; then
		echo "packages are missing: $missing" >&2
		return 1
	fi
}

# build_preset PRESET [TARGET...]: configure and build, the module for the guest's kernel, not
# the host's.
build_preset() {
	local headers preset=$1
	shift
	headers=$(tests/machine/run --kernel-build-dir) || return 1
	cmake --preset "$preset" -G Ninja -DBTSREC_KDIR="$headers" >/dev/null &&
		cmake --build --preset "$preset" ${1:+--target "$@"} -- -j "$(nproc)"
}

# Every second on a terminal, every minute elsewhere: how long it has run, its last line.
show_progress() {
	local name=$1 log=$2 begin=$SECONDS line text
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		line=$(tail -c 2000 "$log" 2>/dev/null | tr '\r' '\n' | grep . | tail -n 1)
		text="   $name: $((SECONDS - begin)) s: ${line//[^[:print:]]/ }"
		if [ -t 1 ]; then
			printf '\r\033[K%.*s' "$((${COLUMNS:-80} - 1))" "$text"
		elif [ $(((SECONDS - begin) % 60)) -eq 0 ]; then
			printf '%.99s\n' "$text"
		fi
	done
}

# watched NAME LOG COMMAND...: with its output in LOG; shows meanwhile that it is alive.
watched() {
	local name=$1 log=$2 status progress
	shift 2
	: >"$log"
	show_progress "$name" "$log" &
	progress=$!
	"$@" >"$log" 2>&1
	status=$?
	kill "$progress" 2>/dev/null
	wait "$progress" 2>/dev/null
	[ ! -t 1 ] || printf '\r\033[K'
	return "$status"
}
