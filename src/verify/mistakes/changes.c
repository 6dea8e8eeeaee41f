/* SPDX-License-Identifier: MIT */
/* changes.c - what faults do to the values, positions and numbers of a guess. */
#include "verify/mistakes/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "encodings/registry.h"
#include "plan/common_params.h"
#include "plan/plan.h"
#include "plan/resource.h"

/* ---- values ---- */

/* NULL: the resource has no such value, or it is absent. */
static pe_value *value_of(pe_guess *guess, const char *name)
{
    pe_value *value = pe_values_find(&guess->values, name);
    return value != NULL && value->present ? value : NULL;
}

/* What equations name beside values: x, what the value was, of n numbers, and how wide the upload is. */
typedef struct names {
    const double *x;
    double wide, n;
} names;

static double index_of(const void *of PE_UNUSED, double i)
{
    return i;
}

static const pe_term terms[] = {{.name = "x", .offset = offsetof(names, x), .listed = true},
                                {.name = "wide n", .offset = offsetof(names, wide)},
                                {.name = "i", .at = index_of},
                                {0}};

/* What an equation makes of item i; NAN: it says nothing of these values. */
static double number_of(const pe_guess *guess, const char *op, const double *x, size_t i, size_t n)
{
    pe_equation e;
    const pe_shape *shape = &guess->claim->uploads[0].array.shape;
    const names of = {x, shape->ndim > 0 ? (double)shape->dim[shape->ndim - 1] : 0, (double)n};
    return pe_equation_read(op, terms, NULL, &guess->values, NULL, &e)
               ? pe_equation_at(&e, &of, (double)i)
               : nan("");
}

/* Lists are those of axes: they are short. */
static bool set_list(const pe_guess *guess, pe_value *value, const char *op)
{
    double was[8] = {0};
    const size_t n = value->list_length;
    if (n > PE_LEN(was))
        return false;
    memcpy(was, value->list, n * sizeof *was);
    for (size_t i = 0; i < n; i++)
        value->list[i] = number_of(guess, op, was, i, n);
    return n > 0 && isfinite(value->list[0]);
}

/* Positions become times x + plus. */
static bool set_positions(const pe_guess *guess, pe_value *value, const char *op)
{
    const double plus = number_of(guess, op, &(double){0}, 0, 1);
    const double times = number_of(guess, op, &(double){1}, 0, 1) - plus;
    const pe_position_map map = {.times = times, .plus = plus};
    return isfinite(times) && pe_guess_map_positions(&value->positions, &map);
}

static double number_in(const pe_value *value)
{
    return value->param->kind == PE_KIND_INT      ? (double)value->integer
           : value->param->kind == PE_KIND_BOOL   ? value->truth
           : value->param->kind == PE_KIND_CHOICE ? (double)value->choice
                                                  : value->real;
}

static bool set_number(pe_value *value, double x)
{
    const pe_param *row = value->param;
    if (!(fabs(x) < 0x1p62) || ((row->min != 0 || row->max != 0) && (x < row->min || x > row->max)))
        return false;
    if (row->kind == PE_KIND_BOOL)
        value->truth = x != 0;
    else if (row->kind == PE_KIND_CHOICE)
        value->choice = (size_t)x;
    else if (row->kind == PE_KIND_INT)
        value->integer = (int64_t)floor(x);
    else
        value->real = x;
    return true;
}

/* A value becomes what an equation says, or the choice of that name. False: it cannot be that. */
static bool set(pe_guess *guess, pe_value *value, const char *op, double x)
{
    const pe_param *row = value->param;
    if (row->kind == PE_KIND_REAL_LIST)
        return set_list(guess, value, op);
    if (row->kind == PE_KIND_POSITIONS)
        return set_positions(guess, value, op);
    return (row->kind == PE_KIND_CHOICE && pe_geometry_set_choice(&guess->values, row->name, op)) ||
           set_number(value, number_of(guess, op, &x, 0, 1));
}

/* "name = equation; ...": values that follow from the first one, which was x; "none" leaves one out.
 * False: one cannot be that. */
