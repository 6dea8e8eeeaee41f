/* SPDX-License-Identifier: MIT */
/* by_patterns.c - uploads of pairs of which all, or some rows, columns or heads, follow a
 * pattern. */
#include "verify/search/attempts.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "verify/mistakes/patterns.h"

#define ELEMENT_WORK 2   /* units, of an element held against a pattern */
#define FEW          0.9 /* the part that may follow the guess where a pattern is told */

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

/* How many elements of each unit there are, and how many follow the guess, and the pattern. */
typedef struct counts {
    size_t units;
    size_t *all, *claimed, *near; /* [units] owned */
    size_t *of;                   /* the unit of each row, or of each column */
    bool of_rows;
} counts;

/* A column that no pair has, as the last one of an odd width, goes with the last pair. */
static size_t pair_of(const pe_beside *b, size_t column)
{
    return b->pair[column] < b->pairs ? b->pair[column] : b->pairs - 1;
}

static size_t unit_of(const pe_beside *b, division by, size_t row, size_t column)
{
    return by == ITEMS     ? pe_beside_item(b, row)
           : by == HEADS   ? pe_beside_head(b, row)
           : by == TENSORS ? (b->view->rotated ? 0 : pe_upload_view_tensor(b->view, column))
           : by == PAIRS   ? (b->view->rotated ? 0 : pair_of(b, column))
           : by == COLUMNS ? column
           : by == ROWS    ? pe_upload_view_token(b->view, b->row[row])
                           : 0;
}

static size_t units_of(const pe_beside *b, division by)
{
    return by == ITEMS     ? pe_beside_item(b, b->rows - 1) + 1
           : by == HEADS   ? b->heads
           : by == TENSORS ? (b->view->rotated ? 1 : b->view->n_tensors)
           : by == PAIRS   ? (b->view->rotated ? 1 : b->pairs)
           : by == COLUMNS ? b->width
           : by == ROWS    ? b->view->tokens
                           : 1;
}

/* ---- counting ---- */

#define PATTERNS_MAX 127

/* Which elements follow the guess (bit 0), and each pattern that may be (its bit): that an element
 * which follows neither the guess nor the pattern rules out, whatever the division. */
typedef struct bits {
    uint64_t *of;               /* [rows][width] owned */
    uint64_t bit[PATTERNS_MAX]; /* 0: the pattern may not be */
} bits;

/* Of elements that do not follow the guess, spread over the rows, do some follow the pattern? */
static bool is_likely(const pe_beside *b, const bits *marks, size_t pattern)
{
    enum { MOST = 512 };
    const size_t all = b->rows * b->width, stride = (all / MOST + 1) | 1;
    size_t n = 0, near = 0;
    if (!pe_patterns_applies(pattern, b))
        return false;
    for (size_t e = 0; e < all; e += stride)
        if ((marks->of[e] & 1) == 0) {
            n++;
            near += pe_patterns_is_near(pattern, b, e / b->width, e % b->width);
        }
    return n < MOST / 32 || near * 16 > n;
}

static bool mark(const pe_beside *b, bits *out)
{
    const size_t all = b->rows * b->width;
    out->of = calloc(all + 1, sizeof *out->of);
    if (out->of == NULL)
        return false;
    for (size_t e = 0; e < all; e++)
        out->of[e] = pe_beside_is_claimed(b, e / b->width, e % b->width) ? 1 : 0;
    assert(pe_pattern_rows_n <= PATTERNS_MAX);
    uint64_t bit = 2;
    for (size_t p = 0; p < pe_pattern_rows_n && bit != 0; p++) {
        out->bit[p] = is_likely(b, out, p) ? bit : 0;
        bit = out->bit[p] != 0 ? bit << 1 : bit;
        for (size_t r = 0; r < b->rows && out->bit[p] != 0; r++) {
            pe_yield_spend(ELEMENT_WORK * b->width);
            pe_guess_count(b->guess, b->width);
            for (size_t c = 0; c < b->width && out->bit[p] != 0; c++) {
                uint64_t *at = &out->of[r * b->width + c];
                *at |= pe_patterns_is_near(p, b, r, c) ? out->bit[p] : 0;
                out->bit[p] = (*at & (1 | out->bit[p])) != 0 ? out->bit[p] : 0;
            }
        }
    }
    return true;
}

