/* plan_model.h - a plan as the model sees it. */
#ifndef GEN_PLAN_MODEL_H
#define GEN_PLAN_MODEL_H

#include "model.h"
#include "plan.h"

/* Pure: the plan's numbers, renamed. */
model_kernel plan_model(const kernel_plan *p);
/* What --dump model prints: a line of names, then one of numbers for each kernel. */
void plan_model_csv_head(buf *out);
void plan_model_csv(const kernel_plan *p, buf *out);

#endif
