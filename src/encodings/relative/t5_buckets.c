/* SPDX-License-Identifier: MIT */
/* t5_buckets.c - whose buckets of relative positions: where one ends and the next begins, exactly, and
 * where the reference computes others. */
#include "encodings/relative/t5.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* Edges that are compared with the reference: more than any published model has. */
#define EDGES_COMPARED 1024

/* Same order as the enumeration. */
static const struct variant {
    const char *name;
    int64_t num_buckets, max_distance;
    bool signed_buckets; /* of query - key, rounded up */
    bool adds_first;     /* floor(E + x) where others have E + floor(x) */
    bool fixed;          /* upstream reads no configuration */
} variants[] = {
    [PE_T5_VARIANT_T5] = {"t5", 32, 128, false, false, false},
    [PE_T5_VARIANT_MPNET] = {"mpnet", 32, 128, false, false, true},
    [PE_T5_VARIANT_WAVLM] = {"wavlm", 320, 800, false, true, false},
    [PE_T5_VARIANT_DEBERTA] = {"deberta", 32, 128, true, false, false},
};

static const pe_param bucket_params[] = {
    PE_PARAM("num_buckets", INT, .optional = true, .min = 2, .max = PE_T5_BUCKETS_MAX,
             .fallback_text = "32 (wavlm: 320)", .unit = "buckets",
             .help = "The number of buckets, both directions together (DeBERTa: position_buckets).",
             .example = "32"),
    PE_PARAM("max_distance", INT, .optional = true, .min = 2, .max = PE_RELATIVE_LENGTH_MAX,
             .fallback_text = "128 (wavlm: 800)", .unit = "tokens",
             .help = "Keys at this distance and beyond share the last bucket (DeBERTa: "
                     "max_relative_positions).",
             .example = "128"),
    PE_PARAM("bidirectional", BOOL, .fallback = 1,
             .help = "true, for an encoder: keys after the query have buckets of their own. false, "
                     "for a decoder: they share bucket 0.",
             .example = "true"),
};
const pe_param_set pe_t5_bucket_params = {bucket_params, PE_LEN(bucket_params)};

pe_status pe_t5_variant_read(pe_values *values, size_t variant, pe_problem *why)
{
    const struct variant *v = &variants[variant];
    if (!pe_values_present(values, "num_buckets"))
        pe_values_set_int(values, "num_buckets", v->num_buckets);
    if (!pe_values_present(values, "max_distance"))
        pe_values_set_int(values, "max_distance", v->max_distance);
    if (variant == PE_T5_VARIANT_T5 || pe_values_bool(values, "bidirectional"))
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "bidirectional",
                   "bidirectional=false is read by variant=t5 only; %s looks both ways", v->name);
}

/* ---- edges ---- */

/* 2^17 products of 2^-192 each, of numbers below 2^42, stay below 2^-128: nothing farther than
 * 2^-100 from an integer is on its other side. */
#define BITS       192
#define GUARD_BITS 100

/*
 * The thresholds low * (high/low)^(k/parts), 0 < low < high. An edge is the first integer at or
 * (strict) beyond its threshold; those of from <= k < to count.
 */
typedef struct scale {
    unsigned long low, high, parts;
    bool strict;
    unsigned long from, to;
} scale;

