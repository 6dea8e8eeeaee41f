/* SPDX-License-Identifier: MIT */
/* bench_kernels.c - kernels beside memcpy and memset of as many bytes, in cache. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "kernels/kernels.h"
#include "support/random.h"

/* Of output, as one block of a streamed answer. */
#define BLOCK_BYTES 262144

#define HEAD_DIM 128
#define PAIRS    (HEAD_DIM / 2)
#define HEADS    32

static const pe_kernels *kernels;
static pe_dtype dtype;
static size_t elements; /* of dtype in a block */
static _Alignas(64) unsigned char in[BLOCK_BYTES], out[BLOCK_BYTES];
static _Alignas(64) double wide[BLOCK_BYTES / 2];
static _Alignas(64) double angles[2][BLOCK_BYTES / 4];
static uint32_t doubtful[BLOCK_BYTES / 2];

static void run_memcpy(void)
{
    memcpy(out, in, BLOCK_BYTES);
    __asm__ volatile("" ::: "memory"); /* somebody may read it */
}

static void run_memset(void)
{
    memset(out, 0, BLOCK_BYTES);
    __asm__ volatile("" ::: "memory");
}

static void run_widen(void)
{
    kernels->widen(dtype, in, elements, wide);
}

static void run_narrow(void)
{
    kernels->narrow(dtype, wide, elements, out);
}

static void run_add(void)
{
    kernels->add(dtype, in, wide, elements, out);
}

/* `heads` vectors share the angles of their position. */
static void rotate(pe_pairing pairing, size_t heads)
{
    const size_t bytes = pe_dtype_bytes(dtype), step = heads * HEAD_DIM;
    for (size_t at = 0, row = 0; at + step <= elements; at += step, row += PAIRS)
        kernels->rotate(dtype, pairing, PAIRS, angles[0] + row, angles[1] + row, heads, HEAD_DIM,
                        in + at * bytes, out + at * bytes);
}

static void run_rotate_half(void)
{
    rotate(PE_PAIRING_HALF, HEADS);
}

static void run_rotate_interleaved(void)
{
    rotate(PE_PAIRING_INTERLEAVED, HEADS);
}

static void run_rotate_one_head(void)
{
    rotate(PE_PAIRING_HALF, 1);
}

static void run_ramp_dyadic(void)
{
    kernels->ramp(dtype, -0x1p-8, 0, -1000, 1, elements, out, doubtful);
}

static void run_ramp(void)
{
    kernels->ramp(dtype, 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55, -1000, 1, elements, out,
                  doubtful);
}

static const struct {
    const char *name;
    void (*run)(void);
    void (*yardstick)(void);
    const char *yardstick_name;
} benches[] = {
    {"widen", run_widen, run_memcpy, "memcpy"},
    {"narrow", run_narrow, run_memcpy, "memcpy"},
    {"add", run_add, run_memcpy, "memcpy"},
    {"rotate/half, 32 heads", run_rotate_half, run_memcpy, "memcpy"},
    {"rotate/interleaved, 32 heads", run_rotate_interleaved, run_memcpy, "memcpy"},
    {"rotate/half, 1 head", run_rotate_one_head, run_memcpy, "memcpy"},
    {"ramp/dyadic slope", run_ramp_dyadic, run_memset, "memset"},
    {"ramp/any slope", run_ramp, run_memset, "memset"},
};

static void prepare(void)
{
    random_source source = random_fixed(1);
    elements = BLOCK_BYTES / pe_dtype_bytes(dtype);
    for (size_t j = 0; j < BLOCK_BYTES / 2; j++) {
        wide[j] = random_real(&source, -2, 2);
    }
    for (size_t j = 0; j < elements; j++)
        pe_dtype_store(dtype, wide[j], in + j * pe_dtype_bytes(dtype));
    for (size_t i = 0; i < BLOCK_BYTES / 4; i++) {
        angles[0][i] = cos(wide[i]);
        angles[1][i] = sin(wide[i]);
    }
}

static void measure(size_t b)
{
    bench_row row = {.yardstick = benches[b].yardstick_name,
                     .run = benches[b].run,
                     .run_yardstick = benches[b].yardstick,
                     .unit = BENCH_BYTES,
                     .amount = BLOCK_BYTES,
                     .elements = elements};
    snprintf(row.name, sizeof row.name, "%s/%s", benches[b].name, pe_dtype_name(dtype));
    snprintf(row.candidate, sizeof row.candidate, "%s", kernels->name);
    bench_measure(&row);
}

void bench_kernels(void)
{
    static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
    for (size_t d = 0; d < PE_LEN(dtypes); d++) {
        dtype = dtypes[d];
        prepare();
        for (size_t b = 0; b < PE_LEN(benches); b++)
            for (const pe_kernels *const *k = pe_kernels_all(); *k; k++) {
                kernels = *k;
                measure(b);
            }
    }
}
