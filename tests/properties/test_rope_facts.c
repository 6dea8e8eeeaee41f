/* SPDX-License-Identifier: MIT */
/* test_rope_facts.c - what rotations tell beside their numbers: facts of types, and warnings. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/types/rope_types.h"
#include "support/encode.h"

static void longrope_shows_both_sets_and_which_holds(void **state)
{
    static const struct {
        int seq_len;
        const char *selected;
        double divisor[2];
    } cases[] = {{64, "short", {1, 1.5}}, {65, "long", {2, 8}}};
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode(&pe_rope_frequencies,
                           "head_dim=4&rope_type=longrope&short_factor=1,1.5&long_factor=2,8&"
                           "original_max_position_embeddings=64&attention_factor=1&seq_len=%d&"
                           "rope_theta=16&dtype=float64",
                           cases[c].seq_len);
        const pe_plan *plan = &e.plan;
        assert_string_equal(plan->scalars[1].name, "selected");
        assert_string_equal(plan->scalars[1].text, cases[c].selected);
        assert_string_equal(plan->scalars[2].name, "original_max_position_embeddings");
        assert_true(plan->scalars[2].value == 64);
        assert_int_equal(plan->n_tensors, 5);
        assert_string_equal(plan->tensors[3].name, "inv_freq_short");
        assert_string_equal(plan->tensors[4].name, "inv_freq_long");
        double *inv = encoded_all(&e, 0), *brief = encoded_all(&e, 3), *far = encoded_all(&e, 4);
        for (size_t i = 0; i < 2; i++) { /* theta_i is 1 and 1/4 */
            const double theta = i == 0 ? 1 : 0.25;
            assert_true(inv[i] == theta / cases[c].divisor[i]);
            assert_true(brief[i] == theta / cases[0].divisor[i]);
            assert_true(far[i] == theta / cases[1].divisor[i]);
        }
        free(inv);
        free(brief);
        free(far);
        encoded_free(&e);
    }
}

static void warnings_come_where_they_apply(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *query, *warning; /* NULL: none */
    } cases[] = {
        {&pe_rope_frequencies, "rope_type=dynamic&factor=2&max_position_embeddings=16&seq_len=17",
         "longest sequence"},
        {&pe_rope_frequencies, "rope_type=dynamic&factor=2&max_position_embeddings=16&seq_len=16",
         NULL},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&mscale=1",
         "mscale has no effect without mscale_all_dim"},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&mscale_all_dim=1&mscale=0",
         "mscale_all_dim has no effect without mscale"},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&mscale_all_dim=1&mscale=1",
         NULL},
        {&pe_rope_frequencies,
         "rope_type=yarn&factor=2&original_max_position_embeddings=64&attention_factor=1&mscale=1",
         NULL},
        {&pe_rope_table, "numerics=float32&positions=16777000:16777217", NULL},
        {&pe_rope_table, "numerics=float32&positions=16777000:16777218",
         "16777217 is turned as 16777216"},
        {&pe_rope_table, "numerics=float32&positions=16777220:16777216:-1", "16777219"},
        {&pe_rope_table, "numerics=float32&positions=-16777218:16777218:65538", NULL},
        {&pe_rope_table, "numerics=float32&positions=-16777217:0:16777217", "-16777217"},
        {&pe_rope_table, "numerics=float32&positions=1,16777218,5,16777217,3", "16777217"},
        {&pe_rope_table, "numerics=float32&positions=0.1,2.7", NULL},
        {&pe_rope_table, "positions=16777217:16777220", NULL},
        {&pe_rope_table, "numerics=float32&mrope_section=2,1,1&positions=0:2;1,5;16777216:16777218",
         "16777217"},
        {&pe_rope_table, "numerics=float32&mrope_section=2,1,1&positions=0:2;1,5;7:9", NULL},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode(cases[c].resource, "head_dim=8&%s", cases[c].query);
        if (e.status != PE_OK)
            fail_msg("%s: %s", cases[c].query, e.why.detail);
        const char *got = e.plan.n_warnings > 0 ? e.plan.warnings[0] : NULL;
        const bool wanted = cases[c].warning != NULL;
        if ((got != NULL) != wanted || (wanted && strstr(got, cases[c].warning) == NULL))
            fail_msg("%s: got \"%s\", wanted \"%s\"", cases[c].query, got != NULL ? got : "",
                     wanted ? cases[c].warning : "");
        encoded_free(&e);
    }
}

