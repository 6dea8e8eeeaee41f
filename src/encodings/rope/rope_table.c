/* SPDX-License-Identifier: MIT */
/* rope_table.c - cosines and sines of rotary angles, in the shapes that engines keep. */
#include <stdlib.h>
#include <string.h>

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"
#include "encodings/rope/rope_params.h"
#include "plan/plan.h"

typedef struct cache_layout cache_layout;

typedef struct table {
    pe_shared_wave wave;
    pe_positions positions;
    pe_rope_axes *axes; /* NULL: positions are [tokens], else [axes, tokens] */
    size_t tokens;
    pe_pairing pairing;
    size_t pairs;
    const cache_layout *layout;
} table;

/* ---- layouts ---- */

/* One tensor of a layout. */
typedef struct face {
    const char *name;
    bool cos, sin;
} face;

/**
 * How an engine keeps the table. A row holds `width` numbers for every pair; `wave` tells where
 * they go.
 */
struct cache_layout {
    size_t n_faces;
    face faces[2];
    size_t width;
    bool doubled; /* each number twice: a full row to multiply with */
    bool paired;  /* cos and sin of a pair side by side */
    /** [positions, rotary_dim/2, 2] (meta) or [1, positions*rotary_dim] (trtllm). */
    bool complex_axis, flat;
};

/*
 * pairs   ours
 * onnx    cos_cache and sin_cache of RotaryEmbedding (com.microsoft, ai.onnx) and of com.microsoft's
 *         MRotaryEmbedding, which takes each pair from the row of its axis: positions of one axis
 * hf      huggingface/transformers LlamaRotaryEmbedding: cat((freqs, freqs)); with interleaved
 *         pairs CohereRotaryEmbedding: repeat_interleave(freqs, 2)
 * vllm    vllm-project/vllm RotaryEmbedding._compute_cos_sin_cache: cat((cos, sin))
 * meta    facebookresearch/llama precompute_freqs_cis: complex numbers
 * trtllm  NVIDIA/TensorRT-LLM create_sinusoidal_positions_for_attention_plugin: (cos, sin) as
 *         float2, one row
 */
static const char *const layout_names[] = {"pairs", "hf", "vllm", "onnx", "meta", "trtllm", NULL};
static const cache_layout layouts[] = {
    {.n_faces = 2, .faces = {{"cos", true, false}, {"sin", false, true}}, .width = 1},
    {.n_faces = 2,
     .faces = {{"cos", true, false}, {"sin", false, true}},
     .width = 2,
     .doubled = true},
    {.n_faces = 1, .faces = {{"cos_sin", true, true}}, .width = 2},
    {.n_faces = 2, .faces = {{"cos_cache", true, false}, {"sin_cache", false, true}}, .width = 1},
    {.n_faces = 1,
     .faces = {{"freqs_cis", true, true}},
     .width = 2,
     .paired = true,
     .complex_axis = true},
    {.n_faces = 1,
     .faces = {{"rotary_cos_sin", true, true}},
     .width = 2,
     .paired = true,
     .flat = true},
};

static pe_wave_layout wave_layout(const table *state, const face *shown)
{
    const cache_layout *layout = state->layout;
    const bool spread =
        layout->paired || (layout->doubled && state->pairing == PE_PAIRING_INTERLEAVED);
    const ptrdiff_t second = layout->paired ? 1 : (ptrdiff_t)state->pairs;
    return (pe_wave_layout){.stride = spread ? 2 : 1,
                            .cos_at = shown->cos ? 0 : -1,
                            .sin_at = !shown->sin  ? -1
                                      : shown->cos ? second
                                                   : 0,
                            .row = state->pairs * layout->width};
}

/* ---- the table ---- */

static double position(const void *of, size_t axis, size_t r)
{
    const table *state = of;
    return pe_positions_at(&state->positions, axis * state->tokens + r);
}

static pe_status fill_rows(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    pe_status status;
    const table *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t bytes = pe_dtype_bytes(dtype), units = region->units;
    const pe_wave_layout layout = wave_layout(state, &state->layout->faces[region->tensor]);
    const pe_rope_axes_spec tokens = {state->axes, state->wave.wave, position,
                                      state,       &layout,          dtype};
    const pe_wave_table plain = {state->wave.wave, &state->positions, &layout, dtype};
    if (state->axes == NULL)
        status = pe_wave_table_rows(&plain, region->first, units, out, why);
    else
        status = pe_rope_axes_table(&tokens, region->first, units, out, why);
    /* Repeat each number of a row: next to itself (interleaved), or in the other half. */
    const size_t pairs = state->pairs;
    for (size_t u = 0; u < units && status == PE_OK && state->layout->doubled; u++) {
        unsigned char *row = (unsigned char *)out + u * layout.row * bytes;
        if (state->pairing == PE_PAIRING_HALF)
            memcpy(row + pairs * bytes, row, pairs * bytes);
        for (size_t i = 0; i < pairs && state->pairing != PE_PAIRING_HALF; i++)
            memcpy(row + (2 * i + 1) * bytes, row + 2 * i * bytes, bytes);
    }
    return status;
}

