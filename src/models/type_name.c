/* SPDX-License-Identifier: MIT */
/* type_name.c - which rope_type a configuration means. */
#include <string.h>

#include "models/input.h"
#include "models/layers.h"

/* The type that a name means. Hunyuan's dynamic with alpha grows the base by alpha, whatever the
 * length. */
static const char *meaning_of(pe_rope_reading *r, const char *name, const char **note)
{
    if ((strcmp(name, "dynamic") == 0 || strcmp(name, "xdrope") == 0) &&
        json_number_value(pe_dictionary_member(r, "alpha")) != 0) {
        *note = "with alpha, the base grows by alpha^(d/(d-2)) whatever the length: ntk_alpha";
        return "ntk_alpha";
    }
    if (pe_type_is(r->reader->type, "yarn_is_longrope") && strcmp(name, "yarn") == 0) {
        *note = "an old name of longrope in this model type";
        return "longrope";
    }
    if (json_object_get(r->reader->type, "axes") != NULL && strcmp(name, "axial") == 0) {
        *note = "the frequencies of several axes";
        return pe_rope_default.name;
    }
    const json_t *row = pe_input_row("rope_type", name);
    *note = json_string_value(json_array_get(row, 2));
    return row != NULL ? json_string_value(json_array_get(row, 1)) : name;
}

void pe_type_name_read(pe_rope_reading *r)
{
    const json_t *new = pe_dictionary_member(r, "rope_type"),
                 *old = pe_dictionary_member(r, "type"), *value = new != NULL ? new : old;
    const char *key = new != NULL ? "rope_type" : "type", *note = NULL;
    const char *name = json_string_value(value);
    if (new != NULL && old != NULL) {
        pe_dictionary_ignore(r, "type", "rope_type is read instead");
        if (json_equal((json_t *)(uintptr_t) new, (json_t *)(uintptr_t)old) == 0)
            pe_reader_warn(r->reader, "rope_type and type differ in %s; rope_type is read",
                           r->dictionary.place);
    }
    r->type = &pe_rope_default;
    pe_reader_set_choice(&r->kind->values, "rope_type", r->type->name);
    /* Where transformers puts rope_scaling into the parameters of a type of layers, which have a
     * rope_type already, it does not read the old spelling. */
    if (pe_type_is(r->reader->type, "by_type") && value != NULL && strcmp(key, "type") == 0 &&
        strcmp(r->dictionary.place, "rope_scaling/") == 0) {
        pe_dictionary_ignore(r, key, "transformers 5 reads rope_type alone in this model type");
        pe_reader_warn(r->reader,
                       "rope_scaling has type and no rope_type, which transformers 5 does not "
                       "read in model type %s: frequencies are not scaled",
                       r->reader->type_name);
        return;
    }
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
            pe_reader_used(r->reader, pe_dictionary_place(r, key), value, "rope_type", note);
            return;
        }
    pe_buffer known = {0};
    for (size_t t = 0; pe_rope_type_names[t] != NULL; t++)
        pe_buffer_format(&known, "%s, ", pe_rope_type_names[t]);
    const json_t *names = pe_input_table("rope_type");
    for (size_t t = 0; t < json_array_size(names); t++)
        pe_buffer_format(&known, t == 0 ? "%s" : ", %s",
                         json_string_value(json_array_get(json_array_get(names, t), 0)));
    pe_reader_fail(r->reader, PE_INVALID_PARAMETER, pe_dictionary_place(r, key),
                   "%s must be one of %s; got \"%.40s\"", key, pe_buffer_text(&known), name);
    pe_buffer_free(&known);
}
