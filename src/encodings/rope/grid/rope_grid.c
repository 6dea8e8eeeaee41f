/* SPDX-License-Identifier: MIT */
/* rope_grid.c - conventions of rotating patches by their row and column. */
#include "encodings/rope/grid/rope_grid.h"

#include <math.h>
#include <stdlib.h>

/* Bound of the rows and columns in positions, and what fractions of those that count from 1 or are
 * normalized are multiples of: twice as much, plus one, is exact. */
#define PLACE_MAX  0x1p31
#define PLACE_PART 0x1p-20

static const char *const convention_names[] = {"qwen2_vl", "pixtral", "eva02",  "sam2",  "llama4",
                                               "kimi",     "dinov3",  "gemma4", "step3", "inkling2",
                                               "neomme",   "pixel",   NULL};
static const pe_grid_convention conventions[] = {
    {.first = PE_GRID_ROW, .pairing = PE_PAIRING_HALF, .theta = 10000},
    {.first = PE_GRID_ROW, .split = true, .pairing = PE_PAIRING_HALF, .theta = 10000},
    {.first = PE_GRID_ROW, .pairing = PE_PAIRING_INTERLEAVED, .theta = 10000},
    {.first = PE_GRID_COLUMN, .pairing = PE_PAIRING_INTERLEAVED, .theta = 10000},
    {.first = PE_GRID_COLUMN, .origin = 1, .pairing = PE_PAIRING_INTERLEAVED, .theta = 10000},
    {.first = PE_GRID_COLUMN, .alternate = true, .pairing = PE_PAIRING_INTERLEAVED, .theta = 10000},
    {.first = PE_GRID_ROW, .normalized = true, .pairing = PE_PAIRING_HALF, .theta = 100},
    {.first = PE_GRID_COLUMN, .apart = true, .pairing = PE_PAIRING_HALF, .theta = 100},
    {.first = PE_GRID_COLUMN, .pairing = PE_PAIRING_HALF, .theta = 10000},
    {.first = PE_GRID_COLUMN, .origin = 1, .pairing = PE_PAIRING_INTERLEAVED, .theta = 10000},
    {.first = PE_GRID_ROW,
     .alternate = true,
     .split = true,
     .pairing = PE_PAIRING_HALF,
     .theta = 10000},
    {.first = PE_GRID_ROW, .pixel = true, .pairing = PE_PAIRING_INTERLEAVED},
};

/* Positions lie between -1 and 1, so the sides matter, and each axis has frequencies of its own. */
static bool by_sides(const pe_grid_convention *c)
{
    return c->normalized || c->pixel;
}

#define SIDE(label, alias, fallback, what)                                                         \
    PE_PARAM(label, INT, .aliases = PE_NAMES(alias), .axis = true, .optional = true, .min = 1,     \
             .max = 65536, .fallback_text = (fallback), .unit = "patches",                         \
             .help = what " of the grid.", .example = "2")

static const pe_param grid_params[] = {
    PE_PARAM("convention", CHOICE, .aliases = PE_NAMES("variant"), .choices = convention_names,
             .help = "The model whose convention is followed: the pairs that rotate by rows, those "
                     "that rotate by columns, and their frequencies.",
             .example = "qwen2_vl"),
    PE_PARAM("rope_theta", REAL, .aliases = PE_NAMES("base"), .optional = true, .min = 1,
             .max = 1e12, .fallback_text = "10000; dinov3, gemma4: 100",
             .help = "Base of the frequencies. pixel has none.", .example = "10000"),
    PE_PARAM(
        "max_freq", REAL, .optional = true, .min = 1, .max = 1e6, .fallback_text = "10",
        .help =
            "For pixel: the frequencies go from pi to pi max_freq/2, in equal steps. timm has 224.",
        .example = "10"),
    SIDE("height", "window_height", "required without positions", "Rows"),
    SIDE("width", "window_width", "height", "Columns"),
    PE_PARAM(
        "frames", INT, .axis = true, .optional = true, .min = 1, .max = 65536, .fallback_text = "1",
        .help = "The number of frames of a video. The grid is repeated for each.", .example = "1"),
    PE_PARAM("spatial_merge_size", INT, .optional = true, .min = 1, .max = 64, .fallback_text = "1",
             .unit = "patches",
             .help = "The order of the patches: in square blocks of this side, row by row within "
                     "each. With 1 they come row by row.",
             .example = "2"),
    PE_PARAM("positions", POSITIONS, .optional = true, .two_axes = true,
             .fallback_text = "the patches of the grid", .unit = "patches",
             .help = "Rows and columns of patches, [2, n]. They replace the grid, and may be "
                     "fractional. In a query a semicolon separates rows from columns.",
             .example = "0,0,1,1;0,1,0,1"),
};
const pe_param_set pe_rope_grid_params = {grid_params, PE_LEN(grid_params)};

