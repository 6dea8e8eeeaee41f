/* SPDX-License-Identifier: MIT */
/* plain_slopes.c - the stage of slopes: what the biases of each head are multiplied by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- the stage ---- */

typedef struct slopes {
    size_t each;     /* elements of a head; of slopes alone 1 */
    double *numbers; /* claimed, measured, made, sorted: [4][n] owned */
} slopes;

static void release(pe_slip *p)
{
    slopes *state = p->state;
    if (state != NULL)
        free(state->numbers);
    free(state);
}

/* The largest element of the first head that is no mask: all heads have the same distances. */
static size_t loudest(const pe_numbers *of, size_t each)
{
    size_t at = 0;
    for (size_t e = 1; e < each; e++)
        if (isfinite(of->claimed[e]) && isfinite(of->got[e]) &&
            !(isfinite(of->claimed[at]) && fabs(of->claimed[e]) <= fabs(of->claimed[at])))
            at = e;
    pe_numbers_spend(of, each);
    return at;
}

static double slope_of(const pe_slip *p, double k, double n)
{
    return exp2(-pe_slip_number(p, "alibi_bias_max") * k / n);
}

/* Of all heads, the one that stands at h. */
static double head_at(const pe_slip *p, size_t h)
{
    const pe_value *heads = pe_values_find(&p->of->claim->values, "heads");
    return heads != NULL && heads->present ? pe_positions_at(&heads->positions, h) : (double)h;
}

/* Head k of n, from 1, of the claimed variant. */
static double head_of(const pe_slip *p, double k, double n)
{
    const double power = exp2(floor(log2(n)));
    return pe_slip_has(p, "variant", "formula") ? slope_of(p, k, n)
           : k <= power                         ? slope_of(p, k, power)
                                                : slope_of(p, 2 * (k - power) - 1, 2 * power);
}

/* What slopes are multiplied by in an element of each head: that which gives the claim's own ones,
 * unless a mistake has changed these, too. */
static double unit_of(const pe_slip *p, size_t at, size_t each)
{
    const size_t last = p->n - 1;
    const double n = pe_slip_number(p, "num_heads");
    const double unit = p->of->claimed[at] / head_of(p, head_at(p, 0) + 1, n);
    const double other = p->of->claimed[last * each + at] / head_of(p, head_at(p, last) + 1, n);
    if (pe_numbers_is_near(p->of, unit, other))
        return unit;
    const double keys = pe_slip_number(p, "key_length");
    const double query = keys - pe_slip_number(p, "query_length") + floor((double)at / keys);
    const double key = fmod((double)at, keys);
    return pe_slip_has(p, "form", "key") ? key : -fabs(query - key);
}

/* The claimed slopes, and those that the upload has where its distances are as claimed. */
static pe_status measure(pe_slip *p, pe_problem *why)
{
    const pe_shape *shape = &p->of->view->claim->uploads[0].array.shape;
    if (!pe_slip_is_of(pe_numbers_resource(p->of), "alibi/bias alibi/slopes"))
        return PE_OK;
    slopes *state = calloc(1, sizeof *state);
    p->state = state;
    p->n = shape->ndim < 2 ? p->of->elements : shape->ndim > 2 ? shape->dim[shape->ndim - 3] : 1;
    if (state == NULL || (state->numbers = calloc(4 * p->n, sizeof(double))) == NULL)
        return pe_fail_memory(why);
    double *claimed = state->numbers, *measured = claimed + p->n;
    p->claimed = claimed;
    p->measured = measured;
    p->made = measured + p->n;
    state->each = p->of->elements / p->n;
    const size_t at = loudest(p->of, state->each);
    const double unit = shape->ndim > 1 ? unit_of(p, at, state->each) : 1;
    for (size_t h = 0; h < p->n; h++) {
        claimed[h] = p->of->claimed[h * state->each + at] / unit;
        measured[h] = p->of->got[h * state->each + at] / unit;
    }
    return PE_OK;
}

