/* SPDX-License-Identifier: MIT */
/* plain_slopes.c - the stage of slopes: what the biases of each head are multiplied by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- the stage ---- */

typedef struct slopes {
    size_t each;            /* elements of a head; of slopes alone 1 */
    double *numbers;        /* claimed, measured: [2][n] owned */
    double *sorted, *other; /* behind them: [n] each */
    size_t head; /* of which `made` is what the mistake makes of its slope; SIZE_MAX: of none */
    double made;
} slopes;

static void release(pe_sequence *p)
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

static double slope_of(const pe_sequence *p, double k, double n)
{
    return exp2(-pe_slip_number(p, "alibi_bias_max") * k / n);
}

/* Of all heads, the one that stands at h. */
static double head_at(const pe_sequence *p, size_t h)
{
    const pe_value *heads = pe_values_find(&p->of->claim->values, "heads");
    const bool listed = heads != NULL && heads->present && h < heads->positions.count;
    return listed ? pe_positions_at(&heads->positions, h) : (double)h;
}

/* Head k of n, from 1, of the claimed variant. */
static double head_of(const pe_sequence *p, double k, double n)
{
    const double power = exp2(floor(log2(n)));
    return pe_slip_has(p, "variant", "formula") ? slope_of(p, k, n)
           : k <= power                         ? slope_of(p, k, power)
                                                : slope_of(p, 2 * (k - power) - 1, 2 * power);
}

/* What slopes are multiplied by in an element of each head: that which gives the claim's own ones,
 * unless a mistake has changed these, too. */
static double unit_of(const pe_sequence *p, size_t at, size_t each)
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
static pe_status measure(pe_sequence *p, pe_problem *why)
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
    state->sorted = measured + p->n;
    state->other = state->sorted + p->n;
    state->each = p->of->elements / p->n;
    const size_t at = loudest(p->of, state->each);
    const double unit = shape->ndim > 1 ? unit_of(p, at, state->each) : 1;
    for (size_t h = 0; h < p->n; h++) {
        claimed[h] = p->of->claimed[h * state->each + at] / unit;
        measured[h] = p->of->got[h * state->each + at] / unit;
    }
    return PE_OK;
}

static void begin(pe_sequence *p)
{
    ((slopes *)p->state)->head = SIZE_MAX;
}

static double at(const pe_sequence *p, size_t e, double claimed, double *error PE_UNUSED)
{
    slopes *state = p->state;
    const size_t h = e / state->each;
    if (h != state->head) {
        state->head = h;
        state->made = pe_sequence_at(p, h) / p->claimed[h];
    }
    return isfinite(claimed) && claimed != pe_slip_number(p, "mask_value") && p->claimed[h] != 0
               ? claimed * state->made
               : claimed;
}

static double head_of_item(const void *of, double i)
{
    return head_at(of, (size_t)i);
}

static double each_of(const void *of, double i PE_UNUSED)
{
    const slopes *state = ((const pe_sequence *)of)->state;
    return (double)state->each;
}

static const pe_term terms[] = {
    {.name = "head", .at = head_of_item}, {.name = "each", .at = each_of}, {0}};

static void tell(const pe_sequence *p)
{
    pe_numbers_list(p->of, "slopes", p->measured, p->n);
    pe_numbers_list(p->of, "claimed_slopes", p->claimed, p->n);
}

const pe_slip_stage pe_slip_slopes = {
    .terms = terms, .measure = measure, .release = release, .begin = begin, .tell = tell, .at = at};

/* ---- numbers of rows ---- */

static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The sizes of slopes, the largest first. */
static const double *sorted(const pe_sequence *p, const double *of)
{
    double *out = ((slopes *)p->state)->sorted;
    for (size_t h = 0; h < p->n; h++)
        out[h] = fabs(of[h]);
    qsort(out, p->n, sizeof *out, compare_down);
    return out;
}

/* Are slopes, in any order and of any sign, those of so many heads from head `from` on? */
static bool solve_heads(pe_sequence *p)
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

