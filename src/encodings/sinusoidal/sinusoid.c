/* SPDX-License-Identifier: MIT */
/* sinusoid.c - the frequencies and rows that all sinusoidal resources are made of. */
#include "encodings/sinusoidal/sinusoidal.h"

#include <assert.h>
#include <string.h>

const char *const pe_sinusoidal_layouts[] = {[PE_SINUSOIDAL_INTERLEAVED] = "interleaved",
                                             [PE_SINUSOIDAL_SIN_COS] = "sin_cos",
                                             [PE_SINUSOIDAL_COS_SIN] = "cos_sin",
                                             NULL};

enum { BASE, LAYOUT, FREQ_SHIFT, SCALE, AMPLITUDE };
/* Where it is no whole number, each frequency is a power. */
static const uint16_t shift_work[] = {640};

static const pe_param params[] = {
    [BASE] = PE_PARAM(
        "base", REAL, .aliases = PE_NAMES("rope_theta"), .min = 1, .max = 1e12, .fallback = 10000,
        .help = "Base of the geometric progression of wavelengths.", .example = "10000"),
    [LAYOUT] = PE_PARAM(
        "layout", CHOICE, .choices = pe_sinusoidal_layouts,
        .help = "The order of the columns. interleaved: sines and cosines alternate. sin_cos: all "
                "sines, then all cosines. cos_sin: all cosines, then all sines.",
        .example = "interleaved"),
    [FREQ_SHIFT] =
        PE_PARAM("freq_shift", REAL, .min = 0, .max = PE_SINUSOIDAL_WIDTH_MAX, .fallback = 0,
                 .channel_work = shift_work, .fractions_cost = true, .unit = "frequencies",
                 .help = "It is subtracted from the number of frequencies in the exponent. The "
                         "paper has 0. tensor2tensor, fairseq and Whisper have 1.",
                 .example = "1"),
    /* Fixed point holds phases of 2^53 * 1e9 turns with bits to spare, and frequencies down to
     * 1e-9. */
    [SCALE] = PE_PARAM(
        "scale", REAL, .min = 1e-9, .max = 1e9, .fallback = 1,
        .help = "The factor of every position. The product is exact. Diffusion models use 1000.",
        .example = "1"),
    [AMPLITUDE] =
        PE_PARAM("amplitude", REAL, .above_min = true, .max = 1000, .fallback = 1,
                 .help = "The factor of every sine and cosine. The product is rounded once.",
                 .example = "1"),
};
const pe_param_set pe_sinusoidal_params = {params, PE_LEN(params)};
const pe_param_set pe_sinusoidal_wave_params = {params, SCALE};
const pe_param_set pe_sinusoidal_amplitude_params = {&params[AMPLITUDE], 1};
const pe_param_set pe_sinusoidal_base_params = {&params[BASE], 1};
const pe_param_set pe_sinusoidal_freq_shift_params = {&params[FREQ_SHIFT], 1};

/* What the callbacks of a frequency set need: w_i = (base[0]/base[1])^(-i/(half - freq_shift)) /
 * (divisor[0] + divisor_more) / divisor[1], 2 pi times that where positions are turns, and what
 * multiplies sines and cosines. */
typedef struct formula {
    double base[2], half, freq_shift, divisor[2], divisor_more, amplitude;
    uint64_t turns; /* 1: positions are turns */
} formula;

static void eval_amplitude(const void *context, mpfr_ptr out)
{
    const formula *f = context;
    mpfr_set_d(out, f->amplitude, MPFR_RNDN);
}

static void eval_base(const void *context, mpfr_ptr out)
{
    const formula *f = context;
    mpfr_set_d(out, f->base[0], MPFR_RNDN);
    mpfr_div_d(out, out, f->base[1], MPFR_RNDN);
}

/*
 * The frequency afresh, where half - freq_shift is no double. The exponent stays below 2^54 (the
 * difference is at least an ulp of 2^15), its product with ln(base) below 2^59: 128 more bits than
 * wanted are plenty.
 */
