/* device_cuda.c - CUDA devices through the CUDA runtime.
 *
 * Each operation makes the device current, and the thread's former device current again before it
 * returns. Entries are nvcc's host stubs, which the runtime knows by address. Nothing is put on the
 * default stream but the two blocking copies, which are documented as such.
 */
#include "detail.h"
#include "device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct device_cuda {
  gg_device device; /* first: gg_device * is device_cuda * */
  int ordinal;
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
  return GG_OK;
}

static gg_status cuda_load(gg_device *device, const gg_kernel *row) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  status = load(device, row);
  leave(device, former);
  return status;
}

static gg_status cuda_launch(gg_device *device, const gg_kernel *row, unsigned blocks,
                             const gg_args *args, void *stream) {
  int former;
  gg_status status = enter(device, &former);
  if (status != GG_OK) return status;
  cudaLaunchConfig_t config = {.gridDim = {blocks, 1, 1},
                               .blockDim = {(unsigned)row->threads, 1, 1},
                               .dynamicSmemBytes = (size_t)row->shared_bytes,
                               .stream = (cudaStream_t)stream};
  void *arguments[1] = {(void *)(uintptr_t)args};
  cudaError_t error = cudaLaunchKernelExC(&config, stub(row), arguments);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    status = ggi_fail(GG_ERR_DEVICE, "kernel %s, %u blocks of %d threads, %d bytes shared: %s (%s)",
                      row->name, blocks, row->threads, row->shared_bytes, cudaGetErrorString(error),
                      cudaGetErrorName(error));
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
    cuda_destroy,        cuda_alloc,        cuda_release,       cuda_upload,
    cuda_download,       cuda_load,         cuda_launch,        cuda_stream_create,
    cuda_stream_destroy, cuda_stream_wait,  cuda_synchronise,   cuda_event_create,
    cuda_event_destroy,  cuda_event_record, cuda_event_elapsed,
};

static gg_status read_info(int ordinal, gg_device_info *info) {
  struct cudaDeviceProp properties;
  gg_status status =
      check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  if (status != GG_OK) return status;
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal) != cudaSuccess) {
    (void)cudaGetLastError();
    khz = 0;
  }
  snprintf(info->name, sizeof info->name, "%.63s", properties.name);
  info->emulated = 0;
  info->arch = properties.major * 10 + properties.minor;
  info->sms = properties.multiProcessorCount;
  info->shared_block = (int)properties.sharedMemPerBlockOptin;
  info->threads_block = properties.maxThreadsPerBlock;
  info->clock_mhz = khz / 1000;
  info->l2_bytes = properties.l2CacheSize;
  info->blocks_launch = properties.maxGridSize[0];
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
