/* SPDX-License-Identifier: MIT */
/* words.h - what figures and tables say: its title, its parameters, the names of axes. */
#ifndef PE_FORMATS_WORDS_H
#define PE_FORMATS_WORDS_H

#include "formats/format.h"

/** An axis of a tensor. */
typedef struct pe_axis_words {
    char name[64];        /* "positions [tokens]", "axis 0" */
    bool along_positions; /* a parameter of kind POSITIONS says where its elements are */
    double first, step;   /* element i is at first + i * step */
} pe_axis_words;

void pe_words_axis(const pe_rendering *rendering, const pe_tensor *tensor, size_t axis,
                   pe_axis_words *out);

/** The positions along an axis; NULL: no parameter says where its elements are. */
const pe_positions *pe_words_positions(const pe_rendering *rendering, const pe_tensor *tensor,
                                       size_t axis);

/** "rope/table: cos" */
void pe_words_title(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                    pe_buffer *out);

/** The parameters that differ from their defaults, "head_dim = 64, positions = 0:512". */
void pe_words_parameters(const pe_values *values, pe_buffer *out);

/** What the values are, "wavelength [positions]". */
void pe_words_value(const pe_rendering *rendering, const pe_tensor *tensor, pe_buffer *out);

#endif
