/* SPDX-License-Identifier: MIT */
/* by_elements.c - uploads of pairs of which all elements, or those of some rows, columns or heads, have a
 * mistake. */
#include "verify/search/attempts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "verify/mistakes/elements.h"

#define ELEMENT_WORK 2   /* units, of an element held against a mistake */
#define FEW          0.9 /* the part that may be as claimed where a mistake is told */

/* How elements are divided: the coarsest division goes first. */
typedef enum division { WHOLE, ITEMS, HEADS, TENSORS, PAIRS, COLUMNS, ROWS, DIVISIONS } division;

static const struct {
    const char *one, *several; /* of its units */
} words[DIVISIONS] = {
    [ITEMS] = {"batch item", "batch items"},
    [HEADS] = {"head", "heads"},
    [TENSORS] = {"tensor", "tensors"}, /* one goes by its name */
    [PAIRS] = {"pair", "pairs"},
    [COLUMNS] = {"column", "columns"},
    [ROWS] = {"row", "rows"},
};

/* Of each element: it is as claimed, it follows the mistake. */
enum { CLAIMED = 1, FOLLOWS = 2 };

/* How many elements of each unit there are, and how many are so. */
typedef struct units {
    division by;
    size_t n;
    size_t *all, *claimed, *follow; /* [n] owned */
} units;

static size_t item_of(const pe_beside *b, size_t row)
{
    return b->view->rotated ? b->row[row] / (b->view->batch_tokens * b->heads) : 0;
}

static size_t head_of(const pe_beside *b, size_t row)
{
    const pe_upload_view *view = b->view;
    return (view->inner > 1 ? b->row[row] : b->row[row] / view->batch_tokens) % b->heads;
}

static size_t units_of(const pe_beside *b, division by)
{
    const size_t n[DIVISIONS] = {[WHOLE] = 1,
                                 [ITEMS] = item_of(b, b->rows - 1) + 1,
                                 [HEADS] = b->heads,
                                 [TENSORS] = b->view->rotated ? 1 : b->view->n_tensors,
                                 [PAIRS] = b->view->rotated ? 1 : b->pairs,
                                 [COLUMNS] = b->width,
                                 [ROWS] = b->view->tokens};
    return n[by];
}

/* A column that no pair has, as the last one of an odd width, goes with the last pair. */
static size_t unit_of(const pe_beside *b, division by, size_t row, size_t column)
{
    switch (by) {
    case ITEMS:
        return item_of(b, row);
    case HEADS:
        return head_of(b, row);
    case TENSORS:
        return pe_upload_view_tensor(b->view, column);
    case PAIRS:
        return b->pair[column] < b->pairs ? b->pair[column] : b->pairs - 1;
    case COLUMNS:
        return column;
    case ROWS:
        return pe_upload_view_token(b->view, b->row[row]);
    case WHOLE:
    case DIVISIONS:
        break;
    }
    return 0;
}

static bool count(const pe_beside *b, const unsigned char *is, division by, units *out)
{
    *out = (units){.by = by, .n = units_of(b, by)};
    out->all = calloc(3 * out->n, sizeof *out->all);
    if (out->all == NULL)
        return false;
    out->claimed = out->all + out->n;
    out->follow = out->claimed + out->n;
    for (size_t e = 0; e < b->rows * b->width; e++) {
        const size_t u = unit_of(b, by, e / b->width, e % b->width);
        out->all[u]++;
        out->claimed[u] += (is[e] & CLAIMED) != 0;
        out->follow[u] += (is[e] & FOLLOWS) != 0;
    }
    pe_yield_spend(b->rows * b->width / 8);
    return true;
}

/* Is it a unit that the guess fails? */
static bool fails(const units *at, size_t u)
{
    return at->claimed[u] < at->all[u];
}

/* The first unit from `u` on that the guess fails. */
static size_t failing(const units *at, size_t u)
{
    while (u < at->n && !fails(at, u))
        u++;
    return u;
}

/* Does each unit that the guess fails follow the mistake, and some that alone? */
static bool explains(const units *at)
{
    size_t elements = 0, claimed = 0;
    for (size_t u = failing(at, 0); u < at->n; u = failing(at, u + 1)) {
        if (at->follow[u] < at->all[u])
            return false;
        elements += at->all[u];
        claimed += at->claimed[u];
    }
    return elements > 0 && (double)claimed <= FEW * (double)elements;
}

/* ---- one mistake ---- */

/* Of elements that are not as claimed, spread over the rows, do some follow the mistake? */
static bool is_likely(pe_beside *b, const unsigned char *is)
{
    enum { MOST = 512 };
    const size_t stride = (b->all.n / MOST + 1) | 1;
    size_t n = 0, near = 0;
    for (size_t e = 0; e < b->all.n; e += stride)
        if ((is[e] & CLAIMED) == 0) {
            n++;
            near += pe_beside_follows(b, e);
        }
    return n < MOST / 32 || near * 16 > n;
}

/* False: some element is neither, which rules the mistake out, whatever the division. */
static bool mark(pe_beside *b, unsigned char *is)
{
    bool may = is_likely(b, is);
    for (size_t e = 0; e < b->all.n && may; e++) {
        const bool follows = pe_beside_follows(b, e);
        is[e] = (is[e] & CLAIMED) | (follows ? FOLLOWS : 0);
        may = is[e] != 0;
        if (e % b->width == 0) {
            pe_yield_spend(ELEMENT_WORK * b->width);
            pe_guess_count(b->guess, b->width);
        }
    }
    return may;
}

