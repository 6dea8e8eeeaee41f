/* SPDX-License-Identifier: MIT */
/* wide.c - blocks of narrow floats to text by AVX-512 with byte compression (VBMI2). */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "text/blocks.h"
#include "text/grid.h"
#include "text/number.h"

#define WIDE                                                                                       \
    __attribute__((target("avx2,bmi,bmi2,fma,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,"         \
                          "avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))

/*
 * Each number is laid out in a slot of 16 bytes,
 *
 *     -0.000123456789,    or, in class 0 (magnitudes from 1 up),    -1.000123456789,
 *
 * of which one bit per byte says what to keep: the sign; byte 1; the point, unless no digit
 * follows; as many zeros as the class has; the first digit in byte 6, unless byte 1 has it; the
 * other digits up to the last that is not zero; the separator.
 */
#define SLOT      16
#define SEPARATOR 0x8000

/* What a class may keep, sign apart: classes 1 to 4 have one zero less after the point. */
static const uint64_t kept[8] = {0xff86, 0xffc6, 0xffce, 0xffde, 0xfffe};

/* Bytes of two vectors of eight: other digits are 0..63, first digits 64 on; lanes of F are
 * {first digit, first digit in class 0, 0, ...}. */
#define Z 66
#define LANE(d, f)                                                                                 \
    Z + 8 * f, 65 + 8 * f, Z, Z, Z, Z, 64 + 8 * f, d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6,    \
        d + 7, Z
static const uint8_t spread[2][64] = {
    {LANE(0, 0), LANE(8, 1), LANE(16, 2), LANE(24, 3)},
    {LANE(32, 4), LANE(40, 5), LANE(48, 6), LANE(56, 7)},
};

typedef struct octet {
    __m512i slots[2];
    __m128i masks; /* 16 bits for each slot */
    __mmask8 good; /* the others are for the general path */
} octet;

/* Constants that live in registers for a whole run. */
typedef struct constants {
    __m512d scale, reach; /* by class: the power of ten; the same times half */
    __m512d lift;
    __m512i template;
} constants;

WIDE static inline __m256 load_octet(pe_dtype dtype, const void *in, __mmask8 some)
{
    if (dtype == PE_FLOAT32)
        return _mm256_maskz_loadu_ps(some, in);
    __m128i halves = _mm_maskz_loadu_epi16(some, in);
    if (dtype == PE_FLOAT16)
        return _mm256_cvtph_ps(halves);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

/* r where |10^k * nearest(y / 10^k) - y| < h, else n: the next shorter candidate. */
WIDE static inline __m512d shorter(__m512d n, __m512d y, __m512d h, double tenth, double ten)
{
    __m512d r = _mm512_mul_pd(_mm512_roundscale_pd(_mm512_mul_pd(y, _mm512_set1_pd(tenth)), 8),
                              _mm512_set1_pd(ten));
    __mmask8 near = _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_sub_pd(r, y)), h, _CMP_LT_OQ);
    return _mm512_mask_mov_pd(n, near, r);
}

/* x / d for x below 10^9, by its reciprocal in fixed point. */
WIDE static inline __m512i divide(__m512i x, long long reciprocal, unsigned bits)
{
    return _mm512_srli_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(reciprocal)), bits);
}

WIDE static inline __m512i less(__m512i x, __m512i quotient, long long divisor)
{
    return _mm512_sub_epi64(x, _mm512_mul_epu32(quotient, _mm512_set1_epi64(divisor)));
}

/* Eight digits of numbers below 10^8 as bytes, as pe_digits_split does it. */
WIDE static inline __m512i split(__m512i n)
{
    __m512i high = divide(n, 3518437209, 45); /* 2^45 / 10^4 */
    __m512i fours = _mm512_or_si512(high, _mm512_slli_epi64(less(n, high, 10000), 32));
    __m512i hundreds = _mm512_srli_epi16(_mm512_mulhi_epu16(fours, _mm512_set1_epi16(5243)), 3);
    __m512i units = _mm512_sub_epi16(fours, _mm512_mullo_epi16(hundreds, _mm512_set1_epi16(100)));
    __m512i twos = _mm512_or_si512(hundreds, _mm512_slli_epi32(units, 16));
    __m512i tens = _mm512_mulhi_epu16(twos, _mm512_set1_epi16(6554)); /* 2^16 / 10 */
    units = _mm512_sub_epi16(twos, _mm512_mullo_epi16(tens, _mm512_set1_epi16(10)));
    return _mm512_or_si512(tens, _mm512_slli_epi16(units, 8));
}

