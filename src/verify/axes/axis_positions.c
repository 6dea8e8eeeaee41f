/* SPDX-License-Identifier: MIT */
/* axis_positions.c - how the positions of several axes follow from the claimed ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/axes/axis_reading.h"

/* Positions of an axis are those of the claimed axis `from`, times `times`, plus `plus`. */
typedef struct relation {
    size_t from;
    double times, plus;
} relation;

/* Tokens [first, end), and where the positions of each axis come from there. */
typedef struct range {
    size_t first, end;
    relation by[PE_AXES_MAX];
} range;

/* ---- how they follow ---- */

static bool relate_to(const pe_axis_reading *x, range *r, size_t a, size_t from, bool linear)
{
    size_t low, high;
    const double *at = x->at + a * x->tokens, *was = x->claimed + from * x->tokens;
    pe_axis_reading_ends(x, from, r->first, r->end, &low, &high);
    const double span = was[high] - was[low], error = x->error[a] + 1e-6;
    relation by = {from, 1, 0};
    if (linear && span > 0)
        by.times = pe_axis_reading_tidy((at[high] - at[low]) / span, error / span);
    by.plus = pe_axis_reading_tidy(at[low] - by.times * was[low], error);
    r->by[a] = by;
    for (size_t t = r->first; t < r->end; t++)
        if (!(fabs(at[t] - by.times * was[t] - by.plus) <= error))
            return false;
    return true;
}

/* Plain shifts first; a relation to the own axis before one to another. */
static bool relate(const pe_axis_reading *x, range *r)
{
    bool found = true;
    for (size_t a = 0; a < x->n && found; a++) {
        found = false;
        for (size_t k = 0; k < 2 * x->n && !found; k++)
            found = relate_to(x, r, a, (a + k) % x->n, k >= x->n);
    }
    return found;
}

/* What holds of all axes (of one, where it is doubled). */
enum {
    OWN = 1, /* none has the positions of another */
    UNSCALED = 2,
    UNMOVED = 4,
    EVEN = 8, /* all have one factor and one shift */
    PERMUTED = 16,
    DOUBLED = 32,
    STUCK = 64,
    STARTED = 128, /* time alone is shifted, as if its first position had been multiplied */
    SHIFTED = EVEN | UNSCALED,
    BORROWED = UNSCALED | UNMOVED
};

static bool is_started(const pe_axis_reading *x, const range *r)
{
    const double start = x->claimed[r->first], times = 1 + r->by[0].plus / start;
    bool alone = start > 1 && times >= 2 && times == floor(times);
    for (size_t a = 1; a < x->n; a++)
        alone &= r->by[a].plus == 0;
    return alone;
}

static unsigned traits(const pe_axis_reading *x, const range *r)
{
    unsigned lost = DOUBLED | STARTED, seen = 0, found = is_started(x, r) ? STARTED : 0;
    for (size_t a = 0; a < x->n; a++) {
        const relation *by = &r->by[a];
        const double *at = x->at + a * x->tokens;
        lost |= by->from != a ? OWN | EVEN : 0;
        lost |= by->times != 1 ? UNSCALED : 0;
        lost |= by->plus != 0 ? UNMOVED : 0;
        lost |= by->times != r->by[0].times || by->plus != r->by[0].plus ? EVEN : 0;
        lost |= (seen >> by->from & 1) != 0 ? PERMUTED : 0;
        found |= by->times == 2 ? DOUBLED : 0;
        seen |= 1U << by->from;
        for (size_t t = r->first; t < r->end; t++)
            lost |= at[t] != at[r->first] ? STUCK : 0;
    }
    return ~lost | found;
}

/* ---- what that is ---- */

/* Of which tokens, and of which claims. */
enum { ALL = 1, IMAGE = 2, TEXT = 4, PART = 8, RUNNING = 16, ORDER = 32, AXES = 64, MROPE = 128 };