static bool make_counts(const pe_beside *b, division by, counts *out)
{
    *out = (counts){.units = units_of(b, by)};
    out->all = calloc(3 * out->units + b->rows + b->width, sizeof *out->all);
    if (out->all == NULL)
        return false;
    out->claimed = out->all + out->units;
    out->near = out->claimed + out->units;
    out->of = out->near + out->units;
    out->of_rows = by != TENSORS && by != PAIRS && by != COLUMNS;
    for (size_t k = 0; k < (out->of_rows ? b->rows : b->width); k++)
        out->of[k] = out->of_rows ? unit_of(b, by, k, 0) : unit_of(b, by, 0, k);
    return true;
}

static void count(const pe_beside *b, const bits *marks, uint64_t bit, counts *out)
{
    memset(out->all, 0, 3 * out->units * sizeof *out->all);
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->width; c++) {
            const size_t u = out->of[out->of_rows ? r : c];
            const uint64_t marked = marks->of[r * b->width + c];
            out->all[u]++;
            out->claimed[u] += marked & 1;
            out->near[u] += (marked & bit) != 0;
        }
}

/* ---- deciding ---- */

/* All of its elements do. */
static bool follows(const counts *at, const size_t *of, size_t u)
{
    return of[u] == at->all[u];
}

/* Does each unit follow the guess, or the pattern, and some that alone? */
static bool explains(const counts *at, size_t *n)
{
    size_t elements = 0, claimed = 0;
    *n = 0;
    for (size_t u = 0; u < at->units; u++) {
        if (at->all[u] == 0 || follows(at, at->claimed, u))
            continue;
        if (!follows(at, at->near, u))
            return false;
        ++*n;
        elements += at->all[u];
        claimed += at->claimed[u];
    }
    return *n > 0 && (double)claimed <= FEW * (double)elements;
}

/* ---- telling ---- */

/* Is it a unit that the guess fails? */
static bool fails(const counts *at, size_t u)
{
    return at->all[u] > 0 && !follows(at, at->claimed, u);
}

/* The first unit from `u` on that the guess fails. */
static size_t failing(const counts *at, size_t u)
{
    while (u < at->units && !fails(at, u))
        u++;
    return u;
}

/* Do the failing units between these two stand as far from each other as the first two? */
static bool are_even(const counts *at, size_t first, size_t next, size_t last)
{
    size_t u = next;
    while (u < last && failing(at, u + 1) == u + next - first)
        u += next - first;
    return u == last;
}

/* Are units between these two looked at, and as they should be? */
static bool are_mixed(const counts *at, size_t first, size_t last)
{
    size_t u = first;
    while (u <= last && (at->all[u] == 0 || fails(at, u)))
        u++;
    return u <= last;
}

/* "columns 64 to 127 of 128", "rows 1 to 5 in steps of 2 of 8", "tensor sin": those that the guess
 * fails. */
static void tell_units(const pe_beside *b, const counts *at, division by, size_t n, pe_buffer *out)
{
    const size_t first = failing(at, 0), next = failing(at, first + 1);
    size_t last = first;
    for (size_t u = next; u < at->units; u = failing(at, u + 1))
        last = u;
    if (by == TENSORS && n == 1) {
        pe_buffer_format(out, "tensor %s", b->view->claim->uploads[first].name);
        return;
    }
    if (n == 1)
        pe_buffer_format(out, "%s %zu", words[by].one, first);
    else
        pe_buffer_format(out, "%s %zu %s %zu", words[by].several, first, n == 2 ? "and" : "to",
                         last);
    pe_buffer_format(out, " of %zu", at->units);
    if (n > 2 && !are_mixed(at, first, last) && last - first + 1 > n)
        pe_buffer_str(out, " (of those that were looked at)");
    else if (n > 2 && last - first + 1 > n && are_even(at, first, next, last))
        pe_buffer_format(out, " in steps of %zu", next - first);
    else if (n > 2 && last - first + 1 > n)
        pe_buffer_format(out, " (%zu of them)", n);
}

