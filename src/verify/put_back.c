/* SPDX-License-Identifier: MIT */
/* put_back.c - elements that stand elsewhere are put back, and verified as a claim of their own. */
#include "verify/put_back.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/by_patterns.h"
#include "verify/by_reading.h"
#include "verify/faults.h"
#include "verify/part.h"

#define ROWS_LOOKED_AT 32
#define NEAR           0x1p-6 /* relative, of lengths: more than a narrow type rounds */
#define PAIR_WORK      8      /* units */
#define TOKENS_MAX     2048

/* A claim of the same vectors, of which those that were turned are a copy to be filled. */
static pe_status begin_vectors(const pe_search *s, pe_claim *out, pe_problem *why)
{
    const pe_claim *all = s->whole->claim;
    const pe_array *array = &all->uploads[0].array;
    pe_part_begin(s, out);
    out->inputs = all->inputs;
    out->n_uploads = 1;
    memcpy(out->uploads[0].name, all->uploads[0].name, sizeof out->uploads[0].name);
    return pe_array_make(array->dtype, &array->shape, &out->uploads[0].array, why);
}

/* ---- which channels turn ---- */

/* The n channels from `first` on turn in pairs, as inputs hold them and as the upload does. */
typedef struct turned {
    size_t first, n;
    bool half[2];
} turned;

static size_t channel_of(const turned *at, bool in, size_t pair, bool second)
{
    return at->first +
           (at->half[in] ? pair + (second ? at->n / 2 : 0) : 2 * pair + (second ? 1 : 0));
}

static double square_at(const pe_upload_view *view, const turned *at, bool in, size_t row,
                        size_t pair)
{
    const double a = pe_upload_view_at(view, in, row, channel_of(at, in, pair, false));
    const double b = pe_upload_view_at(view, in, row, channel_of(at, in, pair, true));
    return a * a + b * b;
}

static bool passes(const pe_upload_view *view, size_t row, size_t channel, double near)
{
    const double in = pe_upload_view_at(view, true, row, channel);
    return fabs(pe_upload_view_at(view, false, row, channel) - in) <= near * fabs(in);
}

/* Do the others pass as they are? */
static bool others_pass(const pe_upload_view *view, const turned *at, size_t row)
{
    size_t c = 0;
    const double near = 2 * pe_upload_view_roundoff(view);
    while (c < view->width && (c - at->first < at->n || passes(view, row, c, near)))
        c++;
    return c == view->width;
}

/* Do pairs from `first` on pass, too? Then fewer turn, though they stand as in so many channels. */
static bool rest_passes(const pe_upload_view *view, const turned *at, size_t first)
{
    bool all = 2 * first < at->n;
    for (size_t row = 0; row < view->rows && all; row += view->rows / ROWS_LOOKED_AT + 1)
        for (size_t i = first; i < at->n / 2 && all; i++)
            all = passes(view, row, channel_of(at, true, i, false), NEAR) &&
                  passes(view, row, channel_of(at, true, i, true), NEAR);
    return all;
}

/* Do all pairs become longer by one factor, and the other channels pass? */
static bool row_turns(const pe_upload_view *view, const turned *at, size_t row)
{
    double in = 0, out = 0;
    pe_turn_spend(PAIR_WORK * view->width);
    for (size_t c = at->first; c < at->first + at->n; c++) {
        const double x = pe_upload_view_at(view, true, row, c);
        const double y = pe_upload_view_at(view, false, row, c);
        in += x * x;
        out += y * y;
    }
    for (size_t i = 0; i < at->n / 2; i++) {
        const double want = out * square_at(view, at, true, row, i);
        if (!(fabs(in * square_at(view, at, false, row, i) - want) <= 2 * NEAR * want))
            return false;
    }
    return in > 0 && out > 0 && others_pass(view, at, row);
}

/* Most rows do. */
static bool turns(const pe_upload_view *view, const turned *at)
{
    const size_t looked_at = view->rows < ROWS_LOOKED_AT ? view->rows : ROWS_LOOKED_AT;
    size_t off = 0;
    for (size_t k = 0; k < looked_at && 4 * off <= looked_at; k++)
        off += !row_turns(view, at, (k * view->rows + view->rows / 2) / looked_at);
    return 4 * off <= looked_at;
}

static turned claimed(const pe_upload_view *view)
{
    const pe_geometry *g = &view->geometry;
    const bool half = g->stride == 1;
    return (turned){g->cos_at, 2 * g->pairs, {half, half}};
}