static double at(const pe_slip *p, size_t e, double claimed, double *error)
{
    const slopes *state = p->state;
    const size_t h = e / state->each;
    const double mask = pe_slip_number(p, "mask_value");
    (void)error;
    return isfinite(claimed) && claimed != mask && p->claimed[h] != 0
               ? claimed * (p->made[h] / p->claimed[h])
               : claimed;
}

static void tell(const pe_slip *p)
{
    pe_numbers_list(p->of, "slopes", p->measured, p->n);
    pe_numbers_list(p->of, "claimed_slopes", p->claimed, p->n);
}

const pe_slip_stage pe_slip_slopes = {
    .measure = measure, .release = release, .tell = tell, .at = at};

/* ---- numbers of rows ---- */

static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The sizes of slopes, the largest first. */
static const double *sorted(const pe_slip *p, const double *of)
{
    double *out = p->made + p->n;
    for (size_t h = 0; h < p->n; h++)
        out[h] = fabs(of[h]);
    qsort(out, p->n, sizeof *out, compare_down);
    return out;
}

/* Are slopes, in any order and of any sign, those of so many heads from head `from` on? */
static bool solve_heads(pe_slip *p)
{
    const double *s = sorted(p, p->measured);
    const double ratio = log2(s[p->n - 1] / s[0]) / (double)(p->n - 1);
    const bool from_first = p->a != 0;
    p->a = round(-pe_slip_number(p, "alibi_bias_max") / ratio);
    p->b = from_first ? pe_slip_number(p, "num_heads") : round(log2(s[0]) / ratio - 1);
    for (size_t h = 1; h < p->n; h++)
        if (!pe_numbers_is_near(p->of, s[h], s[0] * exp2(ratio * (double)h)))
            return false;
    return p->n > 3 && p->a >= 1 && p->a <= 4096 && p->b >= 0 &&
           (from_first ? p->a != p->b : p->b > 0);
}

static double of_other_heads(const pe_slip *p, size_t h)
{
    return head_of(p, head_at(p, h) + 1, p->a);
}

static double of_shard(const pe_slip *p, size_t h)
{
    return slope_of(p, (double)h + p->b + 1, p->a);
}

/* The second half of twice as many heads, however many there are. */
static bool solve_second_half(pe_slip *p)
{
    p->b = pe_slip_number(p, "num_heads");
    p->a = 2 * p->b;
    return true;
}

static double of_second_half(const pe_slip *p, size_t h)
{
    return head_of(p, p->b + head_at(p, h) + 1, p->a);
}

/* The rank whose first head is another one, of as many in all. */
static bool solve_rank(pe_slip *p)
{
    const double n = pe_slip_number(p, "num_heads");
    p->b = head_at(p, 0);
    for (size_t head = 0; (double)head < n; head += p->n) {
        p->a = (double)head;
        if (p->a != p->b &&
            pe_numbers_is_near(p->of, fabs(p->measured[0]), head_of(p, p->a + 1, n)))
            return true;
    }
    return false;
}

static double of_rank(const pe_slip *p, size_t h)
{
    return head_of(p, p->a + (double)h + 1, pe_slip_number(p, "num_heads"));
}

static bool has_extra(pe_slip *p)
{
    return head_of(p, 2, 2) > 0 && fmod(log2(pe_slip_number(p, "num_heads")), 1) != 0;
}

/* Extra heads of a count that is no power of two, from twice as many: value: every so many-th place,
 * and_value: from this one on. */
static double of_extra(const pe_slip *p, size_t h)
{
    const double n = pe_slip_number(p, "num_heads"), power = exp2(floor(log2(n)));
    const double k = head_at(p, h) + 1;
    return k <= power ? slope_of(p, k, power)
                      : slope_of(p, (k - power - 1) * p->by->fault.value + p->by->fault.and_value,
                                 2 * power);
}

/* value: places later. */
static double moved(const pe_slip *p, size_t h)
{
    const double n = pe_slip_number(p, "num_heads"), power = exp2(floor(log2(n)));
    const double k = head_at(p, h) + 1 + p->by->fault.value;
    return pe_slip_has(p, "variant", "formula") ? slope_of(p, k, n)
           : k - p->by->fault.value <= power
               ? slope_of(p, k, power)
               : slope_of(p, 2 * (head_at(p, h) + 1 - power) - 1 + p->by->fault.value, 2 * power);
}

