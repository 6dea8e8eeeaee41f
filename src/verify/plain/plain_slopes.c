/* SPDX-License-Identifier: MIT */
/* plain_slopes.c - the stage of slopes: what the biases of each head are multiplied by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- slopes of heads ---- */

/* That of head K of N, from 1; of a count that is no power of two, and not by the formula alone, those
 * beyond the greatest power below are every other one of twice as many. */
#define SLOPE(K, N) "exp2(-alibi_bias_max*(" K ")/(" N "))"
#define POWER(N)    "2^floor(log2(" N "))"
#define HEAD(K, N)                                                                                 \
    "(variant.formula ? " SLOPE(K, N) " : (" K ") <= " POWER(N) " ? " SLOPE(                       \
        K, POWER(N)) " : " SLOPE("2*(" K ") - 2*" POWER(N) " - 1", "2*" POWER(N)) ")"

/* ---- the stage ---- */

typedef struct slopes {
    size_t each;                                /* elements of a head; of slopes alone 1 */
    const double *claimed_down, *measured_down; /* the largest first */
    size_t head; /* of which `made` is what the mistake makes of its slope; SIZE_MAX: of none */
    double made;
    double elements, roundoff, step; /* each, and those of the upload, as equations name them */
} slopes;

/* Of all heads, the one that stands at i. */
static double head_at(const void *of, double i)
{
    const pe_value *heads = pe_values_find(((const pe_sequence *)of)->values, "heads");
    const bool listed = heads != NULL && heads->present && (size_t)i < heads->positions.count;
    return listed ? pe_positions_at(&heads->positions, (size_t)i) : i;
}

#define SORTED(NAME, MEMBER) PE_STATE_LIST(NAME, slopes, MEMBER)

static const pe_term terms[] = {{.name = "head", .at = head_at},
                                PE_STATE_TERM("each roundoff step", slopes, elements),
                                SORTED("x_down", claimed_down),
                                SORTED("y_down", measured_down),
                                {0}};

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

/* What slopes are multiplied by in an element of each head: that which gives the claim's own ones,
 * unless a mistake has changed these, too. */
static double unit_of(pe_sequence *p, size_t at, size_t each)
{
    static const pe_slip own = {.op = HEAD("head + 1", "num_heads")};
    const size_t last = p->n - 1;
    if (!pe_sequence_read(p, &own))
        return nan("");
    const double unit = p->of->claimed[at] / pe_sequence_at(p, 0);
    const double other = p->of->claimed[last * each + at] / pe_sequence_at(p, last);
    if (pe_numbers_is_near(p->of, unit, other))
        return unit;
    const double keys = pe_slip_number(p, "key_length");
    const double query = keys - pe_slip_number(p, "query_length") + floor((double)at / keys);
    const double key = fmod((double)at, keys);
    return pe_slip_has(p, "form", "key") ? key : -fabs(query - key);
}

