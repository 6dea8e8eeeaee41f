/* SPDX-License-Identifier: MIT */
/* bucket_causes.c - indices of relative positions: the function of key - query that made them. */
#include "verify/bucket_causes.h"

#include <math.h>

#include "verify/bucket_function.h"
#include "verify/lookup.h"

/* ---- what rows change ---- */

/* A mistake: another function, for each number of `by`, or for 0. */
typedef struct row {
    pe_fault fault;
    bool (*change)(pe_bucket_function *f); /* false: it makes no sense here */
    double by[5];                          /* up to a 0 */
} row;

/* The number of a function that a sentence tells becomes another one. False: it is the same. */
static bool set(pe_bucket_function *f, double *number, double to)
{
    f->b = *number;
    f->a = *number = to;
    return f->a != f->b;
}

static bool change_direction(pe_bucket_function *f)
{
    f->both = !f->both;
    pe_bucket_function_resize(f, f->num_buckets);
    return f->family == PE_BUCKETS_T5;
}

static bool take_buckets(pe_bucket_function *f, double to)
{
    f->b = f->num_buckets;
    f->a = floor(to);
    pe_bucket_function_resize(f, f->a);
    return f->family != PE_BUCKETS_SHAW && f->exact >= 1 && f->a != f->b;
}

static bool to_buckets(pe_bucket_function *f)
{
    return take_buckets(f, f->by);
}

static bool times_buckets(pe_bucket_function *f)
{
    return take_buckets(f, f->num_buckets * f->by);
}

static bool keep_buckets(pe_bucket_function *f)
{
    f->a = f->ahead *= f->by;
    f->buckets = f->num_buckets;
    f->exact = floor(f->buckets / 2);
    f->top = f->buckets - 1;
    return f->both;
}

static bool take_distance(pe_bucket_function *f, double to)
{
    return f->family != PE_BUCKETS_SHAW && to > f->exact + 1 && set(f, &f->max_distance, floor(to));
}

static bool to_distance(pe_bucket_function *f)
{
    return take_distance(f, f->by);
}

static bool times_distance(pe_bucket_function *f)
{
    return take_distance(f, f->max_distance * f->by);
}

static bool times_exact(pe_bucket_function *f)
{
    return f->family == PE_BUCKETS_T5 && take_distance(f, f->max_distance * f->exact);
}

static bool turn_sign(pe_bucket_function *f)
{
    f->sign = -f->sign;
    return true;
}

static bool lose_sign(pe_bucket_function *f)
{
    f->absolute = f->sign * f->by;
    return true;
}

static bool ignore_past(pe_bucket_function *f)
{
    f->a = f->x->first;
    f->shift = f->sign * f->x->first;
    return f->x->first > 0;
}

static bool shift_by(pe_bucket_function *f, double more)
{
    f->a = more;
    f->shift += more;
    return isfinite(more) && more != 0;
}

static bool shift(pe_bucket_function *f)
{
    return shift_by(f, f->by);
}

static bool round_down(pe_bucket_function *f)
{
    f->ends = PE_ROUND_DOWN;
    return f->family == PE_BUCKETS_DEBERTA;
}

static bool round_nearest(pe_bucket_function *f)
{
    f->ends = PE_ROUND_NEAREST;
    return f->family != PE_BUCKETS_SHAW;
}

static bool round_up(pe_bucket_function *f)
{
    f->ends = PE_ROUND_UP;
    return f->family == PE_BUCKETS_T5;
}

static bool take_half(pe_bucket_function *f)
{
    f->half = true;
    return f->family != PE_BUCKETS_SHAW;
}

static bool take_whole(pe_bucket_function *f)
{
    f->whole = true;
    return f->family == PE_BUCKETS_T5 && f->exact > 1;
}

/* The limits that are asked for: below, above. */
static bool open_ends(pe_bucket_function *f, bool below, bool above)
{
    if (f->family == PE_BUCKETS_T5)
        f->top = HUGE_VAL;
    f->left = below ? HUGE_VAL : f->left;
    f->right = above ? HUGE_VAL : f->right;
    f->low = below ? -HUGE_VAL : f->low;
    f->high = above ? HUGE_VAL : f->high;
    return f->family != PE_BUCKETS_T5 || (below && above);
}

