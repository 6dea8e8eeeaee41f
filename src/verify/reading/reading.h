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

/* ==== the pairs as complex numbers (reading_pairs.c) ==== */

#define PE_NOWHERE nan("")
#define PE_TURN    6.283185307179586

/** Radians: elements of 8 bits, and float32 angles. */
#define PE_PHASE_ERROR 0.04

/** Units of work: each vector of a pair of a row. */
#define PE_VECTOR_WORK 2

/** What is read, and the order of its pairs: slow ones first. */
typedef struct pe_reading_source {
    const pe_upload_view *view;
    pe_geometry at;
    size_t pairs;
    size_t *order;
    double cosine, sine; /* their signs */
    bool exchanged;      /* vectors were turned by one for the other */
    bool lone, cosines;  /* cosines were sent, or sines, and not both */
    double amplitude;    /* as measured */
    double roundoff;     /* of elements; of lone ones that of a phase where it turns back */
    size_t *row,
        rows; /* [rows] of one block with order: those that are not the row before once more */
} pe_reading_source;

/** Pairs of an upload where a guess puts them, before what is measured of them. */
pe_reading_source pe_reading_source_of(const pe_upload_view *view, const pe_guess *guess,
                                       const pe_geometry *at);

static inline double pe_reading_wrap(double angle)
{
    return angle - PE_TURN * round(angle / PE_TURN);
}

/** Pair i of a token, as the guess negates and exchanges waves. */
pe_wave pe_reading_pair(const pe_reading_source *s, size_t token, size_t i);

/** The phase of pair i of a token; NAN: it has none. Of a lone wave it is one of two. */
double pe_reading_phase(const pe_reading_source *s, size_t token, size_t i);
/** How far a phase is from an angle; of a lone wave the nearer one. */
double pe_reading_off(const pe_reading_source *s, double phase, double angle);

/** The median length of a pair; of vectors, how much longer they have become; of lone waves the largest
 * one of most rows. */
double pe_reading_size(const pe_reading_source *s, const pe_reading *r);

/** The part of the pairs that are as long as r->amplitude, or lone waves no larger, with copies that
 * agree. */
double pe_reading_steady(const pe_reading_source *s, const pe_reading *r);

/* ---- at which position each row of an upload of pairs is ---- */

/** Sets r->position of each stride-th row, from frequencies w [pairs] whose order s->order is; NAN: no
 * position makes such a row. Returns the part of these rows that have one. */
double pe_reading_positions(const pe_reading_source *s, const double *w, size_t stride,
                            pe_reading *r);

#endif
