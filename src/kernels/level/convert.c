/* SPDX-License-Identifier: MIT */
/* convert.c - elements to doubles and back. */
#include "kernels/level/half.h"

static void widen_float(const pe_f32_at *in, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (double)in[j];
}

/* A bfloat16 is the upper half of a float. */
static void widen_bfloat16(const pe_u16_at *in, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (double)pe_float_of((uint32_t)in[j] << 16);
}

static void widen_int(const void *in, size_t n, double *out)
{
    typedef int32_t i32_at __attribute__((aligned(1), may_alias));
    const i32_at *from = in;
    for (size_t j = 0; j < n; j++)
        out[j] = from[j];
}

void PE_LEVEL_NAME(pe_widen)(pe_dtype dtype, const void *in, size_t n, double *out)
{
    switch (dtype) {
    case PE_FLOAT32:
        widen_float(in, n, out);
        return;
    case PE_FLOAT64:
        memcpy(out, in, n * sizeof *out);
        return;
    case PE_FLOAT16:
        PE_LEVEL_NAME(pe_widen_half)(in, n, out);
        return;
    case PE_BFLOAT16:
        widen_bfloat16(in, n, out);
        return;
    case PE_INT32:
        widen_int(in, n, out);
        return;
    case PE_DTYPES:
        break;
    }
    assert(false);
}

static void narrow_float(pe_dtype dtype, const double *in, size_t n, void *out)
{
    if (dtype == PE_FLOAT32)
        for (size_t j = 0; j < n; j++)
            pe_store(PE_FLOAT32, in[j], out, j);
    else
        for (size_t j = 0; j < n; j++)
            pe_store(PE_FLOAT64, in[j], out, j);
}

static void narrow_bfloat16(const double *in, size_t n, pe_u16_at *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = pe_bfloat16_of(in[j]);
}

void PE_LEVEL_NAME(pe_narrow)(pe_dtype dtype, const double *in, size_t n, void *out)
{
    switch (dtype) {
    case PE_FLOAT32:
    case PE_FLOAT64:
        narrow_float(dtype, in, n, out);
        return;
    case PE_FLOAT16:
        PE_LEVEL_NAME(pe_narrow_half)(in, n, out);
        return;
    case PE_BFLOAT16:
        narrow_bfloat16(in, n, out);
        return;
    case PE_INT32:
    case PE_DTYPES:
        break;
    }
    assert(false);
}
