/* SPDX-License-Identifier: MIT */
/* reading.c - what an upload of pairs is: its positions, frequencies and amplitude, measured. */
#include "verify/reading/reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/yield.h"
#include "plan/common_params.h"
#include "verify/compare/expected_numbers.h"
#include "verify/mistakes/sequence.h"

#define SAMPLES       256 /* rows that tell a frequency, per distance */
#define SAMPLES_NEAR  64  /* where a longer distance tells it better */
#define GOOD_ROWS     0.6
#define LEAST_SHARE   0.6  /* of the rows of a pair that turns evenly */
#define LEAST_TURNING 0.5  /* the part of the pairs whose own frequencies tell positions */
#define LEAST_MOVING  8    /* rows that tell frequencies where others stand still */
#define SAMPLED_ROWS  64   /* at most: they tell whether the others are worth a look */
#define SAMPLED_ERROR 0.25 /* of the part of them that have a position */
#define OWN_SHARE     0.8  /* of the quality, where measured frequencies tell positions */
#define LONE          512  /* of waves that were sent alone */
#define LONE_LEFT     0.1  /* of their squares, what the turn leaves */
#define LONE_NOISE    0.5  /* radians by which these may be off */
#define FEW_ROWS      2048 /* that are looked at, though none of the sampled ones has a position */

/* Units of work: the frequency of a pair, from all its samples; a claimed position. */
#define FREQUENCY_WORK 16384
#define TOKEN_WORK     4

/* ---- frequencies ---- */

/* Of the turn between two rows: elements are rounded, and so are float32 angles. */
static double turn_noise(const pe_reading_source *s, const pe_reading *r, size_t pair)
{
    const double farthest = fmax(fabs(r->claimed[0]), fabs(r->claimed[r->tokens - 1]));
    return 4 * s->roundoff + 0x1p-21 + 0x1p-22 * farthest * fabs(r->frequency[pair]);
}

/* The step of most rows, as a vote tells it: one that differs takes a vote away. */
static double usual_step(const pe_reading *r)
{
    double step = 0;
    size_t votes = 0;
    for (size_t t = 1; t < r->tokens; t++) {
        const double at = r->claimed[t] - r->claimed[t - 1];
        step = votes == 0 ? at : step;
        votes += at == 0 ? 0 : at == step ? 1 : (size_t)-1;
    }
    return step;
}

/* Does row t hold the numbers of the one before, though not the same position is claimed? */
static bool is_repeated(const pe_reading_source *s, const pe_reading *r, size_t t)
{
    size_t i = 0;
    for (; i < s->pairs && r->claimed[t] != r->claimed[t - 1]; i++) {
        const pe_wave here = pe_reading_pair(s, t, i), before = pe_reading_pair(s, t - 1, i);
        const double off = hypot(here.cosine - before.cosine, here.sine - before.sine);
        if (!(off <= (4 * s->roundoff + 0x1p-21) * r->amplitude))
            return false;
    }
    return i == s->pairs;
}

/* Rows that stand still tell no frequency; of few that move all are taken. */
static void choose_rows(pe_reading_source *s, pe_reading *r)
{
    for (size_t t = 0; t < r->tokens && !pe_yield_must_end(); t++) {
        if (t == 0 || !is_repeated(s, r, t))
            s->row[s->rows++] = t;
        pe_yield_spend(PE_VECTOR_WORK * pe_upload_view_token_rows(s->view));
    }
    r->still = s->rows == 1 && r->tokens > 1;
    for (size_t t = 0; t < r->tokens && s->rows < LEAST_MOVING; t++)
        s->row[t] = t;
    s->rows = s->rows < LEAST_MOVING ? r->tokens : s->rows;
}

/* Are rows k and k + lag claimed to be so far from each other? */
static bool keeps_step(const pe_reading_source *s, const pe_reading *r, size_t k, size_t lag)
{
    const size_t t = s->row[k], u = s->row[k + lag];
    return r->claimed[u] - r->claimed[t] == (double)(u - t) * r->step;
}

/* How far a pair turns over `lag` rows, beyond `expected`; and which part of the rows says so. Rows
 * where positions begin anew do not move a median. */

