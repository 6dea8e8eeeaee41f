/* SPDX-License-Identifier: MIT */
/* rope_apply.c - the rotation of the tokens of a tensor. */
#include "encodings/rope/rope_apply.h"

#include <math.h>
#include <stdlib.h>

#include "base/yield.h"
#include "encodings/attention/attention.h"

/* One call: what it needs besides the tensor. */
typedef struct worker {
    const pe_rope_rotation *rotation;
    pe_rope_cos_sin rows;
    double *minus;   /* [pairs]: sines of the negative angle; backwards only */
    double *channel; /* [rotary_dim]: a vector; float32 and xPos only */
    double *scale;   /* [rows, pairs, 2] of the rows loaded, as hi + lo; xPos only */
    size_t scale_first;
} worker;

/* The row that a token is rotated by, [pairs] each. */
typedef struct cos_sin {
    const double *cos, *sin;
} cos_sin;

/* The reference's order of operations: r(r(a cos) - r(b sin)), r(r(b cos) + r(a sin)). */
static void turn32(double cos, double sin, double *x, double *y)
{
    const float a = (float)*x, b = (float)*y, c = (float)cos, s = (float)sin;
    const float ac = a * c, bs = b * s, bc = b * c, as = a * s;
    *x = (double)(ac - bs);
    *y = (double)(bc + as);
}

/* (a c + b s) (scale[0] + scale[1]), in double-double, rounded once */
static double scaled_sum(double a, double c, double b, double s, const double scale[2])
{
    const double p = a * c, q = b * s, sum = p + q, part = sum - p;
    const double rest = ((p - (sum - part)) + (q - part)) + (fma(a, c, -p) + fma(b, s, -q));
    const double product = sum * scale[0];
    return product + (fma(sum, scale[0], -product) + (sum * scale[1] + rest * scale[0]));
}

/* A vector, pair by pair; scale NULL: in float32. */
static void rotate_pairs(const worker *work, pe_dtype dtype, const cos_sin *by, const double *scale,
                         unsigned char *x)
{
    const pe_rope *rope = work->rotation->rope;
    const bool half = rope->pairing == PE_PAIRING_HALF;
    const size_t step = half ? 1 : 2, far = half ? rope->pairs : 1;
    double *at = work->channel;
    pe_kernels_get()->widen(dtype, x, rope->rotary_dim, at);
    for (size_t i = 0; i < rope->pairs; i++, at += step) {
        const double a = at[0], b = at[far];
        if (scale == NULL) {
            turn32(by->cos[i], by->sin[i], &at[0], &at[far]);
            continue;
        }
        at[0] = scaled_sum(a, by->cos[i], -b, by->sin[i], scale + 2 * i);
        at[far] = scaled_sum(b, by->cos[i], a, by->sin[i], scale + 2 * i);
    }
    pe_kernels_get()->narrow(dtype, work->channel, rope->rotary_dim, x);
}

/* Rotate `count` consecutive vectors by row r. */
static void rotate_token(const worker *work, pe_dtype dtype, size_t r, size_t count,
                         unsigned char *x)
{
    const pe_rope *rope = work->rotation->rope;
    cos_sin by;
    x += rope->rotary_offset * pe_dtype_bytes(dtype);
    pe_rope_cos_sin_at(&work->rows, r, &by.cos, &by.sin);
    if (work->rotation->backwards) {
        for (size_t i = 0; i < rope->pairs; i++)
            work->minus[i] = -by.sin[i];
        by.sin = work->minus;
    }
    if (!rope->float32 && work->rotation->xpos == NULL) {
        /* Each part of the channels holds the next of the pairs. */
        const size_t parts = rope->parts > 1 ? rope->parts : 1, pairs = rope->pairs / parts;
        for (size_t p = 0; p < parts; p++, x += 2 * pairs * pe_dtype_bytes(dtype))
            pe_kernels_get()->rotate(dtype, rope->pairing, pairs, by.cos + p * pairs,
                                     by.sin + p * pairs, count, rope->head_dim, x, x);
        return;
    }
    const size_t vector = rope->head_dim * pe_dtype_bytes(dtype);
    const double *scale = NULL;
    if (!rope->float32)
        scale = work->scale + (r - work->scale_first) * 2 * rope->pairs;
    for (size_t v = 0; v < count; v++, x += vector)
        rotate_pairs(work, dtype, &by, scale, x);
}

