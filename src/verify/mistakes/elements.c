/* SPDX-License-Identifier: MIT */
/* elements.c - elements of an upload of pairs beside the claimed ones, and what mistakes make of them. */
#include "verify/mistakes/elements.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"
#include "verify/compare/expected_numbers.h"

double pe_beside_rounding(const pe_beside *b, double x)
{
    return 1.02 * b->roundoff * fabs(x) + 0x1p-22 * b->amplitude;
}

bool pe_beside_is_claimed(const pe_beside *b, size_t e)
{
    return fabs(b->got[e] - b->want[e]) <= b->slack[e] + pe_beside_rounding(b, b->want[e]);
}

/* ---- the element that is looked at ---- */

static double input_at(const pe_beside *b, size_t row, size_t column)
{
    return pe_upload_view_at(b->view, true, row, column);
}

/* The columns of a tensor, or of the channels that are turned: where they begin, and how many there are;
 * 0: it is in none. */
static size_t tensor_of(const pe_beside *b, size_t column, size_t *first)
{
    const pe_upload_view *view = b->view;
    *first = 0;
    if (view->rotated)
        return column < 2 * b->pairs ? 2 * b->pairs : 0;
    const size_t t = pe_upload_view_tensor(view, column);
    *first = view->tensor_at[t];
    return view->tensor_at[t + 1] - *first;
}

static void set_wave(pe_beside *b, size_t row, size_t pair)
{
    pe_element *now = &b->now;
    const size_t at = row * b->pairs + pair;
    now->c = b->cosine[at] - b->more * b->sine[at];
    now->s = b->sine[at] + b->more * b->cosine[at];
    now->angle = b->angle[at] + b->more;
    now->w = b->frequency[pair];
    now->u = b->view->rotated ? input_at(b, b->row[row], b->at.cos_at + pair * b->at.stride) : 1;
    now->v = b->view->rotated ? input_at(b, b->row[row], b->at.sin_at + pair * b->at.stride) : 0;
}

static void look_at(pe_beside *b, size_t e, double more)
{
    size_t first;
    pe_element *now = &b->now;
    const size_t row = e / b->width, column = e % b->width, pair = b->pair[column];
    b->element = e;
    b->more = more;
    b->error = b->slack[e];
    now->row = (double)b->row[row];
    now->wide = (double)tensor_of(b, column, &first);
    now->column = (double)(column - first);
    now->next = b->pairs > 0 ? (double)((column + 1) % (2 * b->pairs)) : 0;
    now->pair = pair != SIZE_MAX ? (double)pair : nan("");
    now->second = b->second[column];
    now->copied = column >= (b->second[column] ? b->at.sin_at : b->at.cos_at) + b->at.copy ? 1 : 0;
    now->in = b->view->rotated ? input_at(b, b->row[row], column) : b->want[e];
    now->slack = b->slack[e];
    now->rounding = pe_beside_rounding(b, b->want[e]);
    now->ulp = pe_narrow_type_ulp(pe_narrow_type_of_dtype(b->view->claim->uploads[0].array.dtype),
                                  b->want[e]);
    if (pair != SIZE_MAX)
        set_wave(b, row, pair);
}

/* What is the same of all elements. */
static void set_names(pe_beside *b)
{
    const pe_upload_view *view = b->view;
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    b->now = (pe_element){.narrow = dtype == PE_BFLOAT16 || dtype == PE_FLOAT16,
                          .rows = (double)b->rows,
                          .width = (double)b->width,
                          .pairs = (double)b->pairs,
                          .stride = (double)b->at.stride,
                          .copy = (double)b->at.copy,
                          .amplitude = b->amplitude,
                          .step = b->pairs > 1 ? b->frequency[1] / b->frequency[0] : 1,
                          .gain = b->guess->distortion.gain,
                          .line = (double)(view->batch_tokens * view->inner),
                          .inner = (double)view->inner,
                          .item = (double)(view->batch_tokens * b->heads),
                          .heads = (double)b->heads,
                          .by = (double)(view->inner > 1 ? b->heads : view->batch_tokens)};
}

