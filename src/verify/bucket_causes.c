/* SPDX-License-Identifier: MIT */
/* bucket_causes.c - indices of relative positions: the function of key - query that made them. */
#include "verify/bucket_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE nan("")

/* ---- the upload by distance ---- */

/* Indices that depend on key - query alone. */
typedef struct indices {
    const pe_numbers *of;
    size_t keys, n;
    double first, lowest; /* position of query 0; the least key - query */
    double *value;        /* [n] owned, of key - query = lowest, lowest + 1, ... */
} indices;

static double value_at(const indices *x, double relative)
{
    const double at = relative - x->lowest;
    return at >= 0 && at < (double)x->n ? x->value[(size_t)at] : NOWHERE;
}

/* The first distance of an index; NAN: there is none. */
static double find_value(const indices *x, double value)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->value[i] == value)
            return x->lowest + (double)i;
    return NOWHERE;
}

static double relative_of(const indices *x, size_t element)
{
    const size_t query = element / x->keys, key = element % x->keys;
    return (double)key - x->first - (double)query;
}

/* False: some distance has several indices. */
static bool read_values(const indices *x)
{
    for (size_t i = 0; i < x->n; i++)
        x->value[i] = NOWHERE;
    for (size_t e = 0; e < x->of->elements; e++) {
        double *at = &x->value[(size_t)(relative_of(x, e) - x->lowest)];
        if (!isnan(*at) && *at != x->of->got[e])
            return false;
        *at = x->of->got[e];
    }
    return true;
}

/* ---- functions of the distance ---- */

typedef enum family { T5, DEBERTA, SHAW } family;
typedef enum ends { DOWN, NEAREST, UP } ends;

/* d = sign (key - query) + shift */
typedef struct function {
    family family;
    double sign, shift;
    /* T5: n = |d| or, one direction, max(-d, 0); n < exact is bucket n, up to `buckets`. */
    bool both, clipped, zero_ahead;
    double buckets, exact, max_distance, ahead;
    ends ends;
    double left, right, add; /* Shaw: d from -left to right, and `add` */
    double reach, last;      /* greatest |d| and index that pass; 0: all do */
    double a, b;             /* numbers of the sentence of the row that changed it last */
} function;

/* Where x is whole but for rounding, either neighbour is right: the upload's. */
static double end_of(const function *f, double x, double got)
{
    static double (*const of[])(double) = {[DOWN] = floor, [NEAREST] = nearbyint, [UP] = ceil};
    const double low = of[f->ends](x - 1e-6), high = of[f->ends](x + 1e-6);
    return got == high ? high : got == low ? low : of[f->ends](x);
}

static double t5_at(const function *f, double d, double got)
{
    const double ahead = f->both && (d > 0 || (d == 0 && f->zero_ahead)) ? f->ahead : 0;
    const double n = f->both ? fabs(d) : fmax(-d, 0);
    if (n < f->exact)
        return ahead + n;
    const double parts = f->buckets - f->exact;
    const double x = log(n / f->exact) / log(f->max_distance / f->exact) * parts;
    const double far = f->exact + end_of(f, x, got - ahead - f->exact);
    return ahead + (f->clipped ? fmin(far, f->buckets - 1) : far);
}

static double deberta_at(const function *f, double d, double got)
{
    const double mid = f->exact, n = fabs(d);
    if (n <= mid)
        return d;
    const double x = log(n / mid) / log((f->max_distance - 1) / mid) * (mid - 1);
    return copysign(mid + end_of(f, x, fabs(got) - mid), d);
}

static double shaw_at(const function *f, double d, double got)
{
    (void)got;
    return (f->clipped ? fmax(-f->left, fmin(f->right, d)) : d) + f->add;
}

static double function_at(const function *f, double relative, double got)
{
    static double (*const of[])(const function *, double,
                                double) = {[T5] = t5_at, [DEBERTA] = deberta_at, [SHAW] = shaw_at};
    const double d = f->sign * relative + f->shift;
    const double near = f->reach > 0 ? fmax(-f->reach, fmin(f->reach, d)) : d;
    const double index = of[f->family](f, near, got) + 0.0;
    return f->last > 0 ? fmin(f->last, index) : index;
}

static bool follows(const indices *x, const function *f)
{
    size_t i = 0;
    while (i < x->n && (isnan(x->value[i]) ||
                        function_at(f, x->lowest + (double)i, x->value[i]) == x->value[i]))
        i++;
    pe_numbers_spend(x->of, i + 1);
    return i == x->n;
}

