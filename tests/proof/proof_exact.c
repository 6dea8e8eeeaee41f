/* SPDX-License-Identifier: MIT */
/* proof_exact.c - tables of sines and cosines against MPFR, a great many of them.
 *
 * Random frequency sets of every rope type, with amplitudes, and of sinusoidal tables; bases from
 * 1 to 10^12, positions of every size below 2^53, ranges and fractions. What is wanted is computed
 * from the type's formula in MPFR alone: base, scale and amplitude at 400 bits, one sine and
 * cosine, one rounding to each dtype. Nothing of fixed-point turns, kernels or 128-bit integers is
 * in it.
 *
 * SAMPLES=n values of each dtype (1e7), SECONDS=n at most, SHARD=i/n takes a part of the samples
 * with a seed of its own; POSENC_TEST_SEED repeats a run. Exit status 1 when any value differs.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope.h"
#include "exact/set.h"
#include "proof/proof.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

#define ANGLE_BITS 400 /* below 2^53 turns, sines keep more than 300 of them after the point */
#define VALUE_BITS 192
#define SURE_BITS  160 /* what a value is right to, however the sine cancels */
#define HARD_BITS  2200
#define ROWS       24
#define PAIRS_MAX  96

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

/* The numbers that rope types read. */
static const struct {
    const char *name;
    double low, high;
    bool whole;
} keys[PE_ROPE_KEYS] = {
    [PE_ROPE_FACTOR] = {"factor", 1, 40, false},
    [PE_ROPE_MAX_POSITIONS] = {"max_position_embeddings", 64, 200000, true},
    [PE_ROPE_SEQ_LEN] = {"seq_len", 64, 400000, true},
    [PE_ROPE_ORIGINAL] = {"original_max_position_embeddings", 64, 20000, true},
    [PE_ROPE_ATTENTION_FACTOR] = {"attention_factor", 0.25, 4, false},
    [PE_ROPE_BETA_FAST] = {"beta_fast", 16, 64, false},
    [PE_ROPE_BETA_SLOW] = {"beta_slow", 0.5, 4, false},
    [PE_ROPE_MSCALE] = {"mscale", 0.1, 2, false},
    [PE_ROPE_MSCALE_ALL_DIM] = {"mscale_all_dim", 0.1, 2, false},
    [PE_ROPE_LOW_FREQ_FACTOR] = {"low_freq_factor", 0.5, 2, false},
    [PE_ROPE_HIGH_FREQ_FACTOR] = {"high_freq_factor", 3, 8, false},
    [PE_ROPE_SHORT_FACTOR] = {"short_factor", 1, 3, false},
    [PE_ROPE_LONG_FACTOR] = {"long_factor", 1, 60, false},
    [PE_ROPE_ALPHA] = {"alpha", 1, 40, false},
    [PE_ROPE_MIXED_B] = {"mixed_b", 0.3, 0.9, false},
    [PE_ROPE_EXTRAPOLATION_FACTOR] = {"extrapolation_factor", 0.5, 1.5, false},
    [PE_ROPE_NTK_FACTOR] = {"ntk_factor", 0.5, 1.5, false},
    [PE_ROPE_ATTN_FACTOR] = {"attn_factor", 0.5, 2, false},
};

/* One type's share of the proof; the last is that of sinusoidal tables. */
typedef struct tally {
    const char *name;
    uint64_t sets, refused, compared, misrounded;
    pe_wave_paths paths;
} tally;

static random_source source;
static uint64_t compared[PE_DTYPES], misrounded[PE_DTYPES], hard;

/* ---- sets ----------------------------------------------------------------------------------- */

/* Evenly by logarithm. */
static double magnitude(double most)
{
    return pow(most, random_real(&source, 0, 1));
}

static void append_key(pe_rope_key key, size_t pairs, pe_buffer *query)
{
    const bool list = key == PE_ROPE_SHORT_FACTOR || key == PE_ROPE_LONG_FACTOR;
    if (keys[key].name == NULL)
        return;
    pe_buffer_format(query, "&%s=", keys[key].name);
    for (size_t i = 0; i < (list ? pairs : 1); i++) {
        const double value = random_real(&source, keys[key].low, keys[key].high);
        pe_buffer_format(query, "%s%.*g", i > 0 ? "," : "", keys[key].whole ? 6 : 17,
                         keys[key].whole ? floor(value) : value);
    }
}

