/* SPDX-License-Identifier: MIT */
/* formula_padding.c - position ids, and biases of padded keys, with a mistake in them. */
#include "verify/formula.h"

#include <math.h>

/* ---- tokens and padding: position ids, and biases of padded keys ---- */

/* Looks at the mask for one law at most: some tenths of a second. */
#define MASK_LOOKS 0x1p24

/* Keys of an item, or tokens; of a mask [n] all elements. */
static size_t keys_of(const pe_formula *f)
{
    return f->of->view->claim->uploads[0].array.shape.ndim > 1 ? f->columns : f->end - f->first;
}

/* The mask [items, *n]: tokens are not `none`. It has those before the first key, too. */
static const pe_array *find_mask(const pe_formula *f, size_t *n, double *none)
{
    const pe_value *mask = pe_values_find(pe_formula_values(f), "attention_mask");
    *none = mask->present ? 0 : pe_formula_number(f, "padding_idx");
    mask = mask->present ? mask : pe_values_find(pe_formula_values(f), "input_ids");
    *n = mask->tensor.shape.dim[mask->tensor.shape.ndim - 1];
    return &mask->tensor;
}

/* The tokens of the row up to this element; *token: it is one itself. */
static double count_at(const pe_formula *f, size_t e, bool *token)
{
    size_t n;
    double none, count = 0;
    const pe_array *mask = find_mask(f, &n, &none);
    const size_t item = e / ((f->end - f->first) / (mask->elements / n)), keys = keys_of(f);
    const double *at = (const double *)mask->data + item * n;
    for (size_t i = 0; i <= e % keys + n - keys; i++) {
        *token = at[i] != none;
        count += *token;
    }
    return count;
}

static bool is_bias(const pe_formula *f)
{
    return pe_values_find(pe_formula_values(f), "num_heads") != NULL;
}

/* The number of the first token. */
static double first_number(const pe_formula *f)
{
    return is_bias(f) ? 0
           : pe_values_present(pe_formula_values(f), "attention_mask")
               ? pe_formula_number(f, "offset")
               : pe_formula_number(f, "padding_idx") + 1 +
                     pe_formula_number(f, "past_key_values_length");
}

/* What a token more adds: the slope of the head, of any item that has several tokens. */
static double step_at(const pe_formula *f, size_t e)
{
    size_t n;
    double none;
    bool token;
    const pe_array *mask = find_mask(f, &n, &none);
    const size_t keys = keys_of(f), items = mask->elements / n;
    const size_t each = (f->end - f->first) / items;
    for (size_t i = 0; i < items && is_bias(f); i++)
        for (size_t last = keys, at = i * each + e % each / keys * keys; last-- > 1;)
            if (pe_formula_claimed(f, at + last) != 0)
                return pe_formula_claimed(f, at + last) / (count_at(f, at + last, &token) - 1);
    return is_bias(f) ? nan("") : 1;
}

static double place_read(const pe_formula *f, size_t e)
{
    return (double)(f->end - f->first) * (double)keys_of(f) <= MASK_LOOKS
               ? round(pe_formula_got(f, e) / step_at(f, e))
               : nan("");
}

static bool has_padding(const pe_formula *f, size_t *before)
{
    size_t n, e = 0;
    double none;
    const pe_array *mask = find_mask(f, &n, &none);
    *before = n - keys_of(f);
    while (e < mask->elements && ((const double *)mask->data)[e] != none)
        e++;
    return e < mask->elements;
}

/* The same number was added to all: that alone is no matter of the mask. */
static bool is_moved(const pe_formula *f)
{
    size_t e = 1;
    while (f->first + e < f->end && pe_formula_got(f, e) - pe_formula_claimed(f, e) ==
                                        pe_formula_got(f, 0) - pe_formula_claimed(f, 0))
        e++;
    return f->first + e >= f->end;
}

static double read_all_counted(const pe_formula *f, double *b)
{
    size_t before;
    const double a = place_read(f, keys_of(f) - 1) - (double)(keys_of(f) - 1);
    *b = first_number(f);
    const bool told = has_padding(f, &before) && (a == *b + (double)before || !is_moved(f));
    return told ? a : nan("");
}

static double all_counted(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return step_at(f, e) * (f->a + (double)(e % keys_of(f)));
}

/* The first element that differs, and whether it is a token. */
static size_t find_other(const pe_formula *f, double *count, bool *token)
{
    size_t e = 0;
    while (f->first + e + 1 < f->end && pe_formula_got(f, e) == pe_formula_claimed(f, e))
        e++;
    *count = count_at(f, e, token);
    return e;
}

static double read_tokens_from(const pe_formula *f, double *b)
{
    bool token;
    double count;
    const size_t e = find_other(f, &count, &token);
    *b = first_number(f);
    return token && !is_moved(f) ? place_read(f, e) - count + 1 : nan("");
}