static bool leave_open(pe_bucket_function *f)
{
    return open_ends(f, true, true);
}

static bool leave_below(pe_bucket_function *f)
{
    return open_ends(f, true, false);
}

static bool leave_above(pe_bucket_function *f)
{
    return open_ends(f, false, true);
}

static bool zero_ahead(pe_bucket_function *f)
{
    f->zero_ahead = true;
    return f->both;
}

static bool move_ahead(pe_bucket_function *f)
{
    return f->both &&
           set(f, &f->ahead, pe_indices_at(f->x, f->sign) - pe_indices_at(f->x, -f->sign)) &&
           isfinite(f->a);
}

static bool set_exact(pe_bucket_function *f, double to)
{
    return f->family == PE_BUCKETS_T5 && to >= 1 && to < f->buckets && to < f->max_distance &&
           set(f, &f->exact, to);
}

static bool quarter_exact(pe_bucket_function *f)
{
    return set_exact(f, floor(f->buckets / 4));
}

static bool move_exact(pe_bucket_function *f)
{
    return set_exact(f, f->exact + f->by);
}

static bool no_logarithm(pe_bucket_function *f)
{
    f->max_distance = HUGE_VAL;
    f->a = f->top;
    f->exact = f->family == PE_BUCKETS_DEBERTA ? HUGE_VAL : f->top;
    return f->family == PE_BUCKETS_DEBERTA || (f->family == PE_BUCKETS_T5 && f->exact >= 1);
}

static bool move_top(pe_bucket_function *f)
{
    return f->family == PE_BUCKETS_T5 && set(f, &f->top, f->top + f->by);
}

/* Of Shaw what is added goes with the limit, but where it is kept. */
static bool clip_at(pe_bucket_function *f, double left, double right, bool keep)
{
    f->plus = keep || f->plus != f->left ? f->plus : left;
    f->right = right;
    return f->family == PE_BUCKETS_SHAW && left >= 0 && right >= 0 && set(f, &f->left, left);
}

static bool times_clip(pe_bucket_function *f)
{
    return clip_at(f, floor(f->left * f->by), floor(f->right * f->by), false);
}

static bool move_clip(pe_bucket_function *f)
{
    return clip_at(f, f->left + f->by, f->right + f->by, false);
}

static bool move_clip_alone(pe_bucket_function *f)
{
    return clip_at(f, f->left + f->by, f->right + f->by, true);
}

static bool exchange_clips(pe_bucket_function *f)
{
    return clip_at(f, f->right, f->left, false);
}

static bool wrap(pe_bucket_function *f)
{
    f->wraps = true;
    return f->family == PE_BUCKETS_SHAW;
}

static bool drop(pe_bucket_function *f)
{
    f->dropped = true;
    return f->family == PE_BUCKETS_SHAW;
}

static bool add_none(pe_bucket_function *f)
{
    f->a = f->plus;
    f->plus = 0;
    f->low = -HUGE_VAL;
    return f->a != 0;
}

static bool count_back(pe_bucket_function *f)
{
    f->rows = f->left + f->right + 1;
    return f->family == PE_BUCKETS_SHAW && add_none(f);
}

static bool add_right(pe_bucket_function *f)
{
    return f->family == PE_BUCKETS_SHAW && set(f, &f->plus, f->right);
}

static bool add_by(pe_bucket_function *f, double more)
{
    f->a = more;
    f->plus += more;
    f->high += more;
    return isfinite(more) && more != 0;
}

static bool add(pe_bucket_function *f)
{
    return add_by(f, f->by);
}

/* What the index of distance 0 needs, but where rows before this one add it. */
static bool add_read(pe_bucket_function *f)
{
    const double got = pe_indices_at(f->x, 0), more = got - pe_bucket_function_at(f, 0, got);
    return fabs(more) != 1 && more != -f->plus && add_by(f, more);
}