static bool set_more(pe_guess *guess, const char *more, double x)
{
    char name[48], op[64];
    bool can = true;
    for (; more != NULL && sscanf(more, " %47[a-z_] = %63[^;]", name, op) == 2;
         more += strcspn(more, ";"), more += *more != '\0') {
        pe_value *value = pe_values_find(&guess->values, name);
        if (value != NULL && !set(guess, value, op, x)) {
            value->present = false;
            can &= strcmp(op, "none") == 0;
        }
    }
    return can;
}

/* ---- types of scaling ---- */

/* Published values of numbers that a type wants and the claim may lack. */
static const struct {
    const char *name;
    double value;
} usual[] = {{"low_freq_factor", 1}, {"high_freq_factor", 4}};

/* Put in the value that the type misses, or take out the one that it does not read: `why` is the
 * resource's complaint. False: nothing can be done. */
static bool satisfy(pe_values *values, const pe_problem *why)
{
    const char *name = why->where;
    pe_value *value = pe_values_find(values, name);
    if (value == NULL)
        return false;
    if (why->status == PE_INVALID_PARAMETER && value->present && value->param->optional) {
        value->present = value->given = false;
        return true;
    }
    for (size_t u = 0; u < PE_LEN(usual) && why->status == PE_MISSING_PARAMETER; u++)
        if (strcmp(usual[u].name, name) == 0) {
            pe_values_set_real(values, name, usual[u].value);
            return true;
        }
    return false;
}

static pe_status plan_as_client(pe_guess *guess, pe_problem *why)
{
    pe_plan plan = {0};
    for (size_t i = 0; i < guess->values.n; i++)
        guess->values.value[i].given = guess->values.value[i].present;
    const pe_status status = pe_guess_plan(guess, &guess->values, &plan, why);
    pe_plan_free(&plan);
    for (size_t i = 0; i < guess->values.n; i++)
        guess->values.value[i].given = false;
    return status;
}

/* Plan until the resource accepts the values as a client's. False: it never does. */
static bool complete_values(pe_guess *guess)
{
    for (size_t round = 0; round < 2 * guess->values.n; round++) {
        pe_problem why;
        if (plan_as_client(guess, &why) == PE_OK)
            return true;
        if (!satisfy(&guess->values, &why))
            return false;
    }
    return false;
}

bool pe_changes_ignored(pe_guess *guess, const pe_fault *fault)
{
    pe_problem why;
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || value->param->required)
        return false;
    if (!value->param->optional)
        return pe_value_default(value, &why) == PE_OK;
    pe_value_clear(value);
    *value = (pe_value){.param = value->param};
    return complete_values(guess);
}

/* A variant has defaults of its own. */
static void drop_defaults(pe_guess *guess, const char *variant)
{
    static const char *const own[] = {"beta", "position_offset", "rope_theta"};
    for (size_t i = 0; i < PE_LEN(own); i++) {
        pe_value *value = value_of(guess, own[i]);
        if (value != NULL && (!pe_values_given(&guess->claim->values, own[i]) ||
                              (i == 0 && strcmp(variant, "qwen") == 0)))
            value->present = false;
    }
}

bool pe_changes_set(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || !pe_faults_is_of(guess->claim->resource->name, fault->text))
        return false;
    const double x = number_in(value);
    if (pe_faults_is_of(fault->param, "variant convention"))
        drop_defaults(guess, fault->op);
    if (fault->op != NULL ? !set(guess, value, fault->op, x) : !set_number(value, fault->value))
        return false;
    if (strcmp(fault->param, "rotary_dim") == 0) /* where both are given, it says what that is */
        (void)set_more(guess, "partial_rotary_factor = rotary_dim/head_dim", x);
    if (!set_more(guess, fault->more, x))
        return false;
    guess->distortion.values_inexact |=
        fault->more != NULL || (fault->op != NULL && value->param->kind == PE_KIND_REAL &&
                                value->real != floor(value->real));
    return !pe_faults_is_of(fault->param, "rope_type method") || complete_values(guess);
}

/* ---- the attention factor ---- */

