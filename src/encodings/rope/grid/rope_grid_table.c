/* SPDX-License-Identifier: MIT */
/* rope_grid_table.c - cosines, sines and angles of the patches of an image. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/grid/rope_grid.h"
#include "encodings/rope/rope_params.h"
#include "exact/fixed128.h"
#include "exact/round.h"
#include "plan/plan.h"

/* A product of 128 bits and its rounding, in units of work. */
#define ANGLE_WORK 4
/* Finding the place of a patch on each axis, however few pairs there are. */
#define PATCH_WORK 64
/* Bits of the frequencies that angles are multiplied from. */
#define THETA_BITS 320

/* From here on values round to infinity in float16. */
#define FLOAT16_END 65520

enum { COS, SIN, ANGLES, ROW_COL };

/* A frequency of the set, for angles. */
typedef struct theta {
    pe_fixed128 wide;
    double exact; /* a power of two; 0: it is none */
} theta;

typedef struct table {
    pe_grid grid;
    pe_positions given; /* what grid.patches.given points to */
    pe_rope_axes *axes;
    pe_shared_wave wave;
    theta *thetas;
    size_t run; /* numbers that are repeated as one; 0: none are */
} table;

/* ---- angles ---- */

typedef struct angle {
    const pe_wave *wave;
    size_t i;
    double position;
} angle;

/* For pe_exact_round. */
static void angle_eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const angle *a = context;
    mpfr_t frequency;
    mpfr_init2(frequency, mpfr_get_prec(out) + 16);
    pe_wave_theta(a->wave, a->i, frequency);
    mpfr_mul_d(out, frequency, a->position, MPFR_RNDN);
    mpfr_clear(frequency);
}

/* position * theta_i, correctly rounded, or exactly; wide is the position. */
static double angle_of(const table *state, pe_dtype dtype, size_t i, double position,
                       const pe_fixed128 *wide)
{
    double value;
    const theta *t = &state->thetas[i];
    if (position == 0)
        return 0;
    if (t->exact != 0)
        return position * t->exact;
    const pe_fixed128 product = pe_fixed128_mul(wide, &t->wide);
    if (pe_fixed128_round(&product, dtype, &value))
        return value;
    return pe_exact_round(dtype, angle_eval, &(angle){state->wave.wave, i, position}, 0);
}

static pe_fixed128 wide_of(double position)
{
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, position, MPFR_RNDN);
    const pe_fixed128 wide = pe_fixed128_from_mpfr(x);
    mpfr_clear(x);
    return wide;
}

static void fill_angles(const table *state, pe_dtype dtype, size_t first, size_t rows,
                        unsigned char *out)
{
    const pe_rope_axes *axes = state->axes;
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t k = first; k < first + rows; k++) {
        double at[PE_GRID_AXES];
        pe_fixed128 wide[PE_GRID_AXES] = {0};
        for (size_t axis = 0; axis < PE_GRID_AXES; axis++) {
            at[axis] = pe_rope_grid_position(&state->grid, axis, k);
            if (at[axis] != 0)
                wide[axis] = wide_of(at[axis]);
        }
        for (size_t r = 0; r < axes->n_runs; r++) {
            const pe_rope_axis_run *run = &axes->run[r];
            for (size_t i = 0; i < run->count; i++, out += bytes)
                pe_dtype_store(dtype,
                               angle_of(state, dtype, run->at + i, at[run->axis], &wide[run->axis]),
                               out);
        }
    }
}

/* ---- the table ---- */

static const char *const layout_names[] = {"pairs", "hf", NULL};

static double position(const void *of, size_t axis, size_t k)
{
    const table *state = of;
    return pe_rope_grid_position(&state->grid, axis, k);
}

