/* SPDX-License-Identifier: MIT */
/* reading_pairs.h - the pairs of an upload as complex numbers, for reading.c and what it asks. */
#ifndef PE_VERIFY_READING_READING_PAIRS_H
#define PE_VERIFY_READING_READING_PAIRS_H

#include <math.h>

#include "verify/compare/guess.h"

#define PE_NOWHERE nan("")
#define PE_TURN    6.283185307179586

/** Radians: elements of 8 bits, and float32 angles. */
#define PE_PHASE_ERROR 0.04

/** Units of work: each vector of a pair of a row. */
#define PE_VECTOR_WORK 2

typedef struct pe_complex {
    double re, im;
} pe_complex;

/** What is read, and the order of its pairs: slow ones first. */
typedef struct pe_reading_source {
    const pe_upload_view *view;
    pe_geometry at;
    size_t pairs;
    size_t *order;
    bool placed;         /* rows have positions */
    double cosine, sine; /* their signs */
    bool exchanged;      /* vectors were turned by one for the other */
    double roundoff;     /* of elements */
    size_t *row,
        rows; /* [rows] of one block with order: those that are not the row before once more */
} pe_reading_source;

static inline double pe_reading_wrap(double angle)
{
    return angle - PE_TURN * round(angle / PE_TURN);
}

static inline pe_complex pe_times_conjugate(pe_complex a, pe_complex b)
{
    return (pe_complex){a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

static inline double pe_phase_of(pe_complex z)
{
    return atan2(z.im, z.re);
}

/** Pair i of a token: of vectors, how the rows of the token turned. */
pe_complex pe_reading_pair(const pe_reading_source *s, size_t token, size_t i);

/** Phases of the pairs of a token; NAN: a pair has none. */
void pe_reading_phases(const pe_reading_source *s, size_t token, double *row);

/** The median length of a pair; of vectors, how much longer they have become. */
double pe_reading_size(const pe_reading_source *s, const pe_reading *r);

/** The part of the pairs that are as long as r->amplitude, with copies that agree. */
double pe_reading_steady(const pe_reading_source *s, const pe_reading *r);

/** Of elements, which may have been rounded before they went on in a wider type. */
double pe_reading_roundoff(const pe_upload_view *view);

/* ---- at which position each row of an upload of pairs is ---- */

/** Sets r->position of each stride-th row, from frequencies w [pairs] whose order s->order is; NAN: no
 * position makes such a row. Returns the part of these rows that have one. */
double pe_reading_positions(const pe_reading_source *s, const double *w, size_t stride,
                            pe_reading *r);

#endif
