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

/** Set the rows of /v1/rope/grid, and the model's parts for it and for /v1/rope/grid/rotate. */
void pe_grid_layers_resolve(pe_reader *reader, pe_model_layers *kind);

/** What the layers say: rows, width, offset and padding_row of the table. No request asks for
 * it. */
extern const pe_resource pe_learned_layers;

/** Set what the configuration and the model type tell; what neither does stays absent. */
void pe_learned_layers_resolve(pe_reader *reader, pe_model_layers *kind);

/** Set the rows of /v1/alibi/slopes; of /v1/t5/buckets, T5's way (kinds named "decoder" look back
 * alone) or DeBERTa's; of /v1/sinusoidal. */
void pe_plain_layers_alibi(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_t5(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_deberta(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_sincos_grid(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_sinusoidal(pe_reader *reader, pe_model_layers *kind);
/** A resource that rows name; they name no other. */
const pe_resource *pe_plain_layers_resource(const char *name);
/** Of the resource that the row names. */
void pe_plain_layers_named(pe_reader *reader, pe_model_layers *kind);
/** Set what an object of the row says: numbers, choices, keys of the configuration (of a list the
 * first element), "patches" along a side; config/models/README.md tells the forms. */
void pe_plain_layers_take(pe_reader *reader, const json_t *object, pe_values *values);

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
 * `resource`; others have none. */
void pe_kinds_find(pe_reader *reader, const pe_resource *resource);

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

/** Set the type of the layers, under whichever name the dictionary has it. */
void pe_type_name_read(pe_rope_reading *r);

#endif
