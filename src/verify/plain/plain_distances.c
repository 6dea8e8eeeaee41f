/* SPDX-License-Identifier: MIT */
/* plain_distances.c - the stage of distances: biases and indices that follow from query and key. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

#define MASKED nan("")

/* ---- indices of distances ---- */

typedef enum index_family { BIAS, SHAW, T5, DEBERTA } index_family;
typedef double to_whole(double x);

/**
 * The index of d = key - query. Of T5 n is |d| or, of one direction, max(-d, 0): n < exact is bucket
 * n, the last one is `top`, and behind the query `ahead` more. Of Shaw d is limited, and `plus` added;
 * DeBERTa takes -d, adds `plus` and limits the sum to low and high.
 */
typedef struct buckets {
    double left, right, plus, low, high;
    double exact, buckets, max_distance, ahead, top;
    bool both, zero_ahead;
    bool whole; /* the logarithm is that of the distance itself, not of its part of exact */
    to_whole *ends;
} buckets;

typedef struct distances {
    index_family family;
    size_t queries, keys;
    double first; /* position of query 0 */
    bool causal, by_key;
    double mask, claimed_mask;
    const pe_positions *listed; /* or NULL */
    buckets claimed, f;
    double *numbers; /* made, claimed: [2][queries][keys] owned */
    double loud;     /* the claimed distance where it is largest ... */
    size_t at;       /* ... and where that is */
} distances;

/* Where x is whole but for rounding, either neighbour is right: the upload's. */
static double end_of(const buckets *f, double x, double got)
{
    const double low = f->ends(x - 1e-6), high = f->ends(x + 1e-6);
    return got == high ? high : got == low ? low : f->ends(x);
}

/* log(n / exact) / log(to / exact), times `parts` */
static double part_of(const buckets *f, double n, double to, double parts)
{
    const double unit = f->whole ? 1 : f->exact;
    return log(n / unit) / log(to / unit) * parts;
}

static double t5_at(const buckets *f, double d, double got)
{
    const double ahead = f->both && (d > 0 || (d == 0 && f->zero_ahead)) ? f->ahead : 0;
    const double n = f->both ? fabs(d) : fmax(-d, 0);
    if (n < f->exact)
        return ahead + n;
    const double x = part_of(f, n, f->max_distance, f->buckets - f->exact);
    return ahead + fmin(f->exact + end_of(f, x, got - ahead - f->exact), f->top);
}

static double deberta_at(const buckets *f, double d, double got)
{
    const double n = fabs(d), index = got - f->plus;
    const double far = n <= f->exact
                           ? n
                           : f->exact + end_of(f, part_of(f, n, f->max_distance - 1, f->exact - 1),
                                               fabs(index) - f->exact);
    return fmax(f->low, fmin(f->high, copysign(far, -d) + f->plus));
}

static double index_at(const distances *state, double d, double got)
{
    const buckets *f = &state->f;
    return state->family == T5        ? t5_at(f, d, got)
           : state->family == DEBERTA ? deberta_at(f, d, got) + 0.0
                                      : fmax(-f->left, fmin(f->right, d)) + f->plus;
}

static buckets claimed_buckets(const pe_slip *p, index_family family)
{
    const double n = pe_slip_number(p, "num_buckets"), span = pe_slip_number(p, "att_span");
    const bool both = family == T5 && pe_values_bool(&p->of->claim->values, "bidirectional");
    const double each = both ? floor(n / 2) : n;
    return (buckets){.left = pe_slip_number(p, "left_max"),
                     .right = pe_slip_number(p, "right_max"),
                     .plus = family == SHAW ? pe_slip_number(p, "left_max")
                             : isnan(span)  ? 0
                                            : span,
                     .low = isnan(span) ? -HUGE_VAL : 0,
                     .high = isnan(span) ? HUGE_VAL : 2 * span - 1,
                     .exact = floor((family == DEBERTA ? n : each) / 2),
                     .buckets = each,
                     .max_distance = pe_slip_number(p, "max_distance"),
                     .ahead = both ? each : 0,
                     .top = each - 1,
                     .both = both,
                     .ends = family == DEBERTA ? ceil : floor};
}

/* ---- the stage ---- */

/* By the claim, of any query and key. */
static double distance(const distances *s, double query, double key)
{
    return s->family != BIAS          ? key - query
           : s->by_key                ? -key
           : s->causal && key > query ? MASKED
                                      : fabs(query - key);
}

