/* device_cuda.c - CUDA devices through the CUDA runtime.
 *
 * Each operation makes the device current, and the thread's former device current again before it
 * returns. Entries are nvcc's host stubs, which the runtime knows by address. Nothing is put on the
 * default stream but the two blocking copies, which are documented as such.
 */
#include "detail.h"
#include "device.h"
#include "launch.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's encoder of tensor maps. It is asked for by name, so that nothing links libcuda. */
typedef CUresult (*encoder)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                            const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                            const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

typedef struct device_cuda {
  gg_device device; /* first: gg_device * is device_cuda * */
  int ordinal;
  _Atomic(encoder) encode; /* NULL until a kernel with tensor maps is loaded */
} device_cuda;

static device_cuda *self(gg_device *device) {
  return (device_cuda *)device;
}

static gg_status fail(gg_status status, cudaError_t error, const char *what) {
  (void)cudaGetLastError(); /* the caller's next check must not find ours */
  return ggi_fail(status, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

static gg_status check(cudaError_t error, const char *what) {
  return error == cudaSuccess ? GG_OK : fail(GG_ERR_DEVICE, error, what);
}

/* The device made current; leave() undoes it. */
static gg_status enter(gg_device *device, int *former) {
  cudaError_t error = cudaGetDevice(former);
  if (error != cudaSuccess) return fail(GG_ERR_DEVICE, error, "cudaGetDevice");
  if (*former == self(device)->ordinal) return GG_OK;
  return check(cudaSetDevice(self(device)->ordinal), "cudaSetDevice");
}

static void leave(gg_device *device, int former) {
  if (former != self(device)->ordinal) (void)cudaSetDevice(former);
}

static void cuda_destroy(gg_device *device) {
  free(self(device));
}

static gg_status cuda_alloc(gg_device *device, size_t bytes, void **memory) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  void *p = NULL;
  cudaError_t error = cudaMalloc(&p, bytes ? bytes : 1);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    status =
        ggi_fail(GG_ERR_DEVICE_MEMORY, "%s has no memory for %zu bytes", device->info.name, bytes);
  } else {
    status = check(error, "cudaMalloc");
  }
  leave(device, former);
  if (status == GG_OK) *memory = p;
  return status;
}

static gg_status cuda_release(gg_device *device, void *memory) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  status = check(cudaFree(memory), "cudaFree");
  leave(device, former);
  return status;
}

static gg_status copy(gg_device *device, void *to, const void *from, size_t bytes,
                      enum cudaMemcpyKind kind) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  status = check(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy");
  leave(device, former);
  return status;
}

static gg_status cuda_upload(gg_device *device, void *to, const void *from, size_t bytes) {
  return copy(device, to, from, bytes, cudaMemcpyHostToDevice);
}

static gg_status cuda_download(gg_device *device, void *to, const void *from, size_t bytes) {
  return copy(device, to, from, bytes, cudaMemcpyDeviceToHost);
}

/* The runtime takes a host stub as a pointer to void. */
static const void *stub(const gg_kernel *row) {
  return (const void *)row->entry;
}

/* Larger clusters run on some devices only and must be asked for. */
enum { PORTABLE_CLUSTER = 8 };

static gg_status load(const gg_device *device, const gg_kernel *row) {
  struct cudaFuncAttributes attributes;
  /* Loads the module where loading is lazy, which a capture could not. */
  cudaError_t error = cudaFuncGetAttributes(&attributes, stub(row));
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    (void)cudaGetLastError();
    return ggi_fail(GG_ERR_ARCH,
                    "kernel %s: the binary holds no code that %s (sm_%d) can run, though its row "
                    "says sm_%d%s; compile it for the row's architecture",
                    row->name, device->info.name, device->info.arch, row->arch,
                    row->arch_suffix ? "a" : "");
  }
  if (error != cudaSuccess) return fail(GG_ERR_DEVICE, error, row->name);
  if (attributes.maxThreadsPerBlock < row->threads)
    return ggi_fail(GG_ERR_DEVICE,
                    "kernel %s: was compiled for at most %d threads a block (%d registers each), "
                    "its row says %d",
                    row->name, attributes.maxThreadsPerBlock, attributes.numRegs, row->threads);
  if (attributes.maxDynamicSharedSizeBytes < row->shared_bytes) {
    error = cudaFuncSetAttribute(stub(row), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 row->shared_bytes);
    if (error != cudaSuccess) {
      (void)cudaGetLastError();
      return ggi_fail(GG_ERR_DEVICE, "kernel %s: no %d bytes of shared memory a block: %s",
                      row->name, row->shared_bytes, cudaGetErrorString(error));
    }
  }
  if (ggi_cluster_blocks(row) > PORTABLE_CLUSTER) {
    error = cudaFuncSetAttribute(stub(row), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return fail(GG_ERR_DEVICE, error, row->name);
  }
  return GG_OK;
}

static gg_status find_encoder(device_cuda *d) {
  if (atomic_load(&d->encode)) return GG_OK;
  void *found = NULL;
  enum cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                       cudaEnableDefault, &result);
