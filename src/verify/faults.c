/* SPDX-License-Identifier: MIT */
/* faults.c - what people get wrong, as rows. */
#include "verify/faults.h"

#include <math.h>
#include <string.h>

#include "verify/geometry.h"
#include "verify/precision.h"

/* ---- values ---- */

/* The value of the row, and the row; NULL when the resource has none or it is absent. */
static pe_value *value_of(pe_guess *guess, const char *name, const pe_param **row)
{
    pe_value *value = pe_values_find(&guess->values, name);
    if (value == NULL)
        return NULL;
    *row = value->param;
    return value->present ? value : NULL;
}

static bool set_number(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *value = value_of(guess, fault->param, &row);
    if (value == NULL)
        return false;
    if (row->kind == PE_KIND_INT)
        value->integer = (int64_t)fault->value;
    else
        value->real = fault->value;
    return true;
}

static bool set_choice(pe_guess *guess, const pe_fault *fault)
{
    return pe_values_present(&guess->values, fault->param) &&
           pe_guess_set_choice(&guess->values, fault->param, fault->text);
}

bool pe_faults_set_rope_type(pe_guess *guess, const char *type)
{
    return set_choice(guess, &(pe_fault){.param = "rope_type", .text = type});
}

static bool flip_truth(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *value = value_of(guess, fault->param, &row);
    if (value == NULL)
        return false;
    value->truth = !value->truth;
    return true;
}

/* The rows `param` and `text` change places. */
static bool is_rope_type(const pe_guess *guess, const char *type)
{
    return strcmp(pe_geometry_choice_text(&guess->values, "rope_type"), type) == 0;
}

/* The factor of dynamic scaling alone. */
static bool drop_dynamic_factor(pe_guess *guess, const pe_fault *fault)
{
    return is_rope_type(guess, "dynamic") && set_number(guess, fault);
}

static bool swap_numbers(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *a = value_of(guess, fault->param, &row), *b = value_of(guess, fault->text, &row);
    if (a == NULL || b == NULL)
        return false;
    const double real = a->real;
    a->real = b->real;
    b->real = real;
    return true;
}

/* The row `param` takes the value of the row `text`. */
static bool copy_int(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *to = value_of(guess, fault->param, &row), *from = value_of(guess, fault->text, &row);
    if (to == NULL || from == NULL)
        return false;
    to->integer = from->integer;
    return true;
}

/* A sequence that is not longer than the original length has the short factors. */
static bool take_short(pe_guess *guess, const pe_fault *fault)
{
    return is_rope_type(guess, "longrope") && copy_int(guess, fault);
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

static bool set_rope_type(pe_guess *guess, const pe_fault *fault)
{
    return set_choice(guess, fault) && complete_values(guess);
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

/* A becomes A^value, where value is 0 (missing) or 2 (applied twice). */
static bool attention_power(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (pe_values_find(&guess->values, "attention_factor") == NULL ||
        !has_attention_scaling(guess, &factor))
        return false;
    set_attention(guess, fault->value == 0 ? 1 : factor * factor);
    guess->distortion.values_inexact |= fault->value != 0;
    return true;
}

/* ---- positions ---- */

/* Grids have no positions, nor do tables that tell their own. */
static bool has_positions(const pe_guess *guess)
{
    const pe_value *positions = pe_values_find(&guess->values, "positions");
    return positions != NULL && positions->present;
}

static bool move_positions(pe_guess *guess, const pe_fault *fault)
{
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->rounded || map->move != NULL)
        return false;
    map->times *= fault->value;
    map->plus = map->plus * fault->value + fault->and_value;
    return true;
}

static bool round_positions(pe_guess *guess, const pe_fault *fault)
{
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->rounded || map->move != NULL)
        return false;
    map->rounded = true;
    map->to = (pe_dtype)fault->value;
    return true;
}

/* The angle is doubled, and the factor squared. */
static bool rotate_twice(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (has_attention_scaling(guess, &factor)) {
        set_attention(guess, factor * factor);
        guess->distortion.values_inexact = true;
    }
    return move_positions(guess, fault);
}

