/* SPDX-License-Identifier: MIT */
/* rope_engine_settings.c - what engines are told to rotate as a rope type does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/rope/compare/rope_compare.h"
#include "encodings/rope/rope_type_keys.h"
#include "exact/round.h"
#include "plan/real.h"

/*
 * Transformers and vLLM read a dictionary of the model's configuration, llama.cpp takes flags. A
 * row says which type of the program's a rope type becomes and which keys it reads there.
 */
typedef enum base_as {
    BASE_TRAINED, /* rope_theta as it is; the type grows it */
    BASE_GROWN    /* rope_theta is the grown base */
} base_as;

typedef struct dictionary_row {
    const pe_rope_type *type;
    const char *name; /* rope_type */
    unsigned keys;
    base_as base;
    bool keeps_length; /* max_position_embeddings stays the trained length */
    const char *note;
} dictionary_row;

#define BIT(key)    PE_ROPE_BIT(PE_ROPE_##key)
#define LLAMA3_KEYS (BIT(FACTOR) | BIT(ORIGINAL) | BIT(LOW_FREQ_FACTOR) | BIT(HIGH_FREQ_FACTOR))

static const char grown[] =
    "rope_theta is the grown base, rounded to float64: transformers has no type for it";

static const dictionary_row transformers[] = {
    {&pe_rope_default, "default", 0, BASE_TRAINED, false, NULL},
    {&pe_rope_linear, "linear", BIT(FACTOR), BASE_TRAINED, false, NULL},
    {&pe_rope_ntk, "default", 0, BASE_GROWN, false, grown},
    {&pe_rope_ntk_alpha, "default", 0, BASE_GROWN, false, grown},
    {&pe_rope_dynamic, "dynamic", BIT(FACTOR), BASE_TRAINED, true,
     "max_position_embeddings stays the trained length, beyond which transformers grows the base "
     "with the sequence; target_length is the sequence compared here"},
    {&pe_rope_yarn, "yarn",
     BIT(FACTOR) | BIT(ORIGINAL) | BIT(BETA_FAST) | BIT(BETA_SLOW) | BIT(TRUNCATE) |
         BIT(ATTENTION_FACTOR) | BIT(MSCALE) | BIT(MSCALE_ALL_DIM),
     BASE_TRAINED, false, NULL},
    {&pe_rope_longrope, "longrope",
     BIT(FACTOR) | BIT(ORIGINAL) | BIT(ATTENTION_FACTOR) | BIT(SHORT_FACTOR) | BIT(LONG_FACTOR),
     BASE_TRAINED, false, NULL},
    {&pe_rope_llama3, "llama3", LLAMA3_KEYS, BASE_TRAINED, false, NULL},
};

/* vLLM multiplies max_position_embeddings by the factor of linear, dynamic and ntk itself. */
static const dictionary_row vllm[] = {
    {&pe_rope_default, "default", 0, BASE_TRAINED, false, NULL},
    {&pe_rope_linear, "linear", BIT(FACTOR), BASE_TRAINED, true, NULL},
    {&pe_rope_ntk, "default", 0, BASE_GROWN, false,
     "rope_theta is the grown base, rounded to float64: vLLM's own ntk is ntk_fixed"},
    {&pe_rope_ntk_alpha, "dynamic", BIT(ALPHA), BASE_TRAINED, false, NULL},
    {&pe_rope_dynamic, "dynamic", BIT(FACTOR), BASE_TRAINED, true,
     "vLLM takes the base of factor * max_position_embeddings tokens for sequences of any length"},
    {&pe_rope_yarn, "yarn",
     BIT(FACTOR) | BIT(ORIGINAL) | BIT(BETA_FAST) | BIT(BETA_SLOW) | BIT(TRUNCATE) |
         BIT(EXTRAPOLATION_FACTOR),
     BASE_TRAINED, false, NULL},
    {&pe_rope_longrope, "longrope", BIT(ORIGINAL) | BIT(SHORT_FACTOR) | BIT(LONG_FACTOR),
     BASE_TRAINED, false, NULL},
    {&pe_rope_llama3, "llama3", LLAMA3_KEYS, BASE_TRAINED, false, NULL},
    {&pe_rope_ntk_fixed, "ntk", BIT(FACTOR), BASE_TRAINED, true, NULL},
    {&pe_rope_ntk_mixed, "ntk", BIT(FACTOR) | BIT(MIXED_B), BASE_TRAINED, true, NULL},
};