WIDE static inline __m512i class_of(__m256 m)
{
    const __m256i one = _mm256_set1_epi32(1);
    __m256i class =
        _mm256_maskz_mov_epi32(_mm256_cmp_ps_mask(m, _mm256_set1_ps(1), _CMP_LT_OQ), one);
    __mmask8 k = _mm256_cmp_ps_mask(m, _mm256_set1_ps(PE_FLOAT_1E_1), _CMP_LT_OQ);
    class = _mm256_mask_add_epi32(class, k, class, one);
    k = _mm256_cmp_ps_mask(m, _mm256_set1_ps(PE_FLOAT_1E_2), _CMP_LT_OQ);
    class = _mm256_mask_add_epi32(class, k, class, one);
    k = _mm256_cmp_ps_mask(m, _mm256_set1_ps(PE_FLOAT_CLASS_4), _CMP_LT_OQ);
    class = _mm256_mask_add_epi32(class, k, class, one);
    k = _mm256_cmp_ps_mask(m, _mm256_setzero_ps(), _CMP_NEQ_UQ); /* zero prints as 1 would */
    return _mm512_cvtepi32_epi64(_mm256_maskz_mov_epi32(k, class));
}

/* Zero, or from 1e-4 up and below 10; but below 1 no power of two. */
WIDE static inline __mmask8 good_ones(__m256 m)
{
    const __m256i fraction = _mm256_set1_epi32(0x7fffff);
    __mmask8 zero = _mm256_cmp_ps_mask(m, _mm256_setzero_ps(), _CMP_EQ_OQ);
    __mmask8 least = _mm256_cmp_ps_mask(m, _mm256_set1_ps(PE_FLOAT_1E_4), _CMP_GE_OQ);
    __mmask8 most = _mm256_cmp_ps_mask(m, _mm256_set1_ps(10), _CMP_LT_OQ);
    __mmask8 ones = _mm256_cmp_ps_mask(m, _mm256_set1_ps(1), _CMP_GE_OQ);
    __mmask8 uneven = _mm256_test_epi32_mask(_mm256_castps_si256(m), fraction);
    return (__mmask8)(zero | (least & most & (ones | uneven)));
}

/* Nine digits of each magnitude as a number; grid.h tells the method. */
WIDE static inline __m512d find_digits(const constants *held, __m256 m, __m512i class)
{
    __m256 power = _mm256_and_ps(m, _mm256_castsi256_ps(_mm256_set1_epi32(0x7f800000)));
    __m512d y = _mm512_mul_pd(_mm512_cvtps_pd(m), _mm512_permutexvar_pd(class, held->scale));
    __m512d h = _mm512_mul_pd(_mm512_cvtps_pd(power), _mm512_permutexvar_pd(class, held->reach));
    __m512d n = _mm512_roundscale_pd(y, 8);
    n = shorter(n, y, h, 0.1, 10);
    n = shorter(n, y, h, 0.01, 100);
    return _mm512_mul_pd(n, held->lift);
}

WIDE static inline octet lay_out(const constants *held, __m256 x)
{
    octet out;
    const __m256 sign_bit = _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MIN));
    __m256 m = _mm256_andnot_ps(sign_bit, x);
    out.good = good_ones(m);
    __m512i class = class_of(m);
    __m512d n = find_digits(held, m, class);

    /* Rounded up to the next decade: 0.01 as float is less, but 0.01 is its text. */
    __mmask8 carry = _mm512_cmp_pd_mask(n, _mm512_set1_pd(1e9), _CMP_GE_OQ);
    class = _mm512_mask_sub_epi64(class, carry, class, _mm512_set1_epi64(1));
    __m512i number = _mm512_cvtpd_epu64(_mm512_mask_mov_pd(n, carry, _mm512_set1_pd(1e8)));

    __m512i first = divide(number, 1441151881, 57); /* 2^57 / 10^8 */
    __m512i digits = split(less(number, first, 100000000));
    __mmask8 whole = _mm512_testn_epi64_mask(class, class);
    __m512i firsts = _mm512_mask_or_epi64(first, whole, first, _mm512_slli_epi64(first, 8));
    for (int i = 0; i < 2; i++)
        out.slots[i] = _mm512_or_si512(
            held->template,
            _mm512_permutex2var_epi8(digits, _mm512_loadu_si512(spread[i]), firsts));

    /* Bits below SEPARATOR >> zeros stay; five more go (down to the point) of 1.00000000. */
    __m512i zeros = _mm512_srli_epi64(_mm512_lzcnt_epi64(digits), 3);
    __mmask8 bare = _mm512_mask_testn_epi64_mask(whole, digits, digits);
    zeros = _mm512_mask_add_epi64(zeros, bare, zeros, _mm512_set1_epi64(5));
    const __m512i separator = _mm512_set1_epi64(SEPARATOR);
    __m512i keep = _mm512_sub_epi64(_mm512_srlv_epi64(separator, zeros), _mm512_set1_epi64(1));
    keep = _mm512_and_si512(_mm512_or_si512(keep, separator),
                            _mm512_permutexvar_epi64(class, _mm512_loadu_si512(kept)));
    __m256i signs = _mm256_srli_epi32(_mm256_castps_si256(x), 31);
    keep = _mm512_or_si512(keep, _mm512_cvtepu32_epi64(signs));
    out.masks = _mm512_cvtepi64_epi16(keep);
    return out;
}

