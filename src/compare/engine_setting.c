/* SPDX-License-Identifier: MIT */
/* engine_setting.c - what engines are told to rotate as a rope type does: config/engines.json. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "compare/compare.h"
#include "encodings/rope/rope.h"
#include "exact/round.h"
#include "files/tree.h"
#include "plan/real.h"

/* The file's text, from catalogue_data.S. */
extern const char pe_engines_text[];

/* One setting while it is written. */
typedef struct draft {
    const pe_rope_candidate *of;
    const pe_rope_lengths *lengths;
    const pe_compared_model *own;
    const json_t *row;
    const char *lack;
    json_t *patch;  /* owned */
    pe_buffer text; /* owned */
} draft;

#define BIT(key) PE_ROPE_BIT(PE_ROPE_##key)

/* ---- numbers ---- */

static void ratio_eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const pe_rope_formula *formula = context;
    pe_rope_formula plain = *formula;
    mpfr_t under;
    plain.given &= ~(uint64_t)(BIT(ATTENTION_FACTOR) | BIT(ATTN_FACTOR));
    plain.key[PE_ROPE_MSCALE] = 0;
    mpfr_init2(under, mpfr_get_prec(out));
    formula->type->amplitude(formula, out);
    formula->type->amplitude(&plain, under);
    mpfr_div(out, out, under, MPFR_RNDN);
    mpfr_clear(under);
}

/* What engines have to multiply by that compute yarn's 1 + ln(factor) / 10 themselves. */
static double attention_ratio(const draft *d)
{
    return pe_exact_round(PE_FLOAT64, ratio_eval, d->of->rope.formula, 0);
}

/* theta_i = (rope_theta factor)^(-2i/d) / s: 1/s is the frequency of pair 0, which
 * no base moves. */
