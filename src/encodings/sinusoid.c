/* SPDX-License-Identifier: MIT */
/* sinusoid.c - the frequencies and rows that all sinusoidal resources are made of. */
#include "encodings/sinusoidal.h"

#include <string.h>

enum { INTERLEAVED, SIN_COS, COS_SIN };

const char *const pe_sinusoidal_layouts[] = {
    [INTERLEAVED] = "interleaved", [SIN_COS] = "sin_cos", [COS_SIN] = "cos_sin", NULL};

/* What the callbacks of a frequency set need: w_i = base^(-i/(half - freq_shift)). */
typedef struct formula {
    double base, half, freq_shift;
} formula;

static void eval_base(const void *context, mpfr_ptr out)
{
    const formula *f = context;
    mpfr_set_d(out, f->base, MPFR_RNDN);
}

/*
 * The frequency afresh, where half - freq_shift is no double. The exponent stays below 2^54 (the
 * difference is at least an ulp of 2^15), its product with ln(base) below 2^59: 128 more bits than
 * wanted are plenty.
 */
static void eval_frequency(const void *context, size_t i, mpfr_ptr theta)
{
    const formula *f = context;
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(theta) + 128);
    mpfr_set_d(exponent, f->freq_shift, MPFR_RNDN);
    mpfr_sub_d(exponent, exponent, f->half, MPFR_RNDN);
    mpfr_ui_div(exponent, i, exponent, MPFR_RNDN);
    mpfr_set_d(theta, f->base, MPFR_RNDN);
    mpfr_pow(theta, theta, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

static pe_status check_shift(double half, double freq_shift, size_t n, pe_problem *why)
{
    if (freq_shift == 0 || n <= 1 || half > freq_shift)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "freq_shift",
                   "freq_shift must be below the number of frequencies, which is %zu, got %.17g", n,
                   freq_shift);
}

static bool float32_wanted(const pe_values *values)
{
    return pe_values_present(values, "numerics") &&
           pe_values_choice(values, "numerics") == PE_NUMERICS_FLOAT32;
}

static pe_status share_wave(const pe_values *values, const formula *f, size_t n, pe_tables *tables,
                            pe_shared_wave *out, pe_problem *why)
{
    const double den = f->half - f->freq_shift;
    pe_wave_spec spec = {.n = n,
                         .num = 1,
                         .den = den,
                         .position_scale = pe_values_real(values, "scale"),
                         .base = eval_base,
                         .float32 = float32_wanted(values),
                         .formula = f,
                         .formula_bytes = sizeof *f};
    if (n <= 1)
        spec.den = 1;
    else if (!spec.float32 && f->half - den != f->freq_shift)
        spec.scale = eval_frequency;
    return pe_tables_wave(tables, &spec, out, why);
}

/* Where sines and cosines go in a row of `sines` and `cosines` of them. */
static void lay_out(size_t layout, size_t sines, size_t cosines, pe_sinusoid *out)
{
    static const struct {
        ptrdiff_t stride, sin_at, cos_at;
    } rows[] = {[INTERLEAVED] = {2, 0, 1}, [SIN_COS] = {1, 0, 0}, [COS_SIN] = {1, 0, 0}};
    ptrdiff_t sin_at = rows[layout].sin_at, cos_at = rows[layout].cos_at;
    if (layout == SIN_COS)
        cos_at += (ptrdiff_t)sines;
    if (layout == COS_SIN)
        sin_at += (ptrdiff_t)cosines;
    const bool together = sines == cosines;
    out->sine_layout =
        (pe_wave_layout){rows[layout].stride, sin_at, together ? cos_at : -1, out->width};
    out->cosine_layout = (pe_wave_layout){rows[layout].stride, -1, cos_at, out->width};
}

pe_status pe_sinusoid_make(const pe_values *values, size_t width, pe_tables *tables,
                           pe_sinusoid *out, pe_problem *why)
{
    const double freq_shift = pe_values_real(values, "freq_shift");
    /* An odd width: a sine without partner in the paper's form, a column of zeros in the other. */
    const bool paper = freq_shift == 0;
    const size_t cosines = width / 2, sines = paper ? width - cosines : cosines;
    const formula f = {.base = pe_values_real(values, "base"),
                       .half = paper ? (double)width / 2 : (double)cosines,
                       .freq_shift = freq_shift};
    pe_sinusoid made = {.width = width, .zero_column = sines + cosines < width};
    pe_status status = check_shift(f.half, freq_shift, cosines, why);
    lay_out(pe_values_choice(values, "layout"), sines, cosines, &made);
    if (status == PE_OK && sines > 0)
        status = share_wave(values, &f, sines, tables, &made.sines, why);
    if (status == PE_OK && cosines > 0 && cosines < sines)
        status = share_wave(values, &f, cosines, tables, &made.cosines, why);
    if (status == PE_OK)
        *out = made;
    else
        pe_sinusoid_free(&made);
    return status;
}

void pe_sinusoid_free(pe_sinusoid *sinusoid)
{
    if (sinusoid->sines.entry != NULL)
        pe_shared_wave_unref(&sinusoid->sines);
    if (sinusoid->cosines.entry != NULL)
        pe_shared_wave_unref(&sinusoid->cosines);
}

static void clear_last_column(size_t width, size_t rows, pe_dtype dtype, unsigned char *out)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t r = 1; r <= rows; r++)
        memset(out + (r * width - 1) * bytes, 0, bytes);
}

pe_status pe_sinusoid_rows(const pe_sinusoid *sinusoid, const pe_positions *positions, size_t first,
                           size_t rows, pe_dtype dtype, void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    if (sinusoid->zero_column)
        clear_last_column(sinusoid->width, rows, dtype, out);
    if (sinusoid->sines.entry != NULL)
        status = pe_wave_table(sinusoid->sines.wave, positions, first, rows, &sinusoid->sine_layout,
                               dtype, out, why);
    if (status == PE_OK && sinusoid->cosines.entry != NULL)
        status = pe_wave_table(sinusoid->cosines.wave, positions, first, rows,
                               &sinusoid->cosine_layout, dtype, out, why);
    return status;
}
