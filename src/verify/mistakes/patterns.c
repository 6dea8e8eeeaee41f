/* SPDX-License-Identifier: MIT */
/* patterns.c - elements of pairs are held against what may stand in their place. */
#include "verify/mistakes/patterns.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"
#include "verify/compare/expected_numbers.h"

/* Of the angle, for the slope of a pattern there. */
#define LEAST_TURN 0x1p-22

double pe_patterns_number(size_t pattern, const pe_beside *b)
{
    return pe_pattern_rows[pattern].is_so != NULL ? b->got[0] : (double)b->late;
}

bool pe_patterns_applies(size_t pattern, const pe_beside *b)
{
    const pe_pattern *p = &pe_pattern_rows[pattern];
    const bool rotated = b->view->rotated;
    if ((p->of_copies && b->at.copy == 0) || (p->of_any_size && b->guess->distortion.gain != 0) ||
        (p->of == PE_TABLES && rotated) || (p->of == PE_VECTORS && !rotated))
        return false;
    return b->whole || p->from[0] == NULL || p->of_inputs;
}

/* Relative: what 16 bits may be off by, rounded or cut. */
#define NARROW 0x1p-7

/* ---- is it so? ---- */

/* The pair's wave, of an angle that is `more` larger. */
static pe_pattern_wave wave_at(const pe_beside *b, size_t row, size_t pair, double more)
{
    const size_t at = row * b->pairs + pair;
    const double c = b->cosine[at], s = b->sine[at];
    return (pe_pattern_wave){.cosine = c - more * s,
                             .sine = s + more * c,
                             .angle = b->angle[at] + more,
                             .amplitude = b->amplitude,
                             .frequency = b->frequency[pair],
                             .step = b->pairs > 1 ? b->frequency[1] / b->frequency[0] : 1,
                             .a = 1};
}

#define WAVE(NAME, OF)                                                                             \
    {                                                                                              \
        .name = NAME, .offset = offsetof(pe_pattern_wave, OF)                                      \
    }
#define PLACE(NAME)                                                                                \
    {                                                                                              \
        .name = #NAME, .offset = offsetof(pe_pattern_names, NAME)                                  \
    }

static const pe_term of_waves[] = {WAVE("c", cosine),    WAVE("s", sine),      WAVE("angle", angle),
                                   WAVE("A", amplitude), WAVE("w", frequency), WAVE("step", step),
                                   WAVE("a", a),         WAVE("b", b),         {0}};
static const pe_term of_places[] = {
    PLACE(row),   PLACE(column), PLACE(rows),   PLACE(n),    PLACE(pair),
    PLACE(pairs), PLACE(second), PLACE(stride), PLACE(line), PLACE(inner),
    PLACE(item),  PLACE(heads),  PLACE(by),     PLACE(late), {0}};

static bool read_each(const pe_term *terms, const char *const *text, size_t n, pe_equation *out)
{
    bool read = true;
    for (size_t k = 0; k < n && read; k++)
        read = text[k] == NULL || pe_equation_read(text[k], terms, NULL, NULL, NULL, &out[k]);
    return read;
}

static bool read_equations(pe_beside *b)
{
    const size_t n = pe_pattern_rows_n;
    b->made = calloc(8 * n, sizeof *b->made);
    b->from = b->made + 2 * n;
    b->turn = b->from + 2 * n;
    bool read = b->made != NULL;
    for (size_t p = 0; p < n && read; p++)
        read = read_each(of_waves, pe_pattern_rows[p].made, 2, &b->made[2 * p]) &&
               read_each(of_places, pe_pattern_rows[p].from, 2, &b->from[2 * p]) &&
               read_each(of_places, pe_pattern_rows[p].turn, 4, &b->turn[4 * p]);
    return read;
}

static double element_of(const pe_beside *b, size_t pattern, const pe_pattern_wave *x, bool second)
{
    return pe_equation_at(&b->made[2 * pattern + second], x, 0);
}

static pe_pattern_names names_of(const pe_beside *b, size_t n, const pe_pattern_place *at)
{
    const pe_upload_view *view = b->view;
    const size_t inner = view->inner > 1 ? b->heads : view->batch_tokens;
    const size_t pair = b->pair[at->column];
    return (pe_pattern_names){.row = (double)at->row,
                              .column = (double)at->column,
                              .rows = (double)b->rows,
                              .n = (double)n,
                              .pair = (double)pair,
                              .pairs = (double)b->pairs,
                              .second = b->second[at->column],
                              .stride = (double)b->at.stride,
                              .line = (double)(view->batch_tokens * view->inner),
                              .inner = (double)view->inner,
                              .item = (double)(view->batch_tokens * b->heads),
                              .heads = (double)b->heads,
                              .by = (double)inner,
                              .late = (double)b->late};
}

