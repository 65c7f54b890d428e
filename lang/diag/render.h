/* One diagnostic as text. Private to diag*.c.
 *
 * Columns count code points from 1 in all formats.
 */
#ifndef LANG_DIAG_RENDER_H
#define LANG_DIAG_RENDER_H

#include "lang/diag/diag.h"

void diag_put_human(Diags *d, const Diag *g, bool colour, Text *out);
void diag_put_short(Diags *d, const Diag *g, Text *out);
void diag_put_json(Diags *d, const Diag *g, Text *out);

#endif
