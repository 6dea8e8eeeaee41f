/* SPDX-License-Identifier: MIT */
/* changes.c - what faults do to the values and positions of a guess. */
#include "verify/mistakes/changes.h"

#include <math.h>
#include <string.h>

#include "verify/upload/geometry.h"

/* ---- values ---- */

/* NULL: the resource has no such value, or it is absent. */
static pe_value *value_of(pe_guess *guess, const char *name)
{
    pe_value *value = pe_values_find(&guess->values, name);
    return value != NULL && value->present ? value : NULL;
}

/* Does the fault name another resource? */
static bool is_of_resource(const pe_guess *guess, const pe_fault *fault)
{
    return fault->text == NULL || strcmp(guess->claim->resource->name, fault->text) == 0;
}

bool pe_changes_number(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || !is_of_resource(guess, fault))
        return false;
    if (value->param->kind == PE_KIND_INT)
        value->integer = (int64_t)fault->value;
    else
        value->real = fault->value;
    return true;
}

bool pe_changes_root(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || !is_of_resource(guess, fault))
        return false;
    const pe_value *width = pe_values_find(&guess->values, "d_model");
    const double n = fault->value != 0 && width != NULL ? floor((double)width->integer / 2) : 2;
    value->real = fault->value != 0 ? pow(value->real, n / (n - fault->value)) : sqrt(value->real);
    return n > fault->value;
}

bool pe_changes_shift(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    const pe_position_map map = {.times = 1, .plus = fault->value};
    return value != NULL && pe_guess_map_positions(&value->positions, &map);
}

bool pe_changes_choice(pe_guess *guess, const pe_fault *fault)
{
    return pe_values_present(&guess->values, fault->param) &&
           pe_geometry_set_choice(&guess->values, fault->param, fault->text);
}

bool pe_changes_variant(pe_guess *guess, const pe_fault *fault)
{
    static const char *const own[] = {"beta", "position_offset", "rope_theta"};
    for (size_t i = 0; i < PE_LEN(own); i++) {
        pe_value *value = value_of(guess, own[i]);
        if (value != NULL && (!pe_values_given(&guess->claim->values, own[i]) ||
                              (i == 0 && strcmp(fault->text, "qwen") == 0)))
            value->present = false;
    }
    return pe_changes_choice(guess, fault);
}

bool pe_changes_truth(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL)
        return false;
    value->truth = !value->truth;
    return true;
}

bool pe_changes_dynamic_factor(pe_guess *guess, const pe_fault *fault)
{
    return pe_geometry_has_rope_type(&guess->values, "dynamic") && pe_changes_number(guess, fault);
}

bool pe_changes_halve_factor(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || !pe_geometry_has_rope_type(&guess->values, "linear"))
        return false;
    value->real /= 2;
    return true;
}

bool pe_changes_swap(pe_guess *guess, const pe_fault *fault)
{
    pe_value *a = value_of(guess, fault->param), *b = value_of(guess, fault->text);
    if (a == NULL || b == NULL)
        return false;
    const double real = a->real;
    a->real = b->real;
    b->real = real;
    return true;
}

bool pe_changes_divide_both(pe_guess *guess, const pe_fault *fault)
{
    pe_value *a = value_of(guess, fault->param), *b = value_of(guess, fault->text);
    if (a == NULL || b == NULL)
        return false;
    a->real /= fault->value;
    b->real /= fault->value;
    guess->distortion.values_inexact = true;
    return true;
}

bool pe_changes_square(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL)
        return false;
    value->real *= value->real;
    return true;
}

bool pe_changes_multiply(pe_guess *guess, const pe_fault *fault)
{
    pe_value *a = value_of(guess, fault->param), *b = value_of(guess, fault->text);
    if (a == NULL || b == NULL)
        return false;
    a->integer = (int64_t)round((double)a->integer * b->real);
    return true;
}