/* Mistakes; a sentence goes on with the relations of axes. */
static const struct row {
    const pe_fault_name *name;
    const char *sentence;
    unsigned of, traits;
} rows[] = {
    {PE_NAME(axes_exchanged), "the axes are exchanged", ALL | AXES, PERMUTED | BORROWED},
    {PE_NAME(axes_shifted), "positions have an offset", ALL | AXES, SHIFTED},
    {PE_NAME(axes_scaled), "positions were interpolated (linear scaling)", ALL, EVEN | UNMOVED},
    {PE_NAME(mrope_axes_exchanged), "the axes are exchanged", ALL, PERMUTED | BORROWED},
    {PE_NAME(mrope_one_axis), "an axis stands for another", ALL | MROPE, BORROWED},
    {PE_NAME(mrope_positions_shifted), "positions have an offset", ALL | MROPE, SHIFTED},
    {PE_NAME(mrope_axis_shifted), "an axis has an offset", ALL | MROPE, OWN | UNSCALED},
    {PE_NAME(axis_positions), "positions of axes are others", ALL, 0},
    {PE_NAME(mrope_image_axes), "the image", IMAGE, PERMUTED | BORROWED},
    {PE_NAME(mrope_start_scaled), "the image, whose start was multiplied, as by tokens_per_second",
     IMAGE, OWN | UNSCALED | STARTED},
    {PE_NAME(mrope_image_start), "the image, moved", IMAGE, OWN | UNSCALED},
    {PE_NAME(mrope_image_place), "the image, whose patches are stuck", IMAGE, STUCK},
    {PE_NAME(mrope_image_stride), "the image, whose merge was ignored", IMAGE, DOUBLED},
    {PE_NAME(mrope_image_time), "the image", IMAGE, 0},
    {PE_NAME(mrope_text_after), "text after an image", TEXT, SHIFTED},
    {PE_NAME(axis_positions_in_part), "positions of axes are others", PART, 0},
    {PE_NAME(mrope_text_positions), "all axes have running numbers, as text", RUNNING | MROPE, 0},
    {PE_NAME(axes_text_positions), "all axes have running numbers, as text", RUNNING, 0},
    {PE_NAME(mrope_image_columns), "the image, whose patches go down its columns", ORDER | MROPE,
     0},
    {PE_NAME(mesh_transposed), "tokens are in another order: the mesh grid is transposed", ORDER,
     0},
};

/* ---- what is said ---- */

typedef struct told {
    pe_fault fault; /* of the first mistake; no name: there is none */
    pe_buffer rule; /* owned: sentences */
    bool fitted;
} told;

/* The first row that it is, of these tokens. */
static void begin(const pe_axis_reading *x, const range *r, unsigned of, told *out)
{
    const struct row *row = rows;
    const unsigned has = traits(x, r), others = x->sections ? AXES : MROPE;
    while ((row->of & of) == 0 || (row->of & others) != 0 || (row->traits & ~has) != 0)
        row++;
    if (out->rule.bytes > 0)
        pe_buffer_str(&out->rule, "; ");
    else
        out->fault = (pe_fault){.name = row->name};
    if (r->first > 0 || r->end < x->tokens)
        pe_buffer_format(&out->rule, "rows %zu to %zu, ", r->first, r->end - 1);
    pe_buffer_str(&out->rule, row->sentence);
}

static void say_relation(const relation *by, const char *from, pe_buffer *out)
{
    const char *and = "";
    if (by->times == 0) {
        pe_buffer_format(out, " is %.7g everywhere: constant", by->plus);
        return;
    }
    if (from != NULL) {
        pe_buffer_format(out, " has the positions of %s", from);
        and = " and";
    }
    if (by->times != 1) {
        pe_buffer_format(out, "%s was multiplied by %.7g", and, by->times);
        and = " and";
    }
    if (by->plus != 0)
        pe_buffer_format(out, "%s is shifted by %.7g", and, by->plus);
}

