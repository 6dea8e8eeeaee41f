/* SPDX-License-Identifier: MIT */
/* axis_relations.h - how positions of axes follow from the claimed ones. */
#ifndef PE_VERIFY_AXIS_RELATIONS_H
#define PE_VERIFY_AXIS_RELATIONS_H

#include "verify/axis_frequencies.h"

#define PE_AXES_ORDER                                                                              \
    "give each axis its own positions, in the order of the claim (axis_order, axes_dims)"
#define PE_AXES_START "check where the positions of each axis begin"

/** From which axis the positions that were read of axis a follow, times and plus which numbers: into
 * x->by[a]. A shift goes before a multiple, the own axis before another. False: from none. */
bool pe_axis_relations_find(pe_axes *x, size_t a);

/** Is the relation to axis a that of positions as claimed? */
bool pe_axis_relations_is_own(const pe_axis_relation *by, size_t a);

/** The simplest fraction that a position of axis a may be, as it was measured. */
double pe_axis_relations_tidy(const pe_axes *x, size_t a, double number);

/** Say the relations of all axes, and put the positions that they make into x->read. */
void pe_axis_relations_apply(pe_axes *x, pe_guess *guess);

#endif
