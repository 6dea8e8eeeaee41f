/* SPDX-License-Identifier: MIT */
/* rope.c - rotary parameters from a configuration's keys and its rotary dictionary. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/rope_reading.h"

static const char class_default[] = "the default of this model type";

/* Names of types that stand for others. */
static const struct {
    const char *name, *means, *note;
} type_names[] = {
    {"su", "longrope", "the old name of longrope"},
    {"mrope", "default",
     "default frequencies; mrope_section says which position turns which pairs"},
    {"xdrope", "dynamic", "the frequencies of dynamic"},
    {"deepseek_yarn", "yarn", "the name that vLLM and SGLang give it"},
};

/* ---- rope_type ---- */

static void unknown_type(pe_rope_reading *r, const char *key, const char *name)
{
    pe_buffer known = {0};
    for (size_t t = 0; pe_rope_type_names[t] != NULL; t++)
        pe_buffer_format(&known, "%s, ", pe_rope_type_names[t]);
    for (size_t t = 0; t < PE_LEN(type_names); t++)
        pe_buffer_format(&known, t == 0 ? "%s" : ", %s", type_names[t].name);
    pe_reader_fail(r->reader, PE_INVALID_PARAMETER, pe_dictionary_place(r, key),
                   "%s must be one of %s; got \"%.40s\"", key, pe_buffer_text(&known), name);
    pe_buffer_free(&known);
}

/* Hunyuan's dynamic with alpha: the base grows by alpha, whatever the length. */
static const char *meaning_of(pe_rope_reading *r, const char *name, const char **note)
{
    if ((strcmp(name, "dynamic") == 0 || strcmp(name, "xdrope") == 0) &&
        json_number_value(pe_dictionary_member(r, "alpha")) != 0) {
        *note = "with alpha, the base grows by alpha^(d/(d-2)) whatever the length: ntk_alpha";
        return "ntk_alpha";
    }
    for (size_t t = 0; t < PE_LEN(type_names); t++)
        if (strcmp(type_names[t].name, name) == 0) {
            *note = type_names[t].note;
            return type_names[t].means;
        }
    return name;
}

static const char *type_key(pe_rope_reading *r)
{
    const json_t *new = pe_dictionary_member(r, "rope_type"),
                 *old = pe_dictionary_member(r, "type");
    if (new != NULL && old != NULL) {
        const bool same = json_equal((json_t *)(uintptr_t) new, (json_t *)(uintptr_t)old) != 0;
        pe_reader_report(r->reader, pe_dictionary_place(r, "type"), old, PE_MODEL_KEY_IGNORED, NULL,
                         "rope_type is read instead");
        if (!same)
            pe_reader_warn(r->reader, "rope_type and type differ in %s; rope_type is read",
                           r->dictionary.place);
    }
    return new != NULL ? "rope_type" : "type";
}

static void read_type(pe_rope_reading *r)
{
    const char *key = type_key(r), *note = NULL;
    const json_t *value = pe_dictionary_member(r, key);
    const char *name = json_string_value(value);
    r->type = &pe_rope_default;
    pe_reader_set_choice(&r->kind->values, "rope_type", r->type->name);
    if (value == NULL) {
        if (r->dictionary.object != NULL && pe_dictionary_member(r, "factor") != NULL)
            pe_reader_warn(r->reader,
                           "%s has a factor and no rope_type: frequencies are not scaled",
                           r->dictionary.place);
        return;
    }
    if (name == NULL) {
        pe_reader_fail(r->reader, PE_INVALID_PARAMETER, pe_dictionary_place(r, key),
                       "%s must be a string, got %s", key, pe_reader_type_text(value));
        return;
    }
    const char *means = meaning_of(r, name, &note);
    for (size_t t = 0; pe_rope_types[t] != NULL; t++)
        if (strcmp(pe_rope_types[t]->name, means) == 0) {
            r->type = pe_rope_types[t];
            pe_reader_set_choice(&r->kind->values, "rope_type", means);
            pe_reader_report(r->reader, pe_dictionary_place(r, key), value, PE_MODEL_KEY_USED,
                             "rope_type", note);
            return;
        }
    unknown_type(r, key, name);
}

/* ---- rope_theta ---- */

