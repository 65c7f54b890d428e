/* Holes of the verifier that are known (holes.txt): they don't fail the test, and must be there as long as they are listed.
 *
 * A line is PROGRAM KIND OP CODE REASON: a word of the program's name, the kind of mutant (`_` for blanks), the text of
 * the op, what the simulator reports (`data`: wrong bytes); `*` stands for any. Lines that start with # are comments.
 */
#ifndef TESTS_IR_MUTATE_OPEN_H
#define TESTS_IR_MUTATE_OPEN_H

#include <stdbool.h>

void open_read(const char *path);
/* said: the simulator's words. */
bool open_has(const char *program, const char *kind, const char *op, const char *said);
/* Prints the lines that nothing was found for; how many. */
int open_unused(void);

#endif
