/* SPDX-License-Identifier: MIT */
/* anchors.c - anchors of one level; compiled once per level, like what it includes. */
#include "kernels/level/anchors.h"

#include "kernels/level/turn.h"

void PE_LEVEL_NAME(anchor)(uint64_t phase_hi, uint64_t phase_lo, double *sine, double *cosine)
{
    const pe_sincos v = pe_turn_sincos((pe_turn){pe_all_u(phase_hi), pe_all_u(phase_lo)});
    *sine = v.s[0];
    *cosine = v.c[0];
}
