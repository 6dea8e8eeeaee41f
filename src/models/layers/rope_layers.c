/* SPDX-License-Identifier: MIT */
/* rope_layers.c - rotary parameters from a configuration's keys and its rotary dictionary. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/layers.h"

/* What the dictionary calls this kind of layers; NULL: as transformers does. */
static const char *label_of(const pe_rope_reading *r)
{
    const json_t *labels = json_object_get(r->reader->type, "labels");
    const json_t *own = json_object_get(labels, r->kind->layer_type);
    return json_string_value(own != NULL ? own : json_object_get(labels, "*"));
}

/* Is scaling for other types of layers alone (Step)? */
static bool is_left_unscaled(pe_rope_reading *r)
{
    static const char key[] = "yarn_only_types";
    const json_t *types = pe_reader_member(r->reader, key);
    pe_reader_used(r->reader, key, types, NULL, "types of layers that are scaled");
    return json_is_array(types) && !pe_type_lists(types, r->kind->layer_type);
}

/* Do layers of sliding attention have a base of their own? */
static bool has_local_theta(const pe_rope_reading *r)
{
    return pe_type_number(r->reader->type, "rope_local_base_freq") != 0 ||
           pe_reader_has_fact(r->reader, PE_FACT_LOCAL_THETA);
}

/* Say where the parameters of these layers stand, or would stand. */
static void tell_scaling(pe_rope_reading *r, bool sliding)
{
    const pe_reader *reader = r->reader;
    const char *only = pe_type_text(reader->type, "dictionary");
    const char *label = label_of(r);
    const bool own_base =
        sliding && has_local_theta(r) && !pe_type_is(reader->type, "scaled_local");
    const bool listed =
        r->dictionary.object != NULL && pe_dictionary_is_by_type(reader, r->dictionary.object);
    pe_buffer place = {0};
    if (only != NULL && only[0] == '\0')
        return;
    r->kind->shared_scaling = !listed && label == NULL && !own_base &&
                              !(sliding && pe_type_is(reader->type, "unscaled_local")) &&
                              !is_left_unscaled(r);
    pe_buffer_format(&place, "%s%s", reader->path, only != NULL ? only : "rope_parameters");
    if (pe_type_is(reader->type, "yarn_is_longrope"))
        r->kind->taken_type = pe_rope_yarn.name;
    if (listed || r->by_type || label != NULL)
        pe_buffer_format(&place, "/%s", label != NULL ? label : r->kind->layer_type);
    char *text = pe_buffer_take(&place);
    if (text == NULL)
        pe_reader_fail_memory(r->reader);
    if (listed || r->by_type || label != NULL || r->kind->shared_scaling)
        r->kind->scaling = text;
    else
        free(text);
}

/* Choose the dictionary of the layers. Those of sliding attention may have a base of their own, or
 * no scaling. */
static void choose_dictionary(pe_rope_reading *r)
{
    pe_reader *reader = r->reader;
    const bool sliding = strcmp(r->kind->layer_type, "sliding_attention") == 0;
    r->by_type = pe_type_is(reader->type, "by_type") || pe_type_is(reader->type, "theta_alone");
    tell_scaling(r, sliding);
    const char *label = label_of(r);
    if (label != NULL) {
        /* The dictionary names kinds of layers by labels of its own. One that names none is of the
         * layers that are not main's, which have a base of their own, and no attention factor.
         *
         * Source  DeepseekV4Config.__post_init__ of huggingface/transformers 5.23.0. */
        const pe_dictionary all = r->dictionary;
        const bool main = strcmp(label, "main") == 0;
        r->by_type = true;
        if (all.object != NULL && pe_dictionary_is_by_type(reader, all.object)) {
            pe_dictionary_choose(reader, &all, label, &r->dictionary);
            return;
        }
        r->compressed = r->local = !main;
        if (main)
            r->dictionary = (pe_dictionary){0};
        return;
    }
    if (r->dictionary.object != NULL && pe_dictionary_is_by_type(reader, r->dictionary.object)) {
        const pe_dictionary all = r->dictionary;
        pe_dictionary_choose(reader, &all, r->kind->layer_type, &r->dictionary);
        r->by_type = true;
        r->local = sliding && pe_type_number(reader->type, "rope_local_base_freq") != 0 &&
                   !pe_type_is(reader->type, "theta_alone");
        return;
    }
    if (pe_type_is(reader->type, "by_type") &&
        strcmp(r->dictionary.place, "rope_parameters/") == 0 &&
        r->dictionary.object != reader->dictionary) {
        pe_reader_ignored(reader, "rope_parameters", r->dictionary.object,
                          "ignored by transformers: it has no member for a type of layers");
        pe_reader_warn(reader,
                       "rope_parameters of model type %s has one member for each type of layers: "
                       "transformers ignores parameters of all layers there, and takes the "
                       "defaults of the class",
                       reader->type_name);
        r->dictionary = (pe_dictionary){0};
    }
    /* Does the base of sliding layers not count, since there are parameters of all layers? */
    const bool alone = pe_type_is(reader->type, "theta_alone");
    const bool shared =
        alone && (r->dictionary.object != NULL ||
                  json_is_object(json_object_get(reader->config, "rope_parameters")));
    r->local = sliding && !shared && has_local_theta(r);
    if (alone && !r->local)
        pe_reader_ignore(reader, "swa_rope_theta", "the dictionary's is that of all layers");
    if ((r->local && !pe_type_is(reader->type, "scaled_local")) ||
        (sliding && pe_type_is(reader->type, "unscaled_local")) || is_left_unscaled(r))
        r->dictionary = (pe_dictionary){0};
}