static pe_status load_scales(worker *work, size_t first, size_t rows, pe_problem *why)
{
    const pe_xpos_turn *xpos = work->rotation->xpos;
    const size_t pairs = work->rotation->rope->pairs;
    if (xpos == NULL)
        return PE_OK;
    double *scale = realloc(work->scale, rows * pairs * 2 * sizeof *scale);
    if (scale == NULL)
        return pe_fail_memory(why);
    work->scale = scale;
    work->scale_first = first;
    for (size_t r = 0; r < rows; r++) {
        const pe_xpos_distance n = pe_rope_xpos_distance(
            pe_positions_at(work->rotation->positions, first + r), xpos->center, xpos->divide);
        for (size_t i = 0; i < pairs; i++, scale += 2)
            pe_rope_xpos_scale_pair(xpos->scale, i, &n, &scale[0], &scale[1]);
        pe_yield_look(PE_XPOS_SCALE_WORK * pairs);
    }
    return PE_OK;
}

static size_t product(const pe_shape *shape, size_t from, size_t to)
{
    size_t elements = 1;
    for (size_t d = from; d < to; d++)
        elements *= shape->dim[d];
    return elements;
}

/* What an element costs that is turned one by one. */
#define SLOW_WORK 8

/* [outer, n, inner, head_dim]; positions [batches, n], each batch for outer / batches. */
static pe_status rotate_all(worker *work, size_t axis, pe_array *array, pe_problem *why)
{
    /* How many tokens the positions are for. */
    const pe_rope_rotation *rotation = work->rotation;
    const bool several = rotation->axes != NULL && rotation->positions->shape.ndim > 1;
    const size_t count = rotation->positions->count / (several ? rotation->axes->n : 1);
    const pe_shape *shape = &array->shape;
    size_t n = shape->dim[axis], inner = product(shape, axis + 1, shape->ndim - 1);
    const size_t outer = product(shape, 0, axis);
    if (count == 1) { /* one rotation for all tokens */
        inner *= n;
        n = 1;
    }
    const size_t batches = count / n, per = outer / batches;
    const bool slow = rotation->xpos != NULL || rotation->rope->float32;
    const size_t token = inner * work->rotation->rope->head_dim * pe_dtype_bytes(array->dtype);
    unsigned char *x = array->data;
    for (size_t b = 0; b < batches; b++)
        for (size_t t = 0, got; t < n; t += got) {
            PE_TRY(pe_rope_cos_sin_load(&work->rows, b * n + t, n - t, &got, why));
            PE_TRY(load_scales(work, b * n + t, got, why));
            for (size_t o = b * per; o < (b + 1) * per; o++) {
                for (size_t u = t; u < t + got; u++)
                    rotate_token(work, array->dtype, b * n + u, inner, x + (o * n + u) * token);
                if (rotation->finite != NULL &&
                    !pe_scores_finite(array->dtype, x + (o * n + t) * token,
                                      got * token / pe_dtype_bytes(array->dtype)))
                    return pe_fail(why, PE_INVALID_PARAMETER, rotation->finite,
                                   "a turned channel of %s overflows %s, or one that came is not "
                                   "finite",
                                   rotation->finite, pe_dtype_name(array->dtype));
                pe_yield_look((slow ? SLOW_WORK : 1) * got * token / pe_dtype_bytes(array->dtype));
                PE_TRY(pe_yield_check(why));
            }
        }
    return PE_OK;
}

pe_status pe_rope_apply_array(const pe_rope_rotation *rotation, size_t axis, pe_array *array,
                              pe_problem *why)
{
    const pe_rope *rope = rotation->rope;
    worker work = {.rotation = rotation,
                   .minus = malloc(rope->pairs * sizeof(double)),
                   .channel = malloc(rope->rotary_dim * sizeof(double))};
    pe_status status = pe_rope_cos_sin_open(&work.rows, rope->tables, rotation->wave,
                                            rotation->axes, rotation->positions, why);
    if (status == PE_OK && (work.minus == NULL || work.channel == NULL))
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = rotate_all(&work, axis, array, why);
    pe_rope_cos_sin_close(&work.rows);
    free(work.minus);
    free(work.channel);
    free(work.scale);
    return status;
}