/* A base nested in the dictionary counts more than one beside it. */
static bool nested_theta(pe_rope_reading *r, double *out)
{
    const json_t *nested = pe_dictionary_member(r, "rope_theta");
    if (nested == NULL)
        return false;
    pe_dictionary_set_member(r, "rope_theta", "rope_theta", NULL);
    *out = json_number_value(nested);
    const json_t *beside = pe_reader_member(r->reader, "rope_theta");
    if (beside == NULL || r->local)
        return true;
    char note[320];
    snprintf(note, sizeof note, "%s is read instead", pe_dictionary_place(r, "rope_theta"));
    pe_reader_report(r->reader, "rope_theta", beside, PE_MODEL_KEY_IGNORED, NULL, note);
    if (json_number_value(beside) != *out)
        pe_reader_warn(r->reader, "rope_theta and %s differ; %s is read", r->place, r->place);
    return true;
}

static double fallback_theta(pe_rope_reading *r)
{
    const pe_model_type *type = r->reader->type;
    const double own = r->local ? type->local_theta : type->theta;
    const pe_fact fact = r->local ? PE_FACT_LOCAL_THETA : PE_FACT_THETA;
    if (own != 0) {
        pe_reader_default(r->reader, pe_reader_fact_name(fact), own, "rope_theta", class_default);
        return own;
    }
    pe_reader_default(r->reader, pe_reader_fact_name(fact), 10000, "rope_theta",
                      "the paper's default");
    pe_reader_warn(r->reader, "no rope_theta: 10000 is assumed");
    return 10000;
}

static void read_theta(pe_rope_reading *r)
{
    const char *where = "rope_theta";
    double theta = 0, ratio = 1;
    if (!nested_theta(r, &theta) &&
        !pe_reader_fact(r->reader, r->local ? PE_FACT_LOCAL_THETA : PE_FACT_THETA, &theta, &where))
        theta = fallback_theta(r);
    if (pe_reader_fact(r->reader, PE_FACT_THETA_RATIO, &ratio, &where))
        theta *= ratio;
    pe_dictionary_set_number(r, "rope_theta", where, theta);
}

/* ---- dimensions ---- */

static void ignore_fact(pe_reader *reader, pe_fact fact, const char *note)
{
    const json_t *value = pe_reader_member(reader, pe_reader_fact_name(fact));
    if (value != NULL)
        pe_reader_report(reader, pe_reader_fact_name(fact), value, PE_MODEL_KEY_IGNORED, NULL,
                         note);
}

static double divided_width(pe_reader *reader)
{
    double hidden = 0, heads = 0;
    if (!pe_reader_fact(reader, PE_FACT_HIDDEN, &hidden, NULL) ||
        !pe_reader_fact(reader, PE_FACT_HEADS, &heads, NULL))
        return 0;
    if (fmod(hidden, heads) != 0)
        pe_reader_warn(reader, "%.0f channels do not divide evenly among %.0f heads", hidden,
                       heads);
    return floor(hidden / heads);
}

/* head_dim is given; hidden_size / num_attention_heads is another number. */
static void ignore_width(pe_reader *reader, double head_dim)
{
    const json_t *hidden = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_HIDDEN));
    const json_t *heads = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_HEADS));
    if (json_number_value(hidden) == json_number_value(heads) * head_dim)
        return;
    ignore_fact(reader, PE_FACT_HIDDEN, "head_dim is given, and is not hidden_size / heads");
    ignore_fact(reader, PE_FACT_HEADS, "head_dim is given, and is not hidden_size / heads");
}

