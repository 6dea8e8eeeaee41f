/* SPDX-License-Identifier: MIT */
/* measure.c - how far an upload is from what a guess stands for, and whether that is too far. */
#include "verify/compare/measure.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"

/* Units of work of an element that is computed and compared, and of a row beside. */
#define ELEMENT_WORK 4
#define ROW_WORK     8

/* ---- rows ---- */

/* A row; n > 0: of plain numbers n elements from column `from` on. */
static pe_status compare_row(pe_expect *expect, size_t row, size_t from, size_t n,
                             pe_measure_row *out, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    const pe_narrow_type *stored = expect->guess->distortion.stored;
    const bool narrow = dtype == PE_FLOAT16 || dtype == PE_BFLOAT16 || stored != NULL;
    *out = (pe_measure_row){.view = view,
                            .row = row,
                            .width = n > 0 ? n : pe_upload_view_row_width(view, row),
                            .dtype = dtype,
                            .narrow = stored != NULL ? stored : pe_narrow_type_of_dtype(dtype),
                            .wider = pe_narrow_type_of_dtype(narrow ? PE_FLOAT32 : PE_FLOAT64),
                            .truncated = expect->guess->distortion.truncated,
                            .tolerance = view->claim->tolerance,
                            .got = pe_expect_got(expect, row) + from};
    pe_yield_spend(ROW_WORK + ELEMENT_WORK * out->width);
    if (n > 0) {
        out->want = expect->row;
        return pe_expect_plain(expect, row * view->width + from, n, why);
    }
    const pe_status status = pe_expect_row(expect, row, &out->want, why);
    if (status != PE_OK || view->unsent_n == 0)
        return status;
    /* Numbers that were not sent are as they should be. */
    if (out->got != expect->taken)
        memcpy(expect->taken, out->got, out->width * sizeof *out->got);
    memcpy(expect->taken + view->unsent_at, out->want.value + view->unsent_at,
           view->unsent_n * sizeof *out->got);
    out->got = expect->taken;
    return PE_OK;
}

/* ---- the rule ---- */

double pe_measure_stored(const pe_measure_row *r, size_t c, unsigned by)
{
    const double x = r->want.value[c], ulp = pe_narrow_type_ulp(r->narrow, x);
    const double half = r->truncated ? ulp : ulp / 2;
    return by == PE_BY_FLOAT32 ? half : half + pe_narrow_type_ulp(r->wider, x) / 2;
}

double pe_measure_allowance(const pe_measure_row *r, size_t c, unsigned by)
{
    if (r->tolerance >= 0)
        return r->tolerance;
    if (r->dtype == PE_INT32)
        return 0;
    return pe_measure_stored(r, c, by) +
           (by == PE_BY_FLOAT32 ? r->want.float32_error : r->want.exact_error)[c];
}

/* Is the distance allowed? An allowance that is not finite allows none. What the type cannot hold is
 * infinite. */
static bool is_within(const pe_measure_row *r, size_t c, unsigned by)
{
    const double most = pe_measure_allowance(r, c, by), x = r->want.value[c], got = r->got[c];
    if (isinf(got) && isfinite(x) && isfinite(most) && r->tolerance < 0) {
        const double max = pe_dtype_max(r->dtype);
        return (x > 0) == (got > 0) && fabs(x) + most >= max + pe_narrow_type_ulp(r->narrow, max);
    }
    return isfinite(most) && fabs(got - x) <= most;
}

/* Is the pair of column c as near to its circle as float32 arithmetic keeps it? Where only the
 * pair's other number is too far off, that one is at fault. */
static bool is_on_circle(const pe_measure_row *r, size_t c)
{
    const size_t partner = r->want.partner[c];
    const double radius = r->want.radius[c], error = r->want.radius_error[c];
    if (partner == c || r->tolerance >= 0 || !pe_upload_view_is_sent(r->view, partner) ||
        !is_within(r, partner, PE_BY_FLOAT32))
        return true;
    /* 1.4143 > sqrt(2): both numbers of the pair may be off */
    const double most = 1.4143 * (error + pe_narrow_type_ulp(r->narrow, radius + 2 * error) /
                                              (r->truncated ? 1 : 2));
    return isfinite(most) && fabs(hypot(r->got[c], r->got[partner]) - radius) <= most;
}

unsigned pe_measure_explained_by(const pe_measure_row *r, size_t c)
{
    if (r->got[c] == r->want.value[c])
        return PE_BY_EXACT | PE_BY_FLOAT32;
    const bool exact = is_within(r, c, PE_BY_EXACT);
    const bool float32 = is_within(r, c, PE_BY_FLOAT32) && (exact || is_on_circle(r, c));
    return (exact ? PE_BY_EXACT : 0U) | (float32 ? PE_BY_FLOAT32 : 0U);
}

unsigned pe_measure_allowed(const pe_guess *guess)
{
    if (strcmp(pe_geometry_choice_text(&guess->values, "numerics"), "float32") == 0)
        return PE_BY_FLOAT32;
    return guess->claim->any_numerics ? PE_BY_EXACT | PE_BY_FLOAT32 : PE_BY_EXACT;
}