/* Slopes begin anew from head a on; value: each rank made those of its own heads alone. */
static bool solve_repeated(pe_slip *p)
{
    size_t n = 1;
    const bool own = p->a != 0;
    while (n < p->n && !pe_numbers_is_near(p->of, fabs(p->measured[n]), fabs(p->measured[0])))
        n++;
    p->a = (double)n;
    p->b = pe_slip_number(p, "num_heads");
    return n > (own ? 1 : 0) && n < p->n && p->n % n == 0;
}

static double of_own_rank(const pe_slip *p, size_t h)
{
    return head_of(p, (double)(h % (size_t)p->a) + 1, p->a);
}

static bool solve_first(pe_slip *p)
{
    p->a = p->measured[0];
    return p->a != 0 && p->n > 2;
}

static bool solve_linear(pe_slip *p)
{
    p->a = p->measured[0];
    p->b = (p->measured[p->n - 1] - p->a) / (double)(p->n - 1);
    return p->n > 3 && p->b != 0;
}

static double linear(const pe_slip *p, size_t h)
{
    return p->a + p->b * (double)h;
}

/* Every exponent grows with alibi_bias_max. */
static bool solve_bias_max(pe_slip *p)
{
    const double last = sorted(p, p->claimed)[p->n - 1], read = sorted(p, p->measured)[p->n - 1];
    p->b = pe_slip_number(p, "alibi_bias_max");
    p->a = round(p->b * log2(read) / log2(last));
    return p->a > 0 && p->a != p->b;
}

static double by_bias_max(const pe_slip *p, size_t h)
{
    return pow(p->claimed[h], p->a / p->b);
}

static bool solve_order(pe_slip *p)
{
    return has_extra(p) && sorted(p, p->claimed) != NULL;
}

static double in_order(const pe_slip *p, size_t h)
{
    return p->made[p->n + h];
}

/* All but a few heads are as claimed. Of slopes alone, others tell nothing unless they are 0. */
static bool solve_few(pe_slip *p)
{
    size_t few = 0;
    bool telling = true;
    const slopes *state = p->state;
    for (size_t h = 0; h < p->n; h++)
        if (!pe_numbers_is_near(p->of, p->measured[h], p->claimed[h])) {
            telling &= state->each > 1 || p->measured[h] == 0;
            if (few++ == 0) {
                p->a = (double)h;
                p->b = p->measured[h];
            }
        }
    return telling && few > 0 && few * 4 <= p->n;
}

static double as_measured(const pe_slip *p, size_t h)
{
    return p->measured[h];
}

/* Each slope is another head's, and no two are of one: both are the same numbers once sorted. */
static bool solve_permuted(pe_slip *p)
{
    size_t n = 0;
    bool same = true;
    memcpy(p->made, sorted(p, p->claimed), p->n * sizeof *p->made);
    const double *measured = sorted(p, p->measured);
    for (size_t h = 0; h < p->n && same; h++) {
        same = pe_numbers_is_near(p->of, measured[h], p->made[h]) &&
               signbit(p->measured[h]) == signbit(p->claimed[h]);
        if (!pe_numbers_is_near(p->of, p->measured[h], p->claimed[h])) {
            p->a = n++ == 0 ? (double)h : p->a;
            p->b = (double)h;
        }
    }
    return same && n > 1;
}

static double rounded(const pe_slip *p, size_t h)
{
    return pe_grain_round(&pe_grains[(size_t)p->by->fault.value], p->claimed[h]);
}

static bool solve_ladder(pe_slip *p)
{
    p->a = p->measured[0];
    p->b = pow(p->measured[p->n - 1] / p->a, 1 / (double)(p->n - 1));
    return p->n > 3 && isfinite(p->b) && p->b > 0 && fabs(p->b - 1) > 1e-3;
}

static double on_ladder(const pe_slip *p, size_t h)
{
    return p->a * pow(p->b, (double)h);
}

