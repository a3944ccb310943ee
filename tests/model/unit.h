/* unit.h - cmocka, with the headers it wants before it. */
#ifndef TESTS_MODEL_UNIT_H
#define TESTS_MODEL_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
