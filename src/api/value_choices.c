/* SPDX-License-Identifier: MIT */
/* value_choices.c - names that a row offers: one of them, or several. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/value_reading.h"
#include "base/nearest.h"
#include "files/tree.h"

/* How many choices there are, and which of them the text is: as many when none. */
static size_t count(const char *const *choices)
{
    size_t n = 0;
    while (choices[n] != NULL)
        n++;
    return n;
}

static size_t find(const char *const *choices, pe_slice text)
{
    size_t i = 0;
    while (choices[i] != NULL && !pe_slice_is(text, choices[i]))
        i++;
    return i;
}

/* What others call a choice, and what it is called here; the first of a name's rows whose choice a
 * parameter offers. */
static const struct {
    const char *name, *meant;
} synonyms[] = {
    {"fp64", "float64"},
    {"f64", "float64"},
    {"double", "float64"},
    {"fp32", "float32"},
    {"f32", "float32"},
    {"float", "float32"},
    {"single", "float32"},
    {"fp16", "float16"},
    {"f16", "float16"},
    {"half", "float16"},
    {"bf16", "bfloat16"},
    {"int64", "int32"},
    {"long", "int32"},
    {"int", "int32"},
    {"neox", "half"},
    {"rotate_half", "half"},
    {"split", "half"},
    {"llama", "half"},
    {"hf", "half"},
    {"gptj", "interleaved"},
    {"gpt-j", "interleaved"},
    {"rotate_every_two", "interleaved"},
    {"adjacent", "interleaved"},
    {"normal", "interleaved"},
    {"su", "longrope"},
    {"ntk-aware", "ntk"},
    {"dynamic_ntk", "dynamic"},
    {"dynamic-ntk", "dynamic"},
    {"llama3.1", "llama3"},
    {"llama", "llama3"},
    {"none", "default"},
    {"mrope", "default"},
    {"position_interpolation", "linear"},
    {"pi", "linear"},
    {"deepseek_yarn", "yarn"},
    {"huggingface", "hf"},
    {"transformers", "hf"},
    {"tensorrt", "trtllm"},
    {"tensorrt-llm", "trtllm"},
    {"onnxruntime", "onnx"},
    {"complex", "meta"},
    {"alternating", "interleaved"},
    {"alternate", "interleaved"},
    {"sin_first", "sin_cos"},
    {"cos_first", "cos_sin"},
    {"concat", "sin_cos"},
    {"concatenated", "sin_cos"},
    {"half", "sin_cos"},
    {"split", "sin_cos"},
    {"cat", "concat"},
    {"concatenate", "concat"},
    {"sum", "add"},
    {"paper", "interleaved"},
    {"tensor2tensor", "sin_cos"},
    {"bloom", "press"},
    {"lower", "causal"},
    {"tril", "causal"},
    {"full", "symmetric"},
    {"rotary", "rope"},
    {"sin", "sinusoidal"},
    {"absolute", "sinusoidal"},
    {"numpy", "exact"},
    {"fast", "float32"},
    {"torch", "float32"},
    {"cubic", "bicubic"},
    {"linear", "bilinear"},
    {"sum", "add"},
};

/* Synonyms of types have one meaning, and are taken. A module before the name, as in torch.float16,
 * does not matter. Returns the type's choice, and *name a constant that stands for the synonym;
 * NULL: it is none. */
static const char *taken(const pe_param *param, const char *row, pe_slice text, const char **name)
{
    static const char module[] = "torch.";
    const size_t before = strlen(module);
    const bool has_module = text.bytes > before && memcmp(text.text, module, before) == 0;
    const pe_slice plain = has_module ? (pe_slice){text.text + before, text.bytes - before} : text;
    if (strcmp(row, "dtype") != 0)
        return NULL;
    for (size_t i = 0; has_module && param->choices[i] != NULL; i++)
        if (pe_slice_is(plain, param->choices[i])) {
            *name = "the name of a torch type";
            return param->choices[i];
        }
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        const size_t choice = find(param->choices, pe_slice_of(synonyms[s].meant));
        if (pe_slice_is(plain, synonyms[s].name) && param->choices[choice] != NULL) {
            *name = synonyms[s].name;
            return param->choices[choice];
        }
    }
    return NULL;
}

