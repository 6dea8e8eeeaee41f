/* SPDX-License-Identifier: MIT */
/* beside.c - rows of an upload of pairs beside the numbers that a guess stands for. */
#include "verify/mistakes/beside.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"

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
        pe_turn_spend(ELEMENT_WORK * b->width);
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
    *beside = (pe_beside){0};
}
