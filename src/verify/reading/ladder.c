/* SPDX-License-Identifier: MIT */
/* ladder.c - claimed and measured frequencies of the pairs of an upload. */
#include "verify/reading/ladder.h"

#include <math.h>
#include <stdlib.h>

#include "verify/upload/geometry.h"

#define TURN 6.283185307179586

/* ---- what the claim says ---- */

/* A number of the guess's values; 0: it has none. */
static double number_of(const pe_guess *guess, const char *name)
{
    const pe_value *value = pe_values_find(&guess->values, name);
    if (value == NULL || !value->present)
        return 0;
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

/* Pair i turns beta times in the original length: i = n ln(length / (2 pi beta)) / ln(theta). */
static void set_ramp(const pe_guess *guess, double n, pe_scaling *out)
{
    static const char *const betas[2] = {"beta_fast", "beta_slow"};
    for (size_t e = 0; e < 2; e++)
        out->ramp[e] = n * log(out->original / (TURN * number_of(guess, betas[e])));
    const pe_value *truncate = pe_values_find(&guess->values, "truncate");
    out->truncate = truncate == NULL || truncate->truth;
}

static void set_scaling(const pe_guess *guess, double n, pe_scaling *out)
{
    /* Of axes with frequencies of their own there is no one progression. */
    if (!pe_values_present(&guess->values, "axes_dims"))
        out->theta = number_of(guess, "rope_theta");
    out->factor = number_of(guess, "factor");
    if (pe_geometry_has_rope_type(&guess->values, "dynamic"))
        out->dynamic_length = number_of(guess, "max_position_embeddings");
    out->listed = pe_geometry_has_rope_type(&guess->values, "longrope") ||
                  pe_values_present(&guess->values, "freq_factors") ||
                  pe_values_present(&guess->values, "lerope_alpha");
    out->original = number_of(guess, "original_max_position_embeddings");
    if (pe_geometry_has_rope_type(&guess->values, "llama3")) {
        out->bands[0] = number_of(guess, "low_freq_factor");
        out->bands[1] = number_of(guess, "high_freq_factor");
    }
    if (pe_geometry_has_rope_type(&guess->values, "yarn"))
        set_ramp(guess, n, out);
    out->head_pairs = number_of(guess, "head_dim") / 2;
}

pe_status pe_ladder_make(const pe_guess *guess, pe_sequence *s, pe_problem *why)
{
    s->plain = calloc(2 * s->n + 1, sizeof *s->plain);
    if (s->plain == NULL)
        return pe_fail_memory(why);
    s->put = s->plain + s->n;
    set_scaling(guess, (double)s->n, &s->scaling);
    const double theta = s->scaling.theta;
    for (size_t i = 0; i < s->n; i++)
        s->plain[i] = theta > 0 ? pow(theta, -(double)i / (double)s->n) : s->claimed[i];
    return PE_OK;
}

void pe_ladder_free(pe_sequence *ladder)
{
    free(ladder->plain);
    *ladder = (pe_sequence){.n = 0};
}

pe_sequence pe_ladder_of_reading(const pe_reading *r)
{
    const double turned = fabs(r->step) * floor((double)r->tokens / 2);
    const double far = fmax(fabs(r->claimed[0]), fabs(r->claimed[r->tokens - 1]));
    return (pe_sequence){.stage = PE_AT_FREQUENCY,
                         .n = r->pairs,
                         .claimed = r->frequency,
                         .measured = r->turned,
                         .step = r->step,
                         .slack = 0.05,
                         .span = r->anchored ? fmax(turned, far) : turned};
}

/* ---- which mistake they have ---- */

/* Is a pair so fast that float32 angles do not resolve its turns? Where many are, it is not seen
 * which way pairs turn, and elements tell. */
static bool is_wild(const pe_sequence *s, double w)
{
    return s->held && fabs(w) * s->span > 0x1p10;
}

/* Pairs that are as the mistake makes them. */
typedef struct counts {
    size_t good, back, known, telling, wild; /* back: turning the other way */
} counts;

static counts count(const pe_sequence *s, const pe_patch *of)
{
    counts n = {0};
    for (size_t i = 0; i < s->n && (n.known - n.good) * 20 <= s->n + n.back * 20; i++) {
        const double w = of->op(s, i);
        n.wild += is_wild(s, w);
        if (isnan(s->measured[i]) || !isfinite(w) || is_wild(s, w))
            continue;
        const bool near = pe_sequence_is_near(s, i, w);
        n.known++;
        n.good += near;
        n.back += pe_sequence_is_near(s, i, -w);
        n.telling += near && !pe_sequence_is_near(s, i, s->claimed[i]);
    }
    return n;
}

static bool follows(pe_sequence *s, const pe_patch *of)
{
    counts n = count(s, of);
    if (s->span == 0)
        return n.good + (of->but_one && s->n > 8) >= s->n && n.telling > 0;
    const bool wild = n.wild * 4 > s->n;
    const bool faint = s->faint || (s->held && (of->subtle || of->faint));
    const size_t least = faint || wild ? 0 : of->may_be_one ? 1 : 2;
    n.good = wild && n.back > n.good ? n.back : n.good;
    s->unseen = wild && n.good < 2;
    return (n.known + n.wild) * 5 >= s->n * 4 && n.good * 20 >= n.known * 19 && n.telling >= least;
}

const pe_patch *pe_ladder_patch(size_t k)
{
    static const pe_patches *const lists[] = {&pe_ladder_patches, &pe_scaling_patches,
                                              &pe_number_patches};
    size_t l = 0;
    while (l < PE_LEN(lists) && k >= lists[l]->n)
        k -= lists[l++]->n;
    return l < PE_LEN(lists) ? &lists[l]->row[k] : NULL;
}

bool pe_ladder_next(pe_sequence *s, size_t *k, pe_guess *guess)
{
    if (s->n < 4 || guess->n_faults >= PE_FAULTS_MAX)
        return false;
    for (const pe_patch *of; (of = pe_ladder_patch(*k)) != NULL;) {
        ++*k;
        if (!pe_sequence_set_operands(s, of) || !follows(s, of))
            continue;
        for (size_t i = 0; i < s->n; i++) {
            const double w = of->op(s, i);
            const bool free = of->but_one && s->span == 0 && !pe_sequence_is_near(s, i, w);
            s->put[i] = free ? s->measured[i] : w;
        }
        guess->distortion.ladder = s->put;
        guess->distortion.ladder_pairs = s->n;
        guess->distortion.values_inexact = true;
        guess->fitted |= of->fitted || s->unseen;
        pe_guess_tell(guess, &of->fault, s->a, s->b);
        return true;
    }
    return false;
}

bool pe_ladder_is_one_number(pe_sequence *s)
{
    for (size_t k = 0; k < pe_rough_frequency_patches.n; k++) {
        const pe_patch *of = &pe_rough_frequency_patches.row[k];
        if (pe_sequence_set_operands(s, of) && follows(s, of))
            return true;
    }
    return false;
}