static bool is_same(const turned *a, const turned *b)
{
    return a->first == b->first && a->n == b->n && a->half[0] == b->half[0] &&
           a->half[1] == b->half[1];
}

/* So many channels from `first` on, in each layout; the claimed one goes first. */
static bool find_layout(const pe_upload_view *view, size_t first, size_t n, turned *best)
{
    const bool half = claimed(view).half[0];
    for (size_t k = 0; k < 4 && first + n <= view->width; k++) {
        const turned at = {first, n, {half ^ (k == 1 || k == 3), half ^ (k == 1 || k == 2)}};
        if (turns(view, &at) && !rest_passes(view, &at, claimed(view).n / 2)) {
            *best = at;
            return true;
        }
    }
    return false;
}

/* The fewest channels that may be all that turn. False: none may. */
static bool find_turned(const pe_upload_view *view, turned *best)
{
    const turned as = claimed(view);
    const size_t all = view->width;
    const size_t numbers[] = {as.n, all, 3 * all / 4, all / 2, as.n / 2, all / 4};
    bool found = false;
    for (size_t k = 0; k < PE_LEN(numbers); k++) {
        const size_t n = numbers[k], firsts[] = {as.first, 0, all - n};
        bool here = false;
        for (size_t f = 0; f < PE_LEN(firsts) && n >= 8 && n % 2 == 0 && !here; f++)
            if (!found || n < best->n)
                here = find_layout(view, firsts[f], n, best);
        found |= here;
    }
    return found;
}