static double random_base(void)
{
    static const double usual[] = {1, 100, 10000, 500000, 1e6, 1e12};
    return random_int(&source, 0, 2) ? magnitude(1e12)
                                     : usual[random_int(&source, 0, PE_LEN(usual) - 1)];
}

/* A rope of that type: what it needs, and by chance what it reads besides. */
static encoded random_rope(const pe_rope_type *type)
{
    const size_t pairs = (size_t)random_int(&source, 2, PAIRS_MAX);
    pe_buffer query = {0};
    pe_buffer_format(&query, "head_dim=%zu&rope_theta=%.17g&positions=0&rope_type=%s", 2 * pairs,
                     random_base(), type->name);
    for (pe_rope_key key = 0; key < PE_ROPE_KEYS; key++)
        if ((type->needs & PE_ROPE_BIT(key)) != 0 ||
            ((type->reads & PE_ROPE_BIT(key)) != 0 && random_int(&source, 0, 1)))
            append_key(key, pairs, &query);
    const encoded e = encode(&pe_rope_table, "%s", pe_buffer_text(&query));
    pe_buffer_free(&query);
    return e;
}

static void sinusoidal_base(const void *base, mpfr_ptr out)
{
    mpfr_set_d(out, *(const double *)base, MPFR_RNDN);
}

/* ---- what is wanted ------------------------------------------------------------------------- */

/* The amplitude of a type, or 1. */
typedef struct amplitude {
    void (*of)(const void *formula, mpfr_ptr out);
    const void *formula;
} amplitude;

/* What the elements of a pair share: frequency and amplitude. */
typedef struct pair {
    size_t i;
    mpfr_t theta, factor;
    bool amplified;
} pair;

static void pair_init(pair *p, const pe_wave *wave, const amplitude *a, size_t i, mpfr_prec_t bits)
{
    p->i = i;
    p->amplified = false;
    mpfr_inits2(bits + ANGLE_BITS - VALUE_BITS, p->theta, p->factor, (mpfr_ptr)NULL);
    pe_wave_theta(wave, i, p->theta);
    if (a->of != NULL) {
        p->amplified = true;
        a->of(a->formula, p->factor);
    }
}

static void pair_clear(pair *p)
{
    mpfr_clears(p->theta, p->factor, (mpfr_ptr)NULL);
}

/* Sine and cosine, at their own precision. */
static void truth(const pair *p, double position, mpfr_ptr sine, mpfr_ptr cosine)
{
    mpfr_t angle;
    mpfr_init2(angle, mpfr_get_prec(p->theta));
    mpfr_mul_d(angle, p->theta, position, MPFR_RNDN);
    mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
    if (p->amplified) {
        mpfr_mul(sine, sine, p->factor, MPFR_RNDN);
        mpfr_mul(cosine, cosine, p->factor, MPFR_RNDN);
    }
    mpfr_clear(angle);
}

/* Rounded to dtype, if everything as near as 2^-SURE_BITS rounds to the same. */
static bool round_surely(pe_dtype dtype, mpfr_srcptr x, double *out)
{
    mpfr_t bound;
    mpfr_init2(bound, VALUE_BITS);
    mpfr_mul_2si(bound, x, -SURE_BITS, MPFR_RNDN);
    mpfr_sub(bound, x, bound, MPFR_RNDN);
    const double low = slow_round(dtype, bound);
    *out = slow_round(dtype, x);
    mpfr_mul_2si(bound, x, -SURE_BITS, MPFR_RNDN);
    mpfr_add(bound, x, bound, MPFR_RNDN);
    const double high = slow_round(dtype, bound);
    mpfr_clear(bound);
    return low == high;
}

/* ---- comparing ------------------------------------------------------------------------------ */

typedef struct trial {
    tally *sums;
    const pe_wave *wave;
    amplitude amplitude;
    pe_positions positions;
    char *table[PE_DTYPES]; /* sines, then cosines, of each row */
} trial;

