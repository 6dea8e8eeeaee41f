/* SPDX-License-Identifier: MIT */
/* array.h - element types, shapes and arrays of numbers. */
#ifndef PE_BASE_ARRAY_H
#define PE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

#define PE_LEN(a) (sizeof(a) / sizeof((a)[0]))

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
const char *pe_dtype_name(pe_dtype dtype); /* "float32" */
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

#define PE_MAX_DIMS 8

typedef struct pe_shape {
    size_t ndim;
    size_t dim[PE_MAX_DIMS];
} pe_shape;

/** Product of the dimensions; false (and *out untouched) when it does not fit a size_t. ndim 0:
 * 1. */
bool pe_shape_elements(const pe_shape *shape, size_t *out) PE_MUST_CHECK;

/** a*b (a+b) into *out, or false on overflow. */
bool pe_size_mul(size_t a, size_t b, size_t *out) PE_MUST_CHECK;
bool pe_size_add(size_t a, size_t b, size_t *out) PE_MUST_CHECK;

/** A dense row-major array. data is owned (pe_array_free) unless borrowed is set. */
typedef struct pe_array {
    pe_dtype dtype;
    pe_shape shape;
    size_t elements;
    void *data;
    bool borrowed;
} pe_array;

pe_status pe_array_make(pe_dtype dtype, const pe_shape *shape, pe_array *out,
                        pe_problem *why) PE_MUST_CHECK;
/** Releases data and zeroes the struct; accepts NULL and a zeroed struct. */
void pe_array_free(pe_array *array);

#endif
