/* SPDX-License-Identifier: MIT */
/* changes.c - what faults do to the values and positions of a guess. */
#include "base/yield.h"
#include "plan/plan.h"
#include "plan/resource.h"
#include "verify/mistakes/faults.h"

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

/* What an equation makes of x; NAN: it says nothing of these values. */
static double number_of(const pe_guess *guess, const char *op, double x)
{
    pe_equation e;
    return pe_guess_equation(op, &guess->values, &e) ? pe_equation_at(&e, &x, 0) : nan("");
}

/* Where both are given, rotary_dim says what partial_rotary_factor is. */
static void keep_rotary_share(pe_guess *guess, const pe_value *changed)
{
    if (changed == value_of(guess, "rotary_dim") && value_of(guess, "partial_rotary_factor"))
        pe_values_set_real(&guess->values, "partial_rotary_factor",
                           (double)changed->integer /
                               (double)pe_values_int(&guess->values, "head_dim"));
}

bool pe_changes_number(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || !is_of_resource(guess, fault))
        return false;
    const bool whole = value->param->kind == PE_KIND_INT;
    const double was = whole ? (double)value->integer : value->real;
    const double x = fault->op != NULL ? number_of(guess, fault->op, was) : fault->value;
    const bool bounded = value->param->min != 0 || value->param->max != 0;
    if (fault->op != NULL &&
        (!(fabs(x) < 0x1p62) || (bounded && (x < value->param->min || x > value->param->max))))
        return false;
    if (whole)
        value->integer = (int64_t)floor(x);
    else
        value->real = x;
    keep_rotary_share(guess, value);
    return true;
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

bool pe_changes_both(pe_guess *guess, const pe_fault *fault)
{
    pe_value *a = value_of(guess, fault->param), *b = value_of(guess, fault->text);
    if (a == NULL || b == NULL)
        return false;
    const double x = number_of(guess, fault->op, a->real), y = number_of(guess, fault->op, b->real);
    a->real = x;
    b->real = y;
    guess->distortion.values_inexact = true;
    return true;
}

/* ---- tables that are resized ---- */

/* The list is that of one sequence, [1, n], its sides exchanged, or its patches go down the columns,
 * which its sign tells. */
bool pe_changes_grid(pe_guess *guess, const pe_fault *fault)
{
    pe_value *value = value_of(guess, fault->param);
    if (value == NULL || value->list_length != 2)
        return false;
    const double height = value->list[0], width = value->list[1];
    value->list[0] = fault->value == PE_CHANGES_EXCHANGED ? width : -height;
    value->list[1] = fault->value == PE_CHANGES_EXCHANGED ? height : width;
    return true;
}

bool pe_changes_sequence(pe_guess *guess, const pe_fault *fault)
{
    pe_value *grids[2] = {value_of(guess, "source_grid"), value_of(guess, "target_grid")};
    for (size_t g = 0; g < PE_LEN(grids); g++) {
        if (grids[g] == NULL || grids[g]->list_length != 2)
            return false;
        grids[g]->list[1] *= fabs(grids[g]->list[0]);
        grids[g]->list[0] = 1;
    }
    return fault->text == NULL || pe_geometry_set_choice(&guess->values, "mode", fault->text);
}

/* Choices that nobody can ask for stand behind the others (learned_interpolate.c); and_value: as many
 * for each of those. */
bool pe_changes_mode(pe_guess *guess, const pe_fault *fault)
{
    enum { OTHERS = 2 };
    pe_value *value = value_of(guess, "mode");
    if (value == NULL || pe_values_find(&guess->values, "target_grid") == NULL ||
        value->choice >= OTHERS)
        return false;
    value->choice = (size_t)fault->value + (fault->and_value != 0 ? value->choice : 0);
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
        !pe_changes_number(guess, fault))
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
        set_attention(guess, number_of(guess, fault->op, factor));
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
    return !pe_changes_head_in_exponent(guess, fault) && pe_changes_rope_type(guess, fault) &&
           pe_changes_head_in_exponent(guess, fault);
}

bool pe_changes_ignore_partial(pe_guess *guess, const pe_fault *fault PE_UNUSED)
{
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
    if (rotary != NULL && rotary != value)
        rotary->integer = size * rotary->integer / value->integer;
    value->integer = size;
    keep_rotary_share(guess, value);
    return rotary == NULL || (rotary->integer >= 2 && rotary->integer % 2 == 0);
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
    if (strncmp(guess->claim->resource->name, fault->text, strlen(fault->text)) != 0)
        return false;
    guess->distortion.negated = !guess->distortion.negated;
    return true;
}
