/* SPDX-License-Identifier: MIT */
/* bias_reading.c - a linear bias taken apart: slopes of heads, distances, and what masks. */
#include "verify/bias_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"

#define NOWHERE       nan("")
#define DISTANCE_WORK 1 /* units, for a key */

/* ---- distances by form ---- */

static double at_symmetric(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)a;
    return fabs(query - key);
}

static double at_causal(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)a;
    return key > query ? NOWHERE : query - key;
}

static double at_key(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)query;
    (void)a;
    return -key;
}

static double at_slope(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)query;
    (void)key;
    (void)a;
    return -1;
}

static double at_claimed(const pe_bias *bias, double query, double key, double a)
{
    static double (*const of[])(const pe_bias *, double, double,
                                double) = {[PE_BIAS_SYMMETRIC] = at_symmetric,
                                           [PE_BIAS_CAUSAL] = at_causal,
                                           [PE_BIAS_KEY] = at_key,
                                           [PE_BIAS_SLOPES] = at_slope};
    return of[bias->form](bias, query, key, a);
}

/* ---- numbers of rules ---- */

static double element(const pe_bias *bias, const double *of, size_t head, size_t query, size_t key)
{
    return of[(head * bias->queries + query) * bias->keys + key];
}

static double claimed_distance(const pe_bias *bias, size_t query, size_t key)
{
    return at_claimed(bias, bias->first + (double)query, (double)key, 0);
}

/* 0: a row of keys begins, and its work counts. */
static size_t first_key(const pe_bias *bias)
{
    pe_turn_spend(DISTANCE_WORK * bias->keys);
    return 0;
}

/* The head whose elements are largest: rounding moves its ratios least. */
static size_t find_loudest(const pe_bias *bias)
{
    size_t loud = 0;
    const size_t each = bias->queries * bias->keys;
    pe_numbers_spend(bias->of, bias->of->elements);
    double most = 0;
    for (size_t e = 0; e < bias->heads * each; e++)
        if (isfinite(bias->of->got[e]) && fabs(bias->of->got[e]) > most) {
            most = fabs(bias->of->got[e]);
            loud = e / each;
        }
    return loud;
}

/* Sums over the keys of one head that the claim does not mask. */
typedef struct moments {
    double n, x, y, xx, xy; /* x: claimed distances, y: -bias */
} moments;

static moments sum_up(const pe_bias *bias)
{
    moments m = {0};
    const size_t head = bias->loudest;
    for (size_t q = 0; q < bias->queries; q++)
        for (size_t k = first_key(bias); k < bias->keys; k++) {
            const double x = claimed_distance(bias, q, k);
            const double y = -element(bias, bias->of->got, head, q, k);
            if (isnan(x) || !isfinite(y))
                continue;
            m.n++;
            m.x += x;
            m.y += y;
            m.xx += x * x;
            m.xy += x * y;
        }
    return m;
}

/* -bias = slope (distance + a) */
static double read_shift(const pe_bias *bias)
{
    const moments m = sum_up(bias);
    const double slope = (m.n * m.xy - m.x * m.y) / (m.n * m.xx - m.x * m.x);
    const double a = round((m.y / slope - m.x) / m.n);
    return isfinite(a) && a != 0 ? a : NOWHERE;
}

/* The largest element in units of the smallest but 0. */
static double read_reach(const pe_bias *bias)
{
    const size_t head = bias->loudest;
    double most = 0, least = HUGE_VAL;
    for (size_t q = 0; q < bias->queries; q++)
        for (size_t k = first_key(bias); k < bias->keys; k++) {
            const double x = fabs(element(bias, bias->of->got, head, q, k));
            if (isnan(claimed_distance(bias, q, k)) || !(x > 0) || !isfinite(x))
                continue;
            most = fmax(most, x);
            least = fmin(least, x);
        }
    const double a = round(most / least);
    return isfinite(a) && a >= 1 && a < (double)bias->keys ? a : NOWHERE;
}

static double read_period(const pe_bias *bias)
{
    return read_reach(bias) + 1;
}

/* By how much the first key without a distance is beyond its query. */
static double read_queries(const pe_bias *bias)
{
    for (size_t q = 0; q < bias->queries && bias->form != PE_BIAS_KEY; q++)
        for (size_t k = first_key(bias); k < bias->keys; k++) {
            const double a = (double)k - bias->first - (double)q;
            if (element(bias, bias->of->got, bias->loudest, q, k) == 0)
                return a != 0 ? a : NOWHERE;
        }
    return NOWHERE;
}