/* By the distance at which the index of d = 0 stands; with one direction that of d = -1. */
static bool shift_read(pe_bucket_function *f)
{
    const bool one_way = f->family == PE_BUCKETS_T5 && !f->both;
    const double d = one_way ? -1 : 0;
    const double at = pe_indices_find(f->x, pe_bucket_function_at(f, f->sign * (d - f->shift), 0));
    const double more = d - f->sign * at - f->shift;
    return fabs(more) != 1 && more != f->sign * f->x->first && shift_by(f, more);
}

/* ---- numbers that are read off all indices ---- */

/* The larger max_distance is, the smaller are indices. */
static double sum_of(const pe_bucket_function *f)
{
    double sum = 0;
    pe_numbers_spend(f->x->of, PE_BUCKET_FUNCTION_WORK * f->x->n);
    for (size_t i = 0; i < f->x->n; i++) {
        const double got = f->x->value[i], relative = f->x->lowest + (double)i;
        sum += isnan(got)
                   ? 0
                   : fabs(pe_bucket_function_at(f, relative, got) - f->plus) - fabs(got - f->plus);
    }
    return sum;
}

/* The least whole max_distance with which indices are no larger than those of the upload. */
static double least_distance(pe_bucket_function *f, double extra)
{
    double low = f->exact + 2, high = 0x1p32;
    while (low < high) {
        const double middle = floor((low + high) / 2);
        f->max_distance = middle;
        if (sum_of(f) + extra <= 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Is each index between those of the least and of a boundless max_distance? */
static bool agrees(const pe_bucket_function *f)
{
    pe_bucket_function least = *f, most = *f;
    least.max_distance = f->exact + 2;
    most.max_distance = 0x1p32;
    for (size_t k = 0; k < f->x->n; k++) {
        const size_t i = pe_indices_nth(f->x, k);
        const double relative = f->x->lowest + (double)i, got = f->x->value[i];
        const double size = fabs(got - f->plus);
        pe_numbers_spend(f->x->of, 2 * PE_BUCKET_FUNCTION_WORK);
        if (size > fabs(pe_bucket_function_at(&least, relative, got) - f->plus) ||
            size < fabs(pe_bucket_function_at(&most, relative, got) - f->plus))
            return false;
    }
    return true;
}

/* Of numbers that all explain the upload, the one that people would have taken. */
static bool usual(double low, double high, double *out)
{
    static const double numbers[] = {20,  32,  50,  64,  80,  100,  128,  200,  256,
                                     320, 400, 500, 512, 800, 1000, 1024, 2048, 4096};
    *out = low;
    for (size_t n = 0; n < PE_LEN(numbers); n++)
        if (numbers[n] >= low && numbers[n] <= high) {
            *out = numbers[n];
            return true;
        }
    return false;
}

static bool distance_read(pe_bucket_function *f)
{
    double to;
    pe_bucket_function other = *f;
    if (f->family == PE_BUCKETS_SHAW || !isfinite(f->max_distance) || !agrees(f))
        return false;
    const double low = least_distance(&other, 0), beyond = least_distance(&other, 0.5);
    f->fitted = !usual(low, beyond - 1, &to);
    const double doubled = fabs(log2(to / f->max_distance));
    return low < beyond && doubled != 1 && doubled != 2 && set(f, &f->max_distance, to);
}

static bool clip_read(pe_bucket_function *f)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t i = 0; i < f->x->n; i++) {
        least = fmin(least, f->x->value[i]);
        most = fmax(most, f->x->value[i]);
    }
    const double half = floor((most - least) / 2);
    return half != 2 * f->left && 2 * half != f->left && clip_at(f, half, half, false);
}

/* Beyond the distance at which an index changes last, up to where the claimed one changes next. */
static bool end_early(pe_bucket_function *f)
{
    double from = 1, to;
    for (size_t i = 1; i < f->x->n; i++) {
        const double d = f->x->lowest + (double)i;
        if (f->x->value[i] != f->x->value[i - 1])
            from = fmax(from, d > 0 ? d : 1 - d);
    }
    const double claimed = pe_bucket_function_at(f, -f->sign * from, 0);
    for (to = from;
         to < (double)f->x->n && pe_bucket_function_at(f, -f->sign * (to + 1), 0) == claimed;)
        to++;
    pe_numbers_spend(f->x->of, f->x->n);
    f->a = f->left = f->right = from;
    f->b = to;
    return f->family != PE_BUCKETS_SHAW && to < (double)f->x->n;
}

/* ---- the rows ---- */

#define EDGES    "compute the bucket as the formula has it: floor, and min(num_buckets - 1)"
#define SIGNED   "take key - query: key positions along the last axis minus query positions"
#define OWN      "count the distance of a query from its own key as 0"
#define EXACT    "max_exact is half of the buckets of a direction"
#define CLIP     "set max_relative_position (left_max, right_max) as claimed"
#define ADD      "add left_max (of DeBERTa att_span) to the limited distance, and nothing else"
#define BUCKETS  "num_buckets", "num_buckets was {a}, not {b}", .param = "num_buckets"
#define FARTHEST "max_distance", "max_distance was {a}, not {b}", .param = "max_distance"
#define CLIPPED  "shaw_clip", "distances were clipped at {a}, not at {b}, before the query"

/* Structure goes first; what reads a number off the upload goes last. */
static const row rows[] = {
    {{"bucket_direction",
      "bidirectional was the other value: buckets of one direction and of both "
      "were exchanged",
      .remedy = "set bidirectional: true of an encoder, false of a decoder"},
     change_direction,
     {0}},
    {{"buckets_not_halved",
      "num_buckets was not halved for the two directions: each has all of them, from {a} on",
      .remedy = "halve num_buckets where bidirectional is true"},
     keep_buckets,
     {1, 2}},
    {{BUCKETS, .remedy = "set num_buckets as claimed"}, times_buckets, {0.5, 2, 0.25, 4}},
    {{BUCKETS, .remedy = "set num_buckets as claimed"}, to_buckets, {32, 320, 256}},
    {{"distance_sign", "the sign of the distance was the other one: its direction is reversed",
      .remedy = SIGNED},
     turn_sign,
     {0}},
    {{"distance_absolute",
      "the absolute distance was taken, its sign (direction) is lost: keys after the query count "
      "as those before it",
      .remedy = SIGNED},
     lose_sign,
     {-1}},
    {{"distance_absolute",
      "the absolute distance was taken, its sign (direction) is lost: keys before the query count "
      "as those after it",
      .remedy = SIGNED},
     lose_sign,
     {1}},
    {{"past_ignored",
      "queries were counted from 0, not from {a}: the past keys of the cache were left out, an "
      "offset of the position",
      .remedy = "add the length of the cache (past_key_values) to the queries' positions"},
     ignore_past,
     {0}},
    {{"distance_shift", "distances were shifted: an offset of {a} was added to each",
      .remedy = OWN},
     shift,
     {1, -1}},
    {{"bucket_rounding",
      "the logarithm that gives the bucket was rounded to nearest: every edge "
      "lies elsewhere",
      .remedy = EDGES},
     round_nearest,
     {0}},
    {{"bucket_rounding", "the logarithm that gives the bucket was rounded up: edges lie earlier",
      .remedy = EDGES},
     round_up,
     {0}},
    {{"bucket_rounding", "the logarithm that gives the bucket was rounded down: edges lie later",
      .remedy = "compute the bucket as the formula has it: ceil"},
     round_down,
     {0}},
    {{"bucket_float16", "the logarithm that gives the bucket was computed in float16",
      .remedy = "compute it in float32"},
     take_half,
     {0}},
    {{"bucket_logarithm",
      "the logarithm of the distance was divided by that of max_distance, not of "
      "max_distance/max_exact",
      .remedy = "divide by log(max_distance / max_exact)"},
     times_exact,
     {0}},
    {{"bucket_logarithm",
      "log(distance)/log(max_distance) was taken, not log(distance/max_exact)/log(max_distance/"
      "max_exact)",
      .remedy = "divide both by max_exact before the logarithm"},
     take_whole,
     {0}},
    {{FARTHEST, .remedy = "set max_distance as claimed"}, times_distance, {0.5, 2, 0.25, 4}},
    {{FARTHEST, .remedy = "set max_distance as claimed"}, to_distance, {128, 800, 512}},
    {{"zero_ahead", "distance 0 counts as ahead, with the keys after the query",
      .remedy = "test key > query, not key >= query"},
     zero_ahead,
     {0}},
    {{"bucket_exact", "buckets of one distance each end at the edge {a}, not at {b}: a quarter",
      .remedy = EXACT},
     quarter_exact,
     {0}},
    {{"bucket_exact", "buckets of one distance each end at the edge {a}, not at {b}",
      .remedy = EXACT},
     move_exact,
     {1, -1}},
    {{"bucket_linear",
      "distances were put in no buckets beyond an exact part: no logarithm was taken",
      .remedy = "distances from max_exact on share buckets of growing width"},
     no_logarithm,
     {0}},
    {{"last_bucket", "the last bucket of a direction was {a}, not {b}: buckets were clipped there",
      .remedy = EDGES},
     move_top,
     {-1, 1}},
    {{"index_unclipped", "the last index was not clipped: distances beyond it have more",
      .remedy = "clip the distance or the bucket, min(.., last)"},
     leave_open,
     {0}},
    {{"index_unclipped", "indices were clipped at one end only: the lower limit is missing",
      .remedy = "clip at both ends"},
     leave_below,
     {0}},
    {{"index_unclipped", "indices were clipped at one end only: the upper limit is missing",
      .remedy = "clip at both ends"},
     leave_above,
     {0}},
    {{CLIPPED ", and alike after it", .remedy = CLIP}, times_clip, {0.5, 2}},
    {{CLIPPED ", and alike after it", .remedy = CLIP}, move_clip, {-1, 1}},
    {{CLIPPED ", and alike after it; what is added is as claimed", .remedy = CLIP},
     move_clip_alone,
     {-1, 1}},
    {{CLIPPED ": left_max and right_max were exchanged", .remedy = CLIP}, exchange_clips, {0}},
    {{"index_wrapped",
      "distances beyond the clip wrap around: they were taken modulo the number of indices",
      .remedy = "clip the distance"},
     wrap,
     {0}},
    {{"index_dropped", "distances beyond the clip have index 0: they are out of range, not clipped",
      .remedy = "clip the distance"},
     drop,
     {0}},
    {{"offset_missing", "{a} (left_max, att_span) was not added: indices are smaller, or negative",
      .remedy = ADD},
     add_none,
     {0}},
    {{"offset_missing",
      "{a} (left_max) was not added, and negative indices wrap around: they count from the end of "
      "the table",
      .remedy = ADD},
     count_back,
     {0}},
    {{"offset", "{a} was added to the limited distance, not {b}: right_max for left_max",
      .remedy = ADD},
     add_right,
     {0}},
    {{"offset", "an offset of {a} was added to every index", .remedy = ADD}, add, {1, -1}},
    {{"bucket_offset", "buckets of keys after the query begin at an offset of {a}, not of {b}",
      .remedy = "add half of num_buckets for keys after the query"},
     move_ahead,
     {0}},
    {{"offset", "an offset of {a} was added to every index", .remedy = ADD}, add_read, {0}},
    {{"distance_shift", "distances were shifted: an offset of {a} was added to each",
      .remedy = OWN},
     shift_read,
     {0}},
    {{FARTHEST, .remedy = "set max_distance as claimed"}, distance_read, {0}},
    {{"distance_clipped",
      "distances were clipped before they were put in buckets, at {a} or up to {b}: all beyond "
      "share that bucket",
      .remedy = "clip the bucket, min(num_buckets - 1), not the distance"},
     end_early,
     {0}},
    {{"shaw_clip", "distances were clipped at {a}, not at {b}", .remedy = CLIP}, clip_read, {0}},
};

/* ---- rows of the upload that are something else ---- */

static const pe_fault exchanged = {"rows_exchanged", "rows {a} and {b} are exchanged",
                                   .remedy = "keep the order of the queries"};
static const pe_fault constant = {"row_constant", "row {a} is {b} in every element",
                                  .remedy = "look at what writes that row"};
static const pe_fault others = {"rows_other",
                                "rows are something else, the first is {a}, the last {b}",
                                .remedy = "look at what writes those rows"};

/* Does row q hold what belongs in another one? */
static bool holds(const pe_bucket_function *f, size_t q, size_t other)
{
    const pe_indices *x = f->x;
    bool same = true;
    for (size_t k = 0; k < x->keys && same; k++) {
        const double got = x->of->got[q * x->keys + k];
        same = got == pe_lookup_row(x->of->lookup,
                                    pe_bucket_function_at(
                                        f, pe_indices_relative(x, other * x->keys + k), got));
    }
    return same;
}

static pe_numbers_cause odd_cause(const pe_bucket_function *f)
{
    const pe_indices *x = f->x;
    size_t first = 0, last = x->queries - 1;
    if (x->n_odd == 0)
        return (pe_numbers_cause){0};
    while (!x->odd[first])
        first++;
    while (!x->odd[last])
        last--;
    if (x->n_odd == 2 && holds(f, first, last) && holds(f, last, first))
        return (pe_numbers_cause){&exchanged, (double)first, (double)last, false};
    if (first == last && pe_indices_is_constant(x, first))
        return (pe_numbers_cause){&constant, (double)first, x->of->got[first * x->keys], false};
    return (pe_numbers_cause){&others, (double)first, (double)last, false};
}

/* ---- explaining ---- */

/* A function with the rows that changed it, and what else is wrong. */
typedef struct attempt {
    pe_bucket_function f;
    size_t n;
    pe_numbers_cause causes[PE_FAULTS_MAX];
} attempt;

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    (void)error;
    const attempt *by = context;
    const pe_indices *x = by->f.x;
    (void)claimed;
    return x->odd[e / x->keys]
               ? x->of->got[e]
               : pe_bucket_function_at(&by->f, pe_indices_relative(x, e), x->of->got[e]);
}

