/* SPDX-License-Identifier: MIT */
/* convert.c - elements to doubles and back, and doubles added to elements. */
#include "kernels/level/half_lanes.h"
#include "kernels/level/element.h"

/* Elements handled at a time, before they are looked through for NaN. */
#define BLOCK 512

/* Without instructions for them, 16-bit elements go one by one, as compilers vectorise that. */
#define BY_LANES(dtype) (PE_LANES > 2 || !pe_is_narrow(dtype))

PE_INLINE void widen(pe_dtype dtype, const void *in, size_t n, double *out)
{
    size_t j = 0;
    for (; PE_LANES > 2 && pe_is_narrow(dtype) && j + 2 * PE_LANES <= n; j += 2 * PE_LANES) {
        const pe_two v = pe_load_two(dtype, in, j);
        pe_store_d(out + j, v.first);
        pe_store_d(out + j + PE_LANES, v.second);
    }
    for (; j < n; j++)
        out[j] = pe_load(dtype, in, j);
}

static void widen_int(const void *in, size_t n, double *out)
{
    typedef int32_t i32_at __attribute__((aligned(1), may_alias));
    const i32_at *from = in;
    for (size_t j = 0; j < n; j++)
        out[j] = from[j];
}

void PE_LEVEL_NAME(pe_convert_widen)(pe_dtype dtype, const void *in, size_t n, double *out)
{
    switch (dtype) {
    case PE_FLOAT32:
        widen(PE_FLOAT32, in, n, out);
        return;
    case PE_FLOAT64:
        memcpy(out, in, n * sizeof *out);
        return;
    case PE_FLOAT16:
        widen(PE_FLOAT16, in, n, out);
        return;
    case PE_BFLOAT16:
        widen(PE_BFLOAT16, in, n, out);
        return;
    case PE_INT32:
        widen_int(in, n, out);
        return;
    case PE_DTYPES:
        break;
    }
    assert(false);
}

/* Doubles, or `plus`: x and doubles. Whether there may be a NaN in out. */
PE_INLINE bool narrow_some(pe_dtype dtype, bool plus, const void *x, const double *y, size_t n,
                           void *out)
{
    double sum[BLOCK];
    if (plus && !BY_LANES(dtype)) {
        widen(dtype, x, n, sum);
        for (size_t j = 0; j < n; j++)
            sum[j] += y[j];
        y = sum;
        plus = false;
    }
    pe_vd watch = pe_all(0);
    size_t j = 0;
    for (; BY_LANES(dtype) && j + 2 * PE_LANES <= n; j += 2 * PE_LANES) {
        pe_two v = pe_load_two(PE_FLOAT64, y, j);
        if (plus) {
            const pe_two w = pe_load_two(dtype, x, j);
            v = (pe_two){w.first + v.first, w.second + v.second};
        }
        pe_store_two(dtype, v, out, j);
        watch = pe_watch(watch, v.first, v.second);
    }
    const bool perhaps = pe_spoiled(watch) || (pe_is_narrow(dtype) && j < n);
    for (; j < n; j++)
        pe_store(dtype, plus ? pe_load(dtype, x, j) + y[j] : y[j], out, j);
    return perhaps;
}

PE_INLINE void narrow(pe_dtype dtype, bool plus, const void *x, const double *y, size_t n,
                      void *out)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t j = 0, some; j < n; j += some) {
        char *to = (char *)out + j * bytes;
        some = n - j < BLOCK ? n - j : BLOCK;
        if (narrow_some(dtype, plus, (const char *)x + j * bytes, y + j, some, to))
            PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, to, some);
    }
}

PE_INLINE void narrow_any(pe_dtype dtype, bool plus, const void *x, const double *y, size_t n,
                          void *out)
{
    if (dtype == PE_FLOAT32)
        narrow(PE_FLOAT32, plus, x, y, n, out);
    else if (dtype == PE_FLOAT64)
        narrow(PE_FLOAT64, plus, x, y, n, out);
    else if (dtype == PE_FLOAT16)
        narrow(PE_FLOAT16, plus, x, y, n, out);
    else
        narrow(PE_BFLOAT16, plus, x, y, n, out);
}

void PE_LEVEL_NAME(pe_convert_narrow)(pe_dtype dtype, const double *in, size_t n, void *out)
{
    assert(dtype != PE_INT32);
    narrow_any(dtype, false, in, in, n, out); /* of x nothing is read */
}

void PE_LEVEL_NAME(pe_add)(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    narrow_any(dtype, true, x, y, n, out);
}
