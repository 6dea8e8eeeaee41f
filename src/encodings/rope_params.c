/* SPDX-License-Identifier: MIT */
/* rope_params.c - the parameters that rope resources share, checked against each other. */
#include "encodings/rope_params.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pe_rope_pairings[] = {
    [PE_PAIRING_INTERLEAVED] = "interleaved", [PE_PAIRING_HALF] = "half", NULL};

static const char *const key_names[PE_ROPE_KEYS] = {
    [PE_ROPE_FACTOR] = "factor",
    [PE_ROPE_MAX_POSITIONS] = "max_position_embeddings",
    [PE_ROPE_SEQ_LEN] = "seq_len",
    [PE_ROPE_ORIGINAL] = "original_max_position_embeddings",
    [PE_ROPE_ATTENTION_FACTOR] = "attention_factor",
    [PE_ROPE_BETA_FAST] = "beta_fast",
    [PE_ROPE_BETA_SLOW] = "beta_slow",
    [PE_ROPE_MSCALE] = "mscale",
    [PE_ROPE_MSCALE_ALL_DIM] = "mscale_all_dim",
    [PE_ROPE_TRUNCATE] = "truncate",
    [PE_ROPE_LOW_FREQ_FACTOR] = "low_freq_factor",
    [PE_ROPE_HIGH_FREQ_FACTOR] = "high_freq_factor",
    [PE_ROPE_SHORT_FACTOR] = "short_factor",
    [PE_ROPE_LONG_FACTOR] = "long_factor",
};

pe_status pe_rope_fail(const pe_values *values, pe_status status, const char *name, pe_problem *why,
                       const char *format, ...)
{
    char where[sizeof why->where], detail[sizeof why->detail];
    const pe_value *value = pe_values_find(values, name);
    const bool nested = value != NULL && value->parent != NULL;
    snprintf(where, sizeof where, "%s%s%s", nested ? value->parent : "", nested ? "/" : "", name);
    va_list list;
    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    return pe_fail(why, status, where, "%s", detail);
}

/* ---- keys of the type ---------------------------------------------------------------------------
 */

static bool reads(const pe_rope_type *type, pe_rope_key key)
{
    return (type->reads & PE_ROPE_BIT(key)) != 0;
}

static pe_status check_keys(const pe_values *values, const pe_rope_type *type, pe_problem *why)
{
    for (pe_rope_key k = 0; k < PE_ROPE_KEYS; k++) {
        const char *name = key_names[k];
        if (pe_values_given(values, name) && !reads(type, k) && k != PE_ROPE_MAX_POSITIONS)
            return pe_rope_fail(values, PE_INVALID_PARAMETER, name, why,
                                "%s is not read by rope_type %s", name, type->name);
        if (!pe_values_present(values, name) && (type->needs & PE_ROPE_BIT(k)) != 0)
            return pe_fail(why, PE_MISSING_PARAMETER, name, "rope_type %s needs %s", type->name,
                           name);
    }
    return PE_OK;
}

/* Defaults of the type's own, and lengths that are max_position_embeddings where not said. */
static pe_status fill_keys(pe_values *values, const pe_rope_type *type, pe_problem *why)
{
    static const pe_rope_key lengths[] = {PE_ROPE_ORIGINAL, PE_ROPE_SEQ_LEN};
    for (size_t d = 0; d < type->n_defaults; d++) {
        pe_value *value = pe_values_find(values, key_names[type->defaults[d].key]);
        if (value->present)
            continue;
        value->real = type->defaults[d].value;
        value->truth = type->defaults[d].value != 0;
        value->present = true;
    }
    for (size_t l = 0; l < PE_LEN(lengths); l++) {
        const char *name = key_names[lengths[l]];
        if (!reads(type, lengths[l]) || pe_values_present(values, name))
            continue;
        if (!pe_values_present(values, "max_position_embeddings"))
            return pe_fail(why, PE_MISSING_PARAMETER, name,
                           "rope_type %s needs %s, or max_position_embeddings in its place",
                           type->name, name);
        pe_values_set_int(values, name, pe_values_int(values, "max_position_embeddings"));
    }
    return PE_OK;
}