static function claimed_function(const pe_guess *claim)
{
    const pe_values *values = &claim->values;
    function f = {.family = SHAW, .sign = 1, .clipped = true};
    if (strcmp(claim->claim->resource->name, "shaw/indices") == 0) {
        f.left = f.add = (double)pe_values_int(values, "left_max");
        f.right = (double)pe_values_int(values, "right_max");
        return f;
    }
    f.buckets = (double)pe_values_int(values, "num_buckets");
    f.max_distance = (double)pe_values_int(values, "max_distance");
    f.family = strcmp(pe_geometry_choice_text(values, "variant"), "deberta") == 0 ? DEBERTA : T5;
    if (f.family == DEBERTA) {
        f.sign = -1;
        f.exact = floor(f.buckets / 2);
        f.ends = UP;
        return f;
    }
    f.both = pe_values_bool(values, "bidirectional");
    f.buckets = f.both ? floor(f.buckets / 2) : f.buckets;
    f.ahead = f.both ? f.buckets : 0;
    f.exact = floor(f.buckets / 2);
    return f;
}

/* ---- what rows change ---- */

/* A mistake: another function. False: it makes no sense here. */
typedef struct row {
    pe_fault fault;
    bool (*change)(const indices *x, function *f);
} row;

static bool turn_sign(const indices *x, function *f)
{
    (void)x;
    f->sign = -f->sign;
    return true;
}

static bool ignore_past(const indices *x, function *f)
{
    f->a = x->first;
    f->shift = f->sign * x->first;
    return x->first > 0;
}

/* By the distance at which the index of d = 0 stands; with one direction that of d = -1. */
static bool shift(const indices *x, function *f)
{
    const bool one_way = f->family == T5 && !f->both;
    const double d = one_way ? -1 : 0;
    const double at = find_value(x, one_way ? 1 : f->family == SHAW ? f->add : 0);
    f->a = f->shift = d - f->sign * at;
    return isfinite(f->a) && f->a != 0;
}

static bool one_direction(const indices *x, function *f)
{
    (void)x;
    f->both = !f->both;
    f->buckets = f->both ? floor(f->buckets / 2) : 2 * f->buckets;
    f->ahead = f->both ? f->buckets : 0;
    f->exact = floor(f->buckets / 2);
    return f->family == T5;
}

static bool set_ends(function *f, ends to)
{
    const bool changed = f->ends != to && f->family != SHAW;
    f->ends = to;
    return changed;
}

static bool round_down(const indices *x, function *f)
{
    (void)x;
    return set_ends(f, DOWN);
}

static bool round_nearest(const indices *x, function *f)
{
    (void)x;
    return set_ends(f, NEAREST);
}

static bool round_up(const indices *x, function *f)
{
    (void)x;
    return set_ends(f, UP);
}

static bool leave_open(const indices *x, function *f)
{
    (void)x;
    f->clipped = false;
    return f->family != DEBERTA;
}

static bool zero_ahead(const indices *x, function *f)
{
    (void)x;
    f->zero_ahead = true;
    return f->family == T5 && f->both;
}

static bool move_ahead(const indices *x, function *f)
{
    f->b = f->ahead;
    f->a = f->ahead = value_at(x, 1) - value_at(x, -1);
    return f->family == T5 && f->both && isfinite(f->a) && f->a != f->b;
}

static bool set_exact(function *f, double to)
{
    f->a = to;
    f->b = f->exact;
    f->exact = to;
    return f->family == T5 && to >= 1 && to < f->buckets && to < f->max_distance && to != f->b;
}

static bool quarter_exact(const indices *x, function *f)
{
    (void)x;
    return set_exact(f, floor(f->buckets / 4));
}

static bool longer_exact(const indices *x, function *f)
{
    (void)x;
    return set_exact(f, f->exact + 1);
}

static bool shorter_exact(const indices *x, function *f)
{
    (void)x;
    return set_exact(f, f->exact - 1);
}

static bool no_logarithm(const indices *x, function *f)
{
    (void)x;
    f->max_distance = HUGE_VAL;
    return set_exact(f, f->buckets - 1);
}

/* The larger max_distance is, the smaller are indices. */
static double sum_of(const indices *x, const function *f)
{
    double sum = 0;
    pe_numbers_spend(x->of, x->n);
    for (size_t i = 0; i < x->n; i++)
        sum += isnan(x->value[i])
                   ? 0
                   : fabs(function_at(f, x->lowest + (double)i, x->value[i])) - fabs(x->value[i]);
    return sum;
}

