/* SPDX-License-Identifier: MIT */
/* ladder.c - claimed and measured frequencies of the pairs of an upload. */
#include "verify/ladder.h"

#include <math.h>
#include <stdlib.h>

#include "verify/geometry.h"

#define TURN 6.283185307179586

/* A number of the guess's values; 0: it has none. */
static double number_of(const pe_guess *guess, const char *name)
{
    const pe_value *value = pe_values_find(&guess->values, name);
    if (value == NULL || !value->present)
        return 0;
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

/* Pair i turns beta times in the original length: i = n ln(length / (2 pi beta)) / ln(theta). */
static void set_ramp(const pe_guess *guess, pe_ladder *l)
{
    static const char *const betas[2] = {"beta_fast", "beta_slow"};
    for (size_t e = 0; e < 2; e++)
        l->ramp[e] = (double)l->n * log(l->original / (TURN * number_of(guess, betas[e])));
    const pe_value *truncate = pe_values_find(&guess->values, "truncate");
    l->truncate = truncate == NULL || truncate->truth;
}

pe_status pe_ladder_make(const pe_guess *guess, pe_ladder *l, pe_problem *why)
{
    l->plain = calloc(2 * l->n + 1, sizeof *l->plain);
    if (l->plain == NULL)
        return pe_fail_memory(why);
    l->put = l->plain + l->n;
    /* Of axes with frequencies of their own there is no one progression. */
    if (!pe_values_present(&guess->values, "axes_dims"))
        l->theta = number_of(guess, "rope_theta");
    l->factor = number_of(guess, "factor");
    if (pe_geometry_has_rope_type(&guess->values, "dynamic"))
        l->dynamic_length = number_of(guess, "max_position_embeddings");
    l->listed = pe_geometry_has_rope_type(&guess->values, "longrope") ||
                pe_values_present(&guess->values, "freq_factors") ||
                pe_values_present(&guess->values, "lerope_alpha");
    l->original = number_of(guess, "original_max_position_embeddings");
    if (pe_geometry_has_rope_type(&guess->values, "llama3")) {
        l->bands[0] = number_of(guess, "low_freq_factor");
        l->bands[1] = number_of(guess, "high_freq_factor");
    }
    if (pe_geometry_has_rope_type(&guess->values, "yarn"))
        set_ramp(guess, l);
    l->head_pairs = number_of(guess, "head_dim") / 2;
    for (size_t i = 0; i < l->n; i++)
        l->plain[i] = l->theta > 0 ? pow(l->theta, -(double)i / (double)l->n) : l->claimed[i];
    return PE_OK;
}

pe_ladder pe_ladder_of_reading(const pe_reading *r)
{
    const double turned = fabs(r->step) * floor((double)r->tokens / 2);
    const double far = fmax(fabs(r->claimed[0]), fabs(r->claimed[r->tokens - 1]));
    return (pe_ladder){.n = r->pairs,
                       .claimed = r->frequency,
                       .measured = r->turned,
                       .step = r->step,
                       .slack = 0.05,
                       .span = r->anchored ? fmax(turned, far) : turned};
}

void pe_ladder_free(pe_ladder *ladder)
{
    free(ladder->plain);
    *ladder = (pe_ladder){0};
}

bool pe_ladder_is_near(const pe_ladder *l, size_t i, double w)
{
    const double off = fabs(l->measured[i] - w);
    if (isinf(l->measured[i])) /* beyond the largest number of a narrow type */
        return w > 65504 && l->roundoff > 1e-4;
    if (l->span == 0)
        return off <= (8e-6 + 1.01 * l->roundoff) * fabs(w) + (l->roundoff > 1e-4 ? 0x1p-24 : 0);
    const double turns = (l->measured[i] - w) * l->step / TURN;
    if (off <= 0.01 * fabs(w) + l->slack / l->span)
        return true;
    return fmax(fabs(w), fabs(l->measured[i])) * fabs(l->step) > TURN / 2 &&
           fabs(turns - round(turns)) < 2e-3;
}

size_t pe_ladder_count_near(const pe_ladder *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += pe_ladder_is_near(l, i, l->claimed[i]) ? 1 : 0;
    return n;
}

double pe_ladder_part_of(const pe_ladder *l, size_t i)
{
    return l->claimed[i] / l->plain[i];
}

double pe_ladder_least_part(const pe_ladder *l)
{
    double least = 1;
    for (size_t i = 0; i < l->n; i++)
        least = fmin(least, pe_ladder_part_of(l, i));
    return least;
}

bool pe_ladder_is_scaled(const pe_ladder *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (fabs(pe_ladder_part_of(l, i) - 1) > 1e-9)
            return true;
    return false;
}