/* The nearest key before the last query that is not masked, and whose neighbour is. */
static double read_window(const pe_bias *bias)
{
    const size_t last = bias->queries - 1, own = (size_t)bias->first + last;
    const double mask = element(bias, bias->of->got, bias->loudest, last, 0);
    size_t n = 1;
    while (n < own && element(bias, bias->of->got, bias->loudest, last, own - n) != mask)
        n++;
    const bool masked = !isfinite(mask) || mask == bias->claimed_mask;
    return bias->form == PE_BIAS_KEY || !masked || n < 2 || n >= own ? NOWHERE : (double)n;
}

/* How far before the last query the nearest key of distance 0 is. */
static double read_block(const pe_bias *bias)
{
    const size_t last = bias->queries - 1, own = (size_t)bias->first + last;
    size_t n = 1;
    while (n < own && element(bias, bias->of->got, bias->loudest, last, own - n) != 0)
        n++;
    return bias->form != PE_BIAS_SYMMETRIC || n < 2 || n >= own ? NOWHERE : (double)n;
}

/* How many keys before the last query have no distance. */
static double read_shortening(const pe_bias *bias)
{
    const size_t last = bias->queries - 1, own = (size_t)bias->first + last;
    size_t n = 0;
    while (n <= own && element(bias, bias->of->got, bias->loudest, last, own - n) == 0)
        n++;
    return bias->form == PE_BIAS_KEY || n < 2 || n > own ? NOWHERE : (double)n - 1;
}

/* How many keys share a distance. */
static double read_step(const pe_bias *bias)
{
    return read_shortening(bias) + 1;
}

/* Positions that bfloat16 does not hold. */
static double read_bfloat16(const pe_bias *bias)
{
    return bias->keys > 257 ? PE_GRAIN_BFLOAT16 : NOWHERE;
}

static double read_float16(const pe_bias *bias)
{
    return bias->keys > 2049 ? PE_GRAIN_FLOAT16 : NOWHERE;
}

/* Distances that 8 bits do not hold. */
static double read_byte(const pe_bias *bias)
{
    return bias->keys > 128 ? 8 : NOWHERE;
}

static double read_past(const pe_bias *bias)
{
    return bias->first > 0 ? bias->first : NOWHERE;
}

/* Keys at the left end of the first row that have no bias, but for the first. */
static double read_padding(const pe_bias *bias)
{
    size_t n = 0;
    const size_t head = bias->loudest;
    while (n < bias->keys && element(bias, bias->of->got, head, 0, n) == 0)
        n++;
    return bias->form == PE_BIAS_KEY && n > 1 && n < bias->keys ? (double)n - 1 : NOWHERE;
}

static double is_form(const pe_bias *bias, pe_bias_form form)
{
    return bias->form == form ? NOWHERE : 0;
}

static double read_symmetric(const pe_bias *bias)
{
    return is_form(bias, PE_BIAS_SYMMETRIC);
}

/* The element of query 0 and the last key is 0, where it has a distance. */
static double read_tril(const pe_bias *bias)
{
    const bool symmetric = bias->form == PE_BIAS_SYMMETRIC && bias->queries > 1;
    return symmetric && element(bias, bias->of->got, bias->loudest, 0, bias->keys - 1) == 0
               ? 0
               : NOWHERE;
}

static double read_causal(const pe_bias *bias)
{
    return isnan(read_tril(bias)) ? is_form(bias, PE_BIAS_CAUSAL) : NOWHERE;
}

/* Of query 0 and the next key in units of query 1 and the key before it. */
static double read_ahead(const pe_bias *bias)
{
    const size_t head = bias->loudest, key = (size_t)bias->first;
    if (bias->form != PE_BIAS_SYMMETRIC || bias->queries < 2)
        return NOWHERE;
    const double before = element(bias, bias->of->got, head, 1, key);
    const double a = pe_numbers_tidy(element(bias, bias->of->got, head, 0, key + 1) / before);
    return isfinite(a) && a != 1 && a != 0 && a != -1 ? a : NOWHERE;
}

static double read_key(const pe_bias *bias)
{
    return is_form(bias, PE_BIAS_KEY);
}

static double read_square(const pe_bias *bias)
{
    return bias->queries == bias->keys && bias->queries > 1 ? 0 : NOWHERE;
}

static double read_masked(const pe_bias *bias)
{
    return bias->form == PE_BIAS_CAUSAL ? 0 : NOWHERE;
}