static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The claimed slopes, and those that the upload has where its distances are as claimed. */
static pe_status measure(pe_sequence *p, pe_problem *why)
{
    const pe_shape *shape = &p->of->view->claim->uploads[0].array.shape;
    slopes *state = p->state;
    p->n = shape->ndim < 2 ? p->of->elements : shape->ndim > 2 ? shape->dim[shape->ndim - 3] : 1;
    double *claimed = calloc(4 * p->n, sizeof *claimed);
    p->owned = claimed;
    if (claimed == NULL)
        return pe_fail_memory(why);
    double *measured = claimed + p->n;
    p->claimed = claimed;
    p->measured = measured;
    state->each = p->of->elements / p->n;
    state->elements = (double)state->each;
    state->roundoff = p->of->roundoff;
    state->step = p->of->step;
    const size_t at = loudest(p->of, state->each);
    const double unit = shape->ndim > 1 ? unit_of(p, at, state->each) : 1;
    for (size_t h = 0; h < p->n; h++) {
        claimed[h] = p->of->claimed[h * state->each + at] / unit;
        measured[h] = p->of->got[h * state->each + at] / unit;
    }
    double *down = measured + p->n;
    memcpy(down, claimed, 2 * p->n * sizeof *down);
    qsort(down, p->n, sizeof *down, compare_down);
    qsort(down + p->n, p->n, sizeof *down, compare_down);
    state->claimed_down = down;
    state->measured_down = down + p->n;
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

static void tell(const pe_sequence *p)
{
    pe_numbers_list(p->of, "slopes", p->measured, p->n);
    pe_numbers_list(p->of, "claimed_slopes", p->claimed, p->n);
}

const pe_slip_stage pe_slip_slopes = {.of = "alibi/bias alibi/slopes",
                                      .state = sizeof(slopes),
                                      .terms = terms,
                                      .measure = measure,
                                      .begin = begin,
                                      .tell = tell,
                                      .at = at};

/* ---- the rows ---- */

#define SLOPES &pe_slip_slopes, NULL, NULL
#define HEADS  POWER("num_heads")
#define EXTRA  .where = "log2(num_heads) % 1 != 0"

/* Extra heads of a count that is no power of two, from twice as many. */
#define WITH_EXTRA(PLACE)                                                                          \
    "(head < " HEADS " ? " SLOPE("head + 1", HEADS) " : " SLOPE(PLACE, "2*" HEADS) ")"
#define MOVED                                                                                      \
    "variant.formula ? " SLOPE("head + 1 + a", "num_heads") " : head < " HEADS " ? " SLOPE(        \
        "head + 1 + a", HEADS) " : " SLOPE("2*(head - " HEADS ") + 1 + a", "2*" HEADS)

/* From each head to the next, by the largest and the least slope, in any order and of any sign. */
#define RATIO "(log2(least(abs(y))/most(abs(y)))/(n - 1))"
#define COUNT "round(-alibi_bias_max/" RATIO ")"
#define MANY  "n > 3 && a >= 1 && a <= 4096"

/* The head that has the first slope, where it is none of the extra ones. */
#define FIRST "round(-log2(abs(y[0]))/alibi_bias_max*(variant.formula ? num_heads : " HEADS ")) - 1"
#define AGAIN "first(i > 0 && abs(y) == abs(y[0]))" /* where slopes begin anew */
#define RANKS "a < n && n % a == 0"

/* Slopes that are not as claimed; each is another head's, where both are the same once sorted. */
#define NEAR(Y, X) "(abs(" Y " - " X ") <= (4*roundoff + 2^-18)*abs(" X ") + step)"
#define OTHER      "(" NEAR("y", "x") " == 0)"
#define PERMUTED   "sum(" NEAR("y_down", "x_down") ") == n"

static const pe_slip rows[] = {
    PE_SLIP(slope_rank, SLOPES, .a = FIRST, .b = "head",
            .where = "a != b && a % n == 0 && a >= 0 && a < num_heads",
            .op = HEAD("a + i + 1", "num_heads")),
    PE_SLIP(extra_slopes, SLOPES, EXTRA, .op = WITH_EXTRA("2*(head - " HEADS ") + 2")),
    PE_SLIP(extra_slopes_first, SLOPES, EXTRA, .op = WITH_EXTRA("head - " HEADS " + 1")),
    PE_SLIP(slope_heads, SLOPES, .a = COUNT, .b = "num_heads", .where = MANY " && a != b",
            .op = HEAD("head + 1", "a")),
    PE_SLIP(slope_shard, SLOPES, .a = COUNT, .b = "round(log2(most(abs(y)))/" RATIO " - 1)",
            .where = MANY " && b > 0", .op = SLOPE("i + b + 1", "a")),
    PE_SLIP(slope_shard, SLOPES, .a = "2*num_heads", .b = "num_heads",
            .op = HEAD("b + head + 1", "a")),
    PE_SLIP(slope_start, SLOPES, .op = MOVED, .fault.value = -1),
    PE_SLIP(slope_start_late, SLOPES, .op = MOVED, .fault.value = 1),
    PE_SLIP(slope_repeated, SLOPES, .a = AGAIN, .b = "num_heads", .where = "a > 1 && " RANKS,
            .op = HEAD("i % a + 1", "a")),
    PE_SLIP(slope_repeated_ranks, SLOPES, .a = AGAIN, .b = "num_heads", .where = RANKS,
            .op = "x[i % a]"),
    PE_SLIP(slope_constant, SLOPES, .a = "y[0]", .where = "n > 2", .op = "a"),
    PE_SLIP(slope_linear, SLOPES, .a = "y[0]", .b = "(y[n - 1] - y[0])/(n - 1)",
            .where = "n > 3 && b != 0", .op = "a + b*i"),
    PE_SLIP(alibi_bias_max, SLOPES,
            .a = "round(alibi_bias_max*log2(least(abs(y)))/log2(least(abs(x))))",
            .b = "alibi_bias_max", .where = "finite(a) && a > 0 && a != b", .op = "x^(a/b)",
            .fault.param = "alibi_bias_max"),
    PE_SLIP(slope_base, SLOPES, .op = "x^1.4426950408889634"),
    PE_SLIP(slope_squared, SLOPES, .op = "x^2"),
    PE_SLIP(slope_logarithm, SLOPES, .op = "log2(x)"),
    PE_SLIP(slope_sign, SLOPES, .op = "-x"),
    PE_SLIP(slope_reciprocal, SLOPES, .op = "1/x"),
    PE_SLIP(log2_scale, SLOPES, .op = "1.4426950408889634*x"),
    PE_SLIP(head_order, SLOPES, .op = "x[n - 1 - i]"),
    PE_SLIP(head_order_rolled, SLOPES, .op = "x[(i - 1) % n]"),
    PE_SLIP(head_order_rolled_back, SLOPES, .op = "x[(i + 1) % n]"),
    PE_SLIP(head_order_sorted, SLOPES, EXTRA, .op = "x_down"),
    PE_SLIP(bfloat16_slopes, SLOPES, .op = "bfloat16(x)"),
    PE_SLIP(float16_slopes, SLOPES, .op = "float16(x)"),
    PE_SLIP(head_order_other, SLOPES, .a = "first(" OTHER ")", .b = "most(" OTHER " ? i : none)",
            .where = PERMUTED " && b > a && n > 3", .op = "y"),
    PE_SLIP(one_head, SLOPES, .a = "first(" OTHER ")", .b = "y[first(" OTHER ")]",
            .where =
                "4*sum(" OTHER ") <= n && a < n && (each > 1 || sum(" OTHER " && y != 0) == 0)",
            .op = "y"),
    PE_SLIP(slopes_other, SLOPES, .a = "y[0]", .b = "x[0]", .where = "each > 2", .op = "y",
            .fault.fitted = true),
};
const pe_slips pe_mistakes_of_slopes = {rows, PE_LEN(rows)};
