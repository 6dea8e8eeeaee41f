/* SPDX-License-Identifier: MIT */
/* value_faults.c - faults that are added to a guess; a value that was another one, or was ignored. */
#include <math.h>
#include <string.h>

#include "verify/mistakes/faults.h"
#include "verify/mistakes/lookup.h"
#include "verify/upload/geometry.h"

/* What becomes of a number; the first ones are mistakes that people make: it is ignored, a power of two as
 * heads are padded, or cut, one more, one less. */
static const char *const changes[] = {NULL,
                                      "x > 1 ? 2^ceil(log2(x)) : x",
                                      "x > 1 ? 2^floor(log2(x)) : x",
                                      "x + 1",
                                      "x - 1",
                                      "2*x",
                                      "x/2",
                                      "10*x",
                                      "x/10",
                                      "4*x",
                                      "x/4",
                                      "8*x",
                                      "x/8",
                                      "16*x",
                                      "x/16",
                                      "32*x",
                                      "x/32",
                                      "64*x"};
enum { IGNORED, NEXT_POWER, LAST_POWER, LIKELY = 5 };

/* Of two values that were ignored, the first one comes first. */
static bool is_behind(const pe_guess *guess, size_t i)
{
    const pe_fault *last = guess->n_faults > 0 ? guess->faults[guess->n_faults - 1] : NULL;
    return last == NULL || last->change != pe_changes_ignored ||
           pe_values_find(&guess->values, last->param) < &guess->values.value[i];
}

static bool can_be_ignored(const pe_param *row)
{
    return row->kind == PE_KIND_INT || row->kind == PE_KIND_REAL ||
           (row->kind == PE_KIND_REAL_LIST && row->optional);
}

bool pe_value_faults_ignored(const pe_guess *guess, size_t i, pe_fault *out)
{
    const pe_param *row = guess->values.value[i].param;
    *out = (pe_fault){.param = row->name, .change = pe_changes_ignored};
    return can_be_ignored(row) && is_behind(guess, i);
}

bool pe_value_faults_nth(const pe_guess *guess, size_t i, size_t k, pe_fault *out)
{
    /* of the claim, not of the table; indices that run the other way have a name of their own */
    static const char *const kept[] = {"dtype", "numerics", "distance"};
    const pe_value *value = &guess->values.value[i];
    const pe_param *row = value->param;
    *out = (pe_fault){.param = row->name};
    for (size_t n = 0; n < PE_LEN(kept); n++)
        if (strcmp(kept[n], row->name) == 0)
            return false;
    if (!value->present)
        return false;
    if (row->kind == PE_KIND_CHOICE) {
        out->change = strcmp(row->name, "convention") == 0 ? pe_changes_variant : pe_changes_choice;
        out->text = row->choices[k];
        return out->text != NULL;
    }
    if (row->kind == PE_KIND_BOOL) {
        out->change = pe_changes_truth;
        return k == 0;
    }
    if (row->kind == PE_KIND_POSITIONS && k < 2) {
        out->change = pe_changes_shift;
        out->value = k == 0 ? 1 : -1;
        return strcmp(row->name, "positions") != 0; /* which a guess moves otherwise */
    }
    if (k == IGNORED && can_be_ignored(row)) {
        out->change = pe_changes_ignored;
        return true;
    }
    if ((row->kind != PE_KIND_INT && row->kind != PE_KIND_REAL) || k >= PE_LEN(changes))
        return false;
    /* indices are compared exactly, and few whole numbers give them */
    const bool indices =
        guess->claim->uploads[0].array.dtype == PE_INT32 || pe_lookup_is(guess->claim->resource);
    if (k >= LIKELY && indices && row->kind == PE_KIND_REAL)
        return false;
    out->fitted = k >= LIKELY && !indices;
    out->change = pe_changes_number;
    out->op = row->kind == PE_KIND_REAL && (k == NEXT_POWER || k == LAST_POWER) ? "x" : changes[k];
    return true;
}

/* ==== a fault is added to a guess: what it changes, and what is said of it ==== */

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