/* For positions on one axis. A doubled row is made of two, side by side or interleaved. */
static pe_status fill_part(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const table *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t row = region->first, first = region->column, n = region->columns;
    pe_wave_layout layout = wave_layout(state, &state->layout->faces[region->tensor]);
    const ptrdiff_t second = layout.stride == 1 ? (ptrdiff_t)state->pairs : 1;
    const pe_wave_table waves = {state->wave.wave, &state->positions, &layout, dtype};
    PE_TRY(pe_wave_table_part(&waves, row, first, n, out, why));
    if (!state->layout->doubled)
        return PE_OK;
    *(layout.cos_at >= 0 ? &layout.cos_at : &layout.sin_at) += second;
    return pe_wave_table_part(&waves, row, first, n, out, why);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    return (pe_plan_whole(plan, region) ? fill_rows : fill_part)(plan, region, out, why);
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    pe_problem mistake;
    const pe_positions *positions = pe_values_positions(values, "positions");
    const pe_status status = pe_rope_plan(values, out, &rope, why);
    if (status != PE_OK)
        return pe_rope_has_one_axis(values)
                   ? pe_problem_collect(status,
                                        pe_rope_axes_check(NULL, "positions", positions, &mistake),
                                        &mistake, why)
                   : status;
    pe_rope_mrope_warn(&rope, out);
    pe_rope_warnings_add(&rope, positions, out);
    if (strcmp(layout_names[pe_values_choice(values, "cache_layout")], "hf") == 0 &&
        pe_values_choice(values, "pairing") == PE_PAIRING_INTERLEAVED)
        pe_plan_warn(out, "cache_layout=hf with pairing=interleaved repeats each angle twice in a "
                          "row, as no model of Hugging Face does; pairing=half is theirs");
    PE_TRY(pe_plan_begin(out, sizeof(table), fill, why));
    table *state = out->state;
    const cache_layout *layout = &layouts[pe_values_choice(values, "cache_layout")];
    PE_TRY(pe_rope_axes_check(rope.axes, "positions", positions, why));
    *state = (table){.axes = positions->shape.ndim > 1 ? rope.axes : NULL,
                     .tokens = positions->shape.dim[positions->shape.ndim - 1],
                     .pairing = rope.pairing,
                     .pairs = rope.pairs,
                     .layout = layout};
    out->makes_parts = state->axes == NULL;
    PE_TRY(pe_plan_positions(out, values, "positions", &state->positions, why));
    pe_shape shape = {2, {state->tokens, state->pairs * layout->width}};
    size_t elements;
    /* The elements are checked before a flat shape multiplies them: it cannot overflow then. */
    if (layout->flat && pe_array_elements(&shape, &elements))
        shape = (pe_shape){2, {1, elements}};
    if (layout->complex_axis)
        shape = (pe_shape){3, {state->tokens, state->pairs, 2}};
    for (size_t t = 0; t < layout->n_faces; t++)
        PE_TRY(pe_plan_add_tensor(out, layout->faces[t].name, pe_values_dtype(values), &shape,
                                  state->pairs * layout->width, why));
    PE_TRY(pe_rope_wave_plan(&rope, PE_ROPE_ATTENDED, out, &state->wave, why));
    pe_plan_add_scalar(out, "attention_factor", pe_wave_gain(state->wave.wave));
    const size_t more = pe_wave_work(state->wave.wave, positions, pe_values_dtype(values));
    for (size_t t = 0; t < layout->n_faces; t++)
        PE_TRY(pe_plan_set_work(out, t, 1 + more, why));
    return PE_OK;
}

static const pe_param own[] = {
    PE_PARAM("cache_layout", CHOICE, .choices = layout_names,
             .help = "The shapes of the table, as inference engines keep it. onnx is that of "
                     "MRotaryEmbedding, too: positions of one axis, of which it takes the row of "
                     "each pair's.",
             .example = "pairs"),
    PE_PARAM("positions", POSITIONS, .two_axes = true, .fallback_text = "0:128",
             .hint = PE_POSITIONS_HINT, .unit = "tokens",
             .help =
                 "Positions: a:b, a:b:step, a number, or a list. With mrope_section or axes_dims "
                 "also [axes, n]: one of these for each axis, with semicolons between them.",
             .example = "0:8"),
};

/**
 * pos is, with mrope_section or axes_dims, the position on the axis of pair i (rope_mrope.h, rope.h);
 * A is the attention factor.
 *
 * Shapes  pairs: cos, sin [positions, rotary_dim/2]; others as the table of layouts says.
 */
const pe_resource pe_rope_table = {
    PE_NAMED("rope", "/table"),
    .kind = PE_TABLE,
    .summary = "Cosines and sines of rotary angles, the attention factor included.",
    .formula = "cos(pos, i) = A cos(pos theta_i), sin(pos, i) = A sin(pos theta_i)",
    .labels = PE_LABELS({.axes = "positions, pair"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {&pe_rope_head_dim_params, &pe_params_model, PE_ROPE_SETS, PE_PARAMS(own),
                   &pe_params_output},
    .nested = "rope_parameters",
    .plan = plan,
};