/* Vectors are as at position 0, without the factor. */
static bool skip_rotation(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (has_attention_scaling(guess, &factor))
        set_attention(guess, 1);
    return move_positions(guess, fault);
}

/* Vectors are rotated back, and divided by the factor. */
static bool rotate_back(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (!has_attention_scaling(guess, &factor))
        return false;
    set_attention(guess, 1 / factor);
    guess->distortion.values_inexact = true;
    return move_positions(guess, fault);
}

/* ---- dimensions and layouts ---- */

static bool head_in_exponent(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    if (pe_values_find(&guess->values, "rotary_dim") == NULL ||
        pe_values_int(&guess->values, "rotary_dim") == pe_values_int(&guess->values, "head_dim"))
        return false;
    guess->distortion.head_in_exponent = true;
    return true;
}

static bool ignore_partial(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    if (pe_values_find(&guess->values, "rotary_dim") == NULL)
        return false;
    pe_values_set_int(&guess->values, "rotary_dim", pe_values_int(&guess->values, "head_dim"));
    pe_values_set_real(&guess->values, "partial_rotary_factor", 1);
    return true;
}

static bool exchange_cos_sin(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    guess->distortion.exchanged = !guess->distortion.exchanged;
    return true;
}

static bool negate(pe_guess *guess, const pe_fault *fault)
{
    if (strncmp(guess->claim->resource->name, fault->text, strlen(fault->text)) != 0)
        return false;
    guess->distortion.negated = !guess->distortion.negated;
    return true;
}

/* ---- the rows ---- */

#define KEEP_WIDE "keep cosines, sines and products in float32, or claim the narrow dtype"
#define KEEP_INV_FREQ                                                                              \
    "keep inv_freq in float32: leave it out of model.half() and model.to(dtype), and autocast off"
#define KEEP_ANGLES                                                                                \
    "make angles in float32 with autocast off; round cosines and sines only (no TF32 matmul)"

/* Simpler faults come first: of findings that explain the upload equally well, the first is told
 * first. A fault that reads values stands behind the rows that change these. */
