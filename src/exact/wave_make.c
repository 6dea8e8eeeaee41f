/* SPDX-License-Identifier: MIT */
/* wave_make.c - sets of frequencies, from formula to fixed point, and the offsets that they keep. */
#include "exact/wave_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "base/yield.h"

/* Room for wave_offsets is whole cache lines: a vector that lies across two is loaded twice. */
static size_t bytes_of(size_t n, size_t rows, bool split)
{
    return rows * (split ? 4 : 2) * pe_kernels_padded(n) * sizeof(double);
}

/* ---- the rotations by which a kernel turns anchors: those of a set ---- */

/* Bytes that all sets count and have not allocated. */
static atomic_size_t unmade;

size_t pe_wave_unmade_bytes(void)
{
    return atomic_load_explicit(&unmade, memory_order_relaxed);
}

/* Digits have three rows for each of the offsets. */
static size_t shared_bytes(const pe_wave *wave, pe_wave_kept kept, bool split)
{
    return bytes_of(wave->live, (kept == PE_WAVE_DIGITS ? 3 : 1) * wave->offset_rows, split);
}

/* What a set counts for its offsets, made or not. */
static size_t offsets_bytes(const pe_wave *wave)
{
    size_t bytes = 0;
    for (pe_wave_kept kept = 0; kept < PE_WAVE_KEPT; kept++)
        bytes += shared_bytes(wave, kept, false) + shared_bytes(wave, kept, true);
    return bytes;
}

void pe_wave_digits(const pe_offsets *near, double *out)
{
    const size_t digit = 2 * near->rows, planes = near->split ? 4 : 2;
    pe_offsets wanted = *near;
    wanted.first = digit;
    wanted.stride = 2 * digit;
    pe_kernels_get()->wave_offsets(&wanted, out);
    wanted.first = digit * digit - 1;
    wanted.stride = 2 * digit * digit;
    wanted.rows = digit;
    pe_kernels_get()->wave_offsets(&wanted, out + near->rows * planes * pe_kernels_padded(near->n));
}

const double *pe_wave_shared_offsets(const pe_wave *of, pe_wave_kept kept, int64_t step,
                                     const pe_offsets *wanted)
{
    pe_wave *wave;
    memcpy(&wave, &of, sizeof wave); /* only these and the counts of a set change */
    _Atomic(double *) *slot = &wave->kept[kept][wanted->split];
    int64_t none = 0;
    if (kept == PE_WAVE_STEP && !atomic_compare_exchange_strong(&wave->step, &none, step) &&
        none != step)
        return NULL;
    double *made = atomic_load_explicit(slot, memory_order_acquire), *expected = NULL;
    if (made != NULL)
        return made;
    const size_t bytes = shared_bytes(wave, kept, wanted->split);
    made = aligned_alloc(64, bytes);
    if (made == NULL)
        return NULL;
    (kept == PE_WAVE_DIGITS ? pe_wave_digits : pe_kernels_get()->wave_offsets)(wanted, made);
    if (atomic_compare_exchange_strong(slot, &expected, made)) {
        atomic_fetch_sub(&unmade, bytes);
        return made;
    }
    free(made);
    return expected;
}

/* ---- and of a call ---- */

/* An anchor serves 64 rows, fewer where rows are so long that few of them are asked for at once and
 * offsets would not fit the second-level cache. */
static size_t offset_rows_of(size_t n)
{
    return n <= 512 ? 32 : n <= 8192 ? 16384 / n : 2;
}

double *pe_wave_own_offsets(size_t rows, pe_offsets *wanted)
{
    const size_t most = offset_rows_of(wanted->n);
    size_t count = 1;
    while (2 * count * count < rows && count < most)
        count++;
    wanted->rows = count;
    double *offsets =
        rows < 16 ? NULL : aligned_alloc(64, bytes_of(wanted->n, count, wanted->split));
    if (offsets != NULL)
        pe_kernels_get()->wave_offsets(wanted, offsets);
    return offsets;
}

/* ---- sets ---- */

/* 60 bits of whole turns, 192 of fraction, and room for the errors of the multiplications. */
#define MAKE_BITS 320

/* Units of work of a frequency, measured. */
#define PRODUCT_WORK 16
#define POWER_WORK   512

size_t pe_wave_count(const pe_wave *wave)
{
    return wave->spec.n;
}

double pe_wave_gain(const pe_wave *wave)
{
    return wave->amplitude[PE_FLOAT64];
}

/* Turns below which the kernel's error is more than a double of their sine allows, and what it takes
 * to prove one otherwise. */
#define SMALL      0x1p-23
#define SMALL_WORK 16

