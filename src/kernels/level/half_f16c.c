/* SPDX-License-Identifier: MIT */
/* half_f16c.c - arrays of 16-bit types from and to double, with the instructions of v3 and v4. */
#include "kernels/level/emit.h"
#include "kernels/level/half_lanes.h"
#include "kernels/level/wide.h"

#if defined(__F16C__)

/* The first n lanes from memory, zero beyond. */
PE_INLINE pe_vd load_some(const double *from, size_t n)
{
    pe_vd v = pe_all(0);
    memcpy(&v, from, n * sizeof *from);
    return v;
}

void PE_LEVEL_NAME(pe_half_widen)(const void *in, size_t n, double *out)
{
    const pe_u16_at *half = in;
    size_t j = 0;
    for (; j + PE_LANES <= n; j += PE_LANES)
        pe_store_d(out + j, pe_doubles_of_half(half + j));
    if (j < n) {
        uint16_t last[PE_LANES] = {0};
        memcpy(last, half + j, (n - j) * sizeof *last);
        const pe_vd wide = pe_doubles_of_half(last);
        memcpy(out + j, &wide, (n - j) * sizeof *out);
    }
}

void PE_LEVEL_NAME(pe_half_narrow)(const double *in, size_t n, void *out)
{
    pe_u16_at *half = out;
    size_t j = 0;
    for (; j + PE_LANES <= n; j += PE_LANES)
        pe_round_halves(pe_load_d(in + j), half + j);
    if (j < n) {
        uint16_t last[PE_LANES];
        pe_round_halves(load_some(in + j, n - j), last);
        memcpy(half + j, last, (n - j) * sizeof *last);
    }
}

/* Two vectors by way of float, unless that gives a tie: then a bit beyond the float may decide. The
 * proof knows nothing of NaN. */
PE_INLINE void put_two_bfloats(pe_vd a, pe_vd b, pe_u16_at *bfloat)
{
    const pe_rounding_margin none = {0, 0};
    const pe_seen seen = pe_emit((pe_row_kind){PE_BFLOAT16, PE_ROW_PLANES, false}, &none, a, b,
                                 (pe_spot){bfloat, bfloat + PE_LANES});
    if (__builtin_expect(pe_doubt(PE_BFLOAT16, &none, seen, seen) || pe_spoiled(a + b), 0)) {
        pe_round_bfloats(a, bfloat);
        pe_round_bfloats(b, bfloat + PE_LANES);
    }
}

void PE_LEVEL_NAME(pe_half_narrow_bfloat)(const double *in, size_t n, void *out)
{
    pe_u16_at *bfloat = out;
    size_t j = 0;
    for (; j + 2 * PE_LANES <= n; j += 2 * PE_LANES)
        put_two_bfloats(pe_load_d(in + j), pe_load_d(in + j + PE_LANES), bfloat + j);
    for (size_t some; j < n; j += some) {
        uint16_t last[PE_LANES];
        some = n - j < PE_LANES ? n - j : PE_LANES;
        pe_round_bfloats(load_some(in + j, some), last);
        memcpy(bfloat + j, last, some * sizeof *last);
    }
}

#endif
