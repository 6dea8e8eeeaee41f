/* SPDX-License-Identifier: MIT */
/* learned_rows.h - what the resources of learned tables share: which table, rows and type. */
#ifndef PE_ENCODINGS_LEARNED_LEARNED_ROWS_H
#define PE_ENCODINGS_LEARNED_LEARNED_ROWS_H

#include "plan/common_params.h"
#include "plan/plan.h"
#include "tables/tables.h"

extern const pe_param_set pe_learned_name_params;
extern const pe_param_set pe_learned_offset_params;
extern const pe_param_set pe_learned_dtype_params; /* that of the table by default */

/** Both are of the tables' folder, or of the request. */
typedef struct pe_learned_rows {
    const pe_array *rows; /* [rows, width] */
    double largest;       /* magnitude */
    const char *name;     /* for problems */
    int64_t offset;       /* added to positions, where the resource has such a row */
} pe_learned_rows;

/** The table that values name; its digest becomes the plan's version.   Errors  NOT_FOUND. */
pe_status pe_learned_open(const pe_values *values, pe_tables *tables, pe_plan *plan,
                          pe_learned_rows *out, pe_problem *why) PE_MUST_CHECK;

/** dtype, that of the table where absent (it becomes part of the canonical form).
 * Errors  INVALID_PARAMETER: numbers up to `largest` overflow it. */
pe_status pe_learned_dtype(pe_values *values, const pe_learned_rows *table, double largest,
                           pe_dtype *out, pe_problem *why) PE_MUST_CHECK;

/** INVALID_PARAMETER at `where` unless the table has a row first + offset and last + offset. */
pe_status pe_learned_check_rows(const pe_learned_rows *table, double first, double last,
                                const char *where, pe_problem *why) PE_MUST_CHECK;
/** The same for all of positions. */
pe_status pe_learned_check_positions(const pe_learned_rows *table, const pe_positions *positions,
                                     pe_problem *why) PE_MUST_CHECK;

/** n elements from element `first` of the table on, each rounded once to dtype. */
void pe_learned_copy(const pe_array *rows, size_t first, size_t n, pe_dtype dtype, void *out);

/** The state of a plan whose units are rows: of these positions, offset further. */
typedef struct pe_learned_places {
    const pe_array *rows;
    pe_positions positions;
    int64_t offset;
} pe_learned_places;

pe_status pe_learned_fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why);

/**
 * The positions of the tokens, doubles, by OPT's rule, from an attention mask [n] or [batch, n] of zeros and ones: the ones before and at a
 * token, less one; -1 at zeros; the first `past` tokens of each sequence are left out.
 *
 * Source  huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532,
 *         OPTLearnedPositionalEmbedding.forward.
 * Errors  INVALID_PARAMETER: not a mask, or shorter than past; OVERLOADED (memory).
 */
pe_status pe_learned_ids_of_mask(const pe_array *mask, int64_t past, pe_array *out,
                                 pe_problem *why) PE_MUST_CHECK;

#endif