/* All eight are good and there is room for 64 bytes twice. */
WIDE static inline char *write_octet(const octet *eight, char *out)
{
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(eight->masks);
    uint64_t high = (uint64_t)_mm_extract_epi64(eight->masks, 1);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(low, eight->slots[0]));
    out += _mm_popcnt_u64(low);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(high, eight->slots[1]));
    return out + _mm_popcnt_u64(high);
}

/* The first n of eight, those that are not good by the general path. */
WIDE static char *write_singly(const octet *eight, pe_dtype dtype, const char *in, size_t n,
                               char separator, char *out)
{
    uint8_t slots[8 * SLOT];
    uint16_t masks[8];
    const size_t element_bytes = pe_dtype_bytes(dtype);
    memcpy(slots, eight->slots, sizeof slots);
    memcpy(masks, &eight->masks, sizeof masks);
    for (size_t i = 0; i < n; i++) {
        if (eight->good >> i & 1) {
            __m128i slot = _mm_loadu_si128((const __m128i *)(const void *)(slots + i * SLOT));
            _mm_storeu_si128((__m128i *)(void *)out, _mm_maskz_compress_epi8(masks[i], slot));
            out += _mm_popcnt_u32(masks[i]);
        } else {
            out += pe_number_print(dtype, pe_dtype_load(dtype, in + i * element_bytes), out);
            *out++ = separator;
        }
    }
    return out;
}

WIDE static constants make_constants(pe_dtype dtype, char separator)
{
    const pe_grid *grid = &pe_grids[dtype];
    char slot[SLOT] = "-0.0000000000000";
    slot[SLOT - 1] = separator;
    __m128i template;
    memcpy(&template, slot, SLOT);
    constants held;
    held.scale = _mm512_maskz_loadu_pd(0x1f, grid->scale);
    held.reach = _mm512_mul_pd(held.scale, _mm512_set1_pd(grid->half));
    held.lift = _mm512_set1_pd(grid->lift);
    held.template = _mm512_broadcast_i32x4(template);
    return held;
}

WIDE static char *print(pe_dtype dtype, const void *data, size_t n, char separator, char *out)
{
    const char *in = data;
    const size_t octet_bytes = 8 * pe_dtype_bytes(dtype);
    const constants held = make_constants(dtype, separator);
    for (; n >= 8; n -= 8, in += octet_bytes) {
        octet eight = lay_out(&held, load_octet(dtype, in, 0xff));
        if (__builtin_expect(eight.good == 0xff, 1))
            out = write_octet(&eight, out);
        else
            out = write_singly(&eight, dtype, in, 8, separator, out);
    }
    if (n > 0) {
        octet eight = lay_out(&held, load_octet(dtype, in, (__mmask8)((1U << n) - 1)));
        out = write_singly(&eight, dtype, in, n, separator, out);
    }
    return out;
}

char *pe_doubles_print_v4(const void *data, size_t n, char separator, char *out);

extern const pe_number_blocks pe_number_blocks_vbmi2;
const pe_number_blocks pe_number_blocks_vbmi2 = {
    .name = "vbmi2",
    .print = print,
    .print_doubles = pe_doubles_print_v4,
};
#else
typedef int pe_no_wide_variant; /* ISO C wants a translation unit to hold something */
#endif
