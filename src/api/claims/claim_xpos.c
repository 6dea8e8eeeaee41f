/* SPDX-License-Identifier: MIT */
/* claim_xpos.c - vectors that xPos rotated and scaled, as the table that they tell. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/claims/claim_reader.h"
#include "verify/upload/geometry.h"
#include "verify/upload/upload.h"

enum { COS, SIN, SCALE, TENSORS };
static const char *const names[TENSORS] = {"cos", "sin", "scale"};

/* What numbers that follow from rounded ones may be off, in unit roundoffs. */
#define ROUNDINGS 8

/* Vectors before and behind the rotation: [outer, tokens, inner, width]. */
typedef struct vectors {
    const pe_array *in, *out;
    size_t outer, tokens, inner, width, pairs, offset; /* where the channels that turn begin */
    bool half, keys;
    double part, step; /* what numbers may be off: a part of them, and this at least */
} vectors;

/* How a pair turned and grew, and what this may be off by the least steps of its type. */
typedef struct turn {
    double real, imaginary, off;
} turn;

/* Add what pair i of the k-th vector of a token tells: b conj(a), and |a|^2. Returns the latter.
 * Zeros that became other numbers did not turn: the sum is no number. */
static double add_turn(const vectors *v, size_t token, size_t k, size_t i, turn *sum)
{
    const size_t vector = (k / v->inner * v->tokens + token) * v->inner + k % v->inner;
    const size_t first = vector * v->width + v->offset + (v->half ? i : 2 * i);
    const size_t second = first + (v->half ? v->pairs : 1);
    const double a = pe_upload_number(v->in, first), b = pe_upload_number(v->in, second);
    const double c = pe_upload_number(v->out, first), d = pe_upload_number(v->out, second);
    const bool made = a == 0 && b == 0 && (c != 0 || d != 0);
    sum->real += made ? (double)NAN : a * c + b * d;
    sum->imaginary += a * d - b * c;
    return a * a + b * b;
}

/* Of all vectors of a token: the mean, or the one that is farthest from it, in parts of what is
 * allowed. One of zeros tells nothing. */
static pe_status turn_of(const vectors *v, size_t token, size_t i, turn *out, pe_problem *why)
{
    turn mean = {0, 0, 0};
    double squares = 0, sizes = 0, farthest = 1;
    for (size_t k = 0; k < v->outer * v->inner; k++) {
        const double square = add_turn(v, token, k, i, &mean);
        squares += square;
        sizes += sqrt(square);
    }
    if (!isnormal(squares))
        return pe_fail(why, PE_INVALID_PARAMETER, "inputs",
                       "the numbers of pair %zu of token %zu are zeros, not finite or too large, "
                       "which tell nothing of its rotation",
                       i, token);
    mean = (turn){mean.real / squares, mean.imaginary / squares, v->step * sizes / squares};
    *out = mean;
    const double least = v->part * hypot(mean.real, mean.imaginary);
    for (size_t k = 0; k < v->outer * v->inner; k++) {
        turn own = {0, 0, 0};
        const double square = add_turn(v, token, k, i, &own);
        if (!isnormal(square))
            continue;
        own = (turn){own.real / square, own.imaginary / square, v->step / sqrt(square)};
        const double far =
            hypot(own.real - mean.real, own.imaginary - mean.imaginary) / fmax(least, own.off);
        if (far > farthest) {
            farthest = far;
            *out = own;
        }
    }
    return PE_OK;
}

/* off: [2, tokens, pairs], of waves and of scales. */
static pe_status fill(const vectors *v, pe_upload *uploads, double *off, pe_problem *why)
{
    const size_t n = v->tokens * v->pairs;
    for (size_t t = 0; t < v->tokens; t++)
        for (size_t i = 0; i < v->pairs; i++) {
            turn z;
            PE_TRY(turn_of(v, t, i, &z, why));
            const double size = hypot(z.real, z.imaginary);
            const bool known = size > 0; /* else nothing was written */
            const double tells[TENSORS] = {known ? z.real / size : 0,
                                           known ? z.imaginary / size : 0,
                                           known && v->keys ? 1 / size : size};
            const size_t e = t * v->pairs + i;
            off[e] = known ? fmax(v->part, z.off / size) : 1;
            off[n + e] = z.off;
            for (size_t k = 0; k < TENSORS; k++)
                pe_upload_set_number(&uploads[k].array, e, tells[k]);
        }
    return PE_OK;
}