static double query_at(const pe_slip *p, size_t i)
{
    const distances *s = p->state;
    const size_t row = i / s->keys;
    return s->first + (double)row;
}

static double key_at(const pe_slip *p, size_t i)
{
    const distances *s = p->state;
    return (double)(i % s->keys);
}

static bool find_family(const pe_slip *p, index_family *out)
{
    static const char *const names[] = {
        [BIAS] = "alibi/bias", [SHAW] = "shaw/indices", [T5] = "t5/buckets"};
    size_t f = 0;
    while (f < PE_LEN(names) && strcmp(pe_numbers_resource(p->of), names[f]) != 0)
        f++;
    *out = f == T5 && pe_slip_has(p, "variant", "deberta") ? DEBERTA : (index_family)f;
    return f < PE_LEN(names);
}

static void set_sizes(const pe_slip *p, distances *s)
{
    const pe_values *values = &p->of->claim->values;
    const pe_value *listed = pe_values_find(values, "distances");
    const pe_shape *shape = &p->of->view->claim->uploads[0].array.shape;
    s->listed = listed != NULL && listed->present ? &listed->positions : NULL;
    s->by_key = pe_slip_has(p, "form", "key");
    s->causal = pe_slip_has(p, "form", "causal");
    s->keys = s->listed != NULL   ? p->of->elements
              : s->family == BIAS ? shape->dim[shape->ndim - 1]
                                  : (size_t)pe_values_int(values, "key_length");
    s->queries = s->listed != NULL   ? 1
                 : s->family == BIAS ? shape->dim[shape->ndim - 2]
                                     : p->of->elements / s->keys;
    if (s->listed == NULL && !s->by_key)
        s->first = pe_slip_number(p, "key_length") - pe_slip_number(p, "query_length");
    s->claimed_mask =
        isnan(pe_slip_number(p, "mask_value")) ? -HUGE_VAL : pe_slip_number(p, "mask_value");
}

static void find_loudest(distances *s, const double *claimed)
{
    for (size_t i = 0; i < s->queries * s->keys; i++)
        if (fabs(claimed[i]) > fabs(s->loud)) {
            s->loud = claimed[i];
            s->at = i;
        }
}

/* Behind a mistake of distances, what that has made is claimed. */
static void take_first(const pe_slip *first, distances *s, size_t n)
{
    const distances *made = first->state;
    memcpy(s->numbers + n, first->made, n * sizeof *s->numbers);
    s->claimed = made->f;
    s->claimed_mask = made->mask;
}

static pe_status measure(pe_slip *p, pe_problem *why)
{
    index_family family;
    if (!find_family(p, &family))
        return PE_OK;
    distances *s = calloc(1, sizeof *s);
    p->state = s;
    if (s == NULL)
        return pe_fail_memory(why);
    s->family = family;
    set_sizes(p, s);
    p->n = s->queries * s->keys;
    s->numbers = malloc(2 * p->n * sizeof *s->numbers);
    if (s->numbers == NULL)
        return pe_fail_memory(why);
    p->made = s->numbers;
    p->claimed = p->made + p->n;
    for (size_t i = 0; i < p->n; i++)
        s->numbers[p->n + i] = s->listed != NULL ? pe_positions_at(s->listed, i)
                                                 : distance(s, query_at(p, i), key_at(p, i));
    if (family == BIAS)
        find_loudest(s, p->claimed);
    else
        s->claimed = claimed_buckets(p, family);
    if (p->of->first != NULL && p->of->first->by->stage == &pe_slip_distances)
        take_first(p->of->first, s, p->n);
    pe_numbers_spend(p->of, 4 * p->n);
    return PE_OK;
}

static void release(pe_slip *p)
{
    distances *s = p->state;
    if (s != NULL)
        free(s->numbers);
    free(s);
}

static void begin(pe_slip *p)
{
    distances *s = p->state;
    s->f = s->claimed;
    s->mask = s->claimed_mask;
}

static double at(const pe_slip *p, size_t e, double claimed, double *error)
{
    const distances *s = p->state;
    const size_t i = e % p->n;
    const double d = p->made[i];
    (void)claimed;
    (void)error;
    if (s->family != BIAS)
        return index_at(s, d, p->of->got[e]);
    const double unit = p->of->claimed[e - i + s->at] / s->loud;
    return isnan(d) ? s->mask : unit * d + 0.0;
}

