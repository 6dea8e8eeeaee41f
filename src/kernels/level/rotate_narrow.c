/* SPDX-License-Identifier: MIT */
/* rotate_narrow.c - pairs of 16-bit channels turned by given angles. */
#include "kernels/level/emit.h"
#include "kernels/level/half_lanes.h"
#include "kernels/level/element.h"
#include "kernels/level/narrow.h"
#include "kernels/level/rotate.h"
#include "kernels/level/wide.h"

/*
 * What is wanted is d = a*c - b*s in double, rounded once to 8 or 11 bits. Nearly always floats
 * tell it: with cosines and sines rounded to float and at most three more roundings,
 *
 *     v = r(r(a*c') - r(b*s')),    |v - d| < 3.01 * 2^-24 * S * M,    S = |a| + |b|,  M >= |c|, |s|
 *
 * (and less where a product is not rounded, or with b*c + a*s). So with an e of 4.1 * 2^-24 * S * M,
 * which makes up for its own rounding and those of v - e and v + e, d lies strictly between these;
 * if both round to the same, so does d, whatever ties do. That leaves 1 in 2^12 or 2^9 elements
 * (with as much of S as of v) to doubles: the group of pairs that they are in.
 *
 * Bounds. M is from 2^-10 to 2^60, or all goes by doubles. m = S * 2M is infinite before a product
 * can be; then v - e and v + e differ, or are NaN. Where the elements are so small that products
 * lose bits (below 2^-126, by less than 2^-148), adding min(m, 2^-126) to e makes up for it:
 * an m that is not zero is at least 2^-133 * 2M. Where m is zero, v is the zero that d is, and
 * adding -0 or taking away +0 leaves it alone.
 */
#define BLOCK  128 /* pairs at a time: what is made of their angles stays in the nearest cache */
#define E_OF_M 0x1.07p-23F /* e / m */

/* cos and sin of at most BLOCK pairs: as they were, and as floats (those of whole vectors). Half:
 * the cosines, and the sines. Interleaved: each twice, the first sine negated. */
typedef struct angles {
    _Alignas(64) float cos[2 * BLOCK];
    float sin[2 * BLOCK];
    const double *wide_cos, *wide_sin;
    size_t pairs, by_floats; /* how many of the pairs floats may do */
    float twice_most;        /* 2M */
} angles;

/* 2M from the upper halves of magnitudes, reduced to the largest per lane; NaN is beyond all. */
static float twice_most_of(pe_vi sizes)
{
    uint32_t lane[PE_FLOAT_LANES], most = 0;
    memcpy(lane, &sizes, sizeof lane);
    for (int k = 1; k < PE_FLOAT_LANES; k += 2)
        most = lane[k] > most ? lane[k] : most;
    const double size = pe_double_of((uint64_t)(most + 1) << 32);
    return size >= 0x1p-10 && size <= 0x1p60 ? (float)(2 * size) * (1 + 0x1p-22F) : 0;
}

static void set_angles(pe_pairing pairing, const double *cos, const double *sin, size_t pairs,
                       angles *at)
{
    const pe_vu size = pe_all_u(INT64_MAX);
    const pe_rounding_margin any = {0, 0};
    pe_vi most = {0};
    at->wide_cos = cos;
    at->wide_sin = sin;
    at->pairs = pairs;
    at->by_floats = pairs - pairs % PE_FLOAT_LANES;
    for (size_t i = 0; i < at->by_floats; i += PE_LANES) {
        const pe_vd c = pe_load_d(cos + i), s = pe_load_d(sin + i);
        most = pe_max_i(most, pe_max_i((pe_vi)((pe_vu)c & size), (pe_vi)((pe_vu)s & size)));
        if (pairing == PE_PAIRING_HALF) {
            pe_store_floats(at->cos + i, c);
            pe_store_floats(at->sin + i, s);
        } else {
            const pe_row_kind turns = {PE_FLOAT32, PE_ROW_INTERLEAVED, false};
            (void)pe_emit(turns, &any, c, c, (pe_spot){at->cos + 2 * i, NULL});
            (void)pe_emit(turns, &any, -s, s, (pe_spot){at->sin + 2 * i, NULL});
        }
    }
    at->twice_most = twice_most_of(most);
    if (at->twice_most == 0)
        at->by_floats = 0;
}

/* ---- by doubles ----------------------------------------------------------------------------- */

