/* SPDX-License-Identifier: MIT */
/* diffusers.c - the config.json of a part of a diffusers pipeline: a transformer, a UNet, a VAE. */
#include "models/input.h"

#include <string.h>

/* Classes that rotate only where a key is true, and the row of the others. */
static const struct {
    const char *class, *key, *otherwise;
} optional[] = {
    {"CogVideoXTransformer3DModel", "use_rotary_positional_embeddings", "CogVideoX-sincos"},
};

/**
 * A member _class_name names the class; the others are arguments of its constructor, whose names
 * are those of a config.json or of the class's row.
 *
 * Source  huggingface/diffusers at 58eb52c0803ea9af3abec60841c2a093bdf1f951, src/diffusers/models.
 */
bool pe_input_diffusers(pe_input *out)
{
    static const char name[] = "_class_name";
    const char *class = json_string_value(pe_input_member(out, name));
    if (class == NULL)
        return false;
    out->failed |= json_object_update(out->config, (json_t *)(uintptr_t)out->whole) != 0;
    for (size_t o = 0; o < PE_LEN(optional); o++)
        if (strcmp(optional[o].class, class) == 0 &&
            !json_is_true(pe_input_member(out, optional[o].key)))
            class = optional[o].otherwise;
    pe_input_type(out, "diffusers", name, class);
    return true;
}
