/* SPDX-License-Identifier: MIT */
/* faults.c - what people get wrong, as rows. */
#include "verify/mistakes/faults.h"

#include <string.h>

#include "verify/mistakes/changes.h"
#include "verify/mistakes/precision.h"

/* ---- the rows ---- */

#define SIGN      "check the sign where the waves are made or unpacked"
#define KEEP_WIDE "keep cosines, sines and products in float32, or claim the narrow dtype"
#define KEEP_INV_FREQ                                                                              \
    "keep inv_freq in float32: leave it out of model.half() and model.to(dtype), and autocast off"
#define KEEP_ANGLES                                                                                \
    "make angles in float32 with autocast off; round cosines and sines only (no TF32 matmul)"

#define KEEP_SCALED "keep timesteps in float32 until the angle has been made, and do not cut them"

/* Simpler faults come first: of findings that explain the upload equally well, the first is told
 * first. A fault that reads values stands behind the rows that change these. */
#define TWO_PI 6.283185307179586
#define TURNS  "take 2 pi / frequency for the wavelength"

const pe_fault pe_faults[] = {
    /* bases and scales that are in use; others are fitted (fit.c) */
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .value = 10000},
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .value = 500000},
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .value = 1000000},
    {NULL, NULL, .change = pe_changes_number, .param = "base", .value = 10000},
    {NULL, NULL, .change = pe_changes_number, .param = "scale", .value = 1},
    {NULL, NULL, .change = pe_changes_number, .param = "scale", .value = 1000},
    {PE_NAME(scale), "positions were multiplied by the scale twice", .change = pe_changes_square,
     .param = "scale", .remedy = "multiply timesteps by the scale once"},
    {NULL, NULL, .change = pe_changes_number, .param = "freq_shift", .value = 0},
    {NULL, NULL, .change = pe_changes_number, .param = "freq_shift", .value = 1},
    {NULL, NULL, .change = pe_changes_number, .param = "alibi_bias_max", .value = 8},
    {NULL, NULL, .change = pe_changes_number, .param = "max_freq", .value = 10},
    {NULL, NULL, .change = pe_changes_number, .param = "max_freq", .value = 224},
    {NULL, NULL, .change = pe_changes_number, .param = "rope_theta", .text = "rope/decay",
     .value = 1000},
    {PE_NAME(offset), "offset was 0: the rotations are the identity, none is applied",
     .change = pe_changes_number, .param = "offset", .text = "sinusoidal/offset",
     .remedy = "rotate by the claimed offset"},
    {PE_NAME(exponents_halved),
     "exponents were i/d, not 2i/d: frequencies are the square root of the claimed ones",
     .change = pe_changes_root, .param = "base", .text = "sinusoidal/offset",
     .remedy = "divide the exponents by d_model/2"},
    {PE_NAME(freq_shift),
     "exponents were i/(n - 1), not i/n, of n = d_model/2 frequencies: freq_shift was 1",
     .change = pe_changes_root, .param = "base", .text = "sinusoidal/offset", .value = 1,
     .remedy = "divide the exponents by d_model/2"},
    {PE_NAME(scale_missing), "every scale was 1: the attention scaling was not applied",
     .change = pe_changes_number, .param = "beta", .text = "rope/attention-scale",
     .remedy = "multiply the queries by the scale of their position"},
    /* scaling */
    {PE_NAME(scaling_dropped), "the frequencies were not scaled: rope_type was default",
     .change = pe_changes_rope_type, .param = "rope_type", .text = "default",
     .remedy = "pass rope_scaling (rope_parameters) of the configuration to the code that makes "
               "the table"},
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
    {PE_NAME(dynamic_factor_ignored),
     "dynamic scaling: the base grew with seq_len / max_position_embeddings alone, as with a "
     "factor of 1",
     .change = pe_changes_dynamic_factor, .param = "factor", .value = 1,
     .remedy = "scale the base by (f s/L - (f - 1))^(d/(d - 2)), s = seq_len"},
    {NULL, NULL, .change = pe_changes_number, .param = "factor", .value = 1},
    {PE_NAME(yarn_interpolated),
     "all pairs were interpolated, none extrapolated: frequencies were divided by factor, as "
     "linear scaling does (the ramp is 1)",
     .change = pe_changes_number, .param = "extrapolation_factor", .value = 0,
     .remedy = "blend the frequencies by the ramp between beta_fast and beta_slow"},
    {PE_NAME(two_pi_missing),
     "the turns of pairs were counted without 2 pi: wavelengths were taken as 1/frequency",
     .change = pe_changes_divide_both, .param = "beta_fast", .text = "beta_slow", .value = TWO_PI,
     .remedy = TURNS},
    {PE_NAME(two_pi_missing),
     "the turns of pairs were counted without 2 pi: wavelengths were taken as 1/frequency",
     .change = pe_changes_divide_both, .param = "low_freq_factor", .text = "high_freq_factor",
     .value = TWO_PI, .remedy = TURNS},
    {PE_NAME(betas_swapped), "beta_fast and beta_slow were swapped", .change = pe_changes_swap,
     .param = "beta_fast", .text = "beta_slow", .remedy = "exchange beta_fast and beta_slow"},
    {NULL, NULL, .change = pe_changes_truth, .param = "truncate"},
    {PE_NAME(original_fallback),
     "original_max_position_embeddings was taken from max_position_embeddings",
     .change = pe_changes_copy, .param = "original_max_position_embeddings",
     .text = "max_position_embeddings",
     .remedy = "set original_max_position_embeddings in rope_scaling"},
    {PE_NAME(original_scaled),
     "original_max_position_embeddings was multiplied by factor: the length of the long context "
     "was "
     "taken for it",
     .change = pe_changes_multiply, .param = "original_max_position_embeddings", .text = "factor",
     .remedy = "set original_max_position_embeddings to the length before scaling"},
    {PE_NAME(short_factor),
     "short_factor was taken where long_factor is claimed, with an attention factor of 1",
     .change = pe_changes_take_short, .param = "seq_len",
     .text = "original_max_position_embeddings", .value = 1,
     .remedy = "pass the length of the sequence (seq_len), and max_position_embeddings"},
    {PE_NAME(short_factor), "short_factor was taken where long_factor is claimed",
     .change = pe_changes_take_short, .param = "seq_len",
     .text = "original_max_position_embeddings",
     .remedy = "pass the length of the sequence (seq_len), which chooses long_factor"},
    {PE_NAME(seq_len_ignored), "seq_len was taken from max_position_embeddings",
     .change = pe_changes_copy, .param = "seq_len", .text = "max_position_embeddings",
     .remedy = "pass the length of the sequence to the code that makes the frequencies"},
    /* dimensions */
    {PE_NAME(partial_ignored),
     "all channels were rotated: partial_rotary_factor or rotary_dim was ignored",
     .change = pe_changes_ignore_partial,
     .remedy = "set partial_rotary_factor (rotary_pct, rotary_dim)"},
    {PE_NAME(head_in_exponent),
     "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
     .change = pe_changes_head_in_exponent,
     .remedy = "divide the exponents by rotary_dim, not by head_dim"},
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
    {PE_NAME(cos_sin_exchanged), "cosines and sines were exchanged", .change = pe_changes_exchange,
     .remedy = "exchange cosines and sines where they are unpacked"},
    {PE_NAME(waves_negative),
     "cosines and sines have the opposite sign: both were negated, or pi added to the angle",
     .change = pe_changes_negate_waves, .remedy = SIGN},
    {PE_NAME(cosine_negative), "cosines have the opposite sign: they are negated",
     .change = pe_changes_negate_waves, .value = 1, .remedy = SIGN},
    /* ALiBi */
    {PE_NAME(alibi_sign), "every element has the opposite sign", .change = pe_changes_negate,
     .text = "alibi/",
     .remedy = "keep the sign of the formula: slopes and biases by key are above 0, biases by "
               "distance below it"},
    {PE_NAME(alibi_variant), NULL, .change = pe_changes_choice, .param = "variant",
     .text = "press"},
    {PE_NAME(alibi_variant), NULL, .change = pe_changes_choice, .param = "variant",
     .text = "formula"},
    {PE_NAME(attention_variant), NULL, .change = pe_changes_variant, .param = "variant",
     .text = "qwen"},
    {PE_NAME(attention_variant), NULL, .change = pe_changes_variant, .param = "variant",
     .text = "inkling"},
    {PE_NAME(attention_variant), NULL, .change = pe_changes_variant, .param = "variant",
     .text = "llama4"},
    {PE_NAME(alibi_form), NULL, .change = pe_changes_choice, .param = "form", .text = "symmetric"},
    {PE_NAME(alibi_form), NULL, .change = pe_changes_choice, .param = "form", .text = "causal"},
    {PE_NAME(alibi_form), NULL, .change = pe_changes_choice, .param = "form", .text = "key"},
    /* the attention factor */
    {PE_NAME(attention_factor_missing), "the attention factor was left out",
     .change = pe_changes_attention_power, .value = 0,
     .remedy = "multiply cosines and sines by the attention factor (mscale)"},
    {PE_NAME(attention_factor_squared),
     "the attention factor is squared: it was applied twice, or made without its square root",
     .change = pe_changes_attention_power, .value = 2,
     .remedy = "apply the attention factor once: to the table, or to the logits"},
    /* positions */
    {PE_NAME(position_plus_one), "positions were one too large",
     .change = pe_changes_move_positions, .value = 1, .and_value = 1,
     .remedy = "count positions from 0: take arange(n), not arange(1, n + 1)"},
    {PE_NAME(position_minus_one), "positions were one too small",
     .change = pe_changes_move_positions, .value = 1, .and_value = -1,
     .remedy = "do not take 1 off the positions"},
    {PE_NAME(inverse), "the rotation was the inverse one: angles were negative",
     .change = pe_changes_move_positions, .value = -1,
     .remedy = "turn the other way: check the sign of the sine"},
    {PE_NAME(undone),
     "vectors were turned back: angles were negative, the attention factor was divided by",
     .change = pe_changes_rotate_back, .value = -1, .vectors_only = true,
     .remedy = "turn the other way, and multiply by the attention factor"},
    {PE_NAME(rotated_twice), "vectors were rotated twice", .change = pe_changes_rotate_twice,
     .value = 2, .vectors_only = true, .remedy = "apply the rotation once"},
    {NULL, NULL, .change = pe_changes_halve_factor, .param = "factor", .vectors_only = true},
    {PE_NAME(rotary_offset),
     "the first rotary_dim channels were turned, not those from rotary_offset on: the slice is "
     "another one",
     .change = pe_changes_number, .param = "rotary_offset", .value = 0, .vectors_only = true,
     .remedy = "rotate x[..., rotary_offset : rotary_offset + rotary_dim]"},
    {PE_NAME(not_rotated), "vectors were not rotated", .change = pe_changes_skip_rotation,
     .value = 0, .vectors_only = true, .remedy = "apply the rotation"},
    {PE_NAME(float32_positions), "positions were rounded to float32",
     .change = pe_changes_round_positions, .value = PE_CHANGES_FLOAT32,
     .remedy = "keep positions in integers or float64"},
    {PE_NAME(float16_positions), "positions were rounded to float16",
     .change = pe_changes_round_positions, .value = PE_CHANGES_FLOAT16,
     .remedy = "keep positions in float32 or integers until the angle has been made"},
    {PE_NAME(bfloat16_positions), "positions were rounded to bfloat16",
     .change = pe_changes_round_positions, .value = PE_CHANGES_BFLOAT16,
     .remedy = "keep positions in float32 or integers until the angle has been made"},
    {PE_NAME(position_overflow), "positions were kept in an integer of 16 bits, which overflowed",
     .change = pe_changes_round_positions, .value = PE_CHANGES_INT16,
     .remedy = "keep positions in int64"},
    {PE_NAME(position_overflow), "positions were kept in an integer of 32 bits, which overflowed",
     .change = pe_changes_round_positions, .value = PE_CHANGES_INT32,
     .remedy = "keep positions in int64"},
    {PE_NAME(position_overflow),
     "positions were kept in an unsigned integer of 32 bits, which overflowed",
     .change = pe_changes_round_positions, .value = PE_CHANGES_UINT32,
     .remedy = "keep positions in int64"},
    /* behind the scale */
    {PE_NAME(positions_truncated),
     "positions times scale were cut to integers: fractions were lost",
     .change = pe_changes_round_positions, .value = PE_CHANGES_CUT, .and_value = 1,
     .remedy = KEEP_SCALED},
    {PE_NAME(positions_rounded),
     "positions times scale were rounded to integers: fractions were lost",
     .change = pe_changes_round_positions, .value = PE_CHANGES_WHOLE, .and_value = 1,
     .remedy = KEEP_SCALED},
    {PE_NAME(positions_bfloat16), "positions times scale were rounded to bfloat16",
     .change = pe_changes_round_positions, .value = PE_CHANGES_BFLOAT16, .and_value = 1,
     .remedy = KEEP_SCALED},
    {PE_NAME(positions_float16), "positions times scale were rounded to float16",
     .change = pe_changes_round_positions, .value = PE_CHANGES_FLOAT16, .and_value = 1,
     .remedy = KEEP_SCALED},
    /* arithmetic */
    {PE_NAME(float32_arithmetic), "angles were computed in float32, not exactly",
     .change = pe_changes_choice, .param = "numerics", .text = "float32"},
    {PE_NAME(float32_inv_freq), "frequencies were rounded to float32, angles were not",
     .change = pe_precision_float32_frequencies,
     .remedy = "claim numerics=float32 if that is meant"},
    {PE_NAME(bfloat16_elements),
     "elements were rounded to bfloat16 before they went on in a wider type",
     .change = pe_precision_store, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_WIDE},
    {PE_NAME(float16_elements),
     "elements were rounded to float16 before they went on in a wider type",
     .change = pe_precision_store, .value = PE_GRAIN_FLOAT16, .remedy = KEEP_WIDE},
    {PE_NAME(tf32_elements), "elements were rounded to TF32, as a matrix product does it",
     .change = pe_precision_store, .value = PE_GRAIN_TF32, .remedy = KEEP_WIDE},
    {PE_NAME(float8_elements), "elements were rounded to float8 (e4m3)",
     .change = pe_precision_store, .value = PE_GRAIN_E4M3, .remedy = KEEP_WIDE},
    {PE_NAME(float8_elements), "elements were rounded to float8 (e5m2)",
     .change = pe_precision_store, .value = PE_GRAIN_E5M2, .remedy = KEEP_WIDE},
    {PE_NAME(bfloat16_truncated), "elements were cut to bfloat16, not rounded",
     .change = pe_precision_store, .value = PE_GRAIN_BFLOAT16, .and_value = 1,
     .remedy = "round to nearest: do not drop the low half of a float32"},
    {PE_NAME(float16_truncated), "elements were cut to float16, not rounded",
     .change = pe_precision_store, .value = PE_GRAIN_FLOAT16, .and_value = 1,
     .remedy = "round to nearest"},
    {PE_NAME(bfloat16_inv_freq), "frequencies (inv_freq) were rounded to bfloat16",
     .change = pe_precision_round_frequencies, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_INV_FREQ},
    {PE_NAME(float16_inv_freq), "frequencies (inv_freq) were rounded to float16",
     .change = pe_precision_round_frequencies, .value = PE_GRAIN_FLOAT16, .remedy = KEEP_INV_FREQ},
    {PE_NAME(tf32_inv_freq), "frequencies (inv_freq) were rounded to TF32",
     .change = pe_precision_round_frequencies, .value = PE_GRAIN_TF32, .remedy = KEEP_INV_FREQ},
    {PE_NAME(bfloat16_angles), "angles were rounded to bfloat16",
     .change = pe_precision_round_angles, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_ANGLES,
     .mostly = true},
    {PE_NAME(float16_angles), "angles were rounded to float16", .change = pe_precision_round_angles,
     .value = PE_GRAIN_FLOAT16, .remedy = KEEP_ANGLES, .mostly = true},
    {PE_NAME(tf32_angles), "angles were rounded to TF32, as a matrix product does it",
     .change = pe_precision_round_angles, .value = PE_GRAIN_TF32, .remedy = KEEP_ANGLES,
     .mostly = true},
    {PE_NAME(bfloat16_waves),
     "cosines and sines were rounded to bfloat16 before they turned vectors",
     .change = pe_precision_round_waves, .value = PE_GRAIN_BFLOAT16, .vectors_only = true,
     .remedy = KEEP_WIDE, .mostly = true},
    {PE_NAME(float16_waves), "cosines and sines were rounded to float16 before they turned vectors",
     .change = pe_precision_round_waves, .value = PE_GRAIN_FLOAT16, .vectors_only = true,
     .remedy = KEEP_WIDE, .mostly = true},
    {PE_NAME(bfloat16_factors), "positions and frequencies were rounded to bfloat16",
     .change = pe_precision_round_factors, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_CHANGES_BFLOAT16, .remedy = KEEP_ANGLES},
    {PE_NAME(tf32_factors),
     "positions and frequencies were rounded to TF32, as a matrix product does it",
     .change = pe_precision_round_factors, .value = PE_GRAIN_TF32, .and_value = PE_CHANGES_TF32,
     .remedy = KEEP_ANGLES},
    {PE_NAME(float16_factors), "positions and frequencies were rounded to float16",
     .change = pe_precision_round_factors, .value = PE_GRAIN_FLOAT16,
     .and_value = PE_CHANGES_FLOAT16, .remedy = KEEP_ANGLES},
    {PE_NAME(bfloat16_phase), "positions, frequencies and angles were computed in bfloat16",
     .change = pe_precision_round_phase, .value = PE_GRAIN_BFLOAT16,
     .and_value = PE_CHANGES_BFLOAT16, .remedy = KEEP_ANGLES, .mostly = true},
    {PE_NAME(float16_phase), "positions, frequencies and angles were computed in float16",
     .change = pe_precision_round_phase, .value = PE_GRAIN_FLOAT16, .and_value = PE_CHANGES_FLOAT16,
     .remedy = KEEP_ANGLES, .mostly = true},
    {PE_NAME(bfloat16_arithmetic), "frequencies, angles and waves were all computed in bfloat16",
     .change = pe_precision_round_all, .value = PE_GRAIN_BFLOAT16, .remedy = KEEP_ANGLES,
     .mostly = true},
    {PE_NAME(float16_arithmetic), "frequencies, angles and waves were all computed in float16",
     .change = pe_precision_round_all, .value = PE_GRAIN_FLOAT16, .remedy = KEEP_ANGLES,
     .mostly = true},
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