static double median_turn(const pe_reading_source *s, const pe_reading *r, size_t pair, size_t lag,
                          double expected, double *share)
{
    const size_t most = lag > 1 && lag * 4 < s->rows ? SAMPLES_NEAR : SAMPLES;
    const size_t last = s->rows - lag, stride = last / most + 1;
    double turns[SAMPLES], near = 0;
    pe_wave sum = {0, 0};
    size_t n = 0;
    for (size_t k = 0; k < last && n < SAMPLES; k += stride) {
        const pe_wave z = pe_reading_pair(s, s->row[k + lag], pair);
        const pe_wave from = pe_reading_pair(s, s->row[k], pair);
        const double re = z.cosine * from.cosine + z.sine * from.sine;
        const double im = z.sine * from.cosine - z.cosine * from.sine, size = hypot(re, im);
        if (!keeps_step(s, r, k, lag) || !(size > 0) || !isfinite(size))
            continue;
        turns[n++] = atan2(im, re);
        sum = (pe_wave){sum.cosine + re / size, sum.sine + im / size};
    }
    const double middle = lag == 1 ? atan2(sum.sine, sum.cosine) : expected;
    for (size_t k = 0; k < n; k++)
        turns[k] = pe_reading_wrap(turns[k] - middle);
    const double result = middle + pe_median(turns, n);
    const double noise = turn_noise(s, r, pair) + 0.1 * fabs(result);
    for (size_t k = 0; k < n; k++)
        near += fabs(pe_reading_wrap(turns[k] + middle - result)) < fmin(noise, 2 * PE_PHASE_ERROR);
    *share = n > 0 ? near / (double)n : 0;
    return result;
}

/* Of lone waves x[k] + x[k + 2 lag] = 2 cos(turn) x[k + lag]. Which way they turn is not told. Zeros do
 * not turn. */
static double lone_turn(const pe_reading_source *s, const pe_reading *r, size_t pair, size_t lag,
                        double expected, double *share)
{
    double sum = 0, size = 0, sides = 0;
    const size_t last = s->rows > 2 * lag ? s->rows - 2 * lag : 0, stride = last / LONE + 1;
    for (size_t k = 0; k < last; k += stride) {
        double x[3];
        for (size_t e = 0; e < PE_LEN(x); e++) {
            const pe_wave z = pe_reading_pair(s, s->row[k + e * lag], pair);
            x[e] = z.cosine + z.sine;
        }
        if (!keeps_step(s, r, k, 2 * lag) || !isfinite(x[0] + x[1] + x[2]))
            continue;
        sum += x[1] * (x[0] + x[2]);
        size += 2 * x[1] * x[1];
        sides += (x[0] + x[2]) * (x[0] + x[2]);
    }
    const double angle = size > 0 ? acos(fmax(-1, fmin(1, sum / size))) : 0;
    const double on = pe_reading_wrap(angle - expected), back = pe_reading_wrap(-angle - expected);
    const double left = sides - 4 * cos(angle) * sum + 2 * cos(angle) * cos(angle) * size;
    *share = size > 0 && left <= LONE_LEFT * size ? 1 : 0;
    return expected + (fabs(back) < fabs(on) ? back : on);
}

static double turn_over(const pe_reading_source *s, const pe_reading *r, size_t pair, size_t lag,
                        double expected, double *share)
{
    return s->lone ? lone_turn(s, r, pair, lag, expected, share)
                   : median_turn(s, r, pair, lag, expected, share);
}

/* Ever longer distances tell the frequency ever more precisely. */
static double measure_frequency(const pe_reading_source *s, const pe_reading *r, size_t pair)
{
    const double step = r->step;
    double share, w = r->frequency[pair];
    const double turn = turn_over(s, r, pair, 1, w * step, &share);
    if (step == 0 || share < LEAST_SHARE)
        return PE_NOWHERE;
    w += pe_reading_wrap(turn - w * step) / step;
    for (size_t lag = 2; lag <= s->rows / 2; lag *= 2) {
        const double over = (double)lag * step;
        const double more = turn_over(s, r, pair, lag, w * over, &share) - w * over;
        const double noise = 4 * turn_noise(s, r, pair) + 0.02 * fabs(w * over);
        if (share < LEAST_SHARE || fabs(more) > (s->lone ? LONE_NOISE : noise))
            break;
        w += more / over;
    }
    return w;
}

/* ---- frequencies from the phases themselves ---- */

/* Where rows are where they are claimed to be, the phase of a far one tells the frequency much
 * better than turns from row to row do. */
