/* SPDX-License-Identifier: MIT */
/* rope_type_keys.c - the keys that only some rope types read: refused, filled in, read. */
#include <stdlib.h>
#include <string.h>

#include "encodings/rope/rope.h"

static bool reads(const pe_rope_type *type, pe_rope_key key)
{
    return (type->reads & PE_ROPE_BIT(key)) != 0;
}

/* "factor is not read by rope_type default; these read it: linear, ntk" */
static pe_status fail_unread(const pe_values *values, const pe_rope_type *type, pe_rope_key key,
                             pe_problem *why)
{
    const char *name = pe_rope_key_name(key);
    pe_buffer readers = {0};
    for (size_t t = 0; pe_rope_types[t] != NULL; t++)
        if (reads(pe_rope_types[t], key))
            pe_buffer_format(&readers, "%s%s", readers.bytes == 0 ? "" : ", ",
                             pe_rope_types[t]->name);
    /* seq_len does not say for how many positions a table is. */
    static const char *const names[] = {"positions", "offsets"};
    for (size_t i = 0; i < PE_LEN(names) && key == PE_ROPE_SEQ_LEN; i++)
        if (pe_values_find(values, names[i]) != NULL)
            pe_buffer_format(&readers, "; %s=0:%lld is for that many %s", names[i],
                             (long long)pe_values_int(values, "seq_len"), names[i]);
    const pe_status status = pe_values_invalid(
        values, name, why, "%s is not read by rope_type %s; give a rope_type that reads it: %s",
        name, type->name, pe_buffer_text(&readers));
    pe_buffer_free(&readers);
    return status;
}

static pe_status check_list(const pe_values *values, const char *name, size_t pairs,
                            pe_problem *why)
{
    const size_t n = pe_values_find(values, name)->list_length;
    if (n == pairs)
        return PE_OK;
    return pe_values_invalid(values, name, why, "%s must have rotary_dim/2 = %zu numbers, got %zu",
                             name, pairs, n);
}

static void set_divisors(const pe_values *values, bool beyond, size_t pairs,
                         pe_rope_formula *formula)
{
    const pe_value *list = pe_values_find(values, beyond ? "long_factor" : "short_factor");
    memcpy(formula->list, list->list, pairs * sizeof(double));
    formula->n_list = pairs;
}

/* A list that any type has, at list + at; *count tells how many numbers it has. */
static pe_status read_own_list(const pe_values *values, const char *name, size_t pairs, double *at,
                               uint64_t *count, pe_problem *why)
{
    if (!pe_values_present(values, name))
        return PE_OK;
    PE_TRY(check_list(values, name, pairs, why));
    memcpy(at, pe_values_find(values, name)->list, pairs * sizeof(double));
    *count = pairs;
    return PE_OK;
}

size_t pe_rope_type_keys_room(const pe_values *values, const pe_rope_type *type, size_t pairs)
{
    const size_t lists = (reads(type, PE_ROPE_LONG_FACTOR) ? 1U : 0U) +
                         (pe_values_present(values, "freq_factors") ? 1U : 0U) +
                         (pe_values_present(values, "lerope_alpha") ? 1U : 0U);
    return lists * pairs;
}

pe_status pe_rope_type_keys_check(pe_values *values, const pe_rope_type *type, pe_problem *why)
{
    static const pe_rope_key lengths[] = {PE_ROPE_ORIGINAL, PE_ROPE_SEQ_LEN};
    pe_problem mistake;
    pe_status status = PE_OK;
    for (pe_rope_key k = 0; k < PE_ROPE_KEYS; k++) {
        const char *name = pe_rope_key_name(k);
        if (pe_values_given(values, name) && !reads(type, k) && k != PE_ROPE_MAX_POSITIONS)
            status = PE_ALSO(status, fail_unread(values, type, k, &mistake));
        else if (!pe_values_present(values, name) && (type->needs & PE_ROPE_BIT(k)) != 0)
            status = PE_ALSO(status, pe_fail(&mistake, PE_MISSING_PARAMETER, name,
                                             "rope_type %s needs %s", type->name, name));
    }
    /* Fill in the defaults of the type. */
    for (size_t d = 0; d < type->n_defaults; d++) {
        pe_value *value = pe_values_find(values, pe_rope_key_name(type->defaults[d].key));
        if (value->present)
            continue;
        value->real = type->defaults[d].value;
        value->truth = type->defaults[d].value != 0;
        value->present = true;
    }
    /* An absent length is max_position_embeddings. */
    for (size_t l = 0; l < PE_LEN(lengths); l++) {
        const char *name = pe_rope_key_name(lengths[l]);
        if (!reads(type, lengths[l]) || pe_values_present(values, name))
            continue;
        if (pe_values_present(values, "max_position_embeddings"))
            pe_values_set_int(values, name, pe_values_int(values, "max_position_embeddings"));
        else
            status = PE_ALSO(
                status, pe_fail(&mistake, PE_MISSING_PARAMETER, name,
                                "rope_type %s needs %s, or max_position_embeddings in its place",
                                type->name, name));
    }
    return status;
}

pe_status pe_rope_type_keys_read(const pe_values *values, size_t pairs, pe_rope_formula *formula,
                                 pe_problem *why)
{
    for (pe_rope_key k = 0; k < PE_ROPE_KEYS; k++) {
        if (!reads(formula->type, k) || !pe_values_present(values, pe_rope_key_name(k)))
            continue;
        const pe_value *value = pe_values_find(values, pe_rope_key_name(k));
        const pe_param_kind kind = value->param->kind;
        formula->given |= PE_ROPE_BIT(k);
        if (k != PE_ROPE_SHORT_FACTOR && k != PE_ROPE_LONG_FACTOR)
            formula->key[k] = kind == PE_KIND_BOOL  ? (value->truth ? 1 : 0)
                              : kind == PE_KIND_INT ? (double)value->integer
                                                    : value->real;
    }
    /* Copy the lists into a formula that has room for them. */
    pe_problem mistake;
    pe_status status = PE_OK;
    if (reads(formula->type, PE_ROPE_LONG_FACTOR) && pe_values_present(values, "short_factor") &&
        pe_values_present(values, "long_factor")) {
        /* The length of the sequence chooses one of them; both are checked. */
        status = check_list(values, "short_factor", pairs, why);
        status = PE_ALSO(status, check_list(values, "long_factor", pairs, &mistake));
        if (status == PE_OK)
            set_divisors(values, pe_rope_beyond(formula), pairs, formula);
    }
    double *at = formula->list + formula->n_list;
    status = PE_ALSO(status, read_own_list(values, "freq_factors", pairs, at,
                                           &formula->n_freq_factors, &mistake));
    at += formula->n_freq_factors;
    return PE_ALSO(status,
                   read_own_list(values, "lerope_alpha", pairs, at, &formula->n_alphas, &mistake));
}

pe_status pe_rope_type_keys_other(const pe_values *values, const pe_rope *rope, pe_rope *out,
                                  pe_problem *why)
{
    *out = *rope;
    out->axes = NULL; /* rope keeps them */
    out->formula = NULL;
    if (!reads(rope->formula->type, PE_ROPE_LONG_FACTOR))
        return PE_OK;
    out->formula = malloc(rope->formula_bytes);
    if (out->formula == NULL)
        return pe_fail_memory(why);
    memcpy(out->formula, rope->formula, rope->formula_bytes);
    set_divisors(values, !pe_rope_beyond(rope->formula), rope->pairs, out->formula);
    return PE_OK;
}