/* Of indices by key - query, as the last query has them and then the first one. */
static void tell(const pe_slip *p)
{
    enum { MOST = 32 };
    const distances *s = p->state;
    double edges[MOST], range[2] = {HUGE_VAL, -HUGE_VAL};
    size_t n = 0;
    for (size_t i = 0; i < p->n && s->family != BIAS; i++) {
        range[0] = fmin(range[0], p->of->got[i]);
        range[1] = fmax(range[1], p->of->got[i]);
    }
    for (size_t k = 1; k < s->keys + s->queries - 1 && n < MOST && s->family != BIAS; k++) {
        const size_t i =
            k < s->keys ? p->n - s->keys + k : (s->keys + s->queries - 1 - k) * s->keys - 1;
        const size_t before = k < s->keys ? i - 1 : i + s->keys;
        if (p->of->got[i] != p->of->got[before])
            edges[n++] = p->claimed[i];
    }
    if (s->family != BIAS) {
        pe_numbers_list(p->of, "index_range", range, 2);
        pe_numbers_list(p->of, "index_edges", edges, n);
    }
}

const pe_slip_stage pe_slip_distances = {
    .measure = measure, .release = release, .begin = begin, .tell = tell, .at = at};

/* ---- distances of biases ---- */

/* The upload's head 0, where it is as loud as any other of the claim. */
static double got_at(const pe_slip *p, size_t i)
{
    return p->of->got[i];
}

static bool is_bias(const pe_slip *p)
{
    return ((const distances *)p->state)->family == BIAS;
}

/* -bias = slope (distance + a), by sums over the keys that the claim does not mask. */
static bool solve_shift(pe_slip *p)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double d = p->claimed[i], b = -got_at(p, i);
        if (isnan(d) || !isfinite(b))
            continue;
        n++;
        x += d;
        y += b;
        xx += d * d;
        xy += d * b;
    }
    const double slope = (n * xy - x * y) / (n * xx - x * x);
    p->a = round((y / slope - x) / n);
    return is_bias(p) && isfinite(p->a) && p->a != 0;
}

/* The largest element in units of the smallest but 0. */
static bool solve_reach(pe_slip *p)
{
    double most = 0, least = HUGE_VAL;
    for (size_t i = 0; i < p->n; i++) {
        const double x = fabs(got_at(p, i));
        if (!isnan(p->claimed[i]) && x > 0 && isfinite(x)) {
            most = fmax(most, x);
            least = fmin(least, x);
        }
    }
    p->a = round(most / least) + p->by->fault.value;
    return is_bias(p) && p->a > 1 && p->a < (double)((const distances *)p->state)->keys;
}

/* value: 1 where keys that share a distance are counted. How many before the last query have none. */
static bool solve_near(pe_slip *p)
{
    const distances *s = p->state;
    const size_t own = (size_t)s->first + s->queries - 1, row = p->n - s->keys;
    size_t n = 0;
    while (n <= own && own < s->keys && got_at(p, row + own - n) == 0)
        n++;
    p->a = (double)n - 1 + p->by->fault.value;
    return is_bias(p) && !s->by_key && n > 1 && n <= own;
}

/* By how much the first key without a distance is beyond its query. */
static bool solve_queries(pe_slip *p)
{
    const distances *s = p->state;
    size_t i = 0;
    while (i < p->n && got_at(p, i) != 0)
        i++;
    p->a = key_at(p, i) - query_at(p, i);
    return is_bias(p) && !s->by_key && i < p->n && p->a != 0;
}

/* The nearest key before the last query that is masked. */
static bool solve_window(pe_slip *p)
{
    const distances *s = p->state;
    const size_t own = (size_t)s->first + s->queries - 1, row = p->n - s->keys;
    const double mask = got_at(p, row);
    size_t n = 1;
    while (n < own && own < s->keys && got_at(p, row + own - n) != mask)
        n++;
    p->a = (double)n;
    return is_bias(p) && !s->by_key && (!isfinite(mask) || mask == s->mask) && n > 1 && n < own;
}

/* Keys at the left end of the first row that have no bias, but for the first. */
static bool solve_left(pe_slip *p)
{
    const distances *s = p->state;
    size_t n = 0;
    while (n < s->keys && got_at(p, n) == 0)
        n++;
    p->a = (double)n - 1;
    return s->by_key && n > 1 && n < s->keys;
}

static bool solve_past(pe_slip *p)
{
    p->a = ((const distances *)p->state)->first;
    return p->a > 0;
}