static double of_other_heads(const pe_sequence *p, size_t h)
{
    return head_of(p, head_at(p, h) + 1, p->a);
}

static double of_second_half(const pe_sequence *p, size_t h)
{
    return head_of(p, p->b + head_at(p, h) + 1, p->a);
}

/* The rank whose first head is another one, of as many in all. */
static bool solve_rank(pe_sequence *p)
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

static double of_rank(const pe_sequence *p, size_t h)
{
    return head_of(p, p->a + (double)h + 1, pe_slip_number(p, "num_heads"));
}

/* Slopes begin anew from head a on; value: each rank made those of its own heads alone. */
static bool solve_repeated(pe_sequence *p)
{
    size_t n = 1;
    const bool own = p->a != 0;
    while (n < p->n && !pe_numbers_is_near(p->of, fabs(p->measured[n]), fabs(p->measured[0])))
        n++;
    p->a = (double)n;
    p->b = pe_slip_number(p, "num_heads");
    return n > (own ? 1 : 0) && n < p->n && p->n % n == 0;
}

static double of_own_rank(const pe_sequence *p, size_t h)
{
    return head_of(p, (double)(h % (size_t)p->a) + 1, p->a);
}

/* Every exponent grows with alibi_bias_max. */
static bool solve_bias_max(pe_sequence *p)
{
    const double last = sorted(p, p->claimed)[p->n - 1], read = sorted(p, p->measured)[p->n - 1];
    p->b = pe_slip_number(p, "alibi_bias_max");
    p->a = round(p->b * log2(read) / log2(last));
    return isfinite(p->a) && p->a > 0 && p->a != p->b;
}

static double in_order(const pe_sequence *p, size_t h)
{
    return sorted(p, p->claimed)[h];
}

/* All but a few heads are as claimed. Of slopes alone, others tell nothing unless they are 0. */
static bool solve_few(pe_sequence *p)
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

/* Each slope is another head's, and no two are of one: both are the same numbers once sorted. */
static bool solve_permuted(pe_sequence *p)
{
    size_t n = 0;
    bool same = true;
    double *claimed = ((slopes *)p->state)->other;
    memcpy(claimed, sorted(p, p->claimed), p->n * sizeof *claimed);
    const double *measured = sorted(p, p->measured);
    for (size_t h = 0; h < p->n && same; h++) {
        same = pe_numbers_is_near(p->of, measured[h], claimed[h]) &&
               signbit(p->measured[h]) == signbit(p->claimed[h]);
        if (!pe_numbers_is_near(p->of, p->measured[h], p->claimed[h])) {
            p->a = n++ == 0 ? (double)h : p->a;
            p->b = (double)h;
        }
    }
    return same && n > 1;
}

#define SLOPES &pe_slip_slopes, NULL, NULL
#define POWER  "2^floor(log2(num_heads))"
#define EXTRA  .where = "log2(num_heads) % 1 != 0"

/* Extra heads of a count that is no power of two, from twice as many. */
#define WITH_EXTRA(PLACE)                                                                          \
    "exp2(-alibi_bias_max*(head < " POWER " ? (head + 1)/" POWER " : (" PLACE ")/(2*" POWER ")))"
#define MOVED                                                                                      \
    "variant.formula ? exp2(-alibi_bias_max*(head + 1 + a)/num_heads) : exp2(-alibi_bias_max*"     \
    "(head < " POWER " ? (head + 1 + a)/" POWER " : (2*(head - " POWER ") + 1 + a)/(2*" POWER      \
    ")))"

