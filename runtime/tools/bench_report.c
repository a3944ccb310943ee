/* bench_report.c - what was measured, as a table for people, CSV or JSON. One line a kernel. */
#include "bench.h"
#include "dtype.h"
#include "gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

double bench_median(double *values, int count, double *spread) {
  if (count == 0) {
    *spread = 0;
    return 0;
  }
  qsort(values, (size_t)count, sizeof *values, by_value);
  *spread = (values[count - 1 - count / 4] - values[count / 4]) / 2;
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static int rate(const gpu_facts *f, gg_dtype type) {
  switch (type) {
  case GG_F64:
    return f->tensor_f64 > f->fma_f64 ? f->tensor_f64 : f->fma_f64;
  case GG_TF32:
    return f->tensor_tf32;
  case GG_F16:
  case GG_BF16:
    return f->tensor_f16;
  case GG_E4M3:
  case GG_E5M2:
    return f->tensor_f8;
  case GG_S8:
  case GG_U8:
    return f->tensor_s8;
  case GG_NONE:
  case GG_F32:
  case GG_S32:
    break;
  }
  return f->fma_f32;
}

/* TFLOP/s at the highest clock, of the tensor cores where they take the type; 0 unknown. */
static double ceiling(const gg_device_info *d, gg_dtype type) {
  const gpu_facts *f = gpu_of_device(d->name, d->arch);
  if (!f) return 0;
  double mhz = d->clock_mhz > 0 ? d->clock_mhz : f->boost_mhz;
  return 2e-6 * mhz * d->sms * rate(f, type);
}

typedef struct figures {
  double us, spread, tflops, gbs, percent, mhz, base_us, base_tflops, ratio, ratio_spread;
} figures;

static figures figures_of(const bench_report *r, const bench_problem *p, const bench_rival *kernel,
                          const bench_rival *baseline) {
  figures x = {0};
  double flop = 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
  double a = (double)p->m * (double)p->k, b = (double)p->k * (double)p->n;
  double d = (double)p->m * (double)p->n;
  double bytes =
      (double)p->batch * (ggi_dtype_bytes(p->type) * (a + b) +
                          ggi_dtype_bytes(bench_type_d(p)) * d * (p->steps.residual ? 2 : 1));
  enum { MOST = 256 };
  double values[MOST], unused;
  int n = kernel->blocks < MOST ? kernel->blocks : MOST;
  if (n == 0) return x;
  if (baseline && baseline->blocks >= n) {
    /* A pair of blocks of the same round. */
    for (int i = 0; i + 1 < n; i += 2)
      values[i / 2] =
          (baseline->times[i] + baseline->times[i + 1]) / (kernel->times[i] + kernel->times[i + 1]);
    x.ratio = bench_median(values, n / 2, &x.ratio_spread);
    memcpy(values, baseline->times, (size_t)n * sizeof *values);
    x.base_us = 1e3 * bench_median(values, n, &unused);
    x.base_tflops = flop / x.base_us * 1e-6;
  }
  memcpy(values, kernel->times, (size_t)n * sizeof *values);
  double ms = bench_median(values, n, &x.spread);
  memcpy(values, kernel->clocks, (size_t)n * sizeof *values);
  x.mhz = bench_median(values, n, &unused);
  x.us = 1e3 * ms;
  x.spread = 100 * x.spread / ms;
  x.tflops = flop / ms * 1e-9;
  x.gbs = bytes / ms * 1e-6;
  double top = ceiling(&r->device, p->type);
  x.percent = top > 0 ? 100 * x.tflops / top : 0;
  return x;
}

static void text_row(bench_report *r, const bench_problem *p, const char *layout,
                     const bench_rival *kernel, const figures *x) {
  if (r->rows == 0)
    fprintf(r->out, "%-14s %-9s %-2s %-22s %9s %5s %8s %7s %5s %5s %9s %8s %6s %6s  %s\n",
            "problem", "type", "ab", "m x n x k x batch", "us", "+-%", "TFLOP/s", "GB/s", "peak%",
            "MHz", "cublas us", "TFLOP/s", "ratio", "error", "kernel");
  char size[64];
  snprintf(size, sizeof size, "%lldx%lldx%lldx%lld", p->m, p->n, p->k, p->batch);
  char types[24];
  snprintf(types, sizeof types, "%s>%s", ggi_dtype_name(p->type), ggi_dtype_name(bench_type_d(p)));
  fprintf(r->out, "%-14s %-9s %-2s %-22s %9.2f %5.2f %8.3f %7.0f %5.1f %5.0f ", p->name, types,
          layout, size, x->us, x->spread, x->tflops, x->gbs, x->percent, x->mhz);
  if (x->base_us > 0)
    fprintf(r->out, "%9.2f %8.3f %6.3f ", x->base_us, x->base_tflops, x->ratio);
  else
    fprintf(r->out, "%9s %8s %6s ", "-", "-", "-");
  fprintf(r->out, "%6.3f  %s%s\n", kernel->worst, kernel->name,
          kernel->worst <= 1 ? "" : "  WRONG RESULT");
}

static void csv_row(bench_report *r, const bench_problem *p, const char *layout,
                    const bench_rival *kernel, const figures *x) {
  if (r->rows == 0)
    fprintf(r->out, "name,dtype,layout,m,n,k,batch,kernel,us,spread_percent,tflops,gbs,"
                    "peak_percent,mhz,cublas_us,cublas_tflops,ratio,ratio_spread,error_of_bound,"
                    "type_d,epilogue\n");
  char steps[BENCH_STEPS_TEXT];
  bench_steps_text(&p->steps, steps, sizeof steps);
  fprintf(r->out,
          "%s,%s,%s,%lld,%lld,%lld,%lld,%s,%.3f,%.3f,%.4f,%.1f,%.2f,%.0f,%.3f,%.4f,%.4f,%.4f,%.4f,"
          "%s,%s\n",
          p->name, ggi_dtype_name(p->type), layout, p->m, p->n, p->k, p->batch, kernel->name, x->us,
          x->spread, x->tflops, x->gbs, x->percent, x->mhz, x->base_us, x->base_tflops, x->ratio,
          x->ratio_spread, kernel->worst, ggi_dtype_name(bench_type_d(p)), steps);
}

/* A JSON string: names may come from a file. */
static void json_text(FILE *out, const char *key, const char *text) {
  fprintf(out, "\"%s\": \"", key);
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < 0x20)
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fprintf(out, "\", ");
}

