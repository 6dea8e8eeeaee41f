/* SPDX-License-Identifier: MIT */
/* faults.h - what people get wrong, as rows. */
#ifndef PE_VERIFY_FAULTS_H
#define PE_VERIFY_FAULTS_H

#include "verify/guess.h"

/** One mistake. */
typedef struct pe_fault {
    const char *name; /* "position_plus_one" */
    /** A sentence; NULL: "param was X, not Y". */
    const char *rule;
    /** Work the fault into the guess. False: it makes no sense there. */
    bool (*change)(pe_guess *guess, const struct pe_fault *fault);
    const char *param;       /* the row it changes */
    const char *text;        /* to this choice */
    double value, and_value; /* to this number */
    bool of_vectors;         /* only rotated vectors can have it */
    bool retypes;            /* param is of rope_type `text`; the claim's is default */
} pe_fault;

extern const pe_fault pe_faults[];
extern const size_t pe_faults_n;

/** rope_type becomes this one; false where there is no such row or type. */
bool pe_faults_retype(pe_guess *guess, const char *type) PE_MUST_CHECK;

/**
 * Add the fault to the guess, its sentence too. False when it does not apply, or changes nothing.
 * The guess is then to be freed only.
 */
bool pe_fault_apply(const pe_fault *fault, pe_guess *guess) PE_MUST_CHECK;

#endif
