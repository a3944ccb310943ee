/* plan_model.h - a plan as the model sees it. */
#ifndef GEN_PLAN_MODEL_H
#define GEN_PLAN_MODEL_H

#include "model.h"
#include "plan.h"

/* Pure: the plan's numbers, renamed. */
model_kernel plan_model(const kernel_plan *p);
/* "member = value" for every member, one a line: what --dump model prints. */
void plan_model_print(const kernel_plan *p, buf *out);

#endif