static bool is_of_bias(pe_slip *p)
{
    return is_bias(p);
}

static bool is_symmetric(pe_slip *p)
{
    const distances *s = p->state;
    return is_bias(p) && !s->causal && !s->by_key;
}

static bool is_causal(pe_slip *p)
{
    return ((const distances *)p->state)->causal;
}

static bool is_square(pe_slip *p)
{
    const distances *s = p->state;
    return is_bias(p) && s->queries == s->keys && s->queries > 1;
}

static bool is_long(pe_slip *p)
{
    const distances *s = p->state;
    return is_bias(p) && s->keys > 128;
}

static double query_less_key(const pe_slip *p, size_t i)
{
    return query_at(p, i) - key_at(p, i);
}

static double key_less_query(const pe_slip *p, size_t i)
{
    return key_at(p, i) - query_at(p, i);
}

static double key_alone(const pe_slip *p, size_t i)
{
    return isnan(p->claimed[i]) ? MASKED : -key_at(p, i);
}

static double query_alone(const pe_slip *p, size_t i)
{
    return isnan(p->claimed[i]) ? MASKED : query_at(p, i);
}

static double exchanged(const pe_slip *p, size_t i)
{
    return distance(p->state, key_at(p, i), query_at(p, i));
}

static double queries_reversed(const pe_slip *p, size_t i)
{
    const distances *s = p->state;
    return distance(s, 2 * s->first + (double)s->queries - 1 - query_at(p, i), key_at(p, i));
}

/* Of queries that are earlier by a; value: masks are as claimed. */
static double from_past(const pe_slip *p, size_t i)
{
    const distances *s = p->state;
    const double query = query_at(p, i) - p->a;
    if (s->family != BIAS || p->by->fault.value == 0)
        return distance(s, query, key_at(p, i));
    return isnan(p->claimed[i]) ? MASKED : fabs(query - key_at(p, i));
}

static double queries_moved(const pe_slip *p, size_t i)
{
    return distance(p->state, query_at(p, i) + p->a, key_at(p, i));
}

static double shortened(const pe_slip *p, size_t i)
{
    return p->claimed[i] < p->a ? 0 : p->claimed[i] - p->a;
}

/* fmin would pass what is masked. */
static double clamped(const pe_slip *p, size_t i)
{
    return p->claimed[i] > p->a ? p->a : p->claimed[i];
}

static double modulo(const pe_slip *p, size_t i)
{
    return fmod(p->claimed[i], p->a);
}

static double halved(const pe_slip *p, size_t i)
{
    return floor(p->claimed[i] / p->a);
}

static double of_eight_bits(const pe_slip *p, size_t i)
{
    const double d = p->claimed[i];
    return d - 256 * floor((d + 128) / 256);
}

static double within_window(const pe_slip *p, size_t i)
{
    return p->claimed[i] < p->a ? p->claimed[i] : MASKED;
}

static double behind_padding(const pe_slip *p, size_t i)
{
    return fmin(p->a - key_at(p, i), 0);
}

static double squared(const pe_slip *p, size_t i)
{
    return p->claimed[i] * fabs(p->claimed[i]);
}

static double logarithm(const pe_slip *p, size_t i)
{
    return copysign(log1p(fabs(p->claimed[i])), p->claimed[i]);
}

static double root(const pe_slip *p, size_t i)
{
    return copysign(sqrt(fabs(p->claimed[i])), p->claimed[i]);
}

/* value: keys so far after the query and beyond are masked. */
static double masked_from(const pe_slip *p, size_t i)
{
    const double ahead = key_less_query(p, i);
    return ahead >= p->by->fault.value ? MASKED : -ahead;
}

/* What stands where keys are masked. */
static bool solve_mask(pe_slip *p)
{
    distances *s = p->state;
    size_t i = 0;
    while (i < p->n && !isnan(p->claimed[i]))
        i++;
    p->b = s->mask;
    p->a = s->mask = i < p->n ? got_at(p, i) : p->b;
    return s->causal && p->a != p->b && !isnan(p->a);
}

/* ---- distances and buckets of indices ---- */

static bool is_index(pe_slip *p)
{
    return !is_bias(p);
}

static double opposite(const pe_slip *p, size_t i)
{
    return -p->claimed[i];
}

/* value: the sign of all. */
static double of_one_sign(const pe_slip *p, size_t i)
{
    return p->by->fault.value * fabs(p->claimed[i]);
}