static double head_dim_of(pe_rope_reading *r, const char **where)
{
    double dim = 0;
    pe_reader *reader = r->reader;
    *where = pe_reader_fact_name(PE_FACT_HEAD_DIM);
    if (pe_reader_fact(reader, PE_FACT_ROPE_HEAD_DIM, &dim, where)) {
        ignore_fact(reader, PE_FACT_HEAD_DIM, "qk_rope_head_dim is what rotates");
        return dim;
    }
    const bool full = strcmp(r->kind->layer_type, "full_attention") == 0;
    if (full && pe_reader_fact(reader, PE_FACT_GLOBAL_HEAD_DIM, &dim, where))
        return dim;
    if (full && reader->type->full_head_dim != 0) {
        *where = pe_reader_fact_name(PE_FACT_GLOBAL_HEAD_DIM);
        pe_reader_default(reader, *where, reader->type->full_head_dim, "head_dim", class_default);
        return reader->type->full_head_dim;
    }
    if (pe_reader_fact(reader, PE_FACT_HEAD_DIM, &dim, where)) {
        ignore_width(reader, dim);
        return dim;
    }
    const int own = reader->type->head_dim;
    if (own == 0 && (dim = divided_width(reader)) > 0) {
        *where = "hidden_size";
        return dim;
    }
    dim = own != 0 ? own : reader->type->width;
    if (dim != 0)
        pe_reader_default(reader, "head_dim", dim, "head_dim", class_default);
    else
        pe_reader_fail(reader, PE_MISSING_PARAMETER, "head_dim",
                       "head_dim is missing, and so is hidden_size or num_attention_heads from "
                       "which it would follow");
    return dim;
}

/* The share of a head that rotates: nested, beside, or the class's own. */
static void read_share(pe_rope_reading *r, double head_dim)
{
    pe_reader *reader = r->reader;
    const char *where = pe_reader_fact_name(PE_FACT_PARTIAL);
    double share = 1, dim = 0;
    const json_t *nested = pe_dictionary_member(r, where);
    if (pe_reader_has(reader, PE_FACT_ROPE_HEAD_DIM)) {
        if (nested != NULL)
            pe_reader_report(reader, pe_dictionary_place(r, where), nested, PE_MODEL_KEY_IGNORED,
                             NULL, "qk_rope_head_dim is what rotates, all of it");
        return;
    }
    if (pe_reader_fact(reader, PE_FACT_ROTARY_DIM, &dim, &where)) {
        pe_dictionary_set_number(r, "rotary_dim", where, dim);
        ignore_fact(reader, PE_FACT_PARTIAL, "rotary_dim is read instead");
        return;
    }
    if (nested != NULL) {
        pe_dictionary_set_member(r, "partial_rotary_factor", "partial_rotary_factor", NULL);
        return;
    }
    if (pe_reader_fact(reader, PE_FACT_PARTIAL, &share, &where)) {
        pe_dictionary_set_number(r, "partial_rotary_factor", where, share);
    } else if (reader->type->partial != 0) {
        pe_reader_default(reader, where, reader->type->partial, "partial_rotary_factor",
                          class_default);
        pe_dictionary_set_number(r, "partial_rotary_factor", where, reader->type->partial);
    } else if (reader->type->rotary_dim != 0 && head_dim >= reader->type->rotary_dim) {
        pe_reader_default(reader, "rotary_dim", reader->type->rotary_dim, "rotary_dim",
                          class_default);
        pe_dictionary_set_number(r, "rotary_dim", "rotary_dim", reader->type->rotary_dim);
    }
}

static void read_dims(pe_rope_reading *r)
{
    const char *where;
    const double dim = head_dim_of(r, &where);
    if (r->reader->status != PE_OK)
        return;
    pe_dictionary_set_number(r, "head_dim", where, dim);
    read_share(r, dim);
}

static void read_pairing(pe_rope_reading *r)
{
    pe_reader *reader = r->reader;
    double interleave = reader->type->interleaved;
    const char *name = reader->type->interleaved ? "interleaved" : "half";
    if (!pe_reader_fact(reader, PE_FACT_INTERLEAVE, &interleave, NULL) &&
        reader->type->name == NULL)
        pe_reader_warn(reader, "which channels make a pair is not known for this model type: "
                               "pairing half is assumed, as most have it");
    else
        name = interleave != 0 ? "interleaved" : "half";
    pe_reader_set_choice(&r->kind->values, "pairing", name);
}

/* ---- lengths ---- */

/* original_max_position_embeddings beside the dictionary counts more than that in it; without
 * either, transformers takes max_position_embeddings. */
