/* SPDX-License-Identifier: MIT */
/* rotate.c - pairs of channels turned by given angles. */
#include "kernels/level/rotate.h"
#include "kernels/level/wide.h"

/* Pairs handled at a time: what is spread for them stays in the nearest cache. */
#define BLOCK 128

/* Cosines and sines of n pairs, or of the channels of n / 2 pairs: then cos holds each cosine
 * twice, sin each sine twice, the first negated. */
typedef struct angles {
    const double *cos, *sin;
    size_t n;
} angles;

/* [a'; b'] = [cos -sin; sin cos] [a; b], all first channels in a row and all second. */
PE_INLINE pe_vd rotate_halves(pe_dtype dtype, angles by, pe_halves at, pe_vd watch)
{
    size_t i = 0;
    for (; i + PE_LANES <= by.n; i += PE_LANES) {
        const pe_vd c = pe_load_d(by.cos + i), s = pe_load_d(by.sin + i);
        const pe_vd x = pe_load_wide(dtype, at.a, i), y = pe_load_wide(dtype, at.b, i);
        const pe_vd first = x * c - y * s, second = y * c + x * s;
        pe_store_wide(dtype, first, at.a_out, i);
        pe_store_wide(dtype, second, at.b_out, i);
        watch = pe_watch(watch, first, second);
    }
    for (; i < by.n; i++) {
        const double x = pe_load(dtype, at.a, i), y = pe_load(dtype, at.b, i);
        pe_store(dtype, x * by.cos[i] - y * by.sin[i], at.a_out, i);
        pe_store(dtype, y * by.cos[i] + x * by.sin[i], at.b_out, i);
    }
    return watch;
}

/* The same for pairs side by side. */
PE_INLINE pe_vd rotate_neighbours(pe_dtype dtype, angles by, const void *x, void *out, pe_vd watch)
{
    const double *cos = by.cos, *sin = by.sin;
    size_t j = 0;
    for (; j + 2 * PE_LANES <= by.n; j += 2 * PE_LANES) {
        const size_t k = j + PE_LANES;
        const pe_vd v = pe_load_wide(dtype, x, j), w = pe_load_wide(dtype, x, k);
        const pe_vd first = v * pe_load_d(cos + j) + pe_swap_pairs(v) * pe_load_d(sin + j);
        const pe_vd second = w * pe_load_d(cos + k) + pe_swap_pairs(w) * pe_load_d(sin + k);
        pe_store_wide(dtype, first, out, j);
        pe_store_wide(dtype, second, out, k);
        watch = pe_watch(watch, first, second);
    }
    for (; j < by.n; j += 2) {
        const double a = pe_load(dtype, x, j), b = pe_load(dtype, x, j + 1);
        pe_store(dtype, a * cos[j] + b * sin[j], out, j);
        pe_store(dtype, b * cos[j + 1] + a * sin[j + 1], out, j + 1);
    }
    return watch;
}

static void spread(const double *cos, const double *sin, size_t pairs, double *cos2, double *sin2)
{
    for (size_t i = 0; i < pairs; i++) {
        cos2[2 * i] = cos2[2 * i + 1] = cos[i];
        sin2[2 * i] = -sin[i];
        sin2[2 * i + 1] = sin[i];
    }
}

/* Pairs (i, i + pairs). Whether any result may be NaN. */
PE_INLINE bool wide_halves(pe_dtype dtype, const pe_vectors *v, const double *cos,
                           const double *sin)
{
    const size_t half = v->pairs * pe_dtype_bytes(dtype);
    const angles by = {cos, sin, v->pairs};
    pe_vd watch = pe_all(0);
    for (size_t r = 0; r < v->count; r++)
        watch = rotate_halves(dtype, by, pe_halves_of(v, half, r, 0), watch);
    return pe_spoiled(watch);
}

static bool halves(pe_dtype dtype, const pe_vectors *v, const double *cos, const double *sin)
{
    return dtype == PE_FLOAT32 ? wide_halves(PE_FLOAT32, v, cos, sin)
                               : wide_halves(PE_FLOAT64, v, cos, sin);
}

PE_INLINE bool wide_neighbours(pe_dtype dtype, const pe_vectors *v, const double *cos2,
                               const double *sin2)
{
    pe_vd watch = pe_all(0);
    for (size_t r = 0; r < v->count; r++) {
        const angles by = {cos2, sin2, 2 * v->pairs};
        watch = rotate_neighbours(dtype, by, v->x + r * v->row, v->out + r * v->row, watch);
    }
    return pe_spoiled(watch);
}

/* Pairs (2i, 2i + 1), at most BLOCK of them: the angles are spread once for all vectors. */
static bool neighbours(pe_dtype dtype, const pe_vectors *v, const double *cos, const double *sin)
{
    _Alignas(64) double cos2[2 * BLOCK], sin2[2 * BLOCK];
    spread(cos, sin, v->pairs, cos2, sin2);
    return dtype == PE_FLOAT32 ? wide_neighbours(PE_FLOAT32, v, cos2, sin2)
                               : wide_neighbours(PE_FLOAT64, v, cos2, sin2);
}

static bool interleaved(pe_dtype dtype, const pe_vectors *v, const double *cos, const double *sin)
{
    bool spoiled = false;
    for (size_t i = 0; i < v->pairs; i += BLOCK) {
        const size_t at = 2 * i * pe_dtype_bytes(dtype);
        const pe_vectors some = {.pairs = v->pairs - i < BLOCK ? v->pairs - i : BLOCK,
                                 .count = v->count,
                                 .row = v->row,
                                 .x = v->x + at,
                                 .out = v->out + at};
        spoiled |= neighbours(dtype, &some, cos + i, sin + i);
    }
    return spoiled;
}

void PE_LEVEL_NAME(pe_rotate)(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                              const double *sin, size_t count, size_t stride, const void *x,
                              void *out)
{
    const pe_vectors v = {pairs, count, stride * pe_dtype_bytes(dtype), x, out};
    if (dtype == PE_FLOAT16 || dtype == PE_BFLOAT16) {
        PE_LEVEL_NAME(pe_rotate_narrow)(dtype, pairing, &v, cos, sin);
        return;
    }
    const bool spoiled = pairing == PE_PAIRING_INTERLEAVED ? interleaved(dtype, &v, cos, sin)
                                                           : halves(dtype, &v, cos, sin);
    for (size_t r = 0; spoiled && r < count; r++)
        PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, v.out + r * v.row, 2 * pairs);
}
