/* SPDX-License-Identifier: MIT */
/* slope_rules.c - how slopes of linear biases go wrong, as rows. */
#include "verify/slope_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG2E 1.4426950408889634

/* ---- what rules of slopes share ---- */

static const pe_values *values_of(const pe_bias *bias)
{
    return &bias->of->claim->values;
}

static double num_heads(const pe_bias *bias)
{
    return (double)pe_values_int(values_of(bias), "num_heads");
}

static double bias_max(const pe_bias *bias)
{
    return pe_values_real(values_of(bias), "alibi_bias_max");
}

/* Of all heads, the one that stands at h. */
static double head_at(const pe_bias *bias, size_t h)
{
    const pe_value *heads = pe_values_find(values_of(bias), "heads");
    return heads != NULL && heads->present ? pe_positions_at(&heads->positions, h) : (double)h;
}

/* The largest power of two that is not beyond the number of heads. */
static double power_below(const pe_bias *bias)
{
    return exp2(floor(log2(num_heads(bias))));
}

/* 2^(-bias_max k/n), k = 1 .. n: slopes of n heads. */
static double slope_of(const pe_bias *bias, double k, double n)
{
    return exp2(-bias_max(bias) * k / n);
}

/* Are slopes first ratio^h? */
static bool read_ladder(const pe_bias *bias, double *first, double *ratio)
{
    const double *s = bias->read;
    const size_t n = bias->heads;
    *first = s[0];
    *ratio = n > 1 ? pow(s[n - 1] / s[0], 1 / (double)(n - 1)) : 1;
    if (n < 4 || !isfinite(*ratio) || !(*ratio > 0) || fabs(*ratio - 1) < 1e-3)
        return false;
    for (size_t h = 0; h < n; h++)
        if (!pe_numbers_is_near(bias->of, s[h], *first * pow(*ratio, (double)h)))
            return false;
    return true;
}

/* The number of heads and the head of which slopes such as these begin; and they fit whole
 * numbers. */
static bool read_heads(const pe_bias *bias, double *heads, double *head)
{
    double first, ratio;
    if (!read_ladder(bias, &first, &ratio) || !(first > 0))
        return false;
    const double n = -bias_max(bias) / log2(ratio), k = log2(first) / log2(ratio) - 1;
    *heads = round(n);
    *head = round(k);
    return fabs(n - *heads) < 0.02 * n && fabs(k - *head) < 0.1;
}

/* ---- each slope of its claimed one ---- */

static double opposite_of(double m)
{
    return -m;
}

static double reciprocal_of(double m)
{
    return 1 / m;
}

static double square_of(double m)
{
    return m * m;
}

static double logarithm_of(double m)
{
    return log2(m);
}

static double double_of(double m)
{
    return 2 * m;
}

static double half_of(double m)
{
    return m / 2;
}

/* e in the place of 2. */
static double natural_of(double m)
{
    return pow(m, 1 / log(2));
}

/* ---- the rules ---- */

/* Extra heads of a count that is no power of two: from which places of twice as many? */
static double extra_of(const pe_bias *bias, double k, double n, double step, double start)
{
    const double p = exp2(floor(log2(n)));
    return k <= p ? slope_of(bias, k, p) : slope_of(bias, (k - p - 1) * step + start, 2 * p);
}

static bool make_extra(pe_bias *bias, double step, double start)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = extra_of(bias, head_at(bias, h) + 1, num_heads(bias), step, start);
    return power_below(bias) < num_heads(bias);
}

/* Head k of n, counted from 1; exponents are moved by so many places. */
static double claimed_of(const pe_bias *bias, double k, double n, double by)
{
    const bool formula =
        strcmp(pe_geometry_choice_text(values_of(bias), "variant"), "formula") == 0;
    const double p = exp2(floor(log2(n)));
    return formula  ? slope_of(bias, k + by, n)
           : k <= p ? slope_of(bias, k + by, p)
                    : slope_of(bias, 2 * (k - p) - 1 + by, 2 * p);
}