const pe_fault pe_faults[] = {
    /* bases and scales that are in use; others are fitted (fit.c) */
    {"rope_theta", NULL, .change = set_number, .param = "rope_theta", .value = 10000},
    {"rope_theta", NULL, .change = set_number, .param = "rope_theta", .value = 500000},
    {"rope_theta", NULL, .change = set_number, .param = "rope_theta", .value = 1000000},
    {"base", NULL, .change = set_number, .param = "base", .value = 10000},
    {"scale", NULL, .change = set_number, .param = "scale", .value = 1},
    {"scale", NULL, .change = set_number, .param = "scale", .value = 1000},
    {"freq_shift", NULL, .change = set_number, .param = "freq_shift", .value = 0},
    {"freq_shift", NULL, .change = set_number, .param = "freq_shift", .value = 1},
    {"alibi_bias_max", NULL, .change = set_number, .param = "alibi_bias_max", .value = 8},
    /* scaling */
    {"scaling_dropped", "the frequencies were not scaled: rope_type was default",
     .change = set_rope_type, .param = "rope_type", .text = "default",
     .remedy = "pass rope_scaling (rope_parameters) of the configuration to the code that makes "
               "the table"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "linear"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "ntk"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "dynamic"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "yarn"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "llama3"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "longrope"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "proportional"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "ntk_alpha"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "ntk_fixed"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "ntk_mixed"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "ntk_by_parts"},
    {"rope_type", NULL, .change = set_rope_type, .param = "rope_type", .text = "part_ntk"},
    {"dynamic_factor_ignored",
     "dynamic scaling: the base grew with seq_len / max_position_embeddings alone, as with a "
     "factor of 1",
     .change = drop_dynamic_factor, .param = "factor", .value = 1,
     .remedy = "scale the base by (f s/L - (f - 1))^(d/(d - 2)), s = seq_len"},
    {"factor", NULL, .change = set_number, .param = "factor", .value = 1},
    {"betas_swapped", "beta_fast and beta_slow were swapped", .change = swap_numbers,
     .param = "beta_fast", .text = "beta_slow", .remedy = "exchange beta_fast and beta_slow"},
    {"truncate", NULL, .change = flip_truth, .param = "truncate"},
    {"original_fallback", "original_max_position_embeddings was taken from max_position_embeddings",
     .change = copy_int, .param = "original_max_position_embeddings",
     .text = "max_position_embeddings",
     .remedy = "set original_max_position_embeddings in rope_scaling"},
    {"short_factor", "short_factor was taken where long_factor is claimed", .change = take_short,
     .param = "seq_len", .text = "original_max_position_embeddings",
     .remedy = "pass the length of the sequence (seq_len), which chooses long_factor"},
    {"seq_len_ignored", "seq_len was taken from max_position_embeddings", .change = copy_int,
     .param = "seq_len", .text = "max_position_embeddings",
     .remedy = "pass the length of the sequence to the code that makes the frequencies"},
    /* dimensions */
    {"partial_ignored",
     "all channels were rotated: partial_rotary_factor or rotary_dim was ignored",
     .change = ignore_partial, .remedy = "set partial_rotary_factor (rotary_pct, rotary_dim)"},
    {"head_in_exponent", "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
     .change = head_in_exponent, .remedy = "divide the exponents by rotary_dim, not by head_dim"},
    /* layouts */
    {"pairing", NULL, .change = set_choice, .param = "pairing", .text = "interleaved"},
    {"pairing", NULL, .change = set_choice, .param = "pairing", .text = "half"},
    {"layout", NULL, .change = set_choice, .param = "layout", .text = "interleaved"},
    {"layout", NULL, .change = set_choice, .param = "layout", .text = "sin_cos"},
    {"layout", NULL, .change = set_choice, .param = "layout", .text = "cos_sin"},
    {"cache_layout", NULL, .change = set_choice, .param = "cache_layout", .text = "vllm"},
    {"cache_layout", NULL, .change = set_choice, .param = "cache_layout", .text = "meta"},
    {"cos_sin_exchanged", "cosines and sines were exchanged", .change = exchange_cos_sin,
     .remedy = "exchange cosines and sines where they are unpacked"},
    /* ALiBi */
    {"alibi_sign", "the sign was the other one", .change = negate, .text = "alibi/",
     .remedy = "subtract slope times distance: the bias is never above 0"},
    {"alibi_variant", NULL, .change = set_choice, .param = "variant", .text = "press"},
    {"alibi_variant", NULL, .change = set_choice, .param = "variant", .text = "formula"},
    {"alibi_form", NULL, .change = set_choice, .param = "form", .text = "symmetric"},
    {"alibi_form", NULL, .change = set_choice, .param = "form", .text = "causal"},
    {"alibi_form", NULL, .change = set_choice, .param = "form", .text = "key"},
    /* the attention factor */
    {"attention_factor_missing", "the attention factor was left out", .change = attention_power,
     .value = 0, .remedy = "multiply cosines and sines by the attention factor (mscale)"},
    {"attention_factor_squared", "the attention factor was applied twice",
     .change = attention_power, .value = 2,
     .remedy = "apply the attention factor once: to the table, or to the logits"},
    /* positions */
    {"position_plus_one", "positions were one too large", .change = move_positions, .value = 1,
     .and_value = 1, .remedy = "count positions from 0: take arange(n), not arange(1, n + 1)"},
    {"position_minus_one", "positions were one too small", .change = move_positions, .value = 1,
     .and_value = -1, .remedy = "do not take 1 off the positions"},
    {"inverse", "the rotation was the inverse one: angles were negative", .change = move_positions,
     .value = -1, .remedy = "turn the other way: check the sign of the sine"},
    {"undone",
     "vectors were turned back: angles were negative, the attention factor was divided by",
     .change = rotate_back, .value = -1, .vectors_only = true,
     .remedy = "turn the other way, and multiply by the attention factor"},
    {"rotated_twice", "vectors were rotated twice", .change = rotate_twice, .value = 2,
     .vectors_only = true, .remedy = "apply the rotation once"},
    {"not_rotated", "vectors were not rotated", .change = skip_rotation, .value = 0,
     .vectors_only = true, .remedy = "apply the rotation"},
    {"float32_positions", "positions were rounded to float32", .change = round_positions,
     .value = PE_FLOAT32, .remedy = "keep positions in integers or float64"},
    {"float16_positions", "positions were rounded to float16", .change = round_positions,
     .value = PE_FLOAT16,
     .remedy = "keep positions in float32 or integers until the angle has been made"},
    {"bfloat16_positions", "positions were rounded to bfloat16", .change = round_positions,
     .value = PE_BFLOAT16,
     .remedy = "keep positions in float32 or integers until the angle has been made"},
    /* arithmetic */
    {"float32_arithmetic", "angles were computed in float32, not exactly", .change = set_choice,
     .param = "numerics", .text = "float32"},
    {"float32_inv_freq", "frequencies were rounded to float32, angles were not",
     .change = pe_precision_float32_frequencies,
     .remedy = "claim numerics=float32 if that is meant"},
    {"bfloat16_elements", "elements were rounded to bfloat16 before they went on in a wider type",
     .change = pe_precision_store, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_WIDE},
    {"float16_elements", "elements were rounded to float16 before they went on in a wider type",
     .change = pe_precision_store, .value = PE_GRAIN_FLOAT16, .remedy = KEEP_WIDE},
    {"tf32_elements", "elements were rounded to TF32, as a matrix product does it",
     .change = pe_precision_store, .value = PE_GRAIN_TF32, .remedy = KEEP_WIDE},
    {"float8_elements", "elements were rounded to float8 (e4m3)", .change = pe_precision_store,
     .value = PE_GRAIN_E4M3, .remedy = KEEP_WIDE},
    {"float8_elements", "elements were rounded to float8 (e5m2)", .change = pe_precision_store,
     .value = PE_GRAIN_E5M2, .remedy = KEEP_WIDE},
    {"bfloat16_truncated", "elements were cut to bfloat16, not rounded",
     .change = pe_precision_store, .value = PE_GRAIN_BFLOAT16, .and_value = 1,
     .remedy = "round to nearest: do not drop the low half of a float32"},
    {"float16_truncated", "elements were cut to float16, not rounded", .change = pe_precision_store,
     .value = PE_GRAIN_FLOAT16, .and_value = 1, .remedy = "round to nearest"},
    {"bfloat16_inv_freq", "frequencies (inv_freq) were rounded to bfloat16",
     .change = pe_precision_round_frequencies, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_INV_FREQ},
    {"float16_inv_freq", "frequencies (inv_freq) were rounded to float16",
     .change = pe_precision_round_frequencies, .value = PE_GRAIN_FLOAT16, .remedy = KEEP_INV_FREQ},
    {"tf32_inv_freq", "frequencies (inv_freq) were rounded to TF32",
     .change = pe_precision_round_frequencies, .value = PE_GRAIN_TF32, .remedy = KEEP_INV_FREQ},
    {"bfloat16_angles", "angles were rounded to bfloat16", .change = pe_precision_round_angles,
     .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_ANGLES, .mostly = true},
    {"float16_angles", "angles were rounded to float16", .change = pe_precision_round_angles,
     .value = PE_GRAIN_FLOAT16, .remedy = KEEP_ANGLES, .mostly = true},
    {"tf32_angles", "angles were rounded to TF32, as a matrix product does it",
     .change = pe_precision_round_angles, .value = PE_GRAIN_TF32, .remedy = KEEP_ANGLES,
     .mostly = true},
    {"bfloat16_arithmetic", "frequencies, angles and waves were all computed in bfloat16",
     .change = pe_precision_round_all, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_ANGLES,
     .mostly = true},
    {"float16_arithmetic", "frequencies, angles and waves were all computed in float16",
     .change = pe_precision_round_all, .value = PE_GRAIN_FLOAT16, .remedy = KEEP_ANGLES,
     .mostly = true},
};
const size_t pe_faults_n = PE_LEN(pe_faults);

