/* SPDX-License-Identifier: MIT */
/* bench_waves.c - tables of sines and cosines beside memset, libm and SLEEF, in cache. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "exact/set.h"

/* A block of a streamed answer, reused. Every call takes the rows after the last one's. */
#define BLOCK_BYTES 262144
#define ROUNDS      25

static _Alignas(64) unsigned char out[BLOCK_BYTES];
static pe_wave *wave;
static double theta[4096];
static size_t n;
static pe_dtype dtype;
static int64_t position;
static pe_wave_layout layout;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_memset(void)
{
    memset(out, 0, BLOCK_BYTES);
    __asm__ volatile("" ::: "memory");
}

static void run_waves(void)
{
    const size_t rows = BLOCK_BYTES / (layout.row * pe_dtype_bytes(dtype));
    const pe_positions positions = pe_positions_range(position, 1, rows);
    pe_problem why;
    if (pe_wave_table(wave, &positions, 0, rows, &layout, dtype, out, &why) != PE_OK)
        abort();
    position += (int64_t)rows;
}

/* What one writes first: the angle in double, sin and cos of libm. */
static void run_libm(void)
{
    float *to = (float *)(void *)out;
    const size_t rows = BLOCK_BYTES / (8 * n);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i++, to += 2) {
            double s, c;
            sincos((double)position * theta[i], &s, &c);
            to[0] = (float)s;
            to[1] = (float)c;
        }
}

#if defined(__x86_64__)
typedef struct two_vectors {
    __m512d s, c;
} two_vectors;
typedef two_vectors sleef_sincos(__m512d);
static sleef_sincos *sleef;

/* The library is only a yardstick: taken when it is there. */
static void find_sleef(void)
{
    void *library = dlopen("libsleef.so.3", RTLD_NOW);
    void *found = library && __builtin_cpu_supports("avx512f")
                      ? dlsym(library, "Sleef_sincosd8_u10avx512f")
                      : NULL;
    memcpy(&sleef, &found, sizeof sleef);
}

__attribute__((target("avx512f"))) static void run_sleef(void)
{
    float *to = (float *)(void *)out;
    const size_t rows = BLOCK_BYTES / (8 * n);
    const __m512i index = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i += 8, to += 16) {
            const two_vectors v =
                sleef(_mm512_mul_pd(_mm512_set1_pd((double)position), _mm512_loadu_pd(theta + i)));
            const __m512d both =
                _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_castps_pd(_mm512_cvtpd_ps(v.s))),
                                   _mm256_castps_pd(_mm512_cvtpd_ps(v.c)), 1);
            _mm512_storeu_ps(to, _mm512_permutexvar_ps(index, _mm512_castpd_ps(both)));
        }
}
#endif

typedef struct candidate {
    const char *name, *level;
    pe_dtype dtype;
    bool planes, cos_only;
    void (*run)(void);
    double best;
} candidate;

static void set_up(const candidate *c)
{
    pe_problem why;
    if (c->level != NULL && pe_kernels_select(c->level, &why) != PE_OK)
        abort();
    dtype = c->dtype;
    layout = c->cos_only ? (pe_wave_layout){1, -1, 0, n}
             : c->planes ? (pe_wave_layout){1, 0, (ptrdiff_t)n, 2 * n}
                         : (pe_wave_layout){2, 0, 1, 2 * n};
    position = 1000;
    c->run(); /* offsets, pages */
}

static void measure(candidate *candidates, size_t count)
{
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < count; k++) {
            candidate *c = &candidates[k];
            const int calls = c->run == run_libm ? 1 : 20;
            set_up(c);
            const double start = seconds();
            for (int call = 0; call < calls; call++)
                c->run();
            const double each = (seconds() - start) / calls;
            if (round == 0 || each < c->best)
                c->best = each;
        }
}

static void base_of(const void *formula, mpfr_ptr to)
{
    mpfr_set_d(to, *(const double *)formula, MPFR_RNDN);
}

static void amplitude_of(const void *formula, mpfr_ptr to)
{
    (void)formula;
    mpfr_set_str(to, "1.2079441541679836", 10, MPFR_RNDN);
}

static void make_wave(size_t pairs, double base, bool amplified)
{
    const pe_wave_spec spec = {.n = pairs,
                               .num = 1,
                               .den = (double)pairs,
                               .position_scale = 1,
                               .base = base_of,
                               .amplitude = amplified ? amplitude_of : NULL,
                               .formula = &base,
                               .formula_bytes = sizeof base};
    pe_problem why;
    const double start = seconds();
    if (pe_wave_make(&spec, &wave, &why) != PE_OK)
        abort();
    n = pairs;
    for (size_t i = 0; i < n; i++)
        theta[i] = pow(base, -(double)i / (double)n);
    printf("%zu frequencies, base %g%s (set made in %.0f us)\n", n, base,
           amplified ? ", amplitude 1.2" : "", (seconds() - start) * 1e6);
}

static void bench(size_t pairs, double base, bool amplified)
{
    candidate candidates[40] = {{.name = "memset", .run = run_memset}};
    size_t count = 1;
    make_wave(pairs, base, amplified);
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++) {
        const candidate rows[] = {
            {"float32", (*k)->name, PE_FLOAT32, false, false, run_waves, 0},
            {"float32 planes", (*k)->name, PE_FLOAT32, true, false, run_waves, 0},
            {"float32 cos", (*k)->name, PE_FLOAT32, false, true, run_waves, 0},
            {"float64", (*k)->name, PE_FLOAT64, false, false, run_waves, 0},
            {"float64 cos", (*k)->name, PE_FLOAT64, false, true, run_waves, 0},
            {"float16", (*k)->name, PE_FLOAT16, false, false, run_waves, 0},
            {"bfloat16", (*k)->name, PE_BFLOAT16, false, false, run_waves, 0},
        };
        for (size_t j = 0; j < PE_LEN(rows); j++)
            candidates[count++] = rows[j];
    }
    candidates[count++] = (candidate){.name = "libm sincos float32", .run = run_libm};
#if defined(__x86_64__)
    if (sleef != NULL)
        candidates[count++] = (candidate){.name = "SLEEF u10 float32", .run = run_sleef};
#endif
    measure(candidates, count);
    for (size_t k = 0; k < count; k++) {
        const candidate *c = &candidates[k];
        const size_t item = c->run == run_waves ? pe_dtype_bytes(c->dtype) : 4;
        printf("  %-20s %-9s %7.2f GB/s  %6.3f ns/element  %5.3f of memset\n", c->name,
               c->level ? c->level : "", BLOCK_BYTES / c->best * 1e-9,
               c->best / (BLOCK_BYTES / (double)item) * 1e9, candidates[0].best / c->best);
    }
    const pe_wave_paths paths = pe_wave_paths_read(wave);
    printf("  elements: %.3g by kernels, %.3g with 128 bits, %.3g by MPFR\n", (double)paths.kernel,
           (double)paths.wide, (double)paths.mpfr);
    pe_wave_free(wave);
}

int main(void)
{
#if defined(__x86_64__)
    find_sleef();
#endif
    bench(64, 10000, false);
    bench(256, 10000, false);
    bench(64, 500000, true);
    bench(1024, 10000, false);
    return 0;
}