/* Of all elements, and nothing else: it was held against the upload by the rule of the type, which
 * is narrower than that of elements. In types of few bits some columns tell no more, nor do all rows
 * but that of position 0. */
static bool was_tried(const pe_beside *b, const pe_fault *fault, const units *at)
{
    size_t n = 0;
    bool tried = false;
    for (size_t u = failing(at, 0); u < at->n; u = failing(at, u + 1))
        n++;
    const bool narrow =
        pe_beside_rounding(b, 1) > 0x1p-13 &&
        (at->by == WHOLE || at->by == COLUMNS || (at->by == ROWS && n + 1 >= at->n));
    const bool may = narrow || (at->by == WHOLE && b->guess->n_faults == 0);
    for (size_t f = 0; f < pe_faults_n && may; f++)
        tried |= strcmp(pe_guess_fault_name(&pe_faults[f]), fault->name->text) == 0 &&
                 !pe_faults_is_narrow_type(&pe_faults[f]);
    return tried;
}

/* Bytes are those of all elements. */
static bool has_division(const pe_beside *b, division by)
{
    const pe_fault_name *name = b->all.by->fault.name;
    return by == WHOLE || (units_of(b, by) > 1 && name != PE_NAME(misread_type));
}

/* ---- telling ---- */

/* "columns 64 to 127 of 128", "rows 1 to 5 of 8 in steps of 2", "tensor sin": those that the guess
 * fails. Units between them may not have been looked at. */
static void tell_units(const pe_beside *b, const units *at, pe_buffer *out)
{
    const size_t first = failing(at, 0), step = failing(at, first + 1) - first;
    size_t last = first, n = 0;
    bool right = false, even = true;
    for (size_t u = first; u < at->n; last = u, u = failing(at, u + 1), n++) {
        for (size_t between = last + 1; between < u; between++)
            right |= at->all[between] > 0;
        even &= n == 0 || u - last == step;
    }
    if (at->by == TENSORS && n == 1)
        pe_buffer_format(out, "tensor %s", b->view->claim->uploads[first].name);
    else if (n == 1)
        pe_buffer_format(out, "%s %zu of %zu", words[at->by].one, first, at->n);
    else
        pe_buffer_format(out, "%s %zu %s %zu of %zu", words[at->by].several, first,
                         n == 2 ? "and" : "to", last, at->n);
    if (n < 3 || n == last - first + 1)
        return;
    if (!right)
        pe_buffer_str(out, " (of those that were looked at)");
    else if (even)
        pe_buffer_format(out, " in steps of %zu", step);
    else
        pe_buffer_format(out, " (%zu of them)", n);
}

/* A mistake and the units that have it. */
typedef struct choice {
    const pe_slip *row; /* NULL: there is none */
    double a;
    pe_buffer units; /* owned: their sentence */
    division by;
} choice;

/* The first mistake that explains the coarsest units. */
static pe_status choose(pe_beside *b, unsigned char *is, choice *best, pe_problem *why)
{
    const pe_slip *row = b->all.by;
    for (division by = WHOLE; by < best->by; by++) {
        units at;
        if (!has_division(b, by))
            continue;
        if (!count(b, is, by, &at))
            return pe_fail_memory(why);
        if (explains(&at) && !was_tried(b, &row->fault, &at)) {
            pe_buffer_free(&best->units);
            *best = (choice){.row = row, .a = b->all.a, .by = by};
            if (by != WHOLE)
                tell_units(b, &at, &best->units);
        }
        free(at.all);
    }
    return PE_OK;
}

static void tell(pe_search *s, const pe_beside *b, choice *best)
{
    pe_buffer rule = {0};
    const pe_fault *fault = &best->row->fault;
    const bool all = best->by == WHOLE;
    pe_buffer_format(&rule, "%s%s%s", pe_buffer_text(&best->units), all ? "" : ": ",
                     pe_fault_rule(fault));
    const pe_told told = {.fault = fault, .rule = pe_buffer_text(&rule), .a = best->a};
    pe_attempts_did(s, pe_findings_tell(s->report, b->guess, &told, s->why,
                                        all ? "all elements of %zu rows that were looked at are so"
                                            : "all their elements of %zu rows that were looked at "
                                              "are so, all others as they should be",
                                        b->rows));
    pe_buffer_free(&rule);
}

static void try_rows(pe_search *s, pe_beside *b, unsigned char *is)
{
    choice best = {.by = DIVISIONS};
    for (size_t e = 0; e < b->all.n; e++)
        is[e] = pe_beside_is_claimed(b, e) ? CLAIMED : 0;
    for (size_t k = 0; k < pe_mistakes_of_elements.n && best.by > WHOLE && s->failed == PE_OK; k++)
        if (pe_beside_read(b, &pe_mistakes_of_elements.row[k]) && mark(b, is))
            pe_attempts_did(s, choose(b, is, &best, s->why));
    if (best.row != NULL && s->failed == PE_OK)
        tell(s, b, &best);
    pe_buffer_free(&best.units);
}

void pe_by_elements_try(pe_search *s, pe_guess *guess)
{
    bool made;
    pe_beside b;
    const pe_comparison of = {s->whole, guess, &s->work};
    if (!pe_attempts_set_positions(s, s->whole, guess) ||
        !pe_attempts_did(s, pe_beside_make(&of, &b, &made, s->why)) || !made)
        return;
    s->work += 4 * b.all.n;
    unsigned char *is = calloc(b.all.n, sizeof *is);
    if (is == NULL)
        pe_attempts_did(s, pe_fail_memory(s->why));
    else
        try_rows(s, &b, is);
    free(is);
    pe_beside_free(&b);
}
