/* SPDX-License-Identifier: MIT */
/* mrope_causes.c - tables of several axes: which positions and sections made them. */
#include "verify/mrope_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/findings.h"
#include "verify/mrope_changes.h"

/* How far from the claim a shift is looked for. */
#define FARTHEST 4096

/* ---- the claim ---- */

static pe_status make_axes(const pe_comparison *of, pe_mrope_axes *out, pe_problem *why)
{
    const pe_values *values = &of->guess->values;
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const pe_value *sections = pe_values_find(values, "mrope_section");
    const pe_value *interleaved = pe_values_find(values, "mrope_interleaved");
    *out = (pe_mrope_axes){.tokens = of->view->tokens, .moved = nan("")};
    out->at = calloc(PE_AXES * out->tokens, sizeof *out->at);
    if (out->at == NULL)
        return pe_fail_memory(why);
    for (size_t t = 0; t < PE_AXES * out->tokens; t++)
        out->at[t] = pe_positions_at(positions, t);
    for (size_t a = 0; a < PE_AXES; a++)
        out->section[a] = sections->list[a];
    out->interleaved = interleaved != NULL && interleaved->present && interleaved->truth;
    pe_mrope_find_image(out);
    return PE_OK;
}

/* Three axes and their sections. */
static bool has_axes(const pe_comparison *of)
{
    const pe_value *sections = pe_values_find(&of->guess->values, "mrope_section");
    return of->view->axes == PE_AXES && !of->view->width_differs && sections != NULL &&
           sections->present && sections->list_length == PE_AXES && of->view->tokens > 0;
}

/* ---- how far the last token was moved ---- */

/* Do all pairs of the last row turn by their frequency times `position`? */
static bool is_at(const pe_comparison *of, const pe_expect *expect, double position)
{
    const pe_geometry *g = &expect->geometry;
    const double *got = of->view->got + (of->view->tokens - 1) * of->view->width;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        const double angle = position * expect->frequency[i], a = expect->amplitude;
        if (!(fabs(got[g->cos_at + i * g->stride] - a * cos(angle)) < 0.05 * a) ||
            !(fabs(got[g->sin_at + i * g->stride] - a * sin(angle)) < 0.05 * a))
            return false;
    }
    return true;
}

/* The nearest shift first. */
static double find_shift(const pe_comparison *of, const pe_expect *expect, double claimed)
{
    for (int by = 0; by <= 2 * FARTHEST; by++) {
        const int half = by / 2, shift = by % 2 == 0 ? half : -half;
        if (is_at(of, expect, claimed + shift))
            return shift;
    }
    return nan("");
}

static pe_status read_shift(const pe_comparison *of, pe_mrope_axes *x, pe_problem *why)
{
    pe_expect expect;
    if (pe_mrope_differs(x, x->tokens - 1))
        return PE_OK;
    *of->work += pe_upload_view_plan_work(of->view) + 8 * FARTHEST;
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        x->moved = find_shift(of, &expect, pe_mrope_axis(x, PE_TIME)[x->tokens - 1]);
    pe_expect_free(&expect);
    return status;
}

/* ---- explaining ---- */

static pe_status set_positions(pe_guess *guess, const pe_mrope_axes *x, pe_problem *why)
{
    pe_array list;
    pe_positions *positions = &pe_values_find(&guess->values, "positions")->positions;
    pe_status status = pe_array_make(PE_FLOAT64, &positions->shape, &list, why);
    if (status != PE_OK)
        return status;
    memcpy(list.data, x->at, PE_AXES * x->tokens * sizeof *x->at);
    pe_positions_free(positions);
    status = pe_positions_from_list(&list, "positions", positions, why);
    pe_array_free(&list);
    return status;
}

static void set_sections(pe_guess *guess, const pe_mrope_axes *x)
{
    pe_value *interleaved = pe_values_find(&guess->values, "mrope_interleaved");
    pe_value *sections = pe_values_find(&guess->values, "mrope_section");
    memcpy(sections->list, x->section, sizeof x->section);
    if (interleaved == NULL || interleaved->truth == x->interleaved)
        return;
    interleaved->truth = x->interleaved;
    (void)pe_guess_set_choice(&guess->values, "mrope_layout",
                              x->interleaved ? "interleaved" : "sections");
}

/* With the positions and sections of a row. */
static pe_status try_axes(pe_search *s, const pe_mrope_axes *x, pe_guess *guess, pe_problem *why)
{
    const pe_status status = set_positions(guess, x, why);
    if (status != PE_OK) /* a position beyond the bounds: no such guess */
        return pe_status_is_ours(status) ? status : PE_OK;
    set_sections(guess, x);
    return pe_attempts_try(s, guess, why);
}

