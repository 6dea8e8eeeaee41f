/* SPDX-License-Identifier: MIT */
/* array.h - shapes, and arrays of numbers. */
#ifndef PE_BASE_ARRAY_H
#define PE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/size.h"
#include "base/status.h"

#define PE_MAX_DIMS 8

typedef struct pe_shape {
    size_t ndim;
    size_t dim[PE_MAX_DIMS];
} pe_shape;

/** Product of the dimensions, 1 for none; false (and *out untouched) when it overflows. */
bool pe_array_elements(const pe_shape *shape, size_t *out) PE_MUST_CHECK;

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
