/* SPDX-License-Identifier: MIT */
/* faults.c - what people get wrong, as rows, and how a guess takes one. */
#include "verify/mistakes/faults.h"

#include <math.h>
#include <string.h>

#include "verify/mistakes/lookup.h"
#include "verify/upload/geometry.h"

/* ---- the rows ---- */

#define KEEP_ANGLES                                                                                \
    "make angles in float32 with autocast off; round cosines and sines only (no TF32 matmul)"

#define KEEP_SCALED "keep timesteps in float32 until the angle has been made, and do not cut them"

/* A parameter was another; or the mistake has a name of its own. */
#define SET(CHANGE, PARAM, ...)                                                                    \
    {                                                                                              \
        .change = pe_changes_##CHANGE, .param = PARAM, __VA_ARGS__                                 \
    }
#define FAULT(NAME, ...)                                                                           \
    {                                                                                              \
        PE_NAME(NAME), .change = pe_changes_##__VA_ARGS__                                          \
    }
#define STORED(NAME, ...)                                                                          \
    {                                                                                              \
        PE_NAME(NAME), .change = pe_changes_store, .value = PE_NARROW_##__VA_ARGS__                \
    }
#define ROUNDED(NAME, NARROW, ...)                                                                 \
    {                                                                                              \
        PE_NAME(NAME), .change = pe_changes_round, .value = PE_NARROW_##NARROW,                    \
                       .and_value = __VA_ARGS__                                                    \
    }

#define PHASE     (PE_ROUNDED_FREQUENCIES | PE_ROUNDED_ANGLES)
#define ALL_STEPS (PHASE | PE_ROUNDED_ELEMENTS)

/* Simpler faults come first: of findings that explain the upload equally well, the first is told
 * first. A fault that reads values stands behind the rows that change these. */
