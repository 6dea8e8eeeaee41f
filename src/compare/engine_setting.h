/* SPDX-License-Identifier: MIT */
/* engine_setting.h - what engines have to be told for a rope type: rows of config/engines.json. */
#ifndef PE_COMPARE_ENGINE_SETTING_H
#define PE_COMPARE_ENGINE_SETTING_H

#include "compare/rope_candidate.h"
#include "plan/plan.h"

/**
 * The rows of config/engines.json: programs, and their settings for each type. A setting is a text,
 * or a length and a dictionary of parameters. Values in angle brackets are numbers of the type;
 * what is in square brackets, and a member, is left out where its number need not be said. unless
 * and notes are by conditions that engine_setting.c knows; "" always holds. A program's unless
 * holds for all its rows.
 */
#define PE_ENGINES_MAX 8
typedef struct pe_engines {
    json_t *tree;   /* owned */
    json_t *layers; /* by where their scaling stands: a text of their names, owned */
    size_t n_sources;
    pe_engine_setting_source source[PE_ENGINES_MAX];
} pe_engines;

pe_status pe_engines_read(pe_engines *out, pe_problem *why) PE_MUST_CHECK;
void pe_engines_free(pe_engines *engines);
/** Add what each engine has to be told for the candidate. The plan borrows texts of `engines`.
 * Errors  OVERLOADED (memory). */
pe_status pe_engines_tell(pe_engines *engines, const pe_rope_candidate *candidate,
                          const pe_rope_lengths *lengths, const pe_compared_model *own,
                          pe_plan *plan, pe_problem *why) PE_MUST_CHECK;

#endif
