/* SPDX-License-Identifier: MIT */
/* golden.h - golden files, and the numbers of answers beside them. */
#ifndef PE_TESTS_SUPPORT_GOLDEN_H
#define PE_TESTS_SUPPORT_GOLDEN_H

#include <jansson.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/client.h"

/** The four types of numbers, as names and as dtypes. */
#define GOLDEN_TYPES 4
extern const char *const golden_types[GOLDEN_TYPES];
extern const pe_dtype golden_dtypes[GOLDEN_TYPES];

/** Ten positions that no golden file holds, and the same as query text. */
#define GOLDEN_ELSEWHERE 10
extern const double golden_elsewhere[GOLDEN_ELSEWHERE];
extern const char golden_elsewhere_text[];

/** tests/golden/data/NAME.json; fails the test when it cannot be read. Release with json_decref. */
json_t *golden_load(const char *name);

/** A member that must be there, of that type. */
double golden_number(const json_t *object, const char *name);
const char *golden_text(const json_t *object, const char *name);

/** The flat data, and one dimension, of array `name` in section "inputs", "expected" or "truth". */
const json_t *golden_flat(const json_t *golden, const char *section, const char *name);
size_t golden_dimension(const json_t *golden, const char *section, const char *name, size_t axis);
double golden_item(const json_t *array, size_t i);
/** Array `name` of section as nested JSON text, by its shape. */
void golden_add_nested(const json_t *golden, const char *section, const char *name, pe_buffer *out);

/** The positions (timesteps) that went in, NULL when the file counts from start_index; and as query
 * text. */
const json_t *golden_positions(const json_t *golden);
void golden_add_positions(const json_t *golden, pe_buffer *target);

/** value rounded to dtype. */
double golden_round(pe_dtype dtype, double value);

/**
 * The numbers of tensor `name` ("data": the only one) of a 200 answer of dtype; free them. The text
 * is the shortest that reads back to the same value of the dtype, so reading ends with a rounding
 * to it. null becomes NaN.
 */
double *golden_numbers(const reply *answer, const char *name, pe_dtype dtype, const char *what,
                       size_t *n);

/** got must be truth rounded to dtype, bit for bit. */
void golden_same(const double *got, size_t n, const json_t *truth, pe_dtype dtype,
                 const char *what);

#endif