static double anchored(const pe_reading_source *s, const pe_reading *r, size_t pair)
{
    double off[SAMPLES], w = r->turned[pair], near = 0;
    const double known = turn_noise(s, r, pair) / (fabs(r->step) * floor((double)s->rows / 2));
    const size_t stride = r->tokens / SAMPLES + 1;
    size_t n = 0;
    for (size_t t = 0; t < r->tokens && n < SAMPLES; t += stride) {
        const double p = r->claimed[t];
        if (p != 0 && r->position[t] == p && known * fabs(p) < 1)
            off[n++] = pe_reading_off(s, pe_reading_phase(s, t, pair), w * p) / p;
    }
    if (n < 8)
        return w;
    const double more = pe_median(off, n);
    for (size_t k = 0; k < n; k++)
        near += fabs(off[k] - more) < known;
    return near >= LEAST_SHARE * (double)n ? w + more : w;
}

static void anchor(const pe_reading_source *s, pe_reading *r)
{
    size_t right = 0;
    for (size_t t = 0; t < r->tokens; t++)
        right += r->position[t] == r->claimed[t];
    r->anchored = !r->own && 2 * right > r->tokens && r->tokens > 1;
    for (size_t i = 0; i < s->pairs && r->anchored; i++) {
        pe_yield_spend(FREQUENCY_WORK / 8);
        if (isfinite(r->turned[i]))
            r->turned[i] = anchored(s, r, i);
    }
}

/* ---- the reading ---- */

/* Insertion: the pairs of nearly all frequencies are in order. */
static void sort_pairs(const double *w, pe_reading_source *s)
{
    for (size_t i = 0; i < s->pairs; i++) {
        size_t k = i;
        for (; k > 0 && fabs(w[s->order[k - 1]]) > fabs(w[i]); k--)
            s->order[k] = s->order[k - 1];
        s->order[k] = i;
    }
}

/* Where most pairs turn the other way, positions are negative, not frequencies. */
static void look_forward(pe_reading *r)
{
    size_t back = 0;
    for (size_t i = 0; i < r->pairs; i++)
        back += r->turned[i] * r->frequency[i] < 0;
    for (size_t i = 0; i < r->pairs && 2 * back > r->pairs; i++)
        r->turned[i] = -r->turned[i];
}

static void measure_frequencies(const pe_reading_source *s, pe_reading *r)
{
    for (size_t i = 0; i < s->pairs; i++) {
        pe_yield_spend(FREQUENCY_WORK);
        r->turned[i] = s->rows > 1 ? measure_frequency(s, r, i) : PE_NOWHERE;
    }
    look_forward(r);
}

/* Frequencies of its own, negative positions, and pairs of many sizes explain less. Afar, rounded
 * frequencies tell no positions. */
static double goodness(double quality, bool own, double turning, double steady)
{
    return fmax(quality * (own ? OWN_SHARE : 1), turning / 2) * (0.5 + steady / 2);
}

/* Can the reading still be of use, where sampled rows tell its quality? */
static bool may_do(const pe_reading *r, double sampled, const pe_reading_least *least)
{
    const double quality = fmin(sampled + SAMPLED_ERROR, 1);
    return quality >= least->quality &&
           goodness(quality, r->own, pe_reading_turning(r), r->steady) >= least->goodness;
}

/* Before frequencies are known: all pairs may turn, and their frequencies tell all positions. */
static bool may_ever_do(const pe_reading *r, double sampled, const pe_reading_least *least)
{
    const double quality = fmin(fmax(sampled + SAMPLED_ERROR, OWN_SHARE), 1);
    return goodness(quality, false, 1, r->steady) >= least->goodness;
}

/* Were all rows looked at? */
static bool measure(pe_reading_source *s, const pe_reading_least *least, pe_reading *r)
{
    const size_t stride = r->tokens / SAMPLED_ROWS + 1;
    double own = 0;
    r->amplitude = s->amplitude = pe_reading_size(s, r);
    r->steady = pe_reading_steady(s, r);
    r->step = usual_step(r);
    sort_pairs(r->frequency, s);
    const double claimed = pe_reading_positions(s, r->frequency, stride, r);
    if (stride > 1 && !may_ever_do(r, claimed, least))
        return false;
    choose_rows(s, r);
    measure_frequencies(s, r);
    if (claimed < GOOD_ROWS && pe_reading_turning(r) >= LEAST_TURNING) {
        sort_pairs(r->turned, s);
        own = pe_reading_positions(s, r->turned, stride, r);
        r->own = own >= GOOD_ROWS;
        if (!r->own)
            sort_pairs(r->frequency, s);
    }
    for (size_t t = 0; t < r->tokens; t++)
        r->position[t] = PE_NOWHERE;
    if (claimed == 0 && !r->own && r->tokens > FEW_ROWS)
        return false; /* nor would the others have one */
    if (stride > 1 && !may_do(r, r->own ? own : claimed, least))
        return false;
    r->quality = pe_reading_positions(s, r->own ? r->turned : r->frequency, 1, r);
    anchor(s, r);
    return true;
}