static double read_unmasked(const pe_bias *bias)
{
    return bias->form == PE_BIAS_CAUSAL ? NOWHERE : 0;
}

/* ---- distances ---- */

static double at_signed(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)a;
    return query - key;
}

static double at_opposite(const pe_bias *bias, double query, double key, double a)
{
    return -at_signed(bias, query, key, a);
}

static double at_transposed(const pe_bias *bias, double query, double key, double a)
{
    return at_claimed(bias, key, query, a);
}

static double at_reversed(const pe_bias *bias, double query, double key, double a)
{
    return at_claimed(bias, 2 * bias->first + (double)bias->queries - 1 - query, key, a);
}

static double at_past(const pe_bias *bias, double query, double key, double a)
{
    return isnan(at_claimed(bias, query, key, 0)) ? NOWHERE : fabs(query - a - key);
}

static double at_moved(const pe_bias *bias, double query, double key, double a)
{
    return at_claimed(bias, query + a, key, 0);
}

static double at_past_masked(const pe_bias *bias, double query, double key, double a)
{
    return at_claimed(bias, query - a, key, 0);
}

static double at_key_masked(const pe_bias *bias, double query, double key, double a)
{
    (void)a;
    return isnan(at_claimed(bias, query, key, 0)) ? NOWHERE : -key;
}

static double at_byte(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, 0), wide = exp2(a);
    return d - wide * floor((d + wide / 2) / wide);
}

static double at_shifted(const pe_bias *bias, double query, double key, double a)
{
    return at_claimed(bias, query, key, 0) + a;
}

static double at_shortened(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, 0);
    return d < a ? 0 : d - a;
}

/* fmin would pass what masks. */
static double at_clamped(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, 0);
    return d > a ? a : d;
}

static double at_period(const pe_bias *bias, double query, double key, double a)
{
    return fmod(at_claimed(bias, query, key, 0), a);
}

static double at_tril(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)a;
    return key > query ? 0 : query - key;
}

static double at_ahead(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    return key > query ? a * (key - query) : query - key;
}

static double at_window(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, 0);
    return d < a ? d : NOWHERE;
}

static double at_step(const pe_bias *bias, double query, double key, double a)
{
    return floor(at_claimed(bias, query, key, 0) / a);
}

static double at_block(const pe_bias *bias, double query, double key, double a)
{
    return at_claimed(bias, fmod(query, a), fmod(key, a), 0);
}

static double at_rounded(const pe_bias *bias, double query, double key, double a)
{
    const pe_grain *grain = &pe_grains[(size_t)a];
    return at_claimed(bias, pe_grain_round(grain, query), pe_grain_round(grain, key), 0);
}

static double at_padded(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)query;
    return key > a ? a - key : 0;
}

static double at_squared(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, a);
    return d * fabs(d);
}

static double at_logarithm(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, a);
    return copysign(log1p(fabs(d)), d);
}

static double at_root(const pe_bias *bias, double query, double key, double a)
{
    const double d = at_claimed(bias, query, key, a);
    return copysign(sqrt(fabs(d)), d);
}

static double at_strict(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)a;
    return key >= query ? NOWHERE : query - key;
}

static double at_late(const pe_bias *bias, double query, double key, double a)
{
    (void)bias;
    (void)a;
    return key > query + 1 ? NOWHERE : query - key;
}

/* ---- the rules ---- */

#define FORM "make the bias of the claimed form: symmetric, causal or key"
#define SIGN "subtract slope times |query - key|, or mask the keys after the query"
#define MASK "mask the keys whose position is greater than the query's, and no others"

