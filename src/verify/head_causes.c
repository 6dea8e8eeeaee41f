/* SPDX-License-Identifier: MIT */
/* head_causes.c - rotated vectors of several heads: their order, and those that differ. */
#include "verify/head_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/beside.h"
#include "verify/by_reading.h"
#include "verify/faults.h"
#include "verify/findings.h"
#include "verify/reading.h"
#include "verify/upload_sample.h"

#define LOOKED_AT    16384 /* elements */
#define TOKENS_MAX   24
#define TOKENS_LEAST 4
#define SAME         0.99 /* the part of the elements of a head that are as they should be */
#define FEW_ROWS     0.4  /* the part of its rows that may be right in a head that differs */
#define ELEMENT_WORK 4    /* units */

/* A head of an item of a batch is a *unit*; every token has a row of each. */
typedef struct heads {
    pe_upload_view view; /* some tokens with all their units */
    pe_positions positions;
    pe_beside beside;
    size_t units, each; /* all units, and heads of an item */
    size_t *from;       /* [units] owned: whose vectors it holds; units: nobody's */
    bool *differs;      /* [units] owned: most of its rows are not as claimed */
} heads;

static void free_heads(heads *at)
{
    free(at->from);
    free(at->differs);
    pe_beside_free(&at->beside);
    pe_positions_free(&at->positions);
    pe_upload_view_free(&at->view);
}

/* ---- whose vectors a head holds ---- */

/* Does a unit hold, at every token, what belongs to unit `from`? */
static bool holds(const heads *at, size_t unit, size_t from)
{
    const pe_beside *b = &at->beside;
    const double most = (1 - SAME) * (double)(at->view.tokens * b->width);
    size_t off = 0;
    for (size_t t = 0; t < at->view.tokens; t++) {
        const size_t row = t * at->units + unit, of = t * at->units + from;
        pe_turn_spend(ELEMENT_WORK * b->width);
        for (size_t c = 0; c < b->width && (double)off <= most; c++) {
            const double want = b->want[of * b->width + c];
            const double slack = b->slack[of * b->width + c] + pe_beside_rounding(b, want);
            off += fabs(pe_beside_got(b, row, c) - want) <= slack ? 0 : 1;
        }
    }
    return (double)off <= most;
}

static bool is_different(const heads *at, size_t unit)
{
    const pe_beside *b = &at->beside;
    size_t right = 0;
    for (size_t t = 0; t < at->view.tokens; t++) {
        size_t c = 0;
        while (c < b->width && pe_beside_is_claimed(b, t * at->units + unit, c))
            c++;
        right += c == b->width;
    }
    return (double)right <= FEW_ROWS * (double)at->view.tokens;
}

static void compare_heads(heads *at)
{
    for (size_t u = 0; u < at->units; u++) {
        size_t from = u;
        if (!holds(at, u, u))
            for (from = 0; from < at->units && (from == u || !holds(at, u, from)); from++)
                continue;
        at->from[u] = from;
        at->differs[u] = from != u && is_different(at, u);
    }
}

/* *made is false where the guess has not the upload's shape, or there are no heads. */
static pe_status look(pe_search *s, const pe_guess *from, heads *at, bool *made, pe_problem *why)
{
    pe_guess guess;
    const pe_upload_view *view = s->whole;
    const size_t units = pe_upload_view_token_rows(view), least = LOOKED_AT / view->width / units;
    *made = false;
    *at = (heads){.units = units, .each = view->heads};
    if (!view->rotated || view->heads < 2 || units % view->heads != 0 || least < TOKENS_LEAST)
        return PE_OK;
    pe_status status = pe_guess_copy(from, &guess, why);
    if (status != PE_OK)
        return status;
    status = pe_upload_sample_few(view, least < TOKENS_MAX ? least : TOKENS_MAX, units, &at->view,
                                  &at->positions, why);
    pe_value *positions = pe_values_find(&guess.values, "positions");
    if (status == PE_OK) {
        pe_positions_free(&positions->positions);
        status = pe_positions_share(&at->positions, &positions->positions, why);
    }
    at->from = calloc(units, sizeof *at->from);
    at->differs = calloc(units, sizeof *at->differs);
    if (status == PE_OK && (at->from == NULL || at->differs == NULL))
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status =
            pe_beside_make(&(pe_comparison){&at->view, &guess, &s->work}, &at->beside, made, why);
    if (*made)
        compare_heads(at);
    s->work += units * at->view.elements / 8;
    pe_guess_free(&guess);
    return status;
}

/* ---- heads in another order ---- */

