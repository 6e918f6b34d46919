/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The legend of what views print as text. */
#ifndef BTSREC_MARKS_H
#define BTSREC_MARKS_H

/** marks_print() - the legend, to front_sink, at most 100 columns wide */
void marks_print(void);

#endif /* BTSREC_MARKS_H */
