/* The sums that people in this field know by heart, to the digit. */
#include "unit.h"

#include "model.h"
#include <math.h>

#define near(value, expected, digits) is_near(__LINE__, (value), (expected), (digits))

static void is_near(int line, double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("line %d: %.10g, expected %.10g", line, value, expected);
}

static const model_problem cube_4096 = {4096, 4096, 4096, 1};
static const model_problem cube_1024 = {1024, 1024, 1024, 1};

/* 128x128x32 f32, 8x8 outputs a thread, two stages. */
static model_kernel simt(void) {
  return (model_kernel){.family = MODEL_SIMT,
                        .unit = GPU_CORE_F32,
                        .element = 4,
                        .element_d = 4,
                        .tile_m = 128,
                        .tile_n = 128,
                        .tile_k = 32,
                        .thread_m = 8,
                        .thread_n = 8,
                        .lanes_m = 4,
                        .lanes_n = 8,
                        .k_slices = 1,
                        .groups = 1,
                        .threads = 256,
                        .cluster_m = 1,
                        .cluster_n = 1,
                        .cluster_k = 1,
                        .stages = 2,
                        .path_a = MODEL_ASYNC,
                        .path_b = MODEL_ASYNC,
                        .copy_a = 16,
                        .copy_b = 16,
                        .copies_a = 4,
                        .copies_b = 4,
                        .vector = 4,
                        .fragments = 2,
                        .unroll_k = 32,
                        .stage_bytes = 32768,
                        .shared_bytes = 65536,
                        .registers = 128,
                        .blocks_sm = 2,
                        .raster_group = 8};
}

/* 128x256x64 bf16, two computing warpgroups, three stages. */
static model_kernel wgmma(void) {
  return (model_kernel){.family = MODEL_WGMMA,
                        .unit = GPU_TENSOR_F16,
                        .element = 2,
                        .element_d = 2,
                        .tile_m = 128,
                        .tile_n = 256,
                        .tile_k = 64,
                        .inst_m = 64,
                        .inst_n = 256,
                        .inst_k = 16,
                        .groups = 2,
                        .k_slices = 1,
                        .threads = 384,
                        .persistent = 1,
                        .cluster_m = 1,
                        .cluster_n = 1,
                        .cluster_k = 1,
                        .stages = 3,
                        .path_a = MODEL_TMA,
                        .path_b = MODEL_TMA,
                        .along_k_a = 1,
                        .along_k_b = 1,
                        .vector = 1,
                        .unroll_k = 1,
                        .stage_bytes = 49152,
                        .shared_bytes = 213040,
                        .registers = 168,
                        .blocks_sm = 1,
                        .raster_group = 16};
}

static void intensity_of_problems(void **state) {
  (void)state;
  near(1e-9 * model_flop(&cube_4096), 137.4, 0.05);
  near(model_flop(&cube_4096), 137438953472.0, 0);
  near(model_compulsory_bytes(&cube_4096, 4, 4, false), 128.0 * (1 << 20), 0);
  near(model_flop(&cube_4096) / model_compulsory_bytes(&cube_4096, 4, 4, false), 1024, 0);
  near(model_flop(&cube_1024) / model_compulsory_bytes(&cube_1024, 4, 4, true), 170.7, 0.05);
  /* One output a thread, every operand from device memory: 2 FLOP for 8 bytes. */
  near(2.0 / 8 * gpu_find("h100-sxm")->hbm_gbs * 1e-3, 0.84, 0.005);
}

static void intensity_of_tiles(void **state) {
  (void)state;
  near(model_tile_intensity(64, 64), 64, 0);
  near(model_tile_intensity(128, 128), 128, 0);
  near(model_tile_intensity(64, 64) / 2, 32, 0);
  near(model_tile_intensity(128, 128) / 2, 64, 0);
}

static void ridges(void **state) {
  (void)state;
  const gpu_facts *h100 = gpu_find("h100-sxm"), *a100 = gpu_find("a100-sxm-40");
  near(model_ridge(h100, GPU_CORE_F32), 20, 0.1);
  near(model_ridge(h100, GPU_TENSOR_F16), 300, 6);
  near(100 * 100 / gpu_peak(a100, GPU_TENSOR_F16), 32, 0.5);
  assert_true(model_ridge(gpu_find("v100"), GPU_TENSOR_TF32) == 0);
}

static void feeds_of_thread_tiles(void **state) {
  (void)state;
  near(model_feed(4, 4, 4, 128), 256, 0);
  near(model_feed(8, 8, 4, 128), 128, 0);
  near(model_feed(8, 16, 4, 128), 96, 0);
  near(model_feed(16, 16, 4, 128), 64, 0);
  model_kernel k = simt();
  model_shared s = model_shared_of(&k, gpu_find("h100-sxm"));
  near(s.per_thread, 128, 0);
  near(s.available, 128, 0);
  /* The warp's 32 x 64 outputs: (32 + 64) * 4 / 2048 * 128. */
  near(s.per_warp, 24, 0);
  /* A: 2 loads of 2 wavefronts, B: 2 of 4; a warp's k step is 64 FMAs, a quarter of which a cycle.
   */
  near(model_fragment_waves(&k), 2 * 2 + 2 * 4, 0);
  near(s.served, 12 * 128 / 2048.0 * 128, 0);
  near(s.fill, 8, 0);
  near(s.share, (96 + 8) / 128.0, 1e-12);
}

