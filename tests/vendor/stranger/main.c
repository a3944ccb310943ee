/* Two tables of the same kernels under two prefixes, in one binary: the same product with each, on
 * sizes that take the guarded and the unguarded kernels, compared with a plain loop and with each
 * other. Prints one line for each product. */
#include <gg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const gg_kernel_table gg_table_emu;
extern const gg_kernel_table p_gg_table_emu;

static void must(gg_status status) {
  if (status == GG_OK) return;
  fprintf(stderr, "%s: %s\n", gg_status_text(status), gg_error_detail());
  exit(1);
}

/* Values that are sums and products of small integers: f32 holds every result exactly. */
static float value(int i) {
  return (float)(i * 7 % 11 - 5);
}

static void multiply(const gg_kernel_table *table, int m, int n, int k, float *d) {
  gg_device *device;
  gg_context *context;
  must(gg_device_emulated(NULL, &device));
  must(gg_context_create(&table, 1, &context));

  size_t sizes[3] = {(size_t)(m * k), (size_t)(k * n), (size_t)(m * n)};
  void *at[3];
  for (int i = 0; i < 3; ++i)
    must(gg_device_alloc(device, sizes[i] * sizeof(float), &at[i]));
  for (int i = 0; i < 2; ++i) {
    float *host = malloc(sizes[i] * sizeof *host);
    if (!host) exit(1);
    for (size_t j = 0; j < sizes[i]; ++j)
      host[j] = value((int)j);
    must(gg_device_upload(device, at[i], host, sizes[i] * sizeof *host));
    free(host);
  }

  gg_problem p;
  gg_problem_init(&p, GG_F32);
  p.device = device;
  p.m = m;
  p.n = n;
  p.k = k;
  gg_problem_pack(&p);
  gg_plan *plan;
  must(gg_plan_create(context, &p, &plan));
  printf("%dx%dx%d: %s\n", m, n, k, gg_plan_kernel(plan));
  gg_pointers pointers = {.a = at[0], .b = at[1], .d = at[2]};
  must(gg_run(plan, &pointers, gg_scalar_f32(1), gg_scalar_f32(0), NULL, 0, NULL));
  must(gg_device_synchronise(device));
  must(gg_device_download(device, d, at[2], sizes[2] * sizeof *d));
  gg_plan_destroy(plan);
  gg_context_destroy(context);
  gg_device_destroy(device);
}

static int wrong(const float *d, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += value(i * k + l) * value(l * n + j);
      if (d[i * n + j] != sum) return 1;
    }
  return 0;
}

int main(void) {
  static const int sizes[][3] = {{64, 32, 48}, {33, 17, 5}, {1, 1, 1}};
  static float d[2][64 * 64];
  int faults = 0;
  if (gg_table_emu.count != p_gg_table_emu.count) faults++;
  for (int i = 0; i < 3; ++i) {
    int m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
    multiply(&gg_table_emu, m, n, k, d[0]);
    multiply(&p_gg_table_emu, m, n, k, d[1]);
    faults += wrong(d[0], m, n, k) + wrong(d[1], m, n, k);
    faults += memcmp(d[0], d[1], sizeof(float) * (size_t)(m * n)) != 0;
  }
  printf(faults ? "WRONG\n" : "right\n");
  return faults ? 1 : 0;
}
