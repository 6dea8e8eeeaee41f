/* SPDX-License-Identifier: MIT */
/* check.h - cmocka, with the headers it wants before it. */
#ifndef PE_TESTS_SUPPORT_CHECK_H
#define PE_TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