/* Pairs from i on, at most BLOCK: (i, i + pairs) if b is not NULL. Narrowing tells NaN too. */
static void by_doubles(pe_dtype dtype, const angles *at, size_t i, pe_halves to)
{
    const bool far = to.b != NULL;
    const size_t n = at->pairs - i, some = far ? n : 2 * n;
    double wide[2 * BLOCK];
    PE_LEVEL_NAME(pe_convert_widen)(dtype, to.a, some, wide);
    if (far)
        PE_LEVEL_NAME(pe_convert_widen)(dtype, to.b, n, wide + n);
    PE_LEVEL_NAME(pe_rotate)
    (PE_FLOAT64, far ? PE_PAIRING_HALF : PE_PAIRING_INTERLEAVED, n, at->wide_cos + i,
     at->wide_sin + i, 1, 2 * n, wide, wide);
    PE_LEVEL_NAME(pe_convert_narrow)(dtype, wide, some, to.a_out);
    if (far)
        PE_LEVEL_NAME(pe_convert_narrow)(dtype, wide + n, n, to.b_out);
}

PE_INLINE pe_halves halves_after(pe_halves at, size_t bytes)
{
    return (pe_halves){at.a + bytes, at.b + bytes, at.a_out + bytes, at.b_out + bytes};
}

/* The same for a vector of floats' pairs; NaN of any kind for NaN. */
PE_INLINE void settle_halves(pe_dtype dtype, const angles *at, size_t i, pe_halves to)
{
    const size_t bytes = PE_LANES * sizeof(uint16_t);
    const pe_two x = pe_load_two(dtype, to.a, 0), y = pe_load_two(dtype, to.b, 0);
    const pe_two c = pe_load_two(PE_FLOAT64, at->wide_cos, i);
    const pe_two s = pe_load_two(PE_FLOAT64, at->wide_sin, i);
    pe_store_16(dtype, x.first * c.first - y.first * s.first, to.a_out);
    pe_store_16(dtype, x.second * c.second - y.second * s.second, to.a_out + bytes);
    pe_store_16(dtype, y.first * c.first + x.first * s.first, to.b_out);
    pe_store_16(dtype, y.second * c.second + x.second * s.second, to.b_out + bytes);
}

/* ---- by floats ------------------------------------------------------------------------------ */

/* How far v may be from the double, as an e to take away and one to add. */
typedef struct margin {
    pe_vf minus, plus;
} margin;

PE_INLINE margin margin_of(pe_dtype dtype, pe_vf a, pe_vf b, pe_vf twice_most)
{
    const pe_vf m = (pe_size_f(a) + pe_size_f(b)) * twice_most, part = pe_all_f(E_OF_M);
    const pe_vf e =
        dtype == PE_FLOAT16 ? m * part : pe_fma_f(m, part, pe_min_f(m, pe_all_f(0x1p-126F)));
    return (margin){e, pe_max_f(e, pe_all_f(-0.0F))};
}

PE_INLINE pe_interval within(pe_vf v, margin e)
{
    return (pe_interval){v - e.minus, v + e.plus};
}

/* Returns whether there may be a NaN. */
PE_INLINE bool rotate_halves(pe_dtype dtype, const angles *at, pe_halves of)
{
    const pe_vf twice_most = pe_all_f(at->twice_most);
    pe_vf watch = {0};
    size_t i = 0, k = 0; /* a pair, and where its bytes are */
    for (; i < at->by_floats; i += PE_FLOAT_LANES, k = i * sizeof(uint16_t)) {
        const pe_vf x = pe_load_narrow(dtype, of.a + k), y = pe_load_narrow(dtype, of.b + k);
        const pe_vf c = pe_load_f(at->cos + i), s = pe_load_f(at->sin + i);
        const pe_vf first = pe_fms_f(x, c, y * s), second = pe_fma_f(y, c, x * s);
        const margin e = margin_of(dtype, x, y, twice_most);
        watch = pe_fma_f(first, second, watch);
        if (!pe_put_between(dtype, within(first, e), within(second, e), of.a_out + k, of.b_out + k))
            settle_halves(dtype, at, i, halves_after(of, k));
    }
    if (i < at->pairs)
        by_doubles(dtype, at, i, halves_after(of, k));
    return pe_any_nan(watch);
}