static double number_of(const pe_values *values, const char *name)
{
    const pe_value *value = pe_values_find(values, name);
    const pe_param *param = &values->params[value - values->value];
    if (param->kind == PE_KIND_BOOL)
        return value->truth ? 1 : 0;
    return param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

static void read_keys(const pe_values *values, pe_rope_formula *formula)
{
    for (pe_rope_key k = 0; k < PE_ROPE_KEYS; k++) {
        if (!reads(formula->type, k) || !pe_values_present(values, key_names[k]))
            continue;
        formula->given |= PE_ROPE_BIT(k);
        if (k != PE_ROPE_SHORT_FACTOR && k != PE_ROPE_LONG_FACTOR)
            formula->key[k] = number_of(values, key_names[k]);
    }
}

static pe_status check_list(const pe_values *values, const char *name, size_t pairs,
                            pe_problem *why)
{
    const size_t n = pe_values_find(values, name)->list_length;
    if (n == pairs)
        return PE_OK;
    return pe_rope_fail(values, PE_INVALID_PARAMETER, name, why,
                        "%s must have rotary_dim/2 = %zu numbers, got %zu", name, pairs, n);
}

/* Lists into a formula made with room for them. */
static pe_status read_lists(const pe_values *values, size_t pairs, pe_rope_formula *formula,
                            pe_problem *why)
{
    pe_status status = PE_OK;
    if (reads(formula->type, PE_ROPE_LONG_FACTOR)) {
        const bool beyond = formula->key[PE_ROPE_SEQ_LEN] > formula->key[PE_ROPE_ORIGINAL];
        const pe_value *list = pe_values_find(values, beyond ? "long_factor" : "short_factor");
        status = check_list(values, "short_factor", pairs, why);
        if (status == PE_OK)
            status = check_list(values, "long_factor", pairs, why);
        if (status != PE_OK)
            return status;
        memcpy(formula->list, list->list, pairs * sizeof(double));
        formula->n_list = pairs;
    }
    if (pe_values_present(values, "freq_factors")) {
        status = check_list(values, "freq_factors", pairs, why);
        if (status != PE_OK)
            return status;
        memcpy(formula->list + formula->n_list, pe_values_find(values, "freq_factors")->list,
               pairs * sizeof(double));
        formula->n_freq_factors = pairs;
    }
    return PE_OK;
}

static size_t room_for_lists(const pe_values *values, const pe_rope_type *type, size_t pairs)
{
    const size_t lists = (reads(type, PE_ROPE_LONG_FACTOR) ? 1U : 0U) +
                         (pe_values_present(values, "freq_factors") ? 1U : 0U);
    return lists * pairs;
}

/* ---- dimensions ---------------------------------------------------------------------------------
 */

/* rotary_dim was left out: as Hugging Face derives it, int(head_dim * partial_rotary_factor). */
static pe_status derive_rotary_dim(pe_values *values, int64_t head_dim, pe_problem *why)
{
    const double share = pe_values_real(values, "partial_rotary_factor");
    const int64_t dim = (int64_t)((double)head_dim * share);
    if (dim >= 2 && dim % 2 == 0) {
        pe_values_set_int(values, "rotary_dim", dim);
        return PE_OK;
    }
    if (!pe_values_given(values, "partial_rotary_factor"))
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "head_dim", why,
                            "head_dim must be even where all of it rotates, got %lld",
                            (long long)head_dim);
    return pe_rope_fail(values, PE_INVALID_PARAMETER, "partial_rotary_factor", why,
                        "int(head_dim * partial_rotary_factor) must be even and at least 2, got "
                        "%lld",
                        (long long)dim);
}

static pe_status check_rotary_dim(pe_values *values, int64_t head_dim, pe_problem *why)
{
    const int64_t dim = pe_values_int(values, "rotary_dim");
    if (dim % 2 != 0)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "rotary_dim", why,
                            "rotary_dim must be even, got %lld", (long long)dim);
    if (dim > head_dim)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "rotary_dim", why,
                            "rotary_dim must be at most head_dim, %lld, got %lld",
                            (long long)head_dim, (long long)dim);
    if (!pe_values_present(values, "partial_rotary_factor")) {
        pe_values_set_real(values, "partial_rotary_factor", (double)dim / (double)head_dim);
        return PE_OK;
    }
    /* a share that came from rotary_dim / head_dim is fine though its product may fall short */
    const double share = pe_values_real(values, "partial_rotary_factor");
    if ((int64_t)((double)head_dim * share) != dim && share != (double)dim / (double)head_dim)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "rotary_dim", why,
                            "rotary_dim must be int(head_dim * partial_rotary_factor) = %lld where "
                            "both are given, got %lld",
                            (long long)((double)head_dim * share), (long long)dim);
    return PE_OK;
}

