/* SPDX-License-Identifier: MIT */
/* check.h - cmocka, with the headers it wants before it. */
#ifndef PE_TESTS_SUPPORT_CHECK_H
#define PE_TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Each test has the state of its group, and few look at it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/** Seconds: what has not been done by then, however busy the machine, will not be done. */
#define TEST_PATIENCE 120

/* What cmocka does not say to the compiler: fail_msg() and fail() do not come back. */
void _fail(const char *file, int line) __attribute__((noreturn));

#endif
