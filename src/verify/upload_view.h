/* SPDX-License-Identifier: MIT */
/* upload_view.h - an upload as rows of doubles, and where each belongs. */
#ifndef PE_VERIFY_UPLOAD_VIEW_H
#define PE_VERIFY_UPLOAD_VIEW_H

#include "verify/geometry.h"
#include "verify/verify.h"

/** What one row may be compared with at once. */
#define PE_PLAIN_ROW 1024

/**
 * Three kinds: tables of waves (a row belongs to a position; tensors beside each other), rotated
 * vectors (several rows may belong to a position), and plain numbers (rows of PE_PLAIN_ROW, the
 * last one shorter).
 */
typedef struct pe_upload_view {
    const pe_claim *claim;
    const pe_wave_view *waves; /* NULL: plain */
    bool rotated;
    pe_geometry geometry; /* of the claim; waves only */
    bool misfit;          /* the upload has another width than the claim */

    size_t width, rows; /* got[row * width + column]; plain: the last row may be short */
    size_t elements;
    /** Token t = b*n + i has rows ((b*rest + o)*n + i)*inner + k for o < rest, k < inner. */
    size_t tokens, n, rest, inner;
    size_t n_parts; /* tensors of a row, their first columns; plain: first elements */
    size_t part_at[PE_UPLOADS_MAX + 1];
    double *got, *inputs; /* owned; inputs: rotated only */
} pe_upload_view;

/** Plan the claim (its values become canonical) and lay out its uploads. */
pe_status pe_upload_view_make(pe_claim *claim, struct pe_tables *tables, const pe_limits *limits,
                              const pe_verify_limits *bounds, pe_upload_view *out,
                              pe_problem *why) PE_MUST_CHECK;
void pe_upload_view_free(pe_upload_view *view);

/** Elements of an upload beyond which faults are looked for in a sample of its rows. */
#define PE_SAMPLE_ELEMENTS 8192

/**
 * Some tokens of a view of waves: the first, the last and others between, with a few rows each.
 * positions: theirs, as a claim's. False: the view is small, or none of waves.
 */
pe_status pe_upload_view_sample(const pe_upload_view *view, pe_upload_view *out,
                                pe_positions *positions, bool *sampled,
                                pe_problem *why) PE_MUST_CHECK;

/** Row of token t, its o-th: below rest * inner. */
size_t pe_upload_view_row(const pe_upload_view *view, size_t token, size_t o);
/** Elements of that row. */
size_t pe_upload_view_row_width(const pe_upload_view *view, size_t row);
/** Token of a row. */
size_t pe_upload_view_token(const pe_upload_view *view, size_t row);
/** What planning a guess costs, in elements computed: a frequency takes some microseconds. */
size_t pe_upload_view_plan_work(const pe_upload_view *view);
/** Where an element stands in the uploads. */
void pe_upload_view_index(const pe_upload_view *view, size_t row, size_t column, pe_bad *out);

#endif
