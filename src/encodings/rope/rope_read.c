/* SPDX-License-Identifier: MIT */
/* rope_read.c - the parameters of a rotation, checked against each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"
#include "plan/common_params.h"
#include "plan/plan.h"

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

/* How many numbers a formula of this type needs room for. */
static size_t keys_room(const pe_values *values, const pe_rope_type *type, size_t pairs)
{
    const size_t lists = (reads(type, PE_ROPE_LONG_FACTOR) ? 1U : 0U) +
                         (pe_values_present(values, "freq_factors") ? 1U : 0U) +
                         (pe_values_present(values, "lerope_alpha") ? 1U : 0U);
    return lists * pairs;
}

/*
 * Refuse keys that the type does not read, require those it needs, and fill in its defaults, which
 * become part of the canonical form.
 * Errors  INVALID_PARAMETER, MISSING_PARAMETER.
 */
static pe_status check_keys(pe_values *values, const pe_rope_type *type, pe_problem *why)
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

/* Copy checked keys and lists into a formula that has that room.
 * Errors  INVALID_PARAMETER: a list is not as long as there are pairs. */
static pe_status read_keys(const pe_values *values, size_t pairs, pe_rope_formula *formula,
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

/* ---- dimensions ---- */

/* An absent rotary_dim is int(head_dim * partial_rotary_factor), as Hugging Face derives it. */
static pe_status derive_rotary_dim(pe_values *values, int64_t head_dim, pe_problem *why)
{
    const double share = pe_values_real(values, "partial_rotary_factor");
    const int64_t dim = (int64_t)((double)head_dim * share);
    if (dim >= 2 && dim % 2 == 0) {
        pe_values_set_int(values, "rotary_dim", dim);
        return PE_OK;
    }
    if (!pe_values_given(values, "partial_rotary_factor"))
        return pe_values_invalid(values, "head_dim", why,
                                 "head_dim must be even where all of it rotates, got %lld; "
                                 "rotary_dim says how many channels do",
                                 (long long)head_dim);
    return pe_values_invalid(
        values, "partial_rotary_factor", why,
        "int(head_dim * partial_rotary_factor) must be even and at least 2, got %lld",
        (long long)dim);
}

static pe_status check_rotary_dim(pe_values *values, int64_t head_dim, pe_problem *why)
{
    const int64_t dim = pe_values_int(values, "rotary_dim");
    if (dim % 2 != 0)
        return pe_values_invalid(values, "rotary_dim", why, "rotary_dim must be even, got %lld",
                                 (long long)dim);
    if (dim > head_dim)
        return pe_values_invalid(values, "rotary_dim", why,
                                 "rotary_dim must be at most head_dim, %lld, got %lld",
                                 (long long)head_dim, (long long)dim);
    if (!pe_values_present(values, "partial_rotary_factor")) {
        pe_values_set_real(values, "partial_rotary_factor", (double)dim / (double)head_dim);
        return PE_OK;
    }
    /* The share rotary_dim / head_dim is accepted, though its product may round below rotary_dim.
     * */
    const double share = pe_values_real(values, "partial_rotary_factor");
    if ((int64_t)((double)head_dim * share) != dim && share != (double)dim / (double)head_dim)
        return pe_values_invalid(values, "rotary_dim", why,
                                 "rotary_dim must be int(head_dim * partial_rotary_factor) = %lld "
                                 "where both are given, got %lld",
                                 (long long)((double)head_dim * share), (long long)dim);
    return PE_OK;
}

/* Every pair of the head has a frequency; the share says how many are not 0. */
static pe_status check_whole_head(pe_values *values, const pe_rope_type *type, int64_t head_dim,
                                  pe_problem *why)
{
    if (head_dim % 2 != 0)
        return pe_values_invalid(values, "head_dim", why,
                                 "head_dim must be even with rope_type %s, got %lld", type->name,
                                 (long long)head_dim);
    if (!pe_values_present(values, "rotary_dim"))
        pe_values_set_int(values, "rotary_dim", head_dim);
    if (pe_values_int(values, "rotary_dim") != head_dim)
        return pe_values_invalid(values, "rotary_dim", why,
                                 "rotary_dim must be head_dim, %lld, with rope_type %s, got %lld",
                                 (long long)head_dim, type->name,
                                 (long long)pe_values_int(values, "rotary_dim"));
    if (!pe_values_present(values, "partial_rotary_factor"))
        pe_values_set_real(values, "partial_rotary_factor", 1);
    return PE_OK;
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
    PE_TRY(status);
    rope->head_dim = (size_t)head_dim;
    rope->rotary_dim = pe_values_size(values, "rotary_dim");
    rope->pairs = rope->rotary_dim / 2;
    if (rope->rotary_dim < type->min_dim)
        return pe_values_invalid(values, "rope_type", why,
                                 "rope_type %s needs a rotary_dim of at least %u: %s", type->name,
                                 type->min_dim, type->min_dim_is);
    /* An offset of 0 is the same as none: both have one canonical form. */
    pe_value *offset = pe_values_find(values, "rotary_offset");
    if (offset == NULL || !offset->present)
        return PE_OK;
    const int64_t most = (int64_t)(rope->head_dim - rope->rotary_dim);
    if (offset->integer > most)
        return pe_values_invalid(
            values, "rotary_offset", why,
            "rotary_offset must be at most head_dim - rotary_dim = %lld, got %lld", (long long)most,
            (long long)offset->integer);
    rope->rotary_offset = (size_t)offset->integer;
    offset->present = offset->integer != 0;
    return PE_OK;
}

/* ---- the rotation ---- */

/* keys: the type's are there, and no others. */
static pe_status read_formula(const pe_values *values, bool keys, pe_rope *rope, pe_problem *why)
{
    const pe_rope_type *type = rope->formula->type;
    PE_TRY(read_keys(values, rope->pairs, rope->formula, why));
    if (!keys)
        return PE_OK;
    PE_TRY(type->check != NULL ? type->check(values, rope->formula, why) : PE_OK);
    /* numerics=float32 needs a reference that computes the type, and a scaled base that is a
     * float32. */
    const pe_rope_formula *formula = rope->formula;
    if (rope->float32 && formula->type->exact_only)
        return pe_values_invalid(
            values, "numerics", why,
            "numerics must be exact with rope_type %s, which no reference computes in float32",
            formula->type->name);
    if (!rope->float32 || formula->type->base == NULL)
        return PE_OK;
    mpfr_t base;
    mpfr_init2(base, 64);
    formula->type->base(formula, base);
    const float base32 = mpfr_get_flt(base, MPFR_RNDN);
    mpfr_clear(base);
    if (isfinite(base32))
        return PE_OK;
    return pe_values_invalid(values, "numerics", why,
                             "the scaled base overflows float32, so numerics=float32 has no value");
}

bool pe_rope_has_one_axis(const pe_values *values)
{
    return !pe_values_present(values, "axes_dims") && !pe_values_present(values, "mrope_section");
}

static pe_status read_rope(pe_values *values, pe_rope *rope, pe_problem *why)
{
    const pe_rope_type *type = pe_rope_types[pe_values_choice(values, "rope_type")];
    pe_problem mistake;
    const pe_status keys = check_keys(values, type, why);
    const pe_status dims = read_dims(values, type, rope, &mistake);
    pe_status status = pe_problem_collect(keys, dims, &mistake, why);
    if (dims != PE_OK || pe_status_is_ours(keys))
        return status;
    rope->pairing = (pe_pairing)pe_values_choice(values, "pairing");
    rope->float32 = pe_values_choice(values, "numerics") == PE_NUMERICS_FLOAT32;
    rope->formula =
        pe_rope_formula_make(type, pe_values_real(values, "rope_theta"), rope->rotary_dim,
                             keys_room(values, type, rope->pairs), &rope->formula_bytes);
    if (rope->formula == NULL)
        return PE_ALSO(status, pe_fail_memory(&mistake));
    /* Pairs that rotate: int(head_dim * partial_rotary_factor // 2) of a whole head, else all. */
    rope->formula->turning = rope->pairs;
    if (type->whole_head)
        rope->formula->turning = (uint64_t)((double)rope->head_dim *
                                            pe_values_real(values, "partial_rotary_factor") / 2);
    rope->formula->float32 = rope->float32 ? 1 : 0;
    const pe_status read = read_formula(values, keys == PE_OK, rope, &mistake);
    status = PE_ALSO(status, read);
    return PE_ALSO(status, pe_rope_mrope_read(values, rope, &mistake));
}

pe_status pe_rope_read(pe_values *values, pe_tables *tables, pe_rope *out, pe_problem *why)
{
    pe_rope rope = {.tables = tables};
    const pe_status status = read_rope(values, &rope, why);
    if (status == PE_OK)
        *out = rope;
    else
        pe_rope_free(&rope);
    return status;
}

pe_status pe_rope_read_bare(pe_values *values, pe_problem *why)
{
    pe_problem mistake;
    const pe_status status =
        check_keys(values, pe_rope_types[pe_values_choice(values, "rope_type")], why);
    return PE_ALSO(status, pe_rope_mrope_check(values, &mistake));
}

pe_status pe_rope_plan(pe_values *values, pe_plan *plan, pe_rope *out, pe_problem *why)
{
    PE_TRY(pe_rope_read(values, plan->tables, out, why));
    pe_plan_owns(plan, out->formula, free);
    pe_plan_owns(plan, out->axes, free);
    return PE_OK;
}

pe_status pe_rope_plan_beside(pe_status so_far, pe_values *values, pe_plan *plan, pe_rope *out,
                              pe_problem *why)
{
    pe_problem mistake;
    const bool bare = so_far != PE_OK && !pe_values_present(values, "head_dim");
    const pe_status status =
        bare ? pe_rope_read_bare(values, &mistake) : pe_rope_plan(values, plan, out, &mistake);
    return PE_ALSO(so_far, status);
}

void pe_rope_free(pe_rope *rope)
{
    if (rope == NULL)
        return;
    free(rope->formula);
    free(rope->axes);
    *rope = (pe_rope){0};
}

/* Warn of the first position that is no float32. Of a range the two at each end are enough: where two
 * neighbours are float32, so are all positions nearer to 0. */
static void warn_positions(const pe_rope *rope, const pe_positions *positions, pe_plan *plan)
{
    const size_t parts = pe_positions_parts(positions);
    for (size_t k = 0; k < parts && rope->float32; k++) {
        const pe_positions part = pe_positions_part(positions, k, parts);
        const size_t n = part.count;
        const size_t ends[] = {0, n > 1 ? 1 : 0, n > 1 ? n - 2 : 0, n - 1};
        const bool range = part.list == NULL;
        for (size_t r = 0; r < (range ? PE_LEN(ends) : n); r++) {
            const double at = pe_positions_at(&part, range ? ends[r] : r);
            if ((double)(float)at == at || at != floor(at))
                continue;
            pe_plan_warn(plan,
                         "with numerics=float32 positions are rounded to float32, as the "
                         "reference does: %.0f is turned as %.0f",
                         at, (double)(float)at);
            return;
        }
    }
}

void pe_rope_warnings_add(const pe_rope *rope, const pe_positions *positions, pe_plan *plan)
{
    const pe_rope_type *type = rope->formula->type;
    if (type->warn != NULL)
        type->warn(rope->formula, plan);
    if (positions == NULL)
        return;
    warn_positions(rope, positions, plan);
    if (type->warn_positions != NULL)
        type->warn_positions(rope->formula, positions, plan);
}