/* Are some heads in the places of others, in every item alike; or items in those of others? */
static bool is_order_of(const heads *at, bool of_items)
{
    size_t moved = 0;
    for (size_t u = 0; u < at->units; u++) {
        const size_t from = at->from[u], like = of_items ? u / at->each * at->each : u % at->each;
        const bool stays =
            of_items ? from % at->each == u % at->each : from / at->each == u / at->each;
        const bool as_others = of_items ? from / at->each == at->from[like] / at->each
                                        : from % at->each == at->from[like] % at->each;
        if (from == at->units || !stays || !as_others)
            return false;
        moved += from != u;
    }
    return moved > 0;
}

/* By how many all are moved on; 0: by others. */
static size_t rolled_by(const heads *at, bool of_items)
{
    const size_t n = of_items ? at->units / at->each : at->each, step = of_items ? at->each : 1;
    const size_t by = at->from[0] / step;
    for (size_t k = 0; k < n; k++)
        if (at->from[k * step] / step != (k + by) % n)
            return 0;
    return n > 2 ? by : 0;
}

static void tell_order(const heads *at, bool of_items, pe_buffer *out)
{
    enum { MOST = 6 };
    const char *name = of_items ? "batch item" : "head";
    const size_t n = of_items ? at->units / at->each : at->each, step = of_items ? at->each : 1;
    const size_t by = rolled_by(at, of_items);
    size_t said = 0;
    if (by == 1 || (by > 0 && by == n - 1)) {
        pe_buffer_format(out, "%ss are rolled: each holds the vectors of the one %s it", name,
                         by == 1 ? "behind" : "before");
        return;
    }
    pe_buffer_format(out, "%ss are permuted, in another order: ", name);
    for (size_t k = 0; k < n; k++) {
        const size_t from = at->from[k * step] / step;
        if (from == k || ++said > MOST)
            continue;
        if (said == 1)
            pe_buffer_format(out, "%s %zu holds the vectors of %s %zu", name, k, name, from);
        else
            pe_buffer_format(out, ", %zu those of %zu", k, from);
    }
    pe_buffer_str(out, said > MOST ? ", and so on" : "");
}

static pe_status tell_if_ordered(pe_search *s, const pe_guess *guess, const heads *at,
                                 pe_problem *why)
{
    static const pe_fault fault = {
        .name = "head_order",
        .remedy = "keep the order of heads (and batch items): check how weights were split and "
                  "axes reshaped, and which keys are repeated for groups of queries"};
    pe_buffer rule = {0};
    const bool of_heads = is_order_of(at, false);
    if (!of_heads && !is_order_of(at, true))
        return PE_OK;
    tell_order(at, !of_heads, &rule);
    const pe_status status = pe_findings_tell(
        s->report, guess, &(pe_told){.fault = &fault, .rule = pe_buffer_text(&rule)}, why,
        "all vectors of %zu tokens that were looked at are so", at->view.tokens);
    pe_buffer_free(&rule);
    return status;
}

static pe_status try_order(pe_search *s, pe_guess *guess, pe_problem *why)
{
    heads at;
    bool made;
    pe_status status = look(s, guess, &at, &made, why);
    if (status == PE_OK && made)
        status = tell_if_ordered(s, guess, &at, why);
    free_heads(&at);
    return status;
}

/* ---- heads that differ ---- */

static const pe_attempt of_heads[] = {
    {.try = pe_attempts_singles},
    {.try = pe_by_reading_try, .even_found = true},
    {0},
};

static pe_status search_heads(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_attempts_in_order(s, guess, of_heads, why);
}

static void forget_reading(pe_report *report)
{
    if (report->has_reading)
        pe_reading_free(&report->reading);
    report->has_reading = false;
}

/* "head 3 of 8", "heads 1, 3 and 4 of 8" */
static void name_heads(const heads *at, const bool *which, const char *last, pe_buffer *out)
{
    size_t n = 0, said = 0;
    for (size_t h = 0; h < at->each; h++)
        n += which[h];
    pe_buffer_str(out, n == 1 ? "head" : "heads");
    for (size_t h = 0; h < at->each; h++)
        if (which[h]) {
            pe_buffer_format(out, "%s%zu", said == 0 ? " " : said + 1 == n ? last : ", ", h);
            said++;
        }
}

/* What was found is so of these heads. */
static pe_status say_heads(pe_report *report, const char *name, const char *others, pe_problem *why)
{
    for (size_t f = 0; f < report->n_findings; f++) {
        pe_buffer rule = {0};
        pe_buffer_format(&rule, "%s: %s%s", name, report->findings[f].rule, others);
        char *copy = strdup(pe_buffer_text(&rule));
        pe_buffer_free(&rule);
        if (copy == NULL)
            return pe_fail_memory(why);
        free(report->findings[f].rule);
        report->findings[f].rule = copy;
    }
    return PE_OK;
}