/* ---- what equations name ---- */

static pe_beside *beside_of(const void *of)
{
    return ((const pe_sequence *)of)->state;
}

/* The claimed element; what it may be off by is kept. Of some of the rows there is no other one. */
static double want_at(pe_beside *b, double row, double column)
{
    size_t e = b->element / b->width * b->width;
    if (!(row >= 0 && column >= 0) || column >= (double)b->width)
        return nan("");
    if (row != b->now.row) {
        if (!b->whole || row >= (double)b->rows)
            return nan("");
        e = (size_t)row * b->width;
    }
    e += (size_t)column;
    b->error = fmax(b->error, b->slack[e]);
    return b->want[e];
}

static double x_of(const void *of, double i)
{
    pe_beside *b = beside_of(of);
    const double row = floor(i / b->now.width);
    return i == (double)b->element ? b->want[b->element] : want_at(b, row, i - row * b->now.width);
}

/* Outside of all tensors the element itself. */
static double own_of(const void *of, double k)
{
    pe_beside *b = beside_of(of);
    const double row = floor(k / b->now.wide),
                 first = (double)(b->element % b->width) - b->now.column;
    return b->now.wide == 0 ? b->want[b->element]
                            : want_at(b, row, first + (k - row * b->now.wide));
}

/* The wave of another pair; what it may be off by is kept. */
static double wave_of(pe_beside *b, double pair, const double *wave, const double *slope,
                      double more)
{
    if (!(pair >= 0 && pair < (double)b->pairs))
        return nan("");
    const size_t row = b->element / b->width, i = (size_t)pair, at = row * b->pairs + i;
    b->error = fmax(b->error, b->slack[row * b->width + b->at.cos_at + i * b->at.stride]);
    return wave[at] + more * slope[at];
}

static double cosine_of(const void *of, double pair)
{
    pe_beside *b = beside_of(of);
    return wave_of(b, pair, b->cosine, b->sine, -b->more);
}

static double sine_of(const void *of, double pair)
{
    pe_beside *b = beside_of(of);
    return wave_of(b, pair, b->sine, b->cosine, b->more);
}

static double input_of(const void *of, double column)
{
    const pe_beside *b = beside_of(of);
    return column >= 0 && column < (double)b->width
               ? input_at(b, (size_t)b->now.row, (size_t)column)
               : nan("");
}

static double channel_of(const pe_beside *b, double row, size_t first)
{
    return row >= 0 && row < (double)b->view->rows && b->now.pair >= 0
               ? input_at(b, (size_t)row, first + (size_t)b->now.pair * b->at.stride)
               : nan("");
}

static double first_of(const void *of, double row)
{
    const pe_beside *b = beside_of(of);
    return channel_of(b, row, b->at.cos_at);
}

static double other_of(const void *of, double row)
{
    const pe_beside *b = beside_of(of);
    return channel_of(b, row, b->at.sin_at);
}

static double length_of(const void *of, double i PE_UNUSED)
{
    const pe_beside *b = beside_of(of);
    const double *want = &b->want[b->element / b->width * b->width];
    double squares = 0;
    for (size_t c = 0; c < b->width; c++)
        squares += want[c] * want[c];
    return sqrt(squares);
}

/* Sent as one type of 16 bits, or kept in a wider one afterwards. */
static double misread(const pe_beside *b, pe_dtype as, pe_dtype really)
{
    unsigned char bytes[8];
    const double got = b->got[b->element];
    pe_dtype_store(as, got, bytes);
    return b->view->claim->uploads[0].array.dtype != really && pe_dtype_load(as, bytes) == got
               ? pe_dtype_load(really, bytes)
               : nan("");
}

