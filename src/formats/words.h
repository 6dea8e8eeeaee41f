/* SPDX-License-Identifier: MIT */
/* words.h - what figures and tables say: its title, its parameters, the names of axes. */
#ifndef PE_FORMATS_WORDS_H
#define PE_FORMATS_WORDS_H

#include "formats/format.h"
#include "plan/plan.h"

/** An axis of a tensor. */
typedef struct pe_axis_words {
    char name[64];         /* "positions [tokens]", "axis 0" */
    bool along_positions;  /* a parameter of kind POSITIONS says where its elements are */
    double first, step;    /* element i is at first + i * step */
    const pe_value *names; /* the elements are these choices; NULL: they have no names */
    bool apart;            /* nothing is between one element and the next: heads, names */
} pe_axis_words;

void pe_words_axis(const pe_rendering *rendering, const pe_tensor *tensor, size_t axis,
                   pe_axis_words *out);

/** The positions along an axis; NULL: no parameter says where its elements are. */
const pe_positions *pe_words_positions(const pe_rendering *rendering, const pe_tensor *tensor,
                                       size_t axis);

/** The summary of the resource, without its stop. */
void pe_words_resource(const pe_rendering *rendering, pe_buffer *out);

/** The same, and of several tensors which: "Cosines and sines of rotary angles: cos" */
void pe_words_title(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                    pe_buffer *out);

/** The path, and the parameters that differ from their defaults: "/v1/rope/table: head_dim = 64". */
void pe_words_parameters(const pe_rendering *rendering, pe_buffer *out);

/** The name of element i of an axis, NULL where it has none. */
const char *pe_words_element(const pe_axis_words *words, size_t i);

/** What the values are, "wavelength [positions]". */
void pe_words_value(const pe_rendering *rendering, const pe_tensor *tensor, pe_buffer *out);

#endif
