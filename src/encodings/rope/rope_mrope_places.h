/* SPDX-License-Identifier: MIT */
/* rope_mrope_places.h - the positions of tokens whose runs have been placed. */
#ifndef PE_ENCODINGS_ROPE_ROPE_MROPE_PLACES_H
#define PE_ENCODINGS_ROPE_ROPE_MROPE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/** Axes at most. */
enum { PE_MROPE_AXES = 4 };

/** How the tokens of a run follow each other. */
typedef enum pe_mrope_course {
    PE_MROPE_LINE,  /* one position after the other, the same on all axes */
    PE_MROPE_JOINT, /* all at one position */
    PE_MROPE_GRID,  /* time, height, width, 0; sounds between the frames, if there are any */
    PE_MROPE_IMAGE  /* xdrope: place in the sequence, column, row, number of the image */
} pe_mrope_course;

/** A run of the sequence, placed. */
typedef struct pe_mrope_place {
    pe_mrope_course course;
    size_t first, tokens; /* in the sequence, padding included */
    double start;         /* its first position, on every axis, and what is added on each */
    double origin[PE_MROPE_AXES];
    unsigned still;       /* bits: on these axes text does not move */
    size_t height, width; /* merged; width with the token that ends a row, where there is one */
    size_t block;         /* GRID: so far is a frame from the one before, on all axes; 0: in time */
    size_t number;        /* IMAGE: how many images came before */
    size_t frames, sounds; /* GRID; frames * height * width + sounds == tokens */
    size_t chunk;          /* positions; all frames of one stand before its sounds; 0: by time */
    double seconds, speed; /* a frame is frame * seconds * speed after the first */
    bool by_interval;      /* frame * (speed * seconds), else (frame * seconds) * speed */
} pe_mrope_place;

/** Runs one after the other; tokens before and after them are padding, with positions 0. */
typedef struct pe_mrope_places {
    size_t axes, tokens, n;
    bool rounded; /* times are rounded down, and elements int32; else they are float32 */
    pe_mrope_place run[];
} pe_mrope_places;

/** When a frame is, or the floor of that. As the models compute it, in float32: each product is
 * rounded once, and 0.7 s at 25 positions a second make frame 2 the 35th, which exact products of
 * the double nearest 0.7 do not reach. */
double pe_mrope_places_time(const pe_mrope_place *run, size_t frame, bool rounded);

/**
 * Elements [first, first + n) of the positions.
 * Shapes  [axes, tokens], row-major; out: [n] int32, or float32 where times are not rounded.
 */
void pe_mrope_places_fill(const pe_mrope_places *places, size_t first, size_t n, void *out);

#endif
