/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of addresses from the symbols that crash has loaded: the kernel's, and
 * those of modules from their kallsyms or from "mod -s".
 */
#ifndef BTSREC_SYMBOL_CRASH_H
#define BTSREC_SYMBOL_CRASH_H

#include <btsrec/decoder.h>

/** symbol_crash_resolver - crash's symbols, for btsrec_set_resolver() */
extern const struct btsrec_resolver symbol_crash_resolver;

#endif /* BTSREC_SYMBOL_CRASH_H */