static void json_row(bench_report *r, const bench_problem *p, const char *layout,
                     const bench_rival *kernel, const figures *x) {
  fprintf(r->out, "%s\n    {", r->rows ? "," : "");
  json_text(r->out, "name", p->name);
  json_text(r->out, "kernel", kernel->name);
  json_text(r->out, "type_d", ggi_dtype_name(bench_type_d(p)));
  char steps[BENCH_STEPS_TEXT];
  bench_steps_text(&p->steps, steps, sizeof steps);
  json_text(r->out, "epilogue", steps);
  fprintf(r->out,
          "\"dtype\": \"%s\", \"layout\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
          "\"batch\": %lld, \"us\": %.3f, \"spread_percent\": %.3f, \"tflops\": %.4f, \"gbs\": "
          "%.1f, \"peak_percent\": %.2f, \"mhz\": %.0f, ",
          ggi_dtype_name(p->type), layout, p->m, p->n, p->k, p->batch, x->us, x->spread, x->tflops,
          x->gbs, x->percent, x->mhz);
  if (x->base_us > 0)
    fprintf(r->out,
            "\"cublas_us\": %.3f, \"cublas_tflops\": %.4f, \"ratio\": %.4f, "
            "\"ratio_spread\": %.4f, ",
            x->base_us, x->base_tflops, x->ratio, x->ratio_spread);
  /* An infinite error is no JSON number. */
  fprintf(r->out, "\"right\": %s", kernel->worst <= 1 ? "true" : "false");
  if (isfinite(kernel->worst)) fprintf(r->out, ", \"error_of_bound\": %.4f", kernel->worst);
  fprintf(r->out, "}");
}

/* The types whose ceilings the head of a report names. */
static const gg_dtype ceilings[] = {GG_F64, GG_F32, GG_TF32, GG_BF16, GG_E4M3, GG_S8};
enum { CEILINGS = (int)(sizeof ceilings / sizeof ceilings[0]) };

void bench_report_begin(bench_report *r) {
  r->rows = 0;
  const gg_device_info *d = &r->device;
  if (r->format == BENCH_TEXT) {
    fprintf(r->out, "%s, sm_%d, %d SMs, %d MHz, L2 %d MiB; ceiling in TFLOP/s", d->name, d->arch,
            d->sms, d->clock_mhz, d->l2_bytes >> 20);
    for (int i = 0; i < CEILINGS; ++i)
      if (ceiling(d, ceilings[i]) > 0)
        fprintf(r->out, "%s %s %.1f", i ? "," : ":", ggi_dtype_name(ceilings[i]),
                ceiling(d, ceilings[i]));
    fprintf(r->out, "\n");
  }
  if (r->format == BENCH_JSON) {
    fprintf(r->out, "{\"device\": {");
    json_text(r->out, "name", d->name);
    fprintf(r->out, "\"arch\": %d, \"sms\": %d, \"mhz\": %d", d->arch, d->sms, d->clock_mhz);
    for (int i = 0; i < CEILINGS; ++i)
      fprintf(r->out, ", \"peak_%s_tflops\": %.2f", ggi_dtype_name(ceilings[i]),
              ceiling(d, ceilings[i]));
    fprintf(r->out, "},\n  \"results\": [");
  }
}

void bench_report_row(bench_report *r, const bench_problem *p, const bench_rival *kernel,
                      const bench_rival *baseline) {
  const char layout[3] = {p->order_a == GG_ORDER_T ? 't' : 'n',
                          p->order_b == GG_ORDER_T ? 't' : 'n', '\0'};
  figures x = figures_of(r, p, kernel, baseline);
  static void (*const rows[])(bench_report *, const bench_problem *, const char *,
                              const bench_rival *, const figures *) = {
      [BENCH_TEXT] = text_row, [BENCH_CSV] = csv_row, [BENCH_JSON] = json_row};
  rows[r->format](r, p, layout, kernel, &x);
  ++r->rows;
  fflush(r->out);
}

void bench_report_end(bench_report *r) {
  if (r->format == BENCH_JSON) fprintf(r->out, "\n  ]}\n");
  fflush(r->out);
}