/* The choice that others call so, in any case; else the nearest one. A module before the name, as
 * in torch.float16, does not matter. */
static const char *meant(const pe_param *param, pe_slice text)
{
    char name[PE_SHOWN_MAX + 1];
    snprintf(name, sizeof name, "%.*s", PE_SHOWN(text));
    const char *dot = strrchr(name, '.'), *plain = dot != NULL ? dot + 1 : name;
    for (size_t i = 0; param->choices[i] != NULL; i++)
        if (strcasecmp(param->choices[i], plain) == 0)
            return param->choices[i];
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        const size_t choice = find(param->choices, pe_slice_of(synonyms[s].meant));
        if (strcasecmp(synonyms[s].name, plain) == 0 && param->choices[choice] != NULL)
            return param->choices[choice];
    }
    return pe_nearest_name(plain, param->choices, count(param->choices));
}

static pe_status fail_unknown(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    const char *const *choices = to->param->choices;
    const bool several = to->param->kind == PE_KIND_CHOICES;
    const char *near = meant(to->param, text);
    pe_buffer list = {0};
    for (size_t i = 0; choices[i] != NULL; i++)
        pe_buffer_format(&list, i == 0 ? "%s" : ", %s", choices[i]);
    const pe_status status = pe_fail(
        why, PE_INVALID_PARAMETER, to->place, "%s%s must be one of %s; got \"%.*s\"%s%s%s",
        several ? "each of " : "", to->param->name, pe_buffer_text(&list), PE_SHOWN(text),
        near != NULL ? ", did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    pe_buffer_free(&list);
    return status;
}

static pe_status read_one(const pe_value_reading *to, pe_slice text, size_t *out, pe_problem *why)
{
    if (text.bytes == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, to->place, "%s %s", to->param->name,
                       to->param->kind == PE_KIND_CHOICES ? "must not hold an empty name"
                                                          : "must not be empty");
    const char *of_others =
        taken(to->param, to->value->param->name, text, &to->value->choice_alias);
    *out = find(to->param->choices, of_others != NULL ? pe_slice_of(of_others) : text);
    return to->param->choices[*out] == NULL ? fail_unknown(to, text, why) : PE_OK;
}

pe_status pe_value_choice_text_parse(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    return read_one(to, text, &to->value->choice, why);
}

static pe_status add(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    pe_value *value = to->value;
    size_t pick;
    const pe_status status = read_one(to, text, &pick, why);
    if (status != PE_OK)
        return status;
    for (size_t i = 0; i < value->n_picks; i++)
        if (value->picks[i] == pick)
            return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s names %s more than once",
                           to->param->name, to->param->choices[pick]);
    value->picks[value->n_picks++] = (unsigned char)pick;
    return PE_OK;
}

pe_status pe_value_choices_text_parse(const pe_value_reading *to, pe_slice text, pe_problem *why)
{
    const size_t names = pe_slice_pieces(text, ',');
    pe_status status = PE_OK;
    to->value->n_picks = 0;
    for (size_t i = 0; i < names && status == PE_OK; i++)
        status = add(to, pe_slice_next(&text, ','), why);
    return status;
}

static pe_status add_items(const pe_value_reading *to, const json_t *list, pe_problem *why)
{
    if (json_array_size(list) == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, to->place, "%s must not be empty",
                       to->param->name);
    to->value->n_picks = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_array_get(list, i);
        if (!json_is_string(name))
            return pe_fail(why, PE_INVALID_PARAMETER, to->place,
                           "item %zu of %s must be a string, one of its names", i, to->param->name);
        const pe_slice text = {json_string_value(name), json_string_length(name)};
        const pe_status status = add(to, text, why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}

pe_status pe_value_choices_json_parse(const pe_value_reading *to, pe_slice json, pe_problem *why)
{
    json_t *list = NULL;
    pe_status status =
        pe_tree_load(json, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, to->place, &list, why);
    if (status != PE_OK)
        return status;
    status = add_items(to, list, why);
    json_decref(list);
    return status;
}