/* ---- any value ---- */

bool pe_faults_of_value(const pe_guess *guess, size_t i, size_t k, pe_fault *out)
{
    static const struct {
        double times, plus;
    } changes[] = {{1, 1}, {1, -1}, {2, 0}, {0.5, 0}, {10, 0}, {0.1, 0}};
    static const char *const kept[] = {"dtype", "numerics"}; /* of the claim, not of the table */
    const pe_value *value = &guess->values.value[i];
    const pe_param *row = value->param;
    *out = (pe_fault){.name = row->name, .param = row->name};
    for (size_t n = 0; n < PE_LEN(kept); n++)
        if (strcmp(kept[n], row->name) == 0)
            return false;
    if (!value->present)
        return false;
    if (row->kind == PE_KIND_CHOICE) {
        out->change = set_choice;
        out->text = row->choices[k];
        return out->text != NULL;
    }
    if (row->kind == PE_KIND_BOOL) {
        out->change = flip_truth;
        return k == 0;
    }
    if ((row->kind != PE_KIND_INT && row->kind != PE_KIND_REAL) || k >= PE_LEN(changes))
        return false;
    const double x = row->kind == PE_KIND_INT ? (double)value->integer : value->real;
    out->change = set_number;
    out->value = x * changes[k].times + changes[k].plus;
    out->value = row->kind == PE_KIND_INT ? floor(out->value) : out->value;
    const bool bounded = row->min != 0 || row->max != 0;
    if (bounded && (out->value < row->min || out->value > row->max))
        out->value = x; /* no change, which does not apply */
    return true;
}

