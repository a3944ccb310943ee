/* gpu.c - what gemmgen knows of each GPU. One row a card; every figure from the source it cites.
 *
 * A row is the facts of its compute capability, which the CUDA C++ Programming Guide lists
 * (CC_70 ...), and the card's own. Tensor-core rates are the dense peak of the card's paper over
 * 2 x SMs x clock, a power of two each time; tests/model/test_gpu.c holds every product against
 * the paper's peak. Where a paper states the tensor peaks at a clock of their own, it is
 * tensor_mhz. GeForce cards halve f16 and e4m3 with an f32 accumulator, which is the rate given.
 *
 * Nothing is guessed: a figure without a source is left 0, and gpu_fields.c shows it as unknown.
 */
#include "gpu.h"

#include <ctype.h>
#include <string.h>

const char gpu_guide[] = "CUDA C++ Programming Guide 13.0, Compute Capabilities and "
                         "Arithmetic Instructions";

/* Of every compute capability from 7.0 on. */
#define CC_ALL .shared_bytes_cycle = 128, .registers_sm = 65536, .registers_thread = 255
#define CC_70                                                                                      \
  .arch = 70, CC_ALL, .fma_f32 = 64, .fma_f64 = 32, .shared_sm = 98304, .shared_block = 98304,     \
  .threads_sm = 2048, .blocks_sm = 32
#define CC_75                                                                                      \
  .arch = 75, CC_ALL, .fma_f32 = 64, .fma_f64 = 2, .shared_sm = 65536, .shared_block = 65536,      \
  .threads_sm = 1024, .blocks_sm = 16
#define CC_80                                                                                      \
  .arch = 80, CC_ALL, .fma_f32 = 64, .fma_f64 = 32, .shared_sm = 167936, .shared_block = 166912,   \
  .shared_reserved = 1024, .threads_sm = 2048, .blocks_sm = 32, .has_cp_async = true
#define CC_86                                                                                      \
  .arch = 86, CC_ALL, .fma_f32 = 128, .fma_f64 = 2, .shared_sm = 102400, .shared_block = 101376,   \
  .shared_reserved = 1024, .threads_sm = 1536, .blocks_sm = 16, .has_cp_async = true
#define CC_89                                                                                      \
  .arch = 89, CC_ALL, .fma_f32 = 128, .fma_f64 = 2, .shared_sm = 102400, .shared_block = 101376,   \
  .shared_reserved = 1024, .threads_sm = 1536, .blocks_sm = 24, .has_cp_async = true
#define CC_90_BUT_F64                                                                              \
  .arch = 90, CC_ALL, .fma_f32 = 128, .shared_sm = 233472, .shared_block = 232448,                 \
  .shared_reserved = 1024, .threads_sm = 2048, .blocks_sm = 32, .has_cp_async = true,              \
  .has_tma = true, .has_wgmma = true
#define CC_90 CC_90_BUT_F64, .fma_f64 = 64
#define CC_100                                                                                     \
  .arch = 100, CC_ALL, .fma_f32 = 128, .fma_f64 = 64, .shared_sm = 233472, .shared_block = 232448, \
  .shared_reserved = 1024, .threads_sm = 2048, .blocks_sm = 32, .has_cp_async = true,              \
  .has_tma = true
#define CC_120                                                                                     \
  .arch = 120, CC_ALL, .fma_f32 = 128, .fma_f64 = 2, .shared_sm = 102400, .shared_block = 101376,  \
  .shared_reserved = 1024, .threads_sm = 1536, .blocks_sm = 24, .has_cp_async = true,              \
  .has_tma = true

/* Rates of a whole generation. Before Hopper mma.sync is the tensor cores' only road; on Hopper a
 * microbenchmark of an H800 saw it reach 65% of wgmma (491 of 756 TFLOP/s). */
#define TENSOR_80                                                                                  \
  .tensor_f16 = 1024, .tensor_tf32 = 512, .tensor_s8 = 2048, .tensor_f64 = 64,                     \
  .mma_sync_percent = 100
