/* SPDX-License-Identifier: MIT */
/* faults.c - what people get wrong, as rows. */
#include "verify/faults.h"

#include <math.h>
#include <string.h>

#include "encodings/registry.h"

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

static bool find_choice(const pe_param *row, const char *text, size_t *out)
{
    for (*out = 0; row->choices[*out] != NULL; ++*out)
        if (strcmp(row->choices[*out], text) == 0)
            return true;
    return false;
}

static bool set_choice(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *value = value_of(guess, fault->param, &row);
    return value != NULL && row->kind == PE_KIND_CHOICE &&
           find_choice(row, fault->text, &value->choice);
}

bool pe_faults_retype(pe_guess *guess, const char *type)
{
    return set_choice(guess, &(pe_fault){.param = "rope_type", .text = type});
}

static bool flip(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *value = value_of(guess, fault->param, &row);
    if (value == NULL)
        return false;
    value->truth = !value->truth;
    return true;
}

/* param and the row named by text change places */
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

/* param takes the value of the row named by text */
static bool take_other(pe_guess *guess, const pe_fault *fault)
{
    const pe_param *row;
    pe_value *to = value_of(guess, fault->param, &row), *from = value_of(guess, fault->text, &row);
    if (to == NULL || from == NULL)
        return false;
    to->integer = from->integer;
    return true;
}

/* ---- types
 * of scaling --------------------------------------------------------------------------- */

/* Numbers that a type wants and the claim does not tell, as published. */
static const struct {
    const char *name;
    double value;
} usual[] = {{"low_freq_factor", 1}, {"high_freq_factor", 4}};

/* Put in what the type misses, take out what it does not read; the resource says which. */
static bool amend(pe_values *values, const pe_problem *why)
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

/* Plan until the type has no more to say; in the end the values are those of a client. */
static bool settle(pe_guess *guess)
{
    for (size_t round = 0; round < 2 * guess->values.n; round++) {
        pe_plan plan = {0};
        pe_problem why;
        for (size_t i = 0; i < guess->values.n; i++)
            guess->values.value[i].given = guess->values.value[i].present;
        const pe_status status =
            guess->claim->resource->plan(&guess->values, guess->tables, guess->limits, &plan, &why);
        pe_plan_free(&plan);
        for (size_t i = 0; i < guess->values.n; i++)
            guess->values.value[i].given = false;
        if (status == PE_OK)
            return true;
        if (!amend(&guess->values, &why))
            return false;
    }
    return false;
}

static bool retype(pe_guess *guess, const pe_fault *fault)
{
    return set_choice(guess, fault) && settle(guess);
}

/* ---- the
 * attention factor ----------------------------------------------------------------------- */

/* A, as the resource tells it. */
static bool attention_factor(pe_guess *guess, double *out)
{
    pe_plan plan = {0};
    pe_problem why;
    bool found = false;
    if (guess->claim->resource->plan(&guess->values, guess->tables, guess->limits, &plan, &why) ==
        PE_OK)
        for (size_t s = 0; s < plan.n_scalars; s++)
            if (strcmp(plan.scalars[s].name, "attention_factor") == 0) {
                *out = plan.scalars[s].value;
                found = true;
            }
    pe_plan_free(&plan);
    return found;
}

/* The whole of it, so that no part is derived. */
static void set_attention(pe_guess *guess, double factor)
{
    pe_value *part = pe_values_find(&guess->values, "attn_factor");
    pe_values_set_real(&guess->values, "attention_factor", factor);
    if (part != NULL)
        part->present = false;
}

/* A becomes A^value: 0, missing; 2, applied twice. */
static bool attention_power(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (pe_values_find(&guess->values, "attention_factor") == NULL ||
        !attention_factor(guess, &factor) || factor == 1)
        return false;
    set_attention(guess, fault->value == 0 ? 1 : factor * factor);
    guess->distortion.loose |= fault->value != 0;
    return true;
}

/* ---- positions ---- */

/* A grid has none, and a table that tells its own. */
static bool has_positions(const pe_guess *guess)
{
    const pe_value *positions = pe_values_find(&guess->values, "positions");
    return positions != NULL && positions->present;
}

static bool move_positions(pe_guess *guess, const pe_fault *fault)
{
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->rounded)
        return false;
    map->times *= fault->value;
    map->plus = map->plus * fault->value + fault->and_value;
    return true;
}

static bool round_positions(pe_guess *guess, const pe_fault *fault)
{
    pe_position_map *map = &guess->distortion.positions;
    if (!has_positions(guess) || map->rounded)
        return false;
    map->rounded = true;
    map->to = (pe_dtype)fault->value;
    return true;
}

/* Twice the angle, the square of the factor. */
static bool rotate_twice(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (attention_factor(guess, &factor) && factor != 1) {
        set_attention(guess, factor * factor);
        guess->distortion.loose = true;
    }
    return move_positions(guess, fault);
}

/* As at position 0, without the factor. */
static bool leave_alone(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (attention_factor(guess, &factor) && factor != 1)
        set_attention(guess, 1);
    return move_positions(guess, fault);
}