/* Do claimed pairs that seem to pass turn too little to be seen? */
static pe_status are_slow(pe_search *s, pe_guess *guess, const turned *is, bool *out,
                          pe_problem *why)
{
    pe_expect expect;
    const pe_upload_view *view = s->whole;
    double farthest = 0;
    *out = false;
    if (is->n >= claimed(view).n)
        return PE_OK;
    pe_status status =
        pe_expect_make(&(pe_comparison){view, guess, &s->work}, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    for (size_t t = 0; t < view->tokens; t++)
        farthest = fmax(farthest, fabs(pe_upload_view_position(view, &expect.positions, t)));
    *out = status == PE_OK &&
           farthest * expect.frequency[is->n / 2] < 16 * pe_upload_view_roundoff(view);
    pe_expect_free(&expect);
    return status;
}

/* ---- telling them ---- */

static bool set_channels(pe_guess *guess, const pe_fault *fault)
{
    const int64_t all = pe_values_int(&guess->values, "head_dim");
    const bool part = pe_values_find(&guess->values, "partial_rotary_factor") != NULL;
    if (strcmp(fault->param, "rotary_offset") == 0) {
        pe_values_set_int(&guess->values, fault->param, (int64_t)fault->value);
        return true;
    }
    pe_values_set_int(&guess->values, "rotary_dim", (int64_t)fault->value);
    if (part && pe_values_find(&guess->values, "partial_rotary_factor")->present)
        pe_values_set_real(&guess->values, "partial_rotary_factor", fault->value / (double)all);
    return true;
}

/* A row of faults.h that makes the guess what the channels are. */
static bool apply_row(const char *name, const char *text, pe_guess *guess)
{
    for (size_t f = 0; f < pe_faults_n; f++)
        if (strcmp(pe_faults[f].name, name) == 0 &&
            (text == NULL || strcmp(pe_faults[f].text, text) == 0))
            return pe_faults_apply(&pe_faults[f], guess);
    return false;
}

static const pe_fault out_of_halves = {
    .name = "columns_interleaved",
    .rule = "the layout of the result is interleaved: channels of the two halves alternate",
    .remedy = "put the channels back into their order behind the rotation"};
static const pe_fault out_of_pairs = {
    .name = "columns_concatenated",
    .rule = "the layout of the result is concatenated: even channels stand before odd ones",
    .remedy = "put the channels back into their order behind the rotation"};

/* What differs from the claim; a fault that is found beside it needs room. own: what the guess
 * borrows. */
static bool say_turned(const turned *is, const turned *as, pe_fault own[2], pe_guess *guess)
{
    const bool whole = is->n == (size_t)pe_values_int(&guess->values, "head_dim");
    own[0] = (pe_fault){.name = "rotary_dim",
                        .param = "rotary_dim",
                        .change = set_channels,
                        .value = (double)is->n};
    own[1] = (pe_fault){
        .name = "tail_turned",
        .param = "rotary_offset",
        .change = set_channels,
        .value = (double)is->first,
        .rule = "the last rotary_dim channels were turned, not the first: the rotary slice is the "
                "tail, the rest passes",
        .remedy = "rotate x[..., :rotary_dim], or claim rotary_offset"};
    bool said = true;
    if (is->half[1] != as->half[1])
        said &= apply_row("pairing", is->half[1] ? "half" : "interleaved", guess);
    if (is->n != as->n && whole)
        said &= apply_row("partial_ignored", NULL, guess);
    else if (is->n != as->n)
        said &= pe_faults_apply(&own[0], guess);
    if (said && is->n < as->n)
        pe_buffer_str(&guess->rule, ", and the other channels do not turn");
    if (is->first != as->first && !whole)
        said &= is->first == 0 ? apply_row("rotary_offset", NULL, guess)
                               : pe_faults_apply(&own[1], guess);
    if (said && is->half[0] != is->half[1] && guess->n_faults < PE_FAULTS_MAX) {
        const pe_fault *order = is->half[0] ? &out_of_pairs : &out_of_halves;
        pe_guess_say(guess, order, order->remedy);
        pe_buffer_str(&guess->rule, order->rule);
    }
    return said && guess->n_faults > 0 && guess->n_faults < PE_FAULTS_MAX;
}

/* Pairs of the upload stand where those of the inputs do. */
static void put_channels(const pe_array *from, const turned *at, size_t width, pe_array *to)
{
    const size_t bytes = pe_dtype_bytes(from->dtype);
    memcpy(to->data, from->data, from->elements * bytes);
    for (size_t row = 0; row < from->elements / width; row++)
        for (size_t k = 0; k < at->n; k++) {
            const size_t is = row * width + channel_of(at, false, k / 2, k % 2 == 1);
            const size_t goes = row * width + channel_of(at, true, k / 2, k % 2 == 1);
            memcpy((char *)to->data + goes * bytes, (const char *)from->data + is * bytes, bytes);
        }
}

static pe_status try_channels(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_fault own[2];
    pe_claim part;
    const pe_upload_view *view = s->whole;
    const turned as = claimed(view);
    turned is = as;
    if (pe_attempts_set_positions(s, view, guess, why) != PE_OK)
        return why->status;
    s->work += view->elements / 8;
    if (!find_turned(view, &is))
        return PE_OK;
    bool slow;
    pe_status status = are_slow(s, guess, &is, &slow, why);
    is = slow ? (turned){as.first, as.n, {is.half[0], is.half[1]}} : is;
    if (status != PE_OK || is_same(&is, &as) || !say_turned(&is, &as, own, guess))
        return status;
    if (is.n < as.n) /* slow ones may seem to rest only as frequencies follow a law */
        status = pe_by_reading_laws(s, &s->claim, why);
    if (is.n > as.n) /* or all, as vectors were normalized */
        status = pe_attempts_copy(s, &s->claim, pe_by_patterns_try, why);
    if (status != PE_OK || pe_attempts_found(s))
        return status;
    status = begin_vectors(s, &part, why);
    if (status != PE_OK)
        return status;
    put_channels(&view->claim->uploads[0].array, &is, view->width, &part.uploads[0].array);
    status = pe_part_explain(s, guess, &part, why);
    pe_array_free(&part.uploads[0].array);
    return status;
}

/* ---- tokens ---- */

/* Is the first vector of a token that of another one, turned? *work: pairs that were compared. */
static bool is_vector_of(const pe_upload_view *view, double growth, size_t token, size_t of,
                         size_t *work)
{
    const turned at = claimed(view);
    const size_t row = pe_upload_view_row(view, token, 0), from = pe_upload_view_row(view, of, 0);
    for (size_t i = 0; i < at.n / 2; i++) {
        const double want = growth * square_at(view, &at, true, from, i);
        ++*work;
        if (!(fabs(square_at(view, &at, false, row, i) - want) <= 2 * NEAR * want))
            return false;
    }
    return true;
}

/* How much longer pairs have become, squared; their order does not matter. */
static double growth_of(const pe_upload_view *view)
{
    double in = 0, out = 0;
    const turned at = claimed(view);
    for (size_t t = 0; t < view->tokens; t++)
        for (size_t i = 0; i < at.n / 2; i++) {
            in += square_at(view, &at, true, pe_upload_view_row(view, t, 0), i);
            out += square_at(view, &at, false, pe_upload_view_row(view, t, 0), i);
        }
    return in > 0 ? out / in : 1;
}

/* Which token of the inputs each one of the upload was. False: they are in order, or no tokens of
 * the same item, or too much alike. */
static bool find_order(const pe_upload_view *view, size_t *from, size_t *work)
{
    const size_t most = *work + 32 * view->elements;
    const double growth = growth_of(view);
    const size_t item = view->batch_tokens;
    size_t moved = 0;
    bool *taken = calloc(view->tokens, sizeof *taken), all = taken != NULL;
    for (size_t t = 0; t < view->tokens && all; t++) {
        const size_t first = t / item * item;
        size_t k = 0;
        /* its own place first */
        while (k < item && (taken[first + (t + k) % item] ||
                            !is_vector_of(view, growth, t, first + (t - first + k) % item, work)))
            k++;
        pe_turn_spend(PAIR_WORK * (k + view->width));
        all = k < item && *work < most;
        from[t] = first + (t - first + k) % item;
        taken[from[t]] |= all;
        moved += k > 0;
    }
    free(taken);
    return all && moved > 0;
}

static void tell_order(const size_t *from, size_t n, pe_buffer *out)
{
    size_t moved = 0, one = n, other = n, rolled = 0, late = 0, back = 0;
    for (size_t t = 0; t < n; t++) {
        rolled += from[t] == (t + 1) % n;
        late += from[t] == (t + n - 1) % n;
        back += from[t] == n - 1 - t;
        one = from[t] != t && moved == 0 ? t : one;
        other = from[t] != t ? t : other;
        moved += from[t] != t;
    }
    pe_buffer_str(out, "rows (tokens) of the result stand in another order than the inputs: ");
    if (moved == 2)
        pe_buffer_format(out, "tokens %zu and %zu are exchanged", one, other);
    else if (back == n)
        pe_buffer_str(out, "they are reversed");
    else if (rolled == n || late == n)
        pe_buffer_format(out, "they are rolled: each holds the one %s it",
                         rolled == n ? "behind" : "before");
    else
        pe_buffer_format(out, "they are permuted; the first ones are those of tokens %zu, %zu, %zu",
                         from[0], from[1 % n], from[2 % n]);
}

static void put_tokens(const pe_upload_view *view, const size_t *from, pe_array *to)
{
    const pe_array *array = &view->claim->uploads[0].array;
    const size_t bytes = view->width * pe_dtype_bytes(array->dtype);
    for (size_t t = 0; t < view->tokens; t++)
        for (size_t o = 0; o < pe_upload_view_token_rows(view); o++)
            memcpy((char *)to->data + pe_upload_view_row(view, from[t], o) * bytes,
                   (const char *)array->data + pe_upload_view_row(view, t, o) * bytes, bytes);
}

static pe_status search_ordered(pe_search *s, pe_guess *guess, const size_t *from, pe_problem *why)
{
    static const pe_fault fault = {
        .name = "token_order",
        .remedy = "keep the order of tokens: compare the result with the inputs that were rotated"};
    pe_claim part;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = begin_vectors(s, &part, why);
    if (status != PE_OK)
        return status;
    pe_guess_say(guess, &fault, fault.remedy);
    tell_order(from, s->whole->batch_tokens, &guess->rule);
    put_tokens(s->whole, from, &part.uploads[0].array);
    status = pe_part_explain(s, guess, &part, why);
    pe_array_free(&part.uploads[0].array);
    return status;
}

static pe_status try_tokens(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_upload_view *view = s->whole;
    if (view->tokens > TOKENS_MAX || view->geometry.pairs < 4)
        return PE_OK;
    size_t *from = calloc(view->tokens + 1, sizeof *from);
    if (from == NULL)
        return pe_fail_memory(why);
    const pe_status status =
        find_order(view, from, &s->work) ? search_ordered(s, guess, from, why) : PE_OK;
    free(from);
    return status;
}

/* ---- what is tried ---- */

pe_status pe_put_back_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    static const pe_attempt of_vectors[] = {{.try = try_channels}, {.try = try_tokens}, {0}};
    const pe_upload_view *view = s->whole;
    const bool of_claim = view->rotated && view->got != NULL && view->axes == 1 && !s->part &&
                          guess->n_faults + 1 < PE_FAULTS_MAX &&
                          !pe_geometry_has_rope_type(&guess->values, "proportional");
    return of_claim ? pe_attempts_in_order(s, guess, of_vectors, why) : PE_OK;
}
