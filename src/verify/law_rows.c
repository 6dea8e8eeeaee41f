/* SPDX-License-Identifier: MIT */
/* law_rows.c - the laws by which frequencies go wrong, as rows. */
#include "verify/law_rows.h"

#include "verify/law_scalings.h"

#define TURN 6.283185307179586
#define LN2  0.6931471805599453
#define LN10 2.302585092994046

#define LAW                PE_ROW
#define RADIANS            "take angles in radians: position times inv_freq"
#define POWERS             "take the exponents 2i/d: inv_freq = theta ** -(arange(0, d, 2) / d)"
#define FACTORS_OF         "the factors of the pairs are shifted by one: pair i has that of pair "
#define ROTARY_IN_EXPONENT "the exponents of the frequencies were 2i/rotary_dim, not 2i/head_dim"
#define HEAD_DIM           "divide the exponents by head_dim, of which a part is rotated"
#define BLEND_MISSING(READ)                                                                        \
    LAW("blend_missing",                                                                           \
        "the blend of the middle band is missing: pairs below {a} are not scaled, all others are " \
        "divided by {b}",                                                                          \
        "blend scaled and unscaled frequencies between the bands (smooth factor, ramp)",           \
        .read = (READ), .predict = pe_predict_of_edge)
#define PAIRS_REST(READ)                                                                           \
    LAW("pairs_rest", "pairs {a} to {b} do not turn: their frequencies are zero",                  \
        "make frequencies for all pairs", .read = (READ), .predict = pe_predict_resting)
#define RAMP(NAME, RULE, REMEDY, WAY)                                                              \
    LAW(NAME, RULE "; the ramp goes from pair {a} to {b}", REMEDY, .read = pe_law_numbers_ramp,    \
        .predict = pe_predict_of_ramp, .a = (WAY))
#define ENDS_OF    "the ends of the ramp (low, high) were found with "
#define PASS_DIM   "pass rotary_dim (dim, the number of rotated channels) to find_correction_range"
#define ROUND_ENDS "round low down and high up: floor(low), ceil(high)"
#define SMOOTH                                                                                     \
    "take smooth = (original length/wavelength - low_freq_factor)/(high_freq_factor - "            \
    "low_freq_factor)"
#define BASE(NAME, RULE, REMEDY, POWER)                                                            \
    LAW(NAME, RULE, REMEDY, .read = pe_law_numbers_grown_base, .predict = pe_predict_of_theta,     \
        .a = (POWER))
#define ORDER "keep the order of the pairs: pair i has the exponent 2i/d"

#define KEEP_WIDE "make inv_freq in float32 or wider, and keep it so"
#define DECIMALS(N)                                                                                \
    LAW("inv_freq_decimals", "frequencies (inv_freq) were rounded to {a} decimals", KEEP_WIDE,     \
        .predict = pe_predict_to_decimals, .a = (N), .subtle = true)
#define STEPS(RULE, GRAIN, ...)                                                                    \
    LAW("inv_freq_rounded", RULE, KEEP_WIDE, .predict = pe_predict_of_rounded_steps,               \
        .a = (__VA_ARGS__), .b = (GRAIN), .subtle = true)