const pe_fault pe_faults[] = {
    /* bases and scales that are in use; others are fitted (fit.c) */
    SET(number, "rope_theta", .value = 10000),
    SET(number, "rope_theta", .value = 500000),
    SET(number, "rope_theta", .value = 1000000),
    SET(number, "base", .value = 10000),
    SET(number, "scale", .value = 1),
    SET(number, "scale", .value = 1000),
    FAULT(scale, number, .param = "scale", .op = "x^2"),
    SET(number, "freq_shift", .value = 0),
    SET(number, "freq_shift", .value = 1),
    SET(number, "alibi_bias_max", .value = 8),
    SET(number, "max_freq", .value = 10),
    SET(number, "max_freq", .value = 224),
    SET(number, "rope_theta", .value = 1000, .text = "rope/decay"),
    FAULT(offset, number, .param = "offset", .text = "sinusoidal/offset"),
    FAULT(exponents_halved, number, .param = "base", .op = "sqrt(x)", .text = "sinusoidal/offset"),
    FAULT(freq_shift, number, .param = "base", .remedy = "divide the exponents by d_model/2",
          .op = "x^(floor(d_model/2)/(floor(d_model/2) - 1))", .text = "sinusoidal/offset"),
    FAULT(scale_missing, number, .param = "beta", .text = "rope/attention-scale"),
    /* scaling */
    FAULT(scaling_dropped, rope_type, .param = "rope_type", .text = "default"),
    SET(rope_type, "rope_type", .text = "linear"),
    SET(rope_type, "rope_type", .text = "ntk"),
    SET(rope_type, "rope_type", .text = "yarn"),
    SET(rope_type, "rope_type", .text = "llama3"),
    SET(rope_type, "rope_type", .text = "longrope"),
    SET(rope_type, "rope_type", .text = "ntk_alpha"),
    SET(rope_type, "rope_type", .text = "ntk_fixed"),
    SET(rope_type, "rope_type", .text = "ntk_mixed"),
    SET(rope_type, "rope_type", .text = "ntk_by_parts"),
    SET(rope_type, "rope_type", .text = "part_ntk"),
    SET(rope_type, "method", .text = "ntk"),
    SET(rope_type, "method", .text = "dynamic"),
    SET(rope_type, "method", .text = "linear"),
    FAULT(dynamic_factor_ignored, number, .param = "factor", .op = "rope_type.dynamic ? 1 : x"),
    SET(number, "factor", .value = 1),
    FAULT(yarn_interpolated, number, .param = "extrapolation_factor", .value = 0),
    FAULT(two_pi_missing, both, .param = "beta_fast", .text = "beta_slow", .op = "x/(2*pi)"),
    FAULT(two_pi_missing, both, .param = "low_freq_factor", .text = "high_freq_factor",
          .op = "x/(2*pi)"),
    FAULT(betas_swapped, both, .param = "beta_fast", .text = "beta_slow",
          .op = "beta_fast + beta_slow - x"),
    SET(truth, "truncate", .value = 0),
    FAULT(original_fallback, number, .param = "original_max_position_embeddings",
          .op = "max_position_embeddings"),
    FAULT(original_scaled, number, .param = "original_max_position_embeddings",
          .op = "round(x*factor)"),
    FAULT(short_factor, take_short, .param = "seq_len", .op = "original_max_position_embeddings",
          .value = 1),
    FAULT(short_factor, take_short, .param = "seq_len",
          .rule = "short_factor was taken where long_factor is claimed",
          .remedy = "pass the length of the sequence (seq_len), which chooses long_factor",
          .op = "original_max_position_embeddings"),
    FAULT(seq_len_ignored, number, .param = "seq_len", .op = "max_position_embeddings"),
    /* dimensions */
    FAULT(partial_ignored, ignore_partial),
    SET(size, "rotary_dim", .value = 2),
    SET(size, "rotary_dim", .value = 1),
    SET(number, "rotary_dim", .op = "head_dim/2", .vectors_only = true),
    SET(number, "rotary_dim", .op = "head_dim/4", .vectors_only = true),
    SET(size, "head_dim", .value = 2),
    SET(size, "head_dim", .value = 1),
    SET(size, "d_model", .value = 1),
    FAULT(head_in_exponent, head_in_exponent),
    FAULT(first_channels, first_channels, .param = "rope_type", .text = "default"),
    /* their numbers may be those of rows before, which people mean */
    SET(rope_type, "rope_type", .text = "dynamic", .if_alone = true),
    SET(rope_type, "rope_type", .text = "proportional", .if_alone = true),
    /* layouts */
    SET(choice, "pairing", .text = "interleaved"),
    SET(choice, "pairing", .text = "half"),
    SET(choice, "layout", .text = "interleaved"),
    SET(choice, "layout", .text = "sin_cos"),
    SET(choice, "layout", .text = "cos_sin"),
    SET(choice, "cache_layout", .text = "vllm"),
    SET(choice, "cache_layout", .text = "meta"),
    FAULT(cos_sin_exchanged, exchange, .rule = "cosines and sines were exchanged"),
    FAULT(waves_negative, negate_waves),
    FAULT(cosine_negative, negate_waves, .value = 1),
    SET(choice, "future", .text = "zero"),
    SET(choice, "future", .text = "reshaped"),
    /* tables that are resized */
    SET(choice, "mode", .text = "bilinear"),
    SET(choice, "mode", .text = "bicubic"),
    FAULT(align_corners, truth, .param = "align_corners"),
    FAULT(mode, mode, .value = 3),
    FAULT(mode, mode, .rule = "the mode was nearest-exact: each patch is a copy of one",
          .value = 4),
    FAULT(cropped, mode, .value = 5),
    FAULT(cubic_kernel, mode, .value = 6),
    FAULT(half_pixel, mode, .value = 7, .and_value = 1),
    FAULT(scale_factor, mode, .value = 9, .and_value = 1),
    FAULT(target_grid, grid, .param = "target_grid"),
    FAULT(source_grid, grid, .param = "source_grid"),
    FAULT(patch_order, grid, .param = "target_grid", .value = PE_CHANGES_BY_COLUMNS),
    FAULT(patch_order, grid, .param = "source_grid",
          .rule = "patches of the table were read down the columns: the source grid was transposed",
          .value = PE_CHANGES_BY_COLUMNS),
    FAULT(resized_as_sequence, sequence),
    FAULT(resized_as_sequence, sequence,
          .rule = "patches were resized as one sequence, not as rows and columns: linear, 1-d "
                  "interpolation",
          .text = "bilinear"),
    /* ALiBi */
    FAULT(alibi_sign, negate, .text = "alibi/"),
    FAULT(alibi_variant, choice, .param = "variant", .text = "press"),
    FAULT(alibi_variant, choice, .param = "variant", .text = "formula"),
    FAULT(attention_variant, variant, .param = "variant", .text = "qwen"),
    FAULT(attention_variant, variant, .param = "variant", .text = "inkling"),
    FAULT(attention_variant, variant, .param = "variant", .text = "llama4"),
    FAULT(alibi_form, choice, .param = "form", .text = "symmetric"),
    FAULT(alibi_form, choice, .param = "form", .text = "causal"),
    FAULT(alibi_form, choice, .param = "form", .text = "key"),
    /* the attention factor */
    FAULT(attention_factor_missing, turn, .op = "1", .value = 1),
    FAULT(attention_factor_squared, turn,
          .rule = "the attention factor is squared: it was applied twice, or made without its "
                  "square root",
          .op = "x^2", .value = 1),
    /* positions */
    FAULT(position_plus_one, move_positions, .value = 1, .and_value = 1),
    FAULT(position_minus_one, move_positions, .remedy = "do not take 1 off the positions",
          .value = 1, .and_value = -1),
    FAULT(inverse, move_positions, .remedy = "turn the other way: check the sign of the sine",
          .value = -1),
    FAULT(undone, turn, .op = "1/x", .value = -1, .vectors_only = true),
    FAULT(rotated_twice, turn, .op = "x^2", .value = 2, .vectors_only = true),
    SET(number, "factor", .op = "rope_type.linear ? x/2 : x", .vectors_only = true),
    FAULT(rotary_offset, number, .param = "rotary_offset", .value = 0, .vectors_only = true),
    FAULT(not_rotated, turn, .op = "1", .value = 0, .vectors_only = true),
    FAULT(float32_positions, round_positions, .op = "float32(x)"),
    FAULT(float16_positions, round_positions, .op = "float16(x)"),
    FAULT(bfloat16_positions, round_positions, .op = "bfloat16(x)"),
    FAULT(position_overflow, round_positions, .op = "x < 0 ? x : (x + 2^15) % 2^16 - 2^15",
          .rule = "positions were kept in an integer of 16 bits, which overflowed"),
    FAULT(position_overflow, round_positions, .op = "x < 0 ? x : (x + 2^31) % 2^32 - 2^31",
          .rule = "positions were kept in an integer of 32 bits, which overflowed"),
    FAULT(position_overflow, round_positions, .op = "x < 0 ? x : x % 2^32",
          .rule = "positions were kept in an unsigned integer of 32 bits, which overflowed"),
    /* behind the scale */
    FAULT(positions_truncated, round_positions, .op = "trunc(x)",
          .rule = "positions times scale were cut to integers: fractions were lost",
          .remedy = KEEP_SCALED, .and_value = 1),
    FAULT(positions_rounded, round_positions, .op = "rint(x)",
          .rule = "positions times scale were rounded to integers: fractions were lost",
          .remedy = KEEP_SCALED, .and_value = 1),
    FAULT(positions_bfloat16, round_positions, .op = "bfloat16(x)", .and_value = 1),
    FAULT(positions_float16, round_positions, .op = "float16(x)", .and_value = 1),
    /* arithmetic */
    FAULT(float32_arithmetic, choice, .param = "numerics", .text = "float32"),
    FAULT(float32_inv_freq, float32_frequencies),
    STORED(bfloat16_elements, BFLOAT16),
    STORED(float16_elements, FLOAT16),
    STORED(tf32_elements, TF32),
    STORED(float8_elements, E4M3),
    STORED(float8_elements, E5M2, .rule = "elements were rounded to float8 (e5m2)"),
    STORED(quantised, INT8),
    STORED(quantised, INT4, .rule = "elements were quantised to int4: multiples of 1/7"),
    STORED(quantised, SCALED_E4M3,
           .rule = "elements were quantised to float8 (e4m3) with a scale: 448 stands for 1"),
    STORED(quantised, FNUZ_E4M3,
           .rule = "elements were quantised to float8 (e4m3) with a scale: 240 stands for 1"),
    STORED(bfloat16_truncated, BFLOAT16, .and_value = 1),
    STORED(float16_truncated, FLOAT16, .and_value = 1),
    ROUNDED(bfloat16_inv_freq, BFLOAT16, PE_ROUNDED_FREQUENCIES),
    ROUNDED(float16_inv_freq, FLOAT16, PE_ROUNDED_FREQUENCIES),
    ROUNDED(tf32_inv_freq, TF32, PE_ROUNDED_FREQUENCIES),
    ROUNDED(bfloat16_angles, BFLOAT16, PE_ROUNDED_ANGLES, .remedy = KEEP_ANGLES, .mostly = true),
    ROUNDED(float16_angles, FLOAT16, PE_ROUNDED_ANGLES, .remedy = KEEP_ANGLES, .mostly = true),
    ROUNDED(tf32_angles, TF32, PE_ROUNDED_ANGLES, .mostly = true),
    ROUNDED(bfloat16_waves, BFLOAT16, PE_ROUNDED_WAVES, .vectors_only = true, .mostly = true),
    ROUNDED(float16_waves, FLOAT16, PE_ROUNDED_WAVES, .vectors_only = true, .mostly = true),
    ROUNDED(bfloat16_factors, BFLOAT16, PE_ROUNDED_FREQUENCIES, .op = "bfloat16(x)"),
    ROUNDED(tf32_factors, TF32, PE_ROUNDED_FREQUENCIES, .op = "tf32(x)"),
    ROUNDED(float16_factors, FLOAT16, PE_ROUNDED_FREQUENCIES, .op = "float16(x)"),
    ROUNDED(bfloat16_phase, BFLOAT16, PHASE, .op = "bfloat16(x)", .mostly = true),
    ROUNDED(float16_phase, FLOAT16, PHASE, .op = "float16(x)", .mostly = true),
    ROUNDED(bfloat16_arithmetic, BFLOAT16, ALL_STEPS, .mostly = true),
    ROUNDED(float16_arithmetic, FLOAT16, ALL_STEPS, .mostly = true),
};
const size_t pe_faults_n = PE_LEN(pe_faults);