/* Of all elements, and nothing else: it was held against the upload by the rule of the type, which
 * is narrower than that of a pattern. In types of few bits some columns tell no more, nor do all rows
 * but that of position 0. */
static bool was_tried(const pe_beside *b, const pe_fault *fault, division by, bool nearly_all)
{
    bool tried = false;
    const bool narrow = pe_beside_rounding(b, 1) > 0x1p-13 &&
                        (by == WHOLE || by == COLUMNS || (by == ROWS && nearly_all));
    const bool may = narrow || (by == WHOLE && b->guess->n_faults == 0);
    for (size_t f = 0; f < pe_faults_n && may; f++)
        tried |= pe_faults[f].name == fault->name && !pe_faults_is_grain(&pe_faults[f]);
    return tried;
}

static void tell(pe_search *s, const pe_beside *b, size_t pattern, const counts *at, division by,
                 size_t n)
{
    pe_buffer rule = {0};
    const pe_fault *fault = &pe_pattern_rows[pattern].fault;
    if (was_tried(b, fault, by, n + 1 >= at->units))
        return;
    if (by != WHOLE) {
        tell_units(b, at, by, n, &rule);
        pe_buffer_str(&rule, ": ");
    }
    pe_buffer_str(&rule, pe_fault_rule(fault));
    const pe_told told = {
        .fault = fault, .rule = pe_buffer_text(&rule), .a = pe_patterns_number(pattern, b)};
    pe_attempts_did(
        s,
        pe_findings_tell(s->report, b->guess, &told, s->why,
                         by == WHOLE ? "all elements of %zu rows that were looked at are so"
                                     : "all their elements of %zu rows that were looked at are so, "
                                       "all others as they should be",
                         b->rows));
    pe_buffer_free(&rule);
}

/* The first pattern that explains the units of a division. */
static void try_division(pe_search *s, const pe_beside *b, const bits *marks, division by)
{
    counts at;
    if (!make_counts(b, by, &at)) {
        pe_attempts_did(s, pe_fail_memory(s->why));
        return;
    }
    for (size_t p = 0; p < pe_pattern_rows_n && s->failed == PE_OK && !pe_attempts_found(s); p++) {
        size_t n;
        if (marks->bit[p] == 0 || (by != WHOLE && pe_pattern_rows[p].reread != NULL))
            continue;
        count(b, marks, marks->bit[p], &at);
        pe_yield_spend(b->rows * b->width / 8);
        if (explains(&at, &n))
            tell(s, b, p, &at, by, n);
    }
    free(at.all);
}

/* ---- what is tried ---- */

void pe_by_patterns_try(pe_search *s, pe_guess *guess)
{
    bool made;
    pe_beside b;
    bits marks = {0};
    const pe_comparison of = {s->whole, guess, &s->work};
    if (!pe_attempts_set_positions(s, s->whole, guess) ||
        !pe_attempts_did(s, pe_beside_make(&of, &b, &made, s->why)) || !made)
        return;
    s->work += 4 * b.rows * b.width;
    if (!mark(&b, &marks))
        pe_attempts_did(s, pe_fail_memory(s->why));
    for (division by = WHOLE; by < DIVISIONS && s->failed == PE_OK && !pe_attempts_found(s); by++)
        if (by == WHOLE || units_of(&b, by) > 1)
            try_division(s, &b, &marks, by);
    free(marks.of);
    pe_beside_free(&b);
}