#define ALL_STEPS (PE_LAW_STEP_EXPONENT | PE_LAW_STEP_POWER | PE_LAW_STEP_RECIPROCAL)
#define ROUNDED(TYPE, GRAIN)                                                                       \
    STEPS("the exponents 2i/d were rounded to " TYPE " before the power", GRAIN,                   \
          PE_LAW_STEP_EXPONENT),                                                                   \
        STEPS("the powers theta^(2i/d) were rounded to " TYPE " before 1 was divided by them",     \
              GRAIN, PE_LAW_STEP_POWER),                                                           \
        STEPS("the powers theta^(2i/d) and frequencies (inv_freq) were rounded to " TYPE, GRAIN,   \
              PE_LAW_STEP_POWER | PE_LAW_STEP_RECIPROCAL),                                         \
        STEPS("frequencies (inv_freq) were computed in " TYPE                                      \
              ": exponents, powers and reciprocals were rounded",                                  \
              GRAIN, ALL_STEPS),                                                                   \
        STEPS("frequencies (inv_freq) were computed in " TYPE                                      \
              ": the base, exponents, powers and reciprocals were rounded",                        \
              GRAIN, PE_LAW_STEP_BASE | ALL_STEPS),                                                \
        LAW("inv_freq_rounded",                                                                    \
            "frequencies (inv_freq) are a running product that was rounded to " TYPE               \
            " at each step",                                                                       \
            KEEP_WIDE, .predict = pe_predict_of_running_product, .b = (GRAIN), .subtle = true)