static const dictionary_row *row_of(const dictionary_row *rows, size_t n, const pe_rope_type *type)
{
    for (size_t r = 0; r < n; r++)
        if (rows[r].type == type)
            return &rows[r];
    return NULL;
}

/* One setting while it is written. */
typedef struct draft {
    const pe_rope_candidate *of;
    const pe_rope_lengths *lengths;
    pe_buffer text;
    bool json;
    const char *note, *cannot; /* cannot: why there is no text */
} draft;

static void put_number(pe_buffer *out, const char *before, double number)
{
    pe_buffer_str(out, before);
    pe_real_print(number, out);
}

/* A number that engines want as a float: with a point or an exponent. */
static void put_float(pe_buffer *out, const char *before, double number)
{
    pe_buffer_str(out, before);
    const size_t start = out->bytes;
    pe_real_print(number, out);
    if (!out->failed && strcspn(pe_buffer_text(out) + start, ".e") == out->bytes - start)
        pe_buffer_str(out, ".0");
}

/* ---- yarn's attention factor ---- */

/* The formula without the keys that change its attention factor: 1 + ln(factor) / 10. */
static pe_rope_formula *plain_of(const pe_rope *rope)
{
    pe_rope_formula *plain = malloc(rope->formula_bytes);
    if (plain == NULL)
        return NULL;
    memcpy(plain, rope->formula, rope->formula_bytes);
    plain->given &= ~(uint64_t)(BIT(ATTENTION_FACTOR) | BIT(ATTN_FACTOR));
    plain->key[PE_ROPE_MSCALE] = 0;
    return plain;
}

typedef struct quotient {
    const pe_rope_formula *over, *under;
} quotient;

static void quotient_eval(const void *context, size_t index, mpfr_ptr out)
{
    const quotient *q = context;
    mpfr_t under;
    (void)index;
    mpfr_init2(under, mpfr_get_prec(out));
    q->over->type->amplitude(q->over, out);
    q->under->type->amplitude(q->under, under);
    mpfr_div(out, out, under, MPFR_RNDN);
    mpfr_clear(under);
}

/* What engines have to multiply by that compute 1 + ln(factor) / 10 themselves. 0: no memory. */
static double attention_ratio(const pe_rope *rope)
{
    pe_rope_formula *plain = plain_of(rope);
    if (plain == NULL)
        return 0;
    const quotient q = {rope->formula, plain};
    const double ratio = pe_exact_round(PE_FLOAT64, quotient_eval, &q, 0);
    free(plain);
    return ratio;
}

/* ---- dictionaries ---- */

static bool is_default(const pe_rope_formula *formula, pe_rope_key key)
{
    for (size_t d = 0; d < formula->type->n_defaults; d++)
        if (formula->type->defaults[d].key == key)
            return formula->type->defaults[d].value == formula->key[key];
    return false;
}

static void put_list(const pe_value *list, pe_buffer *out)
{
    for (size_t i = 0; i < list->list_length; i++)
        put_float(out, i == 0 ? "[" : ", ", list->list[i]);
    pe_buffer_str(out, "]");
}

static void put_key(draft *to, pe_rope_key key)
{
    const pe_rope_formula *formula = to->of->rope.formula;
    const char *name = pe_rope_key_name(key);
    if (!pe_rope_has(formula, key) || is_default(formula, key))
        return;
    pe_buffer_format(&to->text, ", \"%s\": ", name);
    if (key == PE_ROPE_SHORT_FACTOR || key == PE_ROPE_LONG_FACTOR)
        put_list(pe_values_find(&to->of->values, name), &to->text);
    else if (key == PE_ROPE_ORIGINAL)
        put_number(&to->text, "", formula->key[key]);
    else if (key == PE_ROPE_TRUNCATE)
        pe_buffer_str(&to->text, formula->key[key] != 0 ? "true" : "false");
    else
        put_float(&to->text, "", formula->key[key]);
}

static void put_type(draft *to, const dictionary_row *row)
{
    pe_buffer_format(&to->text, "\"rope_type\": \"%s\"", row->name);
    for (pe_rope_key key = 0; key < PE_ROPE_KEYS; key++)
        if ((row->keys & PE_ROPE_BIT(key)) != 0)
            put_key(to, key);
}

