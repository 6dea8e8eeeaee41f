/* SPDX-License-Identifier: MIT */
/* alibi_bias.c - attention's linear biases: slope times distance. */
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/relative/alibi.h"
#include "encodings/registry.h"
#include "encodings/relative/relative.h"

enum { SYMMETRIC, CAUSAL, KEY };

static const char *const forms[] = {
    [SYMMETRIC] = "symmetric", [CAUSAL] = "causal", [KEY] = "key", NULL};

static const pe_param own[] = {
    PE_PARAM("query_length", INT, .axis = true, .optional = true, .min = 1,
             .max = PE_RELATIVE_LENGTH_MAX, .fallback_text = "1 where form=key says key_length",
             .unit = "tokens",
             .help = "The number of queries. They are at the last key positions. Every form but "
                     "key needs it.",
             .example = "16"),
    PE_RELATIVE_KEY_LENGTH("query_length"),
    PE_PARAM("form", CHOICE, .choices = forms,
             .help = "The bias of query i and key j, where m is the slope. symmetric: -m|i-j|. "
                     "causal: -m(i-j), and keys after the query are masked. key: m*j, which gives "
                     "the same softmax as causal.",
             .example = "causal"),
    PE_PARAM("mask_value", REAL, .hint = "leave it out for -inf, which JSON has as null",
             .optional = true, .min = -1.7976931348623157e308, .max = 1.7976931348623157e308,
             .help = "The bias of masked keys with form=causal. The default is minus infinity.",
             .example = "-10000"),
};

typedef struct bias {
    pe_relative table;
    size_t form;
    pe_dtype dtype;
    unsigned char masked[8]; /* the element of a masked key */
    pe_alibi_heads heads;
} bias;
_Static_assert(offsetof(bias, table) == 0, "the window's state begins with it");

/* ---- elements ---- */

/* n keys from `relative` on. */
static void run(const void *state, size_t layer, int64_t relative, size_t n, unsigned char *out)
{
    const bias *b = state;
    const pe_alibi_head *h = pe_alibi_heads_at(&b->heads, layer);
    if (b->form == KEY) {
        pe_alibi_ramp(h, b->dtype, relative, 1, n, out);
        return;
    }
    const size_t behind = relative > 0 ? 0 : (size_t)(1 - relative);
    const size_t before = behind < n ? behind : n;
    unsigned char *rest = out + before * b->table.bytes;
    pe_alibi_ramp(h, b->dtype, relative, 1, before, out);
    if (b->form == CAUSAL)
        pe_relative_repeat(b->masked, b->table.bytes, n - before, rest);
    else
        pe_alibi_ramp(h, b->dtype, -(relative + (int64_t)before), -1, n - before, rest);
}

/* ---- the plan ---- */

static pe_status check_mask(const pe_values *values, unsigned char *masked, pe_problem *why)
{
    const pe_dtype dtype = pe_values_dtype(values);
    if (!pe_values_present(values, "mask_value")) {
        pe_dtype_store(dtype, -HUGE_VAL, masked);
        return PE_OK;
    }
    const double value = pe_values_real(values, "mask_value");
    if (pe_values_choice(values, "form") != CAUSAL)
        return pe_fail(why, PE_INVALID_PARAMETER, "mask_value",
                       "mask_value is read by form=causal only, form is %s",
                       forms[pe_values_choice(values, "form")]);
    pe_dtype_store(dtype, value, masked);
    const double stored = pe_dtype_load(dtype, masked);
    if (isinf(stored))
        return pe_fail(why, PE_INVALID_PARAMETER, "mask_value",
                       "mask_value must fit %s, whose largest number is %.9g, got %.9g",
                       pe_dtype_name(dtype), pe_dtype_max(dtype), value);
    pe_dtype_store(dtype, stored + 0.0, masked); /* no -0 */
    return PE_OK;
}

static pe_status plan_bias(pe_values *values, pe_plan *out, pe_problem *why)
{
    unsigned char masked[8] = {0};
    pe_problem mistake;
    pe_status status = PE_OK;
    const size_t form = pe_values_choice(values, "form");
    /* form=key has one row whatever the queries are, so that its keys are enough. */
    if (form == KEY && pe_values_present(values, "key_length") &&
        !pe_values_present(values, "query_length"))
        pe_values_set_int(values, "query_length", 1);
    if (pe_values_present(values, "query_length"))
        status = pe_relative_lengths(values, why);
    else
        status = pe_fail(why, PE_MISSING_PARAMETER, "query_length",
                         "query_length is required: how many queries the last keys are");
    status = PE_ALSO(status, check_mask(values, masked, &mistake));
    PE_TRY(PE_ALSO(status, pe_alibi_heads_check(values, &mistake)));
    const pe_relative_window window = {.tensor = "bias",
                                       .dtype = pe_values_dtype(values),
                                       .layers = pe_values_positions(values, "heads")->count,
                                       .one_row = form == KEY,
                                       .run = run,
                                       .state_bytes = sizeof(bias)};
    PE_TRY(pe_relative_plan(&window, values, out, why));
    bias *b = out->state;
    b->form = form;
    b->dtype = window.dtype;
    memcpy(b->masked, masked, sizeof b->masked);
    PE_TRY(pe_alibi_heads_plan(values, out, &b->heads, why));
    return pe_alibi_heads_fit(&b->heads, b->dtype, b->table.keys - 1, "key_length", why);
}

const pe_resource pe_alibi_bias = {
    PE_NAMED("alibi", "/bias"),
    .kind = PE_TABLE,
    .summary = "The biases that ALiBi adds to attention scores.",
    .formula = "-m|i - j| (symmetric); -m(i - j) for j <= i, else masked (causal); m j (key); "
               "query i the last query_length of the key_length positions",
    .labels = PE_LABELS({.axes = "head, query, key", .value = "bias"}),
    .source = PE_ALIBI_SOURCE,
    .param_sets = {&pe_params_model, &pe_alibi_num_heads_params, PE_PARAMS(own),
                   &pe_alibi_heads_params, &pe_alibi_slope_params, &pe_params_output_exact},
    .null_is_masked = true,
    .plan = plan_bias,
};
