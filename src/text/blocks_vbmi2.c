/* SPDX-License-Identifier: MIT */
/* blocks_vbmi2.c - blocks of float32 and 16-bit floats to text by AVX-512 VBMI2. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "text/blocks.h"
#include "text/grid.h"
#include "text/number.h"

#define VBMI2                                                                                      \
    __attribute__((target("avx2,bmi,bmi2,fma,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512cd,"         \
                          "avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))

#define INLINE VBMI2 static inline __attribute__((always_inline))

/*
 * Sixteen numbers go together. Each is laid out in a slot of 16 bytes,
 *
 *     -0.000123456789,    or, where the first digit stands before the point,    -1.000123456789,
 *
 * of which one bit per byte says what to keep: the sign; byte 1; the point, unless no digit
 * follows; as many zeros as the class has; the first digit in byte 6, unless byte 1 has it; the
 * other digits up to the last that is not zero; the separator.
 */
#define LANES     16
#define SLOT      16
#define SEPARATOR 0x8000

/* With fewer good ones than MOST among sixteen, variant v4 prints the next RUN numbers: it is fast
 * for large ones, too. Each time again it prints twice as many, up to RUNS. */
#define MOST 12
#define RUN  128
#define RUNS 1024

/* The bytes that a class may keep, without the sign. */
#define KEPT 0xff86, 0xff86, 0xffc6, 0xffce, 0xffde, 0xfffe

/*
 * Where the bytes of slot i come from. The second of two vectors of eight lanes has for each slot
 * {first digit, the same if before the point else '0', '-', '.', '0', separator}; the first has the
 * other digits.
 */
#define FIRST(i, byte) (64 + 8 * (i) + (byte))
#define OTHER(i, byte) (8 * (i) + (byte))
#define SLOT_OF(i)                                                                                 \
    FIRST(i, 2), FIRST(i, 1), FIRST(i, 3), FIRST(i, 4), FIRST(i, 4), FIRST(i, 4), FIRST(i, 0),     \
        OTHER(i, 0), OTHER(i, 1), OTHER(i, 2), OTHER(i, 3), OTHER(i, 4), OTHER(i, 5), OTHER(i, 6), \
        OTHER(i, 7), FIRST(i, 5)

static const uint8_t spread[2][64] = {
    {SLOT_OF(0), SLOT_OF(1), SLOT_OF(2), SLOT_OF(3)},
    {SLOT_OF(4), SLOT_OF(5), SLOT_OF(6), SLOT_OF(7)},
};

/* Constants that stay in registers for a whole run. */
typedef struct constants {
    __m512i class_of;         /* bytes: the class by the low six bits of a float's exponent */
    __m512d scale, reach;     /* by class: the power of ten; the same times half */
    __m512d lift;             /* by class */
    __m512i template;         /* of a lane of first digits */
    __m512i spread[2], zeros; /* of slots; '0' in every byte */
    __m256i kept;             /* by class */
    __m512i hundred, ten;
} constants;

typedef struct slots {
    __m512i slot[4];
    uint64_t mask[4]; /* 16 bits for each slot */
    __mmask16 good;   /* pe_number_print prints the others */
} slots;

INLINE __m512 load(pe_dtype dtype, const void *in, __mmask16 some)
{
    if (dtype == PE_FLOAT32)
        return _mm512_maskz_loadu_ps(some, in);
    __m256i halves = _mm256_maskz_loadu_epi16(some, in);
    if (dtype == PE_FLOAT16)
        return _mm512_cvtph_ps(halves);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Zero, or from 1e-4 up and below 10; but below 1 no power of two. m: bits of magnitudes. */
INLINE __mmask16 good_ones(__m512i m)
{
    const __m512i least = _mm512_set1_epi32((int)bits_of(PE_FLOAT_1E_4));
    const __m512i range = _mm512_set1_epi32((int)(bits_of(10) - bits_of(PE_FLOAT_1E_4)));
    const __m512i one = _mm512_set1_epi32((int)bits_of(1)), fraction = _mm512_set1_epi32(0x7fffff);
    __mmask16 within = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(m, least), range);
    __mmask16 uneven = _mm512_mask_test_epi32_mask(within, m, fraction);
    __mmask16 above = _mm512_mask_cmpge_epi32_mask(within, m, one);
    return _kor_mask16(_mm512_testn_epi32_mask(m, m), _kor_mask16(uneven, above));
}

/* Nine digits of eight magnitudes, each as one number; grid.h has the method. */
INLINE __m512i find_digits(const constants *held, __m256 magnitude, __m512i class)
{
    const __m512d round = _mm512_set1_pd(0x1.8p52); /* added and taken off: nearest integer */
    const __m512d tenth = _mm512_set1_pd(0.1), ten = _mm512_set1_pd(10);
    const __m512i exponent = _mm512_set1_epi64(0x7ff0000000000000);
    __m512d m = _mm512_cvtps_pd(magnitude);
    __m512d power = _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(m), exponent));
    __m512d y = _mm512_mul_pd(m, _mm512_permutexvar_pd(class, held->scale));
    __m512d h = _mm512_mul_pd(power, _mm512_permutexvar_pd(class, held->reach));
    __m512d n = _mm512_sub_pd(_mm512_add_pd(y, round), round);
    __m512d tens = _mm512_sub_pd(_mm512_fmadd_pd(y, tenth, round), round);
    __m512d away = _mm512_abs_pd(_mm512_fmsub_pd(tens, ten, y));
    n = _mm512_mask_mul_pd(n, _mm512_cmp_pd_mask(away, h, _CMP_LT_OQ), tens, ten);
    return _mm512_cvtpd_epu64(_mm512_mul_pd(n, _mm512_permutexvar_pd(class, held->lift)));
}