/* 2 pi factor is the wavelength of the one pair; 65504 is the largest float16, and what comes below
 * the middle between it and 65536 rounds to it. */
static void float16_is_refused_from_halfway_past_its_largest(void **state)
{
    static const double around[] = {0.9999, 1 - 0x1p-20, 1 - 0x1p-39, 1 - 0x1p-41, 1,
                                    1.0001, 1 + 0x1p-20, 1 + 0x1p-39, 1 + 0x1p-41};
    int refused = 0;
    mpfr_t wavelength;
    mpfr_init2(wavelength, 256);
    for (size_t c = 0; c < 2 * PE_LEN(around); c++) { /* each, and the double before */
        double factor = 65520 / 6.283185307179586 * around[c / 2];
        factor = c % 2 == 0 ? factor : nextafter(factor, 0);
        encoded e = encode(&pe_rope_frequencies,
                           "head_dim=2&rope_type=linear&dtype=float16&factor=%.17g", factor);
        mpfr_const_pi(wavelength, MPFR_RNDN);
        mpfr_mul_d(wavelength, wavelength, 2 * factor, MPFR_RNDN);
        const bool fits = mpfr_cmp_d(wavelength, 65520) < 0;
        assert_int_equal(e.status, fits ? PE_OK : PE_INVALID_PARAMETER);
        if (!fits)
            assert_non_null(strstr(e.why.detail, "wavelength of pair 0 overflows float16"));
        refused += !fits;
        encoded_free(&e);
    }
    assert_in_range(refused, 8, 10);
    mpfr_clear(wavelength);
}

/* length / 2 pi turns of the first pair: 65519.95 and 65520.11. */
static void float16_turns_are_refused_from_there_on(void **state)
{
    static const struct {
        int length;
        pe_status status;
    } cases[] = {{411674, PE_OK}, {411675, PE_INVALID_PARAMETER}};
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode(&pe_rope_compare,
                           "head_dim=4&rope_theta=10&rope_types=default&dtype=float16&"
                           "max_position_embeddings=%d&target_length=%d",
                           cases[c].length, 2 * cases[c].length);
        assert_int_equal(e.status, cases[c].status);
        encoded_free(&e);
    }
}

/* What Python computes for attention factors, in float64 step by step; real arithmetic has another
 * last bit there. */
static void float32_attention_factors_are_upstreams_steps(void **state)
{
    static const struct {
        const char *query;
        double steps, exact;
    } cases[] = {
        {"rope_type=yarn&factor=2&mscale=0.707&mscale_all_dim=1", 0.9810072637667154,
         0.9810072637667155},
        {"rope_type=yarn&factor=10&mscale=1&mscale_all_dim=0.707", 1.0580204359651069,
         1.058020435965107},
        {"rope_type=longrope&factor=6&short_factor=1,1,1,1&long_factor=2,2,2,2", 1.1024579546299094,
         1.1024579546299091},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++)
        for (int steps = 0; steps < 2; steps++) {
            encoded e = encode(&pe_rope_frequencies,
                               "head_dim=8&original_max_position_embeddings=4096&"
                               "max_position_embeddings=4096&numerics=%s&%s",
                               steps ? "float32" : "exact", cases[c].query);
            const double got = e.plan.scalars[0].value;
            if (got != (steps ? cases[c].steps : cases[c].exact))
                fail_msg("%s: got %.17g", cases[c].query, got);
            encoded_free(&e);
        }
}