static void compare(trial *t, pe_dtype dtype, size_t r, size_t i, bool cosine, double want)
{
    const size_t n = pe_wave_count(t->wave), k = 2 * n * r + (cosine ? n : 0) + i;
    const double got = pe_dtype_load(dtype, t->table[dtype] + k * pe_dtype_bytes(dtype));
    compared[dtype]++;
    t->sums->compared++;
    if (memcmp(&got, &want, sizeof got) == 0)
        return;
    t->sums->misrounded++;
    if (misrounded[dtype]++ < 10)
        printf("MISROUNDED %s %s %s: position %.17g, pair %zu of %zu: got %a, wanted %a\n",
               t->sums->name, pe_dtype_name(dtype), cosine ? "cos" : "sin",
               pe_positions_at(&t->positions, r), i, n, got, want);
}

static double round_hard(const trial *t, pe_dtype dtype, size_t i, double position, int cosine)
{
    mpfr_t value[2];
    pair p;
    hard++;
    pair_init(&p, t->wave, &t->amplitude, i, HARD_BITS);
    mpfr_inits2(HARD_BITS, value[0], value[1], (mpfr_ptr)NULL);
    truth(&p, position, value[0], value[1]);
    const double want = slow_round(dtype, value[cosine]);
    mpfr_clears(value[0], value[1], (mpfr_ptr)NULL);
    pair_clear(&p);
    return want;
}

static void check_element(trial *t, const pair *p, size_t r)
{
    const double position = pe_positions_at(&t->positions, r);
    mpfr_t value[2];
    mpfr_inits2(VALUE_BITS, value[0], value[1], (mpfr_ptr)NULL);
    truth(p, position, value[0], value[1]);
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        for (int cosine = 0; cosine < 2; cosine++) {
            double want;
            if (!round_surely(dtypes[d], value[cosine], &want))
                want = round_hard(t, dtypes[d], p->i, position, cosine);
            compare(t, dtypes[d], r, p->i, cosine != 0, want);
        }
    mpfr_clears(value[0], value[1], (mpfr_ptr)NULL);
}

static void check_pair(trial *t, size_t i)
{
    pair p;
    pair_init(&p, t->wave, &t->amplitude, i, VALUE_BITS);
    for (size_t r = 0; r < ROWS; r++)
        check_element(t, &p, r);
    pair_clear(&p);
}

/* Ranges anywhere, most of them by one; lists of every size, half of them whole. */
static pe_positions random_positions(double *list)
{
    static const int64_t steps[] = {1, 1, 1, -1, 3, -1000, 65537};
    if (random_int(&source, 0, 2) != 0) {
        const int64_t first = (int64_t)magnitude(0x1.fp52) * (random_int(&source, 0, 3) ? 1 : -1);
        return pe_positions_range(first, steps[random_int(&source, 0, PE_LEN(steps) - 1)], ROWS);
    }
    for (size_t r = 0; r < ROWS; r++) {
        const double x = magnitude(0x1.fp52) * (random_int(&source, 0, 3) ? 1 : -0x1p-20);
        list[r] = random_int(&source, 0, 1) ? x : trunc(x);
    }
    return (pe_positions){.count = ROWS, .list = list, .fractional = true, .shape = {1, {ROWS}}};
}

static void add_paths(pe_wave_paths *sum, pe_wave_paths paths)
{
    sum->exact += paths.exact;
    sum->kernel += paths.kernel;
    sum->wide += paths.wide;
    sum->mpfr += paths.mpfr;
}

static void check_wave(tally *sums, const pe_wave *wave, amplitude a)
{
    const size_t n = pe_wave_count(wave);
    const pe_wave_layout layout = {1, 0, (ptrdiff_t)n, 2 * n};
    double list[ROWS];
    pe_problem why;
    trial t = {.sums = sums, .wave = wave, .amplitude = a};
    for (int round = 0; round < 8; round++) {
        t.positions = random_positions(list);
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            char *table = malloc(ROWS * 2 * n * pe_dtype_bytes(dtypes[d]));
            assert_non_null(table);
            if (pe_wave_table(wave, &t.positions, 0, ROWS, &layout, dtypes[d], table, &why) !=
                PE_OK)
                fail_msg("%s", why.detail);
            t.table[dtypes[d]] = table;
        }
        for (size_t k = 0; k < 4; k++)
            check_pair(&t, k == 0 ? 0 : (size_t)random_int(&source, 0, (int64_t)n - 1));
        for (size_t d = 0; d < PE_LEN(dtypes); d++)
            free(t.table[dtypes[d]]);
    }
    sums->sets++;
    add_paths(&sums->paths, pe_wave_paths_read(wave));
}

