/* SPDX-License-Identifier: MIT */
/* geometry.h - where the two numbers of a pair stand in a row of an upload. */
#ifndef PE_VERIFY_UPLOAD_GEOMETRY_H
#define PE_VERIFY_UPLOAD_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/values.h"

/**
 * A row is what belongs to one position (a vector, for rotated ones); the rows of several tensors
 * count as one, in the tensors' order. Pair i has its cosine (first channel) in column
 * cos_at + i*stride for i < cos_n, its sine (second channel) in sin_at + i*stride for i < sin_n;
 * both once more `copy` columns on, unless copy is 0.
 */
typedef struct pe_geometry {
    size_t width, pairs;
    size_t cos_at, cos_n, sin_at, sin_n;
    size_t stride, copy;
} pe_geometry;

/** A resource whose tables hold a cosine and a sine for each pair, and how it lays them out. */
typedef struct pe_pair_layout {
    const char *resource;      /* its name */
    const char *param;         /* the row that chooses the layout */
    const char *cosines_first; /* the choice of all cosines before all sines */
    /** The geometry that the values choose. False: it is not known here. */
    bool (*geometry)(const pe_values *values, pe_geometry *out);
} pe_pair_layout;

/** NULL: the resource's tables are compared element by element. */
const pe_pair_layout *pe_geometry_pair_layout(const pe_resource *resource);

/** Of vectors that were rotated by these values. */
void pe_geometry_of_vectors(const pe_values *values, pe_geometry *out);

/** Does the column belong to a pair, and to which? */
bool pe_geometry_has_pair(const pe_geometry *geometry, size_t column, size_t *pair);

/** Cosines stand where sines belong, and the other way round. */
void pe_geometry_exchange(pe_geometry *geometry);

/** Text of a CHOICE row's value; "" when there is no such row or it is absent. */
const char *pe_geometry_choice_text(const pe_values *values, const char *name);
/** Set a CHOICE row. False: there is no such row, or no such choice. */
bool pe_geometry_set_choice(pe_values *values, const char *name, const char *choice);
/** Is there a rope_type, and is it this one? */
bool pe_geometry_has_rope_type(const pe_values *values, const char *type);

#endif
