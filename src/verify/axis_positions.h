/* SPDX-License-Identifier: MIT */
/* axis_positions.h - pairs of several axes: at which position of each axis every token is. */
#ifndef PE_VERIFY_AXIS_POSITIONS_H
#define PE_VERIFY_AXIS_POSITIONS_H

#include "verify/attempts.h"

/** Of pairs of several axes: positions are measured axis by axis, and told by how they follow from
 * the claimed ones; where they are as claimed, the frequencies of the axes are others. */
pe_try pe_axis_positions_try;

#endif
