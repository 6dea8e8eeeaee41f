/* SPDX-License-Identifier: MIT */
/* upload_view.h - an upload as rows of doubles, and where each belongs. */
#ifndef PE_VERIFY_UPLOAD_UPLOAD_VIEW_H
#define PE_VERIFY_UPLOAD_UPLOAD_VIEW_H

#include "verify/upload/geometry.h"
#include "verify/upload/upload.h"

/** Most plain numbers of an upload: where they do not match they are held as doubles. */
#define PE_PLAIN_MAX 16777216
/** Elements in a row of plain numbers. */
#define PE_PLAIN_ROW 1024

/**
 * An upload of one of three kinds:
 * - a table of pairs: a row belongs to a position, and holds its elements of every tensor;
 * - rotated vectors: a row is a vector; several rows may belong to a position;
 * - plain numbers: the rows have PE_PLAIN_ROW elements each, the last one what is left.
 */
typedef struct pe_upload_view {
    const pe_claim *claim;
    const pe_pair_layout *layout; /* NULL: plain numbers */
    bool rotated;
    bool width_differs;   /* from what the claim's parameters say */
    bool permuted;        /* axes of the upload were in another order than the claim's */
    pe_geometry geometry; /* of the claim; not of plain numbers */

    size_t width, rows; /* got[row * width + column] */
    size_t elements;
    /** Token t = b*batch_tokens + i has rows ((b*outer + o)*batch_tokens + i)*inner + k for
     * o < outer and k < inner. Plain numbers: every row is a token. */
    size_t tokens, batch_tokens, outer, inner;
    size_t heads; /* of vectors, in each item of a batch: the axis beside that of tokens; else 1 */
    size_t items; /* of a batch of vectors, each with positions of its own; else 1 */
    size_t axes;  /* positions of each token: those of M-RoPE have several */
    size_t n_tensors;
    size_t plan_tensor[PE_UPLOADS_MAX];   /* which of the plan each is */
    size_t tensor_at[PE_UPLOADS_MAX + 1]; /* their first columns; plain numbers: first elements */
    size_t unsent_at, unsent_n;           /* columns that were not sent, and are not compared */
    /** Owned; inputs: rotated only. NULL of a large upload (PE_VIEW_HELD) of pairs, and of a lone
     * tensor of plain numbers until pe_upload_view_hold: pe_upload_view_take and _at read its
     * rows. */
    double *got, *inputs;
} pe_upload_view;

/** Plan the claim (its values become canonical) and lay out its uploads. */
pe_status pe_upload_view_make(pe_claim *claim, const pe_verify_context *context,
                              pe_upload_view *out, pe_problem *why) PE_MUST_CHECK;
void pe_upload_view_free(pe_upload_view *view);

/** Plan the claim as float64: of a narrower type that has no room for some tensor, the upload may
 * hold another one. */
pe_status pe_upload_view_plan(pe_claim *claim, const pe_verify_context *context, pe_plan *out,
                              pe_problem *why) PE_MUST_CHECK;

/** Elements of pairs of one axis, or of one tensor of plain numbers, up to which a view holds them
 * as doubles. */
#define PE_VIEW_HELD 1048576

/** Hold plain numbers of any size as doubles: whoever looks for their faults reads them in no
 * order.
 * Errors  OVERLOADED (memory). */
pe_status pe_upload_view_hold(pe_upload_view *view, pe_problem *why) PE_MUST_CHECK;

/** Room for the rows of pairs that the view counts: those of a large upload are read where they
 * are.   Errors  OVERLOADED (memory). */
pe_status pe_upload_view_make_rows(pe_upload_view *view, pe_problem *why) PE_MUST_CHECK;

/** Row `row` of the upload, or of the inputs; out: [width], of which pe_upload_view_row_width are
 * written. Of plain numbers: of one tensor, or held. */
void pe_upload_view_take(const pe_upload_view *view, bool inputs, size_t row, double *out);
/** One number of that row, from the tensors. */
double pe_upload_view_load(const pe_upload_view *view, bool inputs, size_t row, size_t column);
/** The same, from what is held, where it is. */
static inline double pe_upload_view_at(const pe_upload_view *view, bool inputs, size_t row,
                                       size_t column)
{
    const double *held = inputs ? view->inputs : view->got;
    return held != NULL ? held[row * view->width + column]
                        : pe_upload_view_load(view, inputs, row, column);
}

/** How a pair turned: its cosine and sine, times a size. */
typedef struct pe_wave {
    double cosine, sine;
} pe_wave;

