/* SPDX-License-Identifier: MIT */
/* layers.h - what the parts of models/ do for each other when layers are resolved. */
#ifndef PE_MODELS_LAYERS_H
#define PE_MODELS_LAYERS_H

#include "models/dictionary.h"
#include "models/reader.h"

/** Go to the language model's own object, as deep as it lies. */
void pe_nested_enter(pe_reader *reader);

/** Resolve what a reader has been made for, and end its reading. */
typedef pe_status pe_nested_resolve(pe_reader *reader, pe_model **out);

/** Resolve all configurations beside the one that is read, on the way to it, as towers. */
void pe_nested_towers(pe_reader *reader, pe_nested_resolve *resolve);

/** The scheme of the model type, unless a key says otherwise; of an unknown type, what its keys
 * say. */
pe_scheme pe_scheme_find(pe_reader *reader);

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
