/* SPDX-License-Identifier: MIT */
/* rope_read.c - the parameters of a rotation, checked against each other. */
#include <math.h>
#include <stdlib.h>

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"
#include "plan/common_params.h"
#include "plan/plan.h"

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
    PE_TRY(pe_rope_type_keys_read(values, rope->pairs, rope->formula, why));
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
    const pe_status keys = pe_rope_type_keys_check(values, type, why);
    const pe_status dims = read_dims(values, type, rope, &mistake);
    pe_status status = pe_problem_collect(keys, dims, &mistake, why);
    if (dims != PE_OK || pe_status_is_ours(keys))
        return status;
    rope->pairing = (pe_pairing)pe_values_choice(values, "pairing");
    rope->float32 = pe_values_choice(values, "numerics") == PE_NUMERICS_FLOAT32;
    rope->formula = pe_rope_formula_make(
        type, pe_values_real(values, "rope_theta"), rope->rotary_dim,
        pe_rope_type_keys_room(values, type, rope->pairs), &rope->formula_bytes);
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
    const pe_status axes = pe_values_present(values, "axes_dims")
                               ? pe_rope_inv_freq_read(values, rope, &mistake)
                               : pe_rope_mrope_read(values, rope, &mistake);
    return PE_ALSO(status, axes);
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
        pe_rope_type_keys_check(values, pe_rope_types[pe_values_choice(values, "rope_type")], why);
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