/** Add pair i of a row of these numbers: of vectors how their inputs turned, times the squares of
 * those. */
void pe_upload_view_add_wave(const pe_upload_view *view, const pe_geometry *at, size_t row,
                             const double *numbers, size_t i, pe_wave *sum);
/** Pair i of a token: of vectors how the rows of the token turned together. */
pe_wave pe_upload_view_wave(const pe_upload_view *view, const pe_geometry *at, size_t token,
                            size_t i);

bool pe_upload_view_is_sent(const pe_upload_view *view, size_t column);

/** How many rows each token has. */
size_t pe_upload_view_token_rows(const pe_upload_view *view);
/** The o-th row of a token. */
size_t pe_upload_view_row(const pe_upload_view *view, size_t token, size_t o);
/** Elements of that row. */
size_t pe_upload_view_row_width(const pe_upload_view *view, size_t row);
/** Token of a row. */
size_t pe_upload_view_token(const pe_upload_view *view, size_t row);
/** Position of a token; of several axes the one farthest from 0. */
double pe_upload_view_position(const pe_upload_view *view, const pe_positions *positions,
                               size_t token);
/** Unit roundoff of the upload's type. */
double pe_upload_view_roundoff(const pe_upload_view *view);
/** What planning a guess costs, in elements computed: a frequency takes some microseconds. */
size_t pe_upload_view_plan_work(const pe_upload_view *view);
/** The tensor of a column of pairs, or of an element of plain numbers. */
size_t pe_upload_view_tensor(const pe_upload_view *view, size_t at);
/** Where element e of an upload stands, as it was sent. */
void pe_upload_view_place(const pe_upload *upload, size_t e, pe_bad *out);
/** Where an element stands in the uploads: its tensor and index. */
void pe_upload_view_index(const pe_upload_view *view, size_t row, size_t column, pe_bad *out);

/* ==== which tensor of a plan each upload is, with axes and positions as the claim's table has them
 * (upload_names.c) ==== */

/**
 * Bring uploads into the order of the plan's tensors, and say which each is. A lone nameless one is
 * the first tensor of its sizes, of frequencies of a scaled base the scaled ones; of several the
 * claim says which. all: no tensor may be missing.
 * Errors  INVALID_PARAMETER, MISSING_PARAMETER.
 */
pe_status pe_upload_names_match(pe_claim *claim, const pe_plan *plan, bool all, size_t *plan_tensor,
                                pe_problem *why) PE_MUST_CHECK;

/** Are the sizes the same, axes of 1 and, with any_width, the last axis aside? */
bool pe_upload_names_same_sizes(const pe_shape *a, const pe_shape *b, bool any_width);

/** INVALID_PARAMETER, with both shapes and a hint, or "". */
pe_status pe_upload_names_fail_shape(const char *name, const pe_shape *wanted, const pe_shape *got,
                                     const char *hint, pe_problem *why) PE_MUST_CHECK;

/** May the lone upload, whose name was guessed, be the sines and not the cosines, or the other way
 * round? Cosines of position 0 are 1 and its sines 0; those of other positions may be either. */
bool pe_upload_names_may_be_others(const pe_claim *claim) PE_MUST_CHECK;

/* ---- axes and positions as people send them, put as the claim's table has them ---- */

/** A lone tensor, or one of pairs, whose axes stand in another order is put into the claim's. */
pe_status pe_upload_shape_put_in_order(pe_array *array, const pe_shape *wanted, bool *permuted,
                                       pe_problem *why) PE_MUST_CHECK;

/** A tensor without axes, of one number, has one of one element. */
void pe_upload_shape_lift_scalars(pe_claim *claim);

/** A table with one row for each position has two axes: those of one element are left out, and the
 * items of a batch stand one behind the other. */
void pe_upload_shape_drop_ones(pe_claim *claim);

/** Put positions of this shape, the k-th of which is at(of, k), in the place of others.
 * Errors  those of pe_positions_from_list; OVERLOADED (memory). Then the others stay. */
pe_status pe_upload_positions_replace(pe_positions *positions, const pe_shape *shape,
                                      double (*at)(const void *of, size_t k), const void *of,
                                      pe_problem *why) PE_MUST_CHECK;

/** Vectors and tables [batch, n, width] may have positions [batch, n]; those of their table are one
 * list. Of vectors claim->items says how many rows there were. More positions than there are
 * elements are left to be refused. */
pe_status pe_upload_shape_join_items(pe_claim *claim, pe_problem *why) PE_MUST_CHECK;

#endif
