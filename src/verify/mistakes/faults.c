/* SPDX-License-Identifier: MIT */
/* faults.c - what people get wrong, as rows, and how a guess takes one. */
#include "verify/mistakes/faults.h"

#include <math.h>
#include <string.h>

#include "plan/resource.h"
#include "verify/upload/geometry.h"

/* ---- the rows ---- */

/* A parameter was another; or the mistake has a name of its own. */
#define SET(PARAM, ...)                                                                            \
    {                                                                                              \
        .change = pe_changes_set, .param = PARAM, .op = __VA_ARGS__                                \
    }
#define NAMED(NAME, PARAM, ...)                                                                    \
    {                                                                                              \
        PE_NAME(NAME), .change = pe_changes_set, .param = PARAM, .op = __VA_ARGS__                 \
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

/* As wide as the upload is. */
#define SIZE(PARAM, WIDE, MORE)                                                                    \
    SET(PARAM, "x == " WIDE " ? none : " WIDE, .more = MORE, .tables_only = true)

/* Choices that nobody can ask for stand behind the others (learned_interpolate.c). Sides of a grid are
 * of one sequence, or go down the columns, which a sign tells. */
#define MODE(NAME, OF) NAMED(NAME, "mode", "x < 2 ? " OF " : none", .text = "learned/interpolate")
#define BY_COLUMNS     "i == 0 ? -x : x[1]"
#define IN_LINE        "i == 0 ? 1 : abs(x[0])*x[1]"

/* The factor that, raised to d/(d - 2), is the claimed one raised to another power. */
#define GROWTH "(max(seq_len, max_position_embeddings)/max_position_embeddings - 1)"
#define BASE(NAME, POWER)                                                                          \
    NAMED(NAME, "factor",                                                                          \
          "method.dynamic ? ((1 + x*" GROWTH ")^(" POWER ") - 1)/" GROWTH " : x^(" POWER ")",      \
          .text = "rope/scaled-base")

#define SECTIONS(TIME, PLACE, MORE)                                                                \
    NAMED(mrope_sections, "mrope_section", "rotary_dim/2*(i == 0 ? " TIME " : " PLACE ")",         \
          .more = MORE)
#define LAYOUT(NAME, OF) NAMED(NAME, "mrope_layout", OF, .more = "mrope_interleaved = none")

#define PHASE     (PE_ROUNDED_FREQUENCIES | PE_ROUNDED_ANGLES)
#define ALL_STEPS (PHASE | PE_ROUNDED_ELEMENTS)

/* Simpler faults come first: of findings that explain the upload equally well, the first is told
 * first. A fault that reads values stands behind the rows that change these. */
const pe_fault pe_faults[] = {
    /* bases and scales that are in use; others are fitted (fit.c) */
    SET("rope_theta", "10000"),
    SET("rope_theta", "500000"),
    SET("rope_theta", "1000000"),
    SET("base", "10000"),
    SET("scale", "1"),
    SET("scale", "1000"),
    NAMED(scale, "scale", "x^2"),
    SET("freq_shift", "0"),
    SET("freq_shift", "1"),
    SET("alibi_bias_max", "8"),
    SET("max_freq", "10"),
    SET("max_freq", "224"),
    SET("rope_theta", "1000", .text = "rope/decay"),
    NAMED(exponents_halved_decay, "rope_theta", "sqrt(x)", .text = "rope/decay"),
    NAMED(denominator_minus_two_decay, "rope_theta", "x^(rotary_dim/(rotary_dim - 2))",
          .text = "rope/decay"),
    NAMED(index_plus_one_decay, "offsets", "x*rope_theta^(-2/rotary_dim)", .text = "rope/decay"),
    NAMED(decay_of_half, "rope_theta", "sqrt(x)",
          .more = "head_dim = head_dim/2; rotary_dim = rotary_dim/2", .text = "rope/decay"),
    NAMED(offset, "offset", "0", .text = "sinusoidal/offset"),
    NAMED(exponents_halved, "base", "sqrt(x)", .text = "sinusoidal/offset"),
    NAMED(freq_shift, "base", "x^(floor(d_model/2)/(floor(d_model/2) - 1))",
          .text = "sinusoidal/offset"),
    NAMED(scale_missing, "beta", "0", .text = "rope/attention-scale"),
    /* scaling */
    NAMED(scaling_dropped, "rope_type", "default"),
    SET("rope_type", "linear"),
    SET("rope_type", "ntk"),
    SET("rope_type", "yarn"),
    SET("rope_type", "llama3"),
    SET("rope_type", "longrope"),
    SET("rope_type", "ntk_alpha"),
    SET("rope_type", "ntk_fixed"),
    SET("rope_type", "ntk_mixed"),
    SET("rope_type", "ntk_by_parts"),
    SET("rope_type", "part_ntk"),
    BASE(base_scaled_inverse, "((head_dim - 2)/head_dim)^2"),
    BASE(base_scaled_less_four, "(head_dim - 2)/(head_dim - 4)"),
    BASE(base_scaled_less_one, "(head_dim - 2)/(head_dim - 1)"),
    BASE(base_scaled_naive, "(head_dim - 2)/head_dim"),
    SET("method", "ntk"),
    SET("method", "dynamic"),
    SET("method", "linear"),
    NAMED(dynamic_factor_ignored, "factor", "rope_type.dynamic ? 1 : x"),
    SET("factor", "1"),
    NAMED(yarn_interpolated, "extrapolation_factor", "0"),
    NAMED(two_pi_missing, "beta_fast", "x/(2*pi)", .more = "beta_slow = beta_slow/(2*pi)"),
    NAMED(two_pi_missing, "low_freq_factor", "x/(2*pi)",
          .more = "high_freq_factor = high_freq_factor/(2*pi)"),
    NAMED(two_pi_missing_half, "beta_fast", "x/2", .more = "beta_slow = beta_slow/2"),
    NAMED(betas_swapped, "beta_fast", "beta_slow", .more = "beta_slow = x"),
    SET("truncate", "1 - x"),
    NAMED(original_fallback, "original_max_position_embeddings", "max_position_embeddings"),
    SET("original_max_position_embeddings", "rope_type.llama3 ? 131072 : x"),
    NAMED(original_scaled, "original_max_position_embeddings", "round(x*factor)"),
    FAULT(short_factor, take_short, .param = "seq_len", .op = "original_max_position_embeddings",
          .value = 1),
    FAULT(short_factor, take_short, .param = "seq_len",
          .rule = "short_factor was taken where long_factor is claimed",
          .remedy = "pass the length of the sequence (seq_len), which chooses long_factor",
          .op = "original_max_position_embeddings"),
    NAMED(seq_len_ignored, "seq_len", "max_position_embeddings"),
    /* dimensions */
    NAMED(partial_ignored, "rotary_dim", "head_dim",
          .more = "partial_rotary_factor = 1; rotary_offset = none"),
    SIZE("rotary_dim", "2*wide", NULL),
    SIZE("rotary_dim", "wide", NULL),
    SET("rotary_dim", "head_dim/2", .vectors_only = true),
    SET("rotary_dim", "head_dim/4", .vectors_only = true),
    SIZE("head_dim", "2*wide", "rotary_dim = rotary_dim*head_dim/x"),
    SIZE("head_dim", "wide", "rotary_dim = rotary_dim*head_dim/x"),
    SIZE("d_model", "wide", NULL),
    FAULT(head_in_exponent, head_in_exponent),
    FAULT(first_channels, first_channels, .param = "rope_type", .op = "default"),
    /* their numbers may be those of rows before, which people mean */
    SET("rope_type", "dynamic", .if_alone = true),
    SET("rope_type", "proportional", .if_alone = true),
    SET("rope_type", "ltx", .if_alone = true),
    /* axes, as models in use share pairs out among them */
    LAYOUT(mrope_interleaved, "interleaved"),
    LAYOUT(mrope_interleaved, "sections"),
    NAMED(mrope_sections, "mrope_section", "x[i] + (i == 0) - (i == n - 1)"),
    SECTIONS("1/4", "3/8", NULL),
    SECTIONS("3/8", "5/16", NULL),
    SECTIONS("1/2", "1/4", NULL),
    SECTIONS("11/32", "21/64", NULL),
    SECTIONS("1/4", "3/8", "mrope_layout = sections; mrope_interleaved = none"),
    SECTIONS("3/8", "5/16", "mrope_layout = interleaved; mrope_interleaved = none"),
    NAMED(axes_dims, "axes_dims", "x[n - 1 - i]"),
    NAMED(axes_dims, "axes_dims", "x[(i + 1) % n]"),
    NAMED(axes_dims, "axes_dims", "n != 3 ? none : i == 0 ? 16 : 56"),
    NAMED(axes_dims, "axes_dims", "n != 3 ? none : i == 0 ? 44 : 42"),
    /* layouts */
    SET("pairing", "interleaved"),
    SET("pairing", "half"),
    SET("layout", "interleaved"),
    SET("layout", "sin_cos"),
    SET("layout", "cos_sin"),
    SET("cache_layout", "vllm"),
    SET("cache_layout", "meta"),
    FAULT(cos_sin_exchanged_always, exchange),
    FAULT(waves_negative, negate_waves),
    FAULT(cosine_negative, negate_waves, .value = 1),
    SET("future", "zero"),
    SET("future", "reshaped"),
    /* tables that are resized */
    SET("mode", "bilinear"),
    SET("mode", "bicubic"),
    NAMED(align_corners, "align_corners", "1 - x"),
    MODE(mode, "3"),
    MODE(mode_nearest, "4"),
    MODE(cropped, "5"),
    MODE(cubic_kernel, "6"),
    MODE(half_pixel, "7 + x"),
    MODE(scale_factor, "9 + x"),
    NAMED(target_grid, "target_grid", "x[1 - i]"),
    NAMED(source_grid, "source_grid", "x[1 - i]"),
    NAMED(patch_order, "target_grid", BY_COLUMNS),
    NAMED(patch_order_source, "source_grid", BY_COLUMNS),
    NAMED(resized_as_sequence, "source_grid", IN_LINE, .more = "target_grid = " IN_LINE),
    NAMED(resized_as_sequence_linear, "source_grid", IN_LINE,
          .more = "target_grid = " IN_LINE "; mode = bilinear"),
    /* relative positions */
    NAMED(windows_exchanged, "window_height", "window_width", .more = "window_width = x"),
    FAULT(alibi_sign, negate, .text = "alibi/"),
    NAMED(alibi_variant, "variant", "press"),
    NAMED(alibi_variant, "variant", "formula"),
    NAMED(attention_variant, "variant", "qwen"),
    NAMED(attention_variant, "variant", "inkling"),
    NAMED(attention_variant, "variant", "llama4"),
    NAMED(alibi_form, "form", "symmetric"),
    NAMED(alibi_form, "form", "causal"),
    NAMED(alibi_form, "form", "key"),
    /* the attention factor */
    FAULT(attention_factor_missing, turn, .op = "1", .value = 1),
    FAULT(attention_factor_squared, turn,
          .rule = "the attention factor is squared: it was applied twice, or made without its "
                  "square root",
          .op = "x^2", .value = 1),
    /* positions */
    FAULT(position_plus_one, move_positions, .value = 1, .and_value = 1),
    FAULT(position_minus_one, move_positions, .value = 1, .and_value = -1),
    FAULT(inverse_turn, move_positions, .value = -1),
    FAULT(undone, turn, .op = "1/x", .value = -1, .vectors_only = true),
    FAULT(rotated_twice, turn, .op = "x^2", .value = 2, .vectors_only = true),
    SET("factor", "rope_type.linear ? x/2 : x", .vectors_only = true),
    NAMED(rotary_offset, "rotary_offset", "0", .vectors_only = true),
    FAULT(not_rotated, turn, .op = "1", .value = 0, .vectors_only = true),
    FAULT(float32_positions, round_positions, .op = "float32(x)"),
    FAULT(float16_positions, round_positions, .op = "float16(x)"),
    FAULT(bfloat16_positions, round_positions, .op = "bfloat16(x)"),
    FAULT(position_overflow_int16, round_positions, .op = "x < 0 ? x : (x + 2^15) % 2^16 - 2^15"),
    FAULT(position_overflow_int32, round_positions, .op = "x < 0 ? x : (x + 2^31) % 2^32 - 2^31"),
    FAULT(position_overflow_uint32, round_positions, .op = "x < 0 ? x : x % 2^32"),
    /* behind the scale */
    FAULT(positions_truncated_scaled, round_positions, .op = "trunc(x)", .and_value = 1),
    FAULT(positions_rounded_scaled, round_positions, .op = "rint(x)", .and_value = 1),
    FAULT(positions_bfloat16, round_positions, .op = "bfloat16(x)", .and_value = 1),
    FAULT(positions_float16, round_positions, .op = "float16(x)", .and_value = 1),
    /* arithmetic */
    NAMED(float32_arithmetic, "numerics", "float32"),
    FAULT(float32_inv_freq, float32_frequencies),
    STORED(bfloat16_elements, BFLOAT16),
    STORED(float16_elements, FLOAT16),
    STORED(tf32_elements, TF32),
    STORED(float8_elements, E4M3),
    STORED(float8_elements_e5m2, E5M2),
    STORED(quantised, INT8),
    STORED(quantised_int4, INT4),
    STORED(quantised_float8, SCALED_E4M3),
    STORED(quantised_fnuz, FNUZ_E4M3),
    STORED(bfloat16_truncated, BFLOAT16, .and_value = 1),
    STORED(float16_truncated, FLOAT16, .and_value = 1),
    ROUNDED(bfloat16_inv_freq, BFLOAT16, PE_ROUNDED_FREQUENCIES),
    ROUNDED(float16_inv_freq, FLOAT16, PE_ROUNDED_FREQUENCIES),
    ROUNDED(tf32_inv_freq, TF32, PE_ROUNDED_FREQUENCIES),
    ROUNDED(bfloat16_angles, BFLOAT16, PE_ROUNDED_ANGLES, .mostly = true),
    ROUNDED(float16_angles, FLOAT16, PE_ROUNDED_ANGLES, .mostly = true),
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

bool pe_faults_is_of(const char *name, const char *names)
{
    for (const char *at = names; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (strncmp(at, name, n) == 0 && (at[n - 1] == '/' || name[n] == '\0'))
            return true;
        at += n;
    }
    return names == NULL;
}

bool pe_faults_hold_mostly(const pe_guess *guess)
{
    return guess->n_faults > 0 && guess->faults[guess->n_faults - 1]->mostly;
}

bool pe_faults_is_layout(const pe_fault *fault)
{
    return (fault->param != NULL && pe_faults_is_of(fault->param, "pairing layout cache_layout")) ||
           pe_faults_is_of_waves(fault);
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
    const pe_value *value = &guess->values.value[i];
    const pe_param *row = value->param;
    *out = (pe_fault){.param = row->name, .change = pe_changes_set};
    /* of the claim, not of the table; indices that run the other way have a name of their own */
    if (!value->present || pe_faults_is_of(row->name, "dtype numerics distance"))
        return false;
    if (row->kind == PE_KIND_CHOICE) {
        out->op = row->choices[k];
        return out->op != NULL;
    }
    if (row->kind == PE_KIND_BOOL) {
        out->op = "1 - x";
        return k == 0;
    }
    if (row->kind == PE_KIND_POSITIONS && k < 2) {
        out->op = k == 0 ? "x + 1" : "x - 1";
        return strcmp(row->name, "positions") != 0; /* which a guess moves otherwise */
    }
    if (k == IGNORED && can_be_ignored(row)) {
        out->change = pe_changes_ignored;
        return true;
    }
    if ((row->kind != PE_KIND_INT && row->kind != PE_KIND_REAL) || k >= PE_LEN(changes))
        return false;
    /* indices are compared exactly, and few whole numbers give them */
    const bool indices = guess->claim->uploads[0].array.dtype == PE_INT32 ||
                         pe_faults_is_of(guess->claim->resource->name, "t5/bias swin/bias");
    if (k >= LIKELY && indices && row->kind == PE_KIND_REAL)
        return false;
    out->fitted = k >= LIKELY && !indices;
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
    const bool base = pe_faults_is_of(fault->param, "rope_theta factor");
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
    if (has_named(guess, fault) ||
        (guess->claim->inputs.elements > 0 ? fault->tables_only : fault->vectors_only) ||
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
