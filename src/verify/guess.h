/* SPDX-License-Identifier: MIT */
/* guess.h - a claim with faults worked into it. */
#ifndef PE_VERIFY_GUESS_H
#define PE_VERIFY_GUESS_H

#include "verify/verify.h"

struct pe_fault;

/**
 * How the positions of an upload came about: to_dtype(p * times + plus). Plain value; the identity
 * is {1, 0, false, 0}.
 */
typedef struct pe_position_map {
    double times, plus;
    bool rounded;
    pe_dtype to;
} pe_position_map;

/** What else a fault may change than values. */
typedef struct pe_distortion {
    pe_position_map positions;
    bool exchanged;        /* cosines stand where sines belong */
    bool head_in_exponent; /* frequencies of rotary_dim = head_dim, the first of them */
    bool negated;          /* every element but masks */
    bool loose;            /* values tell frequencies or amplitude to some float64 ulps only */
} pe_distortion;

/** Owns its values; freed by pe_guess_free. */
typedef struct pe_guess {
    const pe_claim *claim;
    struct pe_tables *tables;
    const pe_limits *limits;
    pe_values values;
    pe_distortion distortion;
    size_t n_faults;
    const struct pe_fault *faults[PE_FAULTS_MAX];
    pe_buffer rule; /* sentences */
} pe_guess;

/** The claim, or another guess, as it is. */
pe_status pe_guess_of_claim(const pe_claim *claim, struct pe_tables *tables,
                            const pe_limits *limits, pe_guess *out, pe_problem *why) PE_MUST_CHECK;
pe_status pe_guess_copy(const pe_guess *from, pe_guess *out, pe_problem *why) PE_MUST_CHECK;
void pe_guess_free(pe_guess *guess);

/** Move positions; false where they would leave the bounds. */
bool pe_guess_map_positions(pe_positions *positions, const pe_position_map *map);
bool pe_guess_map_is_identity(const pe_position_map *map);

/** The values that give the upload, positions moved, as JSON. NULL when memory ran out. */
char *pe_guess_parameters(const pe_guess *guess);

/** Do both stand for the same numbers? */
bool pe_guess_same(const pe_guess *a, const pe_guess *b);

#endif
