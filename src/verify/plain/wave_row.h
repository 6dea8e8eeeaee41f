/* SPDX-License-Identifier: MIT */
/* wave_row.h - a row of wave_rows.c, and what rows make that read numbers off the upload. */
#ifndef PE_VERIFY_PLAIN_WAVE_ROW_H
#define PE_VERIFY_PLAIN_WAVE_ROW_H

#include "verify/plain/wave_places.h"

/** Tables in which a row makes sense. */
typedef enum pe_wave_scope {
    PE_WAVE_ANYWHERE,
    PE_WAVE_IN_GRIDS,
    PE_WAVE_IN_TENSORS,
    PE_WAVE_CENTRED,
    PE_WAVE_BACKWARD
} pe_wave_scope;

typedef struct pe_wave_row {
    pe_fault fault;
    double value, and_value; /* see `make` */
    bool (*make)(const struct pe_wave_row *of, pe_wave_change *c);
    size_t flag; /* of a change: where it is, for set_flag */
    pe_wave_scope where;
} pe_wave_row;

/** Does a row make sense in such a table? */
bool pe_wave_is_within(const pe_wave_table *t, pe_wave_scope where);
/** How many frequencies a ladder has; patches whose axes differ in the fastest one share it. */
size_t pe_wave_ladder(const pe_wave_table *t);

/** What a row makes; `value` is the row's. False: it makes no sense in the table. */
typedef bool pe_wave_make(const pe_wave_row *of, pe_wave_change *c);
/** Coordinates are a (x + b); value: b is 0. Shifted by a whole number. The same in all rows. */
pe_wave_make pe_wave_linear, pe_wave_shift, pe_wave_hold;
/** Distances end at the row from which on rows differ from each other. */
pe_wave_make pe_wave_clamp;
/** Another power of the base (value: one below 100, which few take);
 * another number of steps to the last frequency, larger by `value`. */
pe_wave_make pe_wave_base, pe_wave_denominator;

#endif
