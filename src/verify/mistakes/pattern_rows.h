/* SPDX-License-Identifier: MIT */
/* pattern_rows.h - the rows of patterns.h: one mistake each, which says what every element is. */
#ifndef PE_VERIFY_MISTAKES_PATTERN_ROWS_H
#define PE_VERIFY_MISTAKES_PATTERN_ROWS_H

#include "verify/mistakes/beside.h"

/** A pair of a row: its wave, and of vectors the channels that it turns. */
typedef struct pe_pattern_wave {
    double cosine, sine, angle, amplitude;
    double frequency, step; /* step: of pair 1, in units of that of pair 0 */
    double a, b;
} pe_pattern_wave;

/** What the pair's two elements are. */
typedef struct pe_pattern_two {
    double first, second;
} pe_pattern_two;

/** How a channel of a vector is turned: by which pair's wave, with which other channel. */
typedef struct pe_pattern_turn {
    size_t pair, partner;
    bool second; /* of its pair */
} pe_pattern_turn;

/** A place in a table of n columns and m rows. */
typedef struct pe_pattern_place {
    size_t row, column;
} pe_pattern_place;

typedef struct pe_pattern {
    pe_fault fault;
    enum { PE_TABLES, PE_VECTORS, PE_EITHER } of;
    pe_pattern_two (*make)(const pe_pattern_wave *at);
    enum { PE_AS_CLAIMED, PE_ZERO, PE_NEGATED } unpaired; /* beside `make`: columns of no pair */
    /** Or: which claimed element stands there. False: none does, and it is zero. */
    bool (*from)(const pe_beside *b, size_t n, pe_pattern_place *at);
    /** Or: the uploaded element as it should have been read. */
    double (*reread)(pe_dtype dtype, double got);
    /** Of a vector: which pair's wave turns a channel, or which channel is turned instead. */
    size_t (*wave_of)(const pe_beside *b, size_t pair, bool second);
    size_t (*channel_of)(const pe_beside *b, size_t channel);
    /** Or: how it is turned in another layout. False: it passes. */
    bool (*turn_of)(const pe_beside *b, size_t column, pe_pattern_turn *out);
    /** Or: is the element so? */
    bool (*is_so)(const pe_beside *b, pe_pattern_place at);
    bool of_inputs;   /* `from` takes vectors before they are rotated */
    bool of_rows;     /* `from` moves rows as a whole */
    bool of_copies;   /* numbers of pairs stand twice in a row */
    bool of_any_size; /* `is_so` whatever waves were multiplied by */
} pe_pattern;

/** What a pair's numbers became, tried first; then where elements stand, and their bytes. */
extern const pe_pattern pe_pattern_values[], pe_pattern_places[];
extern const size_t pe_pattern_values_n, pe_pattern_places_n;

#endif
