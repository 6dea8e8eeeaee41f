/* SPDX-License-Identifier: MIT */
/* fake.h - small resources and plans whose numbers are known by heart. */
#ifndef PE_TESTS_SUPPORT_FAKE_H
#define PE_TESTS_SUPPORT_FAKE_H

#include "api/query.h"
#include "plan/plan.h"

/** Rows of every kind that a query has. */
extern const pe_resource fake_table;
/** vectors, weights and delta as tensors; "rope_parameters" as nested object. */
extern const pe_resource fake_transform;

extern const pe_read_limits fake_limits;

/**
 * A plan with tensors of the shape, named "cos", "sin", ... Element e of tensor t is
 * fake_element(dtype, t, e). One tensor is nameless.
 */
void fake_plan(pe_plan *out, size_t n_tensors, pe_dtype dtype, const pe_shape *shape, size_t unit);
double fake_element(pe_dtype dtype, size_t tensor, size_t e);

/** Let a fake plan's units be cut. */
void fake_plan_cut(pe_plan *plan);
/** Elements that were made as parts of units since this was last set to 0. */
extern size_t fake_parts_elements;

/** Units that fills of fake plans made since this was last set to 0. */
extern size_t fake_units_filled;

#endif