/* All of the head has frequencies; the share tells which of them are not 0. */
static pe_status check_whole_head(pe_values *values, const pe_rope_type *type, int64_t head_dim,
                                  pe_problem *why)
{
    if (head_dim % 2 != 0)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "head_dim", why,
                            "head_dim must be even with rope_type %s, got %lld", type->name,
                            (long long)head_dim);
    if (!pe_values_present(values, "rotary_dim"))
        pe_values_set_int(values, "rotary_dim", head_dim);
    if (pe_values_int(values, "rotary_dim") != head_dim)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "rotary_dim", why,
                            "rotary_dim must be head_dim, %lld, with rope_type %s, got %lld",
                            (long long)head_dim, type->name,
                            (long long)pe_values_int(values, "rotary_dim"));
    if (!pe_values_present(values, "partial_rotary_factor"))
        pe_values_set_real(values, "partial_rotary_factor", 1);
    return PE_OK;
}

/* Pairs that turn: int(head_dim * partial_rotary_factor // 2) of a whole head, else all. */
static uint64_t turning(const pe_values *values, const pe_rope_type *type, const pe_rope *rope)
{
    if (!type->whole_head)
        return rope->pairs;
    return (uint64_t)((double)rope->head_dim * pe_values_real(values, "partial_rotary_factor") / 2);
}

static pe_status read_dims(pe_values *values, const pe_rope_type *type, pe_rope *rope,
                           pe_problem *why)
{
    pe_status status;
    const int64_t head_dim = pe_values_int(values, "head_dim");
    if (type->whole_head) {
        status = check_whole_head(values, type, head_dim, why);
    } else if (pe_values_present(values, "rotary_dim")) {
        status = check_rotary_dim(values, head_dim, why);
    } else {
        if (!pe_values_present(values, "partial_rotary_factor"))
            pe_values_set_real(values, "partial_rotary_factor", 1);
        status = derive_rotary_dim(values, head_dim, why);
    }
    if (status != PE_OK)
        return status;
    rope->head_dim = (size_t)head_dim;
    rope->rotary_dim = (size_t)pe_values_int(values, "rotary_dim");
    rope->pairs = rope->rotary_dim / 2;
    if (rope->rotary_dim < type->min_dim)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "rope_type", why,
                            "rope_type %s needs a rotary_dim of at least %u: %s", type->name,
                            type->min_dim, type->min_dim_is);
    return PE_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

/* The float32 path takes powers of the base in float32: it must have one. */
static pe_status check_float32(const pe_values *values, const pe_rope *rope, pe_problem *why)
{
    const pe_rope_formula *formula = rope->formula;
    if (!rope->float32 || formula->type->base == NULL)
        return PE_OK;
    mpfr_t base;
    mpfr_init2(base, 64);
    formula->type->base(formula, base);
    const float base32 = mpfr_get_flt(base, MPFR_RNDN);
    mpfr_clear(base);
    if (isfinite(base32))
        return PE_OK;
    return pe_rope_fail(values, PE_INVALID_PARAMETER, "numerics", why,
                        "the scaled base overflows float32, so numerics=float32 has no value");
}

static pe_status read_formula(const pe_values *values, const pe_rope_type *type, pe_rope *rope,
                              pe_problem *why)
{
    rope->formula =
        pe_rope_formula_make(type, pe_values_real(values, "rope_theta"), rope->rotary_dim,
                             room_for_lists(values, type, rope->pairs), &rope->formula_bytes);
    if (rope->formula == NULL)
        return pe_fail_memory(why);
    rope->formula->turning = turning(values, type, rope);
    read_keys(values, rope->formula);
    pe_status status = read_lists(values, rope->pairs, rope->formula, why);
    if (status == PE_OK && type->check != NULL)
        status = type->check(values, rope->formula, why);
    return status != PE_OK ? status : check_float32(values, rope, why);
}

pe_status pe_rope_read(pe_values *values, pe_rope *out, pe_problem *why)
{
    const pe_rope_type *type = pe_rope_types[pe_values_choice(values, "rope_type")];
    pe_rope rope = {.pairing = (pe_pairing)pe_values_choice(values, "pairing"),
                    .float32 = pe_values_choice(values, "numerics") == PE_NUMERICS_FLOAT32};
    pe_status status = check_keys(values, type, why);
    if (status == PE_OK)
        status = fill_keys(values, type, why);
    if (status == PE_OK)
        status = read_dims(values, type, &rope, why);
    if (status == PE_OK)
        status = read_formula(values, type, &rope, why);
    if (status != PE_OK) {
        pe_rope_free(&rope);
        return status;
    }
    *out = rope;
    return PE_OK;
}

void pe_rope_free(pe_rope *rope)
{
    if (rope == NULL)
        return;
    free(rope->formula);
    *rope = (pe_rope){0};
}