/* ---- pairs and frequencies ---- */

pe_rope_axes *pe_rope_grid_axes(const pe_grid *grid)
{
    const pe_grid_convention *c = grid->convention;
    const size_t pairs = grid->pairs;
    pe_rope_axes *axes = NULL;
    unsigned char *axis = malloc(pairs);
    uint32_t *at = malloc(pairs * sizeof *at);
    if (axis != NULL && at != NULL) {
        for (size_t p = 0; p < pairs; p++) {
            const size_t which = c->alternate ? p % 2 : p / (pairs / 2);
            axis[p] = (unsigned char)(which ^ c->first);
            /* The frequency of the j-th pair of an axis, in the set. */
            const size_t j = c->alternate ? p / 2 : p % (pairs / 2);
            at[p] = (uint32_t)(c->split      ? 2 * j + axis[p]
                               : by_sides(c) ? axis[p] * pairs / 2 + j
                                             : j);
        }
        axes = pe_rope_axes_make(PE_GRID_AXES, pairs, axis, at);
    }
    free(axis);
    free(at);
    return axes;
}

/* What the frequencies depend on, as plain bytes. */
typedef struct formula {
    double theta, max_freq;    /* max_freq: of pixel; else 0 */
    double side[PE_GRID_AXES]; /* what positions are divided by, by row and column; else 0 */
    uint64_t half;             /* frequencies of an axis, where each has its own */
} formula;

static void base(const void *of, mpfr_ptr out)
{
    const formula *f = of;
    mpfr_set_d(out, f->theta, MPFR_RNDN);
}

