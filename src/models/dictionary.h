/* SPDX-License-Identifier: MIT */
/* dictionary.h - a configuration's rotary dictionary: rope_scaling or rope_parameters. Private to
 * models/. */
#ifndef PE_MODELS_DICTIONARY_H
#define PE_MODELS_DICTIONARY_H

#include "encodings/rope/rope.h"
#include "models/reader.h"

/** The dictionary of all layers, or of those of one type. */
typedef struct pe_dictionary {
    const json_t *object; /* NULL: none */
    char place[192];      /* "rope_scaling/" */
} pe_dictionary;

/** Is the dictionary one of dictionaries by layer type? Parameters beside these do not count. */
bool pe_dictionary_is_by_type(const pe_reader *reader, const json_t *object);
/** Find the dictionary: rope_scaling takes precedence over rope_parameters, unless it is empty. The
 * other one is reported as ignored. */
void pe_dictionary_find(pe_reader *reader, pe_dictionary *out);
/** Choose the dictionary of one type of layers. */
void pe_dictionary_choose(pe_reader *reader, const pe_dictionary *all, const char *layer_type,
                          pe_dictionary *out);

/** The layers of one kind, while their rotary parameters are read. */
typedef struct pe_rope_reading {
    pe_reader *reader;
    pe_model_layers *kind;
    pe_dictionary dictionary;
    bool local;      /* layers of sliding attention that have a base of their own */
    bool compressed; /* layers that labels do not call main, in one dictionary for all */
    bool by_type;    /* transformers has parameters for each type of layers */
    const pe_rope_type *type;
    char unknown_key[PE_READER_KEY];
    const char *meant_key; /* the key that unknown_key may have meant; NULL: none */
    char place[288];
} pe_rope_reading;

/** The place of a key in the dictionary, until the next call. */
const char *pe_dictionary_place(pe_rope_reading *r, const char *key);
/** A member of the dictionary; NULL when absent or null. */
const json_t *pe_dictionary_member(const pe_rope_reading *r, const char *key);
/** Report a member, if it is there, as ignored. */
void pe_dictionary_ignore(pe_rope_reading *r, const char *key, const char *note);
/** Does the type read the key? */
bool pe_dictionary_reads(const pe_rope_reading *r, pe_rope_key key);

/** Set the parameter from a member that is there, and report the member. note may be NULL. */
void pe_dictionary_set_member(pe_rope_reading *r, const char *key, const char *parameter,
                              const char *note);
/** Set the parameter of a member's name from it, over a key beside the dictionary. */
void pe_dictionary_set_over(pe_rope_reading *r, const char *key, const char *beside,
                            const char *note);
/** Set the parameter from a number that came from elsewhere. */
void pe_dictionary_set_number(pe_rope_reading *r, const char *parameter, const char *where,
                              double number);

/** Set the type of the layers, under whichever name the dictionary has it. */
void pe_dictionary_read_type(pe_rope_reading *r);
/** Read every key that is not read by name. */
void pe_dictionary_read_keys(pe_rope_reading *r);
/** Set what the type assumes of keys that are absent. */
void pe_dictionary_read_defaults(pe_rope_reading *r);

#endif
