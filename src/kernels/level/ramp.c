/* SPDX-License-Identifier: MIT */
/* ramp.c - multiples of one number at equally spaced integers, correctly rounded. */
#include "kernels/level/narrow.h"
#include "kernels/level/wide.h"

#define BLOCK 512
#define CHUNK 32 /* whole vectors of floats of every level, two by two */

/* hi*k - p for p = hi*k rounded: exactly, by either way, for 2^-900 < |hi| < 2^900. */
PE_INLINE double product_rest(double hi, double k, double p)
{
#if PE_LEVEL_FMA
    return __builtin_fma(hi, k, -p);
#else
    /* Dekker 1971: halves of 26 bits, whose products are exact. */
    const double h = hi * 0x1.0000002p27, l = k * 0x1.0000002p27;
    const double h1 = h - (h - hi), h2 = hi - h1;
    const double k1 = l - (l - k), k2 = k - k1;
    return h2 * k2 - (((p - h1 * k1) - h2 * k1) - h1 * k2);
#endif
}

/* s + rest, cut to a double whose last bit says whether anything was cut off: rounding it further
 * gives what rounding the sum would. |rest| < ulp(s). */
PE_INLINE double round_to_odd(double s, double rest)
{
    const uint64_t bits = pe_bits_of(s);
    const uint64_t inwards = (bits ^ pe_bits_of(rest)) >> 63; /* 1 where the signs differ */
    const uint64_t step = rest != 0 ? 1 - 2 * inwards : 0;
    return pe_double_of((bits & 1) != 0 ? bits : bits + step);
}

/* Bits of a double's fraction beyond the type's (of a double, which needs no test, any); its least
 * normal; the most that rounds to zero: half of the least subnormal, where the tie goes to even. */
static const struct type {
    int beyond;
    double least, zero;
} types[PE_DTYPES] = {[PE_FLOAT32] = {29, 0x1p-126, 0x1p-150},
                      [PE_FLOAT64] = {1, 0, 0},
                      [PE_FLOAT16] = {42, 0x1p-14, 0x1p-25},
                      [PE_BFLOAT16] = {45, 0x1p-126, 0x1p-134}};

/* Products m*k, k = base + j*step, 0 <= j < n. */
typedef struct products {
    double hi, lo; /* m */
    double base, step;
    size_t n;
} products;

/* The largest |k|, or more. */
static double most_of(const products *of)
{
    const double last = of->base + (double)of->n * of->step;
    return pe_abs(of->base) > pe_abs(last) ? pe_abs(of->base) : pe_abs(last);
}

/* Is hi the whole of m, and does a double hold each product to the last bit and `spare` times that,
 * as with ALiBi's slopes of 1/2, 1/4, ...? */
static bool is_whole(const products *of, double spare)
{
    const uint64_t fraction = pe_bits_of(of->hi) & ((1ULL << 52) - 1);
    const int zeros = fraction == 0 ? 52 : __builtin_ctzll(fraction);
    return of->lo == 0 && most_of(of) * spare <= (double)(1ULL << zeros);
}

/* ---- surely: by vectors, where all of them round as m*k does ---- */

/* Where the product v lies; a bfloat16 is rounded with ties away, so the whole one gets what makes
 * it even. */
PE_INLINE pe_interval around(pe_dtype dtype, bool whole, pe_vi v)
{
    const pe_vi even = dtype == PE_FLOAT16 ? v : v + (v >> 16 & 1) - 1;
    return whole ? (pe_interval){(pe_vf)even, (pe_vf)even}
                 : (pe_interval){(pe_vf)(v - 3), (pe_vf)(v + 3)};
}

/*
 * Chunks of CHUNK products to float16 or bfloat16, until floats do not tell; returns how many
 * products. They tell where a float holds each to the last bit (whole). Else m and the product are
 * rounded: that makes less than 2.1 places, and v 3 places down and up must round to the same. All
 * levels decide alike.
 */
PE_INLINE size_t by_floats(pe_dtype dtype, bool whole, const products *of, pe_u16_at *out)
{
    const pe_vf m = pe_all_f((float)of->hi), stride = pe_all_f(PE_FLOAT_LANES * (float)of->step);
    pe_vf k = pe_all_f((float)of->base);
    size_t j = 0;
    for (int i = 0; i < PE_FLOAT_LANES; i++)
        k[i] += (float)i * (float)of->step;
    for (; j + CHUNK <= of->n; j += CHUNK) {
        bool told = true;
        for (size_t c = 0; c < CHUNK; c += 2 * PE_FLOAT_LANES, k += 2 * stride) {
            const pe_vi v = (pe_vi)(m * k + 0.0F), w = (pe_vi)(m * (k + stride) + 0.0F);
            pe_u16_at *to = out + j + c;
            told &= pe_put_between(dtype, around(dtype, whole, v), around(dtype, whole, w), to,
                                   to + PE_FLOAT_LANES);
        }
        if (!told)
            break;
    }
    return j;
}

static size_t narrow_chunks(pe_dtype dtype, const products *of, void *out)
{
    const double most = most_of(of), size = pe_abs(of->hi);
    const bool whole = is_whole(of, 0x1p29);
    if (!pe_is_narrow(dtype) || most > 0x1p24 || size < 2 * types[dtype].least || size > 0x1p100)
        return 0;
    if (dtype == PE_FLOAT16)
        return whole ? by_floats(PE_FLOAT16, true, of, out) : by_floats(PE_FLOAT16, false, of, out);
    return whole ? by_floats(PE_BFLOAT16, true, of, out) : by_floats(PE_BFLOAT16, false, of, out);
}

