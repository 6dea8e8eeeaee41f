/* SPDX-License-Identifier: MIT */
/* sinusoidal_timing.c - the timing signal of tensor2tensor, between two timescales. */
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/sinusoidal/sinusoidal.h"

#define LENGTH_MAX 1099511627776.0 /* 2^40 */

#define TIMESCALE(NAME, FALLBACK, HELP, EXAMPLE)                                                   \
    PE_PARAM(NAME, REAL, .min = 1e-9, .max = 1e12, .fallback = (FALLBACK), .unit = "positions",    \
             .help = (HELP), .example = (EXAMPLE))

enum { CODE, DOCSTRING };
static const char *const variants[] = {[CODE] = "tensor2tensor", [DOCSTRING] = "documented", NULL};

/* Largest factor of positions: fixed point holds their phases. */
#define FACTOR_MAX 1e9

static const pe_param own[] = {
    PE_PARAM("d_model", INT, .required = true, .min = 1, .max = PE_SINUSOIDAL_WIDTH_MAX,
             .plan_work = PE_PLAN_WORK_PRODUCT, .unit = "channels",
             .help = "Width of a row. The sines precede the cosines. The last column of an odd "
                     "width is zero.",
             .example = "512"),
    PE_PARAM("length", INT, .axis = true, .required = true, .min = 1, .max = LENGTH_MAX,
             .unit = "tokens",
             .help = "The number of rows. Their positions are start_index, start_index + 1, ...",
             .example = "128"),
    PE_PARAM("start_index", INT, .min = 1 - PE_POSITION_LIMIT, .max = PE_POSITION_LIMIT - 1,
             .fallback = 0, .unit = "tokens", .help = "Position of the first row.", .example = "3"),
    TIMESCALE("min_timescale", 1,
              "Timescale of the first sine: its wavelength over 2 pi. The code of tensor2tensor "
              "multiplies positions by it, where a timescale divides them.",
              "1"),
    TIMESCALE("max_timescale", 10000,
              "Timescale of the last sine. With the code of tensor2tensor, that is max_timescale / "
              "min_timescale^2.",
              "10000"),
    PE_PARAM("variant", CHOICE, .choices = variants,
             .help = "tensor2tensor: as its code computes. documented: as its docstring says. They "
                     "differ where min_timescale is not 1.",
             .example = "tensor2tensor"),
};

typedef struct signal {
    pe_sinusoid sinusoid;
    pe_positions positions;
} signal;

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const signal *s = plan->state;
    return pe_sinusoid_fill(&s->sinusoid, &s->positions, region, out, why);
}

static pe_status check(const pe_values *values, pe_problem *why)
{
    const double least = pe_values_real(values, "min_timescale");
    const double most = pe_values_real(values, "max_timescale");
    const bool code = pe_values_choice(values, "variant") == CODE;
    const int64_t start = pe_values_int(values, "start_index");
    const int64_t length = pe_values_int(values, "length");
    if (most < least)
        return pe_fail(why, PE_INVALID_PARAMETER, "max_timescale",
                       "max_timescale must be at least min_timescale, %.17g, got %.17g", least,
                       most);
    if (code && least > FACTOR_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "min_timescale",
                       "min_timescale must be at most %.0f with variant tensor2tensor, which "
                       "multiplies positions by it, got %.17g",
                       FACTOR_MAX, least);
    if (start + length > (int64_t)PE_POSITION_LIMIT)
        return pe_fail(why, PE_INVALID_PARAMETER, "start_index",
                       "positions must stay below 2^53, got a start_index of %lld and a length of "
                       "%lld",
                       (long long)start, (long long)length);
    return PE_OK;
}

static pe_status plan_signal(pe_values *values, pe_plan *out, pe_problem *why)
{
    const size_t width = pe_values_size(values, "d_model");
    const size_t length = pe_values_size(values, "length");
    const double least = pe_values_real(values, "min_timescale");
    const bool code = pe_values_choice(values, "variant") == CODE;
    pe_sinusoid_spec spec = pe_sinusoid_read(values, width);
    spec.base[0] = pe_values_real(values, "max_timescale");
    spec.base[1] = least;
    spec.freq_shift = 1;
    *(code ? &spec.scale : &spec.divisor[0]) = least;
    const pe_shape shape = {2, {length, width}};
    PE_TRY(check(values, why));
    PE_TRY(pe_plan_add_tensor(out, "table", spec.dtype, &shape, width, why));
    PE_TRY(pe_plan_begin(out, sizeof(signal), fill, why));
    signal *s = out->state;
    out->makes_parts = true;
    s->positions = pe_positions_range(pe_values_int(values, "start_index"), 1, length);
    if (least != 1)
        pe_plan_warn(out,
                     code ? "min_timescale multiplies the positions, as in the code of "
                            "tensor2tensor; variant=documented divides them, as its docstring says"
                          : "min_timescale divides the positions, as tensor2tensor documents; its "
                            "code multiplies them by it: variant=tensor2tensor");
    return pe_sinusoid_plan(&spec, &s->positions, 0, out, &s->sinusoid, why);
}

/**
 * The docstring speaks of a geometric sequence of timescales from min_timescale to max_timescale; the
 * code's first frequency is min_timescale, where 1/min_timescale is meant.
 *
 * Shapes    [length, d_model]: sines, cosines, and a column of zeros where d_model is odd.
 * Accuracy  correctly rounded.
 */
const pe_resource pe_sinusoidal_timing = {
    PE_NAMED("sinusoidal", "/timing"),
    .kind = PE_TABLE,
    .summary = "The timing signal of tensor2tensor, from a shortest to a longest timescale.",
    .formula = "sin(pos min_timescale / r_i) and cos(pos min_timescale / r_i), r_i = "
               "(max_timescale/min_timescale)^(i/max(n - 1, 1)), n = floor(d_model/2); documented: "
               "pos / (min_timescale r_i)",
    .labels = PE_LABELS({.axes = "position, dimension", .value = "value"}),
    .source = "tensorflow/tensor2tensor@bafdc1b67730430d38d6ab802cbd51f9d053ba2e, "
              "get_timing_signal_1d",
    .param_sets = {PE_PARAMS(own), &pe_sinusoidal_amplitude_params, &pe_params_output_exact},
    .plan = plan_signal,
};