static pe_status make_arrays(pe_reading *r, pe_problem *why)
{
    double *numbers = calloc(2 * r->tokens + 2 * r->pairs, sizeof *numbers);
    if (numbers == NULL)
        return pe_fail_memory(why);
    r->claimed = numbers;
    r->position = numbers + r->tokens;
    r->frequency = r->position + r->tokens;
    r->turned = r->frequency + r->pairs;
    return PE_OK;
}

static pe_status read_with(const pe_comparison *of, const pe_expect *expect,
                           const pe_reading_least *least, pe_reading *out, pe_problem *why)
{
    pe_reading_source s = pe_reading_source_of(of->view, of->guess, &expect->geometry);
    out->tokens = of->view->tokens;
    out->pairs = s.pairs;
    out->claimed_amplitude = expect->amplitude;
    s.order = calloc(s.pairs + out->tokens + 1, sizeof *s.order);
    s.row = s.order != NULL ? s.order + s.pairs : NULL;
    const pe_status status = s.order == NULL ? pe_fail_memory(why) : make_arrays(out, why);
    if (status == PE_OK) {
        memcpy(out->frequency, expect->frequency, s.pairs * sizeof *out->frequency);
        for (size_t t = 0; t < out->tokens; t++) {
            out->claimed[t] = pe_upload_view_position(of->view, &expect->positions, t);
            pe_yield_look(TOKEN_WORK);
        }
        const bool all = measure(&s, least, out);
        *of->work += all ? 4 * of->view->elements : of->view->elements / 8;
    }
    free(s.order);
    return status;
}

pe_status pe_reading_make(const pe_comparison *of, const pe_reading_least *least, pe_reading *out,
                          bool *made, pe_problem *why)
{
    pe_expect expect;
    *out = (pe_reading){0};
    *made = false;
    if (of->view->layout == NULL || of->view->axes > 1)
        return PE_OK;
    *of->work += pe_upload_view_plan_work(of->view);
    pe_status status = pe_expect_exact(of, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    const bool has_pairs = expect.geometry.cos_n > 0 && expect.geometry.sin_n > 0;
    if (has_pairs)
        status = read_with(of, &expect, least, out, why);
    *made = status == PE_OK && has_pairs;
    pe_expect_free(&expect);
    return status;
}

void pe_reading_free(pe_reading *reading)
{
    free(reading->claimed);
    *reading = (pe_reading){0};
}

size_t pe_reading_sampled(size_t k, size_t kept, size_t rows)
{
    const size_t block = kept / PE_READING_BLOCKS;
    return kept == rows ? k : k / block * (rows - block) / (PE_READING_BLOCKS - 1) + k % block;
}

size_t pe_reading_row(const pe_reading *reading, size_t t)
{
    return reading->of_rows > 0 ? pe_reading_sampled(t, reading->tokens, reading->of_rows) : t;
}

double pe_reading_ratio(const pe_reading *reading, size_t pair)
{
    const double w = reading->frequency[pair], turned = reading->turned[pair];
    return w != 0 && isfinite(turned) ? turned / w : PE_NOWHERE;
}

double pe_reading_span(const pe_reading *reading)
{
    size_t lag = 1;
    const double *p = reading->claimed, step = reading->step;
    while (4 * lag <= reading->tokens && p[2 * lag] - p[0] == 2 * (double)lag * step)
        lag *= 2;
    return (double)lag * fabs(step);
}

double pe_reading_turning(const pe_reading *reading)
{
    double n = 0;
    for (size_t i = 0; i < reading->pairs; i++)
        n += isfinite(reading->turned[i]) ? 1 : 0;
    return reading->pairs > 0 ? n / (double)reading->pairs : 0;
}

double pe_reading_goodness(const pe_reading *reading)
{
    const double placed = reading->quality * (pe_reading_is_negative(reading) ? 0.85 : 1);
    return goodness(placed, reading->own, pe_reading_turning(reading), reading->steady);
}

bool pe_reading_is_negative(const pe_reading *reading)
{
    size_t n = 0;
    for (size_t t = 0; t < reading->tokens; t++)
        n += reading->position[t] * reading->claimed[t] < 0;
    pe_yield_look(reading->tokens / 8); /* it is asked of each mistake */
    return 2 * n > reading->tokens;
}
