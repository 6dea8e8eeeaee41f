/* SPDX-License-Identifier: MIT */
/* upload_names.h - which tensor of a plan each upload is, with axes and positions as the claim's table has them. */
#ifndef PE_VERIFY_UPLOAD_UPLOAD_NAMES_H
#define PE_VERIFY_UPLOAD_UPLOAD_NAMES_H

#include "verify/upload/upload.h"

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
