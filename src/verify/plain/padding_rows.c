/* SPDX-License-Identifier: MIT */
/* padding_rows.c - position ids, and biases of padded keys, counted in another way. */
#include <math.h>

#include "verify/plain/plain_slips.h"

/* Looks at the mask for one mistake at most: some tenths of a second. */
#define LOOKS_MOST 0x1p24

/* The mask [items, all]: tokens are not `none`. The last `keys` of all are those of the upload. */
typedef struct mask {
    const double *at;
    double none;
    size_t items, all, keys, each; /* each: elements of an item */
} mask;

static mask mask_of(const pe_sequence *p)
{
    const pe_values *values = &p->of->claim->values;
    const pe_value *mask_value = pe_values_find(values, "attention_mask");
    mask m = {.none = mask_value->present ? 0 : pe_slip_number(p, "padding_idx")};
    const pe_array *array =
        &(mask_value->present ? mask_value : pe_values_find(values, "input_ids"))->tensor;
    m.at = array->data;
    m.all = array->shape.dim[array->shape.ndim - 1];
    m.items = array->elements / m.all;
    m.keys = p->of->view->claim->uploads[0].array.shape.ndim > 1 ? p->columns : p->n;
    m.each = p->n / m.items;
    return m;
}

/* The tokens of the row up to this element; *token: it is one itself. */
static double count_at(const mask *m, size_t e, bool *token)
{
    double count = 0;
    const double *at = m->at + e / m->each * m->all;
    for (size_t i = 0; i <= e % m->keys + m->all - m->keys; i++) {
        *token = at[i] != m->none;
        count += *token;
    }
    return count;
}

static bool is_bias(const pe_sequence *p)
{
    return pe_values_find(&p->of->claim->values, "num_heads") != NULL;
}

/* The number of the first token. */
static double first_number(const pe_sequence *p)
{
    return is_bias(p) ? 0
           : pe_values_present(&p->of->claim->values, "attention_mask")
               ? pe_slip_number(p, "offset")
               : pe_slip_number(p, "padding_idx") + 1 + pe_slip_number(p, "past_key_values_length");
}

/* What a token more adds: the slope of the head, of any item that has several tokens. */
static double step_at(const pe_sequence *p, size_t e)
{
    bool token;
    const mask m = mask_of(p);
    for (size_t i = 0; i < m.items && is_bias(p); i++)
        for (size_t last = m.keys, at = i * m.each + e % m.each / m.keys * m.keys; last-- > 1;)
            if (p->claimed[at + last] != 0)
                return p->claimed[at + last] / (count_at(&m, at + last, &token) - 1);
    return is_bias(p) ? nan("") : 1;
}

static double place_read(const pe_sequence *p, size_t e)
{
    return round(p->measured[e] / step_at(p, e));
}

static bool is_small(pe_sequence *p)
{
    const mask m = mask_of(p);
    return (double)p->n * (double)m.keys * (double)m.items <= LOOKS_MOST;
}

/* The same number was added to all: that alone is no matter of the mask. */
static bool is_moved(const pe_sequence *p)
{
    size_t e = 1;
    while (e < p->n && p->measured[e] - p->claimed[e] == p->measured[0] - p->claimed[0])
        e++;
    return e >= p->n;
}

static bool solve_all_counted(pe_sequence *p)
{
    const mask m = mask_of(p);
    size_t e = 0;
    while (e < m.items * m.all && m.at[e] != m.none)
        e++;
    p->b = first_number(p);
    p->a = is_small(p) ? fabs(place_read(p, m.keys - 1)) - (double)(m.keys - 1) : nan("");
    return e < m.items * m.all && isfinite(p->a) &&
           (p->a == p->b + (double)(m.all - m.keys) || !is_moved(p));
}

static double all_counted(const pe_sequence *p, size_t e)
{
    const mask m = mask_of(p);
    return step_at(p, e) * (p->a + (double)(e % m.keys));
}

/* The first element that differs. */
static size_t find_other(const pe_sequence *p)
{
    size_t e = 0;
    while (e + 1 < p->n && p->measured[e] == p->claimed[e])
        e++;
    return e;
}

static bool solve_tokens(pe_sequence *p)
{
    bool token;
    const mask m = mask_of(p);
    const size_t e = find_other(p);
    const double count = count_at(&m, e, &token);
    p->b = first_number(p);
    p->a = is_small(p) ? place_read(p, e) - count + 1 : nan("");
    return token && isfinite(p->a) && !is_moved(p);
}

static double tokens_from(const pe_sequence *p, size_t e)
{
    bool token;
    const mask m = mask_of(p);
    const double count = count_at(&m, e, &token);
    return token ? step_at(p, e) * (p->a + count - 1) : p->claimed[e];
}

static double padding_goes_on(const pe_sequence *p, size_t e)
{
    bool token;
    const mask m = mask_of(p);
    return step_at(p, e) * (first_number(p) + count_at(&m, e, &token) - 1);
}

/* Tokens of the rows before are counted, too. */
static double running_on(const pe_sequence *p, size_t e)
{
    bool token;
    double before = 0;
    const mask m = mask_of(p);
    for (size_t end = m.keys - 1; end < e / m.keys * m.keys; end += m.keys)
        before += count_at(&m, end, &token);
    const double count = count_at(&m, e, &token);
    return token ? first_number(p) + before + count - 1 : p->claimed[e];
}

static double from_right(const pe_sequence *p, size_t e)
{
    bool token;
    const mask m = mask_of(p);
    const double own = count_at(&m, e / m.keys * m.keys + m.keys - 1, &token);
    const double count = count_at(&m, e, &token);
    return token ? step_at(p, e) * (first_number(p) + own - count) : p->claimed[e];
}

/* Of biases the place of its head. */
static bool solve_padding(pe_sequence *p)
{
    bool token;
    const mask m = mask_of(p);
    const size_t e = find_other(p);
    (void)count_at(&m, e, &token);
    p->b = is_bias(p) ? 0 : p->claimed[e];
    p->a = is_small(p) ? place_read(p, e) : nan("");
    return !token && isfinite(p->a);
}

static double padding_at(const pe_sequence *p, size_t e)
{
    bool token;
    const mask m = mask_of(p);
    (void)count_at(&m, e, &token);
    return token ? p->claimed[e] : step_at(p, e) * p->a;
}

/* The number of the same place of the first item. */
static double first_item(const pe_sequence *p, size_t e)
{
    const mask m = mask_of(p);
    return p->claimed[e % m.each];
}

/* ---- the rows ---- */

#define MASKED &pe_slip_values, "position-ids alibi/padded-bias", NULL

static const pe_slip rows[] = {
    PE_SLIP(padding_counted, MASKED, .solve = solve_all_counted, .make = all_counted),
    PE_SLIP(tokens_from, MASKED, .solve = solve_tokens, .make = tokens_from),
    PE_SLIP(padding_goes_on, MASKED, .solve = is_small, .make = padding_goes_on),
    PE_SLIP(tokens_run_on, &pe_slip_values, "position-ids", NULL, .solve = is_small,
            .make = running_on),
    PE_SLIP(tokens_from_right, MASKED, .solve = is_small, .make = from_right),
    PE_SLIP(mask_of_first, MASKED, .make = first_item),
    PE_SLIP(padding_filled, MASKED, .solve = solve_padding, .make = padding_at),
};
const pe_slips pe_mistakes_of_padding = {rows, PE_LEN(rows)};