static pe_status fill_waves(const table *state, pe_dtype dtype, const pe_region *region,
                            unsigned char *out, pe_problem *why)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    const pe_wave_layout layout = {.stride = 1,
                                   .cos_at = region->tensor == COS ? 0 : -1,
                                   .sin_at = region->tensor == SIN ? 0 : -1,
                                   .row = state->grid.pairs << (state->run > 0)};
    PE_TRY(pe_rope_axes_table(
        &(pe_rope_axes_spec){state->axes, state->wave.wave, position, state, &layout, dtype},
        region->first, region->units, out, why));
    for (size_t u = 0; u < region->units && state->run > 0; u++) {
        /* Each run of numbers again behind itself, from the last one on: rows have room for
         * both. */
        unsigned char *row = out + u * layout.row * bytes;
        const size_t run = state->run * bytes;
        for (size_t r = state->grid.pairs / state->run; r-- > 0;) {
            memmove(row + 2 * r * run, row + r * run, run);
            memcpy(row + (2 * r + 1) * run, row + 2 * r * run, run);
        }
    }
    return PE_OK;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const table *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    unsigned char *to = out;
    if (region->tensor < ANGLES)
        return fill_waves(state, dtype, region, out, why);
    if (region->tensor == ANGLES)
        fill_angles(state, dtype, region->first, region->units, out);
    for (size_t u = 0; u < region->units && region->tensor == ROW_COL; u++)
        for (size_t axis = 0; axis < PE_GRID_AXES; axis++, to += pe_dtype_bytes(dtype))
            pe_dtype_store(dtype, pe_rope_grid_place(&state->grid.patches, axis, region->first + u),
                           to);
    return PE_OK;
}

static pe_status add_tensors(const pe_grid *grid, pe_dtype dtype, bool doubled, pe_plan *out,
                             pe_problem *why)
{
    static const char *const names[] = {[COS] = "cos", [SIN] = "sin", [ANGLES] = "angles"};
    const pe_shape places = {2, {grid->patches.count, PE_GRID_AXES}};
    for (size_t t = 0; t < PE_LEN(names); t++) {
        const size_t width = grid->pairs << (doubled && t != ANGLES);
        PE_TRY(pe_plan_add_tensor(out, names[t], dtype,
                                  &(pe_shape){2, {grid->patches.count, width}}, width, why));
    }
    PE_TRY(pe_plan_set_work(out, ANGLES, ANGLE_WORK, why));
    for (size_t t = COS; t <= SIN; t++)
        PE_TRY(pe_plan_set_work(out, t, 1 + PATCH_WORK / grid->pairs, why));
    const pe_positions *given = grid->patches.given;
    const pe_dtype type = given != NULL && given->fractional ? dtype : PE_INT32;
    return pe_plan_add_tensor(out, "row_col", type, &places, PE_GRID_AXES, why);
}