/* 2 pi theta_j / n; behind the frequencies of rows, theta^(-4(j + d/4)/d) is theta_j / theta. */
static void normalize(const void *of, size_t i, mpfr_ptr theta)
{
    const formula *f = of;
    const size_t axis = i < f->half ? PE_GRID_ROW : PE_GRID_COLUMN;
    mpfr_t turn;
    mpfr_init2(turn, mpfr_get_prec(theta) + 32);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
    mpfr_div_d(turn, turn, f->side[axis], MPFR_RNDN);
    if (axis == PE_GRID_COLUMN)
        mpfr_mul_d(turn, turn, f->theta, MPFR_RNDN);
    mpfr_mul(theta, theta, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

/* pi (1 + j (max_freq/2 - 1)/(h - 1)) / n, j the pair of h of its axis. */
static void make_linear(const void *of, size_t i, mpfr_ptr theta)
{
    const formula *f = of;
    const size_t axis = i < f->half ? PE_GRID_ROW : PE_GRID_COLUMN;
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(theta) + 32);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_set_d(theta, f->max_freq / 2, MPFR_RNDN);
    mpfr_sub_ui(theta, theta, 1, MPFR_RNDN);
    mpfr_mul_ui(theta, theta, i % f->half, MPFR_RNDN);
    mpfr_div_ui(theta, theta, f->half > 1 ? f->half - 1 : 1, MPFR_RNDN);
    mpfr_add_ui(theta, theta, 1, MPFR_RNDN);
    mpfr_mul(theta, theta, pi, MPFR_RNDN);
    mpfr_div_d(theta, theta, f->side[axis], MPFR_RNDN);
    mpfr_clear(pi);
}

/* What positions are whole multiples of: 1/n, of pixel 1/(n - 1). */
static double divisor(const pe_grid_convention *c, size_t side)
{
    return (double)(c->pixel && side > 1 ? side - 1 : side);
}

pe_status pe_rope_grid_wave(const pe_grid *grid, pe_tables *tables, pe_shared_wave *out,
                            pe_problem *why)
{
    const pe_grid_convention *c = grid->convention;
    formula f = {.theta = c->pixel ? 1 : grid->theta, .max_freq = grid->max_freq};
    if (by_sides(c)) {
        f.half = grid->pairs / 2;
        f.side[PE_GRID_ROW] = divisor(c, grid->patches.height);
        f.side[PE_GRID_COLUMN] = divisor(c, grid->patches.width);
    }
    const pe_wave_spec spec = {.n = c->split || by_sides(c) ? grid->pairs : grid->pairs / 2,
                               .num = c->split ? 2 : 4,
                               .den = (double)grid->head_dim,
                               .position_scale = 1,
                               .base = base,
                               .scale = c->pixel        ? make_linear
                                        : c->normalized ? normalize
                                                        : NULL,
                               .formula = &f,
                               .formula_bytes = sizeof f};
    return pe_tables_wave(tables, &spec, out, why);
}

size_t pe_rope_grid_run(const pe_values *values, size_t pairs)
{
    /* Of a claim whose defaults are not filled in, it is the first. */
    const bool named = pe_values_present(values, "convention");
    const pe_grid_convention *c = &conventions[named ? pe_values_choice(values, "convention") : 0];
    const pe_pairing pairing = pe_values_present(values, "pairing")
                                   ? (pe_pairing)pe_values_choice(values, "pairing")
                                   : c->pairing;
    return pairing == PE_PAIRING_INTERLEAVED ? 1 : pairs / pe_rope_grid_parts(c);
}

/* ---- patches ---- */

double pe_rope_grid_place(const pe_grid_patches *patches, size_t axis, size_t k)
{
    if (patches->given != NULL)
        return pe_positions_at(patches->given, axis * patches->count + k);
    const size_t m = patches->merge, wide = patches->width / m;
    const size_t within = k % (m * m), block = k / (m * m) % (patches->height / m * wide);
    const size_t row = block / wide * m + within / m, column = block % wide * m + within % m;
    return (double)(axis == PE_GRID_ROW ? row : column);
}

double pe_rope_grid_position(const pe_grid *grid, size_t axis, size_t k)
{
    const double at = pe_rope_grid_place(&grid->patches, axis, k);
    const size_t side = axis == PE_GRID_ROW ? grid->patches.height : grid->patches.width;
    if (grid->convention->normalized) /* of n sides: ((2r + 1)/n - 1) n */
        return 2 * at + 1 - (double)side;
    if (grid->convention->pixel) /* of the last: (2r/(n - 1) - 1)(n - 1); one patch is at -1 */
        return side > 1 ? 2 * at + 1 - (double)side : 2 * at - 1;
    return at + (double)grid->convention->origin;
}

pe_status pe_rope_grid_positions(const pe_grid *grid, bool scaled, pe_positions *out,
                                 pe_problem *why)
{
    const size_t n = grid->patches.count;
    pe_array list;
    PE_TRY(pe_array_make(PE_FLOAT64, &(pe_shape){2, {PE_GRID_AXES, n}}, &list, why));
    for (size_t k = 0; k < PE_GRID_AXES * n; k++) {
        const size_t axis = k / n;
        const size_t side = axis == PE_GRID_ROW ? grid->patches.height : grid->patches.width;
        double scale = 1; /* what the theta_j of the axis are multiplied by */
        if (scaled && grid->convention->split && axis == PE_GRID_COLUMN)
            scale = pow(grid->theta, -2 / (double)grid->head_dim);
        else if (scaled && grid->convention->normalized)
            scale = 2 * 3.14159265358979323846 / (double)side;
        ((double *)list.data)[k] = pe_rope_grid_position(grid, axis, k % n) * scale;
    }
    pe_status status = pe_positions_from_list(&list, "positions", out, why);
    pe_array_free(&list);
    return status;
}

/* ---- parameters ---- */

static size_t take_int(pe_values *values, const char *name, size_t otherwise)
{
    if (!pe_values_present(values, name))
        pe_values_set_int(values, name, (int64_t)otherwise);
    return pe_values_size(values, name);
}

static pe_status read_sides(pe_values *values, pe_grid_patches *out, pe_problem *why)
{
    if (!pe_values_present(values, "height"))
        return pe_fail(why, PE_MISSING_PARAMETER, "height",
                       "height is required: the rows of the grid");
    out->height = pe_values_size(values, "height");
    out->width = take_int(values, "width", out->height);
    return PE_OK;
}

/* Will all positions be exact as the convention has them? Two tell of a range. */
static pe_status check_exact(const pe_grid_convention *convention, const pe_positions *given,
                             pe_problem *why)
{
    const bool exact = !by_sides(convention) && convention->origin == 0;
    for (size_t axis = 0; axis < PE_GRID_AXES && !exact; axis++) {
        const pe_positions part = pe_positions_part(given, axis, PE_GRID_AXES);
        const size_t n = part.list == NULL && part.count > 2 ? 2 : part.count;
        for (size_t k = 0; k < n && part.fractional; k++) {
            const double at = pe_positions_at(&part, k);
            if (at / PLACE_PART != floor(at / PLACE_PART))
                return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                               "positions of this convention must be multiples of 2^-20, such as "
                               "0.5 or 0.25, got %.15g",
                               at);
        }
    }
    return PE_OK;
}

