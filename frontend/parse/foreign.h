/* Words of other languages. */
#ifndef FRONTEND_FOREIGN_H
#define FRONTEND_FOREIGN_H

#include <stdbool.h>

const char *foreign_fix(const char *word); /* what to write for it; NULL: it is none */
bool foreign_type(const char *word);       /* of a scalar */
bool foreign_copy(const char *word);
bool foreign_division(const char *comment); /* `// 64;`: text that begins with `//`, on its line behind a value */

#endif