/* k of the first vector. */
PE_INLINE pe_vd first_of(const products *of)
{
    pe_vd k = pe_all(of->base);
    for (int i = 0; i < PE_LANES; i++)
        k[i] += i * of->step;
    return k;
}

/*
 * v[j] = hi*k if all of them surely round to the type as m*k does; else false. They do when they
 * are m*k (whole). What hi leaves of m and the rounding of the product make 2^-52 of it, two last
 * places: so the bits beyond the type must be more than that from a midpoint (1000...). |hi| is the
 * least product but zero; all must be normal numbers of the type.
 *
 * n, at most BLOCK, is taken up to whole vectors of every level, so that all levels decide alike.
 */
PE_INLINE bool by_products(const struct type *type, bool whole, const products *of, double *v)
{
    const uint64_t mask = (1ULL << type->beyond) - 1, low = (1ULL << (type->beyond - 1)) - 4;
    const size_t padded = (of->n + 7) & ~(size_t)7;
    pe_vd k = first_of(of);
    pe_vu open = pe_all_u(0);
    if (pe_abs(of->hi) < 2 * type->least)
        return false;
    for (size_t j = 0; j < padded; j += PE_LANES, k += PE_LANES * of->step) {
        const pe_vd p = of->hi * k + 0.0;      /* no -0 */
        open |= (((pe_vu)p - low) & mask) - 9; /* below zero within 4 of the midpoint */
        pe_store_d(v + j, p);
    }
    return whole || !pe_any_top_bit(open);
}

/* hi*k - p for p = hi*k rounded. */
PE_INLINE pe_vd rests(pe_vd hi, pe_vd k, pe_vd p)
{
#if PE_LANES > 2
    return pe_fma(hi, k, -p);
#else
    return (pe_vd){product_rest(hi[0], k[0], p[0]), product_rest(hi[1], k[1], p[1])};
#endif
}

/* v[j] = m*k rounded to double, if that is proven of all as one_by_one proves it; else false. */
PE_INLINE bool by_sums(const products *of, double *v)
{
    const size_t padded = (of->n + 7) & ~(size_t)7;
    const pe_vd hi = pe_all(of->hi);
    pe_vd k = first_of(of);
    pe_vu open = pe_all_u(0);
    for (size_t j = 0; j < padded; j += PE_LANES, k += PE_LANES * of->step) {
        const pe_vd p = hi * k, t = rests(hi, k, p) + of->lo * k, s = p + t;
        const pe_vd rest = t - (s - p), err = p * 0x1p-100;
        open |= (pe_vu)(s + (rest + err)) ^ (pe_vu)(s + (rest - err));
        pe_store_d(v + j, s + 0.0);
    }
    return !pe_any_top_bit(open | (0 - open));
}

/*
 * Doubles v[j] that round to dtype as m*k does; those where that is not proven are listed as first
 * + j. p + t is m*k within err: 2^-106 |p| from the bits of m beyond lo, 2^-106 and 2^-105 from the
 * roundings of lo*k and t.
 */
static size_t one_by_one(pe_dtype dtype, const products *of, double *v, size_t first,
                         uint32_t *doubtful)
{
    const bool wide = dtype == PE_FLOAT64;
    size_t listed = 0;
    for (size_t j = 0; j < of->n; j++) {
        const double k = of->base + (double)(int32_t)j * of->step;
        const double p = of->hi * k;
        const double t = product_rest(of->hi, k, p) + of->lo * k;
        const double s = p + t;
        const double rest = t - (s - p);
        const double err = pe_abs(p) * 0x1p-100;
        /* Rounded to double, the sum must be s whatever the error; rounded to less, only the side
         * of s it lies on matters. */
        const bool open = wide ? s + (rest + err) != s + (rest - err) : pe_abs(rest) < err;
        if (open && of->lo != 0)
            doubtful[listed++] = (uint32_t)(first + j);
        v[j] = wide ? s : round_to_odd(s, rest);
        if (pe_abs(v[j]) <= types[dtype].zero)
            v[j] = 0; /* a zero that it may round to has no sign */
    }
    return listed;
}

size_t PE_LEVEL_NAME(pe_ramp)(pe_dtype dtype, double hi, double lo, int64_t first, int64_t step,
                              size_t n, void *out, uint32_t *doubtful)
{
    assert(n <= UINT32_MAX && (hi == 0 || (pe_abs(hi) > 0x1p-900 && pe_abs(hi) < 0x1p900)));
    /* Within a block j*step must be an exact double. */
    const size_t small = pe_is_narrow(dtype) ? CHUNK : BLOCK;
    const size_t block = step > -(1LL << 46) && step < 1LL << 46 ? small : 1;
    products of = {hi, lo, 0, (double)step, 0};
    _Alignas(64) double v[BLOCK];
    size_t listed = 0;
    for (size_t j = 0; j < n; j += of.n) {
        char *to = (char *)out + j * pe_dtype_bytes(dtype);
        of.base = (double)(first + (int64_t)j * step);
        of.n = n - j;
        const size_t told = narrow_chunks(dtype, &of, to);
        of.n = told != 0 ? told : of.n < block ? of.n : block;
        if (told != 0)
            continue;
        const bool wide = dtype == PE_FLOAT64, whole = lo == 0 && (wide || is_whole(&of, 1));
        const bool sure =
            wide && !whole ? by_sums(&of, v) : by_products(&types[dtype], whole, &of, v);
        if (!sure)
            listed += one_by_one(dtype, &of, v, j, doubtful + listed);
        PE_LEVEL_NAME(pe_convert_narrow)(dtype, v, of.n, to);
    }
    return listed;
}