static bool solve_other(pe_slip *p)
{
    const slopes *state = p->state;
    p->a = p->measured[0];
    p->b = p->claimed[0];
    return state->each > 2;
}

#define SLOPES &pe_slip_slopes, NULL, NULL

static const pe_plain_mistake rows[] = {
    PE_SLIP(slope_rank, SLOPES, solve_rank, of_rank),
    PE_SLIP(extra_slopes, SLOPES, has_extra, of_extra, .fault.value = 2, .fault.and_value = 2),
    PE_SLIP(extra_slopes, SLOPES, has_extra, of_extra,
            .fault.rule = "the variant of extra heads was another: their slopes are the first ones "
                          "of twice as many "
                          "heads, without a stride of 2",
            .fault.value = 1, .fault.and_value = 1),
    PE_SLIP(slope_heads, SLOPES, solve_heads, of_other_heads, .fault.value = 1),
    PE_SLIP(slope_shard, SLOPES, solve_heads, of_shard),
    PE_SLIP(slope_shard, SLOPES, solve_second_half, of_second_half),
    PE_SLIP(slope_start, SLOPES, NULL, moved, .fault.value = -1),
    PE_SLIP(slope_start, SLOPES, NULL, moved,
            .fault.rule = "slopes start one head too late: the index of heads began at 2",
            .fault.value = 1),
    PE_SLIP(slope_repeated, SLOPES, solve_repeated, of_own_rank, .fault.value = 1),
    PE_SLIP(slope_repeated, SLOPES, solve_repeated, pe_slip_repeated,
            .fault.rule = "slopes of the first {a} heads are repeated: the other heads (ranks, "
                          "shards) have those of "
                          "rank 0"),
    PE_SLIP(slope_constant, SLOPES, solve_first, pe_slip_constant),
    PE_SLIP(slope_linear, SLOPES, solve_linear, linear),
    PE_SLIP(alibi_bias_max, SLOPES, solve_bias_max, by_bias_max, .fault.param = "alibi_bias_max"),
    PE_SLIP(slope_base, SLOPES, NULL, pe_slip_power, .fault.value = 1.4426950408889634),
    PE_SLIP(slope_squared, SLOPES, NULL, pe_slip_power, .fault.value = 2),
    PE_SLIP(slope_logarithm, SLOPES, NULL, pe_slip_log2),
    PE_SLIP(slope_sign, SLOPES, NULL, pe_slip_times, .fault.value = -1),
    PE_SLIP(slope_reciprocal, SLOPES, NULL, pe_slip_power, .fault.value = -1),
    PE_SLIP(log2_scale, SLOPES, NULL, pe_slip_times, .fault.value = 1.4426950408889634),
    PE_SLIP(head_order, SLOPES, NULL, pe_slip_reversed),
    PE_SLIP(head_order, SLOPES, NULL, pe_slip_rolled,
            .fault.rule =
                "the order of heads is rolled by one: head 0 has the slope of the last one",
            .fault.and_value = -1),
    PE_SLIP(head_order, SLOPES, NULL, pe_slip_rolled,
            .fault.rule =
                "the order of heads is rolled by one: the last head has the slope of head 0",
            .fault.and_value = 1),
    PE_SLIP(head_order, SLOPES, solve_order, in_order,
            .fault.rule = "slopes were sorted: the order of the extra heads is lost"),
    PE_SLIP(bfloat16_slopes, SLOPES, NULL, rounded, .fault.value = PE_GRAIN_BFLOAT16),
    PE_SLIP(float16_slopes, SLOPES, NULL, rounded, .fault.value = PE_GRAIN_FLOAT16),
    PE_SLIP(head_order, SLOPES, solve_permuted, as_measured,
            .fault.rule = "heads are in another order: heads {a} and {b} have slopes of others"),
    PE_SLIP(one_head, SLOPES, solve_few, as_measured),
    PE_SLIP(slope_ladder, SLOPES, solve_ladder, on_ladder, .fault.fitted = true),
    PE_SLIP(slopes_other, SLOPES, solve_other, as_measured, .fault.fitted = true),
};
const pe_plain_mistakes pe_mistakes_of_slopes = {rows, PE_LEN(rows)};