size_t pe_wave_work(const pe_wave *wave, const pe_positions *positions, pe_dtype dtype)
{
    double share = 0, least, most;
    if (dtype != PE_FLOAT64 || wave->turns == NULL)
        return 0;
    pe_positions_bounds(positions, &least, &most);
    const double near = fmax(fmax(least, -most), 0), far = fmax(fabs(least), fabs(most));
    for (size_t i = 0; i < wave->live; i++) {
        const uint64_t *word = wave->turns[i].word;
        const double turns =
            (double)word[3] + 0x1p-64 * (double)word[2] + 0x1p-128 * (double)word[1];
        share += fmin(fmax((SMALL / turns - near) / (far - near + 1), 0), 1);
    }
    return (size_t)(SMALL_WORK * share / (double)wave->spec.n);
}

size_t pe_wave_bytes(const pe_wave *wave)
{
    const size_t n = wave->spec.n, padded = 2 * (n + PE_PAD) * sizeof *wave->step_hi;
    return sizeof *wave + wave->spec.formula_bytes +
           (wave->spec.float32 ? n * sizeof *wave->inv : n * sizeof *wave->turns + padded) +
           offsets_bytes(wave);
}

void pe_wave_free(pe_wave *wave)
{
    if (wave == NULL)
        return;
    free(wave->turns);
    free(wave->step_hi);
    free(wave->step_lo);
    free(wave->inv);
    for (pe_wave_kept kept = 0; kept < PE_WAVE_KEPT; kept++)
        for (int split = 0; split < 2; split++) {
            double *made = atomic_load(&wave->kept[kept][split]);
            if (made == NULL)
                atomic_fetch_sub(&unmade, shared_bytes(wave, kept, split));
            free(made);
        }
    void *formula;
    memcpy(&formula, &wave->spec.formula, sizeof formula); /* ours, const only for the callbacks */
    free(formula);
    free(wave);
}

pe_wave_paths pe_wave_paths_read(const pe_wave *wave)
{
    return (pe_wave_paths){
        .kernel = atomic_load(&wave->paths[PE_PATH_KERNEL]),
        .direct = atomic_load(&wave->paths[PE_PATH_DIRECT]),
        .fixed128 = atomic_load(&wave->paths[PE_PATH_FIXED128]),
        .mpfr = atomic_load(&wave->paths[PE_PATH_MPFR]),
        .exact = atomic_load(&wave->paths[PE_PATH_EXACT]),
    };
}

static void eval_amplitude(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const pe_wave_spec *spec = context;
    spec->amplitude(spec->formula, out);
}

static void make_amplitude(pe_wave *wave)
{
    const bool one = wave->spec.amplitude == NULL;
    for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++)
        wave->amplitude[dtype] = one ? 1 : pe_exact_round(dtype, eval_amplitude, &wave->spec, 0);
    wave->amplitude_hi = 1;
    if (!one)
        pe_exact_pair(eval_amplitude, &wave->spec, 0, &wave->amplitude_hi, &wave->amplitude_lo);
    wave->unit = wave->amplitude_hi == 1 && wave->amplitude_lo == 0;
    wave->amplitude_fixed = pe_fixed128_from_double(wave->amplitude_hi);
    if (wave->amplitude_lo == 0)
        return;
    mpfr_t amplitude;
    mpfr_init2(amplitude, MAKE_BITS);
    eval_amplitude(&wave->spec, 0, amplitude);
    wave->amplitude_fixed = pe_fixed128_from_mpfr(amplitude);
    mpfr_clear(amplitude);
}

/* That of the sequence of i: base^(-num/den), where there is one alone. */
static void eval_ratio(const pe_wave_spec *spec, size_t i, mpfr_ptr out)
{
    if (spec->sequence != NULL) {
        (void)spec->sequence(spec->formula, i, out);
        return;
    }
    mpfr_set_ui(out, 1, MPFR_RNDN);
    if (spec->n == 1 || spec->num == 0)
        return;
    spec->base(spec->formula, out);
    pe_power_raise(out, -spec->num, spec->den);
}