/* ---- base, pairing ---- */

/* Is there a base in the dictionary? It takes precedence over one beside the dictionary. */
static bool has_nested_theta(pe_rope_reading *r, double *out)
{
    const json_t *nested = pe_dictionary_member(r, "rope_theta");
    const char *key = r->local ? pe_reader_fact_name(PE_FACT_LOCAL_THETA) : "rope_theta";
    const json_t *beside = pe_reader_member(r->reader, key);
    const bool over =
        beside != NULL && pe_type_is(r->reader->type, "theta_over") &&
        json_object_get(r->reader->dictionary, r->kind->layer_type) == r->dictionary.object;
    if (nested == NULL || r->compressed || over)
        return false;
    char note[320];
    snprintf(note, sizeof note, "%s is read instead", pe_dictionary_place(r, "rope_theta"));
    pe_dictionary_set_over(r, "rope_theta", key, note);
    *out = json_number_value(nested);
    return true;
}

static void read_theta(pe_rope_reading *r)
{
    pe_reader *reader = r->reader;
    const char *where = "rope_theta", *list_key;
    const pe_fact fact = r->local ? PE_FACT_LOCAL_THETA : PE_FACT_THETA;
    /* Where each layer has its own, these layers share it (layer_kinds.c). */
    const json_t *list = pe_kinds_thetas(reader, &list_key);
    if (list != NULL && r->kind->n != 0) {
        pe_reader_ignore(reader, where, "layer_rope_theta has the base of each layer");
        pe_dictionary_set_number(r, "rope_theta", list_key,
                                 json_number_value(json_array_get(list, r->kind->index[0])));
        return;
    }
    /* GPT-NeoX and ModernBERT have the base under a name of their own, and do not read rope_theta. */
    const char *own = r->local ? NULL : pe_type_text(reader->type, "theta_key");
    double theta = 0, ratio = 1;
    if (!has_nested_theta(r, &theta) &&
        !(own != NULL ? pe_reader_finds_key(reader, fact, own, &theta, &where)
                      : pe_reader_finds_fact(reader, fact, &theta, &where)) &&
        !pe_reader_finds_default(reader, fact, &theta, NULL)) {
        theta = 10000;
        pe_reader_default(reader, own != NULL ? own : pe_reader_fact_name(fact), theta,
                          "rope_theta", "the paper's default");
        pe_reader_warn(reader, "no rope_theta: 10000 is assumed");
    }
    const json_t *outer = json_object_get(reader->whole, "rope_theta");
    if (reader->config != reader->whole && !r->local && json_is_number(outer) &&
        json_number_value(outer) != theta) /* which nobody reads */
        pe_reader_warn(reader,
                       "rope_theta is %.17g, and that of the language model's own configuration "
                       "%.17g; the latter is read",
                       json_number_value(outer), theta);
    if (pe_reader_finds_fact(reader, PE_FACT_THETA_RATIO, &ratio, &where))
        theta *= ratio;
    pe_dictionary_set_number(r, "rope_theta", where, theta);
}

/* Classes that are not known may read rope_interleaved, which those of transformers do not. */
static void read_pairing(pe_rope_reading *r)
{
    pe_reader *reader = r->reader;
    const bool unknown = reader->type == NULL, axes = unknown && pe_axes_are(reader);
    const char *where;
    double interleave = pe_type_is(reader->type, "interleaved") || axes;
    const bool told = pe_reader_finds_fact(reader, PE_FACT_INTERLEAVE, &interleave, NULL) ||
                      (unknown && pe_reader_finds_key(reader, PE_FACT_INTERLEAVE,
                                                      "rope_interleaved", &interleave, &where));
    const char *name = interleave != 0 ? "interleaved" : "half";
    if (!told && unknown)
        pe_reader_warn(reader,
                       "which channels make a pair is not known for this model type: pairing %s "
                       "is assumed, as most %shave it",
                       name, axes ? "with several axes " : "");
    pe_reader_set_choice(&r->kind->values, "pairing", name);
}

