/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "help bts" prints. */
#ifndef BTSREC_HELP_H
#define BTSREC_HELP_H

/** bts_help - name, purpose, synopsis and text, as crash wants them; ends with NULL */
extern char *bts_help[];

/** help_init() - fill bts_help, with the commands of the table */
void help_init(void);

#endif /* BTSREC_HELP_H */
