/* device.c - the public functions of devices: argument checks, then the backend's operation. */
#include "device.h"
#include "detail.h"

void gg_device_destroy(gg_device *device) {
  if (device) device->ops->destroy(device);
}

gg_status gg_device_get_info(const gg_device *device, gg_device_info *info) {
  if (!device || !info)
    return ggi_fail(GG_ERR_ARGUMENT, "gg_device_get_info: %s is NULL", device ? "info" : "device");
  *info = device->info;
  return GG_OK;
}

gg_status gg_device_alloc(gg_device *device, size_t bytes, void **memory) {
  if (!device || !memory)
    return ggi_fail(GG_ERR_ARGUMENT, "gg_device_alloc: %s is NULL", device ? "memory" : "device");
  return device->ops->alloc(device, bytes, memory);
}

gg_status gg_device_free(gg_device *device, void *memory) {
  if (!device) return ggi_fail(GG_ERR_ARGUMENT, "gg_device_free: device is NULL");
  return memory ? device->ops->release(device, memory) : GG_OK;
}

static gg_status check_copy(const char *call, const gg_device *device, const void *to,
                            const void *from, size_t bytes) {
  if (!device) return ggi_fail(GG_ERR_ARGUMENT, "%s: device is NULL", call);
  if (bytes > 0 && (!to || !from))
    return ggi_fail(GG_ERR_NULL, "%s: %s is NULL, but bytes is %zu", call, to ? "from" : "to",
                    bytes);
  return GG_OK;
}

gg_status gg_device_upload(gg_device *device, void *to, const void *from, size_t bytes) {
  gg_status status = check_copy("gg_device_upload", device, to, from, bytes);
  if (status != GG_OK || bytes == 0) return status;
  return device->ops->upload(device, to, from, bytes);
}

gg_status gg_device_download(gg_device *device, void *to, const void *from, size_t bytes) {
  gg_status status = check_copy("gg_device_download", device, to, from, bytes);
  if (status != GG_OK || bytes == 0) return status;
  return device->ops->download(device, to, from, bytes);
}

gg_status gg_device_synchronise(gg_device *device) {
  if (!device) return ggi_fail(GG_ERR_ARGUMENT, "gg_device_synchronise: device is NULL");
  return device->ops->synchronise(device);
}