/* Does the resource tell an attention factor A that is not 1, and can it be given? */
static bool has_attention_scaling(pe_guess *guess, double *out)
{
    pe_plan plan = {0};
    pe_problem why;
    *out = 1;
    if (pe_values_find(&guess->values, "attention_factor") != NULL &&
        pe_guess_plan(guess, &guess->values, &plan, &why) == PE_OK)
        for (size_t s = 0; s < plan.n_scalars; s++)
            if (strcmp(plan.scalars[s].name, "attention_factor") == 0)
                *out = plan.scalars[s].value;
    pe_plan_free(&plan);
    return *out != 1;
}

/* Give the whole factor, so that no part of it is derived. */
static void set_attention(pe_guess *guess, double factor)
{
    pe_value *part = pe_values_find(&guess->values, "attn_factor");
    pe_values_set_real(&guess->values, "attention_factor", factor);
    if (part != NULL)
        part->present = false;
}

bool pe_changes_take_short(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    const pe_value *length = pe_values_find(&guess->values, "seq_len");
    if (!pe_geometry_has_rope_type(&guess->values, "longrope") ||
        (length != NULL && length->present &&
         length->integer <= pe_values_int(&guess->values, "original_max_position_embeddings")) ||
        !pe_changes_set(guess, fault))
        return false;
    if (fault->value == 0)
        return true;
    if (pe_geometry_pair_layout(guess->claim->resource) == NULL ||
        !has_attention_scaling(guess, &factor))
        return false;
    set_attention(guess, fault->value);
    return true;
}

/* ---- positions ---- */

/* Grids have no positions, nor do tables that tell their own. */
static bool has_positions(const pe_guess *guess)
{
    const pe_value *positions = pe_values_find(&guess->values, "positions");
    return positions != NULL && positions->present;
}

bool pe_changes_move_positions(pe_guess *guess, const pe_fault *fault)
{
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->round != NULL || map->move != NULL)
        return false;
    map->times *= fault->value;
    map->plus = map->plus * fault->value + fault->and_value;
    return true;
}

/* What positions are multiplied by before their waves; 0: they are not, or by a power of two, which
 * no floating-point type feels. */
static double scale_of(const pe_guess *guess)
{
    int exponent;
    const bool scaled = strcmp(guess->claim->resource->name, "sinusoidal") == 0;
    const double scale = scaled ? pe_values_real(&guess->values, "scale") : 1;
    return frexp(scale, &exponent) == 0.5 ? 0 : scale;
}

/* Does the map move any position? */
static bool moves_any(const pe_guess *guess, const pe_position_map *map)
{
    pe_equation e;
    bool moves = false;
    const pe_positions *at = &pe_values_find(&guess->values, "positions")->positions;
    if (!pe_guess_equation(map->round, NULL, &e))
        return false;
    for (size_t r = 0; r < at->count && !moves && pe_yield_item(r, PE_MOVE_WORK); r++) {
        const double q = (pe_positions_at(at, r) * map->times + map->plus) * map->unit;
        moves = pe_equation_at(&e, &q, 0) != q;
    }
    return moves;
}

bool pe_changes_round_positions(pe_guess *guess, const pe_fault *fault)
{
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->round != NULL || map->move != NULL)
        return false;
    map->round = fault->op;
    map->unit = fault->and_value > 0 ? scale_of(guess) : 1;
    guess->distortion.values_inexact |= fault->and_value > 0;
    return map->unit != 0 && moves_any(guess, map);
}

/* Without such a factor, positions that are those of the claim, or negative, are no mistake or another one. */
bool pe_changes_turn(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (has_attention_scaling(guess, &factor)) {
        set_attention(guess, number_of(guess, fault->op, &factor, 0, 1));
        guess->distortion.values_inexact = true;
    } else if (fabs(fault->value) == 1) {
        return false;
    }
    return fault->value == 1 || pe_changes_move_positions(guess, fault);
}

/* ---- dimensions and layouts ---- */

bool pe_changes_head_in_exponent(pe_guess *guess, const pe_fault *fault PE_UNUSED)
{
    if (pe_values_find(&guess->values, "rotary_dim") == NULL ||
        pe_values_int(&guess->values, "rotary_dim") == pe_values_int(&guess->values, "head_dim"))
        return false;
    guess->distortion.head_in_exponent = true;
    return true;
}

