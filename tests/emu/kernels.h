/* kernels.h - device functions of the tests, and how a test finds their lines.
 *
 * Device code stands in kernels_*.c, compiled like emitted kernels. A comment at the end of a line,
 * @ and a word, names it: tests ask for the line by that word.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include "gg_kernel.h"

typedef void kernel(gg_args);

/* kernels_access.c: what a primitive does. p.k: size class, p.n: threads in the block. */
kernel access_shared, access_global, access_narrow, access_zfill, access_wait_groups, access_round;
kernel access_ids, access_pattern;

/* kernels_race.c: each does one thing wrong unless its name ends in _ok. */
kernel raw, raw_ok, war, war_ok, waw, early, neighbours_ok, split_ok, uninitialised,
    uninitialised_part;
kernel warp_exchange, warp_exchange_ok, producer_ok, producer_late_write, late_read;
kernel copy_no_wait, copy_too_few, copy_no_commit, copy_no_barrier, copy_ok, copy_onto_read;
kernel copy_twice, copy_source, copy_of_nothing;
kernel global_two_writers, global_reader, global_ldg_own, global_copy_own, global_own_ok;

/* kernels_fault.c: addresses, barriers, exits. */
kernel shared_outside, shared_misaligned, global_outside, global_below, global_misaligned;
kernel copy_outside, copy_misaligned, copy_zero_ok, copy_bytes;
kernel warp_divergence, barrier_divergence, deadlock, early_exit_ok, half_warp_ok, bar_counts;
kernel bar_bad_id, bar_bad_count, bar_pending, exit_uncommitted, exit_unwaited, exit_empty_ok;
kernel endless, spin_ok;

/* kernels_gemm.c: D = alpha A B + beta C on 32 x 32 tiles, any m, n, k; 64 threads; a ring of three
 * stages filled by cp.async. p.stride_bias: the fault to make, 0 for none. */
kernel gemm_ring;
enum { GEMM_THREADS = 64, GEMM_SHARED = 6528, GEMM_FAULTS = 17 };

/* kernels_mma.c: D in f32 from A[m,k] and B[k,n] in bf16, by mma.sync; 64 threads a tile of 32
 * x 64. kernels_hopper.c: D in bf16 from A[m,k] and B[n,k], by wgmma; 160 threads, clusters of 2.
 * p.stride_bias: the fault to make, 0 for none. */
kernel mma_gemm, hopper_gemm;
enum { MMA_THREADS = 64, MMA_SHARED = 19968, MMA_FAULTS = 13 };
enum { HOPPER_THREADS = 160, HOPPER_SHARED = 57344 + 48, HOPPER_FAULTS = 29 };

/* kernels_tensor.c */
kernel wmma_f16, wmma_f16_acc16, wmma_bf16, wmma_s8, wmma_tf32, wmma_f64, wmma_misaligned,
    wmma_access, wmma_misuse, overrun;
kernel narrow, exchange, ring, mbarrier_misuse, lane0_release, arrivals, relaxed, in_place,
    in_place_store;

#endif