const pe_law pe_law_rows[] = {
    LAW("reciprocal_frequencies", "frequencies are the reciprocals: theta^(2i/d) for theta^(-2i/d)",
        "divide 1 by the power: inv_freq = 1 / theta^(2i/d)", .predict = pe_predict_reciprocal),
    LAW("wavelengths", "wavelengths stand in the place of frequencies: 2 pi theta^(2i/d)",
        "divide 2 pi by them", .predict = pe_predict_wavelength),
    LAW("log_frequencies", "logarithms of the frequencies stand in their place: no exp was taken",
        "take exp of them", .predict = pe_predict_logarithm),
    LAW("scaling_ignored",
        "the frequencies were not scaled: rope_scaling, freq_factors or lerope_alpha was ignored",
        "pass rope_scaling (rope_parameters, freq_factors, lerope_alpha) to the code that makes "
        "inv_freq",
        .read = pe_law_numbers_scaled, .predict = pe_predict_unscaled),
    LAW("head_in_exponent", "the exponents of the frequencies were 2i/head_dim, not 2i/rotary_dim",
        "divide the exponents by rotary_dim, not by head_dim", .read = pe_law_numbers_head,
        .predict = pe_predict_power),
    LAW("rotary_in_exponent", ROTARY_IN_EXPONENT, HEAD_DIM, .read = pe_law_numbers_rotary,
        .predict = pe_predict_power),
    LAW("rotary_in_exponent", ROTARY_IN_EXPONENT ", as without rope_type proportional", HEAD_DIM,
        .read = pe_law_numbers_rotated_part, .predict = pe_predict_of_rotated_part),
    LAW("exponent_doubled",
        "frequencies are squared: exponents are 4i/d, or the ladder was applied twice", POWERS,
        .predict = pe_predict_raised, .a = 2),
    LAW("exponent_halved", "frequencies are the square roots: exponents are i/d, not 2i/d", POWERS,
        .predict = pe_predict_raised, .a = 0.5),
    LAW("index_plus_one", "the ladder is shifted: pair i has the frequency of pair i + 1",
        "count pairs from 0", .predict = pe_predict_next_pair, .but_one = true),
    LAW("index_minus_one", "the ladder is shifted: pair i has the frequency of pair i - 1",
        "count pairs from 0", .predict = pe_predict_previous_pair, .but_one = true),
    LAW("index_plus_half",
        "the ladder is shifted by half a pair: exponents are (2i + 1)/d, not 2i/d", POWERS,
        .predict = pe_predict_half_step),
    LAW("frequencies_reversed",
        "channels are reversed: the order of the frequencies is the other one, slowest first",
        ORDER, .predict = pe_predict_reversed),
    LAW("channels_exchanged", "even and odd channels (pairs) are exchanged in order", ORDER,
        .predict = pe_predict_exchanged),
    LAW("pairs_permuted",
        "the order of the pairs was permuted: frequencies of even pairs stand before those of odd "
        "ones",
        ORDER, .predict = pe_predict_evens_first),
    LAW("pairs_permuted",
        "the order of the pairs was permuted: frequencies of the two halves alternate, interleaved",
        ORDER, .predict = pe_predict_halves_in_turn),
    LAW("halves_exchanged",
        "the halves of the ladder are exchanged: the order of the pairs is rolled by half", ORDER,
        .predict = pe_predict_halves_exchanged),
    LAW("ladder_rolled", "the order of the pairs is rolled by one: pair 0 has the last frequency",
        ORDER, .predict = pe_predict_rolled_on),
    LAW("ladder_rolled",
        "the order of the pairs is rolled by one, or shifted: the last pair has the frequency of "
        "pair 0",
        ORDER, .predict = pe_predict_rolled_back),
    LAW("integer_division",
        "each second pair repeats the frequency before it: exponents come from an integer division "
        "(i // 2)",
        POWERS, .predict = pe_predict_in_twos),
    LAW("frequencies_repeated",
        "each frequency is repeated for two pairs, so that half of the ladder is missing",
        "repeat frequencies only where channels, not pairs, are counted (repeat_interleave)",
        .predict = pe_predict_halved_index),
    LAW("every_other_frequency",
        "pairs have every other frequency, repeated twice: exponents are 4i/d modulo 1", POWERS,
        .predict = pe_predict_every_other),
    LAW("half_ladder_repeated", "the first half of the ladder is repeated in the other pairs",
        POWERS, .predict = pe_predict_half_again),
    LAW("width_in_exponent",
        "the exponents of the frequencies were 2i/{b}, as of all heads together (d_model), not "
        "2i/d",
        "divide the exponents by the channels of one head that are rotated",
        .read = pe_law_numbers_all_heads, .predict = pe_predict_raised),
    LAW("log10_for_ln",
        "exponents are divided by ln 10: log10(base) was taken for the natural logarithm",
        "take the natural logarithm of the base", .predict = pe_predict_raised, .a = 1 / LN10),
    LAW("log2_for_ln",
        "exponents are divided by ln 2: log2(base) was taken for the natural logarithm",
        "take the natural logarithm with exp, log2 with exp2", .predict = pe_predict_raised,
        .a = 1 / LN2),
    LAW("ln_for_log2",
        "exponents are multiplied by ln 2: exp2 was taken of the natural logarithm of the base",
        "take the natural logarithm with exp, log2 with exp2", .predict = pe_predict_raised,
        .a = LN2),
    LAW("base_e", "rope_theta (the base) was e: it was left out of the power, as exp(-2i/d)",
        "multiply the exponent by ln(theta)", .predict = pe_predict_of_base_e),
    LAW("denominator_plus_two", "exponents are divided by d + 2, not by d",
        "divide the exponents by d", .predict = pe_predict_one_more),
    LAW("denominator_minus_two",
        "exponents are divided by d - 2, not by d: the ladder reaches theta itself",
        "divide the exponents by d (freq_shift 0)", .predict = pe_predict_one_less),
    LAW("angles_times_two_pi", "angles are multiplied by 2 pi", RADIANS,
        .predict = pe_predict_times, .a = TURN),
    LAW("angles_over_two_pi", "angles are divided by 2 pi: turns were taken for radians", RADIANS,
        .predict = pe_predict_times_over, .a = 1, .b = TURN),
    LAW("angles_in_degrees", "angles in degrees were taken for radians", RADIANS,
        .predict = pe_predict_times_over, .a = TURN, .b = 360),
    LAW("angles_in_degrees", "angles are in degrees, not in radians", RADIANS,
        .predict = pe_predict_times_over, .a = 360, .b = TURN),
    LAW("one_frequency", "all pairs have the frequency of pair {a}",
        "take a frequency of its own for each pair", .read = pe_law_numbers_one,
        .predict = pe_predict_all_of_one),
    LAW("ladder_linear",
        "frequencies are linear in i: the ladder is a straight line (linspace), no power", POWERS,
        .predict = pe_predict_in_line),
    LAW("frequencies_linear",
        "frequencies are linear in i: the ladder is a straight line (linspace) from the first to "
        "the last one, no power",
        POWERS, .predict = pe_predict_in_line_to_last),
    LAW("ladder_harmonic", "frequencies are 1/(1 + i): a series of fractions, no power of a base",
        POWERS, .predict = pe_predict_harmonic),
    LAW("angles_multiplied", "positions, or all frequencies, were multiplied by {a}",
        "check the unit of the positions (seconds, milliseconds), and whether they are scaled "
        "twice",
        .read = pe_law_numbers_many, .predict = pe_predict_times),
    LAW("scaling_inverted",
        "frequencies were multiplied by the scaling, not divided by it: the factors are inverted",
        "divide the frequencies by factor (freq_factors, long_factor)",
        .read = pe_law_numbers_scaled, .predict = pe_predict_scaled_up),
    LAW("scaling_twice", "the scaling (factor) was applied twice",
        "scale the frequencies once: not in the configuration and in the code",
        .read = pe_law_numbers_scaled, .predict = pe_predict_scaled_twice),
    LAW("ntk_as_well",
        "the base was scaled as well, as ntk does it by the factor of {b}: both scalings were "
        "applied",
        "scale the base or the positions, not both", .read = pe_law_numbers_naive,
        .predict = pe_predict_ntk_too),
    LAW("linear_as_well",
        "frequencies were divided by the factor on top of their scaling: linear scaling of {b} was "
        "applied as well",
        "scale the base or the positions, not both", .read = pe_law_numbers_naive,
        .predict = pe_predict_linear_too),
    LAW("factors_reversed",
        "the factors of the pairs (long_factor, short_factor) are in reverse order", ORDER,
        .read = pe_law_numbers_listed, .predict = pe_predict_parts_reversed),
    LAW("lerope_base", "the factors are powers of 2, not of e: exp2 was taken of lerope_alpha",
        "take exp of lerope_alpha", .read = pe_law_numbers_listed,
        .predict = pe_predict_powers_of_two),
    LAW("lerope_linear", "frequencies were multiplied by 1 + lerope_alpha: no exp was taken of it",
        "take exp of lerope_alpha", .read = pe_law_numbers_listed,
        .predict = pe_predict_without_exponential),
    LAW("factors_shifted", FACTORS_OF "i + 1", ORDER, .read = pe_law_numbers_listed,
        .predict = pe_predict_next_part),
    LAW("factors_shifted", FACTORS_OF "i - 1", ORDER, .read = pe_law_numbers_listed,
        .predict = pe_predict_previous_part),
    LAW("factors_shifted", FACTORS_OF "i + 1", ORDER, .read = pe_law_numbers_listed,
        .predict = pe_predict_next_part, .a = 1),
    LAW("factors_shifted", FACTORS_OF "i - 1", ORDER, .read = pe_law_numbers_listed,
        .predict = pe_predict_previous_part, .a = 1),
    LAW("ramp_inverted",
        "the ramp is inverted: fast pairs are scaled, slow ones are not (low and high, or "
        "beta_fast "
        "and beta_slow, exchanged)",
        "interpolate the slow pairs, extrapolate the fast ones", .read = pe_law_numbers_scaled,
        .predict = pe_predict_ramp_inverted),
    LAW("blend_inverted", "the blend (smooth factor) of the middle band is inverted",
        "weight the scaled frequency with 1 - smooth, the other with smooth",
        .read = pe_law_numbers_scaled, .predict = pe_predict_blend_inverted),
    BLEND_MISSING(pe_law_numbers_low_edge),
    BLEND_MISSING(pe_law_numbers_high_edge),
    BLEND_MISSING(pe_law_numbers_middle_edge),
    BLEND_MISSING(pe_law_numbers_edge),
    LAW("factors_exchanged",
        "low_freq_factor and high_freq_factor were exchanged: pairs below {a} are not scaled, all "
        "others are divided by {b}",
        "exchange low_freq_factor and high_freq_factor", .read = pe_law_numbers_exchanged,
        .predict = pe_predict_of_edge),
    RAMP("betas_default", "beta_fast and beta_slow were 32 and 1, the defaults, not as claimed",
         "pass beta_fast and beta_slow to find_correction_range", PE_LAW_RAMP_BETAS),
    RAMP("ramp_of_other_base", ENDS_OF "a base of 10000, not with rope_theta",
         "pass rope_theta (base) to find_correction_range", PE_LAW_RAMP_BASE),
    RAMP("ramp_of_head_dim", ENDS_OF "head_dim, not with rotary_dim", PASS_DIM, PE_LAW_RAMP_HEAD),
    RAMP("ramp_of_part", ENDS_OF "rotary_dim times partial_rotary_factor: the part was taken twice",
         PASS_DIM, PE_LAW_RAMP_PART),
    RAMP("ramp_of_half_dim", ENDS_OF "d/2, the number of pairs, not with d channels", PASS_DIM,
         PE_LAW_RAMP_HALF),
    RAMP("ramp_of_double_dim", ENDS_OF "2d, not with d channels", PASS_DIM, PE_LAW_RAMP_DOUBLE),
    RAMP("ramp_over_channels",
         "the ramp was laid over channels, 0, 2, ... of d, not over pairs, 0, 1, ... of d/2",
         "lay the ramp over arange(d/2)", PE_LAW_RAMP_CHANNELS),
    RAMP("ramp_clamped", "the end of the ramp (high) was clamped to d/2 - 1, not to d - 1",
         "clamp the end of the ramp to d - 1", PE_LAW_RAMP_LAST),
    RAMP("ramp_rounded", "the ends of the ramp were rounded inward: low by ceil, high by floor",
         ROUND_ENDS, PE_LAW_RAMP_INWARD),
    RAMP("ramp_rounded", "both ends of the ramp (low, high) were rounded down: high is no ceil",
         ROUND_ENDS, PE_LAW_RAMP_CUT),
    RAMP("ramp_rounded", "both ends of the ramp (low, high) were rounded to nearest", ROUND_ENDS,
         PE_LAW_RAMP_NEAREST),
    LAW("wavelengths_blended",
        "wavelengths were blended between the bands, not frequencies: their reciprocals are others",
        "interpolate frequencies: (1 - smooth) w / factor + smooth w",
        .read = pe_law_numbers_blended, .predict = pe_predict_of_mean_wavelength),
    LAW("smooth_of_wavelength",
        "the blend (smooth) was linear in the wavelength, not in its reciprocal", SMOOTH,
        .read = pe_law_numbers_banded, .predict = pe_predict_of_smooth_wavelength),
    LAW("smooth_of_factor",
        "the blend (smooth) was computed with factor in the place of high_freq_factor", SMOOTH,
        .read = pe_law_numbers_banded, .predict = pe_predict_of_smooth_factor),
    BASE("theta_times_factor",
         "rope_theta was multiplied by the factor itself, without the exponent d/(d - 2) of ntk: "
         "the base was {a}",
         "raise the factor to d/(d - 2) before it multiplies the base", PE_LAW_POWER_ONE),
    BASE("exponent_of_factor_inverted",
         "the factor was raised to (d - 2)/d, not to d/(d - 2), before it multiplied rope_theta: "
         "the base was {a}",
         "raise the factor to d/(d - 2) before it multiplies the base", PE_LAW_POWER_INVERTED),
    BASE("exponent_of_head_dim",
         "the factor was raised to d/(d - 2) with d = head_dim, not rotary_dim: the base was {a}",
         "take rotary_dim (head_dim * partial_rotary_factor) in d/(d - 2)", PE_LAW_POWER_HEAD),
    BASE("exponent_of_half_dim",
         "the factor was raised to d/(d - 2) with half of d, the number of pairs, for d: the base "
         "was {a}",
         "take the rotated channels, not the pairs, for d in d/(d - 2)", PE_LAW_POWER_HALF),
    BASE("dynamic_not_less",
         "dynamic scaling: the base grew with f s/L, without - (f - 1): factor - 1 was not taken "
         "off; the base was {a}",
         "scale the base by (f s/L - (f - 1))^(d/(d - 2)), s = seq_len", PE_LAW_POWER_NOT_LESS),
    PAIRS_REST(pe_law_numbers_rest),
    PAIRS_REST(pe_law_numbers_last_half),
    LAW("ntk_factor", "the factor of ntk was {a}, not {b}", "set factor as claimed",
        .read = pe_law_numbers_ntk_factor, .predict = pe_predict_of_ntk_factor, .fitted = true),
    LAW("base_scaled",
        "rope_theta was scaled by the {a}-th power of the ntk factor: that of a dimension d of {b} "
        "in d/(d - 2)",
        "raise the factor to d/(d - 2), where d is the rotated dimension",
        .read = pe_law_numbers_exponent_of_factor, .predict = pe_predict_of_scaled_theta,
        .fitted = true),
    LAW("seq_len", "dynamic scaling was made for another length: seq_len was {a}, the base {b}",
        "pass the length of the sequence; do not keep inv_freq of another prompt",
        .read = pe_law_numbers_length, .predict = pe_predict_of_second_theta, .fitted = true),
    LAW("scaling_ignored",
        "frequencies are those of a rope_theta (base) of {a} without any scaling, not of {b} with "
        "the claimed one",
        "set rope_theta as claimed, and pass rope_scaling (rope_parameters, freq_factors)",
        .read = pe_law_numbers_unscaled_theta, .predict = pe_predict_of_theta, .fitted = true),
    LAW("rope_theta", "rope_theta (the base) was {a}, not {b}", "set rope_theta as claimed",
        .read = pe_law_numbers_theta, .predict = pe_predict_of_theta, .fitted = true),
    LAW("base_about", "rope_theta (the base) was about {a}, not {b}", "set rope_theta as claimed",
        .read = pe_law_numbers_turned_theta, .predict = pe_predict_of_ratio, .fitted = true),
    LAW("frequencies_scaled",
        "all frequencies are {a} times the claimed ones, as linear scaling by a factor of {b}",
        "check the scaling: factor, rope_scaling, units of positions",
        .read = pe_law_numbers_multiple, .predict = pe_predict_times, .fitted = true),
    LAW("base_and_scale",
        "rope_theta (the base) was {b}, and all frequencies were multiplied by {a}, as linear "
        "scaling does it",
        "scale the base (ntk) or the positions (linear), not both",
        .read = pe_law_numbers_geometric, .predict = pe_predict_geometric, .fitted = true),
    ROUNDED("bfloat16", PE_GRAIN_BFLOAT16),
    ROUNDED("float16", PE_GRAIN_FLOAT16),
    DECIMALS(4),
    DECIMALS(5),
    DECIMALS(6),
    DECIMALS(7),
    LAW("frequencies_clipped", "frequencies are clipped: none is below {a}",
        "do not clamp inv_freq", .read = pe_law_numbers_least, .predict = pe_predict_not_below),
    LAW("bands_moved",
        "the bands of the scaling are elsewhere: pairs below {a} are not scaled, those from {b} on "
        "wholly; the ramp between has other edges (beta_fast, beta_slow, low_freq_factor, "
        "high_freq_factor, original_max_position_embeddings)",
        "check the parameters of the bands and the original length", .read = pe_law_numbers_bands,
        .predict = pe_predict_as_measured, .fitted = true),
};
const size_t pe_law_rows_n = PE_LEN(pe_law_rows);
