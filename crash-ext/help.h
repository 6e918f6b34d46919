/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "help bts" prints. */
#ifndef BTSREC_HELP_H
#define BTSREC_HELP_H

/** bts_help - name, purpose, synopsis and text, as crash wants them; ends with NULL */
extern char *bts_help[];

#endif /* BTSREC_HELP_H */