/* Of twice as many heads those of odd places, then those of even ones. */
static bool make_odd_first(pe_bias *bias)
{
    const double p = power_below(bias);
    for (size_t h = 0; h < bias->heads; h++) {
        const double k = head_at(bias, h) + 1;
        bias->made[h] = slope_of(bias, k <= p ? 2 * k - 1 : 2 * (k - p), 2 * p);
    }
    return p < num_heads(bias);
}

/* Those of as many heads from another one on. */
static bool make_other_rank(pe_bias *bias)
{
    const double n = num_heads(bias);
    const pe_value *heads = pe_values_find(values_of(bias), "heads");
    bias->b = head_at(bias, 0);
    bias->a = 0;
    while (bias->a < n &&
           (bias->a == bias->b ||
            !pe_numbers_is_near(bias->of, bias->read[0], claimed_of(bias, bias->a + 1, n, 0))))
        bias->a++;
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = claimed_of(bias, bias->a + (double)h + 1, n, 0);
    return heads != NULL && heads->present && bias->a + (double)bias->heads <= n;
}

static bool make_odd_places(pe_bias *bias)
{
    return make_extra(bias, 2, 2);
}

static bool make_next_places(pe_bias *bias)
{
    return make_extra(bias, 1, 1);
}

/* Those of n heads, from head k on. */
static bool make_heads(pe_bias *bias, double n, double k)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = slope_of(bias, k + (double)h + 1, n);
    return n >= k + (double)bias->heads;
}

static bool make_other_heads(pe_bias *bias)
{
    bias->b = num_heads(bias);
    double head;
    return read_heads(bias, &bias->a, &head) && head == 0 && bias->a != bias->b &&
           make_heads(bias, bias->a, 0);
}

/* Of heads that are no power of two slopes are no one progression: those of some ranks are tried. */
static bool make_rank(pe_bias *bias)
{
    enum { MOST = 8 };
    const double n = num_heads(bias);
    for (size_t at = 0; at < MOST * MOST && (double)bias->heads == n; at++) {
        const size_t ranks = at / MOST + 1, rank = at % MOST;
        bias->a = (double)ranks * n;
        bias->b = (double)rank * n;
        for (size_t h = 0; h < bias->heads; h++)
            bias->made[h] = claimed_of(bias, bias->b + (double)h + 1, bias->a, 0);
        if (rank > 0 && rank < ranks && pe_slope_rules_hold(bias))
            return true;
    }
    return false;
}

static bool make_shard(pe_bias *bias)
{
    return read_heads(bias, &bias->a, &bias->b) ? bias->b > 0 && make_heads(bias, bias->a, bias->b)
                                                : make_rank(bias);
}

static bool make_moved(pe_bias *bias, double by)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = claimed_of(bias, head_at(bias, h) + 1, num_heads(bias), by);
    return true;
}

static bool make_earlier(pe_bias *bias)
{
    return make_moved(bias, -1);
}

static bool make_later(pe_bias *bias)
{
    return make_moved(bias, 1);
}

/* The least slope, whatever its head is and however slopes were rounded; that of heads without any
 * does not count. */
static double least(const double *slopes, size_t n)
{
    double x = HUGE_VAL;
    for (size_t h = 0; h < n; h++)
        x = slopes[h] != 0 ? fmin(x, fabs(slopes[h])) : x;
    return x;
}

/* Every exponent grows with alibi_bias_max. */
static bool make_bias_max(pe_bias *bias)
{
    const double last = log2(least(bias->claimed, bias->heads));
    bias->b = bias_max(bias);
    bias->a = round(bias->b * log2(least(bias->read, bias->heads)) / last);
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = exp2(log2(bias->claimed[h]) * bias->a / bias->b);
    return bias->a > 0 && bias->a != bias->b;
}

/* Exponents evenly spaced, whatever the number of heads. */
static bool make_formula(pe_bias *bias)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = exp2(-bias_max(bias) * (head_at(bias, h) + 1) / num_heads(bias));
    return true;
}

/* Each rank made the slopes of its own heads alone. */
static bool make_each_rank(pe_bias *bias)
{
    size_t n = 1;
    while (n < bias->heads && !pe_numbers_is_near(bias->of, bias->read[n], bias->read[0]))
        n++;
    bias->a = (double)n;
    bias->b = num_heads(bias);
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = claimed_of(bias, (double)(h % n) + 1, bias->a, 0);
    return n > 1 && bias->heads % n == 0 && n < bias->heads;
}

