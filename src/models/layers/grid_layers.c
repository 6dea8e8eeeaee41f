/* SPDX-License-Identifier: MIT */
/* grid_layers.c - vision towers that rotate patches by their row and column. */
#include <math.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/layers.h"

/**
 * Source  rope_grid.h names the code of each convention; config/model_types.json has the towers of
 *         huggingface/transformers that follow it as rows, whose facts are those of their classes.
 */
void pe_grid_layers_resolve(pe_reader *reader, pe_model_layers *kind)
{
    /* Transformers calls these frequencies axial, and has no others for two axes. */
    static const char where[] = "rope_parameters/rope_type";
    const json_t *value = pe_reader_member(reader, where);
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "axial") != 0 && strcmp(name, "default") != 0)
        pe_reader_fail(reader, PE_INVALID_PARAMETER, where,
                       "rope_type of a vision tower must be axial or default, got %.40s", name);
    pe_reader_used(reader, where, value, "convention", NULL);
    double dim = 0, wide = 0, heads = 0, theta = 10000;
    if (!pe_reader_finds_fact(reader, PE_FACT_HEAD_DIM, &dim, NULL)) {
        const bool embeds = json_object_get(reader->type, "embed_dim") != NULL;
        (void)pe_reader_fact(reader, embeds ? PE_FACT_EMBED : PE_FACT_HIDDEN, &wide, NULL);
        (void)pe_reader_fact(reader, PE_FACT_HEADS, &heads, NULL);
        const json_t *rate = pe_reader_member(reader, "memory_attention_downsample_rate");
        pe_reader_used(reader, "memory_attention_downsample_rate", rate, "head_dim", NULL);
        heads *= json_number_value(rate) > 0 ? json_number_value(rate) : 1;
        dim = heads != 0 ? floor(wide / heads) : 0;
    }
    if (dim < 4 || dim > 4096 || fmod(dim, 4) != 0)
        pe_reader_fail(reader, PE_INVALID_PARAMETER, "head_dim",
                       "head_dim of a tower of two axes must be a multiple of 4 from 4 to 4096, "
                       "got %.17g",
                       dim);
    if (reader->status != PE_OK)
        return;
    pe_reader_set_choice(&kind->values, "convention", pe_type_text(reader->type, "convention"));
    pe_reader_set_number(reader, &kind->values, "head_dim", "head_dim", dim);
    /* In its dictionary, or beside it. */
    static const char nested[] = "rope_parameters/rope_theta";
    if (pe_reader_member(reader, nested) != NULL) {
        pe_reader_take(reader, &kind->values, "rope_theta", nested,
                       pe_reader_member(reader, nested), 0);
    } else {
        if (!pe_reader_fact(reader, PE_FACT_THETA, &theta, NULL))
            pe_reader_class_default(reader, "rope_theta", theta, "rope_theta");
        pe_reader_set_number(reader, &kind->values, "rope_theta", "rope_theta", theta);
    }
    static const char key[] = "spatial_merge_size";
    const double own = pe_type_number(reader->type, key);
    if (own != 0)
        pe_reader_take(reader, &kind->values, key, key, pe_reader_member(reader, key), own);
    if (pe_type_text(reader->type, "grid_pairing") != NULL)
        pe_reader_set_choice(&kind->values, "pairing", pe_type_text(reader->type, "grid_pairing"));
    (void)pe_parts_add(reader, &pe_rope_grid, &kind->values);
    (void)pe_parts_add(reader, &pe_rope_grid_rotate, &kind->values);
}
