/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes of tables and buffers that bound what is remembered, never what is right.  Limits of what a
 * dump may claim, which nothing real comes near.  Fuzzers (-DBTSREC_FUZZING) have small ones, since
 * their inputs are small.  Only then is executed what happens at a bound.  Most of an execution was
 * the clearing of tables.
 */
#ifndef BTSREC_BOUNDS_H
#define BTSREC_BOUNDS_H

#ifdef BTSREC_FUZZING
#define BOUND(usual, fuzzing)	(fuzzing)
#else
#define BOUND(usual, fuzzing)	(usual)
#endif

#endif /* BTSREC_BOUNDS_H */