/* Where the element that stands in place *at comes from, of n columns. False: from nowhere. */
static bool find_from(const pe_beside *b, size_t pattern, size_t n, pe_pattern_place *at)
{
    const pe_pattern_names of = names_of(b, n, at);
    const double row = pe_equation_at(&b->from[2 * pattern], &of, 0);
    const double column = pe_equation_at(&b->from[2 * pattern + 1], &of, 0);
    if (!(row >= 0 && column >= 0))
        return false;
    *at = (pe_pattern_place){(size_t)row, (size_t)column};
    return true;
}

/* Of vectors that of row `of` of the upload, by the wave of this row. */
static double number_at(size_t pattern, const pe_beside *b, pe_pattern_place at, size_t of,
                        double more)
{
    const pe_geometry *g = &b->at;
    const size_t pair = b->pair[at.column];
    pe_pattern_wave x = wave_at(b, at.row, pair, more);
    if (b->view->rotated) {
        x.a = pe_upload_view_at(b->view, true, of, g->cos_at + pair * g->stride);
        x.b = pe_upload_view_at(b->view, true, of, g->sin_at + pair * g->stride);
    }
    return element_of(b, pattern, &x, b->second[at.column]);
}

static bool is_unpaired(const pe_pattern *p, const pe_beside *b, pe_pattern_place at)
{
    const double got = pe_beside_got(b, at.row, at.column);
    return p->unpaired == PE_ZERO      ? got == 0
           : p->unpaired == PE_NEGATED ? got == -pe_beside_input(b, at.row, at.column)
                                       : pe_beside_is_claimed(b, at.row, at.column);
}

static bool is_turned(size_t pattern, const pe_beside *b, pe_pattern_place at)
{
    const pe_pattern_names names = names_of(b, b->width, &at);
    double of[4]; /* wave, own, other, second */
    const double below[4] = {(double)b->pairs, (double)b->width, (double)b->width, 2};
    bool turns = true;
    for (size_t k = 0; k < PE_LEN(of); k++) {
        of[k] = pe_equation_at(&b->turn[4 * pattern + k], &names, 0);
        turns &= of[k] >= 0 && of[k] < below[k];
    }
    const double got = pe_beside_got(b, at.row, at.column);
    if (!turns)
        return got == pe_beside_input(b, at.row, at.column);
    const pe_pattern_wave w = wave_at(b, at.row, (size_t)of[0], 0);
    const double own = pe_beside_input(b, at.row, (size_t)of[1]);
    const double other = pe_beside_input(b, at.row, (size_t)of[2]);
    const double x = own * w.cosine + (of[3] != 0 ? other : -other) * w.sine;
    const double size = fabs(own) + fabs(other);
    return fabs(got - x) <= 0x1p-16 * size + 4 * pe_beside_rounding(b, size);
}

static bool is_made(size_t pattern, const pe_beside *b, pe_pattern_place at)
{
    const pe_pattern *p = &pe_pattern_rows[pattern];
    const double got = pe_beside_got(b, at.row, at.column);
    if (b->pair[at.column] == SIZE_MAX)
        return is_unpaired(p, b, at);
    const size_t of = b->row[at.row];
    const double x = number_at(pattern, b, at, of, 0);
    const double turn =
        b->slack[at.row * b->width + at.column] / (b->amplitude > 0 ? b->amplitude : 1);
    const double gain = fabs(number_at(pattern, b, at, of, LEAST_TURN) - x) / LEAST_TURN;
    return fabs(got - x) <= turn * (1 + gain) + 2 * pe_beside_rounding(b, x);
}

/* The columns of a tensor, or of the channels that are turned. */
static bool tensor_of(const pe_beside *b, size_t column, size_t *first, size_t *n)
{
    const pe_upload_view *view = b->view;
    if (view->rotated) {
        *first = 0;
        *n = 2 * b->pairs;
        return column < *n;
    }
    const size_t t = pe_upload_view_tensor(view, column);
    *first = view->tensor_at[t];
    *n = view->tensor_at[t + 1] - *first;
    return *n > 1;
}

/* Is it the number that belongs at another element? */
static bool belongs(const pe_beside *b, double got, size_t e)
{
    return fabs(got - b->want[e]) <= 2 * (b->slack[e] + pe_beside_rounding(b, b->want[e]));
}

