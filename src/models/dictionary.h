/* SPDX-License-Identifier: MIT */
/* dictionary.h - the layers of one kind while their rotary parameters are read. Private to
 * models/. */
#ifndef PE_MODELS_DICTIONARY_H
#define PE_MODELS_DICTIONARY_H

#include "encodings/rope/rope.h"
#include "models/kinds.h"

typedef struct pe_rope_reading {
    pe_reader *reader;
    pe_model_layers *kind;
    pe_rope_dictionary dictionary;
    bool local; /* sliding layers, where they have a base of their own */
    const pe_rope_type *type;
    char stray[96];         /* an unknown key */
    const char *stray_near; /* the key it may have meant; NULL: none */
    char place[288];
} pe_rope_reading;

/** The place of a key in the dictionary, until the next call. */
const char *pe_dictionary_place(pe_rope_reading *r, const char *key);
/** A member of the dictionary; NULL when absent or null. */
const json_t *pe_dictionary_member(const pe_rope_reading *r, const char *key);
/** Does the type read the key? */
bool pe_dictionary_reads(const pe_rope_reading *r, pe_rope_key key);

/** The parameter from a member that is there; reported. note may be NULL. */
void pe_dictionary_set_member(pe_rope_reading *r, const char *key, const char *parameter,
                              const char *note);
/** The parameter from a number that came from elsewhere. */
void pe_dictionary_set_number(pe_rope_reading *r, const char *parameter, const char *where,
                              double number);

/** The dictionary of one type of layers. */
void pe_dictionary_choose(pe_reader *reader, const pe_rope_dictionary *all, const char *layer_type,
                          pe_rope_dictionary *out);
/** Every key that is not read by name, then what the type assumes of those that are absent. */
void pe_dictionary_read_keys(pe_rope_reading *r);
void pe_dictionary_read_defaults(pe_rope_reading *r);

#endif