static void check_rope(tally *sums, const pe_rope_type *type)
{
    encoded e = random_rope(type);
    pe_rope rope = {0};
    pe_shared_wave shared = {0};
    pe_problem why;
    if (e.status != PE_OK || pe_rope_read(&e.ask.values, &rope, &why) != PE_OK) {
        sums->refused++; /* parameters that do not go together */
    } else {
        if (pe_rope_wave(&rope, e.tables, PE_ROPE_ATTENDED, &shared, &why) != PE_OK)
            fail_msg("%s: %s", type->name, why.detail);
        check_wave(sums, shared.wave, (amplitude){type->amplitude, rope.formula});
        pe_shared_wave_unref(&shared);
        pe_rope_free(&rope);
    }
    encoded_free(&e);
}

static void check_sinusoidal(tally *sums)
{
    const double base = random_base(), d = (double)random_int(&source, 2, 2 * PAIRS_MAX);
    const pe_wave_spec spec = {.n = (size_t)ceil(d / 2),
                               .num = 2,
                               .den = d,
                               .position_scale = 1,
                               .base = sinusoidal_base,
                               .formula = &base,
                               .formula_bytes = sizeof base};
    pe_wave *wave = NULL;
    pe_problem why;
    if (pe_wave_make(&spec, &wave, &why) != PE_OK)
        fail_msg("%s", why.detail);
    check_wave(sums, wave, (amplitude){NULL, NULL});
    pe_wave_free(wave);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void print_progress(double samples)
{
    uint64_t wrong = 0;
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        wrong += misrounded[dtypes[d]];
    const double done = (double)compared[PE_FLOAT32];
    printf("%5.1f %%  %.3g values of each dtype, %.0f a second, %llu misrounded\n",
           100 * done / samples, done, done / proof_seconds(), (unsigned long long)wrong);
    fflush(stdout);
}

static bool print_report(const tally *tallies, size_t n)
{
    uint64_t wrong = 0;
    printf("\n%-14s %9s %8s %12s %10s %11s %9s %7s\n", "set", "sets", "refused", "compared",
           "misrounded", "by kernels", "128 bits", "MPFR");
    for (size_t k = 0; k < n; k++)
        printf("%-14s %9llu %8llu %12llu %10llu %11llu %9llu %7llu\n", tallies[k].name,
               (unsigned long long)tallies[k].sets, (unsigned long long)tallies[k].refused,
               (unsigned long long)tallies[k].compared, (unsigned long long)tallies[k].misrounded,
               (unsigned long long)tallies[k].paths.kernel,
               (unsigned long long)tallies[k].paths.wide,
               (unsigned long long)tallies[k].paths.mpfr);
    printf("\n");
    for (size_t d = 0; d < PE_LEN(dtypes); d++) {
        printf("%-9s %12llu values compared, %llu misrounded\n", pe_dtype_name(dtypes[d]),
               (unsigned long long)compared[dtypes[d]], (unsigned long long)misrounded[dtypes[d]]);
        wrong += misrounded[dtypes[d]];
    }
    printf("%llu needed more than %d bits of truth; %.0f s, kernels %s\n", (unsigned long long)hard,
           VALUE_BITS, proof_seconds(), pe_kernels_get()->name);
    return wrong == 0;
}

int main(void)
{
    static tally tallies[64];
    uint64_t shard, shards;
    size_t types = 0, turn = 0;
    proof_shard(&shard, &shards);
    const double samples = proof_number("SAMPLES", 1e7) / (double)shards;
    const double limit = proof_number("SECONDS", 1e9);
    (void)proof_seconds();
    source = random_make("proof");
    for (uint64_t k = 0; k < shard; k++)
        source.state = random_bits(&source);
    for (; types < PE_LEN(tallies) - 1 && pe_rope_types[types] != NULL; types++)
        tallies[types].name = pe_rope_types[types]->name;
    tallies[types].name = "sinusoidal";
    while ((double)compared[PE_FLOAT32] < samples && proof_seconds() < limit) {
        if (turn < types)
            check_rope(&tallies[turn], pe_rope_types[turn]);
        else
            check_sinusoidal(&tallies[turn]);
        turn = turn == types ? 0 : turn + 1;
        if (proof_tick())
            print_progress(samples);
    }
    return print_report(tallies, types + 1) ? 0 : 1;
}