static bool is_from(size_t pattern, const pe_beside *b, pe_pattern_place at)
{
    const pe_pattern *p = &pe_pattern_rows[pattern];
    size_t first, n;
    const double got = pe_beside_got(b, at.row, at.column);
    pe_pattern_place of = at;
    if (p->of_inputs) {
        of.row = b->row[at.row];
        if (!find_from(b, pattern, b->width, &of))
            return false;
        const double x = b->pair[at.column] == SIZE_MAX
                             ? pe_upload_view_at(b->view, true, of.row, at.column)
                             : number_at(pattern, b, at, of.row, 0);
        return fabs(got - x) <=
               4 * (b->slack[at.row * b->width + at.column] + pe_beside_rounding(b, x));
    }
    if (p->of_rows) {
        first = 0;
        n = b->width;
    } else if (!tensor_of(b, at.column, &first, &n)) {
        return pe_beside_is_claimed(b, at.row, at.column);
    }
    of.column -= first;
    if (!find_from(b, pattern, n, &of))
        return false;
    if (of.row >= b->rows || of.column >= n)
        return false;
    const size_t e = of.row * b->width + first + of.column;
    /* a copy of the same number says nothing of its place */
    if (b->want[e] == b->want[at.row * b->width + at.column])
        return pe_beside_is_claimed(b, at.row, at.column);
    return belongs(b, got, e);
}

/* Is x a step, and the nearest to the wanted number, which may have been clipped? */
static bool is_step(const pe_pattern_steps *of, double x, double rounding, double want,
                    double slack)
{
    const double near = of->scale * want + of->zero;
    const double clipped = fmin(fmax(near, of->least), of->most);
    return fabs(x - rint(x)) <= rounding &&
           (fabs(x - near) <= 0.5 + slack || fabs(x - clipped) <= 0.5 + slack);
}

static bool is_quantised(const pe_pattern_steps *of, const pe_beside *b, pe_pattern_place at)
{
    const size_t e = at.row * b->width + at.column;
    const double got = b->got[e], want = b->want[e];
    const double rounding = of->scale * pe_beside_rounding(b, fmin(fabs(got), 1));
    const double slack = of->scale * b->slack[e] + rounding;
    return b->rows > 1 && (is_step(of, got, 0, want, slack) ||
                           is_step(of, of->scale * got + of->zero, rounding, want, slack));
}

bool pe_patterns_is_near(size_t pattern, const pe_beside *b, size_t row, size_t column)
{
    const pe_pattern *p = &pe_pattern_rows[pattern];
    const pe_pattern_place at = {row, column};
    if (p->reread != NULL) {
        const size_t e = row * b->width + column;
        const double got = pe_beside_got(b, row, column);
        const double x = p->reread(b->view->claim->uploads[0].array.dtype, got);
        const double slack =
            b->slack[e] + 16 * pe_beside_rounding(b, b->want[e]) + NARROW * fabs(b->want[e]);
        return isnan(got) || fabs(x - b->want[e]) <= slack; /* of a NaN bits are lost */
    }
    return p->is_so != NULL     ? p->is_so(b, at)
           : p->steps.scale > 0 ? is_quantised(&p->steps, b, at)
           : p->from[0] != NULL ? is_from(pattern, b, at)
           : p->turn[0] != NULL ? is_turned(pattern, b, at)
                                : is_made(pattern, b, at);
}

/* ==== rows of an upload of pairs beside the numbers that a guess stands for ==== */

#define MOST_ELEMENTS 32768
#define ELEMENT_WORK  4 /* units */

double pe_beside_input(const pe_beside *b, size_t row, size_t column)
{
    return pe_upload_view_at(b->view, true, b->row[row], column);
}

/* ---- where a vector stands ---- */

size_t pe_beside_head(const pe_beside *b, size_t row)
{
    const size_t at = b->row[row];
    return b->view->inner > 1 ? at % b->heads : at / b->view->batch_tokens % b->heads;
}

size_t pe_beside_item(const pe_beside *b, size_t row)
{
    return b->view->rotated ? b->row[row] / (b->view->batch_tokens * b->heads) : 0;
}

/* ---- rows ---- */

/* An odd stride meets all heads. */
static void choose_rows(pe_beside *b)
{
    const size_t rows = b->view->rows, most = MOST_ELEMENTS / b->width + 1;
    size_t stride = (rows + most - 1) / most;
    stride += stride > 1 && stride % 2 == 0;
    b->whole = stride <= 1;
    for (size_t r = 0; r < rows; r += b->whole ? 1 : stride)
        b->row[b->rows++] = r;
}