/* A back turn, as a decoder's: the factor is divided by. */
static bool undo(pe_guess *guess, const pe_fault *fault)
{
    double factor;
    if (!attention_factor(guess, &factor) || factor == 1)
        return false;
    set_attention(guess, 1 / factor);
    guess->distortion.loose = true;
    return move_positions(guess, fault);
}

/* ---- dimensions
 * and layouts --------------------------------------------------------------------- */

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

static bool exchange(pe_guess *guess, const pe_fault *fault)
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

/* ---- frequencies kept
 * in float32 ---------------------------------------------------------------- */

/* inv_freq of these values, float64 elements; the caller frees *out with pe_array_free. */
static bool frequencies(const pe_guess *guess, size_t numerics, pe_array *out)
{
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    bool made = false;
    if (pe_values_make(pe_rope_frequencies.param_sets, &values, &why) != PE_OK)
        return false;
    for (size_t i = 0; i < values.n; i++) {
        const pe_value *from = pe_values_find(&guess->values, values.value[i].param->name);
        if (from == NULL)
            continue;
        const pe_param *row = values.value[i].param;
        values.value[i] = *from; /* borrowed: lists are taken out below */
        values.value[i].param = row;
        values.value[i].given = false;
    }
    pe_values_find(&values, "dtype")->choice = PE_FLOAT64;
    pe_values_find(&values, "numerics")->choice = numerics;
    if (pe_values_defaults(&values, &why) == PE_OK &&
        pe_rope_frequencies.plan(&values, guess->tables, guess->limits, &plan, &why) == PE_OK &&
        pe_array_make(PE_FLOAT64, &plan.tensors[0].shape, out, &why) == PE_OK) {
        made = plan.fill(&plan, 0, 0, plan.tensors[0].units, out->data, &why) == PE_OK;
        if (!made)
            pe_array_free(out);
    }
    pe_plan_free(&plan);
    for (size_t i = 0; i < values.n; i++)
        values.value[i] = (pe_value){0};
    pe_values_free(&values);
    return made;
}

/* freq_factors that turn each frequency into the float32 reference's. */
static bool float32_frequencies(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    pe_value *factors = pe_values_find(&guess->values, "freq_factors");
    pe_array exact, rounded;
    if (factors == NULL || factors->present || !frequencies(guess, PE_NUMERICS_EXACT, &exact))
        return false;
    if (!frequencies(guess, PE_NUMERICS_FLOAT32, &rounded)) {
        pe_array_free(&exact);
        return false;
    }
    double *x = exact.data;
    const double *r = rounded.data;
    for (size_t i = 0; i < exact.elements; i++)
        x[i] = r[i] > 0 ? x[i] / r[i] : 1;
    factors->list = x;
    factors->list_length = exact.elements;
    factors->present = true;
    guess->distortion.loose = true;
    pe_array_free(&rounded);
    return true;
}

/* ----
 * the rows ----------------------------------------------------------------------------------- */

#define NUMBER(label, row, number)                                                                 \
    {                                                                                              \
        .name = (label), .change = set_number, .param = (row), .value = (number)                   \
    }
#define CHOICE(label, row, choice)                                                                 \
    {                                                                                              \
        .name = (label), .change = set_choice, .param = (row), .text = (choice)                    \
    }
#define TYPE(label, choice)                                                                        \
    {                                                                                              \
        .name = (label), .change = retype, .param = "rope_type", .text = (choice)                  \
    }

/* Simpler ones first: between equals the first is told first. What reads other values stands
 * behind the rows that change them. */
