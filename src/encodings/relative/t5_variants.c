/* SPDX-License-Identifier: MIT */
/* t5_variants.c - whose buckets: their defaults, and where the reference computes others. */
#include "encodings/relative/t5.h"

#include <math.h>
#include <mpfr.h>

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
