/* SPDX-License-Identifier: MIT */
/* distance_rows.c - how distances of biases and of indices go wrong, and the buckets of these. */
#include "verify/plain/plain_distances.h"

/* ---- distances of linear biases ---- */

/* The upload's head 0, where it is as loud as any other of the claim. */
static double got_at(const pe_sequence *p, size_t i)
{
    return p->of->got[i];
}

/* -bias = slope (distance + a), by sums over the keys that the claim does not mask. */
static bool solve_shift(pe_sequence *p)
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
static bool solve_reach(pe_sequence *p)
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
static bool solve_near(pe_sequence *p)
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
static bool solve_queries(pe_sequence *p)
{
    const pe_distance_stage *s = p->state;
    size_t i = 0;
    while (i < p->n && got_at(p, i) != 0)
        i++;
    const size_t query = i / s->keys;
    p->a = (double)(i % s->keys) - s->first - (double)query;
    return pe_distance_is_bias(p) && !s->by_key && i < p->n && p->a != 0;
}

/* The nearest key before the last query that is masked. */
static bool solve_window(pe_sequence *p)
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
static bool solve_left(pe_sequence *p)
{
    const pe_distance_stage *s = p->state;
    size_t n = 0;
    while (n < s->keys && got_at(p, n) == 0)
        n++;
    p->a = (double)n - 1;
    return s->by_key && n > 1 && n < s->keys;
}

/* What stands where keys are masked. */
static bool solve_mask(pe_sequence *p)
{
    pe_distance_stage *s = p->state;
    size_t i = 0;
    while (i < p->n && !isnan(p->claimed[i]))
        i++;
    p->b = s->mask;
    p->a = s->mask = i < p->n ? got_at(p, i) : p->b;
    return s->causal && p->a != p->b && !isnan(p->a);
}

/* ---- indices: their sign, clipping and buckets ---- */

static bool is_index(pe_sequence *p)
{
    return !pe_distance_is_bias(p);
}

/* Beyond the distance at which an index changes last, up to where the claimed one changes next. */
static bool solve_clip(pe_sequence *p)
{
    const pe_distance_stage *s = p->state;
    double from = 1;
    const size_t row = s->queries > 0 ? p->n - s->keys : 0;
    for (size_t r = 0; r <= row; r += row > 0 ? row : 1)
        for (size_t i = r + 1; i < r + s->keys; i++)
            if (p->of->got[i] != p->of->got[i - 1])
                from = fmax(from, p->claimed[i] > 0 ? p->claimed[i] : 1 - p->claimed[i]);
    const double far = fmax(fabs(p->claimed[s->keys - 1]), fabs(p->claimed[row]));
    const double index = pe_distance_index(s, -from, 0);
    p->a = p->b = from;
    /* An index does not come back: halves find the last distance that has it. */
    double beyond = far, middle;
    if (pe_distance_index(s, -far, 0) == index)
        return false;
    while ((middle = floor((p->b + beyond) / 2)) > p->b && middle < beyond)
        if (pe_distance_index(s, -middle, 0) == index)
            p->b = middle;
        else
            beyond = middle;
    return is_index(p) && p->b < far;
}

static pe_buckets *buckets_of(pe_sequence *p)
{
    return &((pe_distance_stage *)p->state)->f;
}

static bool is_family(const pe_sequence *p, pe_index_family family)
{
    return ((const pe_distance_stage *)p->state)->family == family;
}

static bool round_nearest(pe_sequence *p)
{
    buckets_of(p)->ends = nearbyint;
    return is_family(p, PE_OF_T5) || is_family(p, PE_OF_DEBERTA);
}

static bool round_up(pe_sequence *p)
{
    buckets_of(p)->ends = ceil;
    return is_family(p, PE_OF_T5);
}

static bool round_down(pe_sequence *p)
{
    buckets_of(p)->ends = floor;
    return is_family(p, PE_OF_DEBERTA);
}

static bool take_whole(pe_sequence *p)
{
    buckets_of(p)->whole = true;
    return is_family(p, PE_OF_T5) && buckets_of(p)->exact > 1;
}

static bool count_zero_ahead(pe_sequence *p)
{
    buckets_of(p)->zero_ahead = true;
    return is_family(p, PE_OF_T5) && buckets_of(p)->both;
}

/* value: one more, or less; 0: a quarter of the buckets. */
static bool move_exact(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    p->b = f->exact;
    f->exact = p->a = p->a == 0 ? floor(f->buckets / 4) : f->exact + p->a;
    return is_family(p, PE_OF_T5) && f->exact >= 1 && f->exact < f->buckets &&
           f->exact < f->max_distance;
}

static bool take_no_logarithm(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    f->max_distance = HUGE_VAL;
    p->a = f->top;
    f->exact = is_family(p, PE_OF_DEBERTA) ? HUGE_VAL : f->top;
    return (is_family(p, PE_OF_T5) || is_family(p, PE_OF_DEBERTA)) && f->exact >= 1;
}

static bool leave_open(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    f->top = f->left = f->right = f->high = HUGE_VAL;
    f->low = -HUGE_VAL;
    return is_index(p);
}