static pe_status try_row(pe_search *s, const pe_guess *claim, const pe_mrope_axes *claimed,
                         const pe_mrope_row *by, pe_problem *why)
{
    pe_mrope_axes x = *claimed;
    pe_guess guess;
    x.at = malloc(PE_AXES * x.tokens * sizeof *x.at);
    if (x.at == NULL)
        return pe_fail_memory(why);
    memcpy(x.at, claimed->at, PE_AXES * x.tokens * sizeof *x.at);
    pe_status status = PE_OK;
    if (by->change(by, &x)) {
        status = pe_guess_copy(claim, &guess, why);
        if (status == PE_OK) {
            pe_guess_say(&guess, &by->fault, by->fault.remedy);
            pe_guess_format(&guess, by->fault.rule, x.a, x.b);
            status = try_axes(s, &x, &guess, why);
            pe_guess_free(&guess);
        }
    }
    free(x.at);
    return status;
}

static pe_status try_rows(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_mrope_axes claimed;
    const pe_comparison of = {s->whole, guess, &s->work};
    pe_status status = make_axes(&of, &claimed, why);
    if (status == PE_OK)
        status = read_shift(&of, &claimed, why);
    for (size_t r = 0; r < pe_mrope_rows_n && status == PE_OK && !pe_attempts_spent(s); r++)
        status = try_row(s, guess, &claimed, &pe_mrope_rows[r], why);
    free(claimed.at);
    return status;
}

/* ---- which axis a pair follows ---- */

/* Does the pair turn by the positions of the axis, in all rows? */
static bool follows_axis(const pe_comparison *of, const pe_expect *expect, const pe_mrope_axes *x,
                         size_t i, size_t a)
{
    const pe_geometry *g = &expect->geometry;
    const double w = expect->frequency[i], size = expect->amplitude;
    const double roundoff = pe_upload_view_roundoff(of->view);
    for (size_t t = 0; t < x->tokens; t++) {
        const double *got = of->view->got + t * of->view->width, angle = w * pe_mrope_axis(x, a)[t];
        const double slack = size * (0x1p-20 * (1 + fabs(angle)) + 2 * roundoff);
        if (!(fabs(got[g->cos_at + i * g->stride] - size * cos(angle)) <= slack) ||
            !(fabs(got[g->sin_at + i * g->stride] - size * sin(angle)) <= slack))
            return false;
    }
    return true;
}

/* That of the pair before it where several do; PE_AXES: none. */
static size_t axis_of(const pe_comparison *of, const pe_expect *expect, const pe_mrope_axes *x,
                      size_t i, size_t before)
{
    if (before < PE_AXES && follows_axis(of, expect, x, i, before))
        return before;
    for (size_t a = 0; a < PE_AXES; a++)
        if (follows_axis(of, expect, x, i, a))
            return a;
    return PE_AXES;
}

/* "pairs 0 to 31 follow time, ..."; false: too many follow none. */
static bool tell_axes(const pe_comparison *of, const pe_expect *expect, const pe_mrope_axes *x,
                      pe_buffer *out)
{
    enum { MOST = 6 };
    static const char *const names[] = {"time", "height", "width", "no axis"};
    size_t first = 0, before = PE_AXES, runs = 0, none = 0;
    const size_t pairs = expect->geometry.pairs;
    for (size_t i = 0; i <= pairs; i++) {
        const size_t is = i < pairs ? axis_of(of, expect, x, i, before) : PE_AXES + 1;
        none += is == PE_AXES;
        if (i > 0 && is != before && ++runs <= MOST)
            pe_buffer_format(out, "%s %zu to %zu follow %s",
                             runs > 1 ? "," : "axes or sections are others: pairs", first, i - 1,
                             names[before]);
        first = i == 0 || is != before ? i : first;
        before = is;
    }
    pe_buffer_str(out, runs > MOST ? " and so on, interleaved" : "");
    return none * 2 < pairs;
}

static pe_status measure_axes(pe_search *s, pe_guess *guess, pe_problem *why)
{
    static const pe_fault others = {.name = "mrope_sections",
                                    .remedy = "set mrope_section as claimed; " PE_MROPE_ORDER};
    pe_mrope_axes x;
    pe_expect expect;
    pe_buffer rule = {0};
    const pe_comparison of = {s->whole, guess, &s->work};
    pe_status status = pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = make_axes(&of, &x, why);
    if (status == PE_OK)
        status = pe_expect_probe(&expect, why);
    if (status == PE_OK && tell_axes(&of, &expect, &x, &rule))
        status = pe_findings_tell(s->report, guess,
                                  &(pe_told){&others, pe_buffer_text(&rule), .fitted = true}, why,
                                  "each pair was held against the claimed positions of each axis");
    *of.work += 4 * s->whole->elements;
    pe_buffer_free(&rule);
    free(x.at);
    pe_expect_free(&expect);
    return status;
}

pe_status pe_mrope_causes_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_upload_view *view = s->view;
    if (!has_axes(&(pe_comparison){s->whole, guess, &s->work}))
        return PE_OK;
    s->view = s->whole;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = try_rows(s, guess, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = measure_axes(s, guess, why);
    s->view = view;
    return status;
}