static void wavefronts_of_other_lanes(void **state) {
  (void)state;
  model_kernel k = simt();
  k.lanes_m = 32, k.lanes_n = 1; /* A: each lane its own 16 bytes; B: all lanes the same */
  near(model_fragment_waves(&k), 2 * 4 + 2 * 2, 0);
  k.lanes_m = 1, k.lanes_n = 32;
  near(model_fragment_waves(&k), 2 * 2 + 2 * 4, 0);
  k.lanes_m = 4, k.lanes_n = 8, k.vector = 1; /* 4 bytes a lane: one wavefront each */
  near(model_fragment_waves(&k), 16, 0);
}

static void warpgroups_read_a_once_for_each_instruction(void **state) {
  (void)state;
  model_kernel k = wgmma();
  model_shared s = model_shared_of(&k, gpu_find("h100-sxm"));
  /* m64n256k16 reads 64 x 32 + 256 x 32 bytes in 128 cycles: 80 B a cycle. */
  near(s.served, 80, 1e-9);
  near(s.fill, 48, 1e-9); /* 48 KB in 1024 cycles */
  k.tile_n = k.inst_n = 128;
  near(model_shared_of(&k, gpu_find("h100-sxm")).served, 96, 1e-9);
  k.tile_n = k.inst_n = 32; /* the tensor cores can have two thirds of what they could take */
  near(128 / model_shared_of(&k, gpu_find("h100-sxm")).served, 2 * 32 / (64.0 + 32), 1e-9);
}

static void capacity_of_stages(void **state) {
  (void)state;
  model_kernel k = simt();
  const gpu_facts *h100 = gpu_find("h100-sxm");
  near(model_capacity_of(&k, h100).stage, 32 << 10, 0);
  near(model_capacity_of(&k, h100).ring, 64 << 10, 0);
  assert_int_equal(model_capacity_of(&k, h100).blocks, 3);
  k.tile_k = 64, k.stage_bytes *= 2, k.shared_bytes *= 2; /* a second block no longer fits */
  assert_int_equal(model_capacity_of(&k, h100).blocks, 1);
  k = wgmma();
  model_capacity c = model_capacity_of(&k, h100);
  near(c.other, 213040 - 3 * 49152, 0);
  assert_int_equal(c.stages_fit, 3);
}

static void residency_and_its_limit(void **state) {
  (void)state;
  const gpu_facts *h100 = gpu_find("h100-sxm");
  model_kernel k = simt();
  model_residency r = model_residency_of(&k, h100);
  assert_int_equal(r.by_registers, 2); /* 65536 / (128 x 256) */
  assert_int_equal(r.by_threads, 8);
  assert_int_equal(r.by_shared, 3);
  assert_int_equal(r.blocks, 2);
  assert_int_equal(r.limit, LIMIT_REGISTERS);
  assert_int_equal(r.warps, 16);
  near(r.occupancy, 0.25, 0);
  near(r.accumulators, 64, 0);
  near(r.fragments, 32, 0);
  near(r.independent, 64, 0);
  k.registers = 64;
  r = model_residency_of(&k, h100);
  assert_int_equal(r.blocks, 3);
  assert_int_equal(r.limit, LIMIT_SHARED);
  k = wgmma();
  r = model_residency_of(&k, h100);
  near(r.accumulators, 128, 0);
  assert_int_equal(r.blocks, 1);
}

static void waves_of_tiles(void **state) {
  (void)state;
  model_kernel k = wgmma();
  const gpu_facts *h200 = gpu_find("h200");
  model_waves w = model_waves_of(&k, h200, &cube_4096);
  near(w.tiles, 512, 0);
  near(w.waves, 3.88, 0.005); /* 512 / 132 */
  near(w.filled, 0.97, 0.001);
  near(w.inside, 1, 0);
  near(w.l2_bytes, 512.0 * (128 + 256) * 4096 * 2, 0);
  near(w.compulsory, 3.0 * 4096 * 4096 * 2, 0);
  assert_true(w.hbm_bytes >= w.compulsory);
  /* A smaller L2 or plain order can only make traffic grow. */
  gpu_facts small = *h200;
  small.l2_bytes = 1 << 20;
  model_waves v = model_waves_of(&k, &small, &cube_4096);
  assert_true(v.hbm_bytes > w.hbm_bytes);
  k.raster_group = 1;
  assert_true(model_waves_of(&k, &small, &cube_4096).hbm_bytes > v.hbm_bytes);
  model_problem none = {0, 4096, 4096, 1};
  near(model_waves_of(&k, h200, &none).tiles, 0, 0);
}