unsigned pe_measure_loosest(const pe_guess *guess)
{
    return pe_measure_allowed(guess) == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32;
}

/* ---- all rows ---- */

/* Plain numbers at the end, in the middle and at the beginning refute most guesses: at each place one of
 * so many, and no more. */
#define GLANCE_OF   16
#define GLANCE_MOST 64

static pe_status glance(const pe_comparison *of, pe_expect *expect, pe_measure_visit *each,
                        void *state, bool *goes_on, pe_problem *why)
{
    pe_measure_row r;
    pe_status status = PE_OK;
    const size_t all = of->view->elements, width = of->view->width, part = all / GLANCE_OF;
    const size_t most = part < GLANCE_MOST ? part : GLANCE_MOST;
    const size_t places[] = {all - most, all / 2, 0};
    for (size_t k = 0; k < PE_LEN(places) && most > 0 && *goes_on && status == PE_OK; k++) {
        const size_t row = places[k] / width, from = places[k] % width;
        const size_t left = pe_upload_view_row_width(of->view, row) - from;
        status = compare_row(expect, row, from, left < most ? left : most, &r, why);
        *goes_on = status != PE_OK || each(state, expect, &r);
        *of->work += most;
    }
    return status;
}

pe_status pe_measure_walk(const pe_comparison *of, pe_expect *expect, bool last_first,
                          pe_measure_visit *each, void *state, pe_problem *why)
{
    pe_measure_row r;
    pe_status status = PE_OK;
    bool goes_on = true;
    const pe_upload_view *view = of->view;
    const size_t rows = pe_upload_view_token_rows(view);
    const size_t ahead = last_first ? (view->tokens - 1) % PE_EXPECT_BLOCK + 1 : 0;
    if (last_first && view->layout == NULL)
        status = glance(of, expect, each, state, &goes_on, why);
    for (size_t n = 0; n < view->tokens && goes_on && status == PE_OK; n++) {
        const size_t token = n < ahead ? view->tokens - ahead + n : n - ahead;
        for (size_t o = 0; o < rows && goes_on && status == PE_OK; o++) {
            status = compare_row(expect, pe_upload_view_row(view, token, o), 0, 0, &r, why);
            goes_on = status != PE_OK || each(state, expect, &r);
        }
        *of->work += view->width * rows;
    }
    pe_expect_free(expect);
    return status;
}

/* What explains all rows so far, and how many of their elements float32 arithmetic tells nothing of. */
typedef struct explanation {
    unsigned by;
    size_t compared, undecided;
} explanation;

bool pe_measure_is_undecided(const pe_measure_row *r, size_t c)
{
    return r->want.radius[c] > 0 && r->want.float32_error[c] >= r->want.radius[c];
}

static bool explain_row(void *state, const pe_expect *expect PE_UNUSED, pe_measure_row *r)
{
    explanation *all = state;
    for (size_t c = 0; c < r->width && all->by != 0; c++) {
        all->by &= pe_measure_explained_by(r, c);
        all->undecided += pe_measure_is_undecided(r, c);
    }
    all->compared += r->width;
    return all->by != 0;
}

pe_status pe_measure_explain(const pe_comparison *of, bool decided, unsigned *by, pe_problem *why)
{
    pe_expect expect;
    const unsigned allowed = pe_measure_allowed(of->guess);
    const bool frequencies = (allowed & PE_BY_FLOAT32) != 0 || of->guess->distortion.values_inexact;
    *by = 0;
    *of->work += pe_upload_view_plan_work(of->view);
    const pe_status status = pe_expect_exact(of, frequencies, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    explanation all = {.by = allowed};
    PE_TRY(pe_measure_walk(of, &expect, true, explain_row, &all, why));
    /* Where it tells nothing of most elements, noise would be explained as well. That the arithmetic
     * was another one is told of such elements, too. */
    if (decided && allowed != PE_BY_FLOAT32 && 2 * all.undecided > all.compared)
        all.by &= PE_BY_EXACT;
    *by = all.by;
    return PE_OK;
}

/* Elements that are counted. */
typedef struct misses {
    unsigned by;
    bool evenly;
    size_t n, most, compared;
} misses;

static bool count_misses(void *state, const pe_expect *expect PE_UNUSED, pe_measure_row *r)
{
    misses *m = state;
    for (size_t c = 0; c < r->width; c++)
        m->n += (pe_measure_explained_by(r, c) & m->by) == 0;
    m->compared += r->width;
    if (m->evenly && m->n > m->most / 4 && m->n > m->compared / 2)
        m->n = m->most + 1;
    return m->n <= m->most;
}

pe_status pe_measure_misses(const pe_comparison *of, unsigned by, size_t most, bool evenly,
                            size_t *out, pe_problem *why)
{
    pe_expect expect;
    misses counted = {.by = by, .evenly = evenly, .most = most};
    *out = SIZE_MAX;
    pe_status status = pe_expect_exact(of, by == PE_BY_FLOAT32, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_measure_walk(of, &expect, evenly, count_misses, &counted, why);
    *out = counted.n;
    return status;
}
