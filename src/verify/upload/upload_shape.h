/* SPDX-License-Identifier: MIT */
/* upload_shape.h - axes and positions as people send them, put as the claim's table has them. */
#ifndef PE_VERIFY_UPLOAD_UPLOAD_SHAPE_H
#define PE_VERIFY_UPLOAD_UPLOAD_SHAPE_H

#include "verify/upload/upload.h"

/** A lone tensor, or one of pairs, whose axes stand in another order is put into the claim's. */
pe_status pe_upload_shape_put_in_order(pe_array *array, const pe_shape *wanted, bool *permuted,
                                       pe_problem *why) PE_MUST_CHECK;

/** A tensor without axes, of one number, has one of one element. */
void pe_upload_shape_lift_scalars(pe_claim *claim);

/** A table with one row for each position has two axes: those of one element are left out. */
void pe_upload_shape_drop_ones(pe_claim *claim);

/** Vectors may have positions [batch, n]; those of their table are one list, and claim->items says
 * how many rows there were. More positions than there are elements are left to be refused. */
pe_status pe_upload_shape_join_items(pe_claim *claim, pe_problem *why) PE_MUST_CHECK;

#endif
