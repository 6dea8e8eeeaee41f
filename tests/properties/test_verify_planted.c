/* SPDX-License-Identifier: MIT */
/*
 * test_verify_planted.c - every known fault, planted by the tests' own slow code with parameters
 * drawn at random, is found; clean numbers are clean; noise is nothing. Each finding is held
 * against the slow code, too: what it says made the numbers must make them.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/claim.h"
#include "encodings/registry.h"
#include "encodings/rope/rope.h"
#include "support/nest.h"
#include "support/planted.h"
#include "support/seeds.h"
#include "support/slow.h"
#include "tables/tables.h"
#include "verify/mistakes/faults.h"
#include "verify/reading/causes.h"

static pe_tables *tables;
static const pe_read_limits read_limits = {
    .max_elements = 1 << 20, .max_positions = 1 << 20, .max_depth = 32};
static const pe_limits limits = {.max_elements = 1 << 20};
static const pe_verify_limits bounds = {.max_elements = 1 << 20, .max_work = (size_t)1 << 32};

static int start(void **state)
{
    pe_problem why;
    return pe_tables_make(1 << 24, &tables, &why) == PE_OK ? 0 : -1;
}

static int stop(void **state)
{
    pe_tables_free(tables);
    return 0;
}

static planted copy_of(const planted *p)
{
    planted copy = *p;
    copy.parameters = json_deep_copy(p->parameters);
    return copy;
}

/* ---- asking ---------------------------------------------------------------------------------- */

typedef struct upload {
    double numbers[PLANTED_MAX];
    pe_shape shape;
    size_t n;
} upload;

static upload numbers_of(const planted *p)
{
    static upload u;
    planted_numbers(p, u.numbers, &u.shape);
    assert_true(pe_array_elements(&u.shape, &u.n));
    return u;
}

static void put_numbers(const double *numbers, const size_t *dims, size_t ndim, pe_buffer *out)
{
    pe_buffer text = {0};
    nest(numbers, dims, ndim, &text);
    const char *at = pe_buffer_text(&text);
    for (const char *inf; (inf = strstr(at, "inf")) != NULL; at = inf + 3) {
        const bool minus = inf > at && inf[-1] == '-';
        pe_buffer_add(out, at, (size_t)(inf - at) - (minus ? 1 : 0));
        pe_buffer_str(out, "null");
    }
    pe_buffer_str(out, at);
    pe_buffer_free(&text);
}

static void put_tensors(const planted *claim, const upload *u, pe_buffer *out)
{
    const size_t *dim = u->shape.dim;
    if (claim->kind == PLANTED_ROPE) {
        pe_buffer_str(out, ",\"table\":{\"cos\":");
        put_numbers(u->numbers, dim + 1, 2, out);
        pe_buffer_str(out, ",\"sin\":");
        put_numbers(u->numbers + dim[1] * dim[2], dim + 1, 2, out);
        pe_buffer_str(out, "}");
    } else if (claim->kind == PLANTED_VECTORS) {
        pe_buffer_str(out, ",\"inputs\":");
        put_numbers(claim->inputs, dim, 2, out);
        pe_buffer_str(out, ",\"rotated\":");
        put_numbers(u->numbers, dim, 2, out);
    } else {
        static const char *const names[] = {
            [PLANTED_SINUSOIDAL] = "table", [PLANTED_BIAS] = "bias", [PLANTED_SLOPES] = "slopes"};
        pe_buffer_format(out, ",\"%s\":", names[claim->kind]);
        put_numbers(u->numbers, dim, u->shape.ndim, out);
    }
}

