/* SPDX-License-Identifier: MIT */
/* half_f16c.c - the 16-bit types from and to double, with the instructions of v3 and v4. */
#include "kernels/level/half.h"
#include "kernels/level/lanes.h"

#if defined(__F16C__)

/* The first n lanes from memory, zero beyond. */
PE_INLINE pe_vd load_some(const double *from, size_t n)
{
    pe_vd v = pe_all(0);
    memcpy(&v, from, n * sizeof *from);
    return v;
}

/* gcc converts half by half otherwise. */
PE_INLINE pe_vd double_of(const pe_u16_at *half)
{
#if PE_LANES == 8
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const void *)half)));
#else
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const void *)half)));
#endif
}

/*
 * Through float without rounding twice: the float gets the first 24 significant bits, the last of
 * them set when any bit beyond was ("round to odd"), so that the half's own rounding sees what the
 * double would have shown it. What is below or beyond float is zero or infinite as a half. NaN
 * stays one, of whatever kind.
 */
PE_INLINE void put_halves(pe_vd value, pe_u16_at *half)
{
    enum { ROUNDING = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    const pe_vu bits = (pe_vu)value, rest = pe_all_u((1ULL << 29) - 1);
    const pe_vd odd = (pe_vd)((bits | ((bits & rest) + rest)) & ~rest);
#if PE_LANES == 8
    _mm_storeu_si128((void *)half, _mm256_cvtps_ph(_mm512_cvtpd_ps(odd), ROUNDING));
#else
    _mm_storel_epi64((void *)half, _mm_cvtps_ph(_mm256_cvtpd_ps(odd), ROUNDING));
#endif
}

void PE_LEVEL_NAME(pe_widen_half)(const void *in, size_t n, double *out)
{
    const pe_u16_at *half = in;
    size_t j = 0;
    for (; j + PE_LANES <= n; j += PE_LANES)
        pe_store_d(out + j, double_of(half + j));
    if (j < n) {
        uint16_t last[PE_LANES] = {0};
        memcpy(last, half + j, (n - j) * sizeof *last);
        const pe_vd wide = double_of(last);
        memcpy(out + j, &wide, (n - j) * sizeof *out);
    }
}

void PE_LEVEL_NAME(pe_narrow_half)(const double *in, size_t n, void *out)
{
    pe_u16_at *half = out;
    size_t j = 0;
    for (; j + PE_LANES <= n; j += PE_LANES)
        put_halves(pe_load_d(in + j), half + j);
    if (j < n) {
        uint16_t last[PE_LANES];
        put_halves(load_some(in + j, n - j), last);
        memcpy(half + j, last, (n - j) * sizeof *last);
    }
}

PE_INLINE pe_vd between(pe_vd low, pe_vd v, pe_vd high)
{
#if PE_LANES == 8
    return _mm512_min_pd(_mm512_max_pd(v, low), high);
#else
    return _mm256_min_pd(_mm256_max_pd(v, low), high);
#endif
}

/* As half.c does it: to 8 bits as a double, exactly to float, whose upper half it is. */
PE_INLINE void put_bfloats(pe_vd value, pe_u16_at *bfloat)
{
    const pe_vu bits = (pe_vu)value;
    const pe_vd size = (pe_vd)(bits & 0x7ffULL << 52);
    const pe_vd magic = between(pe_all(0x1p-126), size, pe_all(0x1p128)) * 0x1.8p45;
    const pe_vd rounded = (pe_vd)((pe_vu)((value + magic) - magic) | (bits & 1ULL << 63));
#if PE_LANES == 8
    const __m256i wide = _mm256_srli_epi32(_mm256_castps_si256(_mm512_cvtpd_ps(rounded)), 16);
    _mm_storeu_si128((void *)bfloat, _mm256_cvtepi32_epi16(wide));
#else
    const __m128i wide = _mm_srli_epi32(_mm_castps_si128(_mm256_cvtpd_ps(rounded)), 16);
    _mm_storel_epi64((void *)bfloat, _mm_packus_epi32(wide, wide));
#endif
}

void PE_LEVEL_NAME(pe_narrow_bfloat)(const double *in, size_t n, void *out)
{
    pe_u16_at *bfloat = out;
    size_t j = 0;
    for (; j + PE_LANES <= n; j += PE_LANES)
        put_bfloats(pe_load_d(in + j), bfloat + j);
    if (j < n) {
        uint16_t last[PE_LANES];
        put_bfloats(load_some(in + j, n - j), last);
        memcpy(bfloat + j, last, (n - j) * sizeof *last);
    }
}

#endif