/* Patches by row and column. */
static pe_status read_given(pe_values *values, const pe_grid_convention *convention,
                            pe_grid_patches *out, pe_problem *why)
{
    const bool sides = by_sides(convention);
    static const char *const others[] = {"frames", "spatial_merge_size", "height", "width"};
    const pe_positions *given = pe_values_positions(values, "positions");
    double least, most;
    for (size_t i = 0; i < PE_LEN(others) - (sides ? 2 : 0); i++)
        if (pe_values_present(values, others[i]))
            return pe_fail(why, PE_INVALID_PARAMETER, others[i],
                           "%s is of a grid and does not go with positions", others[i]);
    if (given->shape.ndim != 2 || given->shape.dim[0] != PE_GRID_AXES)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must be rows and columns, [2, n]; separate the two with ; as in "
                       "0,0,1,1;0,1,0,1");
    pe_positions_bounds(given, &least, &most);
    if (least <= -PLACE_MAX || most >= PLACE_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must lie strictly between -2^31 and 2^31, got %.17g",
                       most >= PLACE_MAX ? most : least);
    out->given = given;
    out->count = given->shape.dim[1];
    const pe_status status = check_exact(convention, given, why);
    return status == PE_OK && sides ? read_sides(values, out, why) : status;
}

static pe_status read_grid(pe_values *values, pe_grid_patches *out, pe_problem *why)
{
    PE_TRY(read_sides(values, out, why));
    out->merge = take_int(values, "spatial_merge_size", 1);
    out->count = take_int(values, "frames", 1) * out->height * out->width; /* each up to 2^16 */
    if (out->height % out->merge == 0 && out->width % out->merge == 0)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "spatial_merge_size",
                   "spatial_merge_size must divide height and width, %zu x %zu, got %zu",
                   out->height, out->width, out->merge);
}

pe_status pe_rope_grid_read(pe_values *values, pe_grid *out, pe_problem *why)
{
    pe_grid grid = {.convention = &conventions[pe_values_choice(values, "convention")],
                    .head_dim = pe_values_size(values, "head_dim")};
    if (grid.head_dim % 4 != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "head_dim",
                       "head_dim must be a multiple of 4: half its pairs turn by rows, half by "
                       "columns; got %zu",
                       grid.head_dim);
    grid.pairs = grid.head_dim / 2;
    /* A base, or the highest frequency: what the convention has is filled in, the other refused. */
    pe_problem mistake;
    pe_status status = PE_OK;
    const bool pixel = grid.convention->pixel;
    const char *has = pixel ? "max_freq" : "rope_theta", *lacks = pixel ? "rope_theta" : "max_freq";
    if (pe_values_present(values, lacks))
        status = pe_fail(why, PE_INVALID_PARAMETER, lacks, "%s does not go with convention %s",
                         lacks, convention_names[grid.convention - conventions]);
    if (!pe_values_present(values, has))
        pe_values_set_real(values, has, pixel ? 10 : grid.convention->theta);
    *(pixel ? &grid.max_freq : &grid.theta) = pe_values_real(values, has);
    status = PE_ALSO(status, pe_values_present(values, "positions")
                                 ? read_given(values, grid.convention, &grid.patches, &mistake)
                                 : read_grid(values, &grid.patches, &mistake));
    if (status == PE_OK)
        *out = grid;
    return status;
}