static void put_body(const planted *claim, const upload *u, bool exact, pe_buffer *out)
{
    static const char *const encodings[] = {[PLANTED_ROPE] = "rope",
                                            [PLANTED_VECTORS] = "rope",
                                            [PLANTED_SINUSOIDAL] = "sinusoidal",
                                            [PLANTED_BIAS] = "alibi",
                                            [PLANTED_SLOPES] = "alibi"};
    char *parameters = json_dumps(claim->parameters, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const size_t dims[] = {claim->tokens};
    pe_buffer_format(out, "{\"encoding\":\"%s\",\"parameters\":%s,\"dtype\":\"%s\"%s",
                     encodings[claim->kind], parameters, pe_dtype_name(claim->dtype),
                     exact ? ",\"numerics\":\"exact\"" : "");
    free(parameters);
    if (claim->kind != PLANTED_BIAS && claim->kind != PLANTED_SLOPES) {
        pe_buffer_str(out, ",\"positions\":");
        nest(claim->positions, dims, 1, out);
    }
    put_tensors(claim, u, out);
    pe_buffer_str(out, "}");
}

static pe_report ask_within(const pe_verify_limits *most, const planted *claim, const upload *u,
                            bool exact)
{
    pe_claim asked;
    pe_report report;
    pe_problem why;
    pe_buffer body = {0};
    const pe_verify_context context = {.tables = tables, .limits = &limits, .bounds = most};
    put_body(claim, u, exact, &body);
    if (pe_claim_json_parse(pe_buffer_slice(&body), "", &read_limits, &asked, &why) != PE_OK)
        fail_msg("%s: %s: %.600s", why.where, why.detail, pe_buffer_text(&body));
    if (pe_verify(&asked, &context, &report, &why) != PE_OK)
        fail_msg("%s: %s: %.600s", why.where, why.detail, pe_buffer_text(&body));
    /* the report borrows names from the claim */
    report.first_bad.tensor = "";
    pe_verify_claim_free(&asked);
    pe_buffer_free(&body);
    return report;
}

static pe_report ask(const planted *claim, const upload *u, bool exact)
{
    return ask_within(&bounds, claim, u, exact);
}

/* ---- the rule, once more --------------------------------------------------------------------- */

static double half_ulp(pe_dtype dtype, double x)
{
    static const int bits[] = {
        [PE_FLOAT32] = 24, [PE_FLOAT64] = 53, [PE_FLOAT16] = 11, [PE_BFLOAT16] = 8};
    static const int least[] = {
        [PE_FLOAT32] = -149, [PE_FLOAT64] = -1074, [PE_FLOAT16] = -24, [PE_BFLOAT16] = -133};
    const int exponent = x == 0 ? least[dtype] : ilogb(x) - bits[dtype] + 1;
    return ldexp(0.5, exponent < least[dtype] ? least[dtype] : exponent);
}

/* Could these numbers be a sound implementation's of `how`? loose: room for frequencies or
 * amplitudes that are told as products of float64 numbers. */
static bool clean(const planted *how, const upload *u, bool allow_exact, bool allow_float32,
                  bool loose)
{
    static double exact[PLANTED_MAX], float32[PLANTED_MAX];
    planted doubles = copy_of(how);
    doubles.dtype = PE_FLOAT64;
    const upload x = numbers_of(&doubles);
    planted_allowance(how, exact, float32);
    json_decref(doubles.parameters);
    const pe_dtype dtype = how->dtype;
    const pe_dtype wider = dtype == PE_FLOAT16 || dtype == PE_BFLOAT16 ? PE_FLOAT32 : PE_FLOAT64;
    if (x.n != u->n)
        return false;
    for (size_t e = 0; e < x.n; e++) {
        const double off = u->numbers[e] == x.numbers[e] ? 0 : fabs(u->numbers[e] - x.numbers[e]);
        const double half = half_ulp(dtype, x.numbers[e]);
        if (!isfinite(off))
            return false;
        allow_exact &= off <= half + half_ulp(wider, x.numbers[e]) + exact[e] +
                                  (loose ? 0x1p-24 * float32[e] : 0);
        allow_float32 &= off <= half + float32[e];
    }
    return allow_exact ||
           (allow_float32 && (how->kind == PLANTED_BIAS || how->kind == PLANTED_SLOPES ||
                              planted_on_circles(how, u->numbers)));
}

/* What a fault's name does beside values. */
static void apply_name(planted *p, const char *name, bool *loose)
{
    static const struct {
        const char *name;
        double times, plus;
    } moves[] = {{"position_plus_one", 1, 1}, {"position_minus_one", 1, -1}, {"inverse", -1, 0},
                 {"undone", -1, 0},           {"rotated_twice", 2, 0},       {"not_rotated", 0, 0}};
    static const struct {
        const char *name;
        pe_dtype to;
    } roundings[] = {{"float32_positions", PE_FLOAT32},
                     {"float16_positions", PE_FLOAT16},
                     {"bfloat16_positions", PE_BFLOAT16}};
    for (size_t m = 0; m < PE_LEN(moves); m++)
        for (size_t t = 0; strcmp(moves[m].name, name) == 0 && t < p->tokens; t++)
            p->positions[t] = p->positions[t] * moves[m].times + moves[m].plus;
    for (size_t r = 0; r < PE_LEN(roundings); r++)
        for (size_t t = 0; strcmp(roundings[r].name, name) == 0 && t < p->tokens; t++) {
            unsigned char element[8];
            pe_dtype_store(roundings[r].to, p->positions[t], element);
            p->positions[t] = pe_dtype_load(roundings[r].to, element);
        }
    p->exchanged ^= strcmp(name, "cos_sin_exchanged") == 0;
    p->negated ^= strcmp(name, "alibi_sign") == 0;
    p->head_exponent |= strcmp(name, "head_in_exponent") == 0;
    *loose |= strcmp(name, "float32_inv_freq") == 0 || strcmp(name, "rotated_twice") == 0 ||
              strcmp(name, "undone") == 0 || strcmp(name, "attention_factor_squared") == 0;
}

/* Does the fault say that positions were measured? */
static bool is_measured(const char *name)
{
    static const char *const names[] = {"positions_", "position_o", "position_s", "position_l",
                                        "position_pad"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (strncmp(names[n], name, strlen(names[n])) == 0)
            return true;
    return false;
}

/* The positions that a finding tells, where its names say nothing of them. */
static void take_positions(planted *p)
{
    const json_t *told = json_object_get(p->parameters, "positions");
    pe_positions range;
    pe_problem why;
    for (size_t t = 0; json_is_array(told) && t < p->tokens; t++)
        p->positions[t] = json_number_value(json_array_get(told, t));
    if (!json_is_string(told))
        return;
    const pe_slice text = {json_string_value(told), json_string_length(told)};
    assert_int_equal(pe_positions_parse(text, "positions", p->tokens, &range, &why), PE_OK);
    for (size_t t = 0; t < p->tokens; t++)
        p->positions[t] = pe_positions_at(&range, t);
    pe_positions_free(&range);
}

/* Of a row of faults that is not one resource's alone, which is none of these, or of a number that is
 * looked for. */
static bool is_row(const char *name)
{
    static const char *const fits[] = {"rope_theta", "base", "factor", "scale", "scaling_added"};
    for (size_t f = 0; f < pe_faults_n; f++)
        if (strcmp(pe_guess_fault_name(&pe_faults[f]), name) == 0 &&
            (pe_faults[f].change != pe_changes_set || pe_faults[f].text == NULL))
            return true;
    for (size_t f = 0; f < PE_LEN(fits); f++)
        if (strcmp(fits[f], name) == 0)
            return true;
    return false;
}

/* Frequencies of a law, numbers that passed through a narrow type and signs, which may be those of
 * some rows alone, are in no parameter. */
static bool is_untold(const char *name)
{
    static const char *const ends[] = {"6_inv_freq",  "2_inv_freq", "_angles",
                                       "_factors",    "_waves",     "_phase",
                                       "_arithmetic", "_elements",  "_negative"};
    const size_t length = strlen(name);
    for (size_t e = 0; e < PE_LEN(ends); e++)
        if (length > strlen(ends[e]) && strcmp(name + length - strlen(ends[e]), ends[e]) == 0)
            return strcmp(name, "float32_inv_freq") != 0;
    return !is_measured(name) && !is_row(name);
}

/* Named causes alone, each of which the slow code knows: such a finding may come before a
 * number. */
static bool is_named(const pe_finding *finding)
{
    for (size_t f = 0; f < finding->n_faults; f++)
        if (is_untold(finding->faults[f]))
            return false;
    return !finding->fitted;
}

/* Laws of frequencies alone, which have no number: factor 27 of ntk and the exponent of half of d
 * with factor 9 make one base of 4 pairs. The slow code knows no laws; all elements were compared. */
static bool is_law(const char *name)
{
    for (size_t r = 0; r < pe_mistakes_of_frequencies.n; r++)
        if (strcmp(pe_guess_fault_name(&pe_mistakes_of_frequencies.row[r].fault), name) == 0)
            return true;
    return false;
}

static bool is_of_laws(const pe_finding *finding)
{
    for (size_t f = 0; f < finding->n_faults; f++)
        if (!is_law(finding->faults[f]))
            return false;
    return !finding->fitted && finding->errors.elements > 0;
}

/* The slow code makes the upload of what a finding says, unless it says that it was only measured:
 * then it is about right. A fitted number, as the root of a base, may be a few ulps of float64 off. */
static bool is_true(const planted *claim, const upload *u, bool exact, const pe_finding *finding)
{
    bool loose = finding->fitted;
    if (finding->fitted && strstr(finding->evidence, "no element was compared") != NULL)
        return true;
    planted told = copy_of(claim);
    json_decref(told.parameters);
    told.parameters = json_loads(finding->parameters, 0, NULL);
    assert_non_null(told.parameters);
    for (size_t f = 0; f < finding->n_faults; f++)
        if (is_untold(finding->faults[f])) {
            json_decref(told.parameters);
            return true;
        }
    for (size_t f = 0; f < finding->n_faults; f++)
        apply_name(&told, finding->faults[f], &loose);
    for (size_t f = 0; f < finding->n_faults; f++)
        if (is_measured(finding->faults[f]))
            take_positions(&told);
    const bool float32 = strcmp(planted_text(&told, "numerics"), "float32") == 0;
    const bool truth = clean(&told, u, !float32, float32 || !exact, loose);
    json_decref(told.parameters);
    return truth;
}

/* ---- planting and finding -------------------------------------------------------------------- */

/** What became of the cases of a fault. */
typedef struct tally {
    size_t drawn, found; /* first, alone */
    size_t tied;         /* first, beside others that these numbers do not tell apart from it */
    size_t missed; /* not a number to be read off 8 or 11 bits: other findings are true, or none */
    size_t hidden; /* the numbers are clean by the rule, or something else made them, too */
} tally;

static const char *draw_type(random_source *random, const char *types, char *out, size_t room)
{
    if (types == NULL)
        return NULL;
    size_t n = 1;
    for (const char *at = types; (at = strchr(at, ' ')) != NULL; at++)
        n++;
    for (int64_t skip = random_int(random, 0, (int64_t)n - 1); skip > 0; skip--)
        types = strchr(types, ' ') + 1;
    snprintf(out, room, "%.*s", (int)strcspn(types, " "), types);
    return out;
}

static planted_kind draw_kind(random_source *random, unsigned kinds)
{
    planted_kind kind;
    do
        kind = (planted_kind)random_int(random, PLANTED_ROPE, PLANTED_SLOPES);
    while ((kinds >> kind & 1) == 0);
    return kind;
}

static bool is_planted(const pe_finding *finding, const seed *const *planted_seeds, size_t n)
{
    if (finding->n_faults != n)
        return false;
    for (size_t s = 0; s < n; s++) {
        bool told = false;
        for (size_t f = 0; f < n; f++)
            told |= strcmp(finding->faults[f], planted_seeds[s]->name) == 0;
        if (!told)
            return false;
    }
    return true;
}

static void fail_case(const random_source *random, const planted *claim, const planted *made,
                      bool exact, const pe_report *report, const char *what)
{
    char *x = json_dumps(claim->parameters, JSON_COMPACT);
    char *y = json_dumps(made->parameters, JSON_COMPACT);
    for (size_t f = 0; f < report->n_findings; f++) {
        const pe_finding *at = &report->findings[f];
        print_message("  %zu %s: %s (%.17g, %.17g)\n", at->rank, at->faults[at->n_faults - 1],
                      at->rule, at->errors.max_abs, at->errors.rms);
    }
    fail_msg("seed %llu: %s: claimed %s, made %s, %s at %zu positions from %.17g to %.17g, "
             "numerics %s",
             (unsigned long long)random->seed, what, x, y, pe_dtype_name(claim->dtype),
             claim->tokens, claim->positions[0], claim->positions[claim->tokens - 1],
             exact ? "exact" : "any");
}

/* One case: the faults in one claim. */
static void plant(random_source *random, const seed *const *which, size_t n, tally *out)
{
    char type[32];
    unsigned kinds = ~0U;
    const char *types = NULL;
    bool fitted = false, exact = random_int(random, 0, 2) == 0;
    for (size_t s = 0; s < n; s++) {
        kinds &= which[s]->kinds;
        types = which[s]->types != NULL ? which[s]->types : types;
        exact |= which[s]->exact;
        fitted |= which[s]->fitted;
    }
    planted claim =
        draw_claim(random, draw_kind(random, kinds), draw_type(random, types, type, sizeof type));
    for (size_t s = 0; s < n; s++)
        if (which[s]->prepare != NULL)
            which[s]->prepare(random, &claim);
    if (claim.kind == PLANTED_VECTORS)
        draw_vectors(random, &claim);
    planted made = copy_of(&claim);
    for (size_t s = 0; s < n; s++)
        which[s]->plant(random, &made);
    const upload u = numbers_of(&made);
    pe_report report = ask(&claim, &u, exact);
    out->drawn++;

    const bool is_clean = clean(&claim, &u, true, !exact, false);
    size_t first = 0;
    bool told = false, named = false;
    for (size_t f = 0; f < report.n_findings; f++) {
        first += report.findings[f].rank == 1;
        named |= report.findings[f].rank == 1 &&
                 (is_named(&report.findings[f]) || is_of_laws(&report.findings[f]));
        told |=
            (report.findings[f].rank == 1 || fitted) && is_planted(&report.findings[f], which, n);
        if (!is_true(&claim, &u, exact, &report.findings[f]))
            fail_case(random, &claim, &made, exact, &report, "a finding is not true");
    }
    if (report.matches != is_clean)
        fail_case(random, &claim, &made, exact, &report,
                  is_clean ? "clean by the rule, but no match" : "a match, but not by the rule");
    /* By chance, other faults may be as true as two of them, or named ones as one number. */
    if (is_clean || (!told && (n > 1 ? first > 0 : fitted && named)))
        out->hidden++;
    else if (!told && fitted && (claim.dtype == PE_FLOAT16 || claim.dtype == PE_BFLOAT16))
        out->missed++;
    else if (!told)
        fail_case(random, &claim, &made, exact, &report, "not found");
    else
        *(first == 1 && is_planted(&report.findings[0], which, n) ? &out->found : &out->tied) += 1;
    pe_verify_report_free(&report);
    json_decref(claim.parameters);
    json_decref(made.parameters);
}

static void print_tally(const char *name, const tally *t)
{
    print_message("  %-50s %5zu %6zu %5zu %7zu %7zu\n", name, t->drawn, t->found, t->tied,
                  t->hidden, t->missed);
}

static void each_single_fault_is_found_first(void **state)
{
    enum { CASES = 4, MOST = 100 };
    random_source random = random_make("single faults");
    print_message("  %-50s drawn  found  tied  hidden  missed\n", "planted");
    for (size_t s = 0; s < seeds_n; s++) {
        const seed *which[] = {&seeds[s]};
        tally t = {0};
        for (size_t c = 0; c < CASES; c++)
            plant(&random, which, 1, &t);
        print_tally(seeds[s].name, &t);
        /* Chance may hide cases, so that one is told is asserted of draws that are the same
         * ever. */
        random_source fixed = random_fixed(s);
        tally same = {0};
        for (size_t c = 0; c < MOST && same.found + same.tied == 0; c++)
            plant(&fixed, which, 1, &same);
        if (same.found + same.tied == 0)
            fail_msg("%s is told apart in none of %d fixed draws", seeds[s].name, MOST);
    }
}

/* Pairs that befall the same claims. */
static const char *const pairs[][2] = {
    {"rope_theta", "position_plus_one"},
    {"rope_theta", "pairing"},
    {"rope_theta", "inverse"},
    {"base", "position_minus_one"},
    {"layout", "position_plus_one"},
    {"freq_shift", "layout"},
    {"scale", "layout"},
    {"scaling_dropped", "position_plus_one"},
    {"scaling_added", "position_plus_one"},
    {"original_fallback", "attention_factor_missing"},
    {"betas_swapped", "attention_factor_missing"},
    {"truncate", "attention_factor_squared"},
    {"truncate", "position_minus_one"},
    {"partial_ignored", "position_plus_one"},
    {"head_in_exponent", "rope_theta"},
    {"pairing", "inverse"},
    {"pairing", "rotated_twice"},
    {"cos_sin_exchanged", "position_plus_one"},
    {"seq_len_ignored", "position_plus_one"},
    {"alibi_sign", "alibi_form"},
    {"alibi_variant", "alibi_sign"},
    {"alibi_variant", "alibi_form"},
    {"bfloat16_positions", "scaling_dropped"},
};

static void pairs_of_faults_are_found(void **state)
{
    enum { CASES = 2 };
    random_source random = random_make("pairs of faults");
    print_message("  %-50s drawn  found  tied  hidden  missed\n", "planted");
    for (size_t p = 0; p < PE_LEN(pairs); p++) {
        char name[80];
        const seed *which[] = {seed_of(pairs[p][0]), seed_of(pairs[p][1])};
        tally t = {0};
        for (size_t c = 0; c < CASES; c++)
            plant(&random, which, 2, &t);
        snprintf(name, sizeof name, "%s + %s", pairs[p][0], pairs[p][1]);
        print_tally(name, &t);
    }
}

/* ---- nothing planted ------------------------------------------------------------------------- */

static void sound_numbers_of_every_type_are_clean(void **state)
{
    random_source random = random_make("sound numbers");
    size_t asked = 0;
    static const int64_t starts[][2] = {{0, 0}, {0, 4096}, {0, 131072}, {1 << 23, 1 << 24}};
    for (size_t round = 0; round < PE_LEN(starts); round++)
        for (planted_kind kind = PLANTED_ROPE; kind <= PLANTED_SLOPES; kind++)
            for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++)
                for (planted_arithmetic by = PLANTED_EXACT; by <= PLANTED_FLOAT32; by++) {
                    const bool waves = kind <= PLANTED_SINUSOIDAL;
                    if (by == PLANTED_FLOAT32 && !waves)
                        continue;
                    planted claim =
                        draw_claim(&random, kind, by == PLANTED_FLOAT32 ? "default" : NULL);
                    claim.dtype = dtype;
                    if (waves && round > 0)
                        start_at(&random, &claim, starts[round][0], starts[round][1]);
                    if (kind == PLANTED_VECTORS)
                        draw_vectors(&random, &claim);
                    planted made = copy_of(&claim);
                    made.arithmetic = by;
                    const upload u = numbers_of(&made);
                    pe_report report = ask(&claim, &u, false);
                    if (!report.matches || report.n_findings != 0)
                        fail_case(&random, &claim, &made, false, &report, "sound, but no match");
                    /* each element once; of pairs other parameters are tried, too (indistinguishable.c) */
                    const bool alone = kind == PLANTED_BIAS || kind == PLANTED_SLOPES;
                    assert_in_range(report.computed, u.n, alone ? u.n : 16 * u.n);
                    assert_string_equal(report.numerics, clean(&claim, &u, true, false, false)
                                                             ? "exact"
                                                             : "float32");
                    pe_verify_report_free(&report);
                    json_decref(claim.parameters);
                    json_decref(made.parameters);
                    asked++;
                }
    print_message("  %zu sound uploads, all clean\n", asked);
}

/* Of an upload with one bad element: nothing, or that there are such elements. */
static bool is_told_alone(const pe_report *report)
{
    const pe_finding *finding = &report->findings[0];
    return report->n_findings == 0 ||
           (finding->n_faults == 1 && strcmp(finding->faults[0], "corrupted_elements") == 0 &&
            report->mismatches.elements <= 4);
}

/* Beside masks. What a rotated channel may be off by depends on the other one of its pair, too. */
static double largest_of(const upload *u)
{
    double most = 0;
    for (size_t e = 0; e < u->n; e++)
        most = isfinite(u->numbers[e]) ? fmax(most, fabs(u->numbers[e])) : most;
    return most;
}

static void noise_is_not_explained(void **state)
{
    random_source random = random_make("noise");
    for (int round = 0; round < 4; round++)
        for (planted_kind kind = PLANTED_ROPE; kind <= PLANTED_SLOPES; kind++) {
            planted claim = draw_claim(&random, kind, NULL);
            if (kind == PLANTED_VECTORS)
                draw_vectors(&random, &claim);
            upload u = numbers_of(&claim);
            const double most = largest_of(&u);
            for (size_t e = 0; e < u.n; e++)
                if (round < 2)
                    u.numbers[e] = random_real(&random, -1, 1);
                else if (e == u.n / 2) /* one element, by more than any rounding */
                    u.numbers[e] += random_real(&random, 0.1, 1) * (1 + most);
            pe_report report = ask(&claim, &u, false);
            if (report.matches || !(round < 2 ? report.n_findings == 0 : is_told_alone(&report)))
                fail_case(&random, &claim, &claim, false, &report, "noise is explained");
            assert_true(report.pairs_tried && report.complete);
            assert_true(report.first_bad.any);
            pe_verify_report_free(&report);
            json_decref(claim.parameters);
        }
}

static bool count_down(void *context)
{
    size_t *left = context;
    const bool ended = *left == 0;
    *left -= !ended;
    return ended;
}

/* After so many guesses, and not one later. */
static void a_search_ends_when_nobody_waits_for_it(void **state)
{
    random_source random = random_make("given up");
    planted claim = draw_claim(&random, PLANTED_ROPE, NULL);
    upload u = numbers_of(&claim);
    for (size_t e = 0; e < u.n; e++)
        u.numbers[e] = random_real(&random, -1, 1);
    pe_report whole = ask(&claim, &u, false);
    for (size_t most = 0; most < 8; most++) {
        size_t left = most;
        pe_verify_limits patience = bounds;
        patience.given_up = count_down;
        patience.context = &left;
        pe_report report = ask_within(&patience, &claim, &u, false);
        assert_false(report.complete);
        assert_true(report.hypotheses <= most && report.hypotheses < whole.hypotheses);
        assert_true(report.first_bad.any); /* which no search is needed for */
        pe_verify_report_free(&report);
    }
    pe_verify_report_free(&whole);
    json_decref(claim.parameters);
}

/* Every type of scaling that there is can be what went wrong. */
static void every_rope_type_is_a_fault(void **state)
{
    for (size_t c = 0; pe_rope_type_names[c] != NULL; c++) {
        bool listed = false;
        for (size_t f = 0; f < pe_faults_n; f++)
            listed |= pe_faults[f].param != NULL && strcmp(pe_faults[f].param, "rope_type") == 0 &&
                      strcmp(pe_faults[f].op, pe_rope_type_names[c]) == 0;
        if (!listed)
            fail_msg("faults.c has no row for rope_type %s", pe_rope_type_names[c]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_single_fault_is_found_first),
        cmocka_unit_test(pairs_of_faults_are_found),
        cmocka_unit_test(sound_numbers_of_every_type_are_clean),
        cmocka_unit_test(noise_is_not_explained),
        cmocka_unit_test(a_search_ends_when_nobody_waits_for_it),
        cmocka_unit_test(every_rope_type_is_a_fault),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
