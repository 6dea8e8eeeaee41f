/* SPDX-License-Identifier: MIT */
/* law_rows.h - the laws by which frequencies go wrong, as rows. */
#ifndef PE_VERIFY_LAW_ROWS_H
#define PE_VERIFY_LAW_ROWS_H

#include "verify/law_numbers.h"
#include "verify/law_predictions.h"

/** How measured frequencies came from claimed ones. */
typedef struct pe_law {
    pe_fault fault;      /* its sentence has the numbers as {a} and {b} */
    pe_law_reader *read; /* its numbers; NULL: they are those of the row */
    pe_law_prediction *predict;
    double a, b;
    bool fitted;  /* the numbers are only read off */
    bool subtle;  /* turns do not tell it: only elements do */
    bool but_one; /* pairs move; the one at the end may be anything */
} pe_law;

/** Those without numbers come first: they say more. */
extern const pe_law pe_law_rows[];
extern const size_t pe_law_rows_n;

#endif