static unsigned long common_divisor(unsigned long a, unsigned long b)
{
    while (b != 0) {
        const unsigned long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The sign of n - threshold k, from n^parts low^k - high^k low^parts. */
static int compare_exactly(const scale *s, unsigned long n, unsigned long k)
{
    const unsigned long divisor = common_divisor(k, s->parts);
    const unsigned long parts = s->parts / divisor, power = k / divisor;
    mpz_t left, right, factor;
    mpz_inits(left, right, factor, NULL);
    mpz_ui_pow_ui(left, n, parts);
    mpz_ui_pow_ui(factor, s->low, power);
    mpz_mul(left, left, factor);
    mpz_ui_pow_ui(right, s->high, power);
    mpz_ui_pow_ui(factor, s->low, parts);
    mpz_mul(right, right, factor);
    const int sign = mpz_cmp(left, right);
    mpz_clears(left, right, factor, NULL);
    return sign;
}

/* The edges as far as `farthest`; returns how many. at: threshold k within 2^-128. */
static size_t find_edges(const scale *s, int64_t farthest, int64_t *edge)
{
    size_t n = 0;
    mpfr_t at, step, off;
    mpfr_inits2(BITS, at, step, off, (mpfr_ptr)NULL);
    mpfr_set_ui(step, s->high, MPFR_RNDN);
    mpfr_div_ui(step, step, s->low, MPFR_RNDN);
    mpfr_rootn_ui(step, step, s->parts, MPFR_RNDN);
    mpfr_set_ui(at, s->low, MPFR_RNDN);
    for (unsigned long k = 0; k < s->to; k++, mpfr_mul(at, at, step, MPFR_RNDN)) {
        if (mpfr_cmp_si(at, farthest + 1) > 0)
            break;
        if (k < s->from)
            continue;
        const unsigned long whole = mpfr_get_ui(at, MPFR_RNDN);
        mpfr_ui_sub(off, whole, at, MPFR_RNDN);
        const bool near = mpfr_zero_p(off) != 0 || mpfr_get_exp(off) <= -GUARD_BITS;
        const int sign = near ? compare_exactly(s, whole, k) : mpfr_sgn(off);
        edge[n++] = (int64_t)whole + (sign < 0 || (s->strict && sign == 0));
    }
    mpfr_clears(at, step, off, (mpfr_ptr)NULL);
    return n;
}

static pe_status make_edges(const scale *s, int64_t farthest, pe_buckets *out, pe_problem *why)
{
    int64_t *edge = malloc((s->to - s->from + 1) * sizeof *edge);
    if (edge == NULL)
        return pe_fail_memory(why);
    const size_t n = find_edges(s, farthest, edge);
    if (n > PE_T5_BUCKETS_MAX) {
        free(edge);
        return pe_fail(why, PE_INVALID_PARAMETER, "max_distance",
                       "max_distance must lie farther beyond num_buckets/2: %lld keys would fall "
                       "into more than %d buckets",
                       (long long)farthest + 1, PE_T5_BUCKETS_MAX);
    }
    out->edge = edge;
    out->edges = n;
    return PE_OK;
}

static pe_status check(int64_t low, int64_t high, const char *why_more, pe_problem *why)
{
    if (low < 1)
        return pe_fail(why, PE_INVALID_PARAMETER, "num_buckets",
                       "num_buckets must be at least 4 when both directions share them");
    if (high <= low)
        return pe_fail(why, PE_INVALID_PARAMETER, "max_distance",
                       "max_distance%s must be more than the %lld distances before buckets widen, "
                       "got %lld",
                       why_more, (long long)low, (long long)high);
    return PE_OK;
}

static pe_status make_t5(const pe_values *values, int64_t farthest, pe_buckets *out,
                         pe_problem *why)
{
    const int64_t num_buckets = pe_values_int(values, "num_buckets");
    const int64_t max_distance = pe_values_int(values, "max_distance");
    const bool bidirectional = pe_values_bool(values, "bidirectional");
    const int64_t buckets = bidirectional ? num_buckets / 2 : num_buckets, exact = buckets / 2;
    PE_TRY(check(exact, max_distance, "", why));
    *out = (pe_buckets){
        .exact = exact, .base = exact, .both = bidirectional, .after = bidirectional ? buckets : 0};
    const unsigned long parts = (unsigned long)(buckets - exact);
    const scale s = {.low = (unsigned long)exact,
                     .high = (unsigned long)max_distance,
                     .parts = parts,
                     .from = 1,
                     .to = parts};
    return make_edges(&s, farthest, out, why);
}

/*
 * sign(d) ceil(ln(|d|/mid) / ln((max_distance - 1)/mid) (mid - 1)) + mid, where |d| > mid: one more
 * beyond each threshold, the first at mid itself; never an end to it.
 */
static pe_status make_deberta(const pe_values *values, int64_t farthest, pe_buckets *out,
                              pe_problem *why)
{
    const int64_t max_distance = pe_values_int(values, "max_distance");
    const int64_t mid = pe_values_int(values, "num_buckets") / 2;
    PE_TRY(check(mid, max_distance - 1, " - 1", why));
    *out = (pe_buckets){.exact = mid + 1, .base = mid, .both = true, .negate = true};
    const scale s = {.low = (unsigned long)mid,
                     .high = (unsigned long)(max_distance - 1),
                     .parts = (unsigned long)(mid - 1),
                     .strict = true,
                     .to = PE_T5_BUCKETS_MAX + 1};
    return mid == 1 ? PE_OK : make_edges(&s, farthest, out, why);
}

pe_status pe_t5_buckets_plan(const pe_values *values, size_t variant, int64_t farthest,
                             pe_plan *plan, pe_buckets *out, pe_problem *why)
{
    PE_TRY((variant == PE_T5_VARIANT_DEBERTA ? make_deberta : make_t5)(values, farthest, out, why));
    pe_plan_owns(plan, out->edge, free);
    return PE_OK;
}

int32_t pe_t5_buckets_at(const pe_buckets *b, int64_t relative, int64_t *same)
{
    const bool after = relative > 0;
    const int64_t distance = after ? relative : -relative;
    if (after && !b->both) {
        *same = INT64_MAX;
        return 0;
    }
    int64_t bucket = distance, first = distance, beyond = distance + 1;
    if (distance >= b->exact) {
        /* How many edges are at most `distance`. */
        size_t low = 0, high = b->edges;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (b->edge[middle] <= distance)
                low = middle + 1;
            else
                high = middle;
        }
        const size_t passed = low;
        bucket = b->base + (int64_t)passed;
        first = passed > 0 ? b->edge[passed - 1] : b->exact;
        beyond = passed < b->edges ? b->edge[passed] : INT64_MAX;
    }
    *same = after ? beyond - distance : distance - first + 1;
    /* DeBERTa counts from the key: query - key. */
    return (int32_t)(!after ? bucket : b->negate ? -bucket : bucket + b->after);
}

/* ---- the reference, with every step rounded to float32 ---- */

/* ln(x), correctly rounded to `bits`. */
static double logarithm(double x, mpfr_prec_t bits)
{
    mpfr_t in, out;
    mpfr_init2(in, 53);
    mpfr_init2(out, bits);
    mpfr_set_d(in, x, MPFR_RNDN);
    mpfr_log(out, in, MPFR_RNDN);
    const double result = mpfr_get_d(out, MPFR_RNDN);
    mpfr_clears(in, out, (mpfr_ptr)NULL);
    return result;
}

typedef struct reference {
    const struct variant *variant;
    int64_t exact, last; /* distances that are buckets; the last bucket, 0: no end */
    float parts, span;   /* buckets beyond the exact ones, and what logarithm they share */
} reference;

static reference make_reference(const pe_values *values, size_t variant)
{
    const int64_t num_buckets = pe_values_int(values, "num_buckets");
    const int64_t max_distance = pe_values_int(values, "max_distance");
    reference r = {.variant = &variants[variant]};
    if (r.variant->signed_buckets) {
        r.exact = num_buckets / 2;
        r.parts = (float)(r.exact - 1);
        const float most = (float)((double)(max_distance - 1) / (double)r.exact);
        r.span = (float)logarithm((double)most, 24);
        return r;
    }
    const int64_t buckets = pe_values_bool(values, "bidirectional") ? num_buckets / 2 : num_buckets;
    r.exact = buckets / 2;
    r.last = buckets - 1;
    r.parts = (float)(buckets - r.exact);
    r.span = (float)logarithm((double)max_distance / (double)r.exact, 53);
    return r;
}

/* The reference's bucket of a distance beyond the exact ones. */
static int64_t reference_bucket(const reference *r, int64_t distance)
{
    const float quotient = (float)distance / (float)r->exact;
    const float share = (float)logarithm((double)quotient, 24) / r->span, x = share * r->parts;
    if (r->variant->signed_buckets)
        return r->exact + (int64_t)ceilf(x);
    const float sum = (float)r->exact + x;
    const int64_t bucket = r->variant->adds_first ? (int64_t)sum : r->exact + (int64_t)x;
    return bucket < r->last ? bucket : r->last;
}

/* ---- warnings ---- */

pe_status pe_t5_variant_plan(const pe_values *values, size_t variant, int64_t farthest,
                             pe_buckets *buckets, pe_plan *plan, pe_problem *why)
{
    const struct variant *v = &variants[variant];
    PE_TRY(pe_t5_buckets_plan(values, variant, farthest, plan, buckets, why));
    if (v->fixed && (pe_values_int(values, "num_buckets") != v->num_buckets ||
                     pe_values_int(values, "max_distance") != v->max_distance))
        pe_plan_warn(plan,
                     "%s as published always has %lld buckets and a max_distance of %lld, whatever "
                     "its configuration says",
                     v->name, (long long)v->num_buckets, (long long)v->max_distance);
    const reference r = make_reference(values, variant);
    /* On either side of the edges, where a float32 may err. */
    size_t others = 0;
    int64_t checked = r.exact, at = 0, wanted = 0, got = 0;
    for (size_t i = 0; i < buckets->edges && i < EDGES_COMPARED; i++)
        for (int64_t d = buckets->edge[i] - 1; d <= buckets->edge[i]; d++) {
            if (d <= checked || d > farthest)
                continue;
            int64_t same;
            checked = d;
            const int64_t bucket = pe_t5_buckets_at(buckets, -d, &same),
                          theirs = reference_bucket(&r, d);
            if (bucket == theirs)
                continue;
            if (others++ == 0) {
                at = d;
                wanted = bucket;
                got = theirs;
            }
        }
    if (others > 0)
        pe_plan_warn(plan,
                     "with float32 logarithms, as %s is published, distance %lld falls into bucket "
                     "%lld, not %lld; distances beside edges that differ so: %zu",
                     r.variant->name, (long long)at, (long long)got, (long long)wanted, others);
    return PE_OK;
}
