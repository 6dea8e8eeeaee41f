/* SPDX-License-Identifier: MIT */
/* bucket_reading.h - indices of relative positions, by their distance. */
#ifndef PE_VERIFY_BUCKET_READING_H
#define PE_VERIFY_BUCKET_READING_H

#include "verify/numbers.h"

/** Indices that depend on key - query alone, but for few rows. */
typedef struct pe_indices {
    const pe_numbers *of;
    size_t queries, keys, n;
    double first, lowest; /* position of query 0; the least key - query */
    double *value;        /* [n] owned, of key - query = lowest, lowest + 1, ... */
    size_t *votes;        /* [n] owned: for that value, while it is looked for */
    size_t *differs;      /* [queries] owned: elements of a row that are no such value */
    bool *odd;            /* [queries] owned: rows that are something else */
    size_t n_odd;
} pe_indices;

/** *made is false where too many rows are something else. */
pe_status pe_indices_make(const pe_numbers *plain, pe_indices *out, bool *made,
                          pe_problem *why) PE_MUST_CHECK;
void pe_indices_free(pe_indices *x);

/** key - query of an element. */
double pe_indices_relative(const pe_indices *x, size_t element);

/** Place k of value: from distance 0 on to both ends. Near ones tell most functions apart. */
size_t pe_indices_nth(const pe_indices *x, size_t k);

/** The index of key - query; NAN: there is none. */
double pe_indices_at(const pe_indices *x, double relative);

/** The first key - query of an index; NAN: there is none. */
double pe_indices_find(const pe_indices *x, double value);

/** Does a row of the upload hold one number? */
bool pe_indices_is_constant(const pe_indices *x, size_t query);

#endif