static double tokens_from(const pe_formula *f, size_t e, double claimed)
{
    bool token;
    const double count = count_at(f, e, &token);
    return token ? step_at(f, e) * (f->a + count - 1) : claimed;
}

static double padding_counted(const pe_formula *f, size_t e, double claimed)
{
    bool token;
    const double count = count_at(f, e, &token);
    return token ? claimed : step_at(f, e) * (first_number(f) + count - 1);
}

/* Tokens of the rows before, and of all of its own. */
static double count_before(const pe_formula *f, size_t e, double *own)
{
    bool token;
    double before = 0;
    const size_t keys = keys_of(f), last = e / keys * keys + keys - 1;
    for (size_t end = keys - 1; end < last && !is_bias(f); end += keys)
        before += count_at(f, end, &token);
    *own = count_at(f, last, &token);
    return before;
}

static double read_several(const pe_formula *f, double *b)
{
    *b = 0;
    const double rows = (double)(f->end - f->first) / (double)keys_of(f);
    const double looks = (double)(f->end - f->first) * (double)keys_of(f);
    return looks * rows <= MASK_LOOKS ? 0 : nan("");
}

static double counted_on(const pe_formula *f, size_t e, double claimed)
{
    bool token;
    double own;
    const double count = count_at(f, e, &token);
    return token ? step_at(f, e) * (first_number(f) + count_before(f, e, &own) + count - 1)
                 : claimed;
}

static double counted_back(const pe_formula *f, size_t e, double claimed)
{
    bool token;
    double own;
    const double count = count_at(f, e, &token);
    (void)count_before(f, e, &own);
    return token ? step_at(f, e) * (first_number(f) + own - count) : claimed;
}

static double read_padding(const pe_formula *f, double *b)
{
    bool token;
    double count;
    const size_t e = find_other(f, &count, &token);
    *b = pe_formula_claimed(f, e);
    return token ? nan("") : pe_formula_got(f, e);
}

/* As a place of its head. */
static double read_padding_place(const pe_formula *f, double *b)
{
    bool token;
    double count;
    const size_t e = find_other(f, &count, &token);
    *b = 0;
    return token || !is_bias(f) ? nan("") : place_read(f, e);
}

static double padding_at(const pe_formula *f, size_t e, double claimed)
{
    bool token;
    (void)count_at(f, e, &token);
    return token ? claimed : step_at(f, e) * f->a;
}

/* The number of the same place of the first item. */
static double first_item(const pe_formula *f, size_t e, double claimed)
{
    size_t n;
    double none;
    (void)claimed;
    const pe_array *mask = find_mask(f, &n, &none);
    return pe_formula_claimed(f, e % ((f->end - f->first) / (mask->elements / n)));
}

static double padding_is(const pe_formula *f, size_t e, double claimed)
{
    bool token;
    (void)count_at(f, e, &token);
    return token ? claimed : f->a;
}

/* ---- the rows ---- */

#define MASKED "position-ids", NULL /* and alibi/padded-bias */

const pe_formula_row pe_formula_padding[] = {
    {MASKED,
     {"padding_counted",
      "padding was counted, too: the attention mask was ignored; the first id has an offset "
      "of {a}, that of the first token should have {b}",
      .remedy = "count the tokens alone: cumsum(mask)"},
     read_all_counted,
     all_counted},
    {MASKED,
     {"tokens_from", "tokens count from {a}, not from {b}: an offset that padding has not",
      .remedy = "count from the claimed number on: cumsum(mask) - 1"},
     read_tokens_from,
     tokens_from},
    {MASKED,
     {"padding_goes_on",
      "padding goes on with the token before it: the count was not multiplied by the mask",
      .remedy = "multiply by the mask, so that padding has its own number"},
     NULL,
     padding_counted},
    {MASKED,
     {"tokens_run_on", "the count of tokens runs on through the batch: rows do not begin anew",
      .remedy = "count each row by itself: cumsum along the last axis"},
     read_several,
     counted_on},
    {MASKED,
     {"tokens_from_right", "tokens were counted from the right: the last one of a row is the first",
      .remedy = "count from the left: do not flip the mask"},
     read_several,
     counted_back},
    {MASKED,
     {"padding_filled", "padding has the bias of place {a}, not of {b}",
      .remedy = "give padding the claimed number"},
     read_padding_place,
     padding_at},
    {MASKED,
     {"mask_of_first", "every item has the numbers of the first: its mask was taken for all",
      .remedy = "take the mask of each item"},
     NULL,
     first_item},
    {MASKED,
     {"padding_filled", "padding has {a}, not {b}: it was filled with another number",
      .remedy = "give padding the claimed number"},
     read_padding,
     padding_is},
};
const size_t pe_formula_padding_n = PE_LEN(pe_formula_padding);