/* ---- adding one ---- */

/* "row was X, not Y" */
static void say_row(const char *name, const pe_guess *before, pe_guess *guess)
{
    pe_buffer *out = &guess->rule;
    const pe_value *is = pe_values_find(&guess->values, name);
    const size_t i = (size_t)(is - guess->values.value);
    pe_buffer_format(out, "%s was ", name);
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
    if (fault->remedy != NULL || was == NULL || fault->sets_rope_type) {
        pe_buffer_str(&guess->remedy,
                      fault->remedy != NULL ? fault->remedy : "pass the claimed parameters");
        return;
    }
    pe_buffer_format(&guess->remedy, was->present ? "set %s to " : "leave %s out", fault->param);
    if (was->present)
        pe_value_print(was, &guess->remedy);
    const bool base =
        strcmp(fault->param, "rope_theta") == 0 || strcmp(fault->param, "factor") == 0;
    if (base && is_rope_type(before, "dynamic"))
        pe_buffer_str(&guess->remedy, "; dynamic scaling raises the base with the length: check "
                                      "seq_len and max_position_embeddings");
    if (base && is_rope_type(before, "ntk"))
        pe_buffer_str(&guess->remedy, "; ntk raises the base: check the exponent d/(d - 2)");
}

static void say(const pe_fault *fault, const pe_guess *before, pe_guess *guess)
{
    pe_guess_say(guess, fault, "");
    add_remedy(fault, before, guess);
    if (fault->rule != NULL) {
        pe_buffer_str(&guess->rule, fault->rule);
        return;
    }
    if (fault->sets_rope_type) {
        say_row("rope_type", before, guess);
        pe_buffer_str(&guess->rule, "; ");
    }
    say_row(fault->param, before, guess);
}

bool pe_faults_apply(const pe_fault *fault, pe_guess *guess)
{
    pe_problem why;
    pe_guess before;
    if ((fault->vectors_only && guess->claim->inputs.elements == 0) ||
        pe_guess_copy(guess, &before, &why) != PE_OK)
        return false;
    const bool changed = guess->n_faults < PE_FAULTS_MAX && fault->change(guess, fault) &&
                         !pe_guess_is_same(&before, guess);
    if (changed)
        say(fault, &before, guess);
    pe_guess_free(&before);
    return changed;
}

bool pe_faults_hold_mostly(const pe_guess *guess)
{
    return guess->n_faults > 0 && guess->faults[guess->n_faults - 1]->mostly;
}

bool pe_faults_is_layout(const pe_fault *fault)
{
    static const char *const names[] = {"pairing", "layout", "cache_layout", "cos_sin_exchanged"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (strcmp(names[n], fault->name) == 0)
            return true;
    return false;
}
