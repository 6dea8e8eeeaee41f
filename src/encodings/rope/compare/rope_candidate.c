/* SPDX-License-Identifier: MIT */
/* rope_candidate.c - one of several rope types, read as rope/frequencies would read it. */
#include "encodings/rope/compare/rope_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/rope_keys.h"
#include "exact/round.h"

static pe_status copy_value(const pe_value *from, pe_value *to, pe_problem *why)
{
    *to = *from;
    if (from->list == NULL)
        return PE_OK;
    to->list = malloc(from->list_length * sizeof *to->list);
    if (to->list == NULL)
        return pe_fail_memory(why);
    memcpy(to->list, from->list, from->list_length * sizeof *to->list);
    return PE_OK;
}

/* dtype and numerics are those of the comparison, and change no frequency. */
static bool is_wanted(const pe_param *param, const pe_rope_type *type)
{
    const pe_rope_key key = pe_rope_key_find(param->name);
    if (key == PE_ROPE_KEYS)
        return param->kind == PE_KIND_INT || param->kind == PE_KIND_REAL;
    return (type->reads & PE_ROPE_BIT(key)) != 0;
}

static pe_status copy_values(const pe_values *from, const pe_rope_type *type, pe_values *to,
                             pe_problem *why)
{
    for (size_t i = 0; i < from->n; i++) {
        pe_value *value = pe_values_find(to, from->params[i].name);
        if (value == NULL || !from->value[i].present || !is_wanted(&from->params[i], type))
            continue;
        const pe_status status = copy_value(&from->value[i], value, why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}

static void set_type(const pe_rope_type *type, const pe_rope_lengths *lengths, pe_values *values)
{
    pe_value *choice = pe_values_find(values, "rope_type");
    while (pe_rope_types[choice->choice] != type)
        choice->choice++;
    choice->present = true;
    if ((type->reads & PE_ROPE_BIT(PE_ROPE_SEQ_LEN)) != 0)
        pe_values_set_int(values, "seq_len", (int64_t)lengths->target);
    if ((type->reads & PE_ROPE_BIT(PE_ROPE_ORIGINAL)) != 0)
        pe_values_set_int(values, "original_max_position_embeddings", (int64_t)lengths->trained);
}

static void base_eval(const void *context, size_t index, mpfr_ptr out)
{
    const pe_rope_formula *formula = context;
    (void)index;
    formula->type->base(formula, out);
}

static pe_status read(const pe_rope_lengths *lengths, pe_tables *tables, pe_rope_candidate *out,
                      pe_problem *why)
{
    set_type(out->type, lengths, &out->values);
    pe_status status = pe_values_defaults(&out->values, why);
    if (status == PE_OK)
        status = pe_rope_params_read(&out->values, &out->rope, why);
    if (status == PE_OK)
        status = pe_rope_wave(&out->rope, tables, PE_ROPE_PLAIN, &out->wave, why);
    if (status != PE_OK)
        return status;
    const pe_rope_formula *formula = out->rope.formula;
    out->base = out->type->base == NULL ? formula->theta
                                        : pe_exact_round(PE_FLOAT64, base_eval, formula, 0);
    out->attention_factor = pe_rope_waves_attention_factor(&out->rope);
    return PE_OK;
}

pe_status pe_rope_candidate_make(const pe_values *values, const pe_rope_type *type,
                                 const pe_rope_lengths *lengths, pe_tables *tables,
                                 pe_rope_candidate *out, pe_problem *why)
{
    pe_rope_candidate made = {.type = type};
    pe_status status =
        pe_values_make(pe_rope_frequencies.params, pe_rope_frequencies.n_params, &made.values, why);
    if (status == PE_OK)
        status = copy_values(values, type, &made.values, why);
    if (status == PE_OK)
        status = read(lengths, tables, &made, why);
    if (status != PE_OK) {
        if (strcmp(why->where, "rope_type") == 0)
            snprintf(why->where, sizeof why->where, "rope_types");
        pe_rope_candidate_free(&made);
        return status;
    }
    *out = made;
    return PE_OK;
}

void pe_rope_candidate_free(pe_rope_candidate *candidate)
{
    pe_tables_wave_unref(&candidate->wave);
    pe_rope_free(&candidate->rope);
    pe_values_free(&candidate->values);
}
