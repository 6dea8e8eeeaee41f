/* SPDX-License-Identifier: MIT */
/* dtype.h - element types. */
#ifndef PE_BASE_DTYPE_H
#define PE_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/** Element types. Order is that of the API's enumeration; int32 is for index tables only. */
typedef enum pe_dtype {
    PE_FLOAT32,
    PE_FLOAT64,
    PE_FLOAT16,
    PE_BFLOAT16,
    PE_INT32,
    PE_DTYPES
} pe_dtype;

size_t pe_dtype_bytes(pe_dtype dtype);
const char *pe_dtype_name(pe_dtype dtype);             /* "float32" */
const char *pe_dtype_safetensors_name(pe_dtype dtype); /* "F32" */
/** The type of that name; false (and *out untouched) when there is none. */
bool pe_dtype_find(pe_slice name, pe_dtype *out);
/** Largest finite value: 65504 for float16, ... */
double pe_dtype_max(pe_dtype dtype);

/**
 * The value of the element at `at` (any alignment) as a double: exact for every dtype.
 * Little-endian hosts only; the build refuses others.
 */
double pe_dtype_load(pe_dtype dtype, const void *at);

/**
 * Round a double to dtype (nearest, ties to even; once: never through float32) and store it at
 * `at`. Overflow gives an infinity; NaN stays NaN; -0 stays -0. PE_INT32: value must be an int32.
 */
void pe_dtype_store(pe_dtype dtype, double value, void *at);

#endif