static pe_status try_attempt(attempt *by, size_t *found, pe_problem *why)
{
    if (!pe_bucket_function_follows(&by->f))
        return PE_OK;
    const pe_numbers_cause odd = odd_cause(&by->f);
    if (by->n < PE_FAULTS_MAX)
        by->causes[by->n] = odd;
    if (by->n == 0 && odd.fault == &others) /* they are told elsewhere */
        return PE_OK;
    ++*found;
    return pe_numbers_try(by->f.x->of, by->causes, PE_LEN(by->causes),
                          &(pe_numbers_law){at_law, by, 0}, why);
}

static bool change(attempt *to, const row *of, double by)
{
    to->f.a = to->f.b = 0;
    to->f.fitted = false;
    to->f.by = by;
    const bool made = of->change(&to->f);
    to->causes[to->n++] = (pe_numbers_cause){&of->fault, to->f.a, to->f.b, to->f.fitted};
    return made;
}

/* So many rows more, of those from `first` on. */
static pe_status try_rows(const attempt *from, size_t first, size_t more, size_t *found,
                          pe_problem *why)
{
    attempt by = *from;
    if (more == 0)
        return try_attempt(&by, found, why);
    pe_status status = PE_OK;
    for (size_t r = first; r < PE_LEN(rows) && status == PE_OK; r++)
        for (size_t k = 0; k == 0 || rows[r].by[k] != 0; k++) {
            by = *from;
            if (status == PE_OK && pe_numbers_goes_on(by.f.x->of) &&
                change(&by, &rows[r], rows[r].by[k]))
                status = try_rows(&by, r + 1, more - 1, found, why);
        }
    return status;
}

/* As few rows as explain the upload; where some of its rows are odd, that is one cause more. */
static pe_status explain(const pe_indices *x, pe_problem *why)
{
    size_t found = 0;
    pe_status status = PE_OK;
    const attempt claimed = {.f = pe_bucket_function_claimed(x)};
    const size_t odd = x->n_odd > 0 ? 1 : 0;
    for (size_t n = 0; n + odd <= PE_FAULTS_MAX && found == 0 && status == PE_OK; n++)
        if (n < 2 || !pe_attempts_found(x->of->search))
            status = try_rows(&claimed, 0, n, &found, why);
    return status;
}

pe_status pe_bucket_causes_find(const pe_numbers *plain, pe_problem *why)
{
    bool made;
    pe_indices x;
    pe_status status = pe_indices_make(plain, &x, &made, why);
    if (status != PE_OK)
        return status;
    if (made)
        status = explain(&x, why);
    pe_indices_free(&x);
    return status;
}
