/* SPDX-License-Identifier: MIT */
/* padding_rows.c - position ids, and biases of padded keys, counted in another way. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "verify/plain/plain_slips.h"

/* ---- the stage: elements, and which of them are tokens ---- */

/* Of each element: is it a token, how many tokens are in its row up to it, and in all rows before, and
 * what one more adds: of biases the slope of the head. */
typedef struct padding {
    double *token, *count, *before, *step; /* [n] each */
    double keys, past;                     /* elements of a row, and more of its mask before them */
    double each;                           /* elements of an item */
    double start;                          /* the number of the first token */
    double bias, padded;
} padding;

#define LIST(NAME) PE_STATE_LIST(#NAME, padding, NAME)

static const pe_term terms[] = {LIST(token),
                                LIST(count),
                                LIST(before),
                                LIST(step),
                                PE_STATE_TERM("keys past each start bias padded", padding, keys),
                                {0}};

/* The mask [items, all], in which tokens are not `none`. */
static void count_tokens(const pe_sequence *p, padding *s, const pe_array *mask, double none)
{
    const double *row = mask->data;
    const size_t all = mask->shape.dim[mask->shape.ndim - 1];
    const size_t items = mask->elements / all, each = p->n / items,
                 keys = s->bias != 0 ? all : each;
    double before = 0;
    s->keys = (double)keys;
    s->past = (double)(all - keys);
    s->each = (double)each;
    for (size_t e = 0; e < p->n; e += keys) {
        double count = 0;
        const double *at = row + e / each * all;
        for (size_t i = 0; i < all; i++) {
            const size_t to = i + keys >= all ? e + i + keys - all : e;
            s->token[to] = at[i] != none;
            s->count[to] = count += s->token[to];
            s->before[to] = before;
        }
        s->padded += count < (double)all;
        before += count;
    }
}

/* The slope of the head, of any item that has several tokens. */
static double slope_of(const pe_sequence *p, const padding *s, size_t e)
{
    const size_t keys = (size_t)s->keys, each = (size_t)s->each;
    for (size_t at = e % each / keys * keys; at < p->n; at += each)
        for (size_t last = at + keys; last-- > at + 1;)
            if (p->claimed[last] != 0)
                return p->claimed[last] / (s->count[last] - 1);
    return nan("");
}

static pe_status measure(pe_sequence *p, pe_problem *why)
{
    padding *s = p->state;
    p->n = p->of->elements;
    p->owned = s->token = calloc(4 * p->n, sizeof *s->token);
    if (s->token == NULL)
        return pe_fail_memory(why);
    s->count = s->token + p->n;
    s->before = s->count + p->n;
    s->step = s->before + p->n;
    p->claimed = p->of->claimed;
    p->measured = p->of->got;
    const pe_value *mask = pe_values_find(p->values, "attention_mask");
    const double none = mask->present ? 0 : pe_slip_number(p, "padding_idx");
    s->bias = pe_values_find(p->values, "num_heads") != NULL;
    s->start = s->bias != 0    ? 0
               : mask->present ? pe_slip_number(p, "offset")
                               : none + 1 + pe_slip_number(p, "past_key_values_length");
    count_tokens(p, s, &(mask->present ? mask : pe_values_find(p->values, "input_ids"))->tensor,
                 none);
    const size_t keys = (size_t)s->keys, each = (size_t)s->each;
    for (size_t e = 0; e < p->n; e++)
        s->step[e] = s->bias == 0    ? 1
                     : e >= each     ? s->step[e - each]
                     : e % keys == 0 ? slope_of(p, s, e)
                                     : s->step[e - 1];
    return PE_OK;
}

static double at(const pe_sequence *p, size_t e, double claimed PE_UNUSED, double *error PE_UNUSED)
{
    return pe_sequence_at(p, e);
}

const pe_slip_stage pe_slip_padding = {.of = "position-ids alibi/padded-bias",
                                       .state = sizeof(padding),
                                       .terms = terms,
                                       .measure = measure,
                                       .at = at};

/* ---- the rows ---- */

#define MASKED    &pe_slip_padding
#define PLACE(AT) "round(y[" AT "]/step[" AT "])"
#define OTHER     "min(first(y != x), n - 1)"
#define UNEVEN                                                                                     \
    "first(y - x != y[0] - x[0]) < n" /* a number added to all is no matter of the mask */
#define LAST "count[i - i % keys + keys - 1]"

static const pe_slip rows[] = {
    PE_SLIP(padding_counted, MASKED, .a = "abs(" PLACE("keys - 1") ") - (keys - 1)", .b = "start",
            .where = "padded && finite(a) && (a == b + past || " UNEVEN ")",
            .op = "step*(a + i % keys)"),
    PE_SLIP(tokens_from, MASKED, .a = PLACE(OTHER) " - count[" OTHER "] + 1", .b = "start",
            .where = "token[" OTHER "] && finite(a) && " UNEVEN,
            .op = "token ? step*(a + count - 1) : x"),
    PE_SLIP(padding_goes_on, MASKED, .op = "step*(start + count - 1)"),
    PE_SLIP(tokens_run_on, MASKED, .where = "bias == 0",
            .op = "token ? start + before + count - 1 : x"),
    PE_SLIP(tokens_from_right, MASKED, .op = "token ? step*(start + " LAST " - count) : x"),
    PE_SLIP(mask_of_first, MASKED, .op = "x[i % each]"),
    PE_SLIP(padding_filled, MASKED, .a = PLACE(OTHER), .b = "bias ? 0 : x[" OTHER "]",
            .where = "token[" OTHER "] == 0 && finite(a)", .op = "token ? x : step*a"),
};
const pe_slips pe_mistakes_of_padding = {rows, PE_LEN(rows)};
