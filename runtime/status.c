/* status.c - status texts and the thread's error detail.
 *
 * The detail is a fixed buffer of each thread: setting it cannot fail and allocates nothing.
 */
#include "detail.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char detail[768];

const char *gg_status_text(gg_status status) {
  switch (status) {
#define CASE(name, number, text)                                                                   \
  case name:                                                                                       \
    return text;
    GG_STATUS_LIST(CASE)
#undef CASE
  }
  return "unknown status";
}

const char *gg_status_name(gg_status status) {
  switch (status) {
#define CASE(name, number, text)                                                                   \
  case name:                                                                                       \
    return #name;
    GG_STATUS_LIST(CASE)
#undef CASE
  }
  return "GG_ERR_UNKNOWN";
}

const char *gg_error_detail(void) {
  return detail;
}

gg_status ggi_fail(gg_status status, const char *format, ...) {
  /* Formatted aside: an argument may be the old detail. */
  char text[sizeof detail];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (n < 0) text[0] = '\0';
  snprintf(detail, sizeof detail, "%s", text);
  return status;
}