static const pe_slip rows[] = {
    PE_SLIP(slope_rank, SLOPES, .solve = solve_rank, .make = of_rank),
    PE_SLIP(extra_slopes, SLOPES, EXTRA, .op = WITH_EXTRA("2*(head - " POWER ") + 2")),
    PE_SLIP(extra_slopes, SLOPES, EXTRA, .op = WITH_EXTRA("head - " POWER " + 1"),
            .fault.rule = "the variant of extra heads was another: their slopes are the first ones "
                          "of twice as many heads, without a stride of 2"),
    PE_SLIP(slope_heads, SLOPES, .solve = solve_heads, .make = of_other_heads, .fault.value = 1),
    PE_SLIP(slope_shard, SLOPES, .solve = solve_heads, .op = "exp2(-alibi_bias_max*(i + b + 1)/a)"),
    PE_SLIP(slope_shard, SLOPES, .a = "2*num_heads", .b = "num_heads", .make = of_second_half),
    PE_SLIP(slope_start, SLOPES, .op = MOVED, .fault.value = -1),
    PE_SLIP(slope_start, SLOPES, .op = MOVED,
            .fault.rule = "slopes start one head too late: the index of heads began at 2",
            .fault.value = 1),
    PE_SLIP(slope_repeated, SLOPES, .solve = solve_repeated, .make = of_own_rank, .fault.value = 1),
    PE_SLIP(slope_repeated, SLOPES, .solve = solve_repeated, .op = "x[i % a]",
            .fault.rule = "slopes of the first {a} heads are repeated: the other heads (ranks, "
                          "shards) have those of rank 0"),
    PE_SLIP(slope_constant, SLOPES, .a = "y[0]", .where = "n > 2", .op = "a"),
    PE_SLIP(slope_linear, SLOPES, .a = "y[0]", .b = "(y[n - 1] - y[0])/(n - 1)",
            .where = "n > 3 && b != 0", .op = "a + b*i"),
    PE_SLIP(alibi_bias_max, SLOPES, .solve = solve_bias_max, .op = "x^(a/b)",
            .fault.param = "alibi_bias_max"),
    PE_SLIP(slope_base, SLOPES, .op = "x^1.4426950408889634"),
    PE_SLIP(slope_squared, SLOPES, .op = "x^2"),
    PE_SLIP(slope_logarithm, SLOPES, .op = "log2(x)"),
    PE_SLIP(slope_sign, SLOPES, .op = "-x"),
    PE_SLIP(slope_reciprocal, SLOPES, .op = "1/x"),
    PE_SLIP(log2_scale, SLOPES, .op = "1.4426950408889634*x"),
    PE_SLIP(head_order, SLOPES, .op = "x[n - 1 - i]"),
    PE_SLIP(head_order, SLOPES, .op = "x[(i - 1) % n]",
            .fault.rule =
                "the order of heads is rolled by one: head 0 has the slope of the last one"),
    PE_SLIP(head_order, SLOPES, .op = "x[(i + 1) % n]",
            .fault.rule =
                "the order of heads is rolled by one: the last head has the slope of head 0"),
    PE_SLIP(head_order, SLOPES, EXTRA, .make = in_order,
            .fault.rule = "slopes were sorted: the order of the extra heads is lost"),
    PE_SLIP(bfloat16_slopes, SLOPES, .op = "bfloat16(x)"),
    PE_SLIP(float16_slopes, SLOPES, .op = "float16(x)"),
    PE_SLIP(head_order, SLOPES, .solve = solve_permuted, .op = "y",
            .fault.rule = "heads are in another order: heads {a} and {b} have slopes of others"),
    PE_SLIP(one_head, SLOPES, .solve = solve_few, .op = "y"),
    PE_SLIP(slope_ladder, SLOPES, .a = "y[0]", .b = "(y[n - 1]/y[0])^(1/(n - 1))",
            .where = "n > 3 && finite(b) && b > 0 && abs(b - 1) > 1e-3", .op = "a*b^i",
            .fault.fitted = true),
    PE_SLIP(slopes_other, SLOPES, .a = "y[0]", .b = "x[0]", .where = "each > 2", .op = "y",
            .fault.fitted = true),
};
const pe_slips pe_mistakes_of_slopes = {rows, PE_LEN(rows)};