static void stretch_eval(const void *context, size_t index, mpfr_ptr out)
{
    const pe_wave *wave = context;
    pe_wave_theta(wave, index, out);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static bool has_attention(const pe_rope_formula *formula)
{
    return pe_rope_has(formula, PE_ROPE_ATTENTION_FACTOR) ||
           pe_rope_has(formula, PE_ROPE_ATTN_FACTOR);
}

/* The number of a name, where it has to be said. */
static bool find_number(const draft *d, const char *name, double *out)
{
    const pe_rope_formula *formula = d->of->rope.formula;
    const struct {
        const char *name;
        double value;
        bool said;
    } numbers[] = {{"attention_factor", d->of->attention_factor, has_attention(formula)},
                   {"attention", d->of->attention_factor, true},
                   {"base", d->of->base, true},
                   {"target_length", d->lengths->target, true},
                   {"trained_length", d->lengths->trained, true}};
    for (size_t n = 0; n < PE_LEN(numbers); n++)
        if (strcmp(numbers[n].name, name) == 0) {
            *out = numbers[n].value;
            return numbers[n].said;
        }
    if (strcmp(name, "stretch") == 0) {
        *out = pe_exact_round(PE_FLOAT64, stretch_eval, d->of->wave.wave, 0);
        return true;
    }
    if (strcmp(name, "attention_left") == 0) {
        /* Without its ramp llama.cpp computes no attention factor. */
        const bool ramp = formula->key[PE_ROPE_EXTRAPOLATION_FACTOR] != 0;
        *out = ramp ? attention_ratio(d) : d->of->attention_factor;
        return *out != 1;
    }
    const pe_rope_key key = pe_rope_key_find(name);
    if (key == PE_ROPE_KEYS)
        return false;
    /* A key that is absent or has its type's default need not be said. */
    bool said = pe_rope_has(formula, key);
    for (size_t i = formula->type->n_defaults; i-- > 0;)
        if (formula->type->defaults[i].key == key)
            said = formula->type->defaults[i].value != formula->key[key];
    if (said)
        *out = formula->key[key];
    return said;
}

/* ---- conditions ---- */

/* Do the layers of DeepSeek-V4 by this label have parameters of their own? */
static bool has_label(const draft *d, const char *label)
{
    const char *place = d->own->layers != NULL ? d->own->layers->scaling : NULL;
    const char *last = place != NULL ? strrchr(place, '/') : NULL;
    return last != NULL && strcmp(last + 1, label) == 0;
}

/* The text of the first condition that holds; NULL: none does. */
static const char *first_holding(const draft *d, const json_t *texts)
{
    const char *name;
    json_t *text;
    const pe_rope_formula *formula = d->of->rope.formula;
    const pe_rope_type *own = d->own->type;
    const double extrapolated = formula->key[PE_ROPE_EXTRAPOLATION_FACTOR];
    const bool untruncated = formula->key[PE_ROPE_TRUNCATE] == 0;
    const bool published = strcmp(d->of->name, "published") == 0;
    if (texts == NULL)
        return NULL;
    const struct {
        const char *name;
        bool holds;
    } conditions[] = {
        {"", true},
        {"extrapolated", extrapolated != 1},
        {"untruncated", untruncated},
        {"crossed", formula->low > formula->high},
        {"attended", d->of->type == &pe_rope_yarn && extrapolated != 0 && attention_ratio(d) != 1},
        /* Conversion to GGUF writes the model's own scaling into a tensor. */
        {"divided", !published && (own == &pe_rope_llama3 || own == &pe_rope_longrope ||
                                   own == &pe_rope_proportional)},
        {"sectioned",
         d->own->layers != NULL && pe_values_present(&d->own->layers->values, "mrope_section")},
        {"unread_if_latent",
         d->own->latent && !has_label(d, "compress") && (has_attention(formula) || untruncated)},
        /* vLLM scales layers of one label by one type, whose attention factor is 1. */
        {"fixed", !published && (has_label(d, "main") ||
                                 (has_label(d, "compress") && d->of->type != &pe_rope_yarn))},
    };
    json_object_foreach((json_t *)(uintptr_t)texts, name, text)
    {
        for (size_t c = 0; c < PE_LEN(conditions); c++)
            if (conditions[c].holds && strcmp(conditions[c].name, name) == 0)
                return json_string_value(text);
    }
    return NULL;
}

/* ---- dictionaries ---- */

/* A template's value, with its number in the place of its name; NULL: it need not be said. */
static json_t *filled(const draft *d, const json_t *template)
{
    char name[64] = "";
    double number;
    const char *text = json_string_value(template);
    if (text == NULL || sscanf(text, "<%63[a-z_]>", name) != 1)
        return json_incref((json_t *)(uintptr_t) template);
    const pe_value *list = pe_values_find(&d->of->values, name);
    if (list != NULL && list->param->kind == PE_KIND_REAL_LIST) {
        json_t *out = json_array();
        for (size_t i = 0; i < list->list_length; i++)
            json_array_append_new(out, json_real(list->list[i]));
        return out;
    }
    if (!find_number(d, name, &number))
        return NULL;
    if (strcmp(name, "truncate") == 0)
        return json_boolean(number != 0);
    if (strstr(name, "_length") != NULL || strcmp(name, pe_rope_key_name(PE_ROPE_ORIGINAL)) == 0)
        return json_integer((json_int_t)number);
    return json_real(number);
}

/* The dictionary of a type, with the base and the share of channels. NULL: the row has none. */
static json_t *parameters_of(const draft *d)
{
    const json_t *template = json_object_get(d->row, "parameters");
    const pe_rope *rope = &d->of->rope;
    const char *name;
    json_t *value;
    if (template == NULL)
        return NULL;
    json_t *out = json_object();
    json_object_foreach((json_t *)(uintptr_t) template, name, value)
    {
        json_t *written = filled(d, value);
        if (written != NULL)
            json_object_set_new(out, name, written);
    }
    if (json_object_get(out, "rope_theta") == NULL)
        json_object_set_new(out, "rope_theta", json_real(rope->formula->theta));
    if (rope->rotary_dim != rope->head_dim)
        json_object_set_new(out, "partial_rotary_factor",
                            json_real(pe_values_real(&d->of->values, "partial_rotary_factor")));
    return out;
}

/* ---- texts ---- */

/* Put what a name in a text stands for. Need it be said? */
static bool put_named(draft *d, const char *name, pe_buffer *out)
{
    double number;
    if (strcmp(name, "query") == 0) {
        pe_values_query(&d->of->values, out);
        return true;
    }
    if (strcmp(name, "patch") == 0) {
        pe_config_patch_print(d->patch, out);
        return json_object_size(d->patch) != 0;
    }
    if (!find_number(d, name, &number))
        return false;
    pe_real_print(number, out);
    return true;
}

static void put_text(draft *d, const char *at)
{
    pe_buffer *out = &d->text;
    size_t open = 0;
    bool written = true;
    for (; *at != '\0'; at++) {
        char name[64];
        if (*at == '[') {
            open = out->bytes;
            written = true;
        } else if (*at == ']') {
            out->bytes = written ? out->bytes : open;
        } else if (*at == '<' && sscanf(at, "<%63[a-z_]>", name) == 1) {
            written &= put_named(d, name, out);
            at = strchr(at, '>');
        } else {
            pe_buffer_add(out, at, 1);
        }
    }
}

/* ---- which layers ---- */

/* The names of the layers whose scaling stands where that of these does. */
static const char *layers_of(pe_engines *engines, const pe_compared_model *own)
{
    const char *place = own->model != NULL ? own->layers->scaling : NULL;
    if (place == NULL)
        return NULL;
    const json_t *known = json_object_get(engines->layers, place);
    if (known != NULL)
        return json_string_value(known);
    pe_buffer names = {0};
    for (size_t k = 0; k < own->model->n_kinds; k++) {
        const pe_model_layers *kind = &own->model->kinds[k];
        if (kind->scaling == NULL || strcmp(kind->scaling, place) != 0)
            continue;
        pe_buffer_str(&names, names.bytes == 0 ? "[" : ",");
        pe_buffer_json_string(&names, kind->layer_type);
    }
    pe_buffer_str(&names, "]");
    json_object_set_new(engines->layers, place, json_string(pe_buffer_text(&names)));
    pe_buffer_free(&names);
    return json_string_value(json_object_get(engines->layers, place));
}

/* ---- settings ---- */

/* The text of a program that has one, else that of the type's row; without either, the patch. */
static void write_setting(draft *d, const char *name, const json_t *program, pe_engine_setting *out)
{
    const char *text = json_string_value(json_object_get(d->row, "text"));
    d->lack = first_holding(d, json_object_get(d->row, "unless"));
    if (d->lack == NULL)
        d->lack = first_holding(d, json_object_get(program, "unless"));
    if (d->lack == NULL && text == NULL && d->row != NULL) {
        const pe_patch_kind kind = strcmp(name, "vllm") == 0              ? PE_PATCH_VLLM
                                   : strcmp(name, "transformers_v4") == 0 ? PE_PATCH_V4
                                                                          : PE_PATCH_V5;
        const json_t *template = json_object_get(d->row, "length");
        json_t *length = template != NULL ? filled(d, template) : NULL;
        json_t *parameters = parameters_of(d);
        d->patch = pe_config_patch_make(d->own, kind, length, parameters, &d->lack);
        json_decref(length);
        json_decref(parameters);
    }
    if (text == NULL)
        text = json_string_value(json_object_get(program, "text"));
    out->json = text == NULL;
    out->note = d->lack;
    if (d->lack != NULL)
        return;
    if (text != NULL)
        put_text(d, text);
    else
        pe_config_patch_print(d->patch, &d->text);
    const json_t *note = json_object_get(d->row, "note");
    out->note =
        note != NULL ? json_string_value(note) : first_holding(d, json_object_get(d->row, "notes"));
    out->text = d->text.failed ? NULL : strdup(pe_buffer_text(&d->text));
}

pe_status pe_engines_tell(pe_engines *engines, const pe_rope_candidate *candidate,
                          const pe_rope_lengths *lengths, const pe_compared_model *own,
                          pe_plan *plan, pe_problem *why)
{
    const char *name;
    json_t *program;
    const char *layers = layers_of(engines, own);
    json_object_foreach(json_object_get(engines->tree, "programs"), name, program)
    {
        draft d = {.of = candidate, .lengths = lengths, .own = own};
        pe_engine_setting setting = {.of = candidate->name, .program = name};
        const char *settings = json_string_value(json_object_get(program, "settings"));
        const json_t *rows = json_object_get(engines->tree, settings);
        d.row = json_object_get(rows, candidate->name);
        if (d.row == NULL)
            d.row = json_object_get(rows, "others");
        write_setting(&d, name, program, &setting);
        if (setting.text != NULL && d.row != NULL && strcmp(candidate->name, "published") != 0)
            setting.layers = layers;
        json_decref(d.patch);
        pe_buffer_free(&d.text);
        if (setting.text == NULL && setting.note == NULL)
            return pe_fail_memory(why);
        PE_TRY(pe_plan_add_engine_setting(plan, &setting, why));
    }
    plan->engine_setting_sources = engines->source;
    plan->n_engine_setting_sources = engines->n_sources;
    return PE_OK;
}

pe_status pe_engines_read(pe_engines *out, pe_problem *why)
{
    const char *name;
    json_t *program;
    const pe_slice text = {pe_engines_text, strlen(pe_engines_text)};
    if (pe_tree_load(text, 0, "", &out->tree, why) != PE_OK)
        return pe_fail_memory(why); /* it is valid */
    out->layers = json_object();
    json_object_foreach(json_object_get(out->tree, "programs"), name, program)
    {
        const char *source = json_string_value(json_object_get(program, "source"));
        if (source != NULL && out->n_sources < PE_ENGINES_MAX)
            out->source[out->n_sources++] = (pe_engine_setting_source){name, source};
    }
    return PE_OK;
}

void pe_engines_free(pe_engines *engines)
{
    json_decref(engines->tree);
    json_decref(engines->layers);
}