static pe_status make_arrays(pe_beside *b, pe_problem *why)
{
    const size_t most =
        b->view->rows < MOST_ELEMENTS / b->width + 2 ? b->view->rows : MOST_ELEMENTS / b->width + 2;
    b->row = calloc(most + b->width, sizeof *b->row);
    b->second = calloc(b->width, sizeof *b->second);
    b->want = malloc((most * (3 * b->width + 3 * b->pairs) + b->pairs + 1) * sizeof *b->want);
    if (!read_equations(b) || b->row == NULL || b->second == NULL || b->want == NULL)
        return pe_fail_memory(why);
    choose_rows(b);
    b->pair = b->row + most;
    b->slack = b->want + b->rows * b->width;
    b->got = b->slack + b->rows * b->width;
    b->cosine = b->got + b->rows * b->width;
    b->sine = b->cosine + b->rows * b->pairs;
    b->angle = b->sine + b->rows * b->pairs;
    b->frequency = b->angle + b->rows * b->pairs;
    return PE_OK;
}

/* How much later the first wrong column of a row belongs, and the one behind it. */
static size_t find_late(const pe_beside *b)
{
    const size_t row = b->rows / 2 * b->width, width = b->width;
    size_t c = 0, late = 1;
    while (c + 1 < width && pe_beside_is_claimed(b, b->rows / 2, c))
        c++;
    const double *got = &b->got[row + c];
    while (c + 1 + late < width &&
           !(belongs(b, got[0], row + c + late) && belongs(b, got[1], row + c + 1 + late)))
        late++;
    return c + 1 + late < width ? late : 0;
}

static void set_columns(pe_beside *b)
{
    const pe_geometry *g = &b->at;
    for (size_t c = 0; c < b->width; c++)
        b->pair[c] = SIZE_MAX;
    for (size_t i = 0; i < b->pairs; i++)
        for (size_t copy = 0; copy <= g->copy; copy += g->copy + (g->copy == 0)) {
            const size_t c = g->cos_at + i * g->stride + copy;
            const size_t s = g->sin_at + i * g->stride + copy;
            if (i < g->cos_n)
                b->pair[c] = i;
            if (i < g->sin_n) {
                b->pair[s] = i;
                b->second[s] = true;
            }
        }
}

static pe_status fill(pe_beside *b, pe_expect *expect, pe_problem *why)
{
    pe_expected_row row;
    memcpy(b->frequency, expect->frequency, b->pairs * sizeof *b->frequency);
    for (size_t r = 0; r < b->rows; r++) {
        const size_t token = pe_upload_view_token(b->view, b->row[r]);
        if (pe_expect_row(expect, b->row[r], &row, why) != PE_OK)
            return why->status;
        pe_yield_spend(ELEMENT_WORK * b->width);
        const size_t at = (token - expect->first_token) * b->pairs;
        const double position = pe_upload_view_position(b->view, &expect->positions, token);
        memcpy(b->want + r * b->width, row.value, b->width * sizeof *b->want);
        memcpy(b->cosine + r * b->pairs, expect->cosines + at, b->pairs * sizeof *b->cosine);
        memcpy(b->sine + r * b->pairs, expect->sines + at, b->pairs * sizeof *b->sine);
        for (size_t i = 0; i < b->pairs; i++)
            b->angle[r * b->pairs + i] = position * expect->frequency[i];
        for (size_t c = 0; c < b->width; c++) {
            const double error = row.float32_error[c];
            const bool tells_nothing = row.radius[c] > 0 && error >= row.radius[c];
            b->slack[r * b->width + c] = tells_nothing ? 0 : error;
            b->got[r * b->width + c] = pe_upload_view_at(b->view, false, b->row[r], c);
        }
    }
    return PE_OK;
}

pe_status pe_beside_make(const pe_comparison *of, pe_beside *out, bool *made, pe_problem *why)
{
    pe_expect expect;
    *out = (pe_beside){.view = of->view,
                       .guess = of->guess,
                       .width = of->view->width,
                       .roundoff = pe_upload_view_roundoff(of->view)};
    *made = false;
    if (of->view->layout == NULL)
        return PE_OK;
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    out->at = expect.geometry;
    out->pairs = expect.geometry.pairs;
    out->heads = of->view->heads;
    status = pe_expect_probe(&expect, why);
    out->amplitude = expect.amplitude;
    if (status == PE_OK)
        status = make_arrays(out, why);
    if (status == PE_OK) {
        set_columns(out);
        *of->work += pe_upload_view_plan_work(of->view) + out->rows * out->width;
        status = fill(out, &expect, why);
    }
    *made = status == PE_OK;
    out->late = *made && out->rows > 0 ? find_late(out) : 0;
    pe_expect_free(&expect);
    if (status != PE_OK)
        pe_beside_free(out);
    return status;
}

void pe_beside_free(pe_beside *beside)
{
    free(beside->row);
    free(beside->second);
    free(beside->want);
    free(beside->made);
    *beside = (pe_beside){0};
}