/* x / d for x below 10^9, by its reciprocal in fixed point. */
INLINE __m512i divide(__m512i x, long long reciprocal, unsigned bits)
{
    return _mm512_srli_epi64(_mm512_mul_epu32(x, _mm512_set1_epi64(reciprocal)), bits);
}

INLINE __m512i less(__m512i x, __m512i quotient, long long divisor)
{
    return _mm512_sub_epi64(x, _mm512_mul_epu32(quotient, _mm512_set1_epi64(divisor)));
}

/* Eight digits of numbers below 10^8 as bytes, as pe_digits_split does it. */
INLINE __m512i split(const constants *held, __m512i n)
{
    __m512i high = divide(n, 3518437209, 45); /* 2^45 / 10^4 */
    __m512i fours = _mm512_or_si512(high, _mm512_slli_epi64(less(n, high, 10000), 32));
    __m512i hundreds = _mm512_srli_epi16(_mm512_mulhi_epu16(fours, _mm512_set1_epi16(5243)), 3);
    __m512i units = _mm512_sub_epi16(fours, _mm512_mullo_epi16(hundreds, held->hundred));
    __m512i twos = _mm512_or_si512(hundreds, _mm512_slli_epi32(units, 16));
    __m512i tens = _mm512_mulhi_epu16(twos, _mm512_set1_epi16(6554)); /* 2^16 / 10 */
    units = _mm512_sub_epi16(twos, _mm512_mullo_epi16(tens, held->ten));
    return _mm512_or_si512(tens, _mm512_slli_epi16(units, 8));
}

/* Make the slots of eight numbers. Returns how many bits of zeros end the eight digits of each. */
INLINE __m128i fill_slots(const constants *held, __m256 magnitude, __m256i classes, __m512i *slot)
{
    __m512i class = _mm512_cvtepi32_epi64(classes);
    __m512i number = find_digits(held, magnitude, class);
    __m512i first = divide(number, 1441151881, 57); /* 2^57 / 10^8 */
    __m512i digits = split(held, less(number, first, 100000000));
    __mmask8 leads = _mm512_cmplt_epi64_mask(class, _mm512_set1_epi64(2));
    __m512i firsts = _mm512_or_si512(first, held->template);
    firsts = _mm512_mask_or_epi64(firsts, leads, firsts, _mm512_slli_epi64(first, 8));
    __m512i text = _mm512_or_si512(digits, held->zeros);
    slot[0] = _mm512_permutex2var_epi8(text, held->spread[0], firsts);
    slot[1] = _mm512_permutex2var_epi8(text, held->spread[1], firsts);
    return _mm512_cvtepi64_epi16(_mm512_lzcnt_epi64(digits));
}

INLINE void lay_out(const constants *held, __m512 x, slots *out)
{
    const __m256i separator = _mm256_set1_epi16((short)SEPARATOR), one = _mm256_set1_epi16(1);
    __m512i m = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MAX));
    __m512 magnitude = _mm512_castsi512_ps(m);
    out->good = good_ones(m);
    /* Only the lowest byte of each lane is looked up. */
    __m512i class =
        _mm512_maskz_permutexvar_epi8(0x1111111111111111, _mm512_srli_epi32(m, 23), held->class_of);
    __m128i low = fill_slots(held, _mm512_castps512_ps256(magnitude), _mm512_castsi512_si256(class),
                             out->slot);
    __m128i high = fill_slots(held, _mm512_extractf32x8_ps(magnitude, 1),
                              _mm512_extracti32x8_epi32(class, 1), out->slot + 2);

    /* Bits below SEPARATOR >> zeros stay; five more go (down to the point) of 1.00000000. */
    __m256i bits = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    __m256i classes = _mm512_cvtepi32_epi16(class), zeros = _mm256_srli_epi16(bits, 3);
    __mmask16 bare = _mm256_cmpeq_epi16_mask(bits, _mm256_set1_epi16(64));
    bare = _mm256_mask_cmplt_epi16_mask(bare, classes, _mm256_set1_epi16(2));
    zeros = _mm256_mask_add_epi16(zeros, bare, zeros, _mm256_set1_epi16(5));
    __m256i keep = _mm256_sub_epi16(_mm256_srlv_epi16(separator, zeros), one);
    keep = _mm256_and_si256(_mm256_or_si256(keep, separator),
                            _mm256_permutexvar_epi16(classes, held->kept));
    keep = _mm256_mask_add_epi16(keep, _mm512_movepi32_mask(_mm512_castps_si512(x)), keep, one);
    _mm256_storeu_si256((__m256i *)(void *)out->mask, keep);
}

