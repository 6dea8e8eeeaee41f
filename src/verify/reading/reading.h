/* SPDX-License-Identifier: MIT */
/* reading.h - what an upload of pairs is: its positions, frequencies and amplitude, measured. */
#ifndef PE_VERIFY_READING_READING_H
#define PE_VERIFY_READING_READING_H

#include "verify/compare/guess.h"

/** What is of use. */
typedef struct pe_reading_least {
    double quality, goodness; /* at least */
} pe_reading_least;

/** *made is false where the upload holds no pairs of one axis, or the guess has not its shape. Where a
 * few rows tell that the reading is of no use, its quality is 0, and no row has a position. */
pe_status pe_reading_make(const pe_comparison *of, const pe_reading_least *least, pe_reading *out,
                          bool *made, pe_problem *why) PE_MUST_CHECK;
void pe_reading_free(pe_reading *reading);

/** Blocks that a sample of a long table is of. */
#define PE_READING_BLOCKS ((size_t)16)

/** The row that row k of a sample is; `kept`: how many it has, a multiple of the blocks, or all. The
 * blocks are as long as each other, from the first row to the last one: neighbours tell how far a
 * pair turns. */
size_t pe_reading_sampled(size_t k, size_t kept, size_t rows);

/** The row of the table that token t is of. */
size_t pe_reading_row(const pe_reading *reading, size_t t);

/** The measured frequency of a pair over the guess's; NAN: not known. */
double pe_reading_ratio(const pe_reading *reading, size_t pair);

/** Over how many positions turns were measured: those of rows that follow each other as claimed. */
double pe_reading_span(const pe_reading *reading);

/** The part of the pairs that turn evenly. */
double pe_reading_turning(const pe_reading *reading);

/** How well it explains the rows, from 0 to 1. */
double pe_reading_goodness(const pe_reading *reading);

/** Do most rows turn the other way? */
bool pe_reading_is_negative(const pe_reading *reading);

#endif
