/* SPDX-License-Identifier: MIT */
/* proof_exact.c - tables of sines and cosines against MPFR, a great many of them.
 *
 * Random frequency sets of every rope type, with amplitudes, of sinusoidal tables (layouts, odd
 * widths, freq_shift, scale), and sets made to have values near midpoints; bases from 1 to 10^12,
 * positions of every size below 2^53, ranges and fractions, as many rows and pairs as fill the
 * kernels' groups and tiles; each set by one of the variants this CPU can run. What is wanted comes
 * from the type's formula in MPFR alone (truth.h): nothing of fixed-point turns, kernels or 128-bit
 * integers is in it.
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
#include "encodings/rope/rope.h"
#include "encodings/sinusoidal/sinusoidal.h"
#include "exact/wave_set.h"
#include "proof/proof.h"
#include "support/encode.h"
#include "support/halfway.h"
#include "support/random.h"
#include "support/truth.h"

/* Anchors of a full group serve 64 rows; a tile has 256 pairs, and sets of more than 512 have
 * shorter groups. */
#define ROWS_MAX       80
#define PAIRS_MAX      96
#define PAIRS_MAX_WIDE 700
#define SKIP_MAX       100000

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

/* One kind of set's share of the proof. */
typedef struct tally {
    const char *name;
    uint64_t sets, refused, compared, misrounded;
    pe_wave_paths paths;
} tally;

static random_source source;
static uint64_t compared[PE_DTYPES], misrounded[PE_DTYPES];
static uint64_t by_variant[8]; /* compared; in the order of pe_kernels_all */

/* ---- sets ----------------------------------------------------------------------------------- */

static bool chance(int64_t one_in)
{
    return random_int(&source, 1, one_in) == 1;
}

static size_t random_pairs(size_t least)
{
    return (size_t)(chance(10) ? random_int(&source, 257, PAIRS_MAX_WIDE)
                               : random_int(&source, (int64_t)least, PAIRS_MAX));
}

static void append_key(pe_rope_key key, size_t pairs, pe_buffer *body)
{
    const bool list = key == PE_ROPE_SHORT_FACTOR || key == PE_ROPE_LONG_FACTOR;
    if (keys[key].name == NULL)
        return;
    pe_buffer_format(body, ",\"%s\":%s", keys[key].name, list ? "[" : "");
    for (size_t i = 0; i < (list ? pairs : 1); i++) {
        const double value = random_real(&source, keys[key].low, keys[key].high);
        pe_buffer_format(body, "%s%.*g", i > 0 ? "," : "", keys[key].whole ? 6 : 17,
                         keys[key].whole ? floor(value) : value);
    }
    pe_buffer_str(body, list ? "]" : "");
}

static double random_base(void)
{
    static const double usual[] = {1, 100, 10000, 500000, 1e6, 1e12};
    return random_int(&source, 0, 2) ? random_magnitude(&source, 1e12)
                                     : usual[random_int(&source, 0, PE_LEN(usual) - 1)];
}

