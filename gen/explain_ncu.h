/* explain_ncu.h - explain --ncu: a profile set against the model. */
#ifndef GEN_EXPLAIN_NCU_H
#define GEN_EXPLAIN_NCU_H

#include "explain_sheet.h"
#include "ncu.h"

/* f: NULL where no problem was given. */
void explain_profile(const sheet *s, const sheet_fit *f, const ncu_kernel *k, buf *out);

#endif