#define TENSOR_90                                                                                  \
  .tensor_f16 = 2048, .tensor_tf32 = 1024, .tensor_f8 = 4096, .tensor_s8 = 4096,                   \
  .tensor_f64 = 128, .mma_sync_percent = 65
/* Latencies of the same microbenchmark, in cycles. */
#define LATENCY_90 .hbm_latency = 479, .l2_latency = 263, .shared_latency = 29
#define DISSECTED                                                                                  \
  "'Benchmarking and Dissecting the Nvidia Hopper GPU Architecture' (arXiv 2402.13499), an H800"
#define EXCEPT_90                                                                                  \
  {"mma_sync_percent", DISSECTED}, {"hbm_latency", DISSECTED}, {"l2_latency", DISSECTED}, {        \
    "shared_latency", DISSECTED                                                                    \
  }

static const gpu_exception except_90[] = {EXCEPT_90, {NULL, NULL}};
static const gpu_exception except_nvl[] = {
    EXCEPT_90, {"tensor_mhz", "derived: 835.5 TFLOP/s f16 of the data sheet"}, {NULL, NULL}};
static const gpu_exception except_h200[] = {
    EXCEPT_90, {"l2_bytes", "device properties"}, {NULL, NULL}};
static const gpu_exception except_gh200[] = {
    EXCEPT_90, {"l2_bytes", "NVIDIA Grace Hopper Superchip Architecture whitepaper"}, {NULL, NULL}};
#define THIRD     "published by third parties only; NVIDIA has no public paper on this card"
#define THROTTLED "derived: 148 TFLOP/s f16 over 2 x 512 x 78 SMs; " THIRD
static const gpu_exception except_h20[] = {EXCEPT_90,
                                           {"sms", THIRD},
                                           {"boost_mhz", THIRD},
                                           {"tensor_mhz", THROTTLED},
                                           {"tensor_f16", THROTTLED},
                                           {"tensor_tf32", THROTTLED},
                                           {"tensor_f8", THROTTLED},
                                           {"tensor_s8", THROTTLED},
                                           {"l2_bytes", THIRD},
                                           {"hbm_gbs", THIRD},
                                           {"memory_gb", THIRD},
                                           {"watts", THIRD},
                                           {NULL, NULL}};
static const gpu_exception except_a30[] = {{"l2_bytes", "device properties"}, {NULL, NULL}};
static const gpu_exception except_b200[] = {
    {"sms", "device properties"},
    {"boost_mhz", "device properties"},
    {"tensor_mhz", "derived: 2250 TFLOP/s f16 of the data sheet"},
    {NULL, NULL}};

/* One H200 SXM, 700 W, driver 580, CUDA 13.0; random data. Sustained: over 1.5 s. The tensor cores
 * were fed from shared memory, with nothing else to do. */
static const gpu_measure measured_h200[] = {
    {"core_f32_burst", 65.7, "TFLOP/s", "FFMA from registers, serpentine order"},
    {"core_f32", 65.7, "TFLOP/s", "the same, sustained"},
    {"core_f32_fed", 56.0, "TFLOP/s", "FFMA fed by six 16-byte shared loads for each 16 x 8 tile"},
    {"tensor_f16_burst", 927, "TFLOP/s", "wgmma bf16 m64n256k16, two warpgroups"},
    {"tensor_f16", 867, "TFLOP/s", "the same, sustained: the card is at its power limit"},
    {"tensor_tf32_burst", 473, "TFLOP/s", "wgmma tf32"},
    {"tensor_tf32", 442, "TFLOP/s", "the same, sustained"},
    {"tensor_f8_burst", 1798, "TFLOP/s", "wgmma e4m3"},
    {"tensor_f8", 1685, "TFLOP/s", "the same, sustained"},
    {"tensor_s8_burst", 1915, "TOP/s", "wgmma s8"},
    {"tensor_s8", 1862, "TOP/s", "the same, sustained"},
    {"mma_sync_f16_burst", 641, "TFLOP/s",
     "mma.sync bf16 from registers: 1363 FMAs per SM and cycle, two thirds of wgmma's 2048"},
    {"copy_gbs", 4300, "GB/s", "copy within device memory, read and written bytes"},
    {"read_gbs", 4690, "GB/s", "reading alone, beyond the first 1.8 us"},
    {NULL, 0, NULL, NULL}};

