/* Legality beyond the form: forms_check.c (targets, versions, combinations) and forms_operands.c (operands). */
#ifndef FORMS_CHECK_H
#define FORMS_CHECK_H

#include "runtime/ptx/forms_match.h"

typedef struct FormCheck {
    const PtxInstr *i;
    const FormMatch *m;
    void (*report)(void *user, const FormFinding *f);
    void *user;
    int errors;
} FormCheck;
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void finding(FormCheck *c, ErrorCode code, const char *fmt, ...);

void check_operands(FormCheck *c);

#endif