static void read_original(pe_rope_reading *r, double most)
{
    static const char key[] = "original_max_position_embeddings";
    const char *where = key;
    double original = 0;
    const json_t *nested = pe_dictionary_member(r, key);
    const bool beside = pe_reader_has(r->reader, PE_FACT_ORIGINAL);
    if (!pe_dictionary_reads(r, PE_ROPE_ORIGINAL)) {
        if (nested != NULL)
            pe_reader_report(r->reader, pe_dictionary_place(r, key), nested, PE_MODEL_KEY_IGNORED,
                             NULL, "this rope_type does not read it");
        ignore_fact(r->reader, PE_FACT_ORIGINAL, "this rope_type does not read it");
        return;
    }
    if (beside && pe_reader_fact(r->reader, PE_FACT_ORIGINAL, &original, &where)) {
        pe_dictionary_set_number(r, key, where, original);
        if (nested == NULL)
            return;
        pe_reader_report(r->reader, pe_dictionary_place(r, key), nested, PE_MODEL_KEY_IGNORED, NULL,
                         "original_max_position_embeddings beside it is read instead");
        if (json_number_value(nested) != original)
            pe_reader_warn(r->reader, "%s and %s differ; the latter is read", r->place, key);
    } else if (nested != NULL) {
        pe_dictionary_set_member(r, key, key, NULL);
    } else if (most != 0) {
        pe_reader_default(r->reader, pe_dictionary_place(r, key), most, key,
                          "max_position_embeddings stands for it");
        pe_dictionary_set_number(r, key, r->place, most);
        pe_reader_warn(r->reader,
                       "rope_type %s has no original_max_position_embeddings: "
                       "max_position_embeddings, %.0f, is taken for it",
                       r->type->name, most);
    }
}

static void read_lengths(pe_rope_reading *r)
{
    const char *where;
    double most = 0;
    if (pe_reader_fact(r->reader, PE_FACT_MAX_POSITIONS, &most, &where))
        pe_dictionary_set_number(r, "max_position_embeddings", where, most);
    read_original(r, most);
    /* As loaded: short_factor, until a sequence is longer. */
    const pe_value *original = pe_values_find(&r->kind->values, "original_max_position_embeddings");
    if (pe_dictionary_reads(r, PE_ROPE_LONG_FACTOR) && original->present) {
        pe_dictionary_set_number(r, "seq_len", "seq_len", (double)original->integer);
        pe_reader_warn(r->reader,
                       "frequencies depend on seq_len: short_factor up to %lld tokens, as given "
                       "here, long_factor beyond",
                       (long long)original->integer);
    }
}

/* ---- all of it against
 * each other --------------------------------------------------------------- */

/* A copy whose values count as given where those of the model do. */
static pe_status copy_values(const pe_values *from, pe_values *out, pe_problem *why)
{
    const pe_status status = pe_values_copy(from, out, why);
    for (size_t i = 0; i < from->n && status == PE_OK; i++)
        out->value[i].given = from->value[i].given;
    return status;
}

/* The place of the key that became a parameter, or where it would stand. */
static void place_of_parameter(pe_rope_reading *r, const char *parameter, char *out, size_t room)
{
    const pe_model *model = r->reader->model;
    for (size_t k = model->n_keys; k-- > 0;) {
        const pe_model_key *key = &model->keys[k];
        if (key->status != PE_MODEL_KEY_IGNORED && key->parameter != NULL &&
            strcmp(key->parameter, parameter) == 0) {
            snprintf(out, room, "%s", key->pointer + strlen("#/") + strlen(r->reader->path));
            return;
        }
    }
    snprintf(out, room, "%s", pe_dictionary_place(r, parameter));
}

static void take_derived(pe_rope_reading *r, const pe_values *checked)
{
    static const char *const derived[] = {"rotary_dim", "partial_rotary_factor"};
    for (size_t d = 0; d < PE_LEN(derived); d++) {
        pe_value *to = pe_values_find(&r->kind->values, derived[d]);
        *to = *pe_values_find(checked, derived[d]);
        to->given = true;
    }
}

/* The factor and the lengths of yarn say the same twice. */
static void check_lengths(pe_rope_reading *r)
{
    const pe_values *values = &r->kind->values;
    if (r->reader->status != PE_OK || strcmp(r->type->name, "yarn") != 0 ||
        !pe_values_present(values, "max_position_embeddings"))
        return;
    const double ratio = (double)pe_values_int(values, "max_position_embeddings") /
                         (double)pe_values_int(values, "original_max_position_embeddings");
    const double factor = pe_values_real(values, "factor");
    if (ratio != 1 && ratio != factor)
        pe_reader_warn(r->reader,
                       "factor is %.17g, but max_position_embeddings / "
                       "original_max_position_embeddings is %.17g; factor is what counts",
                       factor, ratio);
}

