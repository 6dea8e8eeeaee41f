/* SPDX-License-Identifier: MIT */
/* mistakes_distances.c - how distances of linear biases go wrong. */
#include "verify/plain/plain_distances.h"

/* The upload's head 0, where it is as loud as any other of the claim. */
static double got_at(const pe_slip *p, size_t i)
{
    return p->of->got[i];
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
    return pe_distance_is_bias(p) && isfinite(p->a) && p->a != 0;
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
    return pe_distance_is_bias(p) && p->a > 1 &&
           p->a < (double)((const pe_distance_stage *)p->state)->keys;
}

/* value: 1 where keys that share a distance are counted. How many before the last query have none. */
static bool solve_near(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    const size_t own = (size_t)s->first + s->queries - 1, row = p->n - s->keys;
    size_t n = 0;
    while (n <= own && own < s->keys && got_at(p, row + own - n) == 0)
        n++;
    p->a = (double)n - 1 + p->by->fault.value;
    return pe_distance_is_bias(p) && !s->by_key && n > 1 && n <= own;
}

/* By how much the first key without a distance is beyond its query. */
static bool solve_queries(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    size_t i = 0;
    while (i < p->n && got_at(p, i) != 0)
        i++;
    p->a = pe_distance_key(p, i) - pe_distance_query(p, i);
    return pe_distance_is_bias(p) && !s->by_key && i < p->n && p->a != 0;
}

/* The nearest key before the last query that is masked. */
static bool solve_window(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    const size_t own = (size_t)s->first + s->queries - 1, row = p->n - s->keys;
    const double mask = got_at(p, row);
    size_t n = 1;
    while (n < own && own < s->keys && got_at(p, row + own - n) != mask)
        n++;
    p->a = (double)n;
    return pe_distance_is_bias(p) && !s->by_key && (!isfinite(mask) || mask == s->mask) && n > 1 &&
           n < own;
}

/* Keys at the left end of the first row that have no bias, but for the first. */
static bool solve_left(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    size_t n = 0;
    while (n < s->keys && got_at(p, n) == 0)
        n++;
    p->a = (double)n - 1;
    return s->by_key && n > 1 && n < s->keys;
}

static bool solve_past(pe_slip *p)
{
    p->a = ((const pe_distance_stage *)p->state)->first;
    return p->a > 0;
}

static bool is_of_bias(pe_slip *p)
{
    return pe_distance_is_bias(p);
}

static bool is_symmetric(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    return pe_distance_is_bias(p) && !s->causal && !s->by_key;
}

static bool is_causal(pe_slip *p)
{
    return ((const pe_distance_stage *)p->state)->causal;
}

static bool is_square(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    return pe_distance_is_bias(p) && s->queries == s->keys && s->queries > 1;
}

static bool is_long(pe_slip *p)
{
    const pe_distance_stage *s = p->state;
    return pe_distance_is_bias(p) && s->keys > 128;
}

static double query_less_key(const pe_slip *p, size_t i)
{
    return pe_distance_query(p, i) - pe_distance_key(p, i);
}

static double key_less_query(const pe_slip *p, size_t i)
{
    return pe_distance_key(p, i) - pe_distance_query(p, i);
}

static double key_alone(const pe_slip *p, size_t i)
{
    return isnan(p->claimed[i]) ? PE_MASKED : -pe_distance_key(p, i);
}

static double query_alone(const pe_slip *p, size_t i)
{
    return isnan(p->claimed[i]) ? PE_MASKED : pe_distance_query(p, i);
}

static double exchanged(const pe_slip *p, size_t i)
{
    return pe_distance_of(p->state, pe_distance_key(p, i), pe_distance_query(p, i));
}

static double queries_reversed(const pe_slip *p, size_t i)
{
    const pe_distance_stage *s = p->state;
    return pe_distance_of(s, 2 * s->first + (double)s->queries - 1 - pe_distance_query(p, i),
                          pe_distance_key(p, i));
}

/* Of queries that are earlier by a; value: masks are as claimed. */
static double from_past(const pe_slip *p, size_t i)
{
    const pe_distance_stage *s = p->state;
    const double query = pe_distance_query(p, i) - p->a;
    if (s->family != PE_OF_BIAS || p->by->fault.value == 0)
        return pe_distance_of(s, query, pe_distance_key(p, i));
    return isnan(p->claimed[i]) ? PE_MASKED : fabs(query - pe_distance_key(p, i));
}

static double queries_moved(const pe_slip *p, size_t i)
{
    return pe_distance_of(p->state, pe_distance_query(p, i) + p->a, pe_distance_key(p, i));
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
    return p->claimed[i] < p->a ? p->claimed[i] : PE_MASKED;
}

static double behind_padding(const pe_slip *p, size_t i)
{
    return fmin(p->a - pe_distance_key(p, i), 0);
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
    return ahead >= p->by->fault.value ? PE_MASKED : -ahead;
}

/* What stands where keys are masked. */
static bool solve_mask(pe_slip *p)
{
    pe_distance_stage *s = p->state;
    size_t i = 0;
    while (i < p->n && !isnan(p->claimed[i]))
        i++;
    p->b = s->mask;
    p->a = s->mask = i < p->n ? got_at(p, i) : p->b;
    return s->causal && p->a != p->b && !isnan(p->a);
}

/* ---- the rows ---- */

#define DISTANCE &pe_slip_distances, NULL, NULL

static const pe_plain_mistake rows[] = {
    PE_SLIP(bias_form, DISTANCE, is_causal, key_alone),
    PE_SLIP(by_query_alone, DISTANCE, is_of_bias, query_alone),
    PE_SLIP(mask_missing, DISTANCE, is_causal, query_less_key),
    PE_SLIP(distance_signed, DISTANCE, is_symmetric, query_less_key),
    PE_SLIP(distance_opposite, DISTANCE, is_of_bias, key_less_query),
    PE_SLIP(bias_transposed, DISTANCE, is_square, exchanged),
    PE_SLIP(queries_reversed, DISTANCE, is_of_bias, queries_reversed),
    PE_SLIP(past_ignored, DISTANCE, solve_past, from_past, .fault.value = 1),
    PE_SLIP(queries_shifted, DISTANCE, solve_queries, queries_moved),
    PE_SLIP(distance_shift, DISTANCE, solve_shift, pe_slip_plus,
            .fault.rule = "distances were shifted: an offset of {a} was added to each"),
    PE_SLIP(distance_shift, DISTANCE, solve_near, shortened),
    PE_SLIP(distance_clamped, DISTANCE, solve_reach, clamped),
    PE_SLIP(distance_wrapped, DISTANCE, solve_reach, modulo, .fault.value = 1),
    PE_SLIP(bias_padding, DISTANCE, solve_left, behind_padding),
    PE_SLIP(distance_squared, DISTANCE, is_of_bias, squared),
    PE_SLIP(distance_root, DISTANCE, is_of_bias, root),
    PE_SLIP(distance_logarithm, DISTANCE, is_of_bias, logarithm),
    PE_SLIP(distance_overflow, DISTANCE, is_long, of_eight_bits, .fault.value = 8),
    PE_SLIP(distance_halved, DISTANCE, solve_near, halved, .fault.value = 1),
    PE_SLIP(mask_window, DISTANCE, solve_window, within_window),
    PE_SLIP(mask_strict, DISTANCE, is_causal, masked_from),
    PE_SLIP(mask_late, DISTANCE, is_causal, masked_from, .fault.value = 2),
    PE_SLIP(mask_value, DISTANCE, solve_mask, NULL),
};
const pe_plain_mistakes pe_mistakes_of_distances = {rows, PE_LEN(rows)};