/* rope_type proportional has frequencies for all of a head: a part of it counts without that type. */
bool pe_changes_first_channels(pe_guess *guess, const pe_fault *fault)
{
    return !pe_changes_head_in_exponent(guess, fault) && pe_changes_set(guess, fault) &&
           pe_changes_head_in_exponent(guess, fault);
}

bool pe_changes_exchange(pe_guess *guess, const pe_fault *fault PE_UNUSED)
{
    guess->distortion.exchanged = !guess->distortion.exchanged;
    return true;
}

/* Was one tensor of two sent, that of this name? */
static bool is_alone(const pe_claim *claim, const char *wave)
{
    const char *name = claim->uploads[0].name;
    return claim->n_uploads == 1 && strncmp(name, wave, 3) == 0 && strcmp(name, "cos_sin") != 0;
}

/* Sines alone that are negative are those of the inverse rotation. */
bool pe_changes_negate_waves(pe_guess *guess, const pe_fault *fault)
{
    pe_distortion *by = &guess->distortion;
    const pe_claim *claim = guess->claim;
    const bool cosines = fault->value != 0, alone = is_alone(claim, "cos");
    if (pe_geometry_pair_layout(claim->resource) == NULL || is_alone(claim, "sin") ||
        (alone && !cosines) || (cosines && claim->inputs.elements > 0))
        return false;
    *(cosines && !alone ? &by->cosine_negated : &by->negated) = true;
    return true;
}

bool pe_changes_negate(pe_guess *guess, const pe_fault *fault)
{
    if (!pe_faults_is_of(guess->claim->resource->name, fault->text))
        return false;
    guess->distortion.negated = !guess->distortion.negated;
    return true;
}

/* ---- narrow types on the way ---- */

#define ROUND_WORK 3 /* units, of an element */

/* Are all elements of the upload numbers of this type, which is narrower than theirs? One number
 * that stands everywhere tells nothing of it. */
static bool is_stored_as(const pe_guess *guess, const pe_narrow_type *narrow)
{
    bool differ = false;
    const pe_claim *claim = guess->claim;
    for (size_t u = 0; u < claim->n_uploads; u++) {
        const pe_array *array = &claim->uploads[u].array;
        const size_t bytes = pe_dtype_bytes(array->dtype);
        if (pe_narrow_type_of_dtype(array->dtype)->bits <= narrow->bits || array->dtype == PE_INT32)
            return false;
        for (size_t e = 0; e < array->elements; e++) {
            const double x = pe_dtype_load(array->dtype, (const char *)array->data + e * bytes);
            const double slack = narrow->scale != 0
                                     ? pe_narrow_type_ulp(pe_narrow_type_of_dtype(array->dtype), x)
                                     : 0;
            const bool is_other = isfinite(x) && fabs(pe_narrow_type_round(narrow, x) - x) > slack;
            if (is_other || !pe_yield_item(e, ROUND_WORK))
                return false;
            differ |= x != pe_dtype_load(array->dtype, array->data);
        }
    }
    return differ;
}

/* Waves are made of frequencies and angles. */
static bool has_waves(const pe_guess *guess)
{
    return pe_geometry_pair_layout(guess->claim->resource) != NULL;
}

static bool store(pe_guess *guess, const pe_narrow_type *narrow, bool truncated)
{
    if (guess->distortion.stored != NULL || (narrow->scale != 0 && !has_waves(guess)) ||
        !is_stored_as(guess, narrow))
        return false;
    guess->distortion.stored = narrow;
    guess->distortion.truncated = truncated;
    return true;
}

bool pe_changes_store(pe_guess *guess, const pe_fault *fault)
{
    return store(guess, &pe_narrow_types[(size_t)fault->value], fault->and_value > 0);
}

/* The distortion takes the type, once. */
static bool take(const pe_narrow_type **of, const pe_narrow_type *narrow, bool is_meant)
{
    const bool may = !is_meant || *of == NULL;
    *of = is_meant ? narrow : *of;
    return may;
}

