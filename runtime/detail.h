/* detail.h - the thread's error detail text. */
#ifndef GGI_DETAIL_H
#define GGI_DETAIL_H

#include "gg.h"

#if defined(__GNUC__)
#define GGI_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define GGI_PRINTF(at, first)
#endif

/* Sets the text and returns status, so that a check is one statement: return ggi_fail(...). */
gg_status ggi_fail(gg_status status, const char *format, ...) GGI_PRINTF(2, 3);

#endif
