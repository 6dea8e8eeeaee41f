/* SPDX-License-Identifier: MIT */
/* layers.h - what the parts of models/ do for each other when layers are resolved. */
#ifndef PE_MODELS_LAYERS_H
#define PE_MODELS_LAYERS_H

#include "encodings/rope/rope.h"
#include "models/reader.h"

/* ---- a configuration's rotary dictionary: rope_scaling or rope_parameters ---- */

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

/* ---- parts of a configuration ---- */

/** Go to the language model's own object, as deep as it lies. */
void pe_nested_enter(pe_reader *reader);

/** Resolve what a reader has been made for, and end its reading. */
typedef pe_status pe_nested_resolve(pe_reader *reader, pe_model **out);

/** Resolve all configurations beside the one that is read, on the way to it, as towers. */
void pe_nested_towers(pe_reader *reader, pe_nested_resolve *resolve);

/** Set the values of a kind of layers that rotates. */
void pe_rope_layers_resolve(pe_reader *reader, const pe_dictionary *dictionary,
                            pe_model_layers *kind);

/** Set head_dim, and rotary_dim or partial_rotary_factor. */
void pe_rope_dims_read(pe_rope_reading *r);
/** Channels that rotate. */
double pe_rope_dims_rotating(const pe_values *values);
/** hidden_size of each of the heads, cut to a whole number, with a warning; 0: they are not given. */
double pe_rope_dims_per_head(pe_reader *reader);

/** Check the values as a resource would, and set what follows from them. Sections that do not fit
 * are left out with a warning. */
void pe_rope_checks_values(pe_rope_reading *r);
/** Warn where yarn's factor is not the ratio of its lengths. */
void pe_rope_checks_lengths(pe_rope_reading *r);
/** Warn of keys that libraries read differently: one of mscale and mscale_all_dim, attn_factor. */
void pe_rope_checks_engines(pe_rope_reading *r);

/** The name of a scheme's encoding, as the model's. */
const char *pe_plain_layers_encoding(const pe_reader *reader, pe_scheme scheme);
/** Add layers of this name, which are all alike. T5's are "encoder" or (they look back alone) "decoder". */
void pe_plain_layers_add(pe_reader *reader, pe_scheme scheme, const char *name);
/** Add what the row says to other resources, as to that of time steps. */
void pe_plain_layers_resources(pe_reader *reader);

/** Set the scale where it is known. The kinds have their values. The attention factor, which
 * multiplies cosines and sines, is no part of it. */
void pe_softmax_scale_resolve(pe_reader *reader);

/** Report the keys whose names speak of positions; those of rotations with a warning. */
void pe_unread_keys_report(pe_reader *reader);
/** Report those of a configuration around the language model's, which is what is read now. */
void pe_unread_keys_report_around(pe_reader *reader);

/** A base for each layer: the list, and its key (Granite's layer_rope_theta, or rope_theta itself,
 * Step's). NULL: there is none. */
const json_t *pe_kinds_thetas(const pe_reader *reader, const char **key);

/** Fill model->kinds with layers and their names, without values. Layers that rotate have the
 * resource rope/table; others have none. */
void pe_kinds_find(pe_reader *reader);

/** Add a kind of n layers, whose values are made but not set. index: taken, malloc'ed, may be
 * NULL. */
pe_model_layers *pe_kinds_add(pe_reader *reader, const char *layer_type,
                              const pe_resource *resource, size_t *index, size_t n);

/** Add the parts, which are for all layers alike. Comes before the layers, so that a key that
 * serves both is reported as used. */
void pe_parts_resolve(pe_reader *reader, const pe_dictionary *dictionary);
/** A part that is not there yet, filled from values, which may be NULL. NULL: it is there, or
 * memory ran out. */
pe_values *pe_parts_add(pe_reader *reader, const pe_resource *resource, const pe_values *from);

/** The key of the channels, or (mrope_section) pairs, of each axis: the class's, or the first that
 * a configuration of no known class has. NULL: there is none. */
const char *pe_axes_key(const pe_reader *reader);
/** Has each axis frequencies of its own? */
bool pe_axes_are(const pe_reader *reader);
/** Channels of all axes; 0: there are no axes, or a rule divides head_dim. */
double pe_axes_sum(const pe_reader *reader);
/** Set axes_dims and axes_scale, where there are several axes. */
void pe_axes_read(pe_rope_reading *r);

#endif