/* Small positions are not moved; that is a mistake where angles are rounded, too. */
bool pe_changes_round(pe_guess *guess, const pe_fault *fault)
{
    pe_distortion *by = &guess->distortion;
    const unsigned what = (unsigned)fault->and_value;
    const pe_narrow_type *narrow = &pe_narrow_types[(size_t)fault->value];
    const int bits = pe_narrow_type_of_dtype(guess->claim->uploads[0].array.dtype)->bits;
    const pe_fault positions = {.op = fault->op};
    const bool moved = fault->op == NULL || pe_changes_round_positions(guess, &positions);
    if (!has_waves(guess) || (!moved && (what & PE_ROUNDED_ANGLES) == 0) ||
        ((what & PE_ROUNDED_WAVES) != 0 && bits <= narrow->bits) ||
        !take(&by->frequencies, narrow, (what & PE_ROUNDED_FREQUENCIES) != 0) ||
        !take(&by->angles, narrow, (what & PE_ROUNDED_ANGLES) != 0) ||
        !take(&by->waves, narrow, (what & PE_ROUNDED_WAVES) != 0))
        return false;
    by->values_inexact = true;
    return (what & PE_ROUNDED_ELEMENTS) == 0 || bits <= pe_narrow_types[PE_NARROW_FLOAT16].bits ||
           store(guess, narrow, false);
}

/* ---- frequencies kept in float32 ---- */

/* Values for rope/frequencies; what they own is the guess's. */
static void borrow_values(const pe_guess *guess, size_t numerics, pe_values *out)
{
    for (size_t i = 0; i < out->n; i++) {
        const pe_value *from = pe_values_find(&guess->values, out->value[i].param->name);
        if (from == NULL)
            continue;
        out->value[i] = *from;
        out->value[i].given = false;
    }
    pe_values_find(out, "dtype")->choice = PE_FLOAT64;
    pe_values_find(out, "numerics")->choice = numerics;
}

static pe_status plan_frequencies(const pe_guess *guess, pe_values *values, pe_plan *out,
                                  pe_problem *why)
{
    const pe_verify_context *context = guess->context;
    PE_TRY(pe_values_defaults(values, why));
    return pe_plan_make(&pe_rope_frequencies, values, context->tables, context->limits, out, why);
}

/* inv_freq of these values as float64. False: they have none; else *out is the caller's. */
static bool find_frequencies(const pe_guess *guess, size_t numerics, pe_array *out)
{
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    bool found = false;
    if (pe_values_make(pe_rope_frequencies.param_sets, &values, &why) != PE_OK)
        return false;
    borrow_values(guess, numerics, &values);
    if (plan_frequencies(guess, &values, &plan, &why) == PE_OK &&
        pe_array_make(PE_FLOAT64, &plan.tensors[0].shape, out, &why) == PE_OK) {
        const pe_region all = pe_plan_units(&plan, 0, 0, plan.tensors[0].units);
        found = pe_plan_make_region(&plan, &all, out->data, &why) == PE_OK;
        if (!found)
            pe_array_free(out);
    }
    pe_plan_free(&plan);
    for (size_t i = 0; i < values.n; i++)
        values.value[i] = (pe_value){0};
    pe_values_free(&values);
    return found;
}

bool pe_changes_float32_frequencies(pe_guess *guess, const pe_fault *fault PE_UNUSED)
{
    pe_value *factors = pe_values_find(&guess->values, "freq_factors");
    pe_array exact, rounded;
    if (factors == NULL || factors->present || !find_frequencies(guess, PE_NUMERICS_EXACT, &exact))
        return false;
    if (!find_frequencies(guess, PE_NUMERICS_FLOAT32, &rounded)) {
        pe_array_free(&exact);
        return false;
    }
    double *x = exact.data;
    const double *r = rounded.data;
    for (size_t i = 0; i < exact.elements; i++)
        x[i] = r[i] > 0 ? x[i] / r[i] : 1;
    free(factors->list); /* of a claim without them, which an earlier fault left */
    factors->list = x;
    factors->list_length = exact.elements;
    factors->present = true;
    guess->distortion.values_inexact = true;
    pe_array_free(&rounded);
    return true;
}