/* ---- lengths ---- */

/* The length beside the dictionary, or the class's own, takes precedence over that in it where one
 * dictionary is that of all layers. Where there is none, transformers takes max_position_embeddings. */
static void read_original(pe_rope_reading *r, double max_positions)
{
    static const char key[] = "original_max_position_embeddings";
    pe_reader *reader = r->reader;
    const json_t *nested = pe_dictionary_member(r, key);
    const char *where;
    double original;
    if (!pe_dictionary_reads(r, PE_ROPE_ORIGINAL)) {
        pe_dictionary_ignore(r, key, "this rope_type does not read it");
        pe_reader_ignore(reader, key, "this rope_type does not read it");
    } else if (!r->by_type && pe_reader_fact(reader, PE_FACT_ORIGINAL, &original, &where)) {
        pe_dictionary_set_number(r, key, where, original);
        pe_dictionary_ignore(r, key, "original_max_position_embeddings beside it is read instead");
        if (nested != NULL && json_number_value(nested) != original)
            pe_reader_warn(reader, "%s and %s, %.0f, differ; the latter is read", r->place, key,
                           original);
    } else if (nested != NULL) {
        pe_dictionary_set_member(r, key, key, NULL);
    } else if (max_positions != 0) {
        pe_reader_default(reader, pe_dictionary_place(r, key), max_positions, key,
                          "max_position_embeddings stands for it");
        pe_dictionary_set_number(r, key, r->place, max_positions);
        pe_reader_warn(reader,
                       "rope_type %s has no original_max_position_embeddings: "
                       "max_position_embeddings, %.0f, is taken for it",
                       r->type->name, max_positions);
    }
}

static void read_lengths(pe_rope_reading *r)
{
    const char *where;
    double max_positions = 0;
    if (pe_reader_finds_fact(r->reader, PE_FACT_MAX_POSITIONS, &max_positions, &where))
        pe_dictionary_set_number(r, "max_position_embeddings", where, max_positions);
    /* The length from which vLLM's dynamic grows the base. */
    static const char key[] = "max_trained_positions";
    if (pe_dictionary_member(r, key) != NULL && r->type == &pe_rope_dynamic)
        pe_dictionary_set_member(r, key, "max_position_embeddings",
                                 "vLLM grows the base from there; transformers from "
                                 "max_position_embeddings");
    else
        pe_dictionary_ignore(r, key, "this rope_type does not read it");
    read_original(r, max_positions);
    /* A model that has just been loaded uses short_factor, until a sequence is longer. */
    const pe_value *original = pe_values_find(&r->kind->values, "original_max_position_embeddings");
    if (pe_dictionary_reads(r, PE_ROPE_LONG_FACTOR) && original->present) {
        pe_dictionary_set_number(r, "seq_len", "seq_len", (double)original->integer);
        pe_reader_warn(r->reader,
                       "frequencies depend on seq_len: short_factor up to %lld tokens, as given "
                       "here, long_factor beyond",
                       (long long)original->integer);
    }
    if (r->type == &pe_rope_dynamic)
        pe_reader_warn(r->reader,
                       "frequencies depend on seq_len: not scaled up to max_position_embeddings "
                       "tokens, as given here; beyond, the base grows with the sequence");
}

/* ---- what types of scaling and sections add ---- */

/* The factor of yarn that is null or absent is the ratio of the lengths. */
static void read_yarn_factor(pe_rope_reading *r)
{
    const pe_values *values = &r->kind->values;
    if (strcmp(r->type->name, "yarn") != 0 || pe_values_present(values, "factor") ||
        !pe_values_present(values, "max_position_embeddings") ||
        !pe_values_present(values, "original_max_position_embeddings"))
        return;
    const double ratio = (double)pe_values_int(values, "max_position_embeddings") /
                         (double)pe_values_int(values, "original_max_position_embeddings");
    pe_reader_default(r->reader, pe_dictionary_place(r, "factor"), ratio, "factor",
                      "max_position_embeddings / original_max_position_embeddings");
    pe_dictionary_set_number(r, "factor", r->place, ratio);
}

/* Phi-3.5-MoE multiplies by short_mscale or long_mscale, of which the layers here, of short
 * sequences, have the first. */
static void read_mscales(pe_rope_reading *r)
{
    if (!pe_type_is(r->reader->type, "longrope_mscale") || r->type == &pe_rope_default)
        return;
    if (pe_dictionary_member(r, "short_mscale") != NULL)
        pe_dictionary_set_member(r, "short_mscale", "attention_factor",
                                 "the attention factor up to the original length; long_mscale "
                                 "beyond");
    pe_dictionary_ignore(r, "long_mscale",
                         "the attention factor beyond the original length, "
                         "which is not told here");
}