/* Heads from a on have the slopes of heads from 0 on. */
static bool make_first_again(pe_bias *bias)
{
    size_t n = 1;
    while (n < bias->heads && !pe_numbers_is_near(bias->of, bias->read[n], bias->claimed[0]))
        n++;
    bias->a = (double)n;
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->claimed[h % n];
    return n > 1 && n < bias->heads && bias->heads % n == 0;
}

static bool make_constant(pe_bias *bias)
{
    bias->a = bias->read[0];
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->a;
    return bias->a != 0 && bias->heads > 2;
}

static bool make_linear(pe_bias *bias)
{
    const size_t last = bias->heads - 1;
    bias->a = bias->read[0];
    bias->b = (bias->read[last] - bias->a) / (double)last;
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->a + bias->b * (double)h;
    return last > 2 && bias->b != 0;
}

/* ---- the order of heads ---- */

static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static bool make_reversed(pe_bias *bias)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->claimed[bias->heads - 1 - h];
    return true;
}

static bool make_rolled(pe_bias *bias, size_t by)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->claimed[(h + by) % bias->heads];
    return true;
}

static bool make_rolled_on(pe_bias *bias)
{
    return make_rolled(bias, bias->heads - 1);
}

static bool make_rolled_back(pe_bias *bias)
{
    return make_rolled(bias, 1);
}

static void sort_claimed(pe_bias *bias)
{
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->claimed[h];
    qsort(bias->made, bias->heads, sizeof *bias->made, compare_down);
}

static bool make_sorted(pe_bias *bias)
{
    sort_claimed(bias);
    return true;
}

/* Every slope is another head's. Each is looked for among the claimed ones, in their order. */
static bool make_permuted(pe_bias *bias)
{
    bias->a = bias->b = -1;
    sort_claimed(bias);
    double *sorted = malloc(2 * bias->heads * sizeof *sorted), *order = sorted + bias->heads;
    bool same = sorted != NULL;
    for (size_t h = 0; h < bias->heads && same; h++) {
        sorted[h] = bias->made[h];
        order[h] = bias->read[h];
    }
    if (same)
        qsort(order, bias->heads, sizeof *order, compare_down);
    for (size_t h = 0; h < bias->heads && same; h++)
        same = pe_numbers_is_near(bias->of, order[h], sorted[h]);
    for (size_t h = 0; h < bias->heads && same; h++) {
        size_t at = 0;
        while (at + 1 < bias->heads && !pe_numbers_is_near(bias->of, bias->read[h], sorted[at]))
            at++;
        bias->made[h] = sorted[at];
        if (bias->made[h] != bias->claimed[h])
            *(bias->a < 0 ? &bias->a : &bias->b) = (double)h;
    }
    free(sorted);
    return same && bias->b >= 0;
}

/* All but a few heads are as claimed. Of slopes alone, others tell nothing unless they are 0. */
static bool make_few(pe_bias *bias)
{
    size_t few = 0;
    bool telling = true;
    for (size_t h = 0; h < bias->heads; h++) {
        const bool same = pe_numbers_is_near(bias->of, bias->read[h], bias->claimed[h]);
        bias->made[h] = same ? bias->claimed[h] : bias->read[h];
        telling &= same || bias->form != PE_BIAS_SLOPES || bias->read[h] == 0;
        if (!same && few++ == 0) {
            bias->a = (double)h;
            bias->b = bias->read[h];
        }
    }
    return telling && few * 4 <= bias->heads;
}

static double times_log2e(double slope)
{
    return LOG2E * slope;
}

static double most(const double *slopes, size_t n)
{
    double x = 0;
    for (size_t h = 0; h < n; h++)
        x = fmax(x, fabs(slopes[h]));
    return x;
}

/* By how much all slopes are larger, whatever their order. */
static bool make_multiple(pe_bias *bias, double a)
{
    bias->a = a;
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = a * bias->claimed[h];
    return isfinite(a) && a != 0 && !pe_numbers_is_near(bias->of, a, 1);
}