bool pe_changes_copy(pe_guess *guess, const pe_fault *fault)
{
    pe_value *to = value_of(guess, fault->param), *from = value_of(guess, fault->text);
    if (to == NULL || from == NULL)
        return false;
    to->integer = from->integer;
    return true;
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

bool pe_changes_rope_type(pe_guess *guess, const pe_fault *fault)
{
    return pe_changes_choice(guess, fault) && complete_values(guess);
}

/* ---- the attention factor ---- */

/* A, as the resource tells it. Is there one? */
static bool has_attention_factor(pe_guess *guess, double *out)
{
    pe_plan plan = {0};
    pe_problem why;
    bool found = false;
    if (pe_guess_plan(guess, &guess->values, &plan, &why) == PE_OK)
        for (size_t s = 0; s < plan.n_scalars; s++)
            if (strcmp(plan.scalars[s].name, "attention_factor") == 0) {
                *out = plan.scalars[s].value;
                found = true;
            }
    pe_plan_free(&plan);
    return found;
}

/* The same of an A that is not 1. */
static bool has_attention_scaling(pe_guess *guess, double *out)
{
    return has_attention_factor(guess, out) && *out != 1;
}

/* Give the whole factor, so that no part of it is derived. */
static void set_attention(pe_guess *guess, double factor)
{
    pe_value *part = pe_values_find(&guess->values, "attn_factor");
    pe_values_set_real(&guess->values, "attention_factor", factor);
    if (part != NULL)
        part->present = false;
}

bool pe_changes_attention_power(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (pe_values_find(&guess->values, "attention_factor") == NULL ||
        !has_attention_scaling(guess, &factor))
        return false;
    set_attention(guess, fault->value == 0 ? 1 : factor * factor);
    guess->distortion.values_inexact |= fault->value != 0;
    return true;
}

bool pe_changes_take_short(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    const pe_value *length = pe_values_find(&guess->values, "seq_len");
    if (!pe_geometry_has_rope_type(&guess->values, "longrope") ||
        (length != NULL && length->present &&
         length->integer <= pe_values_int(&guess->values, "original_max_position_embeddings")) ||
        !pe_changes_copy(guess, fault))
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

static double through(pe_dtype dtype, double x)
{
    unsigned char element[8];
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

static double to_float32(double x)
{
    return through(PE_FLOAT32, x);
}

static double to_float16(double x)
{
    return through(PE_FLOAT16, x);
}

static double to_bfloat16(double x)
{
    return through(PE_BFLOAT16, x);
}

static double to_tf32(double x)
{
    return pe_grain_round(&pe_grains[PE_GRAIN_TF32], x);
}

static double to_int32(double x)
{
    return x < 0 ? x : x - 0x1p32 * floor((x + 0x1p31) / 0x1p32);
}

static double to_int16(double x)
{
    return x < 0 ? x : x - 0x1p16 * floor((x + 0x1p15) / 0x1p16);
}

static double to_uint32(double x)
{
    return x < 0 ? x : x - 0x1p32 * floor(x / 0x1p32);
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
    const pe_positions *at = &pe_values_find(&guess->values, "positions")->positions;
    bool moves = false;
    for (size_t r = 0; r < at->count && !moves; r++) {
        const double q = pe_positions_at(at, r) * map->times + map->plus;
        moves = map->round(q * map->unit) != q * map->unit;
    }
    return moves;
}

bool pe_changes_round_positions(pe_guess *guess, const pe_fault *fault)
{
    static double (*const types[])(double) = {
        [PE_CHANGES_FLOAT32] = to_float32,   [PE_CHANGES_FLOAT16] = to_float16,
        [PE_CHANGES_BFLOAT16] = to_bfloat16, [PE_CHANGES_CUT] = trunc,
        [PE_CHANGES_WHOLE] = nearbyint,      [PE_CHANGES_INT32] = to_int32,
        [PE_CHANGES_UINT32] = to_uint32,     [PE_CHANGES_INT16] = to_int16,
        [PE_CHANGES_TF32] = to_tf32};
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->round != NULL || map->move != NULL)
        return false;
    map->round = types[(size_t)fault->value];
    map->unit = fault->and_value > 0 ? scale_of(guess) : 1;
    guess->distortion.values_inexact |= fault->and_value > 0;
    return map->unit != 0 && moves_any(guess, map);
}

bool pe_changes_rotate_twice(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (has_attention_scaling(guess, &factor)) {
        set_attention(guess, factor * factor);
        guess->distortion.values_inexact = true;
    }
    return pe_changes_move_positions(guess, fault);
}

bool pe_changes_skip_rotation(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (has_attention_scaling(guess, &factor))
        set_attention(guess, 1);
    return pe_changes_move_positions(guess, fault);
}

bool pe_changes_rotate_back(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (!has_attention_scaling(guess, &factor))
        return false;
    set_attention(guess, 1 / factor);
    guess->distortion.values_inexact = true;
    return pe_changes_move_positions(guess, fault);
}

/* ---- dimensions and layouts ---- */

bool pe_changes_head_in_exponent(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    if (pe_values_find(&guess->values, "rotary_dim") == NULL ||
        pe_values_int(&guess->values, "rotary_dim") == pe_values_int(&guess->values, "head_dim"))
        return false;
    guess->distortion.head_in_exponent = true;
    return true;
}

bool pe_changes_ignore_partial(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    if (pe_values_find(&guess->values, "rotary_dim") == NULL)
        return false;
    pe_values_set_int(&guess->values, "rotary_dim", pe_values_int(&guess->values, "head_dim"));
    pe_values_set_real(&guess->values, "partial_rotary_factor", 1);
    if (pe_values_find(&guess->values, "rotary_offset") != NULL)
        pe_values_find(&guess->values, "rotary_offset")->present = false;
    return true;
}

bool pe_changes_size(pe_guess *guess, const pe_fault *fault)
{
    const pe_shape *shape = &guess->claim->uploads[0].array.shape;
    pe_value *value = value_of(guess, fault->param), *rotary = value_of(guess, "rotary_dim");
    const size_t last = shape->ndim > 0 ? shape->dim[shape->ndim - 1] : 0;
    const int64_t size = (int64_t)fault->value * (int64_t)last;
    if (value == NULL || guess->claim->inputs.elements > 0 || size == value->integer ||
        (double)size < value->param->min || (double)size > value->param->max)
        return false;
    if (rotary == value)
        pe_values_set_real(&guess->values, "partial_rotary_factor",
                           (double)size / (double)pe_values_int(&guess->values, "head_dim"));
    else if (rotary != NULL)
        rotary->integer = size * rotary->integer / value->integer;
    value->integer = size;
    return rotary == NULL || (rotary->integer >= 2 && rotary->integer % 2 == 0);
}

bool pe_changes_exchange(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    guess->distortion.exchanged = !guess->distortion.exchanged;
    return true;
}

bool pe_changes_negate_waves(pe_guess *guess, const pe_fault *fault)
{
    pe_distortion *by = &guess->distortion;
    const bool cosines = fault->value != 0;
    if (pe_geometry_pair_layout(guess->claim->resource) == NULL ||
        (cosines && guess->claim->inputs.elements > 0))
        return false;
    *(cosines ? &by->cosine_negated : &by->negated) = true;
    return true;
}

bool pe_changes_negate(pe_guess *guess, const pe_fault *fault)
{
    if (strncmp(guess->claim->resource->name, fault->text, strlen(fault->text)) != 0)
        return false;
    guess->distortion.negated = !guess->distortion.negated;
    return true;
}