/* value: all buckets of a direction for each, from so many times the first ones on. */
static bool keep_buckets(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    f->buckets = 2 * f->buckets;
    f->exact = floor(f->buckets / 2);
    f->top = f->buckets - 1;
    p->a = f->ahead *= p->by->fault.value;
    return is_family(p, PE_OF_T5) && f->both;
}

/* Of the two keys beside the query. */
static bool move_ahead(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    size_t i = 0;
    while (i + 2 < p->n && !(p->claimed[i] == -1 && p->claimed[i + 2] == 1))
        i++;
    p->b = f->ahead;
    if (i + 2 >= p->n)
        return false;
    f->ahead = p->a = p->of->got[i + 2] - p->of->got[i];
    return is_family(p, PE_OF_T5) && f->both && p->a != p->b;
}

static bool change_direction(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    const double n = f->both ? 2 * f->buckets : floor(f->buckets / 2);
    f->both = !f->both;
    f->buckets = n;
    f->ahead = f->both ? n : 0;
    f->exact = floor(n / 2);
    f->top = n - 1;
    return is_family(p, PE_OF_T5);
}

/* value: so many times as many. */
static bool times_buckets(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    p->b = pe_slip_number(p, "num_buckets");
    p->a = floor(p->b * p->a);
    const double n = f->both ? floor(p->a / 2) : p->a;
    f->buckets = n;
    f->ahead = f->both ? n : 0;
    f->exact = floor((is_family(p, PE_OF_DEBERTA) ? p->a : n) / 2);
    f->top = n - 1;
    return !is_family(p, PE_OF_SHAW) && is_index(p) && f->exact >= 1;
}

/* The larger max_distance is, the smaller are indices: the sum of what they are too large. */
static double excess(const pe_sequence *p, double max_distance)
{
    pe_distance_stage *s = p->state;
    double sum = 0;
    s->f.max_distance = max_distance;
    const size_t step = p->n / 1024 + 1;
    for (size_t i = 0; i < p->n; i += step) {
        const double got = p->of->got[i];
        sum += fabs(pe_distance_index(s, p->claimed[i], got) - s->f.plus) - fabs(got - s->f.plus);
    }
    pe_numbers_spend(p->of, p->n / step);
    return sum;
}

