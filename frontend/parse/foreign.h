/* Words of other languages. */
#ifndef FRONTEND_FOREIGN_H
#define FRONTEND_FOREIGN_H

const char *foreign_fix(const char *word); /* what to write for it; NULL: it is none */

#endif