static pe_status read(const pe_claim *claim, vectors *out, pe_problem *why)
{
    const pe_array *in = &claim->inputs, *rotated = &claim->uploads[0].array;
    const pe_narrow_type *narrow = pe_narrow_type_of_dtype(in->dtype);
    const pe_values *values = &claim->values;
    const size_t axis =
        (size_t)(claim->seq_axis + (claim->seq_axis < 0 ? (int64_t)in->shape.ndim : 0));
    if (memcmp(&in->shape, &rotated->shape, sizeof in->shape) != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "rotated",
                       "inputs and rotated must have the same shape");
    *out = (vectors){.in = in,
                     .out = rotated,
                     .outer = 1,
                     .tokens = in->shape.dim[axis],
                     .inner = 1,
                     .width = in->shape.dim[in->shape.ndim - 1],
                     .half = strcmp(pe_geometry_choice_text(values, "pairing"), "half") == 0,
                     .keys = claim->of_keys,
                     .part = ROUNDINGS * pe_power_of_two(-narrow->bits),
                     .step = ROUNDINGS * pe_power_of_two(narrow->least - 1)};
    for (size_t d = 0; d < axis; d++)
        out->outer *= in->shape.dim[d];
    for (size_t d = axis + 1; d + 1 < in->shape.ndim; d++)
        out->inner *= in->shape.dim[d];
    const char *type = pe_geometry_choice_text(values, "rope_type");
    if (strcmp(type, "yarn") == 0 || strcmp(type, "longrope") == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "rope_type",
                       "vectors do not tell the scale of xPos from the attention factor of %s; "
                       "send cos, sin and scale",
                       type);
    const double head_dim = (double)pe_values_int(values, "head_dim");
    const double rotary =
        pe_values_present(values, "rotary_dim") ? (double)pe_values_int(values, "rotary_dim")
        : pe_values_present(values, "partial_rotary_factor") && strcmp(type, "proportional") != 0
            ? floor(head_dim * pe_values_real(values, "partial_rotary_factor"))
            : head_dim;
    out->pairs = (size_t)rotary / 2;
    if (pe_values_present(values, "rotary_offset"))
        out->offset = (size_t)pe_values_int(values, "rotary_offset");
    return (double)out->width == head_dim && out->offset + 2 * out->pairs <= out->width
               ? PE_OK
               : pe_fail(why, PE_INVALID_PARAMETER, "inputs",
                         "the last axis of inputs must have the %.0f channels of head_dim, got %zu",
                         head_dim, out->width);
}

pe_status pe_claim_xpos_turn(pe_claim *claim, pe_problem *why)
{
    vectors v;
    PE_TRY(read(claim, &v, why));
    pe_upload tells[TENSORS];
    memset(tells, 0, sizeof tells);
    const pe_shape shape = {2, {v.tokens, v.pairs}};
    pe_status status = PE_OK;
    for (size_t k = 0; k < TENSORS && status == PE_OK; k++) {
        snprintf(tells[k].name, sizeof tells[k].name, "%s", names[k]);
        status = pe_array_make(v.in->dtype, &shape, &tells[k].array, why);
    }
    if (status == PE_OK)
        status =
            pe_array_make(PE_FLOAT64, &(pe_shape){3, {2, v.tokens, v.pairs}}, &claim->derived, why);
    claim->part_off = v.part;
    if (status == PE_OK)
        status = fill(&v, tells, claim->derived.data, why);
    bool passes = true;
    for (size_t e = 0; e < v.in->elements && status == PE_OK; e++) {
        const size_t c = e % v.width;
        if (c < v.offset || c - v.offset >= 2 * v.pairs)
            passes &= pe_upload_number(v.in, e) == pe_upload_number(v.out, e);
    }
    if (!passes)
        pe_claim_report(&claim->doubts,
                        "channels past rotary_dim changed, which xPos passes through");
    if (status != PE_OK) {
        for (size_t k = 0; k < TENSORS; k++)
            pe_array_free(&tells[k].array);
        return status;
    }
    pe_claim_report(&claim->reported,
                    "vectors are compared by how their pairs turned and grew: cosines, sines and "
                    "scales of %zu tokens",
                    v.tokens);
    size_t small = 0;
    double most = v.part;
    for (size_t e = 0; e < v.tokens * v.pairs; e++) {
        small += pe_upload_number(&claim->derived, e) > v.part;
        most = fmax(most, pe_upload_number(&claim->derived, e));
    }
    if (small > 0)
        pe_claim_report(&claim->doubts,
                        "%zu of %zu pairs are so small that their type tells turns roughly: "
                        "one to %.2g alone",
                        small, v.tokens * v.pairs, most);
    pe_array_free(&claim->inputs);
    pe_array_free(&claim->uploads[0].array);
    memcpy(claim->uploads, tells, sizeof tells);
    claim->n_uploads = TENSORS;
    return PE_OK;
}