/* Beyond the distance at which an index changes last, up to where the claimed one changes next. */
static bool solve_clip(pe_slip *p)
{
    const distances *s = p->state;
    double from = 1;
    const size_t row = s->queries > 0 ? p->n - s->keys : 0;
    for (size_t r = 0; r <= row; r += row > 0 ? row : 1)
        for (size_t i = r + 1; i < r + s->keys; i++)
            if (p->of->got[i] != p->of->got[i - 1])
                from = fmax(from, p->claimed[i] > 0 ? p->claimed[i] : 1 - p->claimed[i]);
    const double far = fmax(fabs(p->claimed[s->keys - 1]), fabs(p->claimed[row]));
    const double index = index_at(s, -from, 0);
    p->a = p->b = from;
    while (p->b < far && index_at(s, -p->b - 1, 0) == index)
        p->b++;
    return is_index(p) && p->b < far;
}

static double within_clip(const pe_slip *p, size_t i)
{
    return fmax(-p->a, fmin(p->a, p->claimed[i]));
}

static buckets *buckets_of(pe_slip *p)
{
    return &((distances *)p->state)->f;
}

static bool is_family(const pe_slip *p, index_family family)
{
    return ((const distances *)p->state)->family == family;
}

static bool round_nearest(pe_slip *p)
{
    buckets_of(p)->ends = nearbyint;
    return is_family(p, T5) || is_family(p, DEBERTA);
}

static bool round_up(pe_slip *p)
{
    buckets_of(p)->ends = ceil;
    return is_family(p, T5);
}

static bool round_down(pe_slip *p)
{
    buckets_of(p)->ends = floor;
    return is_family(p, DEBERTA);
}

static bool take_whole(pe_slip *p)
{
    buckets_of(p)->whole = true;
    return is_family(p, T5) && buckets_of(p)->exact > 1;
}

static bool count_zero_ahead(pe_slip *p)
{
    buckets_of(p)->zero_ahead = true;
    return is_family(p, T5) && buckets_of(p)->both;
}

/* value: one more, or less; 0: a quarter of the buckets. */
static bool move_exact(pe_slip *p)
{
    buckets *f = buckets_of(p);
    p->b = f->exact;
    f->exact = p->a = p->a == 0 ? floor(f->buckets / 4) : f->exact + p->a;
    return is_family(p, T5) && f->exact >= 1 && f->exact < f->buckets && f->exact < f->max_distance;
}

static bool take_no_logarithm(pe_slip *p)
{
    buckets *f = buckets_of(p);
    f->max_distance = HUGE_VAL;
    p->a = f->top;
    f->exact = is_family(p, DEBERTA) ? HUGE_VAL : f->top;
    return (is_family(p, T5) || is_family(p, DEBERTA)) && f->exact >= 1;
}

static bool leave_open(pe_slip *p)
{
    buckets *f = buckets_of(p);
    f->top = f->left = f->right = f->high = HUGE_VAL;
    f->low = -HUGE_VAL;
    return is_index(p);
}

/* value: all buckets of a direction for each, from so many times the first ones on. */
static bool keep_buckets(pe_slip *p)
{
    buckets *f = buckets_of(p);
    f->buckets = 2 * f->buckets;
    f->exact = floor(f->buckets / 2);
    f->top = f->buckets - 1;
    p->a = f->ahead *= p->by->fault.value;
    return is_family(p, T5) && f->both;
}

/* Of the two keys beside the query. */
static bool move_ahead(pe_slip *p)
{
    buckets *f = buckets_of(p);
    size_t i = 0;
    while (i + 2 < p->n && !(p->claimed[i] == -1 && p->claimed[i + 2] == 1))
        i++;
    p->b = f->ahead;
    if (i + 2 >= p->n)
        return false;
    f->ahead = p->a = p->of->got[i + 2] - p->of->got[i];
    return is_family(p, T5) && f->both && p->a != p->b;
}

static bool change_direction(pe_slip *p)
{
    buckets *f = buckets_of(p);
    const double n = f->both ? 2 * f->buckets : floor(f->buckets / 2);
    f->both = !f->both;
    f->buckets = n;
    f->ahead = f->both ? n : 0;
    f->exact = floor(n / 2);
    f->top = n - 1;
    return is_family(p, T5);
}

