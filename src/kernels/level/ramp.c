/* SPDX-License-Identifier: MIT */
/* ramp.c - multiples of one number at equally spaced integers, correctly rounded. */
#include "kernels/level/half.h"
#include "kernels/level/wide.h"

#define BLOCK 512

/* Numbers up to this round to zero: half of the smallest subnormal, where the tie goes to even. */
static const double rounds_to_zero[PE_DTYPES] = {
    [PE_FLOAT32] = 0x1p-150, [PE_FLOAT64] = 0, [PE_FLOAT16] = 0x1p-25, [PE_BFLOAT16] = 0x1p-134};

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

/* The zero that a result may round to has no sign. */
PE_INLINE double unsigned_zero(double v, double bound)
{
    return pe_abs(v) <= bound ? 0 : v;
}

/* The types narrower than double: bits of a double's fraction beyond theirs, least normal. */
static const struct narrow_type {
    int beyond;
    double least;
} narrow_types[PE_DTYPES] = {
    [PE_FLOAT32] = {29, 0x1p-126}, [PE_FLOAT16] = {42, 0x1p-14}, [PE_BFLOAT16] = {45, 0x1p-126}};

/* Products m*k, k = base + j*step, 0 <= j < n <= BLOCK. */
typedef struct products {
    double hi, lo; /* m */
    double base, step;
    size_t n;
} products;

/* How they are rounded: to double (wide) or less; what is at most `bound` in size to zero. */
typedef struct rounding {
    bool wide;
    double bound;
} rounding;

/* Does a double hold each product hi*k to the last bit, as with ALiBi's slopes of 1/2, 1/4, ...? */
static bool are_whole(const products *of)
{
    const double last = of->base + (double)of->n * of->step;
    const double most = pe_abs(of->base) > pe_abs(last) ? pe_abs(of->base) : pe_abs(last);
    const uint64_t fraction = pe_bits_of(of->hi) & ((1ULL << 52) - 1);
    return most <= (double)(1ULL << (fraction == 0 ? 52 : __builtin_ctzll(fraction)));
}

/*
 * v[j] = hi*k if all of them surely round to a narrower type as m*k does; else false. They do when
 * they are m*k (whole). What hi leaves of m and the rounding of the product make 2^-52 of it, two
 * last places: so the bits beyond the type must be more than that from a midpoint (1000...). |hi|
 * is the least product but zero; all must be normal numbers of the type.
 *
 * n is taken up to whole vectors of every level, so that all levels decide alike.
 */
PE_INLINE bool near_block(const struct narrow_type *type, bool whole, const products *of, double *v)
{
    const uint64_t mask = (1ULL << type->beyond) - 1, low = (1ULL << (type->beyond - 1)) - 4;
    const double hi = of->hi, step = of->step;
    const size_t padded = (of->n + 7) & ~(size_t)7;
    pe_vd k = pe_all(of->base);
    pe_vu open = pe_all_u(0);
    if (pe_abs(hi) < 2 * type->least)
        return false;
    for (int i = 0; i < PE_LANES; i++)
        k[i] += i * step;
    for (size_t j = 0; j < padded; j += PE_LANES) {
        const pe_vd p = hi * k + 0.0;          /* no -0 */
        open |= (((pe_vu)p - low) & mask) - 9; /* below zero within 4 of the midpoint */
        pe_store_d(v + j, p);
        k += PE_LANES * step;
    }
    return whole || !pe_any_top_bit(open);
}

/* Doubles v[j] that round to dtype as hi*k does; hi is the whole of m. */
PE_INLINE void exact_block(rounding to, const products *of, double *v)
{
    const double hi = of->hi, base = of->base, step = of->step;
    const size_t n = of->n;
    for (size_t j = 0; j < n; j++) {
        const double k = base + (double)(int32_t)j * step;
        const double p = hi * k;
        v[j] = unsigned_zero(to.wide ? p : round_to_odd(p, product_rest(hi, k, p)), to.bound);
    }
}

/*
 * The same for m = hi + lo; doubt[j] tells where that is not proven. p + t is m*k within err:
 * 2^-106 |p| from the bits of m beyond lo, 2^-106 and 2^-105 from the roundings of lo*k and t.
 */
PE_INLINE void pair_block(rounding to, const products *of, double *v, uint64_t *doubt)
{
    const double hi = of->hi, lo = of->lo, base = of->base, step = of->step;
    const size_t n = of->n;
    for (size_t j = 0; j < n; j++) {
        const double k = base + (double)(int32_t)j * step;
        const double p = hi * k;
        const double t = product_rest(hi, k, p) + lo * k;
        const double s = p + t;
        const double rest = t - (s - p);
        const double err = pe_abs(p) * 0x1p-100;
        /* Rounded to double, the sum must be s whatever the error; rounded to less, only the side
         * of s it lies on matters. */
        const bool open =
            to.wide ? (s + (rest + err) != s || s + (rest - err) != s) : pe_abs(rest) < err;
        doubt[j] = open;
        v[j] = unsigned_zero(to.wide ? s : round_to_odd(s, rest), to.bound);
    }
}

static size_t list_doubts(const uint64_t *doubt, size_t first, size_t n, uint32_t *out)
{
    uint64_t any = 0;
    for (size_t j = 0; j < n; j++)
        any |= doubt[j];
    size_t listed = 0;
    for (size_t j = 0; any && j < n; j++)
        if (doubt[j])
            out[listed++] = (uint32_t)(first + j);
    return listed;
}

/* Doubles v[j] that round to dtype as m*k does, the doubts listed as first + j. */
static size_t careful_block(rounding to, const products *of, double *v, size_t first,
                            uint32_t *doubtful)
{
    const rounding wide = {true, to.bound}, narrow = {false, to.bound};
    uint64_t doubt[BLOCK];
    if (of->lo == 0) {
        if (to.wide)
            exact_block(wide, of, v);
        else
            exact_block(narrow, of, v);
        return 0;
    }
    if (to.wide)
        pair_block(wide, of, v, doubt);
    else
        pair_block(narrow, of, v, doubt);
    return list_doubts(doubt, first, of->n, doubtful);
}

size_t PE_LEVEL_NAME(pe_ramp)(pe_dtype dtype, double hi, double lo, int64_t first, int64_t step,
                              size_t n, void *out, uint32_t *doubtful)
{
    assert(n <= UINT32_MAX && (hi == 0 || (pe_abs(hi) > 0x1p-900 && pe_abs(hi) < 0x1p900)));
    /* Within a block j*step must be an exact double. */
    const size_t block = step > -(1LL << 46) && step < 1LL << 46 ? BLOCK : 1;
    const rounding to = {dtype == PE_FLOAT64, rounds_to_zero[dtype]};
    products of = {hi, lo, 0, (double)step, 0};
    _Alignas(64) double v[BLOCK];
    size_t listed = 0;
    for (size_t j = 0; j < n; j += block) {
        of.n = n - j < block ? n - j : block;
        of.base = (double)(first + (int64_t)j * step);
        if (to.wide || !near_block(&narrow_types[dtype], lo == 0 && are_whole(&of), &of, v))
            listed += careful_block(to, &of, v, j, doubtful + listed);
        PE_LEVEL_NAME(pe_convert_narrow)(dtype, v, of.n, (char *)out + j * pe_dtype_bytes(dtype));
    }
    return listed;
}