static void put_base(draft *to, const dictionary_row *row)
{
    const pe_rope *rope = &to->of->rope;
    put_float(&to->text,
              "\"rope_theta\": ", row->base == BASE_GROWN ? to->of->base : rope->formula->theta);
    if (rope->rotary_dim != rope->head_dim)
        put_float(&to->text, ", \"partial_rotary_factor\": ",
                  pe_values_real(&to->of->values, "partial_rotary_factor"));
}

static void put_length(draft *to, const dictionary_row *row)
{
    put_number(&to->text, "\"max_position_embeddings\": ",
               row->keeps_length ? to->lengths->trained : to->lengths->target);
}

/* ---- transformers ---- */

static const dictionary_row *transformers_row(draft *to)
{
    const pe_rope_candidate *of = to->of;
    const dictionary_row *row = row_of(transformers, PE_LEN(transformers), of->type);
    const double *key = of->rope.formula->key;
    to->json = true;
    if (row == NULL)
        to->cannot = "transformers has no such type";
    else if (of->type == &pe_rope_yarn && key[PE_ROPE_EXTRAPOLATION_FACTOR] != 1)
        to->cannot = "transformers reads no extrapolation_factor";
    else
        to->note = row->note;
    return to->cannot == NULL ? row : NULL;
}

/* Transformers does not read attn_factor: it becomes part of attention_factor. */
static void put_attention(draft *to)
{
    const pe_rope_formula *formula = to->of->rope.formula;
    if (to->of->type == &pe_rope_yarn && pe_rope_has(formula, PE_ROPE_ATTN_FACTOR))
        put_float(&to->text, ", \"attention_factor\": ", to->of->attention_factor);
}

static void write_v5(draft *to)
{
    const dictionary_row *row = transformers_row(to);
    if (row == NULL)
        return;
    pe_buffer_str(&to->text, "{");
    put_length(to, row);
    pe_buffer_str(&to->text, ", \"rope_parameters\": {");
    put_type(to, row);
    put_attention(to);
    pe_buffer_str(&to->text, ", ");
    put_base(to, row);
    pe_buffer_str(&to->text, "}}");
}

static void write_v4(draft *to)
{
    const dictionary_row *row = transformers_row(to);
    if (row == NULL)
        return;
    const bool plain = strcmp(row->name, "default") == 0;
    pe_buffer_str(&to->text, "{");
    put_length(to, row);
    pe_buffer_str(&to->text, ", ");
    put_base(to, row);
    pe_buffer_str(&to->text, plain ? ", \"rope_scaling\": null}" : ", \"rope_scaling\": {");
    if (plain)
        return;
    put_type(to, row);
    put_attention(to);
    pe_buffer_str(&to->text, "}}");
}

/* ---- vLLM ---- */

static void put_vllm_attention(draft *to)
{
    const pe_rope_candidate *of = to->of;
    if (of->type == &pe_rope_longrope) {
        put_float(&to->text, ", \"short_mscale\": ", of->attention_factor);
        put_float(&to->text, ", \"long_mscale\": ", of->attention_factor);
    }
    if (of->type != &pe_rope_yarn)
        return;
    const double ratio = attention_ratio(&of->rope);
    to->text.failed |= ratio == 0;
    if (ratio != 1)
        put_float(&to->text, ", \"attn_factor\": ", ratio);
}

static void write_vllm(draft *to)
{
    const pe_rope_lengths *lengths = to->lengths;
    const dictionary_row *row = row_of(vllm, PE_LEN(vllm), to->of->type);
    if (row == NULL) {
        to->cannot = "vLLM has no such type";
        return;
    }
    to->note = row->note;
    const double covered = lengths->trained * lengths->factor;
    if (row->type == &pe_rope_dynamic &&
        fabs(covered - lengths->target) > lengths->target * 0x1p-52) {
        to->cannot = "vLLM takes the base of factor * max_position_embeddings tokens, which is "
                     "not target_length";
        return;
    }
    pe_buffer_str(&to->text, "--hf-overrides '{");
    put_length(to, row);
    pe_buffer_str(&to->text, ", \"rope_parameters\": {");
    put_type(to, row);
    put_vllm_attention(to);
    pe_buffer_str(&to->text, ", ");
    put_base(to, row);
    put_number(&to->text, "}}' --max-model-len ", lengths->target);
}