/* The first pair of an axis is its fastest. */
static pe_status check_overflow(const table *state, pe_dtype dtype, pe_problem *why)
{
    bool seen[PE_GRID_AXES] = {false};
    for (size_t r = 0; r < state->axes->n_runs && dtype == PE_FLOAT16; r++) {
        const pe_rope_axis_run *run = &state->axes->run[r];
        if (seen[run->axis])
            continue;
        /* The patch whose position on an axis is largest. Only a list has to be searched: in a
         * range it is at an end, in a grid at a corner. */
        const size_t axis = run->axis;
        const pe_positions *given = state->grid.patches.given;
        const bool listed =
            given != NULL && pe_positions_part(given, axis, PE_GRID_AXES).list != NULL;
        const size_t n = state->grid.patches.count, step = listed || n == 1 ? 1 : n - 1;
        size_t found = 0;
        double most = 0;
        for (size_t k = 0; k < n; k += step) {
            const double at = fabs(pe_rope_grid_position(&state->grid, axis, k));
            found = at > most ? k : found;
            most = fmax(most, at);
        }
        const size_t k = found;
        const double at = pe_rope_grid_position(&state->grid, run->axis, k);
        const pe_fixed128 wide = at != 0 ? wide_of(at) : (pe_fixed128){0};
        if (fabs(angle_of(state, dtype, run->at, at, &wide)) >= FLOAT16_END)
            return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                           "an angle of patch %zu overflows float16, whose largest value is 65504",
                           k);
        seen[run->axis] = true;
    }
    return PE_OK;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_grid grid;
    PE_TRY(pe_rope_grid_read(values, &grid, why));
    /* The canonical form has no word of a layout that is the default, nor what it leaves unread. */
    pe_value *layout = pe_values_find(values, "cache_layout");
    pe_value *pairing = pe_values_find(values, "pairing");
    const bool doubled = layout->present && strcmp(layout_names[layout->choice], "hf") == 0;
    if (doubled && !pairing->present)
        pairing->choice = grid.convention->pairing;
    layout->present = pairing->present = doubled;
    const size_t run = doubled ? pe_rope_grid_run(values, grid.pairs) : 0;
    PE_TRY(add_tensors(&grid, pe_values_dtype(values), run > 0, out, why));
    PE_TRY(pe_plan_begin(out, sizeof(table), fill, why));
    table *state = out->state;
    state->grid = grid;
    state->run = run;
    if (state->grid.patches.given != NULL) {
        PE_TRY(pe_plan_positions(out, values, "positions", &state->given, why));
        state->grid.patches.given = &state->given;
    }
    pe_plan_owns(out, &state->wave, pe_tables_unref);
    PE_TRY(pe_rope_grid_wave(&state->grid, out->tables, &state->wave, why));
    state->axes = pe_rope_grid_axes(&state->grid);
    pe_plan_owns(out, state->axes, free);
    if (state->axes == NULL)
        return pe_fail_memory(why);
    const size_t n = pe_wave_count(state->wave.wave);
    state->thetas = calloc(n, sizeof *state->thetas);
    pe_plan_owns(out, state->thetas, free);
    if (state->thetas == NULL)
        return pe_fail_memory(why);
    mpfr_t x;
    mpfr_init2(x, THETA_BITS);
    for (size_t i = 0; i < n; i++) {
        pe_wave_theta(state->wave.wave, i, x);
        state->thetas[i].wide = pe_fixed128_from_mpfr(x);
        state->thetas[i].exact = mpfr_min_prec(x) == 1 ? mpfr_get_d(x, MPFR_RNDN) : 0;
    }
    mpfr_clear(x);
    const pe_grid_patches *of = &state->grid.patches;
    const pe_positions side =
        pe_positions_range(0, 1, of->height > of->width ? of->height : of->width);
    const size_t more = pe_wave_work(state->wave.wave, of->given != NULL ? of->given : &side,
                                     pe_values_dtype(values));
    for (size_t t = COS; t <= SIN; t++)
        PE_TRY(pe_plan_set_work(out, t, out->tensors[t].work + more, why));
    return check_overflow(state, pe_values_dtype(values), why);
}

static const pe_param own[] = {
    PE_ROPE_GRID_HEAD_DIM(true, NULL),
    PE_PARAM_MODEL("qwen2.5-vl-7b"),
    PE_PARAM("cache_layout", CHOICE, .optional = true, .choices = layout_names,
             .fallback_text = "pairs",
             .help = "The columns of cosines and sines. pairs: one for each pair. hf: one for each "
                     "channel, as the code of models has them, with each number twice.",
             .example = "hf"),
    PE_PARAM("pairing", CHOICE, .optional = true, .choices = pe_rope_params_pairings,
             .fallback_text = "the convention's",
             .help = "With cache_layout=hf: half repeats the row behind itself (gemma4: the half "
                     "of each axis), interleaved each number.",
             .example = "half"),
};

/**
 * Shapes    cos, sin, angles [patches, head_dim/2], of cache_layout hf cos, sin [patches, head_dim];
 *           row_col [patches, 2], int32 unless positions are fractional.
 * Accuracy  all correctly rounded.
 */
const pe_resource pe_rope_grid = {
    PE_NAMED("rope", "/grid"),
    .kind = PE_TABLE,
    .summary = "Rotary angles of the patches of an image, by row and column.",
    .formula = "angle(k, p) = (row or column of patch k) theta_j; cos and sin of it",
    .labels = PE_LABELS({"row_col", "patch, axis", "row and column"}, {.axes = "patch, pair"}),
    .source = PE_GRID_SOURCE,
    .param_sets = {PE_PARAMS(own), &pe_rope_grid_params, &pe_params_output_exact},
    .plan = plan,
    .turned = pe_rope_grid_turned,
    .run = pe_rope_grid_run,
};