const pe_bias_rule pe_bias_rules[] = {
    {{.name = ""}, NULL, at_claimed},
    {{"bias_form", "the form was symmetric: distances are |query - key|, and no key is masked",
      .remedy = FORM},
     read_symmetric,
     at_symmetric},
    {{"bias_form", "the form was causal: keys after the query are masked", .remedy = FORM},
     read_causal,
     at_causal},
    {{"bias_form", "the form was by key: slope times the key's position in every row",
      .remedy = FORM},
     read_key,
     at_key},
    {{"bias_form",
      "the form was by key, slope times the key's position in every row, with the mask of causal",
      .remedy = FORM},
     read_masked,
     at_key_masked},
    {{"mask_missing",
      "keys after the query are not masked: the distance kept its sign, and they gain what keys "
      "before it lose",
      .remedy = "mask the keys after the query"},
     read_masked,
     at_signed},
    {{"distance_signed",
      "the distance kept its sign, query - key: keys after the query gain what keys before it lose",
      .remedy = SIGN},
     read_unmasked,
     at_signed},
    {{"distance_opposite",
      "the distance had the opposite sign, key - query: keys before the query gain",
      .remedy = SIGN},
     NULL,
     at_opposite},
    {{"bias_transposed", "queries and keys are exchanged: the matrix is transposed",
      .remedy = "put queries along the axis before the last, and keys along the last one"},
     read_square,
     at_transposed},
    {{"queries_reversed", "the rows of queries are in reverse order",
      .remedy = "do not reverse the queries"},
     NULL,
     at_reversed},
    {{"past_ignored",
      "queries were counted from 0, not from {a}: the past keys of the cache were left out, an "
      "offset of the position",
      .remedy = "add the length of the cache (past_key_values) to the queries' positions"},
     read_past,
     at_past},
    {{"past_ignored",
      "queries were counted from 0, not from {a}, also where keys are masked: the past keys of the "
      "cache were left out, an offset of the position",
      .remedy = "add the length of the cache (past_key_values) to the queries' positions"},
     read_past,
     at_past_masked},
    {{"queries_shifted", "positions of the queries are shifted: they are larger by {a}",
      .remedy = "count queries as keys are counted: the last query is at the last key"},
     read_queries,
     at_moved},
    {{"distance_shift", "distances were shifted: an offset of {a} was added to each",
      .remedy = "count the distance of a query from its own key as 0; of form key, keys from 0"},
     read_shift,
     at_shifted},
    {{"distance_shift", "distances were smaller by {a}, and none was below 0",
      .remedy = "count the distance of a query from its own key as 0, from the next one as 1"},
     read_shortening,
     at_shortened},
    {{"distance_clamped", "distances were clamped at {a}",
      .remedy = "make the table of biases as long as the distances reach"},
     read_reach,
     at_clamped},
    {{"distance_wrapped", "distances restart each {a} keys: they were taken modulo {a}",
      .remedy = "do not count positions anew in each block or window"},
     read_period,
     at_period},
    {{"bias_padding", "keys count from {a} on: those before are padding on the left, at 0",
      .remedy = "count keys from the claim, not from the attention mask"},
     read_padding,
     at_padded},
    {{"distance_squared", "distances were squared", .remedy = "multiply slopes by the distance"},
     NULL,
     at_squared},
    {{"distance_root", "distances were replaced by their square root",
      .remedy = "multiply slopes by the distance"},
     NULL,
     at_root},
    {{"distance_overflow", "distances were kept in an integer of {a} bits, which overflowed",
      .remedy = "keep distances in int32 or float32"},
     read_byte,
     at_byte},
    {{"distance_logarithm", "distances were replaced by their logarithm, ln(1 + distance)",
      .remedy = "multiply slopes by the distance"},
     NULL,
     at_logarithm},
    {{"bias_ahead", "keys after the query have no bias: theirs is 0, as tril leaves it",
      .remedy = SIGN},
     read_tril,
     at_tril},
    {{"bias_ahead", "keys after the query have {a} times the bias of keys as far before it",
      .remedy = SIGN},
     read_ahead,
     at_ahead},
    {{"mask_window", "keys {a} and more before the query are masked, too: a sliding window",
      .remedy = MASK},
     read_window,
     at_window},
    {{"distance_halved", "distances were divided by {a} and rounded down, as integers are",
      .remedy = "divide no positions"},
     read_step,
     at_step},
    {{"distance_blocks", "positions restart each {a} keys, in blocks: they were taken modulo {a}",
      .remedy = "do not count positions anew in each block or window"},
     read_block,
     at_block},
    {{"bfloat16_positions", "positions were rounded to bfloat16 before they were subtracted",
      .remedy = "subtract positions as integers, or in float32"},
     read_bfloat16,
     at_rounded},
    {{"float16_positions", "positions were rounded to float16 before they were subtracted",
      .remedy = "subtract positions as integers, or in float32"},
     read_float16,
     at_rounded},
    {{"mask_strict", "one key too many is masked: each query's own", .remedy = MASK},
     read_masked,
     at_strict},
    {{"mask_late", "one key too few is masked: the one after the query is not", .remedy = MASK},
     read_masked,
     at_late},
};
const size_t pe_bias_rules_n = PE_LEN(pe_bias_rules);

/* ---- taking apart ---- */

/* A rule and its number. */
typedef struct distances {
    const pe_bias_rule *rule;
    double a;
} distances;

static double distance(const pe_bias *bias, const distances *by, size_t query, size_t key)
{
    return by->rule->at(bias, bias->first + (double)query, (double)key, by->a);
}