static double as_bfloat16_of(const void *of, double i PE_UNUSED)
{
    return misread(beside_of(of), PE_FLOAT16, PE_BFLOAT16);
}

static double as_float16_of(const void *of, double i PE_UNUSED)
{
    return misread(beside_of(of), PE_BFLOAT16, PE_FLOAT16);
}

#define BY(NAME)                                                                                   \
    {                                                                                              \
        .name = #NAME, .at = NAME##_of                                                             \
    }

const pe_term pe_element_terms[] = {BY(x),
                                    BY(own),
                                    BY(cosine),
                                    BY(sine),
                                    BY(input),
                                    BY(first),
                                    BY(other),
                                    BY(length),
                                    BY(as_bfloat16),
                                    BY(as_float16),
                                    {.name = PE_ELEMENT_NAMES,
                                     .through = offsetof(pe_sequence, state),
                                     .offset = offsetof(pe_beside, now)},
                                    {0}};

/* ---- does an element follow a mistake? ---- */

bool pe_beside_read(pe_beside *b, const pe_slip *row)
{
    look_at(b, 0, 0);
    return !(b->view->rotated ? row->fault.tables_only : row->fault.vectors_only) &&
           pe_sequence_read(&b->all, row) &&
           (row->also == NULL || pe_equation_read(row->also, pe_element_terms, pe_sequence_terms,
                                                  NULL, &b->all, &b->second_made));
}

static double made_at(pe_beside *b, size_t e, double more)
{
    const bool of_pairs = b->all.by->also != NULL;
    look_at(b, e, more);
    if (of_pairs && isnan(b->now.pair))
        return b->want[e];
    return of_pairs && b->now.second != 0 ? pe_equation_at(&b->second_made, &b->all, (double)e)
                                          : pe_sequence_at(&b->all, e);
}

/* Of the angle, for the slope of an element there. */
#define LEAST_TURN 0x1p-22

bool pe_beside_follows(pe_beside *b, size_t e)
{
    const double x = made_at(b, e, 0), off = fabs(b->got[e] - x), error = b->error;
    const double rounding = 2 * pe_beside_rounding(b, x);
    if (off <= 2 * error + rounding)
        return true;
    if (!isfinite(off) || error == 0)
        return false;
    const double slope = fabs(made_at(b, e, LEAST_TURN) - x) / LEAST_TURN;
    return off <= error / (b->amplitude > 0 ? b->amplitude : 1) * (1 + slope) + rounding;
}

/* ==== rows of an upload of pairs beside the numbers that a guess stands for ==== */

#define MOST_ELEMENTS 32768
#define ELEMENT_WORK  4 /* units */

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
    if (b->row == NULL || b->second == NULL || b->want == NULL)
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

/* Is it the number that belongs at another element? */
static bool belongs(const pe_beside *b, double got, size_t e)
{
    return fabs(got - b->want[e]) <= 2 * (b->slack[e] + pe_beside_rounding(b, b->want[e]));
}

/* How much later the first wrong column of a row belongs, and the one behind it. */
static size_t find_late(const pe_beside *b)
{
    const size_t row = b->rows / 2 * b->width, width = b->width;
    size_t c = 0, late = 1;
    while (c + 1 < width && pe_beside_is_claimed(b, row + c))
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

static void set_all(pe_beside *b)
{
    b->all = (pe_sequence){.n = b->rows * b->width,
                           .claimed = b->want,
                           .measured = b->got,
                           .terms = pe_element_terms,
                           .state = b};
    set_names(b);
    b->now.late = (double)find_late(b);
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
    pe_expect_free(&expect);
    *made = status == PE_OK && out->rows > 0 && out->pairs > 0;
    if (*made)
        set_all(out);
    else
        pe_beside_free(out);
    return status;
}

void pe_beside_free(pe_beside *beside)
{
    free(beside->row);
    free(beside->second);
    free(beside->want);
    *beside = (pe_beside){0};
}
