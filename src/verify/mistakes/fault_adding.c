/* SPDX-License-Identifier: MIT */
/* fault_adding.c - a fault is added to a guess: what it changes, and what is said of it. */
#include <string.h>

#include "verify/mistakes/changes.h"
#include "verify/mistakes/faults.h"
#include "verify/upload/geometry.h"

/* "row was X, not Y", or "row was ignored" */
static void say_row(const char *name, const pe_guess *before, pe_guess *guess)
{
    pe_buffer *out = &guess->rule;
    const pe_value *is = pe_values_find(&guess->values, name);
    const size_t i = (size_t)(is - guess->values.value);
    if (!is->present) {
        pe_buffer_format(out, "%s was ignored: numbers are those without it", name);
        return;
    }
    pe_buffer_format(out, "%s %s ", name, is->param->kind == PE_KIND_POSITIONS ? "were" : "was");
    pe_value_print(is, out);
    if (!before->values.value[i].present) {
        pe_buffer_str(out, ", which was not claimed");
        return;
    }
    pe_buffer_str(out, ", not ");
    pe_value_print(&before->values.value[i], out);
}

/* "set row to Y, as claimed" */
static void add_remedy(const pe_fault *fault, const pe_guess *before, pe_guess *guess)
{
    const pe_value *was =
        fault->param != NULL ? pe_values_find(&before->values, fault->param) : NULL;
    const char *remedy = pe_fault_remedy(fault);
    if (remedy != NULL || was == NULL || fault->sets_rope_type) {
        pe_buffer_str(&guess->remedy, remedy != NULL ? remedy : "pass the claimed parameters");
        if (fault->change == pe_changes_move_positions &&
            pe_values_find(&before->values, "position_offset") != NULL)
            pe_buffer_str(&guess->remedy, "; check position_offset");
        return;
    }
    pe_buffer_format(&guess->remedy, was->present ? "set %s to " : "leave %s out", fault->param);
    if (was->present)
        pe_value_print(was, &guess->remedy);
    const bool base =
        strcmp(fault->param, "rope_theta") == 0 || strcmp(fault->param, "factor") == 0;
    if (base && pe_geometry_has_rope_type(&before->values, "dynamic"))
        pe_buffer_str(&guess->remedy, "; dynamic scaling raises the base with the length: check "
                                      "seq_len and max_position_embeddings");
    if (base && pe_geometry_has_rope_type(&before->values, "ntk"))
        pe_buffer_str(&guess->remedy, "; ntk raises the base: check the exponent d/(d - 2)");
}

static void say(const pe_fault *fault, const pe_guess *before, pe_guess *guess)
{
    pe_guess_say(guess, fault, "");
    add_remedy(fault, before, guess);
    if (*pe_fault_rule(fault) != '\0') {
        pe_buffer_str(&guess->rule, pe_fault_rule(fault));
        return;
    }
    if (fault->sets_rope_type) {
        say_row("rope_type", before, guess);
        pe_buffer_str(&guess->rule, "; ");
    }
    say_row(fault->param, before, guess);
}

/* What is mistaken one way is not mistaken another way, too: a second such fault takes back the
 * first. */
static bool has_named(const pe_guess *guess, const pe_fault *fault)
{
    const char *name = pe_guess_fault_name(fault);
    for (size_t f = 0; f < guess->n_faults; f++)
        if (strcmp(pe_guess_fault_name(guess->faults[f]), name) == 0)
            return true;
    return false;
}

bool pe_faults_apply(const pe_fault *fault, pe_guess *guess)
{
    pe_problem why;
    pe_guess before;
    if (has_named(guess, fault) || (fault->vectors_only && guess->claim->inputs.elements == 0) ||
        pe_guess_copy(guess, &before, &why) != PE_OK)
        return false;
    const bool changed = guess->n_faults < PE_FAULTS_MAX && fault->change(guess, fault) &&
                         !pe_guess_is_same(&before, guess);
    if (changed)
        say(fault, &before, guess);
    guess->fitted |= changed && fault->fitted;
    pe_guess_free(&before);
    return changed;
}