#define VOLTA     "NVIDIA Tesla V100 GPU Architecture whitepaper"
#define TURING    "NVIDIA Turing GPU Architecture whitepaper"
#define AMPERE    "NVIDIA A100 Tensor Core GPU Architecture whitepaper"
#define GA102     "NVIDIA Ampere GA102 GPU Architecture whitepaper"
#define ADA       "NVIDIA Ada GPU Architecture whitepaper"
#define HOPPER    "NVIDIA H100 Tensor Core GPU Architecture whitepaper"
#define BLACKWELL "NVIDIA Blackwell Tuning Guide"
#define GB202     "NVIDIA RTX Blackwell GPU Architecture whitepaper"

/* clang-format off */
static const gpu_facts table[] = {
    {.name = "v100", .device = "V100", CC_70, .sms = 80, .boost_mhz = 1530, .tensor_f16 = 512,
     .mma_sync_percent = 100, .l2_bytes = 6 << 20, .l2_bytes_cycle = 2048, .hbm_gbs = 900,
     .memory_gb = 32, .watts = 300, .paper = VOLTA, .source = "V100 data sheet, SXM2"},
    {.name = "t4", .device = "T4", CC_75, .sms = 40, .boost_mhz = 1590, .tensor_f16 = 512, .tensor_s8 = 1024,
     .mma_sync_percent = 100, .l2_bytes = 4 << 20, .hbm_gbs = 320, .memory_gb = 16, .watts = 70,
     .paper = TURING, .source = "T4 data sheet"},
    {.name = "a100-sxm-40", .device = "A100-SXM4-40GB", CC_80, TENSOR_80, .sms = 108, .boost_mhz = 1410, .l2_bytes = 40 << 20,
     .l2_bytes_cycle = 5120, .hbm_gbs = 1555, .memory_gb = 40, .watts = 400, .paper = AMPERE,
     .source = "A100 data sheet, SXM 40 GB"},
    {.name = "a100-sxm-80", .device = "A100-SXM4-80GB", CC_80, TENSOR_80, .sms = 108, .boost_mhz = 1410, .l2_bytes = 40 << 20,
     .l2_bytes_cycle = 5120, .hbm_gbs = 2039, .memory_gb = 80, .watts = 400, .paper = AMPERE,
     .source = "A100 data sheet, SXM 80 GB"},
    {.name = "a30", .device = "A30", CC_80, TENSOR_80, .sms = 56, .boost_mhz = 1440, .l2_bytes = 24 << 20,
     .hbm_gbs = 933, .memory_gb = 24, .watts = 165, .paper = AMPERE, .source = "A30 data sheet",
     .exceptions = except_a30},
    {.name = "a10", .device = "A10", CC_86, .sms = 72, .boost_mhz = 1695, .tensor_f16 = 512, .tensor_tf32 = 256,
     .tensor_s8 = 1024, .mma_sync_percent = 100, .l2_bytes = 6 << 20, .hbm_gbs = 600,
     .memory_gb = 24, .watts = 150, .paper = GA102, .source = "A10 data sheet"},
    {.name = "rtx-3090", .device = "RTX 3090", CC_86, .sms = 82, .boost_mhz = 1695, .tensor_f16 = 256,
     .tensor_tf32 = 128, .tensor_s8 = 1024, .mma_sync_percent = 100, .l2_bytes = 6 << 20,
     .hbm_gbs = 936, .memory_gb = 24, .watts = 350, .paper = GA102, .source = GA102},
    {.name = "l4", .device = "L4", CC_89, .sms = 58, .boost_mhz = 2040, .tensor_f16 = 512, .tensor_tf32 = 256,
     .tensor_f8 = 1024, .tensor_s8 = 1024, .mma_sync_percent = 100, .l2_bytes = 48 << 20,
     .hbm_gbs = 300, .memory_gb = 24, .watts = 72, .paper = ADA, .source = "L4 data sheet"},
    {.name = "l40s", .device = "L40S", CC_89, .sms = 142, .boost_mhz = 2520, .tensor_f16 = 512, .tensor_tf32 = 256,
     .tensor_f8 = 1024, .tensor_s8 = 1024, .mma_sync_percent = 100, .l2_bytes = 96 << 20,
     .hbm_gbs = 864, .memory_gb = 48, .watts = 350, .paper = ADA, .source = "L40S data sheet"},
    {.name = "rtx-4090", .device = "RTX 4090", CC_89, .sms = 128, .boost_mhz = 2520, .tensor_f16 = 256,
     .tensor_tf32 = 128, .tensor_f8 = 512, .tensor_s8 = 1024, .mma_sync_percent = 100,
     .l2_bytes = 72 << 20, .hbm_gbs = 1008, .memory_gb = 24, .watts = 450, .paper = ADA,
     .source = ADA},
    {.name = "gh200", .device = "GH200", CC_90, TENSOR_90, LATENCY_90, .sms = 132, .boost_mhz = 1980,
     .tensor_mhz = 1830, .l2_bytes = 60 << 20, .hbm_gbs = 4000, .memory_gb = 96, .watts = 0,
     .paper = HOPPER, .source = "GH200 data sheet, 96 GB HBM3", .exceptions = except_gh200},
    {.name = "h100-nvl", .device = "H100 NVL", CC_90, TENSOR_90, LATENCY_90, .sms = 132, .boost_mhz = 1785,
     .tensor_mhz = 1545, .l2_bytes = 0, .hbm_gbs = 3938, .memory_gb = 94, .watts = 400,
     .paper = HOPPER, .source = "H100 NVL data sheet and product brief", .exceptions = except_nvl},
    {.name = "h100-pcie", .device = "H100 PCIe", CC_90, TENSOR_90, LATENCY_90, .sms = 114, .boost_mhz = 1755,
     .tensor_mhz = 1620, .l2_bytes = 50 << 20, .hbm_gbs = 2039, .memory_gb = 80, .watts = 350,
     .paper = HOPPER, .source = "H100 data sheet, PCIe", .exceptions = except_90},
    {.name = "h100-sxm", .device = "H100 80GB HBM3", CC_90, TENSOR_90, LATENCY_90, .sms = 132, .boost_mhz = 1980,
     .tensor_mhz = 1830, .l2_bytes = 50 << 20, .hbm_gbs = 3350, .memory_gb = 80, .watts = 700,
     .paper = HOPPER, .source = "H100 data sheet, SXM", .exceptions = except_90},
    {.name = "h20", .device = "H20", CC_90_BUT_F64, LATENCY_90, .sms = 78, .boost_mhz = 1980, .tensor_mhz = 1853,
     .tensor_f16 = 512, .tensor_tf32 = 256, .tensor_f8 = 1024, .tensor_s8 = 1024,
     .l2_bytes = 60 << 20, .hbm_gbs = 4000, .memory_gb = 96, .watts = 400, .paper = HOPPER,
     .source = THIRD, .exceptions = except_h20},
    {.name = "h200", .device = "H200", CC_90, TENSOR_90, LATENCY_90, .sms = 132, .boost_mhz = 1980,
     .tensor_mhz = 1830, .l2_bytes = 60 << 20, .hbm_gbs = 4800, .memory_gb = 141, .watts = 700,
     .paper = HOPPER, .source = "H200 data sheet, SXM", .exceptions = except_h200,
     .measured = measured_h200},
    {.name = "b200", .device = "B200", CC_100, .sms = 148, .boost_mhz = 1965, .tensor_mhz = 1856,
     .tensor_f16 = 4096, .tensor_tf32 = 2048, .tensor_f8 = 8192, .tensor_s8 = 8192,
     .tensor_f64 = 64, .l2_bytes = 126 << 20, .hbm_gbs = 8000, .memory_gb = 180, .watts = 1000,
     .paper = BLACKWELL, .source = "HGX B200 data sheet", .exceptions = except_b200},
    {.name = "rtx-5090", .device = "RTX 5090", CC_120, .sms = 170, .boost_mhz = 2407, .tensor_f16 = 256,
     .tensor_tf32 = 128, .tensor_f8 = 512, .tensor_s8 = 1024, .mma_sync_percent = 100,
     .l2_bytes = 96 << 20, .hbm_gbs = 1792, .memory_gb = 32, .watts = 575, .paper = GB202,
     .source = GB202},
};
/* clang-format on */