/* The reading is that of these heads. */
static void say_reading(pe_report *report, const heads *at, const bool *which, const char *name)
{
    const char *comma = "";
    if (!report->has_reading)
        return;
    pe_buffer_format(&report->facts.text, "This was read off %s alone. ", name);
    pe_buffer_str(&report->facts.json, "\"heads\":[");
    for (size_t h = 0; h < at->each; h++)
        if (which[h]) {
            pe_buffer_format(&report->facts.json, "%s%zu", comma, h);
            comma = ",";
        }
    pe_buffer_str(&report->facts.json, "]");
}

/* Which heads differ, in every item. False: none does, all do, or some do in one item alone. */
static bool choose_heads(const heads *at, bool *which)
{
    size_t n = 0;
    for (size_t u = 0; u < at->units; u++) {
        if (at->differs[u] != at->differs[u % at->each] || (!at->differs[u] && at->from[u] != u))
            return false;
        which[u % at->each] = at->differs[u];
        n += u < at->each && at->differs[u];
    }
    return n > 0 && n < at->each;
}

/* Does it hold the very vectors that were to be rotated? */
static bool is_unturned(const heads *at, size_t unit)
{
    const pe_beside *b = &at->beside;
    size_t same = 0;
    for (size_t t = 0; t < at->view.tokens; t++)
        for (size_t c = 0; c < b->width; c++)
            same += pe_beside_got(b, t * at->units + unit, c) ==
                    pe_beside_input(b, t * at->units + unit, c);
    return same == at->view.tokens * b->width;
}

/* Where none is as claimed: the heads that were turned at all. False: all were, or none. */
static bool choose_turned(const heads *at, bool *which)
{
    size_t n = 0;
    for (size_t h = 0; h < at->each; h++) {
        which[h] = false;
        for (size_t u = h; u < at->units; u += at->each)
            which[h] |= !is_unturned(at, u);
        n += which[h];
    }
    return n > 0 && n < at->each;
}

/* The findings, and what was measured, are of these heads. */
static pe_status search_chosen(pe_search *s, const bool *which, pe_problem *why)
{
    bool made;
    pe_upload_view view;
    pe_status status = pe_upload_sample_heads(s->whole, which, &view, &made, why);
    if (status != PE_OK || !made)
        return status;
    s->part = true;
    status = pe_attempts_of_whole(s, &view, search_heads, why);
    s->part = false;
    pe_upload_view_free(&view);
    if (status != PE_OK || !pe_attempts_found(s))
        forget_reading(s->report);
    return status;
}

/* Said of all that differ, as a reading of theirs is. */
static pe_status tell_together(pe_search *s, const heads *at, const bool *which, const char *others,
                               pe_problem *why)
{
    pe_buffer name = {0};
    name_heads(at, which, " and ", &name);
    say_reading(s->report, at, which, pe_buffer_text(&name));
    pe_buffer_format(&name, " of %zu", at->each);
    const pe_status status = say_heads(s->report, pe_buffer_text(&name), others, why);
    pe_buffer_free(&name);
    return status;
}

static pe_status try_turned(pe_search *s, const heads *at, const bool *which, pe_problem *why)
{
    const pe_status status = search_chosen(s, which, why);
    return status == PE_OK && pe_attempts_found(s)
               ? tell_together(
                     s, at, which,
                     "; the other heads were not rotated, in the tokens that were looked at", why)
               : status;
}

static pe_status try_different(pe_search *s, const heads *at, pe_problem *why)
{
    bool *which = calloc(at->each, sizeof *which);
    if (which == NULL)
        return pe_fail_memory(why);
    pe_status status = PE_OK;
    if (choose_heads(at, which)) {
        status = search_chosen(s, which, why);
        if (status == PE_OK && pe_attempts_found(s))
            status = tell_together(s, at, which, "", why);
    }
    if (status == PE_OK && !pe_attempts_found(s) && choose_turned(at, which))
        status = try_turned(s, at, which, why);
    free(which);
    return status;
}

pe_status pe_head_causes_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    heads at;
    bool made;
    pe_status status = look(s, guess, &at, &made, why);
    if (status == PE_OK && made)
        status = tell_if_ordered(s, guess, &at, why);
    if (status == PE_OK && made && !pe_attempts_found(s))
        status = try_different(s, &at, why);
    free_heads(&at);
    for (size_t f = 0; f < pe_faults_n && made && status == PE_OK && pe_attempts_go_on(s); f++)
        if (pe_faults_is_layout(&pe_faults[f]))
            status = pe_attempts_with_fault(s, guess, &pe_faults[f], try_order, why);
    return status;
}