static bool make_times(pe_bias *bias)
{
    return make_multiple(bias, most(bias->read, bias->heads) / most(bias->claimed, bias->heads));
}

/* A number that a person would have chosen. */
static bool make_tidy_times(pe_bias *bias)
{
    (void)make_times(bias);
    return make_multiple(bias, pe_numbers_tidy(bias->a));
}

static bool make_ladder(pe_bias *bias)
{
    if (!read_ladder(bias, &bias->a, &bias->b))
        return false;
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->a * pow(bias->b, (double)h);
    return true;
}

static bool make_read(pe_bias *bias)
{
    bias->a = bias->read[0];
    bias->b = bias->claimed[0];
    for (size_t h = 0; h < bias->heads; h++)
        bias->made[h] = bias->read[h];
    return true;
}

#define CHECK_HEADS "make the slopes of all num_heads heads, then take those of this rank"
#define CHECK_ORDER "keep the order of the heads"

static double to_bfloat16(double slope)
{
    return pe_grain_round(&pe_grains[PE_GRAIN_BFLOAT16], slope);
}

static double to_float16(double slope)
{
    return pe_grain_round(&pe_grains[PE_GRAIN_FLOAT16], slope);
}

const pe_slope_rule pe_slope_rules[] = {
    {{"slope_rank",
      "slopes are those of heads {a} on, not of heads {b} on: another rank's (shard's)",
      .remedy = "take the slopes of the heads of this rank"},
     .make = make_other_rank},
    {{"extra_slopes",
      "the variant of extra heads was another: their slopes are the second, fourth, sixth ... of "
      "twice as many heads",
      .remedy = "take the first, third, fifth ... slope of the next power of two for extra heads"},
     .make = make_odd_places},
    {{"extra_slopes",
      "the variant of extra heads was another: their slopes are the first ones of twice as many "
      "heads, without a stride of 2",
      .remedy = "take the first, third, fifth ... slope of the next power of two for extra heads"},
     .make = make_next_places},
    {{"extra_slopes",
      "the order of extra heads was another: of the slopes of twice as many heads the first, "
      "third, "
      "fifth ... stand before the second, fourth, sixth ...",
      .remedy = "take every other slope from the second on, then those between (or as claimed)"},
     .make = make_odd_first},
    {{"variant",
      "the variant was formula: exponents are evenly spaced, as if the number of heads were a "
      "power "
      "of two",
      .remedy = "set variant as claimed"},
     .make = make_formula},
    {{"slope_heads", "slopes are those of {a} heads, not of {b}: num_heads was {a}",
      .remedy = CHECK_HEADS},
     .make = make_other_heads},
    {{"slope_shard", "slopes are those of a model of {a} heads from its head {b} on",
      .remedy = CHECK_HEADS},
     .make = make_shard},
    {{"slope_start", "slopes start one head too early, at 2^0: the index of heads began at 0",
      .remedy = "count heads from 1 in the exponent"},
     .make = make_earlier},
    {{"slope_start", "slopes start one head too late: the index of heads began at 2",
      .remedy = "count heads from 1 in the exponent"},
     .make = make_later},
    {{"doubled", "every bias is doubled: it was added twice, or scaled by 2",
      .remedy = "add the bias once"},
     .of = double_of},
    {{"halved", "every bias is half of the claimed one: it was scaled by 1/2",
      .remedy = "add the bias as it is"},
     .of = half_of},
    {{"slope_repeated",
      "slopes are those of {a} heads, repeated: each rank (shard) made slopes of its own heads, "
      "not of {b}",
      .remedy = CHECK_HEADS},
     .make = make_each_rank},
    {{"slope_repeated",
      "slopes of the first {a} heads are repeated: the other heads (ranks, shards) have those of "
      "rank 0",
      .remedy = CHECK_HEADS},
     .make = make_first_again},
    {{"slope_constant", "all heads have the same slope, {a}",
      .remedy = "give each head its own slope"},
     .make = make_constant},
    {{"slope_linear", "slopes are linear, not powers of two: {a}, and {b} more for each head",
      .remedy = "slopes are a geometric progression"},
     .make = make_linear},
    {{"alibi_bias_max", "alibi_bias_max was {a}, not {b}", .param = "alibi_bias_max",
      .remedy = "set alibi_bias_max as claimed"},
     .make = make_bias_max},
    {{"slope_base", "the base of the slopes was e, not 2", .remedy = "raise 2, not e"},
     .of = natural_of},
    {{"slope_squared", "slopes were squared, as if applied twice", .remedy = "apply slopes once"},
     .of = square_of},
    {{"slope_logarithm", "slopes are the exponents, log2 of the claimed slopes",
      .remedy = "raise 2 to them"},
     .of = logarithm_of},
    {{"slope_sign", "every slope has the opposite sign",
      .remedy = "subtract slope times distance: the bias is never above 0"},
     .of = opposite_of,
     .undoes = true},
    {{"head_order", "heads are in reverse order", .remedy = CHECK_ORDER},
     .make = make_reversed,
     .undoes = true},
    /* times a number these are those of heads in reverse order, which people mean */
    {{"slope_reciprocal", "slopes are the reciprocal ones: the sign of the exponent is wrong",
      .remedy = "raise 2 to the negative power"},
     .of = reciprocal_of,
     .undoes = true},
    {{"head_order", "the order of heads is rolled by one: head 0 has the slope of the last one",
      .remedy = CHECK_ORDER},
     .make = make_rolled_on},
    {{"head_order", "the order of heads is rolled by one: the last head has the slope of head 0",
      .remedy = CHECK_ORDER},
     .make = make_rolled_back},
    {{"head_order", "slopes were sorted: the order of the extra heads is lost",
      .remedy = CHECK_ORDER},
     .make = make_sorted},
    {{"log2_scale", "slopes were multiplied by log2(e), for an exponential of base 2",
      .remedy = "multiply by log2(e) in the kernel alone"},
     .of = times_log2e,
     .rest = true},
    {{"slopes_scaled", "slopes were multiplied by {a}", .remedy = "add the bias as it is"},
     .make = make_tidy_times,
     .rest = true},
    {{"slopes_scaled", "slopes were multiplied by {a}", .remedy = "add the bias as it is"},
     .make = make_times,
     .rest = true},
    {{"bfloat16_slopes", "slopes were rounded to bfloat16", .remedy = "keep slopes in float32"},
     .of = to_bfloat16},
    {{"float16_slopes", "slopes were rounded to float16", .remedy = "keep slopes in float32"},
     .of = to_float16},
    {{"head_order", "heads are in another order: heads {a} and {b} have slopes of others",
      .remedy = CHECK_ORDER},
     .make = make_permuted,
     .rest = true},
    {{"one_head", "few heads have another slope, the first of them head {a}: {b}",
      .remedy = "look at the slope of that head"},
     .make = make_few,
     .rest = true},
    {{"slope_ladder", "slopes are another geometric progression: {a} times {b} for each head",
      .remedy = "check the base of the slopes, alibi_bias_max and the number of heads"},
     .make = make_ladder,
     .rest = true,
     .fitted = true},
    {{"slopes_other", "slopes are others, that of the first head {a}, not {b}: see measured.slopes",
      .remedy = "check the slopes of the heads"},
     .make = make_read,
     .rest = true,
     .fitted = true},
};
const size_t pe_slope_rules_n = PE_LEN(pe_slope_rules);

/* ---- one rule ---- */

bool pe_slope_rules_make(const pe_slope_rule *rule, pe_bias *bias, pe_numbers_cause *cause)
{
    bias->a = bias->b = 0;
    bool made = true;
    for (size_t h = 0; h < bias->heads && rule->of != NULL; h++)
        bias->made[h] = rule->of(bias->claimed[h]);
    if (rule->make != NULL)
        made = rule->make(bias);
    *cause = (pe_numbers_cause){&rule->fault, bias->a, bias->b, rule->fitted};
    return made;
}

bool pe_slope_rules_hold(const pe_bias *bias)
{
    for (size_t h = 0; h < bias->heads; h++)
        if (!pe_numbers_is_near(bias->of, bias->read[h], bias->made[h]))
            return false;
    return true;
}
