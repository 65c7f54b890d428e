/* What an extent that names sizes comes to: "ceil(M, 32) + 1". Sizes, numbers, + - * / % ceil(a, b) min(a, b) max(a, b), as the language has them. */
#ifndef TILECC_EXTENT_H
#define TILECC_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/* false: it stands for no number. */
typedef bool ExtentName(void *user, const char *name, int64_t *value);

/* From *p on, which is then behind it and the blanks that follow. false: it is none, divides by 0, or is out of range. */
bool extent_value(const char **p, ExtentName *name, void *user, int64_t *out);

#endif