/* The slope that fits all elements of a head best; NAN: none of them tells it. */
static double slope_of(const pe_bias *bias, const distances *by, const double *numbers, size_t head)
{
    double over = 0, under = 0;
    for (size_t q = 0; q < bias->queries; q++)
        for (size_t k = first_key(bias); k < bias->keys; k++) {
            const double d = distance(bias, by, q, k);
            if (isnan(d))
                continue;
            over -= d * element(bias, numbers, head, q, k);
            under += d * d;
        }
    return over / under;
}

/* Is every element of a head as a rule has it? The first masked one tells the mask. */
static bool follows(pe_bias *bias, const distances *by, size_t head, bool *masked)
{
    for (size_t q = 0; q < bias->queries; q++)
        for (size_t k = first_key(bias); k < bias->keys; k++) {
            const double d = distance(bias, by, q, k);
            const double got = element(bias, bias->of->got, head, q, k);
            if (isnan(d) && !*masked) {
                bias->mask = got;
                *masked = true;
            }
            if (isnan(d) ? got != bias->mask
                         : !pe_numbers_is_near(bias->of, got, -bias->read[head] * d))
                return false;
        }
    return true;
}

size_t pe_bias_evidence(const pe_bias *bias, const pe_bias_rule *rule, double a)
{
    size_t n = 0;
    for (size_t q = 0; q < bias->queries; q++)
        for (size_t k = first_key(bias); k < bias->keys; k++) {
            const double d = distance(bias, &(distances){rule, a}, q, k);
            n += !isnan(d) && d != 0;
        }
    return n;
}

bool pe_bias_follows(pe_bias *bias, const pe_bias_rule *rule, double a)
{
    bool masked = false;
    const distances by = {rule, a};
    const size_t each = bias->queries * bias->keys;
    bias->mask = bias->claimed_mask;
    for (size_t h = 0; h < bias->heads; h++) {
        pe_numbers_spend(bias->of, 2 * each);
        bias->read[h] = slope_of(bias, &by, bias->of->got, h);
        if (!isfinite(bias->read[h]) || !follows(bias, &by, h, &masked))
            return false;
    }
    return true;
}

/* ---- life ---- */

static void set_sizes(const pe_numbers *plain, pe_bias *out)
{
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    const pe_values *values = &plain->claim->values;
    out->heads = plain->elements;
    if (out->form == PE_BIAS_SLOPES)
        return;
    out->keys = shape->dim[shape->ndim - 1];
    out->queries = shape->dim[shape->ndim - 2];
    out->heads = plain->elements / (out->keys * out->queries);
    if (out->form != PE_BIAS_KEY)
        out->first =
            (double)(pe_values_int(values, "key_length") - pe_values_int(values, "query_length"));
}

static double mask_of(const pe_values *values)
{
    const bool told =
        pe_values_find(values, "mask_value") != NULL && pe_values_present(values, "mask_value");
    return told ? pe_values_real(values, "mask_value") : -HUGE_VAL;
}

pe_status pe_bias_make(const pe_numbers *plain, pe_bias *out, pe_problem *why)
{
    const char *form = pe_geometry_choice_text(&plain->claim->values, "form");
    *out = (pe_bias){.of = plain, .queries = 1, .keys = 1, .form = PE_BIAS_SLOPES};
    if (strcmp(plain->view->claim->resource->name, "alibi/bias") == 0)
        out->form = strcmp(form, "causal") == 0 ? PE_BIAS_CAUSAL
                    : strcmp(form, "key") == 0  ? PE_BIAS_KEY
                                                : PE_BIAS_SYMMETRIC;
    set_sizes(plain, out);
    out->claimed_mask = out->mask = mask_of(&plain->claim->values);
    out->claimed = calloc(5 * out->heads + pe_bias_rules_n, sizeof(double));
    if (out->claimed == NULL)
        return pe_fail_memory(why);
    out->read = out->claimed + out->heads;
    out->made = out->read + out->heads;
    out->spare = out->made + out->heads;
    out->undone = out->spare + out->heads;
    out->number = out->undone + out->heads;
    out->loudest = find_loudest(out);
    for (size_t h = 0; h < out->heads; h++)
        out->claimed[h] = slope_of(out, &(distances){pe_bias_rules, 0}, plain->claimed, h);
    return PE_OK;
}

void pe_bias_free(pe_bias *bias)
{
    free(bias->claimed);
    *bias = (pe_bias){0};
}
