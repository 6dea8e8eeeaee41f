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

/* ---- values ---- */

/* What a setting may hold: a key of the type, or a number that is made of them. */
typedef enum setting_value {
    ATTENTION =
        PE_ROPE_KEYS, /* where attn_factor, which transformers does not read, is part of it */
    SHORT_MSCALE,
    LONG_MSCALE,
    VLLM_ATTENTION,
    LLAMA_ATTENTION,
    STRETCH,
    GROWN_BASE,
    SETTING_VALUES
} setting_value;

#define BIT(key) PE_ROPE_BIT(PE_ROPE_##key)
#define OF(of)   PE_ROPE_BIT(of)

static double attention_factor(const pe_rope_candidate *of)
{
    return of->attention_factor;
}

static void ratio_eval(const void *context, size_t index, mpfr_ptr out)
{
    const pe_rope_formula *formula = context;
    pe_rope_formula plain = *formula;
    mpfr_t under;
    (void)index;
    plain.given &= ~(uint64_t)(BIT(ATTENTION_FACTOR) | BIT(ATTN_FACTOR));
    plain.key[PE_ROPE_MSCALE] = 0;
    mpfr_init2(under, mpfr_get_prec(out));
    formula->type->amplitude(formula, out);
    formula->type->amplitude(&plain, under);
    mpfr_div(out, out, under, MPFR_RNDN);
    mpfr_clear(under);
}

/* What engines have to multiply by that compute yarn's 1 + ln(factor) / 10 themselves. */
static double attention_ratio(const pe_rope_candidate *of)
{
    return pe_exact_round(PE_FLOAT64, ratio_eval, of->rope.formula, 0);
}

/* Without its ramp llama.cpp computes no attention factor. */
static double llama_attention(const pe_rope_candidate *of)
{
    return of->rope.formula->key[PE_ROPE_EXTRAPOLATION_FACTOR] == 0 ? of->attention_factor
                                                                    : attention_ratio(of);
}

/* theta_i = (rope_theta factor)^(-2i/d) / s: 1/s is the frequency of pair 0, which
 * no base moves. */
