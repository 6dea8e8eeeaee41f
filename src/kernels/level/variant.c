/* SPDX-License-Identifier: MIT */
/* variant.c - this level's functions, as one variant. */
#include "kernels/level/variant.h"

const pe_kernels PE_LEVEL_NAME(pe_kernels) = {
    .name = PE_LEVEL_TEXT(PE_LEVEL),
    .waves = PE_LEVEL_NAME(pe_waves),
    .wave_offsets = PE_LEVEL_NAME(pe_waves_offsets),
    .widen = PE_LEVEL_NAME(pe_convert_widen),
    .narrow = PE_LEVEL_NAME(pe_convert_narrow),
    .rotate = PE_LEVEL_NAME(pe_rotate),
    .add = PE_LEVEL_NAME(pe_add),
    .ramp = PE_LEVEL_NAME(pe_ramp),
};