/* theta_i are geometric sequences before scaling: one power of each, then a product each. */
static void make_turns(pe_wave *wave)
{
    const pe_wave_spec *spec = &wave->spec;
    mpfr_t ratio, power, turns, unit;
    mpfr_inits2(MAKE_BITS, ratio, power, turns, unit, (mpfr_ptr)NULL);
    pe_power_pi(unit); /* unit: position_scale / 2 pi */
    mpfr_mul_2ui(unit, unit, 1, MPFR_RNDN);
    mpfr_d_div(unit, spec->position_scale, unit, MPFR_RNDN);
    for (size_t i = 0; i < spec->n && !pe_yield_must_end(); i++) {
        if (i == 0 || (spec->sequence != NULL && spec->sequence(spec->formula, i, NULL) == i)) {
            eval_ratio(spec, i, ratio);
            mpfr_set_ui(power, 1, MPFR_RNDN);
            if (spec->scale == NULL)
                mpfr_set(power, unit, MPFR_RNDN);
        }
        mpfr_set(turns, power, MPFR_RNDN);
        if (spec->scale != NULL) {
            spec->scale(spec->formula, i, turns);
            mpfr_mul(turns, turns, unit, MPFR_RNDN);
        }
        assert(mpfr_sgn(turns) >= 0);
        if (!pe_phase_from_mpfr(turns, &wave->turns[i]))
            wave->unfit = true;
        if (!mpfr_zero_p(turns))
            wave->live = i + 1;
        wave->whole_turns |= wave->turns[i].word[3] != 0;
        wave->step_hi[i] = wave->turns[i].word[2];
        wave->step_lo[i] = wave->turns[i].word[1];
        mpfr_mul(power, power, ratio, MPFR_RNDN);
        pe_yield_spend(spec->scale != NULL ? POWER_WORK : PRODUCT_WORK);
    }
    mpfr_clears(ratio, power, turns, unit, (mpfr_ptr)NULL);
    pe_phases_pad(wave->live, wave->step_hi, wave->step_lo);
    if (wave->live != 0)
        wave->offset_rows = offset_rows_of(wave->live);
}

static void eval_base(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const pe_wave_spec *spec = context;
    spec->base(spec->formula, out);
}

/* base^exponent rounded to float32; log_base has 128 bits, so the power is good to 2^-100. */
static float power32(float base, float exponent, mpfr_srcptr log_base)
{
    mpfr_t power;
    mpfr_init2(power, 128);
    mpfr_mul_d(power, log_base, (double)exponent, MPFR_RNDN);
    mpfr_exp(power, power, MPFR_RNDN);
    const bool certain = mpfr_can_round(power, 100, MPFR_RNDN, MPFR_RNDN, 24) &&
                         mpfr_get_exp(power) > -125 && mpfr_get_exp(power) < 128;
    const float value = certain ? mpfr_get_flt(power, MPFR_RNDN) : pe_exact_powf(base, exponent);
    mpfr_clear(power);
    return value;
}

static void make_inverse(pe_wave *wave)
{
    const pe_wave_spec *spec = &wave->spec;
    const float base = (float)pe_exact_round(PE_FLOAT32, eval_base, spec, 0);
    mpfr_t log_base;
    mpfr_init2(log_base, 128);
    mpfr_set_flt(log_base, base, MPFR_RNDN);
    mpfr_log(log_base, log_base, MPFR_RNDN);
    for (size_t i = 0; i < spec->n && !pe_yield_must_end(); i++) {
        /* i * num / den rounded once to float32. The product is exact. */
        const double product = spec->num * (double)i, quotient = product / spec->den;
        const float exponent =
            (float)pe_pair_to_odd((pe_pair){quotient, fma(-quotient, spec->den, product)});
        const float inv = 1.0F / power32(base, exponent, log_base);
        wave->inv[i] = spec->scale32 != NULL ? spec->scale32(spec->formula, i, inv) : inv;
        pe_yield_spend(POWER_WORK);
    }
    mpfr_clear(log_base);
}

static bool allocate(pe_wave *wave)
{
    const size_t n = wave->spec.n + 1; /* never zero */
    if (wave->spec.float32)
        wave->inv = calloc(n, sizeof *wave->inv);
    else {
        wave->turns = calloc(n, sizeof *wave->turns);
        wave->step_hi = calloc(n + PE_PAD, sizeof *wave->step_hi);
        wave->step_lo = calloc(n + PE_PAD, sizeof *wave->step_lo);
    }
    return wave->inv != NULL ||
           (wave->turns != NULL && wave->step_hi != NULL && wave->step_lo != NULL);
}

pe_status pe_wave_make(const pe_wave_spec *spec, pe_wave **out, pe_problem *why)
{
    assert(spec->n <= PE_WAVE_MAX && spec->base != NULL);
    assert(!spec->float32 || spec->sequence == NULL);
    pe_wave *wave = calloc(1, sizeof *wave);
    if (wave == NULL)
        return pe_fail_memory(why);
    wave->spec = *spec;
    void *formula = malloc(spec->formula_bytes + 1);
    wave->spec.formula = formula;
    if (formula == NULL || !allocate(wave)) {
        pe_wave_free(wave);
        return pe_fail_memory(why);
    }
    if (spec->formula_bytes != 0)
        memcpy(formula, spec->formula, spec->formula_bytes);
    make_amplitude(wave);
    if (spec->float32)
        make_inverse(wave);
    else
        make_turns(wave);
    const pe_status status = pe_yield_check(why);
    if (status != PE_OK) {
        pe_wave_free(wave);
        return status;
    }
    atomic_fetch_add(&unmade, offsets_bytes(wave));
    *out = wave;
    return PE_OK;
}
