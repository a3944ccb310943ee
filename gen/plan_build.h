/* plan_build.h - what plan.c gives the planners of the families (plan_<family>.c). */
#ifndef GEN_PLAN_BUILD_H
#define GEN_PLAN_BUILD_H

#include "plan.h"

typedef struct plan_builder {
  const kernel_spec *spec;
  const gpu_facts *gpu;
  kernel_plan *plan;
  plan_fault *fault;
  plan_variant variant;
  buf suffix;         /* "_key value" of each field that differs from the plan's own choice */
  plan_result result; /* PLAN_OK until something goes wrong; the first trouble stays */
  bool by_threads;    /* TMA was tried for the copies of family mma, and turned down */
} plan_builder;

/* A kernel family: its template, its planner, and which fields of a spec it has besides those of
 * every family. ORDER FAMILY. */
typedef struct plan_family {
  const char *template_name;
  const char *by_tma; /* where TMA copies A and B; NULL: the same */
  void (*make)(plan_builder *b);
  const spec_field *takes; /* ends with SPEC_FIELD_COUNT */
  const char *others;      /* why it has no other, and what to do */
} plan_family;

/* File name of the template that spells a plan. */
const char *plan_template(const kernel_plan *p);

void plan_make_naive(plan_builder *b);
void plan_make_smem(plan_builder *b);
void plan_make_simt(plan_builder *b);
void plan_make_gemv(plan_builder *b);
void plan_make_wmma(plan_builder *b);
void plan_make_mma(plan_builder *b);
void plan_make_wgmma(plan_builder *b);
void plan_make_repack(plan_builder *b);
void plan_make_reduce(plan_builder *b);
extern const spec_field plan_takes_naive[], plan_takes_smem[], plan_takes_simt[], plan_takes_gemv[],
    plan_takes_wmma[], plan_takes_mma[], plan_takes_wgmma[], plan_takes_repack[],
    plan_takes_reduce[];

/* Refuses other A, B and sums than f32 or f64, and C or D that the sums do not convert to. */
void plan_require_types(plan_builder *b);
/* Refuses another type of B, C or D than A's, or another accumulator than acc. */
void plan_require_rest(plan_builder *b, int acc);
/* s8, u8, s32. */
bool plan_is_integer(int type);
/* Refuses C that cannot be read into, and D that cannot be rounded from, the epilogue's type. */
void plan_require_output(plan_builder *b);

/* Sets a field and its reason. */
void plan_set(plan_builder *b, plan_field f, int value, const char *why, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets a field from the spec if given there, else to `choice` with its reason. key, if not NULL,
 * goes into the kernel's name together with the value where the two differ. Returns the value. */
int plan_take(plan_builder *b, plan_field f, spec_field from, int choice, const char *key,
              const char *why, ...) __attribute__((format(printf, 6, 7)));
/* "asked by the spec", or why the model filled a field that was left open. */
const char *plan_asked_why(const plan_builder *b, spec_field f);
/* Value of a spec field, or otherwise. */
int plan_asked(const plan_builder *b, spec_field f, int otherwise);
bool plan_given(const plan_builder *b, spec_field f);
/* Ends planning with a fault at a spec field. */
void plan_refuse(plan_builder *b, spec_field f, const char *code, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
/* How far planning has come: what is planned later can be taken back, its fault with it. */
typedef struct plan_mark {
  bool set[PLAN_FIELD_COUNT];
  size_t rejected, suffix;
} plan_mark;
plan_mark plan_mark_here(const plan_builder *b);
void plan_go_back(plan_builder *b, const plan_mark *mark);

/* Notes a candidate that was turned down. */
void plan_reject(plan_builder *b, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Fields every family has: family, variant, arch, types, layout, scalars, raster, alignments of C
 * and D. tile_m .. must be set before plan_common_end. */
void plan_common_begin(plan_builder *b);
/* Name, alignments, multiples, occupancy. Needs the geometry, threads, registers, shared bytes. */
void plan_common_end(plan_builder *b, const char *shape);
/* How it is launched; a part of plan_common_end. */
void plan_launch(plan_builder *b);

/* The type that stands for all of its size in a pass over operands; GG_NONE: there is no such pass.
 */
int plan_pass_type(int type);

/* Blocks that fit on an SM. Needs threads, registers and shared bytes. */
void plan_occupancy(plan_builder *b);

/* The unit of tensor cores that multiplies a type; a card may lack it. */
gpu_unit plan_tensor_unit(int type);
/* The unit that multiplies in this kernel. */
gpu_unit plan_unit(const kernel_plan *p);
/* sm_gflops: what speed 1000 is, so that passes over operands, which take time and no FLOP, can be
 * weighed. */
void plan_set_peak(plan_builder *b);
/* A share of the GPU's memory bandwidth, in GB/s: at least 1. */
int plan_bandwidth(const plan_builder *b, int per_mille);
/* The speed of a kernel on CUDA cores, given per mille of their own fastest, beside the kernels of
 * the unit that multiplies its types fastest. */
int plan_core_speed(const plan_builder *b, int speed);
/* further and alone: what tiles and blocks on one SM make of overhead_k and speed; speed itself,
 * where the family has left it to the model. Needs the whole plan. */
void plan_several(plan_builder *b);
/* Does a family of tensor cores leave speed to the model? Its constants were fitted to types of 2
 * bytes, with wide copies, on Hopper. */
bool plan_speed_by_model(const plan_builder *b);
/* Sets speed: to `planned` with its reason, or to what the spec states, which is of wide copies. A
 * narrow kernel gets as much less of that as is planned of it beside the full kernel of the same
 * spec. */
void plan_speed(plan_builder *b, int planned, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* register_limit: what min_blocks blocks of these threads leave each thread. */
void plan_register_limit(plan_builder *b);
/* What ptxas allots to a kernel of one output a thread that needs so many: while an SM still holds
 * all its threads, it spends registers on loads of further turns. Needs the launch bound. */
int plan_spend_registers(const plan_builder *b, int need);
/* Blocks that an SM's registers hold at so many a thread. */
int plan_blocks_by_registers(const plan_builder *b, int registers);

int gcd_int(int a, int b);
int round_up(int value, int multiple);

#define SET(member, value, ...) plan_set(b, PLAN_##member, (value), __VA_ARGS__)
#define TAKE(member, from, choice, key, ...)                                                       \
  plan_take(b, PLAN_##member, SPEC_##from, (choice), key, __VA_ARGS__)

#endif