static void eval_power(const formula *f, size_t i, mpfr_ptr theta)
{
    assert(f->base[1] == 1); /* a quotient comes with freq_shift 1, which is exact */
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(theta) + 128);
    mpfr_set_d(exponent, f->freq_shift, MPFR_RNDN);
    mpfr_sub_d(exponent, exponent, f->half, MPFR_RNDN);
    mpfr_ui_div(exponent, i, exponent, MPFR_RNDN);
    mpfr_set_d(theta, f->base[0], MPFR_RNDN);
    mpfr_pow(theta, theta, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* Whether half - freq_shift is a double. */
static bool is_exact(const formula *f)
{
    return f->half - (f->half - f->freq_shift) == f->freq_shift;
}

static void eval_frequency(const void *context, size_t i, mpfr_ptr theta)
{
    const formula *f = context;
    if (i > 0 && !is_exact(f))
        eval_power(f, i, theta);
    mpfr_t factor;
    mpfr_init2(factor, mpfr_get_prec(theta) + 128);
    mpfr_set_d(factor, f->divisor[0], MPFR_RNDN);
    mpfr_add_d(factor, factor, f->divisor_more, MPFR_RNDN);
    mpfr_div(theta, theta, factor, MPFR_RNDN);
    mpfr_div_d(theta, theta, f->divisor[1], MPFR_RNDN);
    if (f->turns != 0) {
        mpfr_const_pi(factor, MPFR_RNDN);
        mpfr_mul_2ui(factor, factor, 1, MPFR_RNDN);
        mpfr_mul(theta, theta, factor, MPFR_RNDN);
    }
    mpfr_clear(factor);
}

static double real_or(const pe_values *values, const char *name, double otherwise)
{
    return pe_values_present(values, name) ? pe_values_real(values, name) : otherwise;
}

static size_t choice_or(const pe_values *values, const char *name, size_t otherwise)
{
    return pe_values_present(values, name) ? pe_values_choice(values, name) : otherwise;
}

pe_sinusoid_spec pe_sinusoid_read(const pe_values *values, size_t width)
{
    return (pe_sinusoid_spec){
        .width = width,
        .layout = choice_or(values, "layout", PE_SINUSOIDAL_SIN_COS),
        .dtype = pe_values_dtype(values),
        .base = {real_or(values, "base", 1), 1},
        .freq_shift = real_or(values, "freq_shift", 0),
        .scale = real_or(values, "scale", 1),
        .amplitude = real_or(values, "amplitude", 1),
        .divisor = {1, 1},
        .float32 = choice_or(values, "numerics", PE_NUMERICS_EXACT) == PE_NUMERICS_FLOAT32,
    };
}

pe_status pe_sinusoid_make(const pe_sinusoid_spec *spec, pe_tables *tables, pe_sinusoid *out,
                           pe_problem *why)
{
    /* An odd width: a sine without partner in the paper's form, a column of zeros in the other. */
    const size_t width = spec->width;
    const bool paper = spec->freq_shift == 0;
    const size_t cosines = width / 2, sines = paper ? width - cosines : cosines;
    const formula f = {.base = {spec->base[0], spec->base[1]},
                       .half = paper ? (double)width / 2 : (double)cosines,
                       .freq_shift = spec->freq_shift,
                       .divisor = {spec->divisor[0], spec->divisor[1]},
                       .divisor_more = spec->divisor_more,
                       .turns = spec->turns ? 1 : 0,
                       .amplitude = spec->amplitude};
    const size_t counts[] = {sines, cosines < sines ? cosines : 0};
    *out =
        (pe_sinusoid){.width = width, .dtype = spec->dtype, .zero_column = sines + cosines < width};
    /* Where sines and cosines go in a row of `sines` and `cosines` of them. */
    const size_t layout = spec->layout;
    const ptrdiff_t stride = layout == PE_SINUSOIDAL_INTERLEAVED ? 2 : 1;
    const ptrdiff_t sin_at = layout == PE_SINUSOIDAL_COS_SIN ? (ptrdiff_t)cosines : 0;
    const ptrdiff_t cos_at = layout == PE_SINUSOIDAL_INTERLEAVED ? 1
                             : layout == PE_SINUSOIDAL_SIN_COS   ? (ptrdiff_t)sines
                                                                 : 0;
    const bool together = sines == cosines;
    out->waves[0].layout = (pe_wave_layout){stride, sin_at, together ? cos_at : -1, out->width};
    out->waves[1].layout = (pe_wave_layout){stride, -1, cos_at, out->width};
    pe_status status = PE_OK;
    if (f.freq_shift != 0 && cosines > 1 && f.half <= f.freq_shift)
        status = pe_fail(why, PE_INVALID_PARAMETER, "freq_shift",
                         "freq_shift must be below the number of frequencies, which is %zu, got "
                         "%.17g",
                         cosines, f.freq_shift);
    for (size_t k = 0; k < PE_LEN(counts) && status == PE_OK; k++) {
        /* The set of the first n frequencies. */
        const size_t n = counts[k];
        const bool divided =
            f.divisor[0] != 1 || f.divisor[1] != 1 || f.divisor_more != 0 || f.turns != 0;
        const bool scaled = !spec->float32 && (divided || (n > 1 && !is_exact(&f)));
        const pe_wave_spec wave = {.n = n,
                                   .num = 1,
                                   .den = n <= 1 ? 1 : f.half - f.freq_shift,
                                   .position_scale = spec->scale,
                                   .base = eval_base,
                                   .scale = scaled ? eval_frequency : NULL,
                                   .amplitude = f.amplitude != 1 ? eval_amplitude : NULL,
                                   .float32 = spec->float32,
                                   .formula = &f,
                                   .formula_bytes = sizeof f};
        if (counts[k] > 0)
            status = pe_tables_wave(tables, &wave, &out->waves[k].set, why);
    }
    return status;
}

void pe_sinusoid_free(pe_sinusoid *sinusoid)
{
    for (size_t k = 0; k < PE_LEN(sinusoid->waves); k++)
        pe_tables_unref(&sinusoid->waves[k].set);
}

pe_status pe_sinusoid_plan(const pe_sinusoid_spec *spec, const pe_positions *positions,
                           size_t tensor, pe_plan *plan, pe_sinusoid *out, pe_problem *why)
{
    for (size_t k = 0; k < PE_LEN(out->waves); k++)
        pe_plan_owns(plan, &out->waves[k].set, pe_tables_unref);
    PE_TRY(pe_sinusoid_make(spec, plan->tables, out, why));
    const pe_wave *wave = out->waves[0].set.wave;
    const size_t more =
        wave != NULL && positions != NULL ? pe_wave_work(wave, positions, out->dtype) : 0;
    return pe_plan_set_work(plan, tensor, plan->tensors[tensor].work + more, why);
}

pe_status pe_sinusoid_fill(const pe_sinusoid *sinusoid, const pe_positions *positions,
                           const pe_region *region, void *out, pe_problem *why)
{
    const size_t first = region->first, units = region->units, column = region->column;
    const size_t columns = region->columns;
    const pe_dtype dtype = sinusoid->dtype;
    pe_status status = PE_OK;
    if (sinusoid->zero_column && column + columns == sinusoid->width) {
        const size_t bytes = pe_dtype_bytes(dtype);
        for (size_t r = 1; r <= units; r++)
            memset((char *)out + (r * columns - 1) * bytes, 0, bytes);
    }
    for (size_t k = 0; k < PE_LEN(sinusoid->waves) && status == PE_OK; k++) {
        const pe_wave_table table = {sinusoid->waves[k].set.wave, positions,
                                     &sinusoid->waves[k].layout, dtype};
        if (table.wave == NULL)
            continue;
        status = columns == sinusoid->width
                     ? pe_wave_table_rows(&table, first, units, out, why)
                     : pe_wave_table_part(&table, first, column, columns, out, why);
    }
    return status;
}