/* transformers on 4.0^(8/6): the exponent is no float32, though all else is. */
static void float32_bases_of_dynamic_are_upstreams_steps(void **state)
{
    static const double want[] = {1, 0.06299605, 0.003968503, 0.00025};
    encoded e = encode(&pe_rope_frequencies, "head_dim=8&rope_type=dynamic&factor=2&seq_len=40&"
                                             "max_position_embeddings=16&numerics=float32");
    double *got = encoded_all(&e, 0);
    for (size_t i = 0; i < PE_LEN(want); i++)
        assert_true((float)got[i] == (float)want[i]);
    free(got);
    encoded_free(&e);
}

/* The ends of ramps are rounded outwards by float64 where it is sure of them: then they are those
 * of 256 bits. Bases near 1, and dimensions that are near an integer, are where it is not. */
static void ends_of_ramps_are_those_of_many_bits(void **state)
{
    random_source random = random_make("ends of ramps");
    pe_rope_formula formula = {.type = &pe_rope_yarn};
    for (int n = 0; n < 4000; n++) {
        const double turns = random_magnitude(&random, 100), far = random_magnitude(&random, 1e7);
        const pe_rope_pair_ramp ramp = {turns * random_magnitude(&random, 100), turns, true};
        double low, high;
        mpfr_t from, to;
        formula.dim = 2 * (double)random_int(&random, 1, 4096);
        formula.theta = 1 + random_magnitude(&random, 1e9) / (n % 2 == 0 ? 1e9 : 1);
        formula.key[PE_ROPE_ORIGINAL] = floor(far);
        if (n % 4 == 3) /* the slow end is next to an integer */
            formula.theta = pow(formula.key[PE_ROPE_ORIGINAL] / (6.283185307179586 * turns),
                                formula.dim / 2 / (double)random_int(&random, 1, 64));
        if (!(formula.theta > 1 && isfinite(formula.theta)))
            continue;
        mpfr_inits2(256, from, to, (mpfr_ptr)0);
        pe_rope_pair_ramp_ends(&formula, &ramp, from, to);
        pe_rope_pair_ramp_round(&formula, &ramp, &low, &high);
        if (mpfr_cmp_d(from, low) != 0 || mpfr_cmp_d(to, high) != 0)
            fail_msg("theta %.17g, dim %g, original %g, turns %.17g and %.17g: got %g and %g",
                     formula.theta, formula.dim, formula.key[PE_ROPE_ORIGINAL], ramp.fast, turns,
                     low, high);
        mpfr_clears(from, to, (mpfr_ptr)0);
    }
}

static void equal_ends_of_a_blend_are_legal(void **state)
{
    static const char *const queries[] = {
        "head_dim=8&rope_type=yarn&factor=2&max_position_embeddings=64&beta_fast=1&beta_slow=1",
        "head_dim=8&rope_type=yarn&factor=2&max_position_embeddings=64&beta_fast=1&beta_slow=1&"
        "truncate=false",
        "head_dim=8&rope_type=llama3&factor=2&original_max_position_embeddings=64&"
        "low_freq_factor=4&high_freq_factor=4",
        "head_dim=8&rope_type=ntk_by_parts&factor=2&max_position_embeddings=64&beta_fast=1",
    };
    for (size_t q = 0; q < PE_LEN(queries); q++) {
        encoded e = encode(&pe_rope_frequencies, "%s", queries[q]);
        double *inv = encoded_all(&e, 0), *stretch = encoded_all(&e, 2);
        for (size_t i = 0; i < 4; i++)
            if (!(inv[i] > 0) || (stretch[i] != 1 && stretch[i] != 2))
                fail_msg("%s: pair %zu has %.9g, stretched by %.9g: neither kept nor halved",
                         queries[q], i, inv[i], stretch[i]);
        free(inv);
        free(stretch);
        encoded_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ends_of_a_blend_are_legal),
        cmocka_unit_test(longrope_shows_both_sets_and_which_holds),
        cmocka_unit_test(warnings_come_where_they_apply),
        cmocka_unit_test(ends_of_ramps_are_those_of_many_bits),
        cmocka_unit_test(float16_is_refused_from_halfway_past_its_largest),
        cmocka_unit_test(float16_turns_are_refused_from_there_on),
        cmocka_unit_test(float32_attention_factors_are_upstreams_steps),
        cmocka_unit_test(float32_bases_of_dynamic_are_upstreams_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