/* The least whole number with which indices are no larger, by so much, than those of the upload. */
static double least_distance(const pe_sequence *p, double more)
{
    double low = ((const pe_distance_stage *)p->state)->f.exact + 2, high = 0x1p32;
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
static bool solve_max_distance(pe_sequence *p)
{
    static const double usual[] = {20,  32,  50,  64,  80,  100,  128,  200,  256,
                                   320, 400, 500, 512, 800, 1000, 1024, 2048, 4096};
    if (pe_distance_is_bias(p) || is_family(p, PE_OF_SHAW))
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
static bool solve_shaw_clip(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t i = 0; i < p->n; i++) {
        least = fmin(least, p->of->got[i]);
        most = fmax(most, p->of->got[i]);
    }
    p->b = f->left;
    p->a = f->left = f->right = f->plus = floor((most - least) / 2);
    return is_family(p, PE_OF_SHAW) && p->a != p->b;
}

/* value: the limits alone, not what is added. */
static bool move_clip(pe_sequence *p)
{
    pe_buckets *f = buckets_of(p);
    p->b = f->left;
    f->left += p->by->fault.value;
    f->right += p->by->fault.value;
    p->a = f->left;
    return is_family(p, PE_OF_SHAW) && f->left >= 0 && f->right >= 0;
}

/* ---- the rows ---- */

#define DISTANCE &pe_slip_distances, NULL, NULL
#define BIAS     DISTANCE, .where = "bias"
#define CAUSAL   DISTANCE, .where = "causal"
#define ABSOLUTE "the absolute distance was taken, its sign (direction) is lost: keys "
#define ROUNDED  .fault.rule = "the logarithm that gives the bucket was rounded "
#define EDGE     "buckets of one distance each end at the edge {a}, not at {b}"
#define EXACT(BY, ...)                                                                             \
    PE_SLIP(bucket_exact, &pe_slip_distances, .solve = move_exact, .fault.value = (BY), __VA_ARGS__)
#define OFFSET .fault.rule = "distances were shifted: an offset of {a} was added to each"
#define NUMBER(NAME, ...)                                                                          \
    {                                                                                              \
        {.rule = NAME " was {a}, not {b}", .param = (NAME), .remedy = "set " NAME " as claimed"},  \
            .stage = &pe_slip_distances, .solve = __VA_ARGS__                                      \
    }
#define INDEX &pe_slip_distances, .where = "bias == 0"

static const pe_slip rows[] = {
    PE_SLIP(bias_form, CAUSAL, .op = "x == x ? -key : none"),
    PE_SLIP(by_query_alone, BIAS, .op = "x == x ? query : none"),
    PE_SLIP(mask_missing, CAUSAL, .op = "query - key"),
    PE_SLIP(distance_signed, DISTANCE, .where = "bias && causal == 0 && by_key == 0",
            .op = "query - key"),
    PE_SLIP(distance_opposite, BIAS, .op = "key - query"),
    PE_SLIP(bias_transposed, DISTANCE, .where = "bias && queries == keys && queries > 1",
            .op = PE_DISTANCE("key", "query")),
    PE_SLIP(queries_reversed, BIAS, .op = PE_DISTANCE("2*past + queries - 1 - query", "key")),
    PE_SLIP(past_ignored, DISTANCE, .a = "past", .where = "a > 0",
            .op = "bias == 0 ? key - query + a : x == x ? abs(query - a - key) : none"),
    PE_SLIP(queries_shifted, DISTANCE, .solve = solve_queries,
            .op = PE_DISTANCE("query + a", "key")),
    PE_SLIP(distance_shift, DISTANCE, .solve = solve_shift, .op = "x + a",
            .fault.rule = "distances were shifted: an offset of {a} was added to each"),
    PE_SLIP(distance_shift, DISTANCE, .solve = solve_near, .op = "x < a ? 0 : x - a"),
    PE_SLIP(distance_clamped, DISTANCE, .solve = solve_reach, .op = "x > a ? a : x"),
    PE_SLIP(distance_wrapped, DISTANCE, .solve = solve_reach, .op = "x - a*trunc(x/a)",
            .fault.value = 1),
    PE_SLIP(bias_padding, DISTANCE, .solve = solve_left, .op = "min(a - key, 0)"),
    PE_SLIP(distance_squared, BIAS, .op = "x*abs(x)"),
    PE_SLIP(distance_root, BIAS, .op = "signed(sqrt(abs(x)), x)"),
    PE_SLIP(distance_logarithm, BIAS, .op = "signed(log1p(abs(x)), x)"),
    PE_SLIP(distance_overflow, DISTANCE, .where = "bias && keys > 128",
            .op = "(x + 128) % 256 - 128", .fault.value = 8),
    PE_SLIP(distance_halved, DISTANCE, .solve = solve_near, .op = "floor(x/a)", .fault.value = 1),
    PE_SLIP(mask_window, DISTANCE, .solve = solve_window, .op = "x < a ? x : none"),
    PE_SLIP(mask_strict, CAUSAL, .op = "key >= query ? none : query - key"),
    PE_SLIP(mask_late, CAUSAL, .op = "key >= query + 2 ? none : query - key"),
    PE_SLIP(mask_value, DISTANCE, .solve = solve_mask),
    /* indices */
    PE_SLIP(distance_sign, INDEX, .op = "-x"),
    PE_SLIP(distance_absolute, INDEX, .op = "-abs(x)"),
    PE_SLIP(distance_absolute, INDEX, .op = "abs(x)",
            .fault.rule = ABSOLUTE "before the query count as those after it"),
    PE_SLIP(distance_shift, INDEX, .op = "x + a", OFFSET, .fault.value = 1),
    PE_SLIP(distance_shift, INDEX, .op = "x + a", OFFSET, .fault.value = -1),
    PE_SLIP(distance_clipped, INDEX, .solve = solve_clip, .op = "max(-a, min(a, x))"),
    PE_SLIP(bucket_direction, &pe_slip_distances, .solve = change_direction),
    NUMBER("num_buckets", times_buckets, .fault.value = 0.5),
    NUMBER("num_buckets", times_buckets, .fault.value = 2),
    NUMBER("max_distance", solve_max_distance),
    PE_SLIP(shaw_clip, &pe_slip_distances, .solve = solve_shaw_clip),
    PE_SLIP(buckets_not_halved, &pe_slip_distances, .solve = keep_buckets, .fault.value = 1),
    PE_SLIP(bucket_rounding, &pe_slip_distances, .solve = round_nearest),
    PE_SLIP(bucket_rounding, &pe_slip_distances, .solve = round_up,
            ROUNDED "up: edges lie earlier"),
    PE_SLIP(bucket_rounding, &pe_slip_distances, .solve = round_down,
            ROUNDED "down: edges lie later",
            .fault.remedy = "compute the bucket as the formula has it: ceil"),
    PE_SLIP(bucket_logarithm, &pe_slip_distances, .solve = take_whole),
    PE_SLIP(zero_ahead, &pe_slip_distances, .solve = count_zero_ahead),
    EXACT(0, .fault.rule = EDGE ": a quarter"),
    EXACT(1, .fault.rule = EDGE),
    EXACT(-1, .fault.rule = EDGE),
    PE_SLIP(bucket_linear, &pe_slip_distances, .solve = take_no_logarithm),
    PE_SLIP(index_unclipped, &pe_slip_distances, .solve = leave_open),
    PE_SLIP(bucket_offset, &pe_slip_distances, .solve = move_ahead),
    PE_SLIP(shaw_clip, &pe_slip_distances, .solve = move_clip,
            .fault.rule = "distances were clipped at {a}, not at {b}, before what is added",
            .fault.value = -1),
    PE_SLIP(shaw_clip, &pe_slip_distances, .solve = move_clip,
            .fault.rule = "distances were clipped at {a}, not at {b}, before what is added",
            .fault.value = 1),
};
const pe_slips pe_mistakes_of_distances = {rows, PE_LEN(rows)};
