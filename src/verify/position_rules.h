/* SPDX-License-Identifier: MIT */
/* position_rules.h - how positions go wrong: a row for each way. */
#ifndef PE_VERIFY_POSITION_RULES_H
#define PE_VERIFY_POSITION_RULES_H

#include "verify/faults.h"
#include "verify/reading.h"

#define PE_POSITION_NEAR 0.03 /* of a position: how well it is measured */

/** How the positions of a reading came from those of the claim. */
typedef struct pe_cause {
    const pe_fault *fault; /* its name; NULL: they are the claimed ones */
    double a, b;           /* numbers of its rule */
    double first;          /* claimed position of the first row */
    bool mirrored;         /* the rule says what the negative positions are */
    size_t rows;
    double *predicted; /* [rows] owned */
    size_t exceptions; /* rows that are at another position, or at none */
} pe_cause;

typedef enum pe_positions_kind {
    PE_POSITIONS_NAMED,      /* a fault that people make */
    PE_POSITIONS_MULTIPLIED, /* by a number, as scaled frequencies do it, too */
    PE_POSITIONS_ON_A_LINE,  /* multiplied, and shifted */
    PE_POSITIONS_LISTED      /* each row has a position of its own: nothing is predicted */
} pe_positions_kind;

/** One way: how its numbers are read, and which positions follow from them. */
typedef struct pe_position_rule {
    pe_fault fault; /* first; name and sentence, in which {a} and {b} are numbers */
    const char *remedy;
    bool (*read)(const pe_reading *reading, pe_cause *out); /* NULL: it has no numbers */
    double (*predict)(const pe_cause *cause, double claimed);
    pe_positions_kind kind;
    bool vectors_only;
    bool fitted; /* its numbers are measured, and explain anything of their kind */
} pe_position_rule;

/** Named rules come before those that give numbers. The first is that nothing is wrong. */
extern const pe_position_rule pe_position_rules[];
extern const size_t pe_n_position_rules;

/** Rules without a formula: rows elsewhere; the claimed positions in another order; positions that
 * do not begin anew where the claim's do. */
extern const pe_position_rule pe_positions_listed;
extern const pe_position_rule pe_positions_permuted;
extern const pe_position_rule pe_positions_run_on;

/** Which of the three says most of a reading. */
const pe_position_rule *pe_position_list_of(const pe_reading *reading);

/** Is a measured position the one that was expected? */
bool pe_position_is_near(double measured, double expected);

/** Is it a whole number, as measured, or one with a half, third or quarter? Of other fractions only
 * those that were computed are. */
bool pe_position_is_tidy(double x);

#endif