/* The least whole max_distance with which indices are no larger than those of the upload. */
static double least_distance(const indices *x, function *f, double extra)
{
    double low = f->exact + 2, high = 0x1p32;
    while (low < high) {
        const double middle = floor((low + high) / 2);
        f->max_distance = middle;
        if (sum_of(x, f) + extra <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Of numbers that all explain the upload, the one that people would have taken. */
static double usual(double low, double high)
{
    static const double numbers[] = {20,  32,  50,  64,  80,  100,  128,  200,  256,
                                     320, 400, 500, 512, 800, 1000, 1024, 2048, 4096};
    for (size_t n = 0; n < PE_LEN(numbers); n++)
        if (numbers[n] >= low && numbers[n] <= high)
            return numbers[n];
    return low;
}

static bool other_distance(const indices *x, function *f)
{
    f->b = f->max_distance;
    if (f->family == SHAW || !isfinite(f->b))
        return false;
    const double low = least_distance(x, f, 0), beyond = least_distance(x, f, 0.5);
    f->a = f->max_distance = usual(low, beyond - 1);
    return low < beyond && f->a != f->b;
}

static bool other_clip(const indices *x, function *f)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t i = 0; i < x->n; i++) {
        least = fmin(least, x->value[i]);
        most = fmax(most, x->value[i]);
    }
    f->b = f->left;
    f->a = floor((most - least) / 2);
    const bool moved = f->add == f->left;
    f->left = f->right = f->a;
    f->add = moved ? f->a : f->add;
    return f->family == SHAW && f->a >= 0 && f->a != f->b;
}

/* Beyond the distance at which an index changes last, up to where the claimed one changes next. */
static bool end_early(const indices *x, function *f)
{
    double from = 1, to;
    for (size_t i = 1; i < x->n; i++) {
        const double d = x->lowest + (double)i;
        if (x->value[i] != x->value[i - 1])
            from = fmax(from, d > 0 ? d : 1 - d);
    }
    const double claimed = function_at(f, -f->sign * from, 0);
    for (to = from; to < (double)x->n && function_at(f, -f->sign * (to + 1), 0) == claimed;)
        to++;
    pe_numbers_spend(x->of, x->n);
    f->a = f->reach = from;
    f->b = to;
    return f->family != SHAW && to < (double)x->n;
}

static bool cut_index(const indices *x, function *f)
{
    for (size_t i = 0; i < x->n; i++)
        f->last = fmax(f->last, x->value[i]);
    f->a = f->last;
    return f->family == T5 && f->last > 0;
}

#define EDGES  "compute the bucket as the formula has it: floor, and min(num_buckets - 1)"
#define SIGNED "take key - query: key positions along the last axis minus query positions"

static const row rows[] = {
    {{"distance_sign", "the sign of the distance was the other one: its direction is reversed",
      .remedy = SIGNED},
     turn_sign},
    {{"past_ignored",
      "queries were counted from 0, not from {a}: the past keys of the cache were left out, an "
      "offset of the position",
      .remedy = "add the length of the cache (past_key_values) to the queries' positions"},
     ignore_past},
    {{"distance_shift", "distances were shifted: an offset of {a} was added to each",
      .remedy = "count the distance of a query from its own key as 0"},
     shift},
    {{"bucket_direction",
      "bidirectional was the other value: buckets of one direction and of both "
      "were exchanged",
      .remedy = "set bidirectional: true of an encoder, false of a decoder"},
     one_direction},
    {{"bucket_rounding",
      "the logarithm that gives the bucket was rounded to nearest: every edge "
      "lies elsewhere",
      .remedy = EDGES},
     round_nearest},
    {{"bucket_rounding", "the logarithm that gives the bucket was rounded up: edges lie earlier",
      .remedy = EDGES},
     round_up},
    {{"bucket_rounding", "the logarithm that gives the bucket was rounded down: edges lie later",
      .remedy = "compute the bucket as the formula has it: ceil"},
     round_down},
    {{"index_unclipped", "the last index was not clipped: distances beyond it have more",
      .remedy = "clip the distance or the bucket, min(.., last)"},
     leave_open},
    {{"zero_ahead", "distance 0 counts as ahead, with the keys after the query",
      .remedy = "test key > query, not key >= query"},
     zero_ahead},
    {{"bucket_offset", "buckets of keys after the query begin at an offset of {a}, not of {b}",
      .remedy = "add half of num_buckets for keys after the query"},
     move_ahead},
    {{"bucket_exact", "buckets of one distance each end at the edge {a}, not at {b}: a quarter",
      .remedy = "max_exact is half of the buckets of a direction"},
     quarter_exact},
    {{"bucket_exact", "buckets of one distance each end at the edge {a}, not at {b}",
      .remedy = "max_exact is half of the buckets of a direction"},
     longer_exact},
    {{"bucket_exact", "buckets of one distance each end at the edge {a}, not at {b}",
      .remedy = "max_exact is half of the buckets of a direction"},
     shorter_exact},
    {{"bucket_linear",
      "distances were clipped at {a} and put in no buckets: no logarithm was taken",
      .remedy = "distances from max_exact on share buckets of growing width"},
     no_logarithm},
    {{"max_distance", "max_distance was {a}, not {b}", .param = "max_distance",
      .remedy = "set max_distance as claimed"},
     other_distance},
    {{"distance_clipped",
      "distances were clipped before they were put in buckets, at {a} or up to {b}: all beyond "
      "share "
      "that bucket",
      .remedy = "clip the bucket, min(num_buckets - 1), not the distance"},
     end_early},
    {{"bucket_clipped", "buckets were clipped at {a}", .remedy = EDGES}, cut_index},
    {{"shaw_clip", "distances were clipped at {a}, not at {b}",
      .remedy = "set max_relative_position as claimed"},
     other_clip},
};

/* ---- explaining ---- */

/* A function with the rows that changed it. */
typedef struct attempt {
    const indices *x;
    function f;
    pe_numbers_cause causes[2];
} attempt;

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    (void)error;
    const attempt *by = context;
    (void)claimed;
    return function_at(&by->f, relative_of(by->x, e), by->x->of->got[e]);
}