/* Clusters are padded, and what lies outside of D is asked of tensor maps all the same. */
static void tiles_outside(void **state) {
  (void)state;
  const gpu_facts *h200 = gpu_find("h200");
  model_kernel k = wgmma();
  model_problem flat = {128, 8192, 4096, 1}, edge = {64, 8192, 4096, 1};
  model_waves one = model_waves_of(&k, h200, &flat), half = model_waves_of(&k, h200, &edge);
  near(one.outside_m, 0, 0);
  near(half.outside_m, 0.5, 1e-12);
  assert_true(half.l2_bytes > one.l2_bytes);
  k.cluster_m = 2;
  model_waves two = model_waves_of(&k, h200, &flat);
  near(two.tiles, 2 * one.tiles, 0);
  near(two.outside_m, 0.5, 1e-12);
  near(two.slots, 132, 0);
  k.cluster_m = 4;
  near(model_waves_of(&k, h200, &flat).slots, 120, 0);
  k = wgmma();
  assert_true(model_predict(&k, h200, &edge).seconds > model_predict(&k, h200, &flat).seconds);
}

/* s - 1 k tiles hold the latency of a fetch and the steps over which it is spread. */
static void rings_of_threads(void **state) {
  (void)state;
  const gpu_facts *h200 = gpu_find("h200");
  model_kernel k = simt();
  model_ring two = model_latency_of(&k, h200).ring;
  near(two.ahead, 1, 0);
  near(two.period, two.fetch + two.held, 1e-9);
  assert_true(two.held >= two.own); /* nothing of the latency is hidden */
  k.stages = 3;
  model_ring three = model_latency_of(&k, h200).ring;
  near(three.ahead, 2, 0);
  near(three.period, fmax(three.own, (three.fetch + three.held) / 2), 1e-9);
  /* One set of fragments: they are loaded behind the barrier, but the next tile is waited for
   * later. */
  k.fragments = 1;
  model_ring single = model_latency_of(&k, h200).ring;
  assert_true(single.first > 0 && three.first == 0);
  assert_true(single.held < three.held);
  /* Copies of a rolled loop leave before its first step. */
  k.unroll_k = 8;
  assert_true(model_latency_of(&k, h200).ring.held < single.held);
}

/* Short sums are waited for; one group at a time has no other's products beside that. */
static void short_sums(void **state) {
  (void)state;
  const gpu_facts *h200 = gpu_find("h200");
  model_kernel k = wgmma();
  double plain = model_latency_of(&k, h200).ring.own;
  k.promote_k = 128;
  model_ring both = model_latency_of(&k, h200).ring;
  near(both.promoted, 128 * 256 / 128.0, 0);
  assert_true(both.own > plain);
  k.pingpong = 1;
  near(model_latency_of(&k, h200).ring.own, 2 * both.own, 1e-9);
}

static void early_starts(void **state) {
  (void)state;
  const gpu_facts *h200 = gpu_find("h200");
  model_kernel k = wgmma();
  model_prediction late = model_predict(&k, h200, &cube_1024);
  assert_false(late.early);
  k.programmatic = 1;
  model_prediction early = model_predict(&k, h200, &cube_1024);
  assert_true(early.early);
  assert_true(early.seconds < late.seconds);
  /* Not where memory is the limit and the SMs are full. */
  model_problem row = {16, 65536, 4096, 1};
  assert_false(model_predict(&k, h200, &row).early);
}

static void predictions_are_sane(void **state) {
  (void)state;
  const gpu_facts *h200 = gpu_find("h200");
  model_kernel kernels[] = {simt(), wgmma()};
  for (int i = 0; i < 2; ++i) {
    double before = 0;
    for (double size = 256; size <= 16384; size *= 2) {
      model_problem p = {size, size, size, 1};
      model_prediction r = model_predict(&kernels[i], h200, &p);
      assert_true(r.seconds > before);
      assert_true(r.peak_share > 0 && r.peak_share < 1);
      assert_true(r.binding != r.runner_up);
      assert_true(r.alone[r.binding] >= r.alone[r.runner_up]);
      for (int b = 0; b < BOUND_COUNT; ++b)
        assert_true(r.alone[b] <= r.seconds);
      before = r.seconds;
    }
  }
  model_problem empty = {0, 0, 0, 1};
  near(model_predict(&kernels[0], h200, &empty).seconds,
       model_predict(&kernels[0], h200, &empty).launch, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intensity_of_problems),
      cmocka_unit_test(intensity_of_tiles),
      cmocka_unit_test(ridges),
      cmocka_unit_test(feeds_of_thread_tiles),
      cmocka_unit_test(wavefronts_of_other_lanes),
      cmocka_unit_test(warpgroups_read_a_once_for_each_instruction),
      cmocka_unit_test(capacity_of_stages),
      cmocka_unit_test(residency_and_its_limit),
      cmocka_unit_test(waves_of_tiles),
      cmocka_unit_test(tiles_outside),
      cmocka_unit_test(rings_of_threads),
      cmocka_unit_test(short_sums),
      cmocka_unit_test(early_starts),
      cmocka_unit_test(predictions_are_sane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