/* Compressed layers do not multiply by yarn's attention factor, unless it is given. */
static void read_compressed(pe_rope_reading *r)
{
    const char *place = pe_dictionary_place(r, "attention_factor");
    if (!r->compressed || strcmp(r->type->name, "yarn") != 0 ||
        pe_values_present(&r->kind->values, "attention_factor"))
        return;
    pe_reader_class_default(r->reader, place, 1, "attention_factor");
    pe_dictionary_set_number(r, "attention_factor", place, 1);
}

/* Sections beside the dictionary, where the class has them there or is not known; in it, also under
 * Hunyuan's name; or those of the class ("halves": of the pairs). */
static void read_other_sections(pe_rope_reading *r)
{
    const json_t *type = r->reader->type, *own = json_object_get(type, "mrope_section");
    const char *key = type == NULL ? "mrope_section" : pe_type_text(type, "axes_key");
    const json_t *beside =
        key != NULL && (type == NULL || own != NULL) ? pe_reader_member(r->reader, key) : NULL;
    if (beside != NULL) {
        (void)pe_reader_set(r->reader, &r->kind->values, "mrope_section", key, beside);
        pe_reader_used(r->reader, key, beside, "mrope_section", NULL);
        return;
    }
    if (pe_dictionary_member(r, "mrope_section") != NULL)
        return;
    if (pe_dictionary_member(r, "xdrope_section") != NULL) {
        pe_dictionary_set_member(r, "xdrope_section", "mrope_section",
                                 "Hunyuan's name of mrope_section");
    } else if (own != NULL) {
        const double half = floor(pe_rope_dims_rotating(&r->kind->values) / 4);
        const char *place = pe_dictionary_place(r, "mrope_section");
        json_t *halves = json_is_string(own) ? pe_reader_reals(r->reader, (double[]){half, half}, 2)
                                             : json_incref((json_t *)(uintptr_t)own);
        (void)pe_reader_set(r->reader, &r->kind->values, "mrope_section", place, halves);
        pe_reader_report(r->reader, place, halves, PE_MODEL_KEY_DEFAULTED, "mrope_section",
                         "the default of this model type");
        json_decref(halves);
    }
}

/**
 * Interleaved sections need not sum to all pairs: height has pairs 1, 4, 7 and so on, width 2, 5,
 * 8, so many as its section says or there are, and time the others.
 *
 * Source  apply_interleaved_mrope of huggingface/transformers 5.23.0,
 *         models/qwen3_vl/modeling_qwen3_vl.py.
 */
static void read_mrope_layout(pe_rope_reading *r)
{
    const char *layout = pe_type_text(r->reader->type, "mrope_layout");
    pe_value *list = pe_values_find(&r->kind->values, "mrope_section");
    const double pairs = floor(pe_rope_dims_rotating(&r->kind->values) / 2);
    if (r->reader->type == NULL && list->present &&
        !pe_values_present(&r->kind->values, "mrope_interleaved"))
        pe_reader_warn(r->reader, "the layout of mrope_section is not known for this model type: "
                                  "one section behind the other is assumed");
    if (layout == NULL || !list->present)
        return;
    pe_reader_set_choice(&r->kind->values, "mrope_layout", layout);
    if (strcmp(layout, "interleaved") != 0 || list->list_length != 3 ||
        list->list[0] + list->list[1] + list->list[2] == pairs)
        return;
    double rest = pairs;
    for (size_t a = 1; a < 3; a++) {
        list->list[a] = fmin(list->list[a], floor((pairs - (double)a + 2) / 3));
        rest -= list->list[a];
    }
    list->list[0] = rest;
    pe_reader_warn(r->reader,
                   "mrope_section does not sum to all %.0f pairs: by its class's code axes have "
                   "%.0f, %.0f and %.0f of them",
                   pairs, rest, list->list[1], list->list[2]);
}

void pe_rope_layers_resolve(pe_reader *reader, const pe_dictionary *dictionary,
                            pe_model_layers *kind)
{
    static void (*const steps[])(pe_rope_reading *) = {
        choose_dictionary,
        pe_dictionary_read_type,
        read_theta,
        pe_rope_dims_read,
        pe_axes_read,
        read_pairing,
        read_lengths,
        read_mscales,
        read_other_sections,
        pe_dictionary_read_keys,
        read_compressed,
        read_mrope_layout,
        read_yarn_factor,
        pe_dictionary_read_defaults,
        pe_rope_checks_values,
        pe_rope_checks_lengths,
        pe_rope_checks_engines,
    };
    pe_rope_reading r = {.reader = reader, .kind = kind, .dictionary = *dictionary};
    for (size_t s = 0; s < PE_LEN(steps) && reader->status == PE_OK; s++)
        steps[s](&r);
}