static void stretch_eval(const void *context, size_t index, mpfr_ptr out)
{
    const pe_wave *wave = context;
    pe_wave_theta(wave, index, out);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static double stretch(const pe_rope_candidate *of)
{
    return pe_exact_round(PE_FLOAT64, stretch_eval, of->wave.wave, 0);
}

static double grown_base(const pe_rope_candidate *of)
{
    return of->base;
}

/* In a configuration a key has its own name. */
static const struct {
    const char *name, *flag; /* flag: of llama.cpp */
    double (*number)(const pe_rope_candidate *of);
} values[SETTING_VALUES] = {
    [PE_ROPE_FACTOR] = {.flag = "--rope-scale"},
    [PE_ROPE_ORIGINAL] = {.flag = "--yarn-orig-ctx"},
    [PE_ROPE_BETA_FAST] = {.flag = "--yarn-beta-fast"},
    [PE_ROPE_BETA_SLOW] = {.flag = "--yarn-beta-slow"},
    [PE_ROPE_EXTRAPOLATION_FACTOR] = {.flag = "--yarn-ext-factor"},
    [ATTENTION] = {"attention_factor", NULL, attention_factor},
    [SHORT_MSCALE] = {"short_mscale", NULL, attention_factor},
    [LONG_MSCALE] = {"long_mscale", NULL, attention_factor},
    [VLLM_ATTENTION] = {"attn_factor", NULL, attention_ratio},
    [LLAMA_ATTENTION] = {NULL, "--yarn-attn-factor", llama_attention},
    [STRETCH] = {NULL, "--rope-scale", stretch},
    [GROWN_BASE] = {NULL, "--rope-freq-base", grown_base},
};

/* ---- the table ---- */

/* What a rope type becomes: transformers and vLLM read a dictionary of the model's configuration,
 * llama.cpp takes flags. */
typedef struct setting_row {
    const pe_rope_type *type;
    const char *name; /* rope_type, or --rope-scaling; NULL: note says why it cannot */
    unsigned values;
    enum { TRAINED, TARGET, GROWN } base, length; /* of rope_theta, max_position_embeddings */
    const char *note;
} setting_row;

#define LLAMA3 (BIT(FACTOR) | BIT(ORIGINAL) | BIT(LOW_FREQ_FACTOR) | BIT(HIGH_FREQ_FACTOR))
#define YARN   (BIT(FACTOR) | BIT(ORIGINAL) | BIT(BETA_FAST) | BIT(BETA_SLOW))
#define LISTS  (BIT(ORIGINAL) | BIT(SHORT_FACTOR) | BIT(LONG_FACTOR))

static const char grown[] =
    "rope_theta is the grown base, rounded to float64: transformers has no type for it";
static const char as_float32[] = "llama.cpp reads these numbers as float32";

static const setting_row transformers[] = {
    {&pe_rope_default, "default", 0, TRAINED, TARGET, NULL},
    {&pe_rope_linear, "linear", BIT(FACTOR), TRAINED, TARGET, NULL},
    {&pe_rope_ntk, "default", 0, GROWN, TARGET, grown},
    {&pe_rope_ntk_alpha, "default", 0, GROWN, TARGET, grown},
    {&pe_rope_dynamic, "dynamic", BIT(FACTOR), TRAINED, TRAINED,
     "max_position_embeddings stays the trained length, beyond which transformers grows the base "
     "with the sequence; target_length is the sequence compared here"},
    {&pe_rope_yarn, "yarn",
     YARN | BIT(TRUNCATE) | BIT(ATTENTION_FACTOR) | BIT(MSCALE) | BIT(MSCALE_ALL_DIM) |
         OF(ATTENTION),
     TRAINED, TARGET, NULL},
    {&pe_rope_longrope, "longrope", LISTS | BIT(FACTOR) | BIT(ATTENTION_FACTOR), TRAINED, TARGET,
     NULL},
    {&pe_rope_llama3, "llama3", LLAMA3, TRAINED, TARGET, NULL},
    {0},
};

/* vLLM multiplies max_position_embeddings by the factor of linear, dynamic and ntk itself. */
static const setting_row vllm[] = {
    {&pe_rope_default, "default", 0, TRAINED, TARGET, NULL},
    {&pe_rope_linear, "linear", BIT(FACTOR), TRAINED, TRAINED, NULL},
    {&pe_rope_ntk, "default", 0, GROWN, TARGET,
     "rope_theta is the grown base, rounded to float64: vLLM's own ntk is ntk_fixed"},
    {&pe_rope_ntk_alpha, "dynamic", BIT(ALPHA), TRAINED, TARGET, NULL},
    {&pe_rope_dynamic, "dynamic", BIT(FACTOR), TRAINED, TRAINED,
     "vLLM takes the base of factor * max_position_embeddings tokens for sequences of any length"},
    {&pe_rope_yarn, "yarn", YARN | BIT(TRUNCATE) | BIT(EXTRAPOLATION_FACTOR) | OF(VLLM_ATTENTION),
     TRAINED, TARGET, NULL},
    {&pe_rope_longrope, "longrope", LISTS | OF(SHORT_MSCALE) | OF(LONG_MSCALE), TRAINED, TARGET,
     NULL},
    {&pe_rope_llama3, "llama3", LLAMA3, TRAINED, TARGET, NULL},
    {&pe_rope_ntk_fixed, "ntk", BIT(FACTOR), TRAINED, TRAINED, NULL},
    {&pe_rope_ntk_mixed, "ntk", BIT(FACTOR) | BIT(MIXED_B), TRAINED, TRAINED, NULL},
    {0},
};

/* Its base and its length are flags. */
static const setting_row llama[] = {
    {&pe_rope_default, "none", 0, TRAINED, TARGET, NULL},
    {&pe_rope_linear, "linear", BIT(FACTOR), TRAINED, TARGET,
     "--rope-freq-scale takes the reciprocal of --rope-scale"},
    {&pe_rope_ntk, "none", OF(GROWN_BASE), GROWN, TARGET, as_float32},
    {&pe_rope_ntk_alpha, "none", OF(GROWN_BASE), GROWN, TARGET, as_float32},
    {&pe_rope_dynamic, "none", OF(GROWN_BASE), GROWN, TARGET,
     "the base of target_length tokens for sequences of any length: llama.cpp does not follow "
     "their length; it reads these numbers as float32"},
    {&pe_rope_yarn, "yarn", YARN | BIT(EXTRAPOLATION_FACTOR) | OF(LLAMA_ATTENTION), TRAINED, TARGET,
     NULL},
    {&pe_rope_ntk_fixed, "linear", OF(STRETCH) | OF(GROWN_BASE), GROWN, TARGET, as_float32},
    {&pe_rope_longrope, NULL, 0, TRAINED, TARGET,
     "llama.cpp has no flags for it: conversion writes the divisors into the model file, as "
     "rope_factors_long and rope_factors_short"},
    {&pe_rope_llama3, NULL, 0, TRAINED, TARGET,
     "llama.cpp has no flags for it: conversion writes divisors into the model file, as "
     "rope_freqs"},
    {0},
};

/* A row for each program. Its text has places in angle brackets. */
typedef struct setting_program {
    const char *name, *text;
    enum { JSON, DICTIONARY, FLAGS } kind; /* a JSON value; text with one; text with flags */
    const char *none;                      /* why a type without a row cannot be */
    const setting_row *rows;               /* NULL: no type wants one */
} setting_program;

static const setting_program programs[] = {
    {"transformers_v5",
     "{\"max_position_embeddings\": <length>, \"rope_parameters\": {<type>, <base>}}", JSON,
     "transformers has no such type", transformers},
    {"transformers_v4",
     "{\"max_position_embeddings\": <length>, <base>, \"rope_scaling\": <scaling>}", JSON,
     "transformers has no such type", transformers},
    {"vllm",
     "--hf-overrides '{\"max_position_embeddings\": <length>, \"rope_parameters\": {<type>, "
     "<base>}}' --max-model-len <target>",
     DICTIONARY, "vLLM has no such type", vllm},
    {"llama_cpp", "--ctx-size <target> --rope-scaling <type>", FLAGS, "llama.cpp has no such type",
     llama},
    {"posenc", "/v1/rope/frequencies?<query>", DICTIONARY, NULL, NULL},
};

#define ROPE_UTILS                                                                                 \
    "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532 "                           \
    "src/transformers/modeling_rope_utils.py"

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

/* One setting while it is written. */
typedef struct draft {
    const setting_program *program;
    const setting_row *row;
    const pe_rope_candidate *of;
    const pe_rope_lengths *lengths;
    pe_buffer text;
    const char *note;
} draft;

/* Why there is no text. What a row cannot say is said here. */
static const char *reason_against(draft *to)
{
    const setting_row *rows = to->program->rows;
    const pe_rope_type *type = to->of->type;
    const pe_rope_formula *formula = to->of->rope.formula;
    const double extrapolation = formula->key[PE_ROPE_EXTRAPOLATION_FACTOR];
    const double target = to->lengths->target;
    if (to->row->type == NULL)
        return to->program->none;
    if (to->row->name == NULL)
        return to->row->note;
    if (rows == vllm && type == &pe_rope_dynamic &&
        fabs(to->lengths->trained * to->lengths->factor - target) > target * 0x1p-52)
        return "vLLM takes the base of factor * max_position_embeddings tokens, which is not "
               "target_length";
    if (type != &pe_rope_yarn)
        return NULL;
    if (rows == transformers && extrapolation != 1)
        return "transformers reads no extrapolation_factor";
    if (rows != llama)
        return NULL;
    if (formula->key[PE_ROPE_TRUNCATE] == 0)
        return "llama.cpp rounds the bounds of the ramp outwards: truncate=false is not offered";
    if (formula->low > formula->high)
        return "the ramp ends before it begins at these lengths: there llama.cpp and the published "
               "code give different frequencies";
    if (extrapolation != 0 && attention_ratio(to->of) != 1)
        to->note = "builds with pull request 17945 (December 2025) ignore --yarn-attn-factor: "
                   "their attention factor is 1 + 0.1 ln(factor)";
    return NULL;
}

/* ---- text ---- */

/* A number that engines want as a float: with a point or an exponent. */
static void put_float(pe_buffer *out, const char *before, double number)
{
    pe_buffer_str(out, before);
    const size_t start = out->bytes;
    pe_real_print(number, out);
    if (!out->failed && strcspn(pe_buffer_text(out) + start, ".e") == out->bytes - start)
        pe_buffer_str(out, ".0");
}

/* A key that is absent or has its type's default need not be said. */
static bool is_said(const pe_rope_formula *formula, unsigned value)
{
    if (value == ATTENTION)
        return pe_rope_has(formula, PE_ROPE_ATTN_FACTOR);
    if (value >= PE_ROPE_KEYS)
        return true;
    for (size_t d = 0; d < formula->type->n_defaults; d++)
        if (formula->type->defaults[d].key == (pe_rope_key)value)
            return formula->type->defaults[d].value != formula->key[value];
    return pe_rope_has(formula, (pe_rope_key)value);
}

static void put_member(draft *to, unsigned value, double number)
{
    pe_buffer *out = &to->text;
    /* The values behind the keys have rows of their own: there are SETTING_VALUES rows. */
    const char *name = value < PE_ROPE_KEYS ? pe_rope_key_name((pe_rope_key)value) : "";
    if (value >= PE_ROPE_KEYS && value < SETTING_VALUES)
        /* cppcheck-suppress arrayIndexOutOfBoundsCond */
        name = values[value].name;
    pe_buffer_format(out, ", \"%s\": ", name);
    if (value == PE_ROPE_SHORT_FACTOR || value == PE_ROPE_LONG_FACTOR) {
        const pe_value *list = pe_values_find(&to->of->values, name);
        for (size_t i = 0; i < list->list_length; i++)
            put_float(out, i == 0 ? "[" : ", ", list->list[i]);
        pe_buffer_str(out, "]");
    } else if (value == PE_ROPE_ORIGINAL) {
        pe_real_print(number, out);
    } else if (value == PE_ROPE_TRUNCATE) {
        pe_buffer_str(out, number != 0 ? "true" : "false");
    } else {
        put_float(out, "", number);
    }
}

static void put_type(draft *to)
{
    const pe_rope_formula *formula = to->of->rope.formula;
    pe_buffer_format(&to->text, to->program->kind == FLAGS ? "%s" : "\"rope_type\": \"%s\"",
                     to->row->name);
    for (unsigned v = 0; v < SETTING_VALUES; v++) {
        if ((to->row->values & OF(v)) == 0 || !is_said(formula, v))
            continue;
        const double number = v < PE_ROPE_KEYS ? formula->key[v] : values[v].number(to->of);
        if ((v == VLLM_ATTENTION || v == LLAMA_ATTENTION) && number == 1)
            continue;
        if (to->program->kind != FLAGS) {
            put_member(to, v, number);
            continue;
        }
        pe_buffer_format(&to->text, " %s ", values[v].flag);
        pe_real_print(number, &to->text);
    }
}

static void put_scaling(draft *to)
{
    if (strcmp(to->row->name, "default") == 0) {
        pe_buffer_str(&to->text, "null");
        return;
    }
    pe_buffer_str(&to->text, "{");
    put_type(to);
    pe_buffer_str(&to->text, "}");
}

static void put_base(draft *to)
{
    const pe_rope *rope = &to->of->rope;
    put_float(&to->text,
              "\"rope_theta\": ", to->row->base == GROWN ? to->of->base : rope->formula->theta);
    if (rope->rotary_dim != rope->head_dim)
        put_float(&to->text, ", \"partial_rotary_factor\": ",
                  pe_values_real(&to->of->values, "partial_rotary_factor"));
}

static void put_length(draft *to)
{
    pe_real_print(to->row->length == TARGET ? to->lengths->target : to->lengths->trained,
                  &to->text);
}

static void put_target(draft *to)
{
    pe_real_print(to->lengths->target, &to->text);
}

/* What answers the candidate's frequencies alone. */
static void put_query(draft *to)
{
    pe_values_query(&to->of->values, &to->text);
}

static const struct {
    const char *name;
    void (*put)(draft *to);
} places[] = {
    {"<type>", put_type},     {"<scaling>", put_scaling}, {"<base>", put_base},
    {"<length>", put_length}, {"<target>", put_target},   {"<query>", put_query},
};

static void put_text(draft *to)
{
    const char *at = to->program->text;
    while (*at != '\0') {
        const size_t plain = strcspn(at, "<");
        pe_buffer_add(&to->text, at, plain);
        at += plain;
        for (size_t p = 0; p < PE_LEN(places); p++)
            if (strncmp(at, places[p].name, strlen(places[p].name)) == 0) {
                places[p].put(to);
                at += strlen(places[p].name);
            }
    }
}

static pe_status add(draft *to, pe_plan *plan, pe_problem *why)
{
    pe_engine_setting setting = {
        .of = to->of->type->name, .program = to->program->name, .json = to->program->kind == JSON};
    if (to->row != NULL) {
        while (to->row->type != NULL && to->row->type != to->of->type)
            to->row++;
        to->note = to->row->note;
        setting.note = reason_against(to);
    }
    if (setting.note != NULL)
        return pe_plan_add_engine_setting(plan, &setting, why);
    put_text(to);
    setting.note = to->note;
    setting.text = to->text.failed ? NULL : strdup(pe_buffer_text(&to->text));
    pe_buffer_free(&to->text);
    return setting.text != NULL ? pe_plan_add_engine_setting(plan, &setting, why)
                                : pe_fail_memory(why);
}

/** The revisions are those of sources. With yarn llama.cpp multiplies by 1 + 0.1 ln(factor) itself,
 * as vLLM does; its --rope-scale N sets the frequency scale to 1/N. vLLM's --rope-scaling of older
 * versions has given way to --hf-overrides. */
pe_status pe_rope_engine_settings_add(const pe_rope_candidate *candidate,
                                      const pe_rope_lengths *lengths, pe_plan *plan,
                                      pe_problem *why)
{
    plan->engine_setting_sources = sources;
    plan->n_engine_setting_sources = PE_LEN(sources);
    pe_status status = PE_OK;
    for (size_t p = 0; p < PE_LEN(programs) && status == PE_OK; p++) {
        draft to = {
            .program = &programs[p], .row = programs[p].rows, .of = candidate, .lengths = lengths};
        status = add(&to, plan, why);
    }
    return status;
}