const pe_fault *pe_faults_find(const pe_fault_name *name)
{
    size_t f = 0;
    while (f < pe_faults_n && pe_faults[f].name != name)
        f++;
    return f < pe_faults_n ? &pe_faults[f] : NULL;
}

/* ---- what kind one is ---- */

bool pe_faults_hold_mostly(const pe_guess *guess)
{
    return guess->n_faults > 0 && guess->faults[guess->n_faults - 1]->mostly;
}

bool pe_faults_is_layout(const pe_fault *fault)
{
    static const char *const names[] = {"pairing", "layout", "cache_layout"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (fault->param != NULL && strcmp(names[n], fault->param) == 0)
            return true;
    return pe_faults_is_of_waves(fault);
}

bool pe_faults_is_of_waves(const pe_fault *fault)
{
    return fault->change == pe_changes_exchange || fault->change == pe_changes_negate_waves;
}

bool pe_faults_is_narrow_type(const pe_fault *fault)
{
    return fault->change == pe_changes_store;
}

/* ---- a value that was another one, or was ignored ---- */

/* What becomes of a number; the first ones are mistakes that people make: it is ignored, a power of two as
 * heads are padded, or cut, one more, one less. */
static const char *const changes[] = {NULL,
                                      "x > 1 ? 2^ceil(log2(x)) : x",
                                      "x > 1 ? 2^floor(log2(x)) : x",
                                      "x + 1",
                                      "x - 1",
                                      "2*x",
                                      "x/2",
                                      "10*x",
                                      "x/10",
                                      "4*x",
                                      "x/4",
                                      "8*x",
                                      "x/8",
                                      "16*x",
                                      "x/16",
                                      "32*x",
                                      "x/32",
                                      "64*x"};
enum { IGNORED, NEXT_POWER, LAST_POWER, LIKELY = 5 };

/* Of two values that were ignored, the first one comes first. */
static bool is_behind(const pe_guess *guess, size_t i)
{
    const pe_fault *last = guess->n_faults > 0 ? guess->faults[guess->n_faults - 1] : NULL;
    return last == NULL || last->change != pe_changes_ignored ||
           pe_values_find(&guess->values, last->param) < &guess->values.value[i];
}

static bool can_be_ignored(const pe_param *row)
{
    return row->kind == PE_KIND_INT || row->kind == PE_KIND_REAL ||
           (row->kind == PE_KIND_REAL_LIST && row->optional);
}

bool pe_value_faults_ignored(const pe_guess *guess, size_t i, pe_fault *out)
{
    const pe_param *row = guess->values.value[i].param;
    *out = (pe_fault){.param = row->name, .change = pe_changes_ignored};
    return can_be_ignored(row) && is_behind(guess, i);
}

bool pe_value_faults_nth(const pe_guess *guess, size_t i, size_t k, pe_fault *out)
{
    /* of the claim, not of the table; indices that run the other way have a name of their own */
    static const char *const kept[] = {"dtype", "numerics", "distance"};
    const pe_value *value = &guess->values.value[i];
    const pe_param *row = value->param;
    *out = (pe_fault){.param = row->name};
    for (size_t n = 0; n < PE_LEN(kept); n++)
        if (strcmp(kept[n], row->name) == 0)
            return false;
    if (!value->present)
        return false;
    if (row->kind == PE_KIND_CHOICE) {
        out->change = strcmp(row->name, "convention") == 0 ? pe_changes_variant : pe_changes_choice;
        out->text = row->choices[k];
        return out->text != NULL;
    }
    if (row->kind == PE_KIND_BOOL) {
        out->change = pe_changes_truth;
        return k == 0;
    }
    if (row->kind == PE_KIND_POSITIONS && k < 2) {
        out->change = pe_changes_shift;
        out->value = k == 0 ? 1 : -1;
        return strcmp(row->name, "positions") != 0; /* which a guess moves otherwise */
    }
    if (k == IGNORED && can_be_ignored(row)) {
        out->change = pe_changes_ignored;
        return true;
    }
    if ((row->kind != PE_KIND_INT && row->kind != PE_KIND_REAL) || k >= PE_LEN(changes))
        return false;
    /* indices are compared exactly, and few whole numbers give them */
    const bool indices =
        guess->claim->uploads[0].array.dtype == PE_INT32 || pe_lookup_is(guess->claim->resource);
    if (k >= LIKELY && indices && row->kind == PE_KIND_REAL)
        return false;
    out->fitted = k >= LIKELY && !indices;
    out->change = pe_changes_number;
    out->op = row->kind == PE_KIND_REAL && (k == NEXT_POWER || k == LAST_POWER) ? "x" : changes[k];
    return true;
}

/* ---- a fault is added to a guess: what it changes, and what is said of it ---- */

/* "row was X, not Y", or "row was ignored" */
static void say_row(const char *name, const pe_guess *before, pe_guess *guess)
{
    pe_buffer *out = &guess->rule;
    const pe_value *is = pe_values_find(&guess->values, name);
    const size_t i = (size_t)(is - guess->values.value);
    if (!is->present) {
        pe_buffer_format(out, "%s was ignored: numbers are those without it", name);
        return;
    }
    pe_buffer_format(out, "%s %s ", name, is->param->kind == PE_KIND_POSITIONS ? "were" : "was");
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
    const char *remedy = pe_fault_remedy(fault);
    if (remedy != NULL || was == NULL || fault->sets_rope_type) {
        pe_buffer_str(&guess->remedy, remedy != NULL ? remedy : "pass the claimed parameters");
        if (fault->change == pe_changes_move_positions &&
            pe_values_find(&before->values, "position_offset") != NULL)
            pe_buffer_str(&guess->remedy, "; check position_offset");
        return;
    }
    pe_buffer_format(&guess->remedy, was->present ? "set %s to " : "leave %s out", fault->param);
    if (was->present)
        pe_value_print(was, &guess->remedy);
    const bool base =
        strcmp(fault->param, "rope_theta") == 0 || strcmp(fault->param, "factor") == 0;
    if (base && pe_geometry_has_rope_type(&before->values, "dynamic"))
        pe_buffer_str(&guess->remedy, "; dynamic scaling raises the base with the length: check "
                                      "seq_len and max_position_embeddings");
    if (base && pe_geometry_has_rope_type(&before->values, "ntk"))
        pe_buffer_str(&guess->remedy, "; ntk raises the base: check the exponent d/(d - 2)");
}

static void say(const pe_fault *fault, const pe_guess *before, pe_guess *guess)
{
    pe_guess_say(guess, fault, "");
    add_remedy(fault, before, guess);
    if (*pe_fault_rule(fault) != '\0') {
        pe_buffer_str(&guess->rule, pe_fault_rule(fault));
        return;
    }
    if (fault->sets_rope_type) {
        say_row("rope_type", before, guess);
        pe_buffer_str(&guess->rule, "; ");
    }
    say_row(fault->param, before, guess);
}

/* What is mistaken one way is not mistaken another way, too: a second such fault takes back the
 * first. */
static bool has_named(const pe_guess *guess, const pe_fault *fault)
{
    const char *name = pe_guess_fault_name(fault);
    for (size_t f = 0; f < guess->n_faults; f++)
        if (strcmp(pe_guess_fault_name(guess->faults[f]), name) == 0)
            return true;
    return false;
}

bool pe_faults_apply(const pe_fault *fault, pe_guess *guess)
{
    pe_problem why;
    pe_guess before;
    if (has_named(guess, fault) || (fault->vectors_only && guess->claim->inputs.elements == 0) ||
        pe_guess_copy(guess, &before, &why) != PE_OK)
        return false;
    const bool changed = guess->n_faults < PE_FAULTS_MAX && fault->change(guess, fault) &&
                         !pe_guess_is_same(&before, guess);
    if (changed)
        say(fault, &before, guess);
    guess->fitted |= changed && fault->fitted;
    pe_guess_free(&before);
    return changed;
}
