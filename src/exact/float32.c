/* SPDX-License-Identifier: MIT */
/* float32.c - numerics=float32: the reference path, every step rounded to float32. */
#include "exact/set.h"

#include <math.h>

/* 1 / 2 pi in turns per radian, times 2^192, rounded: an angle times this is its phase. */
static const pe_turns per_radian = {
    {0x36d8a5664f10e410U, 0x7f09d5f47d4d3770U, 0x28be60db9391054aU, 0}};

/* sin and cos of a float32, rounded to float32. */
static void sincos32(const pe_wave *wave, double position, size_t i, float value[2])
{
    const float angle = pe_wave_angle32(wave, position, i);
    bool known[2] = {false, false};
    double rounded[2] = {0, 1};
    if (angle == 0) {
        known[0] = known[1] = true;
    } else if (fabsf(angle) < 0x1p53F) {
        uint64_t phase[PE_PHASE_WORDS];
        pe_wide wide[2];
        const int err = pe_phase_at(&per_radian, (double)angle, phase);
        pe_wide_sincos(phase, err, &wide[0], &wide[1]);
        for (int k = 0; k < 2; k++)
            known[k] = pe_wide_round(&wide[k], PE_FLOAT32, &rounded[k]);
    }
    for (int k = 0; k < 2; k++) {
        const pe_element element = {wave, position, i, k == 1, true};
        if (!known[k])
            rounded[k] = pe_exact_round(PE_FLOAT32, pe_element_eval, &element, 0);
        value[k] = (float)rounded[k];
    }
}

/* value * amplitude rounded to float32, then to dtype; what rounds to zero has no sign. */
static void put32(float value, float amplitude, pe_dtype dtype, char *at)
{
    const double product = (double)(value * amplitude);
    const bool zero = fabs(product) <= ldexp(0.5, pe_precision_of(dtype).least);
    pe_dtype_store(dtype, zero ? 0 : product, at);
}

void pe_wave_rows32(const pe_wave *wave, const pe_positions *positions, size_t first, size_t rows,
                    const pe_wave_layout *layout, pe_dtype dtype, bool bare, void *out)
{
    const ptrdiff_t item = (ptrdiff_t)pe_dtype_bytes(dtype);
    const float amplitude = bare ? 1 : (float)wave->amplitude[PE_FLOAT32];
    char *row = out;
    for (size_t r = 0; r < rows; r++, row += (ptrdiff_t)layout->row * item) {
        const double position = pe_positions_at(positions, first + r);
        for (size_t i = 0; i < wave->spec.n; i++) {
            float value[2];
            sincos32(wave, position, i, value);
            char *at = row + (ptrdiff_t)i * layout->stride * item;
            if (layout->sin_at >= 0)
                put32(value[0], amplitude, dtype, at + layout->sin_at * item);
            if (layout->cos_at >= 0)
                put32(value[1], amplitude, dtype, at + layout->cos_at * item);
        }
    }
}