/* "the image: time is shifted by -3, ..." The positions that relations make are exact. */
static void say(pe_axis_reading *x, const range *r, unsigned of, told *out)
{
    static const char *const names[2][PE_AXES_MAX] = {
        {"axis 0", "axis 1", "axis 2", "axis 3", "axis 4", "axis 5", "axis 6", "axis 7"},
        {"time", "height", "width"}};
    const bool even = (traits(x, r) & EVEN) != 0;
    const char *const *name = names[x->sections], *before = ": ";
    begin(x, r, of, out);
    for (size_t a = 0; a < x->n; a++) {
        const relation *by = &r->by[a];
        const double *was = x->claimed + by->from * x->tokens;
        for (size_t t = r->first; t < r->end; t++)
            x->at[a * x->tokens + t] = by->times * was[t] + by->plus;
        if ((even && a > 0) || (by->from == a && by->times == 1 && by->plus == 0))
            continue;
        pe_buffer_format(&out->rule, "%s%s", before, even ? "each axis" : name[a]);
        say_relation(by, by->from != a ? name[by->from] : NULL, &out->rule);
        before = ", ";
    }
}

/* ---- tokens in another order, or others in part ---- */

/* Tokens beyond which nobody looks where each has gone. */
#define MOVED_MAX 2048

static bool is_token(const pe_axis_reading *x, size_t t, size_t of)
{
    size_t a = 0;
    while (a < x->n && x->at[a * x->tokens + t] == x->claimed[a * x->tokens + of])
        a++;
    return a == x->n;
}

/* False: some stand nowhere. */
static bool say_order(const pe_axis_reading *x, const range *r, told *out)
{
    size_t token = r->first;
    size_t of = token;
    if (r->end - r->first > MOVED_MAX)
        return false;
    for (size_t t = r->end; t-- > r->first;) {
        size_t at = r->first;
        while (at < r->end && !is_token(x, t, at))
            at++;
        if (at == r->end)
            return false;
        of = is_token(x, t, t) ? of : at;
        token = is_token(x, t, t) ? token : t;
    }
    begin(x, r, ORDER, out);
    pe_buffer_format(&out->rule, ": token %zu has the positions that are claimed of token %zu",
                     token, of);
    return true;
}

static bool say_running(const pe_axis_reading *x, const range *all, told *out)
{
    for (size_t k = 0; k < x->n * x->tokens; k++)
        if (x->at[k] != x->at[0] + (double)(k % x->tokens))
            return false;
    begin(x, all, RUNNING, out);
    return true;
}

static void say_part(pe_axis_reading *x, told *out)
{
    range r = {0, x->tokens, {{0}}};
    while (r.first + 1 < r.end && is_token(x, r.first, r.first))
        r.first++;
    while (r.end > r.first + 1 && is_token(x, r.end - 1, r.end - 1))
        r.end--;
    out->fitted = !relate(x, &r);
    if (out->fitted)
        begin(x, &r, PART, out);
    else
        say(x, &r, PART, out);
}

/* ---- images and text ---- */

static double largest(const pe_axis_reading *x, const double *at, size_t first, size_t end)
{
    double most = -HUGE_VAL;
    for (size_t a = 0; a < x->n; a++)
        for (size_t t = first; t < end; t++)
            most = fmax(most, at[a * x->tokens + t]);
    return most;
}

static bool differs(const pe_axis_reading *x, size_t t)
{
    const double *at = x->claimed + t;
    return at[0] != at[x->tokens] || at[0] != at[2 * x->tokens];
}

/* The first image from a token on. Its first patch has one position on all axes, and others may;
 * that of text is beyond those before it. */
static range find_image(const pe_axis_reading *x, size_t from)
{
    size_t t = from;
    while (t < x->tokens && !differs(x, t))
        t++;
    range r = {t > from && t < x->tokens ? t - 1 : t, t, {{0}}};
    double most = largest(x, x->claimed, r.first, r.end);
    for (; r.end < x->tokens && (differs(x, r.end) || x->claimed[r.end] <= most); r.end++)
        most = fmax(most, largest(x, x->claimed, r.end, r.end + 1));
    return r;
}

/* A run may stay where the claim has it, or move with the one before; text does nothing else. False: it
 * follows from nothing. */