#else
  cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess) return fail(GG_ERR_DEVICE, error, "cuTensorMapEncodeTiled");
  if (result != cudaDriverEntryPointSuccess || !found)
    return ggi_fail(GG_ERR_DEVICE,
                    "the driver has no cuTensorMapEncodeTiled; CUDA 12.0 brought it");
  encoder function;
  memcpy(&function, &found, sizeof function); /* ISO C has no cast from void * to a function */
  atomic_store(&d->encode, function);
  return GG_OK;
}

static bool has_maps(const gg_kernel *row) {
  return row->maps[0].used || row->maps[1].used || row->maps[2].used || row->maps[3].used;
}

static gg_status cuda_load(gg_device *device, const gg_kernel *row) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  status = load(device, row);
  if (status == GG_OK && has_maps(row)) status = find_encoder(self(device));
  leave(device, former);
  return status;
}

static const CUtensorMapDataType map_types[] = {
    [GG_F64] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,   [GG_F32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    [GG_TF32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,  [GG_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    [GG_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, [GG_E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    [GG_E5M2] = CU_TENSOR_MAP_DATA_TYPE_UINT8,    [GG_S8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    [GG_U8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,      [GG_S32] = CU_TENSOR_MAP_DATA_TYPE_INT32,
};

static CUtensorMapSwizzle map_swizzle(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

static CUtensorMapL2promotion map_promotion(int bytes) {
  return bytes == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
         : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
         : bytes == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                        : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

static gg_status cuda_encode(gg_device *device, const ggi_map *map, gg_tensor_map *to) {
  encoder function = atomic_load(&self(device)->encode);
  if (!function) return ggi_fail(GG_ERR_DEVICE, "the kernel was not loaded");
  const cuuint64_t extent[3] = {(cuuint64_t)map->extent[0], (cuuint64_t)map->extent[1],
                                (cuuint64_t)map->extent[2]};
  const cuuint64_t pitch[2] = {(cuuint64_t)map->pitch[0], (cuuint64_t)map->pitch[1]};
  const cuuint32_t box[3] = {(cuuint32_t)map->box[0], (cuuint32_t)map->box[1], 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  _Static_assert(sizeof(CUtensorMap) == sizeof(gg_tensor_map), "one size");
  CUresult result =
      function((CUtensorMap *)to, map_types[map->type], 3, (void *)(uintptr_t)map->base, extent,
               pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, map_swizzle(map->swizzle),
               map_promotion(map->promotion), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    return ggi_fail(
        GG_ERR_DEVICE,
        "cuTensorMapEncodeTiled refused it with error %d: base %p, pitch %lld and batch "
        "stride %lld bytes, box %d x %d, swizzle %d",
        (int)result, (void *)(uintptr_t)map->base, map->pitch[0], map->pitch[1], map->box[0],
        map->box[1], map->swizzle);
  return GG_OK;
}

/* What one launch of `blocks` blocks is; `attribute` has room for two. */
static cudaLaunchConfig_t launch_config(const gg_kernel *row, unsigned blocks, bool early,
                                        cudaLaunchAttribute attribute[2]) {
  cudaLaunchConfig_t config = {.gridDim = {blocks, 1, 1},
                               .blockDim = {(unsigned)row->threads, 1, 1},
                               .dynamicSmemBytes = (size_t)row->shared_bytes,
                               .attrs = attribute};
  unsigned cluster = (unsigned)ggi_cluster_blocks(row);
  if (cluster > 1) {
    cudaLaunchAttribute *a = &attribute[config.numAttrs++];
    a->id = cudaLaunchAttributeClusterDimension;
    a->val.clusterDim.x = cluster;
    a->val.clusterDim.y = a->val.clusterDim.z = 1;
  }
  if (early) {
    cudaLaunchAttribute *a = &attribute[config.numAttrs++];
    a->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a->val.programmaticStreamSerializationAllowed = 1;
  }
  return config;
}

static gg_status cuda_resident(gg_device *device, const gg_kernel *row, int *clusters) {
  int cluster = ggi_cluster_blocks(row);
  int blocks = device->info.sms * (row->blocks_per_sm > 1 ? row->blocks_per_sm : 1);
  int most = blocks / cluster;
  if (cluster > 1) {
    int former, fit = 0;
    gg_status status = enter(device, &former);
    if (status != GG_OK) return status;
    cudaLaunchAttribute attribute[2];
    cudaLaunchConfig_t config = launch_config(row, (unsigned)cluster, false, attribute);
    status = check(cudaOccupancyMaxActiveClusters(&fit, stub(row), &config), row->name);
    leave(device, former);
    if (status != GG_OK) return status;
    most = fit < most ? fit : most;
  }
  if (most < 1)
    return ggi_fail(GG_ERR_DEVICE, "kernel %s: %s has no place for one cluster of %d blocks",
                    row->name, device->info.name, cluster);
  *clusters = most;
  return GG_OK;
}

static gg_status cuda_launch(gg_device *device, const gg_kernel *row, unsigned blocks, bool early,
                             const gg_args *args, void *stream) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  cudaLaunchAttribute attribute[2];
  cudaLaunchConfig_t config = launch_config(row, blocks, early, attribute);
  config.stream = (cudaStream_t)stream;
  void *arguments[1] = {(void *)(uintptr_t)args};
  cudaError_t error = cudaLaunchKernelExC(&config, stub(row), arguments);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    status =
        ggi_fail(GG_ERR_DEVICE,
                 "kernel %s, %u blocks of %d threads, clusters of %d, %d bytes shared: %s (%s)",
                 row->name, blocks, row->threads, ggi_cluster_blocks(row), row->shared_bytes,
                 cudaGetErrorString(error), cudaGetErrorName(error));
  }
  leave(device, former);
  return status;
}

static gg_status cuda_stream_create(gg_device *device, void **stream) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  cudaStream_t made = NULL;
  status = check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreate");
  leave(device, former);
  if (status == GG_OK) *stream = made;
  return status;
}

static void cuda_stream_destroy(gg_device *device, void *stream) {
  (void)device;
  (void)cudaStreamDestroy((cudaStream_t)stream);
}

static gg_status cuda_stream_wait(gg_device *device, void *stream) {
  (void)device;
  return check(cudaStreamSynchronize((cudaStream_t)stream), "cudaStreamSynchronize");
}

static gg_status cuda_synchronise(gg_device *device) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  status = check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  leave(device, former);
  return status;
}

static gg_status cuda_event_create(gg_device *device, void **event) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  cudaEvent_t made = NULL;
  status = check(cudaEventCreate(&made), "cudaEventCreate");
  leave(device, former);
  if (status == GG_OK) *event = made;
  return status;
}

static void cuda_event_destroy(gg_device *device, void *event) {
  (void)device;
  (void)cudaEventDestroy((cudaEvent_t)event);
}

static gg_status cuda_event_record(gg_device *device, void *event, void *stream) {
  (void)device;
  return check(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream), "cudaEventRecord");
}

static gg_status cuda_event_elapsed(gg_device *device, void *begin, void *end,
                                    float *milliseconds) {
  (void)device;
  gg_status status = check(cudaEventSynchronize((cudaEvent_t)end), "cudaEventSynchronize");
  if (status != GG_OK) return status;
  return check(cudaEventElapsedTime(milliseconds, (cudaEvent_t)begin, (cudaEvent_t)end),
               "cudaEventElapsedTime");
}

static const ggi_device_ops cuda_ops = {
    cuda_destroy,       cuda_alloc,         cuda_release,        cuda_upload,
    cuda_download,      cuda_load,          cuda_resident,       cuda_encode,
    cuda_launch,        cuda_stream_create, cuda_stream_destroy, cuda_stream_wait,
    cuda_synchronise,   cuda_event_create,  cuda_event_destroy,  cuda_event_record,
    cuda_event_elapsed,
};

/* An attribute; 0 where the driver does not know it. */
static int attribute(int ordinal, enum cudaDeviceAttr which) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
  (void)cudaGetLastError();
  return 0;
}

static gg_status read_info(int ordinal, gg_device_info *info) {
  struct cudaDeviceProp properties;
  gg_status status =
      check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  if (status != GG_OK) return status;
  snprintf(info->name, sizeof info->name, "%.63s", properties.name);
  info->emulated = 0;
  info->arch = properties.major * 10 + properties.minor;
  info->sms = properties.multiProcessorCount;
  info->shared_block = (int)properties.sharedMemPerBlockOptin;
  info->threads_block = properties.maxThreadsPerBlock;
  info->clock_mhz = attribute(ordinal, cudaDevAttrClockRate) / 1000;
  info->l2_bytes = properties.l2CacheSize;
  info->blocks_launch = properties.maxGridSize[0];
  /* Two transfers a clock; a byte is 8 bits of the bus. */
  info->memory_gbs = (int)(2.0 * attribute(ordinal, cudaDevAttrMemoryClockRate) *
                           attribute(ordinal, cudaDevAttrGlobalMemoryBusWidth) / 8e6);
  return GG_OK;
}

gg_status gg_device_cuda(int ordinal, gg_device **device) {
  if (!device) return ggi_fail(GG_ERR_ARGUMENT, "gg_device_cuda: device is NULL");
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return fail(GG_ERR_NO_DEVICE, error, "CUDA cannot be used here");
  if (ordinal < 0 || ordinal >= count)
    return ggi_fail(GG_ERR_NO_DEVICE, "CUDA device %d: this machine has %d (0 to %d)", ordinal,
                    count, count - 1);
  device_cuda *made = calloc(1, sizeof *made);
  if (!made) return ggi_fail(GG_ERR_MEMORY, "no memory for a device");
  made->device.ops = &cuda_ops;
  made->ordinal = ordinal;
  gg_status status = read_info(ordinal, &made->device.info);
  if (status != GG_OK) {
    free(made);
    return status;
  }
  *device = &made->device;
  return GG_OK;
}
