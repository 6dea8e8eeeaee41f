/* SPDX-License-Identifier: MIT */
/* rope_candidate.c - one of several rope types, read as rope/frequencies would read it. */
#include "compare/rope_candidate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/rope.h"

static pe_status copy_value(const pe_value *from, pe_value *to, pe_problem *why)
{
    const pe_param *row = to->param;
    *to = *from;
    to->param = row;
    if (from->list == NULL)
        return PE_OK;
    to->list = malloc(from->list_length * sizeof *to->list);
    if (to->list == NULL)
        return pe_fail_memory(why);
    memcpy(to->list, from->list, from->list_length * sizeof *to->list);
    return PE_OK;
}

/* Not dtype and numerics: they are those of the comparison, and change no frequency. */
static bool is_wanted(const pe_param *param, const pe_rope_type *type)
{
    const pe_rope_key key = pe_rope_key_find(param->name);
    if (key == PE_ROPE_KEYS)
        return param->kind == PE_KIND_INT || param->kind == PE_KIND_REAL ||
               strcmp(param->name, "pairing") == 0;
    return (type->reads & PE_ROPE_BIT(key)) != 0;
}

/* The factor of the model's own type, and that of its publisher's setting, hold as far as they
 * reach; others are of the lengths, or the client's. */
static double own_factor(const pe_compared_model *own, const pe_rope_type *type,
                         const pe_rope_lengths *lengths)
{
    const bool derived =
        lengths->factor == lengths->target / lengths->trained && lengths->trained == own->trained;
    if (derived && type == own->advised && lengths->target == own->advised_length)
        return own->advised_factor;
    const pe_value *factor = pe_values_find(&own->layers->values, "factor");
    if (!derived || type != own->type || !factor->present)
        return lengths->factor;
    return lengths->target <= own->reach ? factor->real
                                         : factor->real * (lengths->target / own->reach);
}

static pe_status read_type(const pe_values *values, const pe_rope_lengths *lengths,
                           const pe_compared_model *own, pe_rope_candidate *out, pe_problem *why)
{
    for (size_t i = 0; i < values->n; i++) {
        pe_value *value = pe_values_find(&out->values, values->value[i].param->name);
        if (value == NULL || !values->value[i].present ||
            !is_wanted(values->value[i].param, out->type))
            continue;
        const pe_value *given = pe_values_find(values, values->value[i].param->name);
        PE_TRY(copy_value(given, value, why));
    }
    if (own->model != NULL) {
        /* What the request does not say of the model's own type is as the model has it. */
        const pe_rope_type *type = out->type;
        const pe_values *from = &own->layers->values;
        for (pe_rope_key k = 0; k < PE_ROPE_KEYS && type == own->type; k++) {
            const pe_value *value = pe_values_find(from, pe_rope_key_name(k));
            pe_value *mine = pe_values_find(&out->values, pe_rope_key_name(k));
            if ((type->reads & PE_ROPE_BIT(k)) != 0 && value->present && !mine->present)
                PE_TRY(copy_value(value, mine, why));
        }
        if ((type->reads & PE_ROPE_BIT(PE_ROPE_FACTOR)) != 0)
            pe_values_set_real(&out->values, "factor", own_factor(own, type, lengths));
    }
    const pe_rope_type *type = out->type;
    pe_value *choice = pe_values_find(&out->values, "rope_type");
    while (pe_rope_types[choice->choice] != type)
        choice->choice++;
    choice->present = true;
    if ((type->reads & PE_ROPE_BIT(PE_ROPE_ORIGINAL)) != 0)
        pe_values_set_int(&out->values, "original_max_position_embeddings",
                          (int64_t)lengths->trained);
    return PE_OK;
}

static pe_status read(const pe_values *values, const pe_rope_lengths *lengths,
                      const pe_compared_model *own, pe_tables *tables, pe_rope_candidate *out,
                      pe_problem *why)
{
    PE_TRY(pe_values_make(pe_rope_frequencies.param_sets, &out->values, why));
    if (out->type != NULL) {
        PE_TRY(read_type(values, lengths, own, out, why));
    } else if (own->model == NULL) {
        return pe_fail(why, PE_INVALID_PARAMETER, "rope_types",
                       "published is the configuration of a model: it needs model");
    } else {
        out->type = own->type;
        PE_TRY(pe_model_fill(&own->layers->values, &out->values, why));
    }
    if ((out->type->reads & PE_ROPE_BIT(PE_ROPE_SEQ_LEN)) != 0)
        pe_values_set_int(&out->values, "seq_len", (int64_t)lengths->target);
    PE_TRY(pe_values_defaults(&out->values, why));
    PE_TRY(pe_rope_read(&out->values, tables, &out->rope, why));
    out->base = pe_rope_wave_base(&out->rope);
    out->attention_factor = pe_rope_wave_attention_factor(&out->rope);
    return pe_rope_wave(&out->rope, PE_ROPE_PLAIN, &out->wave, why);
}

pe_status pe_rope_candidate_read(const pe_values *values, const pe_rope_lengths *lengths,
                                 const pe_compared_model *own, pe_tables *tables,
                                 pe_rope_candidate *candidate, pe_problem *why)
{
    const pe_status status = read(values, lengths, own, tables, candidate, why);
    if (status == PE_OK)
        return PE_OK;
    if (strcmp(why->where, "rope_type") == 0)
        snprintf(why->where, sizeof why->where, "rope_types");
    pe_rope_candidate_free(candidate);
    return status;
}

void pe_rope_candidate_free(pe_rope_candidate *candidate)
{
    pe_tables_wave_unref(&candidate->wave);
    pe_rope_free(&candidate->rope);
    pe_values_free(&candidate->values);
    *candidate = (pe_rope_candidate){0};
}
