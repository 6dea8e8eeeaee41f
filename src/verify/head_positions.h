/* SPDX-License-Identifier: MIT */
/* head_positions.h - rotated vectors of which some heads or batch items are at other positions. */
#ifndef PE_VERIFY_HEAD_POSITIONS_H
#define PE_VERIFY_HEAD_POSITIONS_H

#include "verify/attempts.h"

/** The positions of each head and item, where they are not those of the others. */
pe_try pe_head_positions_try;
/** Only where they run along another axis. */
pe_try pe_head_positions_axis;
/** The same behind another base of the frequencies. */
pe_try pe_head_positions_behind;

#endif