/* ---- llama.cpp ---- */

static const char as_float32[] = "llama.cpp reads these numbers as float32";

static void write_llama_plain(draft *to)
{
    pe_buffer_str(&to->text, " --rope-scaling none");
}

static void write_llama_linear(draft *to)
{
    put_number(&to->text, " --rope-scaling linear --rope-scale ", to->lengths->factor);
    to->note = "--rope-freq-scale takes the reciprocal of --rope-scale";
}

static void write_llama_base(draft *to)
{
    put_number(&to->text, " --rope-scaling none --rope-freq-base ", to->of->base);
    to->note = as_float32;
}

static void write_llama_dynamic(draft *to)
{
    write_llama_base(to);
    to->note = "the base of target_length tokens for sequences of any length: llama.cpp does "
               "not follow their length; it reads these numbers as float32";
}

/* theta_i = (rope_theta factor)^(-2i/d) / s: 1/s is the frequency of pair 0, which
 * no base moves. */
static void stretch_eval(const void *context, size_t index, mpfr_ptr out)
{
    const pe_wave *wave = context;
    pe_wave_theta(wave, index, out);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static void write_llama_fixed(draft *to)
{
    put_number(&to->text, " --rope-scaling linear --rope-scale ",
               pe_exact_round(PE_FLOAT64, stretch_eval, to->of->wave.wave, 0));
    put_number(&to->text, " --rope-freq-base ", to->of->base);
    to->note = as_float32;
}

static void put_llama_attention(draft *to, double extrapolation)
{
    const double ratio =
        extrapolation == 0 ? to->of->attention_factor : attention_ratio(&to->of->rope);
    to->text.failed |= ratio == 0;
    if (ratio == 1)
        return;
    put_number(&to->text, " --yarn-attn-factor ", ratio);
    if (extrapolation != 0)
        to->note = "builds with pull request 17945 (December 2025) ignore --yarn-attn-factor: "
                   "their attention factor is 1 + 0.1 ln(factor)";
}

static void write_llama_yarn(draft *to)
{
    static const struct {
        pe_rope_key key;
        const char *flag;
    } flags[] = {{PE_ROPE_BETA_FAST, " --yarn-beta-fast "},
                 {PE_ROPE_BETA_SLOW, " --yarn-beta-slow "},
                 {PE_ROPE_EXTRAPOLATION_FACTOR, " --yarn-ext-factor "}};
    const pe_rope_formula *formula = to->of->rope.formula;
    if (formula->key[PE_ROPE_TRUNCATE] == 0) {
        to->cannot = "llama.cpp rounds the bounds of the ramp outwards: truncate=false is not "
                     "offered";
        return;
    }
    if (formula->low > formula->high) {
        to->cannot = "the ramp ends before it begins at these lengths: there llama.cpp and the "
                     "published code give different frequencies";
        return;
    }
    put_number(&to->text, " --rope-scaling yarn --rope-scale ", to->lengths->factor);
    put_number(&to->text, " --yarn-orig-ctx ", to->lengths->trained);
    for (size_t f = 0; f < PE_LEN(flags); f++)
        if (!is_default(formula, flags[f].key))
            put_number(&to->text, flags[f].flag, formula->key[flags[f].key]);
    put_llama_attention(to, formula->key[PE_ROPE_EXTRAPOLATION_FACTOR]);
}

static const struct {
    const pe_rope_type *type;
    void (*write)(draft *to);
    const char *cannot;
} llama[] = {
    {&pe_rope_default, write_llama_plain, NULL},
    {&pe_rope_linear, write_llama_linear, NULL},
    {&pe_rope_ntk, write_llama_base, NULL},
    {&pe_rope_ntk_alpha, write_llama_base, NULL},
    {&pe_rope_dynamic, write_llama_dynamic, NULL},
    {&pe_rope_yarn, write_llama_yarn, NULL},
    {&pe_rope_ntk_fixed, write_llama_fixed, NULL},
    {&pe_rope_longrope, NULL,
     "llama.cpp has no flags for it: conversion writes the divisors into the model file, as "
     "rope_factors_long and rope_factors_short"},
    {&pe_rope_llama3, NULL,
     "llama.cpp has no flags for it: conversion writes divisors into the model file, as "
     "rope_freqs"},
};

static void write_llama(draft *to)
{
    size_t t = 0;
    while (t < PE_LEN(llama) && llama[t].type != to->of->type)
        t++;
    to->cannot = t == PE_LEN(llama) ? "llama.cpp has no such type" : llama[t].cannot;
    if (to->cannot != NULL)
        return;
    put_number(&to->text, "--ctx-size ", to->lengths->target);
    llama[t].write(to);
}

/* ---- all ---- */

/* The path and query that answer the candidate's frequencies alone. */
static void write_own(draft *to)
{
    pe_buffer_str(&to->text, "/v1/rope/frequencies?");
    pe_values_query(&to->of->values, &to->text);
}

#define ROPE_UTILS                                                                                 \
    "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532 "                           \
    "src/transformers/modeling_rope_utils.py"

static const struct {
    const char *name;
    void (*write)(draft *to);
} programs[] = {
    {"transformers_v5", write_v5}, {"transformers_v4", write_v4}, {"vllm", write_vllm},
    {"llama_cpp", write_llama},    {"posenc", write_own},
};

static const pe_engine_setting_source sources[] = {
    {"transformers_v5", ROPE_UTILS},
    {"transformers_v4", ROPE_UTILS ", which reads rope_theta and rope_scaling, the names before "
                                   "version 5, too"},
    {"vllm", "vllm-project/vllm@926c71f6f25f8fe0a71ba4b168205e64bef24a36 "
             "vllm/model_executor/layers/rotary_embedding/__init__.py; --hf-overrides: "
             "docs.vllm.ai/en/stable/features/context_extension"},
    {"llama_cpp", "ggml-org/llama.cpp@145b6280d6aa1890e22457143dad0badb3fd6820 common/arg.cpp; "
                  "ggml-org/llama.cpp@4c7103b96d720ea6057eec6ac11a49727f9ecd43 "
                  "src/llama-context.cpp"},
};

static pe_status add(draft *to, const char *program, pe_plan *plan, pe_problem *why)
{
    pe_engine_setting setting = {.of = to->of->type->name,
                                 .program = program,
                                 .json = to->json,
                                 .note = to->cannot != NULL ? to->cannot : to->note};
    if (to->cannot == NULL && !to->text.failed) {
        setting.text = strdup(pe_buffer_text(&to->text));
        to->text.failed |= setting.text == NULL;
    }
    const bool failed = to->text.failed;
    pe_buffer_free(&to->text);
    if (failed) {
        free(setting.text);
        return pe_fail_memory(why);
    }
    return pe_plan_add_engine_setting(plan, &setting, why);
}

/**
 * Source  transformers: keys of _compute_*_parameters in src/transformers/modeling_rope_utils.py
 *         of huggingface/transformers at b4b5244c9c7cdb80d0aaafdb8f35244612788532.
 *         vLLM: get_rope in vllm/model_executor/layers/rotary_embedding/__init__.py of
 *         vllm-project/vllm at 926c71f6f25f8fe0a71ba4b168205e64bef24a36; --rope-scaling of older
 *         versions has given way to --hf-overrides (docs.vllm.ai, context extension).
 *         llama.cpp: flags of common/arg.cpp in ggml-org/llama.cpp at
 *         145b6280d6aa1890e22457143dad0badb3fd6820, where --rope-scale N sets the frequency scale
 *         to 1/N; what they do, of src/llama-context.cpp at
 *         4c7103b96d720ea6057eec6ac11a49727f9ecd43. With yarn it multiplies by 1 + 0.1 ln(factor)
 *         itself, as vLLM does.
 */
pe_status pe_rope_engine_settings_add(const pe_rope_candidate *candidate,
                                      const pe_rope_lengths *lengths, pe_plan *plan,
                                      pe_problem *why)
{
    plan->engine_setting_sources = sources;
    plan->n_engine_setting_sources = PE_LEN(sources);
    for (size_t p = 0; p < PE_LEN(programs); p++) {
        draft made = {.of = candidate, .lengths = lengths};
        programs[p].write(&made);
        const pe_status status = add(&made, programs[p].name, plan, why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}