size_t gpu_count(void) {
  return sizeof table / sizeof table[0];
}

const gpu_facts *gpu_at(size_t i) {
  return &table[i];
}

const gpu_facts *gpu_find(const char *name) {
  for (size_t i = 0; i < gpu_count(); ++i)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}

/* Length of a card's driver name where it stands in another as whole words ("H20" is not in
 * "H200"); else 0. */
static size_t fit(const char *device, const char *name) {
  size_t size = strlen(device);
  for (const char *at = strstr(name, device); at; at = strstr(at + 1, device))
    if (!isalnum((unsigned char)at[size]) && (at == name || !isalnum((unsigned char)at[-1])))
      return size;
  return 0;
}

const gpu_facts *gpu_of_device(const char *device_name, int arch) {
  const gpu_facts *best = NULL;
  size_t best_fit = 0;
  for (size_t i = 0; i < gpu_count(); ++i) {
    if (table[i].arch != arch) continue;
    size_t size = fit(table[i].device, device_name);
    if (best == NULL || size > best_fit) best = &table[i], best_fit = size;
  }
  return best;
}

/* ORDER UNIT */
static const struct {
  const char *name;
  size_t rate; /* offset */
} units[GPU_UNIT_COUNT] = {
    {"CUDA cores f32", offsetof(gpu_facts, fma_f32)},
    {"CUDA cores f64", offsetof(gpu_facts, fma_f64)},
    {"tensor cores f16", offsetof(gpu_facts, tensor_f16)},
    {"tensor cores tf32", offsetof(gpu_facts, tensor_tf32)},
    {"tensor cores f8", offsetof(gpu_facts, tensor_f8)},
    {"tensor cores s8", offsetof(gpu_facts, tensor_s8)},
    {"tensor cores f64", offsetof(gpu_facts, tensor_f64)},
};

int gpu_rate(const gpu_facts *g, gpu_unit unit) {
  int rate;
  memcpy(&rate, (const char *)g + units[unit].rate, sizeof rate);
  return rate;
}

bool gpu_unit_is_tensor(gpu_unit unit) {
  return unit >= GPU_TENSOR_F16;
}

/* The f64 tensor cores run at the clock of the CUDA cores (Hopper whitepaper). */
int gpu_clock(const gpu_facts *g, gpu_unit unit) {
  bool own = gpu_unit_is_tensor(unit) && unit != GPU_TENSOR_F64 && g->tensor_mhz > 0;
  return own ? g->tensor_mhz : g->boost_mhz;
}

double gpu_peak(const gpu_facts *g, gpu_unit unit) {
  return 2e-6 * gpu_rate(g, unit) * g->sms * gpu_clock(g, unit);
}

const char *gpu_unit_name(gpu_unit unit) {
  return units[unit].name;
}

double gpu_measured(const gpu_facts *g, const char *name) {
  for (const gpu_measure *m = g->measured; m && m->name; ++m)
    if (strcmp(m->name, name) == 0) return m->value;
  return 0;
}
