/* SPDX-License-Identifier: MIT */
/* unread_keys.c - keys that bear on positions, and that nothing reads. */
#include <string.h>

#include "base/yield.h"
#include "models/layers.h"

/* Unknown keys that are reported. */
#define UNKNOWN_MAX 64

#define KEY_WORK 64 /* units */

/* Does the name contain one of the words? */
static bool smells(const char *key, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasestr(key, *words) != NULL)
            return true;
    return false;
}

static const char *const rotations[] = {"rope",     "rotary",   "xpos", "ntk", "yarn",
                                        "axes_dim", "axis_dim", "nope", NULL},
                         *const positions[] = {"position", "pos_emb",      "pos_enc",
                                               "abs_pos",  "sinusoid",     "alibi",
                                               "relative", "long_context", NULL};

/* Report a key whose name speaks of positions; of rotations: with a warning. */
static bool report_unread(pe_reader *reader, const char *key, const json_t *value)
{
    const json_t *row = pe_input_row("unread", key);
    if (row != NULL) {
        pe_reader_ignored(reader, key, value, json_string_value(json_array_get(row, 1)));
        return true;
    }
    if (pe_reader_is_unread(reader, key)) {
        /* Do the layers have this number all the same? */
        const pe_model *model = reader->model;
        const pe_value *told =
            model->n_kinds != 0 ? pe_values_find(&model->kinds[0].values, key) : NULL;
        pe_reader_ignored(reader, key, value, "not read by this model type");
        if (told == NULL || !told->present || told->param->kind != PE_KIND_INT ||
            json_number_value(value) != (double)told->integer)
            pe_reader_warn(reader, "%s is not read by model type %s", key, reader->type_name);
        return true;
    }
    /* Keys that the model type alone reads. */
    const json_t *type = reader->type;
    const char *const read[] = {pe_axes_key(reader), pe_type_text(type, "axes_scale_key"),
                                pe_type_text(type, "theta_key"), pe_type_text(type, "rope_if")};
    for (size_t i = 0; i < PE_LEN(read); i++)
        if (read[i] != NULL && strcmp(read[i], key) == 0)
            return false;
    const bool rotates = smells(key, rotations);
    const char *near = NULL;
    char place[PE_READER_KEY];
    if ((!rotates && !smells(key, positions)) || pe_reader_knows_key(key, rotates ? &near : NULL))
        return false;
    if (!pe_reader_escape(reader, key, place))
        return true;
    /* A class whose encoding nothing here does has keys of its own. */
    const bool own =
        reader->type != NULL && pe_model_type_scheme(reader->type) == PE_SCHEME_UNKNOWN;
    if (rotates && !own && !json_is_null(value))
        pe_reader_unknown(reader, place, value, near);
    else
        pe_reader_ignored(reader, place, value, "not recognised");
    return true;
}

/* Report keys outside the dictionaries whose names speak of positions. */
void pe_unread_keys_report(pe_reader *reader)
{
    const char *key;
    json_t *value;
    size_t unknown = 0;
    json_object_foreach((json_t *)(uintptr_t)reader->config, key, value)
    {
        pe_yield_spend(KEY_WORK);
        if (reader->status == PE_OK && unknown < UNKNOWN_MAX)
            unknown += report_unread(reader, key, value);
    }
    if (json_is_true(json_object_get(reader->config, "rope_interleaved")) &&
        !pe_type_is(reader->type, "interleaved") && reader->type != NULL)
        pe_reader_warn(reader, "rope_interleaved is true, but transformers turns halves");
}

void pe_unread_keys_report_around(pe_reader *reader)
{
    const char *key;
    json_t *value;
    size_t reported = 0;
    char place[PE_READER_KEY];
    json_object_foreach((json_t *)(uintptr_t)reader->config, key, value)
    {
        if (reported == UNKNOWN_MAX || (!smells(key, rotations) && !smells(key, positions)) ||
            strcmp(key, "position_id_per_seconds") == 0) /* for parts.c */
            continue;
        if (pe_reader_escape(reader, key, place))
            pe_reader_ignored(reader, place, value, "the language model's own keys count");
        reported++;
    }
}
