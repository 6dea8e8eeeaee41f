/* SPDX-License-Identifier: MIT */
/* added_scaling.c - frequencies that are scaled, where the claim has no scaling. */
#include "verify/added_scaling.h"

#include <math.h>

#include "verify/changes.h"
#include "verify/geometry.h"
#include "verify/ladder.h"

/* Of an original length, which is value; and_value: the factor. */
static bool add_scaling(pe_guess *guess, const pe_fault *fault)
{
    pe_values *values = &guess->values;
    pe_values_set_real(values, "factor", fault->and_value);
    pe_values_set_int(values, "original_max_position_embeddings", (int64_t)fault->value);
    const pe_fault type = {.param = "rope_type", .text = fault->text};
    return pe_changes_rope_type(guess, &type);
}

/* The same where the attention factor, which the type derives from the factor, is 1. */
static bool add_scaling_alone(pe_guess *guess, const pe_fault *fault)
{
    pe_values_set_real(&guess->values, "attention_factor", 1);
    return add_scaling(guess, fault);
}

static const pe_fault rows[] = {
    {"scaling_added", NULL, .change = add_scaling, .param = "original_max_position_embeddings",
     .text = "yarn", .sets_rope_type = true},
    {"scaling_added", NULL, .change = add_scaling_alone,
     .param = "original_max_position_embeddings", .text = "yarn", .sets_rope_type = true},
    {"scaling_added", NULL, .change = add_scaling, .param = "original_max_position_embeddings",
     .text = "llama3", .sets_rope_type = true},
};

static pe_status try_row(pe_search *s, const pe_guess *from, const pe_fault *row, double factor,
                         double original, pe_problem *why)
{
    pe_guess guess;
    pe_fault fault = *row;
    fault.value = original;
    fault.and_value = factor;
    pe_status status = pe_guess_copy(from, &guess, why);
    if (status != PE_OK)
        return status;
    if (pe_faults_apply(&fault, &guess)) {
        guess.faults[guess.n_faults - 1] = row;
        pe_buffer_format(&guess.rule, "; factor was %.7g", factor);
        if (row->change == add_scaling_alone)
            pe_buffer_str(&guess.rule, ", with an attention factor of 1");
        guess.fitted = true;
        status = pe_attempts_try(s, &guess, why);
    }
    pe_guess_free(&guess);
    return status;
}

/* Original lengths are powers of two. */
#define LEAST_ORIGINAL 10
#define MOST_ORIGINAL  18

/* A factor of people is near a whole number, or a half. */
static double tidy(double factor)
{
    const double near = round(2 * factor) / 2;
    return fabs(near - factor) <= 0.02 * factor ? near : factor;
}

/* Are all pairs scaled alike, or not at all? */
static bool is_plain(const pe_values *values)
{
    return pe_geometry_has_rope_type(values, "default") ||
           pe_geometry_has_rope_type(values, "linear");
}

pe_status pe_added_scaling_of(pe_search *s, pe_guess *guess, double factor, pe_problem *why)
{
    pe_status status = PE_OK;
    if (pe_values_find(&guess->values, "original_max_position_embeddings") == NULL ||
        !is_plain(&guess->values) || !(factor > 1.2 && factor < 1e6))
        return PE_OK;
    for (int power = LEAST_ORIGINAL; power <= MOST_ORIGINAL; power++)
        for (size_t k = 0; k < PE_LEN(rows) && status == PE_OK && pe_attempts_go_on(s); k++)
            status = try_row(s, guess, &rows[k], tidy(factor), ldexp(1, power), why);
    return status;
}

/* The slowest pair that turns faster than that; 0: there is none. */
static size_t slowest(const pe_reading *r, double least)
{
    size_t i = r->pairs - 1;
    while (i > 0 && !(fabs(r->turned[i]) > least))
        i--;
    return i;
}

pe_status pe_added_scaling_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    static const double usual[] = {2, 4, 8, 16, 32, 40, 64};
    pe_status status = PE_OK;
    const pe_reading *r = &s->measured->reading;
    const double known = 128 * r->roundoff / pe_ladder_of_reading(r).span;
    const bool linear = pe_geometry_has_rope_type(&guess->values, "linear");
    const double claimed = linear ? pe_values_real(&guess->values, "factor") : 1;
    size_t before = r->pairs;
    if (linear)
        status = pe_added_scaling_of(s, guess, claimed, why);
    for (int pass = 0; pass < 2 && status == PE_OK && pe_attempts_go_on(s); pass++) {
        const size_t i = slowest(r, pass == 0 ? 0 : known);
        if (i < before)
            status = pe_added_scaling_of(s, guess, claimed / pe_reading_ratio(r, i), why);
        before = i;
    }
    /* cosines alone do not tell how the slowest pairs turn */
    for (size_t f = 0; f < PE_LEN(usual) && s->whole->unsent_n > 0 && status == PE_OK; f++)
        status = pe_added_scaling_of(s, guess, usual[f], why);
    return status;
}