static bool change(attempt *to, size_t r, size_t at)
{
    to->f.a = to->f.b = 0;
    const bool made = rows[r].change(to->x, &to->f);
    to->causes[at] = (pe_numbers_cause){&rows[r].fault, to->f.a, to->f.b, false};
    return made;
}

static pe_status try_attempt(const attempt *by, size_t *found, pe_problem *why)
{
    if (!follows(by->x, &by->f))
        return PE_OK;
    ++*found;
    return pe_numbers_try(by->x->of, by->causes, PE_LEN(by->causes),
                          &(pe_numbers_law){at_law, by, 0}, why);
}

/* One row, and where none explains the upload two. */
static pe_status explain(const indices *x, pe_problem *why)
{
    size_t found = 0;
    pe_status status = PE_OK;
    const attempt claimed = {.x = x, .f = claimed_function(x->of->claim)};
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(x->of); r++) {
        attempt one = claimed;
        if (change(&one, r, 0))
            status = try_attempt(&one, &found, why);
    }
    for (size_t r = 0; r < PE_LEN(rows) && found == 0 && status == PE_OK; r++)
        for (size_t s = r + 1; s < PE_LEN(rows) && status == PE_OK && pe_numbers_goes_on(x->of);
             s++) {
            attempt two = claimed;
            if (change(&two, r, 0) && change(&two, s, 1))
                status = try_attempt(&two, &found, why);
        }
    return status;
}

/* ---- facts ---- */

static void tell(const indices *x)
{
    enum { MOST = 32 };
    double edges[MOST], range[2] = {HUGE_VAL, -HUGE_VAL};
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        range[0] = fmin(range[0], x->value[i]);
        range[1] = fmax(range[1], x->value[i]);
        if (i > 0 && n < MOST && x->value[i] != x->value[i - 1])
            edges[n++] = x->lowest + (double)i;
    }
    pe_buffer_format(
        &pe_numbers_facts(x->of)->text,
        "Indices are a function of key - query, from %.9g to %.9g; that of 0 is %.9g. ", range[0],
        range[1], value_at(x, 0));
    pe_numbers_list(x->of, "index_range", range, 2);
    pe_numbers_list(x->of, "index_edges", edges, n);
}

pe_status pe_bucket_causes_find(const pe_numbers *plain, pe_problem *why)
{
    const pe_values *values = &plain->claim->values;
    if (!pe_values_present(values, "key_length")) /* distances are listed */
        return PE_OK;
    const size_t keys = (size_t)pe_values_int(values, "key_length");
    const size_t queries = plain->elements / keys;
    indices x = {.of = plain,
                 .keys = keys,
                 .n = queries + keys - 1,
                 .first = (double)keys - (double)queries,
                 .lowest = 1 - (double)keys,
                 .value = calloc(queries + keys, sizeof(double))};
    if (x.value == NULL)
        return pe_fail_memory(why);
    pe_status status = PE_OK;
    if (read_values(&x)) {
        tell(&x);
        status = explain(&x, why);
    } else {
        pe_buffer_str(&pe_numbers_facts(plain)->text,
                      "Indices are no function of key - query alone. ");
    }
    free(x.value);
    return status;
}
