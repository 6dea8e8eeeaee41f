/* SPDX-License-Identifier: MIT */
/* faults.c - what people get wrong, as rows. */
#include "verify/mistakes/faults.h"

#include <string.h>

/* ---- the rows ---- */

#define KEEP_ANGLES                                                                                \
    "make angles in float32 with autocast off; round cosines and sines only (no TF32 matmul)"

#define KEEP_SCALED "keep timesteps in float32 until the angle has been made, and do not cut them"

/* Simpler faults come first: of findings that explain the upload equally well, the first is told
 * first. A fault that reads values stands behind the rows that change these. */
const pe_fault pe_faults[] = {
    /* bases and scales that are in use; others are fitted (fit.c) */
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .value = 10000},
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .value = 500000},
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .value = 1000000},
    {NULL, NULL, .change = pe_changes_number, .param = "base", .value = 10000},
    {NULL, NULL, .change = pe_changes_number, .param = "scale", .value = 1},
    {NULL, NULL, .change = pe_changes_number, .param = "scale", .value = 1000},
    {PE_NAME(scale), .change = pe_changes_number, .param = "scale", .op = "x^2"},
    {NULL, NULL, .change = pe_changes_number, .param = "freq_shift", .value = 0},
    {NULL, NULL, .change = pe_changes_number, .param = "freq_shift", .value = 1},
    {NULL, NULL, .change = pe_changes_number, .param = "alibi_bias_max", .value = 8},
    {NULL, NULL, .change = pe_changes_number, .param = "max_freq", .value = 10},
    {NULL, NULL, .change = pe_changes_number, .param = "max_freq", .value = 224},
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .text = "rope/decay",
     .value = 1000},
    {PE_NAME(offset), .change = pe_changes_number, .param = "offset", .text = "sinusoidal/offset"},
    {PE_NAME(exponents_halved), .change = pe_changes_number, .param = "base", .op = "sqrt(x)",
     .text = "sinusoidal/offset"},
    {PE_NAME(freq_shift), .remedy = "divide the exponents by d_model/2",
     .change = pe_changes_number, .param = "base",
     .op = "x^(floor(d_model/2)/(floor(d_model/2) - 1))", .text = "sinusoidal/offset"},
    {PE_NAME(scale_missing), .change = pe_changes_number, .param = "beta",
     .text = "rope/attention-scale"},
    /* scaling */
    {PE_NAME(scaling_dropped), .change = pe_changes_rope_type, .param = "rope_type",
     .text = "default"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "linear"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "ntk"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "yarn"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "llama3"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "longrope"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "ntk_alpha"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "ntk_fixed"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "ntk_mixed"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "ntk_by_parts"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "part_ntk"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "method", .text = "ntk"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "method", .text = "dynamic"},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "method", .text = "linear"},
    {PE_NAME(dynamic_factor_ignored), .change = pe_changes_number, .param = "factor",
     .op = "rope_type.dynamic ? 1 : x"},
    {NULL, NULL, .change = pe_changes_number, .param = "factor", .value = 1},
    {PE_NAME(yarn_interpolated), .change = pe_changes_number, .param = "extrapolation_factor",
     .value = 0},
    {PE_NAME(two_pi_missing), .change = pe_changes_both, .param = "beta_fast", .text = "beta_slow",
     .op = "x/(2*pi)"},
    {PE_NAME(two_pi_missing), .change = pe_changes_both, .param = "low_freq_factor",
     .text = "high_freq_factor", .op = "x/(2*pi)"},
    {PE_NAME(betas_swapped), .change = pe_changes_both, .param = "beta_fast", .text = "beta_slow",
     .op = "beta_fast + beta_slow - x"},
    {NULL, NULL, .change = pe_changes_truth, .param = "truncate"},
    {PE_NAME(original_fallback), .change = pe_changes_number,
     .param = "original_max_position_embeddings", .op = "max_position_embeddings"},
    {PE_NAME(original_scaled), .change = pe_changes_number,
     .param = "original_max_position_embeddings", .op = "round(x*factor)"},
    {PE_NAME(short_factor), .change = pe_changes_take_short, .param = "seq_len",
     .op = "original_max_position_embeddings", .value = 1},
    {PE_NAME(short_factor), .rule = "short_factor was taken where long_factor is claimed",
     .remedy = "pass the length of the sequence (seq_len), which chooses long_factor",
     .change = pe_changes_take_short, .param = "seq_len", .op = "original_max_position_embeddings"},
    {PE_NAME(seq_len_ignored), .change = pe_changes_number, .param = "seq_len",
     .op = "max_position_embeddings"},
    /* dimensions */
    {PE_NAME(partial_ignored), .change = pe_changes_ignore_partial},
    {NULL, NULL, .change = pe_changes_size, .param = "rotary_dim", .value = 2},
    {NULL, NULL, .change = pe_changes_size, .param = "rotary_dim", .value = 1},
    {NULL, NULL, .change = pe_changes_size, .param = "head_dim", .value = 2},
    {NULL, NULL, .change = pe_changes_size, .param = "head_dim", .value = 1},
    {NULL, NULL, .change = pe_changes_size, .param = "d_model", .value = 1},
    {PE_NAME(head_in_exponent), .change = pe_changes_head_in_exponent},
    {PE_NAME(first_channels), .change = pe_changes_first_channels, .param = "rope_type",
     .text = "default"},
    /* their numbers may be those of rows before, which people mean */
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "dynamic",
     .if_alone = true},
    {NULL, NULL, .change = pe_changes_rope_type, .param = "rope_type", .text = "proportional",
     .if_alone = true},
    /* layouts */
    {NULL, NULL, .change = pe_changes_choice, .param = "pairing", .text = "interleaved"},
    {NULL, NULL, .change = pe_changes_choice, .param = "pairing", .text = "half"},
    {NULL, NULL, .change = pe_changes_choice, .param = "layout", .text = "interleaved"},
    {NULL, NULL, .change = pe_changes_choice, .param = "layout", .text = "sin_cos"},
    {NULL, NULL, .change = pe_changes_choice, .param = "layout", .text = "cos_sin"},
    {NULL, NULL, .change = pe_changes_choice, .param = "cache_layout", .text = "vllm"},
    {NULL, NULL, .change = pe_changes_choice, .param = "cache_layout", .text = "meta"},
    {PE_NAME(cos_sin_exchanged), .rule = "cosines and sines were exchanged",
     .change = pe_changes_exchange},
    {PE_NAME(waves_negative), .change = pe_changes_negate_waves},
    {PE_NAME(cosine_negative), .change = pe_changes_negate_waves, .value = 1},
    {NULL, NULL, .change = pe_changes_choice, .param = "future", .text = "zero"},
    {NULL, NULL, .change = pe_changes_choice, .param = "future", .text = "reshaped"},
    /* tables that are resized */
    {NULL, NULL, .change = pe_changes_choice, .param = "mode", .text = "bilinear"},
    {NULL, NULL, .change = pe_changes_choice, .param = "mode", .text = "bicubic"},
    {PE_NAME(align_corners), .change = pe_changes_truth, .param = "align_corners"},
    {PE_NAME(mode), .change = pe_changes_mode, .value = 3},
    {PE_NAME(mode), .rule = "the mode was nearest-exact: each patch is a copy of one",
     .change = pe_changes_mode, .value = 4},
    {PE_NAME(cropped), .change = pe_changes_mode, .value = 5},
    {PE_NAME(cubic_kernel), .change = pe_changes_mode, .value = 6},
    {PE_NAME(half_pixel), .change = pe_changes_mode, .value = 7, .and_value = 1},
    {PE_NAME(scale_factor), .change = pe_changes_mode, .value = 9, .and_value = 1},
    {PE_NAME(target_grid), .change = pe_changes_grid, .param = "target_grid"},
    {PE_NAME(source_grid), .change = pe_changes_grid, .param = "source_grid"},
    {PE_NAME(patch_order), .change = pe_changes_grid, .param = "target_grid",
     .value = PE_CHANGES_BY_COLUMNS},
    {PE_NAME(patch_order),
     .rule = "patches of the table were read down the columns: the source grid was transposed",
     .change = pe_changes_grid, .param = "source_grid", .value = PE_CHANGES_BY_COLUMNS},
    {PE_NAME(resized_as_sequence), .change = pe_changes_sequence},
    {PE_NAME(resized_as_sequence),
     .rule = "patches were resized as one sequence, not as rows and columns: linear, 1-d "
             "interpolation",
     .change = pe_changes_sequence, .text = "bilinear"},
    /* ALiBi */
    {PE_NAME(alibi_sign), .change = pe_changes_negate, .text = "alibi/"},
    {PE_NAME(alibi_variant), .change = pe_changes_choice, .param = "variant", .text = "press"},
    {PE_NAME(alibi_variant), .change = pe_changes_choice, .param = "variant", .text = "formula"},
    {PE_NAME(attention_variant), .change = pe_changes_variant, .param = "variant", .text = "qwen"},
    {PE_NAME(attention_variant), .change = pe_changes_variant, .param = "variant",
     .text = "inkling"},
    {PE_NAME(attention_variant), .change = pe_changes_variant, .param = "variant",
     .text = "llama4"},
    {PE_NAME(alibi_form), .change = pe_changes_choice, .param = "form", .text = "symmetric"},
    {PE_NAME(alibi_form), .change = pe_changes_choice, .param = "form", .text = "causal"},
    {PE_NAME(alibi_form), .change = pe_changes_choice, .param = "form", .text = "key"},
    /* the attention factor */
    {PE_NAME(attention_factor_missing), .change = pe_changes_turn, .op = "1", .value = 1},
    {PE_NAME(attention_factor_squared),
     .rule =
         "the attention factor is squared: it was applied twice, or made without its square root",
     .change = pe_changes_turn, .op = "x^2", .value = 1},
    /* positions */
    {PE_NAME(position_plus_one), .change = pe_changes_move_positions, .value = 1, .and_value = 1},
    {PE_NAME(position_minus_one), .remedy = "do not take 1 off the positions",
     .change = pe_changes_move_positions, .value = 1, .and_value = -1},
    {PE_NAME(inverse), .remedy = "turn the other way: check the sign of the sine",
     .change = pe_changes_move_positions, .value = -1},
    {PE_NAME(undone), .change = pe_changes_turn, .op = "1/x", .value = -1, .vectors_only = true},
    {PE_NAME(rotated_twice), .change = pe_changes_turn, .op = "x^2", .value = 2,
     .vectors_only = true},
    {NULL, NULL, .change = pe_changes_number, .param = "factor", .op = "rope_type.linear ? x/2 : x",
     .vectors_only = true},
    {PE_NAME(rotary_offset), .change = pe_changes_number, .param = "rotary_offset", .value = 0,
     .vectors_only = true},
    {PE_NAME(not_rotated), .change = pe_changes_turn, .op = "1", .value = 0, .vectors_only = true},
    {PE_NAME(float32_positions), .change = pe_changes_round_positions, .op = "float32(x)"},
    {PE_NAME(float16_positions), .change = pe_changes_round_positions, .op = "float16(x)"},
    {PE_NAME(bfloat16_positions), .change = pe_changes_round_positions, .op = "bfloat16(x)"},
    {PE_NAME(position_overflow),
     .rule = "positions were kept in an integer of 16 bits, which overflowed",
     .change = pe_changes_round_positions, .op = "x < 0 ? x : (x + 2^15) % 2^16 - 2^15"},
    {PE_NAME(position_overflow),
     .rule = "positions were kept in an integer of 32 bits, which overflowed",
     .change = pe_changes_round_positions, .op = "x < 0 ? x : (x + 2^31) % 2^32 - 2^31"},
    {PE_NAME(position_overflow),
     .rule = "positions were kept in an unsigned integer of 32 bits, which overflowed",
     .change = pe_changes_round_positions, .op = "x < 0 ? x : x % 2^32"},
    /* behind the scale */
    {PE_NAME(positions_truncated),
     .rule = "positions times scale were cut to integers: fractions were lost",
     .remedy = KEEP_SCALED, .change = pe_changes_round_positions, .op = "trunc(x)", .and_value = 1},
    {PE_NAME(positions_rounded),
     .rule = "positions times scale were rounded to integers: fractions were lost",
     .remedy = KEEP_SCALED, .change = pe_changes_round_positions, .op = "rint(x)", .and_value = 1},
    {PE_NAME(positions_bfloat16), .change = pe_changes_round_positions, .op = "bfloat16(x)",
     .and_value = 1},
    {PE_NAME(positions_float16), .change = pe_changes_round_positions, .op = "float16(x)",
     .and_value = 1},
    /* arithmetic */
    {PE_NAME(float32_arithmetic), .change = pe_changes_choice, .param = "numerics",
     .text = "float32"},
    {PE_NAME(float32_inv_freq), .change = pe_precision_float32_frequencies},
    {PE_NAME(bfloat16_elements), .change = pe_precision_store, .value = PE_GRAIN_BFLOAT16},
    {PE_NAME(float16_elements), .change = pe_precision_store, .value = PE_GRAIN_FLOAT16},
    {PE_NAME(tf32_elements), .change = pe_precision_store, .value = PE_GRAIN_TF32},
    {PE_NAME(float8_elements), .change = pe_precision_store, .value = PE_GRAIN_E4M3},
    {PE_NAME(float8_elements), .rule = "elements were rounded to float8 (e5m2)",
     .change = pe_precision_store, .value = PE_GRAIN_E5M2},
    {PE_NAME(quantised), .change = pe_precision_store, .value = PE_GRAIN_INT8},
    {PE_NAME(quantised), .rule = "elements were quantised to int4: multiples of 1/7",
     .change = pe_precision_store, .value = PE_GRAIN_INT4},
    {PE_NAME(quantised),
     .rule = "elements were quantised to float8 (e4m3) with a scale: 448 stands for 1",
     .change = pe_precision_store, .value = PE_GRAIN_SCALED_E4M3},
    {PE_NAME(quantised),
     .rule = "elements were quantised to float8 (e4m3) with a scale: 240 stands for 1",
     .change = pe_precision_store, .value = PE_GRAIN_FNUZ_E4M3},
    {PE_NAME(bfloat16_truncated), .change = pe_precision_store, .value = PE_GRAIN_BFLOAT16,
     .and_value = 1},
    {PE_NAME(float16_truncated), .change = pe_precision_store, .value = PE_GRAIN_FLOAT16,
     .and_value = 1},
    {PE_NAME(bfloat16_inv_freq), .change = pe_precision_round, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES},
    {PE_NAME(float16_inv_freq), .change = pe_precision_round, .value = PE_GRAIN_FLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES},
    {PE_NAME(tf32_inv_freq), .change = pe_precision_round, .value = PE_GRAIN_TF32,
     .and_value = PE_ROUNDED_FREQUENCIES},
    {PE_NAME(bfloat16_angles), .remedy = KEEP_ANGLES, .change = pe_precision_round,
     .value = PE_GRAIN_BFLOAT16, .and_value = PE_ROUNDED_ANGLES, .mostly = true},
    {PE_NAME(float16_angles), .remedy = KEEP_ANGLES, .change = pe_precision_round,
     .value = PE_GRAIN_FLOAT16, .and_value = PE_ROUNDED_ANGLES, .mostly = true},
    {PE_NAME(tf32_angles), .change = pe_precision_round, .value = PE_GRAIN_TF32,
     .and_value = PE_ROUNDED_ANGLES, .mostly = true},
    {PE_NAME(bfloat16_waves), .change = pe_precision_round, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_ROUNDED_WAVES, .vectors_only = true, .mostly = true},
    {PE_NAME(float16_waves), .change = pe_precision_round, .value = PE_GRAIN_FLOAT16,
     .and_value = PE_ROUNDED_WAVES, .vectors_only = true, .mostly = true},
    {PE_NAME(bfloat16_factors), .change = pe_precision_round, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES, .op = "bfloat16(x)"},
    {PE_NAME(tf32_factors), .change = pe_precision_round, .value = PE_GRAIN_TF32,
     .and_value = PE_ROUNDED_FREQUENCIES, .op = "tf32(x)"},
    {PE_NAME(float16_factors), .change = pe_precision_round, .value = PE_GRAIN_FLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES, .op = "float16(x)"},
    {PE_NAME(bfloat16_phase), .change = pe_precision_round, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES | PE_ROUNDED_ANGLES, .op = "bfloat16(x)", .mostly = true},
    {PE_NAME(float16_phase), .change = pe_precision_round, .value = PE_GRAIN_FLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES | PE_ROUNDED_ANGLES, .op = "float16(x)", .mostly = true},
    {PE_NAME(bfloat16_arithmetic), .change = pe_precision_round, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES | PE_ROUNDED_ANGLES | PE_ROUNDED_ELEMENTS, .mostly = true},
    {PE_NAME(float16_arithmetic), .change = pe_precision_round, .value = PE_GRAIN_FLOAT16,
     .and_value = PE_ROUNDED_FREQUENCIES | PE_ROUNDED_ANGLES | PE_ROUNDED_ELEMENTS, .mostly = true},
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

bool pe_faults_is_grain(const pe_fault *fault)
{
    return fault->change == pe_precision_store;
}
