/* SPDX-License-Identifier: MIT */
/* float32.c - numerics=float32: the reference path, every step rounded to float32. */
#include "exact/wave_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 1 / 2 pi in turns per radian, times 2^192, rounded: an angle times this is its phase. */
static const pe_turns per_radian = {
    {0x36d8a5664f10e410U, 0x7f09d5f47d4d3770U, 0x28be60db9391054aU, 0}};

/* Larger angles are left to MPFR: as a whole number one has 64 bits. */
#define ANGLE_MAX 0x1p64F

/* What is the same for all rows of a call. */
typedef struct rows32 {
    const pe_wave *wave;
    const pe_wave_layout *layout;
    pe_dtype dtype;
    float amplitude;
    size_t from, n;       /* frequencies [from, from + n) */
    uint64_t *hi, *lo;    /* [n] phases of a row */
    float *sine, *cosine; /* [n] of a row */
} rows32;

/* sin and cos of a float32, rounded to float32: by 128-bit arithmetic, else by MPFR. */
static void settle32(const rows32 *job, double position, size_t i)
{
    const float angle = pe_wave_angle32(job->wave, position, job->from + i);
    bool known[2] = {angle == 0, angle == 0};
    double rounded[2] = {0, 1};
    if (angle != 0 && fabsf(angle) < ANGLE_MAX) {
        uint64_t phase[PE_PHASE_WORDS];
        pe_fixed128 fixed[2];
        const int err = pe_phase_at(&per_radian, (double)angle, phase);
        pe_fixed128_sincos(phase, err, &fixed[0], &fixed[1]);
        for (int k = 0; k < 2; k++)
            known[k] = pe_fixed128_round(&fixed[k], PE_FLOAT32, &rounded[k]);
    }
    for (int k = 0; k < 2; k++) {
        const pe_element element = {job->wave, position, job->from + i, k == 1, true};
        if (!known[k])
            rounded[k] = pe_exact_round(PE_FLOAT32, pe_element_eval, &element, 0);
    }
    job->sine[i] = (float)rounded[0];
    job->cosine[i] = (float)rounded[1];
}

/* Sines and cosines of a row. */
static void evaluate_row(const rows32 *job, double position)
{
    const size_t n = job->n;
    uint64_t doubtful[PE_WAVE_MAX / 64];
    memset(doubtful, 0, (n + 63) / 64 * sizeof doubtful[0]);
    for (size_t i = 0; i < n; i++) {
        /* Of phase 0 the kernel proves nothing. */
        const float angle = pe_wave_angle32(job->wave, position, job->from + i);
        uint64_t phase[PE_PHASE_WORDS] = {0};
        if (fabsf(angle) < ANGLE_MAX)
            (void)pe_phase_at(&per_radian, (double)angle, phase);
        job->hi[i] = phase[2];
        job->lo[i] = phase[1];
    }
    pe_phases_pad(n, job->hi, job->lo);
    const pe_wave_layout dense = {1, 0, (ptrdiff_t)n, 2 * n}; /* cosine follows sine */
    const pe_run run = {.n = n,
                        .rows = 1,
                        .row_steps = 1,
                        .start_hi = job->hi,
                        .start_lo = job->lo,
                        .step_hi = job->hi,
                        .step_lo = job->lo,
                        .amplitude_hi = 1};
    const bool open = pe_kernels_get()->waves(&run, &dense, PE_FLOAT32, job->sine, doubtful);
    for (size_t w = 0; open && w < (n + 63) / 64; w++)
        for (uint64_t word = doubtful[w]; word != 0; word &= word - 1)
            settle32(job, position, w * 64 + (size_t)__builtin_ctzll(word));
}

/* value * amplitude, rounded to float32, then to dtype. A result of zero has no sign. */
static void put32(const rows32 *job, const float *value, ptrdiff_t at, char *row)
{
    const ptrdiff_t item = (ptrdiff_t)pe_dtype_bytes(job->dtype);
    const double zero = ldexp(0.5, pe_fixed128_precision(job->dtype).least);
    for (size_t i = 0; i < job->n; i++) {
        const float product = value[i] * job->amplitude + 0.0F; /* no -0 */
        char *to = row + (at + (ptrdiff_t)i * job->layout->stride) * item;
        if (job->dtype == PE_FLOAT32)
            memcpy(to, &product, sizeof product);
        else
            pe_dtype_store(job->dtype, fabs((double)product) <= zero ? 0 : (double)product, to);
    }
}

pe_status pe_wave_rows32(const pe_wave_job *of, size_t first, size_t rows, void *out,
                         pe_problem *why)
{
    const size_t n = of->n;
    const pe_wave_layout *layout = of->layout;
    const size_t bytes = layout->row * pe_dtype_bytes(of->dtype);
    const size_t padded = n + PE_PAD;
    uint64_t *memory = malloc(2 * padded * sizeof *memory);
    float *values = calloc(2 * n, sizeof *values);
    if (memory == NULL || values == NULL) {
        free(memory);
        free(values);
        return pe_fail_memory(why);
    }
    const rows32 job = {.wave = of->wave,
                        .layout = layout,
                        .dtype = of->dtype,
                        .amplitude = of->bare ? 1 : (float)of->wave->amplitude[PE_FLOAT32],
                        .from = of->from,
                        .n = n,
                        .hi = memory,
                        .lo = memory + padded,
                        .sine = values,
                        .cosine = values + n};
    for (size_t r = 0; r < rows; r++) {
        char *row = (char *)out + r * bytes;
        evaluate_row(&job, pe_positions_at(of->positions, first + r));
        if (layout->sin_at >= 0)
            put32(&job, job.sine, layout->sin_at, row);
        if (layout->cos_at >= 0)
            put32(&job, job.cosine, layout->cos_at, row);
    }
    free(memory);
    free(values);
    return PE_OK;
}
