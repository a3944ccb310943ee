/* faults_epilogue.h - mistakes to seed into the epilogue of emitted kernels (see faults.h). */
#ifndef TESTS_CHECK_FAULTS_EPILOGUE_H
#define TESTS_CHECK_FAULTS_EPILOGUE_H

#include "faults.h"

#define STEPS   "simt nt_ bias_n narrow"
#define SMOOTH  "smem tn_ gelu narrow"
#define PARTS   "naive tt_ sa_group narrow"
#define VECTORS "naive nt_ sa_vector narrow"

static const seeded_fault epilogue_faults[] = {
    /* -- Order -- */
    {"bias behind the activation", STEPS,
     "  acc0_0 = gg_add_f32(acc0_0, bias0);\n  acc0_0 = acc0_0 < 0.0f ? 0.0f : acc0_0;\n",
     "  acc0_0 = acc0_0 < 0.0f ? 0.0f : acc0_0;\n  acc0_0 = gg_add_f32(acc0_0, bias0);\n", 1,
     "wrong-value", NULL, "elements of D are wrong", 0},
    {"residual before the activation", SMOOTH, "  x = gelu(x);\n  x = gg_add_f32(x, residual);\n",
     "  x = gg_add_f32(x, residual);\n  x = gelu(x);\n", 1, "wrong-value", NULL, NULL, 0},
    {"bias before alpha", SMOOTH, "gg_mul_f32(alpha, acc)", "gg_mul_f32(alpha, acc + bias)", 1,
     "wrong-value", NULL, NULL, 0},
    {"absmax behind scale_d", PARTS,
     "    absmax = gg_max_u32(absmax, gg_as_u32(x) & 0x7fffffffu);\n"
     "    x = gg_mul_f32(x, scale_d);\n",
     "    x = gg_mul_f32(x, scale_d);\n"
     "    absmax = gg_max_u32(absmax, gg_as_u32(x) & 0x7fffffffu);\n",
     1, "wrong-value", NULL, "absmax is", 0},
    {"beta scaled as well", VECTORS, "x = fmaf(beta, ", "x = fmaf(beta * scale_a, ", 1,
     "wrong-value", NULL, NULL, 0},
    /* -- Which value -- */
    {"bias of the next column", STEPS, "p.stride_bias + d_n + 1)", "p.stride_bias + d_n + 2)", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"bias of columns for one of rows", SMOOTH, "p.stride_bias + d_m)", "p.stride_bias + d_n)", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"bias of the first matrix for all", SMOOTH, "batch * p.stride_bias", "0 * p.stride_bias", 1,
     "wrong-value", NULL, NULL, 0},
    {"residual in D's pitch", SMOOTH, "d_m * p.ld_residual", "d_m * p.ldd", 1,
     "wrong-value out-of-bounds gap-read", NULL, NULL, 0},
    {"residual of the first matrix for all", STEPS, "batch * p.stride_residual",
     "0 * p.stride_residual", 1, "wrong-value", NULL, NULL, 0},
    {"scale of B's neighbour", STEPS, "(const float *)p.scale_b + batch * p.n + d_n + 3)",
     "(const float *)p.scale_b + batch * p.n + d_n + 2)", 1, "wrong-value", NULL, NULL, 0},
    {"scales of A for those of B", VECTORS, "(const float *)p.scale_b + batch * p.n + column",
     "(const float *)p.scale_a + batch * p.m + row", 1, "wrong-value", NULL, NULL, 0},
    {"scales of the first matrix for all", VECTORS, "batch * p.m + row", "row", 1, "wrong-value",
     NULL, NULL, 0},
    {"scale of A left out", STEPS, "gg_mul_f32(acc1_2, scale_a)", "acc1_2", 2, "wrong-value", NULL,
     NULL, 0},
    {"scale of D left out", PARTS, "    x = gg_mul_f32(x, scale_d);\n", "", 1, "wrong-value", NULL,
     NULL, 0},
    {"scale of the first 128 of k for all", PARTS, "+ kb) * p.m + row", "+ 0) * p.m + row", 1,
     "wrong-value", NULL, NULL, 0},
    {"block scales in the pitch of columns", PARTS, "+ kb) * ((p.n + 127) / 128)", "+ kb) * p.n", 1,
     "wrong-value out-of-bounds", NULL, NULL, 0},
    {"parts of 64 of k", PARTS, "kb * 128 + 128 < ", "kb * 128 + 64 < ", 1, "wrong-value", NULL,
     NULL, 0},
    {"parts that keep the sum before", PARTS, "    float acc = 0.0f;\n", "    float acc = total;\n",
     1, "wrong-value", NULL, NULL, 0},
    /* -- Guards -- */
    {"guard of the residual's columns missing", STEPS, "if (3 < n_left) gg_ld_u16(&residual3_3",
     "gg_ld_u16(&residual3_3", 1, "out-of-bounds uninitialised gap-read", "residual3_3", NULL, 0},
    {"guard of the bias missing", STEPS, "if (3 < n_left) gg_ldg_u16(&bias3_raw",
     "gg_ldg_u16(&bias3_raw", 1, "out-of-bounds", "bias3_raw", NULL, 0},
    {"guard of the scales missing", STEPS, "if (3 < n_left) gg_ldg_f32(&scale_b3",
     "gg_ldg_f32(&scale_b3", 1, "out-of-bounds", "scale_b3", NULL, 0},
    {"residual read by the path that forgets stores", SMOOTH, "gg_ld_f32(&residual,",
     "gg_ldg_f32(&residual,", 1, "global-race race", NULL, NULL, 0},
    /* -- absmax -- */
    {"absmax of one lane", STEPS, "  absmax = gg_redux_max_u32(absmax);\n", "", 1, "wrong-value",
     NULL, "absmax is", 0},
    {"absmax of one warp", STEPS, "if (threadIdx.x % 32 == 0) gg_red",
     "if (threadIdx.x == 0) gg_red", 1, "wrong-value", NULL, "absmax is", 0},
    {"absmax stored, not raised", PARTS, "gg_red_max_u32((unsigned *)p.absmax, absmax)",
     "gg_st_u32((unsigned *)p.absmax, absmax)", 1, "global-race wrong-value", NULL, NULL, 0},
    {"absmax of x with its sign", PARTS, "gg_as_u32(x) & 0x7fffffffu", "gg_as_u32(x)", 1,
     "wrong-value", NULL, "absmax is", 0},
    {"absmax of an element left out", STEPS, "absmax = gg_max_u32(absmax, gg_as_u32(acc2_1)",
     "absmax = gg_max_u32(absmax, gg_as_u32(acc2_0)", 1, "wrong-value", NULL, "absmax is", 0},
    /* -- Values -- */
    {"relu that lets negative values by", STEPS, "acc3_3 = acc3_3 < 0.0f ? 0.0f : acc3_3;", ";", 1,
     "wrong-value", NULL, NULL, 0},
    {"a coefficient of gelu off by 2^-16", SMOOTH, "-0.0781073794f", "-0.0781226382f", 1,
     "wrong-value", NULL, "bound", 0},
    {"gelu without its cut at 1", SMOOTH, "gg_max_f32(gg_min_f32(gg_mul_f32(a, q), 1.0f), -1.0f)",
     "gg_mul_f32(a, q)", 1, "wrong-value", NULL, NULL, 0},
    {"minus infinity through gelu", SMOOTH, "x < -5.4375f ? -5.4375f : x", "x", 1, "wrong-value",
     NULL, NULL, 0},
    {"the exponent of silu off by one", PARTS, "(gg_as_u32(turns) << 23)",
     "((gg_as_u32(turns) + 1) << 23)", 1, "wrong-value", NULL, NULL, 0},
    {"bytes that wrap", VECTORS, "gg_cvt_s8(x)", "gg_cvt_s32(x)", 1, "wrong-value", NULL, NULL, 0},
    {"bytes without their sign", VECTORS, "(int)(signed char)a0", "(int)a0", 1, "wrong-value", NULL,
     NULL, 0},
    {"rounding to even left to chance", PARTS, "gg_cvt_bf16(x)",
     "(unsigned short)(gg_as_u32(x) >> 16)", 1, "wrong-value", NULL, NULL, 0},
};

#endif
