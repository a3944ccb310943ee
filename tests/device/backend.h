/* backend.h - memory, tensor maps and launches for both builds of device.cu. */
enum { MEMORIES = 16 }; /* of one case */
static void *memories[MEMORIES];
static int memory_count;

static void *memory_kept(void *p) {
  if (memory_count == MEMORIES) exit(3);
  return memories[memory_count++] = p;
}

#ifdef __CUDACC__
#include <cuda.h>
#include <cuda_runtime.h>

static void cuda_ok(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "device: %s: %s\n", what, cudaGetErrorString(e));
  exit(3);
}

static void *memory_new(size_t bytes, const char *name) {
  void *p;
  cuda_ok(cudaMalloc(&p, bytes), name);
  cuda_ok(cudaMemset(p, 0xff, bytes), name);
  return memory_kept(p);
}
static void memory_free_all(void) {
  while (memory_count > 0)
    cuda_ok(cudaFree(memories[--memory_count]), "cudaFree");
}
static void memory_put(void *to, const void *from, size_t bytes) {
  cuda_ok(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
}
static void memory_get(void *to, const void *from, size_t bytes) {
  cuda_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the device");
}

typedef CUresult (*encoder)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                            const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                            const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static void map_encode(gg_tensor_map *to, const gg_emu_map *m) {
  static encoder encode;
  if (encode == NULL) {
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    cuda_ok(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                             &found),
            "cuTensorMapEncodeTiled");
    encode = (encoder)f;
  }
  cuuint64_t dim[5], stride[4];
  cuuint32_t box[5], step[5];
  for (int i = 0; i < m->rank; i++) {
    dim[i] = m->dim[i];
    box[i] = m->box[i];
    step[i] = m->step[i] ? m->step[i] : 1;
    if (i > 0) stride[i - 1] = m->stride[i - 1];
  }
  CUresult r = encode((CUtensorMap *)to, (CUtensorMapDataType)m->type, (cuuint32_t)m->rank,
                      (void *)m->address, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                      (CUtensorMapSwizzle)m->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      (CUtensorMapFloatOOBfill)m->fill);
  if (r != CUDA_SUCCESS) fprintf(stderr, "device: tensor map refused: %d\n", (int)r);
}

static void launch(void (*k)(gg_args), unsigned blocks, unsigned threads, unsigned shared,
                   unsigned cluster, gg_args *args, const char *name) {
  cudaLaunchConfig_t c;
  cudaLaunchAttribute a[1];
  memset(&c, 0, sizeof c);
  cuda_ok(cudaFuncSetAttribute((const void *)k, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)shared),
          name);
  c.gridDim.x = blocks;
  c.gridDim.y = c.gridDim.z = 1;
  c.blockDim.x = threads;
  c.blockDim.y = c.blockDim.z = 1;
  c.dynamicSmemBytes = shared;
  a[0].id = cudaLaunchAttributeClusterDimension;
  a[0].val.clusterDim.x = cluster;
  a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
  c.attrs = a;
  c.numAttrs = cluster > 1 ? 1 : 0;
  void *list[1] = {args};
  cuda_ok(cudaLaunchKernelExC(&c, (const void *)k, list), name);
  cuda_ok(cudaDeviceSynchronize(), name);
}
#else
static gg_emu *emulated;

static void *memory_new(size_t bytes, const char *name) {
  if (emulated == NULL) emulated = gg_emu_create(NULL);
  void *p = gg_emu_alloc(emulated, bytes, name);
  if (p == NULL) exit(3);
  return memory_kept(p);
}
static void memory_free_all(void) {
  while (memory_count > 0)
    gg_emu_free(emulated, memories[--memory_count]);
}
static void memory_put(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
static void memory_get(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}

static void map_encode(gg_tensor_map *to, const gg_emu_map *m) {
  char error[240];
  if (gg_emu_tensor_map_encode(to, m, error) != 0) fprintf(stderr, "device: map: %s\n", error);
}

static int findings;

static void launch(void (*k)(gg_args), unsigned blocks, unsigned threads, unsigned shared,
                   unsigned cluster, gg_args *args, const char *name) {
  char error[240];
  const gg_emu_finding *f;
  gg_emu_launch l = {name, (gg_entry)k, blocks, 1, 1, threads, cluster, shared, 0};
  gg_emu_reset(emulated);
  if (gg_emu_run(emulated, &l, args, error) != 0) {
    fprintf(stderr, "device: %s\n", error);
    exit(3);
  }
  size_t n = gg_emu_findings(emulated, &f);
  for (size_t i = 0; i < n; i++, findings++)
    fprintf(stderr, "device: %s, line %d: %s: %s\n", name, f[i].line, gg_emu_kind_name(f[i].kind),
            f[i].text);
}
#endif
