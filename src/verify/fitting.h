/* SPDX-License-Identifier: MIT */
/* fitting.h - a number that is looked for, and where in the upload. */
#ifndef PE_VERIFY_FITTING_H
#define PE_VERIFY_FITTING_H

#include "verify/expect.h"

/** Frequencies that were measured where the guess has its pairs. */
typedef struct pe_known_turns {
    const double *turned; /* [pairs] borrowed; NAN: not known */
    size_t pairs;
    double step; /* positions from row to row */
    double span; /* positions over which they were measured */
} pe_known_turns;

/** One number of a guess, and where it is looked at. */
typedef struct pe_fitting {
    pe_comparison on; /* its guess has the value that is tried */
    const char *param;
    pe_geometry geometry;          /* where the guess puts pairs */
    const pe_positions *positions; /* and tokens */
    size_t row, cos_at, sin_at;    /* the pair whose angle is bisected */
    double reach;                  /* tokens farther from position 0 do not count in residuals */
    unsigned by;                   /* the arithmetic that has to explain the upload */
    const pe_known_turns *known;   /* NULL: nothing is */
} pe_fitting;

/** What is known of the number. */
typedef struct pe_bracket {
    double low, high, value;
    double error; /* value may be off by this part of itself; HUGE_VAL: it is not known */
} pe_bracket;

pe_bracket pe_fitting_around(double value, double error);

/** The guess with this value. */
pe_status pe_fitting_expect(const pe_fitting *fit, double value, pe_expect *out,
                            pe_problem *why) PE_MUST_CHECK;

/** Its frequencies: [pairs], the caller's; NULL: there is no such table. */
pe_status pe_fitting_frequencies(const pe_fitting *fit, double value, double **out,
                                 pe_problem *why) PE_MUST_CHECK;

/** Are the frequencies of the number in the bracket far from what was measured of many pairs? */
pe_status pe_fitting_contradicts(const pe_fitting *fit, const pe_bracket *at, bool *out,
                                 pe_problem *why) PE_MUST_CHECK;

/** The token farthest from position 0 but not beyond `most`, and how far it is; 0: none. */
double pe_fitting_farthest(const pe_fitting *fit, double most, size_t *token);

#endif