/* A rope of that type: what it needs, and by chance what it reads besides. */
static encoded random_rope(const pe_rope_type *type)
{
    const size_t pairs = random_pairs(2);
    pe_buffer body = {0};
    pe_buffer_format(&body, "\"head_dim\":%zu,\"rope_theta\":%.17g,\"rope_type\":\"%s\"", 2 * pairs,
                     random_base(), type->name);
    for (pe_rope_key key = 0; key < PE_ROPE_KEYS; key++)
        if ((type->needs & PE_ROPE_BIT(key)) != 0 ||
            ((type->reads & PE_ROPE_BIT(key)) != 0 && random_int(&source, 0, 1)))
            append_key(key, pairs, &body);
    const encoded e = encode_json(&pe_rope_table, "{%s}", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Rows of a set, where their sines and cosines are, and what they should be. */
typedef struct subject {
    tally *sums;
    const pe_wave *waves[2];     /* those the rows are made of; NULL: one does it all */
    const pe_sinusoid *sinusoid; /* NULL: rows of waves[0] as the layout says */
    pe_wave_layout sines, cosines;
    size_t n_sines, n_cosines;
    truth_formula formula;
} subject;

typedef struct trial {
    const subject *of;
    pe_positions positions;
    size_t first, rows; /* of those positions, as a stream asks for them */
    size_t variant;
    char *table[PE_DTYPES];
} trial;

static void compare(const trial *t, pe_dtype dtype, size_t r, size_t i, bool cosine, double want)
{
    const pe_wave_layout *layout = cosine ? &t->of->cosines : &t->of->sines;
    const ptrdiff_t at = cosine ? layout->cos_at : layout->sin_at;
    const size_t n = cosine ? t->of->n_cosines : t->of->n_sines;
    if (at < 0 || i >= n)
        return;
    const size_t k = r * layout->row + i * (size_t)layout->stride + (size_t)at;
    const double got = pe_dtype_load(dtype, t->table[dtype] + k * pe_dtype_bytes(dtype));
    compared[dtype]++;
    by_variant[t->variant]++;
    t->of->sums->compared++;
    if (memcmp(&got, &want, sizeof got) == 0)
        return;
    t->of->sums->misrounded++;
    if (misrounded[dtype]++ < 10)
        printf("MISROUNDED %s %s %s by %s: position %.17g (row %zu of %zu), pair %zu of %zu: got "
               "%a, wanted %a\n",
               t->of->sums->name, pe_dtype_name(dtype), cosine ? "cos" : "sin",
               pe_kernels_get()->name, pe_positions_at(&t->positions, t->first + r), r, t->rows, i,
               n, got, want);
}

static void check_pair(const trial *t, size_t i)
{
    truth_pair pair;
    truth_pair_init(&pair, &t->of->formula, i);
    for (size_t r = 0; r < t->rows; r++) {
        double want[2][PE_DTYPES];
        truth_at(&pair, pe_positions_at(&t->positions, t->first + r), want);
        for (size_t d = 0; d < PE_LEN(dtypes); d++)
            for (int k = 0; k < 2; k++)
                compare(t, dtypes[d], r, i, k == 1, want[k][dtypes[d]]);
    }
    truth_pair_clear(&pair);
}

static char *make_rows(const trial *t, pe_dtype dtype)
{
    const subject *of = t->of;
    const size_t rows = t->rows;
    char *out = malloc(rows * of->sines.row * pe_dtype_bytes(dtype));
    pe_problem why;
    assert_non_null(out);
    pe_sinusoid sinusoid = {0};
    if (of->sinusoid != NULL)
        sinusoid = *of->sinusoid;
    sinusoid.dtype = dtype;
    const pe_region region = {.first = t->first, .units = rows, .columns = sinusoid.width};
    const pe_wave_table table = {of->waves[0], &t->positions, &of->sines, dtype};
    const pe_status status = of->sinusoid != NULL
                                 ? pe_sinusoid_fill(&sinusoid, &t->positions, &region, out, &why)
                                 : pe_wave_table_rows(&table, t->first, rows, out, &why);
    if (status != PE_OK)
        fail_msg("%s", why.detail);
    return out;
}

/* The last rows of those positions in every dtype; four pairs of them, the first and the last among
 * them. */
static void check_rows(const subject *of, size_t variant, const pe_positions *positions,
                       size_t rows)
{
    const size_t n = of->n_sines;
    trial t = {.of = of,
               .positions = *positions,
               .first = positions->count - rows,
               .rows = rows,
               .variant = variant};
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        t.table[dtypes[d]] = make_rows(&t, dtypes[d]);
    for (size_t k = 0; k < 4; k++)
        check_pair(&t, k == 0   ? 0
                       : k == 1 ? n - 1
                                : (size_t)random_int(&source, 0, (int64_t)n - 1));
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        free(t.table[dtypes[d]]);
}

/* ---- positions ------------------------------------------------------------------------------ */

/* A whole one of any size; a fifth of them has all 53 bits. */
static double random_whole(void)
{
    return chance(5) ? (double)random_int(&source, 1LL << 52, (1LL << 53) - SKIP_MAX * (1LL << 17))
                     : trunc(random_magnitude(&source, 0x1.fp52));
}

static size_t random_rows(size_t rows_most)
{
    const int64_t most = (int64_t)rows_most;
    return (size_t)random_int(&source, chance(2) ? 1 : most - most / 4, most);
}

/* Ranges anywhere, most of them by one, of which the last rows are wanted; lists of every size,
 * most of them whole, half of them within reach of digits. */
static pe_positions random_positions(size_t rows, double *list)
{
    static const int64_t steps[] = {1, 1, 1, -1, 3, -1000, 65537};
    if (!chance(3)) {
        const int64_t first = (int64_t)random_whole() * (chance(4) ? -1 : 1);
        const size_t before = (size_t)random_int(&source, 0, chance(2) ? 0 : SKIP_MAX);
        return pe_positions_range(first, steps[random_int(&source, 0, PE_LEN(steps) - 1)],
                                  before + rows);
    }
    const bool near = chance(2);
    const double most = near ? 0x1p18 : 0x1.fp52;
    for (size_t r = 0; r < rows; r++)
        list[r] = chance(3)   ? random_magnitude(&source, most)
                  : chance(4) ? -0x1p-20 * random_magnitude(&source, 0x1.fp52)
                  : near      ? (double)random_int(&source, 0, 0x3ffff)
                              : random_whole();
    return (pe_positions){.count = rows, .list = list, .fractional = true, .shape = {1, {rows}}};
}

/* ---- kinds of sets -------------------------------------------------------------------------- */

static size_t choose_variant(void)
{
    const pe_kernels *const *all = pe_kernels_all();
    pe_problem why;
    size_t n = 0;
    while (all[n] != NULL)
        n++;
    const size_t variant = (size_t)random_int(&source, 0, (int64_t)n - 1);
    if (pe_kernels_select(all[variant]->name, &why) != PE_OK)
        fail_msg("%s", why.detail);
    return variant;
}

static pe_wave_layout random_layout(size_t n)
{
    const ptrdiff_t half = (ptrdiff_t)n;
    const pe_wave_layout layouts[] = {
        {2, 0, 1, 2 * n}, {2, 1, 0, 2 * n}, {1, 0, half, 2 * n}, {1, half, 0, 2 * n},
        {1, 0, -1, n},    {1, -1, 0, n},    {3, 2, 0, 3 * n},
    };
    return layouts[random_int(&source, 0, PE_LEN(layouts) - 1)];
}

static void add_paths(pe_wave_paths *sum, pe_wave_paths paths)
{
    sum->exact += paths.exact;
    sum->kernel += paths.kernel;
    sum->direct += paths.direct;
    sum->fixed128 += paths.fixed128;
    sum->mpfr += paths.mpfr;
}

/* Sets without fixed point go through MPFR, every element of them, so that few are enough. */
static void check_subject(const subject *of, size_t variant)
{
    double list[ROWS_MAX];
    const bool unfit = of->waves[0]->unfit;
    for (int round = 0; round < (unfit ? 1 : 4); round++) {
        const size_t rows = random_rows(unfit ? 2 : ROWS_MAX);
        const pe_positions positions = random_positions(rows, list);
        check_rows(of, variant, &positions, rows);
    }
}

static void count_set(const subject *of)
{
    of->sums->sets++;
    for (size_t k = 0; k < PE_LEN(of->waves) && of->waves[k] != NULL; k++)
        add_paths(&of->sums->paths, pe_wave_paths_read(of->waves[k]));
}

/* Rows of one set, which has as many cosines as sines. */
static subject subject_of(tally *sums, const pe_wave *wave)
{
    const size_t n = pe_wave_count(wave);
    const pe_wave_layout layout = random_layout(n);
    return (subject){.sums = sums,
                     .waves = {wave},
                     .sines = layout,
                     .cosines = layout,
                     .n_sines = n,
                     .n_cosines = n};
}

static void theta_of_wave(const void *wave, size_t i, mpfr_ptr out)
{
    pe_wave_theta(wave, i, out);
}

static void check_rope(tally *sums, const pe_rope_type *type)
{
    encoded e = random_rope(type);
    pe_rope rope = {0};
    pe_shared_wave shared = {0};
    pe_problem why;
    if (e.status != PE_OK || pe_rope_read(&e.ask.values, e.tables, &rope, &why) != PE_OK) {
        sums->refused++; /* parameters that do not go together */
    } else {
        const size_t variant = choose_variant();
        if (pe_rope_wave(&rope, PE_ROPE_ATTENDED, &shared, &why) != PE_OK)
            fail_msg("%s: %s", type->name, why.detail);
        subject of = subject_of(sums, shared.wave);
        of.formula = (truth_formula){theta_of_wave, type->amplitude, shared.wave, rope.formula, 1};
        check_subject(&of, variant);
        count_set(&of);
        pe_tables_unref(&shared);
        pe_rope_free(&rope);
    }
    encoded_free(&e);
}

/* (base[0]/base[1])^(-i/(half - freq_shift)) / divisor[0] / divisor[1] */
static void theta_of_sinusoid(const void *context, size_t i, mpfr_ptr out)
{
    const pe_sinusoid_spec *spec = context;
    const double half = spec->freq_shift == 0 ? (double)spec->width / 2 : (double)(spec->width / 2);
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(out) + 256);
    mpfr_set_ui(x, 0, MPFR_RNDN);
    if (i > 0) {
        mpfr_set_d(x, spec->freq_shift, MPFR_RNDN);
        mpfr_sub_d(x, x, half, MPFR_RNDN);
        mpfr_ui_div(x, i, x, MPFR_RNDN);
    }
    mpfr_t base;
    mpfr_init2(base, mpfr_get_prec(x));
    mpfr_set_d(base, spec->base[0], MPFR_RNDN);
    mpfr_div_d(base, base, spec->base[1], MPFR_RNDN);
    mpfr_pow(x, base, x, MPFR_RNDN);
    mpfr_div_d(x, x, spec->divisor[0], MPFR_RNDN);
    mpfr_div_d(out, x, spec->divisor[1], MPFR_RNDN);
    mpfr_clears(x, base, (mpfr_ptr)NULL);
}

/* Half of them as the paper has them; else a shift up to nearly all of the frequencies, a scale,
 * and what only some resources have: a quotient of bases and divisors. */
static pe_sinusoid_spec random_sinusoid(void)
{
    const size_t width = 2 * random_pairs(1) - (size_t)random_int(&source, 0, 1);
    const double half = (double)(width / 2);
    pe_sinusoid_spec spec = {.width = width,
                             .layout = (size_t)random_int(&source, 0, 2),
                             .base = {random_base(), 1},
                             .scale = 1,
                             .amplitude = 1,
                             .divisor = {1, 1}};
    if (chance(2))
        spec.freq_shift = chance(3) ? 1 : half * random_real(&source, 0, chance(8) ? 1 : 0.8);
    if (chance(2))
        spec.scale = random_magnitude(&source, 1e9) * (chance(2) ? 1 : 1e-9);
    if (spec.freq_shift == 1 && chance(2))
        spec.base[1] = random_magnitude(&source, spec.base[0]);
    for (int k = 0; k < 2 && chance(4); k++)
        spec.divisor[k] = random_magnitude(&source, 1000);
    return spec;
}

static void check_sinusoid(tally *sums, const pe_sinusoid_spec *spec, const pe_sinusoid *sinusoid,
                           size_t variant)
{
    const bool two = sinusoid->waves[1].set.entry != NULL;
    const subject of = {
        .sums = sums,
        .waves = {sinusoid->waves[0].set.wave, two ? sinusoid->waves[1].set.wave : NULL},
        .sinusoid = sinusoid,
        .sines = sinusoid->waves[0].layout,
        .cosines = sinusoid->waves[two].layout,
        .n_sines = pe_wave_count(sinusoid->waves[0].set.wave),
        .n_cosines = spec->width / 2,
        .formula = {theta_of_sinusoid, NULL, spec, NULL, spec->scale},
    };
    check_subject(&of, variant);
    count_set(&of);
}

static void check_sinusoidal(tally *sums)
{
    const pe_sinusoid_spec spec = random_sinusoid();
    const size_t variant = choose_variant();
    pe_tables *tables = NULL;
    pe_sinusoid sinusoid;
    pe_problem why;
    if (pe_tables_make(1 << 24, &tables, &why) != PE_OK)
        fail_msg("%s", why.detail);
    if (pe_sinusoid_make(&spec, tables, &sinusoid, &why) != PE_OK) {
        sums->refused++; /* freq_shift leaves nothing to divide by */
    } else {
        if (sinusoid.waves[0].set.entry != NULL) /* of width 1 nothing but a zero may be left */
            check_sinusoid(sums, &spec, &sinusoid, variant);
        pe_sinusoid_free(&sinusoid);
    }
    pe_tables_free(tables);
}

static void theta_is_one(const void *unused, size_t i, mpfr_ptr out)
{
    mpfr_set_ui(out, 1, MPFR_RNDN);
}

/* One row has cosines so near a midpoint of one dtype that 128 bits, or MPFR, have to tell. */
static void check_halfway(tally *sums)
{
    const pe_dtype dtype = dtypes[random_int(&source, 0, PE_LEN(dtypes) - 1)];
    const int far =
        (int)(chance(2) ? random_int(&source, 60, 110) : random_int(&source, 110, 1800));
    const halfway h = halfway_random(&source, dtype, far);
    const pe_wave_spec spec = halfway_spec(&h, (size_t)random_int(&source, 1, 20));
    const size_t variant = choose_variant(), rows = (size_t)random_int(&source, 1, ROWS_MAX);
    const int64_t before = random_int(&source, 0, (int64_t)rows - 1);
    const pe_positions positions = pe_positions_range((int64_t)h.position - before, 1, rows);
    pe_wave *wave = NULL;
    pe_problem why;
    if (pe_wave_make(&spec, &wave, &why) != PE_OK)
        fail_msg("%s", why.detail);
    subject of = subject_of(sums, wave);
    of.formula = (truth_formula){theta_is_one, halfway_amplitude, NULL, &h, h.scale};
    check_rows(&of, variant, &positions, rows);
    count_set(&of);
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

static void print_tally(const tally *t)
{
    printf("%-14s %9llu %8llu %12llu %10llu %11llu %9llu %9llu %7llu\n", t->name,
           (unsigned long long)t->sets, (unsigned long long)t->refused,
           (unsigned long long)t->compared, (unsigned long long)t->misrounded,
           (unsigned long long)t->paths.kernel, (unsigned long long)t->paths.direct,
           (unsigned long long)t->paths.fixed128, (unsigned long long)t->paths.mpfr);
}

static bool print_report(const tally *tallies, size_t n)
{
    uint64_t wrong = 0;
    printf("\n%-14s %9s %8s %12s %10s %11s %9s %9s %7s\n", "set", "sets", "refused", "compared",
           "misrounded", "by kernels", "direct", "128 bits", "MPFR");
    for (size_t k = 0; k < n; k++)
        print_tally(&tallies[k]);
    printf("\n");
    for (size_t d = 0; d < PE_LEN(dtypes); d++) {
        printf("%-9s %12llu values compared, %llu misrounded\n", pe_dtype_name(dtypes[d]),
               (unsigned long long)compared[dtypes[d]], (unsigned long long)misrounded[dtypes[d]]);
        wrong += misrounded[dtypes[d]];
    }
    for (size_t k = 0; pe_kernels_all()[k] != NULL; k++)
        printf("%-9s %12llu values compared\n", pe_kernels_all()[k]->name,
               (unsigned long long)by_variant[k]);
    printf("%llu needed more than %d bits of truth; %.0f s\n", (unsigned long long)truth_hard,
           TRUTH_BITS, proof_seconds());
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
    for (; types < PE_LEN(tallies) - 2 && pe_rope_types[types] != NULL; types++)
        tallies[types].name = pe_rope_types[types]->name;
    tallies[types].name = "sinusoidal";
    tallies[types + 1].name = "near midpoints";
    while ((double)compared[PE_FLOAT32] < samples && proof_seconds() < limit) {
        if (turn < types)
            check_rope(&tallies[turn], pe_rope_types[turn]);
        else if (turn % 2 == types % 2)
            check_sinusoidal(&tallies[types]);
        else
            check_halfway(&tallies[types + 1]);
        turn = turn == types + 7 ? 0 : turn + 1; /* of these four each */
        if (proof_tick())
            print_progress(samples);
    }
    return print_report(tallies, types + 2) ? 0 : 1;
}
