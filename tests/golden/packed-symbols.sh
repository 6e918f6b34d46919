#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: packed-symbols.sh BTSREC MKIMAGE
# Names and lines from files that distributions pack: whole with gzip, xz and zstd, by section
# with zlib and zstd, and a module among others in lib/modules.  What cannot be unpacked is
# said to be packed, not to lack debug information.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
btsrec=$1 mkimage=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DEBUGINFOD_URLS=

fail() {
	echo "$*"
	cat out
	exit 1
}

{
	printf '%s\n' '__asm__(".globl _stext\n_stext:");'
	for i in $(seq 300); do
		echo "int victim_$i(int a, int b) { int local_name = a * $i; return local_name + b; }"
	done
} > x.c
gcc -g -O1 -c -o x.o x.c
ld -o vmlinux -Ttext=0xffffffff81000000 -e victim_1 x.o
"$mkimage" dump <<-'END'
	root cpus=1 ring=64 symbol_kva=0xffffffff81000000 symbol_name=_stext release=6.1.0-x
	module name=packed_one text_kva=0xffffffffc0001000 text_bytes=0x1000
	cpu 0
	arm tsc=1 now=1/1/0x1000/init
	branch 0xffffffff81000000 0xffffffff81000001
	branch 0xffffffffc0001000 0xffffffffc0001001
	freeze reason=panic tsc=90
END

gzip -k vmlinux
xz -k vmlinux
zstd -q vmlinux
objcopy --compress-debug-sections=zlib vmlinux sections.zlib
packed="vmlinux.gz vmlinux.xz vmlinux.zst sections.zlib"
if objcopy --compress-debug-sections=zstd vmlinux sections.zstd 2>/dev/null &&
   readelf -tW sections.zstd | grep -q ZSTD; then
	zstd -q sections.zstd
	packed="$packed sections.zstd sections.zstd.zst"
	# The first compressed section says that it is packed in a way that nobody knows.
	python3 - <<-'END'
		import struct
		data = bytearray(open("sections.zstd", "rb").read())
		at, size, number = struct.unpack_from("<Q10xHH", data, 0x28)[0], 64, data[0x3c] | data[0x3d] << 8
		for i in range(number):
		    flags, _, offset = struct.unpack_from("<QQQ", data, at + i * size + 8)
		    if flags & 0x800:
		        struct.pack_into("<I", data, offset, 99)
		open("sections.unknown", "wb").write(data)
	END
	"$btsrec" show -l --vmlinux sections.unknown dump > out 2>&1
	grep -q 'compressed in a way' out || fail "an unknown compression is not said to be one"
fi
for file in vmlinux $packed; do
	"$btsrec" show -l --vmlinux "$file" dump > out 2>&1 || fail "$file: status $?"
	grep -q 'x\.c:[0-9]' out || fail "$file: no lines"
	grep -q '_stext\|victim_1' out || fail "$file: no names"
done

ld -r -o packed-one.ko x.o
gzip -k packed-one.ko
xz -k packed-one.ko
zstd -q packed-one.ko
for ending in gz xz zst; do
	rm -rf debug
	mkdir -p debug/lib/modules/6.1.0-x/kernel
	cp packed-one.ko.$ending debug/lib/modules/6.1.0-x/kernel/
	"$btsrec" show -l --debuginfo debug dump > out 2>&1 || true
	grep -q "packed-one.ko.$ending: the dump does not say where" out ||
		fail ".ko.$ending is not read"
done