/* All sixteen are good and there is room for 64 bytes four times. */
INLINE char *write_all(const slots *in, char *out)
{
    for (int i = 0; i < 4; i++) {
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(in->mask[i], in->slot[i]));
        out += _mm_popcnt_u64(in->mask[i]);
    }
    return out;
}

/* The first n of sixteen; pe_number_print prints those that are not good. */
VBMI2 static char *write_singly(const slots *from, pe_dtype dtype, const char *in, size_t n,
                                char separator, char *out)
{
    uint8_t slot[LANES * SLOT];
    uint16_t masks[LANES];
    const size_t element_bytes = pe_dtype_bytes(dtype);
    memcpy(slot, from->slot, sizeof slot);
    memcpy(masks, from->mask, sizeof masks);
    for (size_t i = 0; i < n; i++) {
        if (from->good >> i & 1) {
            __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(slot + i * SLOT));
            _mm_storeu_si128((__m128i *)(void *)out, _mm_maskz_compress_epi8(masks[i], bytes));
            out += _mm_popcnt_u32(masks[i]);
        } else {
            out += pe_number_print(dtype, pe_dtype_load(dtype, in + i * element_bytes), out);
            *out++ = separator;
        }
    }
    return out;
}

VBMI2 static constants make_constants(pe_dtype dtype, char separator)
{
    const pe_grid *grid = &pe_grids[dtype];
    static const uint16_t kept[16] = {KEPT};
    uint8_t class_of[64] = {0};
    for (int e = -14; e <= 3; e++)
        for (int i = 0; i < 5; i++)
            if (__builtin_ldexpf(1, e) < grid->bound[i])
                class_of[(127 + e) & 63]++;
    const uint8_t lane[8] = {'0', '0', '-', '.', '0', (uint8_t)separator};
    uint64_t template;
    memcpy(&template, lane, 8);
    constants held;
    held.class_of = _mm512_loadu_si512(class_of);
    held.scale = _mm512_maskz_loadu_pd(0x3f, grid->scale);
    held.reach = _mm512_mul_pd(held.scale, _mm512_set1_pd(grid->half));
    held.lift = _mm512_mask_mov_pd(_mm512_set1_pd(grid->lift), 1, _mm512_set1_pd(grid->first_lift));
    held.template = _mm512_set1_epi64((long long)template);
    held.spread[0] = _mm512_loadu_si512(spread[0]);
    held.spread[1] = _mm512_loadu_si512(spread[1]);
    held.zeros = _mm512_set1_epi8('0');
    held.kept = _mm256_loadu_si256((const __m256i *)(const void *)kept);
    held.hundred = _mm512_set1_epi16(100);
    held.ten = _mm512_set1_epi16(10);
    /* Compilers that know these factors multiply by shifts and sums, which take longer. */
    __asm__("" : "+v"(held.hundred), "+v"(held.ten));
    return held;
}

extern const pe_blocks pe_blocks_v4;

INLINE char *print_type(pe_dtype dtype, const char *in, size_t n, char separator, char *out)
{
    const size_t element_bytes = dtype == PE_FLOAT32 ? 4 : 2;
    const constants held = make_constants(dtype, separator);
    slots sixteen;
    size_t run = RUN;
    for (size_t some; n >= LANES; n -= some, in += some * element_bytes) {
        lay_out(&held, load(dtype, in, 0xffff), &sixteen);
        some = LANES;
        if (__builtin_expect(sixteen.good == 0xffff, 1)) {
            out = write_all(&sixteen, out);
            run = RUN;
        } else if (_mm_popcnt_u32(sixteen.good) >= MOST) {
            out = write_singly(&sixteen, dtype, in, LANES, separator, out);
        } else {
            some = n < run ? n : run;
            run = run < RUNS ? 2 * run : RUNS;
            out = pe_blocks_v4.print(dtype, in, some, separator, out);
        }
    }
    if (n > 0) {
        lay_out(&held, load(dtype, in, (__mmask16)((1U << n) - 1)), &sixteen);
        out = write_singly(&sixteen, dtype, in, n, separator, out);
    }
    return out;
}

VBMI2 static char *print(pe_dtype dtype, const void *data, size_t n, char separator, char *out)
{
    if (dtype == PE_FLOAT32)
        return print_type(PE_FLOAT32, data, n, separator, out);
    if (dtype == PE_FLOAT16)
        return print_type(PE_FLOAT16, data, n, separator, out);
    return print_type(PE_BFLOAT16, data, n, separator, out);
}

char *pe_doubles_print_v4(const void *data, size_t n, char separator, char *out);

extern const pe_blocks pe_blocks_vbmi2;
const pe_blocks pe_blocks_vbmi2 = {
    .name = "vbmi2",
    .print = print,
    .print_doubles = pe_doubles_print_v4,
};
#else
typedef int pe_no_vbmi2_variant; /* ISO C wants a translation unit to hold something */
#endif
