/* SPDX-License-Identifier: MIT */
/* bucket_function.c - functions of key - query that give indices: the claimed one, and others. */
#include "verify/bucket_function.h"

#include <math.h>
#include <string.h>

#include "verify/lookup.h"

/* Where x is whole but for rounding, either neighbour is right: the upload's. */
static double end_of(const pe_bucket_function *f, double x, double got)
{
    static double (*const of[])(double) = {
        [PE_ROUND_DOWN] = floor, [PE_ROUND_NEAREST] = nearbyint, [PE_ROUND_UP] = ceil};
    const double near = f->half ? 0 : 1e-6;
    const double low = of[f->ends](x - near), high = of[f->ends](x + near);
    return got == high ? high : got == low ? low : of[f->ends](x);
}

static double rounded(const pe_bucket_function *f, double x)
{
    return f->half ? pe_grain_round(&pe_grains[PE_GRAIN_FLOAT16], x) : x;
}

/* log(n / exact) / log(to / exact), times `parts` */
static double part_of(const pe_bucket_function *f, double n, double to, double parts)
{
    const double unit = f->whole ? 1 : f->exact, far = rounded(f, log(rounded(f, n / unit)));
    return rounded(f, rounded(f, far / rounded(f, log(to / unit))) * parts);
}

static double t5_at(const pe_bucket_function *f, double d, double got)
{
    const double ahead = f->both && (d > 0 || (d == 0 && f->zero_ahead)) ? f->ahead : 0;
    const double n = f->both ? fabs(d) : fmax(-d, 0);
    if (n < f->exact)
        return ahead + n;
    const double x = part_of(f, n, f->max_distance, f->buckets - f->exact);
    return ahead + fmin(f->exact + end_of(f, x, got - ahead - f->exact), f->top);
}

static double deberta_at(const pe_bucket_function *f, double d, double got)
{
    const double mid = f->exact, n = fabs(d);
    if (n <= mid)
        return d;
    const double x = part_of(f, n, f->max_distance - 1, mid - 1);
    return copysign(mid + end_of(f, x, fabs(got) - mid), d);
}

static double shaw_at(const pe_bucket_function *f, double d, double got)
{
    (void)f;
    (void)got;
    return d;
}

static double limited(const pe_bucket_function *f, double d)
{
    const double n = f->left + f->right + 1;
    return f->wraps ? d - n * floor((d + f->left) / n) : fmax(-f->left, fmin(f->right, d));
}

double pe_bucket_function_at(const pe_bucket_function *f, double relative, double got)
{
    static double (*const of[])(const pe_bucket_function *, double, double) = {
        [PE_BUCKETS_T5] = t5_at, [PE_BUCKETS_DEBERTA] = deberta_at, [PE_BUCKETS_SHAW] = shaw_at};
    const double moved = f->sign * relative + f->shift;
    const double d = f->absolute != 0 ? f->absolute * fabs(moved) : moved;
    const double near = limited(f, d);
    if (f->dropped && near != d)
        return 0;
    const double index = of[f->family](f, near, got - f->plus) + f->plus + 0.0;
    const double in = fmax(f->low, fmin(f->high, index));
    return in < 0 ? in + f->rows : in;
}

bool pe_bucket_function_follows(const pe_bucket_function *f)
{
    const pe_indices *x = f->x;
    bool same = true;
    size_t k = 0;
    for (; k < x->n && same; k++) {
        const size_t i = pe_indices_nth(x, k);
        const double got = x->value[i];
        same = isnan(got) ||
               pe_lookup_row(x->of->lookup, pe_bucket_function_at(f, x->lowest + (double)i, got)) ==
                   got;
    }
    pe_numbers_spend(x->of, PE_BUCKET_FUNCTION_WORK * k);
    return same;
}

void pe_bucket_function_resize(pe_bucket_function *f, double num_buckets)
{
    f->num_buckets = num_buckets;
    f->buckets = f->both ? floor(num_buckets / 2) : num_buckets;
    f->ahead = f->both ? f->buckets : 0;
    f->exact = floor((f->family == PE_BUCKETS_DEBERTA ? num_buckets : f->buckets) / 2);
    f->top = f->buckets - 1;
}

pe_bucket_function pe_bucket_function_claimed(const pe_indices *x)
{
    const pe_guess *claim = x->of->claim;
    const pe_values *values = &claim->values;
    pe_bucket_function f = {.x = x,
                            .family = PE_BUCKETS_SHAW,
                            .sign = 1,
                            .left = HUGE_VAL,
                            .right = HUGE_VAL,
                            .low = -HUGE_VAL,
                            .high = HUGE_VAL};
    if (strcmp(claim->claim->resource->name, "shaw/indices") == 0) {
        f.left = f.plus = (double)pe_values_int(values, "left_max");
        f.right = (double)pe_values_int(values, "right_max");
        return f;
    }
    f.max_distance = (double)pe_values_int(values, "max_distance");
    f.family = strcmp(pe_geometry_choice_text(values, "variant"), "deberta") == 0
                   ? PE_BUCKETS_DEBERTA
                   : PE_BUCKETS_T5;
    f.both = f.family == PE_BUCKETS_T5 && pe_values_bool(values, "bidirectional");
    pe_bucket_function_resize(&f, (double)pe_values_int(values, "num_buckets"));
    if (f.family == PE_BUCKETS_DEBERTA) {
        f.sign = -1;
        f.ends = PE_ROUND_UP;
        if (pe_values_present(values, "att_span")) {
            f.plus = (double)pe_values_int(values, "att_span");
            f.low = 0;
            f.high = 2 * f.plus - 1;
        }
    }
    return f;
}