static void fail_check(pe_rope_reading *r, pe_status status, const pe_problem *why)
{
    char where[288];
    if (status == PE_INTERNAL) {
        pe_reader_fail_memory(r->reader);
        return;
    }
    place_of_parameter(r, why->where, where, sizeof where);
    const bool meant = r->stray_near != NULL && strcmp(r->stray_near, why->where) == 0;
    pe_reader_fail(r->reader, status, where, "%s%s%s%s", why->detail, meant ? "; " : "",
                   meant ? r->stray : "", meant ? " is not known: is it meant?" : "");
}

/* The values as a resource would read them. */
static pe_status check_values(pe_rope_reading *r, pe_problem *why)
{
    pe_values values = {0};
    pe_rope checked = {0};
    pe_status status = copy_values(&r->kind->values, &values, why);
    if (status == PE_OK)
        status = pe_values_defaults(&values, why);
    if (status == PE_OK)
        status = pe_rope_read(&values, NULL, &checked, why);
    if (status == PE_OK)
        take_derived(r, &values);
    pe_rope_free(&checked);
    pe_values_free(&values);
    return status;
}

/* Sections that cannot be leave a rotation of one axis, which is what text has. */
static bool drop_sections(pe_rope_reading *r, const pe_problem *why)
{
    static const char *const names[] = {"mrope_section", "mrope_interleaved", "mrope_layout"};
    bool any = false;
    for (size_t i = 0; i < PE_LEN(names); i++)
        any |= strcmp(names[i], why->where) == 0;
    for (size_t i = 0; any && i < PE_LEN(names); i++) {
        pe_reader_unset(&r->kind->values, names[i]);
        pe_reader_ignore(r->reader, names[i], why->detail);
    }
    if (any)
        pe_reader_warn(r->reader, "%s: sections are left out, and all pairs turn by one axis",
                       why->detail);
    return any;
}

static void check(pe_rope_reading *r)
{
    pe_problem why = {0};
    if (r->reader->status != PE_OK)
        return;
    pe_status status = check_values(r, &why);
    if (status == PE_INVALID_PARAMETER && drop_sections(r, &why))
        status = check_values(r, &why);
    if (status != PE_OK)
        fail_check(r, status, &why);
}

void pe_rope_resolve(pe_reader *reader, const pe_rope_dictionary *dictionary, pe_model_layers *kind)
{
    pe_rope_reading r = {.reader = reader, .kind = kind, .dictionary = *dictionary};
    const bool sliding = strcmp(kind->layer_type, "sliding_attention") == 0;
    if (dictionary->object != NULL && pe_dictionary_by_type(dictionary->object)) {
        pe_dictionary_choose(reader, dictionary, kind->layer_type, &r.dictionary);
        r.local = sliding && reader->type->local_theta != 0;
    } else if (sliding &&
               (reader->type->local_theta != 0 || pe_reader_has(reader, PE_FACT_LOCAL_THETA))) {
        r.local = true;
        r.dictionary = (pe_rope_dictionary){0};
    } else if (sliding && reader->type->plain_local) {
        r.dictionary = (pe_rope_dictionary){0};
    }
    if (reader->status == PE_OK)
        read_type(&r);
    if (reader->status == PE_OK)
        read_theta(&r);
    if (reader->status == PE_OK)
        read_dims(&r);
    if (reader->status == PE_OK)
        read_pairing(&r);
    if (reader->status == PE_OK)
        read_lengths(&r);
    if (reader->status == PE_OK)
        pe_dictionary_read_keys(&r);
    if (reader->status == PE_OK && reader->type->mrope_layout != NULL &&
        pe_dictionary_member(&r, "mrope_section") != NULL)
        pe_reader_set_choice(&kind->values, "mrope_layout", reader->type->mrope_layout);
    if (reader->status == PE_OK)
        pe_dictionary_read_defaults(&r);
    check(&r);
    check_lengths(&r);
}