/* value: so many times as many. */
static bool times_buckets(pe_slip *p)
{
    buckets *f = buckets_of(p);
    p->b = pe_slip_number(p, "num_buckets");
    p->a = floor(p->b * p->a);
    const double n = f->both ? floor(p->a / 2) : p->a;
    f->buckets = n;
    f->ahead = f->both ? n : 0;
    f->exact = floor((is_family(p, DEBERTA) ? p->a : n) / 2);
    f->top = n - 1;
    return !is_family(p, SHAW) && is_index(p) && f->exact >= 1;
}

/* The larger max_distance is, the smaller are indices: the sum of what they are too large. */
static double excess(const pe_slip *p, double max_distance)
{
    distances *s = p->state;
    double sum = 0;
    s->f.max_distance = max_distance;
    const size_t step = p->n / 1024 + 1;
    for (size_t i = 0; i < p->n; i += step) {
        const double got = p->of->got[i];
        sum += fabs(index_at(s, p->claimed[i], got) - s->f.plus) - fabs(got - s->f.plus);
    }
    pe_numbers_spend(p->of, p->n / step);
    return sum;
}

/* The least whole number with which indices are no larger, by so much, than those of the upload. */
static double least_distance(const pe_slip *p, double more)
{
    double low = ((const distances *)p->state)->f.exact + 2, high = 0x1p32;
    while (low < high) {
        const double middle = floor((low + high) / 2);
        if (excess(p, middle) + more <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Of numbers that all explain the upload, the one that people would have taken. */
static bool solve_max_distance(pe_slip *p)
{
    static const double usual[] = {20,  32,  50,  64,  80,  100,  128,  200,  256,
                                   320, 400, 500, 512, 800, 1000, 1024, 2048, 4096};
    if (is_bias(p) || is_family(p, SHAW))
        return false;
    p->b = buckets_of(p)->max_distance;
    p->a = least_distance(p, 0);
    const double beyond = least_distance(p, 0.5), least = p->a;
    p->fitted = true;
    for (size_t k = 0; k < PE_LEN(usual) && p->fitted; k++)
        if (usual[k] >= least && usual[k] < beyond) {
            p->a = usual[k];
            p->fitted = false;
        }
    buckets_of(p)->max_distance = p->a;
    return least < beyond && p->a != p->b;
}

/* Of both ends, by how many indices there are; what is added goes with it. */
static bool solve_shaw_clip(pe_slip *p)
{
    buckets *f = buckets_of(p);
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t i = 0; i < p->n; i++) {
        least = fmin(least, p->of->got[i]);
        most = fmax(most, p->of->got[i]);
    }
    p->b = f->left;
    p->a = f->left = f->right = f->plus = floor((most - least) / 2);
    return is_family(p, SHAW) && p->a != p->b;
}

/* value: the limits alone, not what is added. */
static bool move_clip(pe_slip *p)
{
    buckets *f = buckets_of(p);
    p->b = f->left;
    f->left += p->by->fault.value;
    f->right += p->by->fault.value;
    p->a = f->left;
    return is_family(p, SHAW) && f->left >= 0 && f->right >= 0;
}

/* ---- the rows ---- */

#define FORM      "make the bias of the claimed form: symmetric, causal or key"
#define SIGN      "subtract slope times |query - key|, or mask the keys after the query"
#define MASK      "mask the keys whose position is greater than the query's, and no others"
#define OWN       "count the distance of a query from its own key as 0; of form key, keys from 0"
#define PAST      "add the length of the cache (past_key_values) to the queries' positions"
#define MULTIPLY  "multiply slopes by the distance"
#define ANEW      "do not count positions anew in each block or window"
#define SIGNED    "take key - query: key positions along the last axis minus query positions"
#define EDGES     "compute the bucket as the formula has it: floor, and min(num_buckets - 1)"
#define LOGARITHM "divide both by max_exact before the logarithm"
#define SHIFTED   "distance_shift", "distances were shifted: an offset of {a} was added to each"
#define ABSOLUTE  "the absolute distance was taken, its sign (direction) is lost: keys "
#define ROUNDED   "bucket_rounding", "the logarithm that gives the bucket was rounded "
#define EXACT     "bucket_exact", "buckets of one distance each end at the edge {a}, not at {b}"
#define CLIP      "set max_relative_position (left_max, right_max) as claimed"
#define NUMBER(NAME)                                                                               \
    NAME, NAME " was {a}, not {b}", .param = (NAME), .remedy = "set " NAME " as claimed"
#define DISTANCE &pe_slip_distances, NULL, NULL

static const pe_plain_mistake rows[] = {
    {{"bias_form", "the form was by key, slope times the key's position, with the mask of causal",
      .remedy = FORM},
     DISTANCE,
     is_causal,
     key_alone},
    {{"by_query_alone", "biases depend on the query (the row) alone, not on the distance (form)",
      .remedy = "take the distance of key and query"},
     DISTANCE,
     is_of_bias,
     query_alone},
    {{"mask_missing",
      "keys after the query are not masked: the distance kept its sign, and they gain what keys "
      "before it lose",
      .remedy = "mask the keys after the query"},
     DISTANCE,
     is_causal,
     query_less_key},
    {{"distance_signed",
      "the distance kept its sign, query - key: keys after the query gain what keys before it lose",
      .remedy = SIGN},
     DISTANCE,
     is_symmetric,
     query_less_key},
    {{"distance_opposite",
      "the distance had the opposite sign, key - query: keys before the query gain",
      .remedy = SIGN},
     DISTANCE,
     is_of_bias,
     key_less_query},
    {{"bias_transposed", "queries and keys are exchanged: the matrix is transposed",
      .remedy = "put queries along the axis before the last, and keys along the last one"},
     DISTANCE,
     is_square,
     exchanged},
    {{"queries_reversed", "the rows of queries are in reverse order",
      .remedy = "do not reverse the queries"},
     DISTANCE,
     is_of_bias,
     queries_reversed},
    {{"past_ignored",
      "queries were counted from 0, not from {a}: the past keys of the cache were left out, an "
      "offset of the position",
      .value = 1, .remedy = PAST},
     DISTANCE,
     solve_past,
     from_past},
    {{"queries_shifted", "positions of the queries are shifted: they are larger by {a}",
      .remedy = "count queries as keys are counted: the last query is at the last key"},
     DISTANCE,
     solve_queries,
     queries_moved},
    {{SHIFTED, .remedy = OWN}, DISTANCE, solve_shift, pe_slip_plus},
    {{"distance_shift", "distances were smaller by {a}, and none was below 0", .remedy = OWN},
     DISTANCE,
     solve_near,
     shortened},
    {{"distance_clamped", "distances were clamped at {a}",
      .remedy = "make the table of biases as long as the distances reach"},
     DISTANCE,
     solve_reach,
     clamped},
    {{"distance_wrapped", "distances restart each {a} keys: they were taken modulo {a}", .value = 1,
      .remedy = ANEW},
     DISTANCE,
     solve_reach,
     modulo},
    {{"bias_padding", "keys count from {a} on: those before are padding on the left, at 0",
      .remedy = "count keys from the claim, not from the attention mask"},
     DISTANCE,
     solve_left,
     behind_padding},
    {{"distance_squared", "distances were squared", .remedy = MULTIPLY},
     DISTANCE,
     is_of_bias,
     squared},
    {{"distance_root", "distances were replaced by their square root", .remedy = MULTIPLY},
     DISTANCE,
     is_of_bias,
     root},
    {{"distance_logarithm", "distances were replaced by their logarithm, ln(1 + distance)",
      .remedy = MULTIPLY},
     DISTANCE,
     is_of_bias,
     logarithm},
    {{"distance_overflow", "distances were kept in an integer of {a} bits, which overflowed",
      .value = 8, .remedy = "keep distances in int32 or float32"},
     DISTANCE,
     is_long,
     of_eight_bits},
    {{"distance_halved", "distances were divided by {a} and rounded down, as integers are",
      .value = 1, .remedy = "divide no positions"},
     DISTANCE,
     solve_near,
     halved},
    {{"mask_window", "keys {a} and more before the query are masked, too: a sliding window",
      .remedy = MASK},
     DISTANCE,
     solve_window,
     within_window},
    {{"mask_strict", "one key too many is masked: each query's own", .remedy = MASK},
     DISTANCE,
     is_causal,
     masked_from},
    {{"mask_late", "one key too few is masked: the one after the query is not", .value = 2,
      .remedy = MASK},
     DISTANCE,
     is_causal,
     masked_from},
    {{"mask_value", "masked keys hold {a}, not the claimed mask {b}",
      .remedy = "fill masked keys with the claimed mask value"},
     DISTANCE,
     solve_mask,
     NULL},
    {{"distance_sign", "the sign of the distance was the other one: its direction is reversed",
      .remedy = SIGNED},
     DISTANCE,
     is_index,
     opposite},
    {{"distance_absolute", ABSOLUTE "after the query count as those before it", .value = -1,
      .remedy = SIGNED},
     DISTANCE,
     is_index,
     of_one_sign},
    {{"distance_absolute", ABSOLUTE "before the query count as those after it", .value = 1,
      .remedy = SIGNED},
     DISTANCE,
     is_index,
     of_one_sign},
    {{SHIFTED, .value = 1, .remedy = OWN}, DISTANCE, is_index, pe_slip_plus},
    {{SHIFTED, .value = -1, .remedy = OWN}, DISTANCE, is_index, pe_slip_plus},
    {{"distance_clipped",
      "distances were clipped before they were put in buckets, at {a} or up to {b}: all beyond "
      "share that bucket",
      .remedy = "clip the bucket, min(num_buckets - 1), not the distance"},
     DISTANCE,
     solve_clip,
     within_clip},
    {{"bucket_direction",
      "bidirectional was the other value: buckets of one direction and of both were exchanged",
      .remedy = "set bidirectional: true of an encoder, false of a decoder"},
     &pe_slip_distances,
     .solve = change_direction},
    {{NUMBER("num_buckets"), .value = 0.5}, &pe_slip_distances, .solve = times_buckets},
    {{NUMBER("num_buckets"), .value = 2}, &pe_slip_distances, .solve = times_buckets},
    {{NUMBER("max_distance")}, &pe_slip_distances, .solve = solve_max_distance},
    {{"shaw_clip", "distances were clipped at {a}, not at {b}, before and after the query",
      .remedy = CLIP},
     &pe_slip_distances,
     .solve = solve_shaw_clip},
    {{"buckets_not_halved",
      "num_buckets was not halved for the two directions: each has all of them, from {a} on",
      .value = 1, .remedy = "halve num_buckets where bidirectional is true"},
     &pe_slip_distances,
     .solve = keep_buckets},
    {{ROUNDED "to nearest: every edge lies elsewhere", .remedy = EDGES},
     &pe_slip_distances,
     .solve = round_nearest},
    {{ROUNDED "up: edges lie earlier", .remedy = EDGES}, &pe_slip_distances, .solve = round_up},
    {{ROUNDED "down: edges lie later", .remedy = "compute the bucket as the formula has it: ceil"},
     &pe_slip_distances,
     .solve = round_down},
    {{"bucket_logarithm",
      "log(distance)/log(max_distance) was taken, not log(distance/max_exact)/log(max_distance/"
      "max_exact)",
      .remedy = LOGARITHM},
     &pe_slip_distances,
     .solve = take_whole},
    {{"zero_ahead", "distance 0 counts as ahead, with the keys after the query",
      .remedy = "test key > query, not key >= query"},
     &pe_slip_distances,
     .solve = count_zero_ahead},
    {{EXACT ": a quarter", .remedy = "max_exact is half of the buckets of a direction"},
     &pe_slip_distances,
     .solve = move_exact},
    {{EXACT, .value = 1, .remedy = "max_exact is half of the buckets of a direction"},
     &pe_slip_distances,
     .solve = move_exact},
    {{EXACT, .value = -1, .remedy = "max_exact is half of the buckets of a direction"},
     &pe_slip_distances,
     .solve = move_exact},
    {{"bucket_linear", "distances were put in no buckets: no logarithm was taken up to the last",
      .remedy = "distances from max_exact on share buckets of growing width"},
     &pe_slip_distances,
     .solve = take_no_logarithm},
    {{"index_unclipped", "the last index was not clipped: distances beyond it have more",
      .remedy = "clip the distance or the bucket, min(.., last)"},
     &pe_slip_distances,
     .solve = leave_open},
    {{"bucket_offset", "buckets of keys after the query begin at an offset of {a}, not of {b}",
      .remedy = "add half of num_buckets for keys after the query"},
     &pe_slip_distances,
     .solve = move_ahead},
    {{"shaw_clip", "distances were clipped at {a}, not at {b}, before what is added", .value = -1,
      .remedy = CLIP},
     &pe_slip_distances,
     .solve = move_clip},
    {{"shaw_clip", "distances were clipped at {a}, not at {b}, before what is added", .value = 1,
      .remedy = CLIP},
     &pe_slip_distances,
     .solve = move_clip},
};
const pe_plain_mistakes pe_mistakes_of_distances = {rows, PE_LEN(rows)};