static bool say_run(pe_axis_reading *x, range *r, unsigned of, double *moved, told *out)
{
    if (r->first == r->end)
        return true;
    const bool follows = relate(x, r), shifted = follows && (SHIFTED & ~traits(x, r)) == 0;
    if (shifted || (follows && of == IMAGE)) {
        const double plus = r->by[0].plus;
        if (!shifted || (plus != *moved && plus != 0))
            say(x, r, of, out);
    } else if (of != IMAGE || !say_order(x, r, out)) {
        return false;
    }
    *moved = largest(x, x->at, r->first, r->end) - largest(x, x->claimed, r->first, r->end);
    return true;
}

/* Text and images in turn. */
static bool say_runs(pe_axis_reading *x, told *out)
{
    double moved = 0;
    for (size_t t = 0; t < x->tokens;) {
        range image = find_image(x, t), text = {t, image.first, {{0}}};
        const unsigned before = t > 0 ? TEXT : PART;
        if (!say_run(x, &text, before, &moved, out) || !say_run(x, &image, IMAGE, &moved, out))
            return false;
        t = image.end;
    }
    return out->fault.name != NULL;
}

/* ---- explaining ---- */

/* A turn the other way is another mistake. */
static void explain(pe_axis_reading *x, told *out)
{
    range all = {0, x->tokens, {{0}}};
    if (relate(x, &all)) {
        if (all.by[0].times >= 0 && ((SHIFTED | UNMOVED) & ~traits(x, &all)) != 0)
            say(x, &all, ALL, out);
        return;
    }
    if (say_running(x, &all, out) || (x->sections ? say_runs(x, out) : say_order(x, &all, out)))
        return;
    pe_buffer_free(&out->rule);
    *out = (told){0};
    say_part(x, out);
}

static double read_at(const void *positions, size_t k, double claimed PE_UNUSED)
{
    return ((const double *)positions)[k];
}

void pe_axis_positions_try(pe_search *s, pe_axis_reading *x, const pe_guess *claim)
{
    pe_guess guess;
    told by = {0};
    const pe_position_map read = {.times = 1, .move = read_at, .cause = x->at};
    if (x->known)
        explain(x, &by);
    if (by.fault.name != NULL && pe_attempts_did(s, pe_guess_copy(claim, &guess, s->why))) {
        pe_guess_say(&guess, &by.fault, pe_fault_remedy(&by.fault));
        pe_buffer_str(&guess.rule, pe_buffer_text(&by.rule));
        guess.fitted |= by.fitted;
        if (pe_guess_map_positions(&pe_values_find(&guess.values, "positions")->positions, &read))
            pe_attempts_try(s, &guess);
        pe_guess_free(&guess);
    }
    pe_buffer_free(&by.rule);
}

/* ---- position ids ---- */

static double id_at(const void *context, size_t e, double claimed PE_UNUSED,
                    double *error PE_UNUSED)
{
    const double *ids = context;
    return ids[e];
}

void pe_axis_positions_of_ids(const pe_numbers *plain)
{
    told by = {0};
    const size_t bytes = plain->elements * sizeof(double);
    pe_axis_reading x = {.n = 3, .tokens = plain->elements / 3, .sections = true};
    if (plain->elements != x.n * x.tokens || x.tokens == 0)
        return;
    x.claimed = malloc(2 * bytes);
    if (x.claimed == NULL) {
        pe_attempts_did(plain->search, pe_fail_memory(plain->search->why));
        return;
    }
    x.at = x.claimed + plain->elements;
    memcpy(x.claimed, plain->claimed, bytes);
    memcpy(x.at, plain->got, bytes);
    pe_numbers_spend(plain, 4 * plain->elements);
    explain(&x, &by);
    by.fault.rule = pe_buffer_text(&by.rule);
    const pe_numbers_cause cause = {.fault = &by.fault, .fitted = by.fitted};
    if (by.fault.name != NULL)
        pe_numbers_try(plain, &cause, &(pe_numbers_law){id_at, plain->got, 0});
    pe_buffer_free(&by.rule);
    pe_axis_reading_free(&x);
}
