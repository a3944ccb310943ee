/* device_none.c - stands in for device_cuda.c in a library without CUDA. */
#include "detail.h"

gg_status gg_device_cuda(int ordinal, gg_device **device) {
  (void)device;
  return ggi_fail(GG_ERR_NO_BACKEND,
                  "CUDA device %d: this library was built without CUDA; build it with "
                  "-DGEMMGEN_CUDA=ON, or use gg_device_emulated",
                  ordinal);
}
