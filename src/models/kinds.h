/* SPDX-License-Identifier: MIT */
/* kinds.h - the parts of resolving: layers, and the values of each kind. Private to models/. */
#ifndef PE_MODELS_KINDS_H
#define PE_MODELS_KINDS_H

#include "models/reader.h"

/** Fill model->kinds with layers of their names, without values; those that do not rotate have no
 * resource, others `resource`. */
void pe_kinds_find(pe_reader *reader, const pe_resource *resource);

/** Add a kind of n layers (index: taken, malloc'ed, may be NULL); its values are begun. */
pe_model_layers *pe_kind_add(pe_reader *reader, const char *layer_type, const pe_resource *resource,
                             size_t *index, size_t n);

/** Its rotary dictionary: rope_scaling, or else rope_parameters, of all layers or of this type. */
typedef struct pe_rope_dictionary {
    const json_t *object; /* NULL: none */
    char place[192];      /* "rope_scaling/" */
} pe_rope_dictionary;

/** Is the dictionary one of dictionaries by layer type? */
bool pe_dictionary_by_type(const json_t *object);
/** Report which of the two spellings counts, and find it. */
void pe_dictionary_find(pe_reader *reader, pe_rope_dictionary *out);

/** The values of layers that rotate. */
void pe_rope_resolve(pe_reader *reader, const pe_rope_dictionary *dictionary,
                     pe_model_layers *kind);

/** Add the parts (parts.c), which are for all layers alike; before the layers, so that a key that
 * serves both is reported as used. */
void pe_parts_resolve(pe_reader *reader, const pe_rope_dictionary *dictionary);

/** Multiplies attention logits where that is not 1/sqrt(head_dim). */
void pe_softmax_resolve(pe_reader *reader);

#endif