PE_INLINE pe_vf swapped(pe_vf x)
{
#if PE_LANES == 8
    return (pe_vf)_mm512_permute_ps((__m512)x, 0xb1);
#elif PE_LANES == 4
    return (pe_vf)_mm256_permute_ps((__m256)x, 0xb1);
#else
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
#endif
}

PE_INLINE void settle_neighbours(pe_dtype dtype, const angles *at, size_t i, const char *x,
                                 char *out)
{
    double cos[2 * PE_FLOAT_LANES], sin[2 * PE_FLOAT_LANES];
    for (size_t k = 0; k < PE_FLOAT_LANES; k++) {
        cos[2 * k] = cos[2 * k + 1] = at->wide_cos[i + k];
        sin[2 * k] = -at->wide_sin[i + k];
        sin[2 * k + 1] = at->wide_sin[i + k];
    }
    double wide[2 * PE_FLOAT_LANES];
    PE_LEVEL_NAME(pe_convert_widen)(dtype, x, 2 * PE_FLOAT_LANES, wide);
    for (size_t j = 0; j < 2 * PE_FLOAT_LANES; j += PE_LANES) {
        const pe_vd v = pe_load_d(wide + j);
        const pe_vd turned = v * pe_load_d(cos + j) + pe_swap_pairs(v) * pe_load_d(sin + j);
        pe_store_16(dtype, turned, out + j * sizeof(uint16_t));
    }
}

PE_INLINE bool rotate_neighbours(pe_dtype dtype, const angles *at, const char *x, char *out)
{
    enum { STEP = PE_FLOAT_LANES, BYTES = STEP * sizeof(uint16_t) };
    const pe_vf twice_most = pe_all_f(at->twice_most);
    pe_vf watch = {0};
    size_t i = 0, k = 0; /* a pair, and where its bytes are */
    for (; i < at->by_floats; i += STEP, k += 2 * BYTES) {
        const pe_vf v = pe_load_narrow(dtype, x + k), w = pe_load_narrow(dtype, x + k + BYTES);
        const pe_vf v_other = swapped(v), w_other = swapped(w);
        const float *cos = at->cos + 2 * i, *sin = at->sin + 2 * i;
        const pe_vf first = pe_fma_f(v, pe_load_f(cos), v_other * pe_load_f(sin));
        const pe_vf second = pe_fma_f(w, pe_load_f(cos + STEP), w_other * pe_load_f(sin + STEP));
        const margin e = margin_of(dtype, v, v_other, twice_most);
        const margin f = margin_of(dtype, w, w_other, twice_most);
        watch = pe_fma_f(first, second, watch);
        if (!pe_put_between(dtype, within(first, e), within(second, f), out + k, out + k + BYTES))
            settle_neighbours(dtype, at, i, x + k, out + k);
    }
    if (i < at->pairs)
        by_doubles(dtype, at, i, (pe_halves){x + k, NULL, out + k, NULL});
    return pe_any_nan(watch);
}

/* ---- all vectors ---------------------------------------------------------------------------- */

/* Pairs [i, i + n) of all vectors, whose angles are given. */
PE_INLINE void rotate_block(pe_dtype dtype, pe_pairing pairing, const pe_vectors *v,
                            const angles *at, size_t i)
{
    const bool far = pairing == PE_PAIRING_HALF;
    const size_t half = v->pairs * sizeof(uint16_t), k = (far ? i : 2 * i) * sizeof(uint16_t);
    for (size_t r = 0; r < v->count; r++) {
        const pe_halves of = pe_halves_of(v, half, r, k);
        if (far && rotate_halves(dtype, at, of)) {
            PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, of.a_out, at->pairs);
            PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, of.b_out, at->pairs);
        }
        if (!far && rotate_neighbours(dtype, at, of.a, of.a_out))
            PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, of.a_out, 2 * at->pairs);
    }
}

void PE_LEVEL_NAME(pe_rotate_narrow)(pe_dtype dtype, pe_pairing pairing, const pe_vectors *v,
                                     const double *cos, const double *sin)
{
    angles at;
    for (size_t i = 0, n; i < v->pairs; i += n) {
        n = v->pairs - i < BLOCK ? v->pairs - i : BLOCK;
        set_angles(pairing, cos + i, sin + i, n, &at);
        if (dtype == PE_FLOAT16)
            rotate_block(PE_FLOAT16, pairing, v, &at, i);
        else
            rotate_block(PE_BFLOAT16, pairing, v, &at, i);
    }
}
