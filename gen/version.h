/* version.h - the one place that states gemmgen's version. */
#ifndef GEN_VERSION_H
#define GEN_VERSION_H

#define GEMMGEN_VERSION "0.1.0"

#endif
