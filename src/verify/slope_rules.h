/* SPDX-License-Identifier: MIT */
/* slope_rules.h - how slopes of linear biases go wrong, as rows. */
#ifndef PE_VERIFY_SLOPE_RULES_H
#define PE_VERIFY_SLOPE_RULES_H

#include "verify/bias_reading.h"

/** A rule of slopes: bias->made from the claimed ones, and from numbers that it reads off
 * bias->read. Those that take claimed slopes may come behind another one. */
typedef struct pe_slope_rule {
    pe_fault fault;
    bool (*make)(pe_bias *bias); /* sets {a} and {b}, too; false: it is none such */
    double (*of)(double slope);  /* instead: of the claimed one alone */
    bool undoes;                 /* made of slopes that it has made, it gives back the others */
    bool rest;                   /* asked for only where no rule before it holds */
    bool fitted;                 /* numbers, not a cause */
} pe_slope_rule;

extern const pe_slope_rule pe_slope_rules[];
extern const size_t pe_slope_rules_n;

/** Make bias->made, and tell the numbers of the rule's sentence. False: it makes none. */
bool pe_slope_rules_make(const pe_slope_rule *rule, pe_bias *bias,
                         pe_numbers_cause *cause) PE_MUST_CHECK;

/** Are the slopes that were made those of the upload? */
bool pe_slope_rules_hold(const pe_bias *bias);

#endif