const pe_fault pe_faults[] = {
    /* bases and scales that are in use; others are fitted (fit.c) */
    NUMBER("rope_theta", "rope_theta", 10000),
    NUMBER("rope_theta", "rope_theta", 500000),
    NUMBER("rope_theta", "rope_theta", 1000000),
    NUMBER("base", "base", 10000),
    NUMBER("scale", "scale", 1),
    NUMBER("scale", "scale", 1000),
    NUMBER("freq_shift", "freq_shift", 0),
    NUMBER("freq_shift", "freq_shift", 1),
    NUMBER("alibi_bias_max", "alibi_bias_max", 8),
    /* scaling */
    {.name = "scaling_dropped",
     .rule = "the frequencies were not scaled: rope_type was default",
     .change = retype,
     .param = "rope_type",
     .text = "default"},
    TYPE("rope_type", "linear"),
    TYPE("rope_type", "ntk"),
    TYPE("rope_type", "dynamic"),
    TYPE("rope_type", "yarn"),
    TYPE("rope_type", "llama3"),
    TYPE("rope_type", "longrope"),
    TYPE("rope_type", "proportional"),
    TYPE("rope_type", "ntk_alpha"),
    TYPE("rope_type", "ntk_fixed"),
    TYPE("rope_type", "ntk_mixed"),
    TYPE("rope_type", "ntk_by_parts"),
    TYPE("rope_type", "part_ntk"),
    NUMBER("factor", "factor", 1),
    {.name = "betas_swapped",
     .rule = "beta_fast and beta_slow were swapped",
     .change = swap_numbers,
     .param = "beta_fast",
     .text = "beta_slow"},
    {.name = "truncate", .change = flip, .param = "truncate"},
    {.name = "original_fallback",
     .rule = "original_max_position_embeddings was taken from max_position_embeddings",
     .change = take_other,
     .param = "original_max_position_embeddings",
     .text = "max_position_embeddings"},
    {.name = "seq_len_ignored",
     .rule = "seq_len was taken from max_position_embeddings",
     .change = take_other,
     .param = "seq_len",
     .text = "max_position_embeddings"},
    /* dimensions */
    {.name = "partial_ignored",
     .rule = "all channels were rotated: partial_rotary_factor or rotary_dim was ignored",
     .change = ignore_partial},
    {.name = "head_in_exponent",
     .rule = "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
     .change = head_in_exponent},
    /* layouts */
    {.name = "pairing", .change = set_choice, .param = "pairing", .text = "interleaved"},
    CHOICE("pairing", "pairing", "half"),
    CHOICE("layout", "layout", "interleaved"),
    CHOICE("layout", "layout", "sin_cos"),
    CHOICE("layout", "layout", "cos_sin"),
    CHOICE("cache_layout", "cache_layout", "vllm"),
    CHOICE("cache_layout", "cache_layout", "meta"),
    {.name = "cos_sin_exchanged", .rule = "cosines and sines were exchanged", .change = exchange},
    /* ALiBi */
    {.name = "alibi_sign",
     .rule = "the sign was the other one",
     .change = negate,
     .text = "alibi/"},
    CHOICE("alibi_variant", "variant", "press"),
    CHOICE("alibi_variant", "variant", "formula"),
    CHOICE("alibi_form", "form", "symmetric"),
    CHOICE("alibi_form", "form", "causal"),
    CHOICE("alibi_form", "form", "key"),
    /* the attention factor */
    {.name = "attention_factor_missing",
     .rule = "the attention factor was left out",
     .change = attention_power,
     .value = 0},
    {.name = "attention_factor_squared",
     .rule = "the attention factor was applied twice",
     .change = attention_power,
     .value = 2},
    /* positions */
    {.name = "position_plus_one",
     .rule = "positions were one too large",
     .change = move_positions,
     .value = 1,
     .and_value = 1},
    {.name = "position_minus_one",
     .rule = "positions were one too small",
     .change = move_positions,
     .value = 1,
     .and_value = -1},
    {.name = "inverse",
     .rule = "the rotation was the inverse one: angles were negative",
     .change = move_positions,
     .value = -1},
    {.name = "undone",
     .rule = "vectors were turned back: angles were negative, the attention factor was divided by",
     .change = undo,
     .value = -1,
     .of_vectors = true},
    {.name = "rotated_twice",
     .rule = "vectors were rotated twice",
     .change = rotate_twice,
     .value = 2,
     .of_vectors = true},
    {.name = "not_rotated",
     .rule = "vectors were not rotated",
     .change = leave_alone,
     .value = 0,
     .of_vectors = true},
    {.name = "float32_positions",
     .rule = "positions were rounded to float32",
     .change = round_positions,
     .value = PE_FLOAT32},
    {.name = "float16_positions",
     .rule = "positions were rounded to float16",
     .change = round_positions,
     .value = PE_FLOAT16},
    {.name = "bfloat16_positions",
     .rule = "positions were rounded to bfloat16",
     .change = round_positions,
     .value = PE_BFLOAT16},
    /* arithmetic */
    {.name = "float32_arithmetic",
     .rule = "angles were computed in float32, not exactly",
     .change = set_choice,
     .param = "numerics",
     .text = "float32"},
    {.name = "float32_inv_freq",
     .rule = "frequencies were rounded to float32, angles were not",
     .change = float32_frequencies},
};
const size_t pe_faults_n = PE_LEN(pe_faults);

/* ----
 * adding one --------------------------------------------------------------------------------- */

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

static void say(const pe_fault *fault, const pe_guess *before, pe_guess *guess)
{
    pe_buffer *out = &guess->rule;
    if (out->bytes > 0)
        pe_buffer_str(out, "; ");
    if (fault->rule != NULL) {
        pe_buffer_str(out, fault->rule);
        return;
    }
    if (fault->retypes) {
        say_row("rope_type", before, guess);
        pe_buffer_str(out, "; ");
    }
    say_row(fault->param, before, guess);
}

bool pe_fault_apply(const pe_fault *fault, pe_guess *guess)
{
    pe_problem why;
    pe_guess before;
    if ((fault->of_vectors && guess->claim->inputs.elements == 0) ||
        pe_guess_copy(guess, &before, &why) != PE_OK)
        return false;
    const bool changed = fault->change(guess, fault) && !pe_guess_same(&before, guess);
    if (changed) {
        say(fault, &before, guess);
        guess->faults[guess->n_faults++] = fault;
    }
    pe_guess_free(&before);
    return changed;
}
