/* SPDX-License-Identifier: MIT */
/* reading_positions.h - at which position each row of an upload of pairs is. */
#ifndef PE_VERIFY_READING_READING_POSITIONS_H
#define PE_VERIFY_READING_READING_POSITIONS_H

#include "verify/reading/reading_pairs.h"

/** Sets r->position of each stride-th row, from frequencies w [pairs] whose order s->order is; NAN: no
 * position makes such a row. Returns the part of these rows that have one. */
double pe_reading_positions(const pe_reading_source *s, const double *w, size_t stride,
                            pe_reading *r);

#endif
