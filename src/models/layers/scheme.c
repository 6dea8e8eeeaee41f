/* SPDX-License-Identifier: MIT */
/* scheme.c - which scheme a configuration has. */
#include <string.h>

#include "models/input.h"
#include "models/layers.h"

static bool has_scheme_key(pe_reader *reader, pe_scheme *out)
{
    const json_t *value = pe_reader_member(reader, "position_embedding_type");
    const char *name = json_string_value(value);
    const json_t *row = name != NULL ? pe_input_row("position_embedding_type", name) : NULL;
    if (row != NULL) {
        pe_reader_used(reader, "position_embedding_type", value, NULL, NULL);
        *out = pe_model_type_scheme_named(json_string_value(json_array_get(row, 1)));
        return true;
    }
    if (value != NULL) {
        pe_reader_ignored(reader, "position_embedding_type", value, "not known");
        pe_reader_warn(reader, "position_embedding_type %.40s is not known",
                       name != NULL ? name : pe_reader_type_text(value));
    }
    return false;
}

/* The scheme of an unknown model type, by the keys that are there. Parts of image and video pipelines
 * turn by several axes: one whose keys do not say which is not taken for text. */
static pe_scheme guess_scheme(pe_reader *reader)
{
    static const pe_fact facts[] = {PE_FACT_THETA,      PE_FACT_LOCAL_THETA,   PE_FACT_ROTARY_DIM,
                                    PE_FACT_PARTIAL,    PE_FACT_ROPE_HEAD_DIM, PE_FACT_INTERLEAVE,
                                    PE_FACT_THETA_RATIO};
    const char *name = json_string_value(pe_reader_member(reader, "model_type"));
    if (pe_reader_has_fact(reader, PE_FACT_POSITION_BUCKETS))
        return PE_SCHEME_DEBERTA;
    if (pe_reader_has_fact(reader, PE_FACT_BUCKETS))
        return PE_SCHEME_T5;
    /* Does a key say which channels, or pairs, turn by which axis? Or speak of rotations? */
    const bool axes =
        pe_axes_key(reader) != NULL || pe_reader_member(reader, "mrope_section") != NULL;
    bool rotates = axes || json_object_size(pe_reader_member(reader, "rope_parameters")) != 0 ||
                   json_object_size(pe_reader_member(reader, "rope_scaling")) != 0;
    for (size_t f = 0; f < PE_LEN(facts); f++)
        rotates |= pe_reader_has_fact(reader, facts[f]);
    if (!rotates || json_is_false(pe_reader_member(reader, "use_rope")))
        return PE_SCHEME_UNKNOWN;
    if (name == NULL || strncmp(name, "diffusers/", strlen("diffusers/")) != 0 || axes)
        return PE_SCHEME_ROPE;
    pe_reader_warn(reader, "a class of diffusers may turn by several axes: no key says which");
    return PE_SCHEME_UNKNOWN;
}

/* Zamba2 rotates where use_mem_rope is true, Conformers where their embeddings are rotary, Granite
 * hybrids where they are rope. */
static bool rotates_by_key(pe_reader *reader, const char *key)
{
    const json_t *value = pe_reader_member(reader, key);
    const char *text = json_string_value(value);
    const bool rotates =
        json_is_true(value) ||
        (text != NULL && (strcmp(text, "rotary") == 0 || strcmp(text, "rope") == 0));
    if (value != NULL && !json_is_boolean(value) && text == NULL)
        pe_reader_fail_type(reader, key, "true, false or a name", value);
    pe_reader_used(reader, key, value, NULL,
                   rotates ? "the model rotates" : "the model does not rotate");
    if (rotates && json_is_true(pe_reader_member(reader, "use_long_context")))
        pe_reader_warn(reader, "use_long_context is not read: with it the base grows as in "
                               "rope_type ntk_alpha, alpha 8");
    return rotates;
}

pe_scheme pe_scheme_find(pe_reader *reader)
{
    double truth = 0;
    pe_scheme scheme =
        reader->type != NULL ? pe_model_type_scheme(reader->type) : guess_scheme(reader);
    /* Baichuan's 13B model has ALiBi. Only its code says so, by its width, and llama.cpp's, by its
     * layers.
     *
     * Source  ggml-org/llama.cpp, src/models/baichuan.cpp (load_arch_hparams). */
    const char *type = reader->type != NULL ? reader->type_name : "";
    if ((strcmp(type, "baichuan") == 0 &&
         json_number_value(json_object_get(reader->config, "hidden_size")) == 5120) ||
        (strcmp(type, "gguf/baichuan") == 0 &&
         json_number_value(json_object_get(reader->config, "num_hidden_layers")) == 40)) {
        pe_reader_warn(reader, "this is the 13B model by its size: it has ALiBi");
        return PE_SCHEME_ALIBI;
    }
    if (pe_reader_finds_fact(reader, PE_FACT_ALIBI, &truth, NULL)) {
        if (truth != 0)
            return PE_SCHEME_ALIBI;
        scheme = scheme == PE_SCHEME_ALIBI ? PE_SCHEME_LEARNED : scheme;
    }
    if (pe_reader_finds_fact(reader, PE_FACT_ATTENTION_ROPE, &truth, NULL) && truth != 0)
        return PE_SCHEME_ROPE;
    if (pe_type_text(reader->type, "rope_if") != NULL)
        return rotates_by_key(reader, pe_type_text(reader->type, "rope_if")) ? PE_SCHEME_ROPE
                                                                             : scheme;
    if (pe_type_is(reader->type, "sinusoidal_if_key"))
        return pe_reader_finds_fact(reader, PE_FACT_SINUSOIDAL, &truth, NULL) && truth != 0
                   ? PE_SCHEME_SINUSOIDAL
                   : PE_SCHEME_LEARNED;
    pe_scheme named;
    return has_scheme_key(reader, &named) && named != PE_SCHEME_RESOURCE ? named : scheme;
}
