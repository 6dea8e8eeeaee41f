/* SPDX-License-Identifier: MIT */
/* bench_waves.c - tables of sines and cosines beside memset, libm and SLEEF, in cache. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench/bench.h"
#include "exact/wave_set.h"

/* A block of a streamed answer, reused. Every call takes the rows after the last one's. */
#define BLOCK_BYTES 262144

static _Alignas(64) unsigned char out[BLOCK_BYTES];
static pe_wave *wave;
static double theta[4096];
static size_t n;
static pe_dtype dtype;
static int64_t position;
static pe_wave_layout layout;

/* What rows are asked for: ranges from `first` on, or lists of as many positions as a block has
 * rows. */
static const struct way {
    const char *name;
    int64_t first, step;
    bool listed;
    double more; /* added to what is listed */
} ways[] = {
    {"", 1000, 1, false, 0},          {" from 2^40", INT64_C(1) << 40, 1, false, 0},
    {" by 7", 1000, 7, false, 0},     {" listed", 0, 0, true, 0},
    {" fractional", 0, 0, true, 0.3},
};
static const struct way *way;
static double list[BLOCK_BYTES / 64];

static void run_memset(void)
{
    memset(out, 0, BLOCK_BYTES);
    __asm__ volatile("" ::: "memory");
}

static void run_waves(void)
{
    const size_t rows = BLOCK_BYTES / (layout.row * pe_dtype_bytes(dtype));
    pe_positions positions = pe_positions_range(position, way->step, rows);
    pe_problem why;
    if (way->listed)
        positions = (pe_positions){
            .count = rows, .list = list, .fractional = way->more != 0, .shape = {1, {rows}}};
    const pe_wave_table table = {wave, &positions, &layout, dtype};
    if (pe_wave_table_rows(&table, 0, rows, out, &why) != PE_OK)
        abort();
    position += (int64_t)rows * way->step;
}

/* Positions in no order, as far apart as timesteps or tokens of several sequences are. */
static void make_list(void)
{
    for (size_t r = 0; r < PE_LEN(list); r++)
        list[r] = (double)(r * 7919 % 100003 + 1) + way->more;
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

static void run_libm_double(void)
{
    double *to = (double *)(void *)out;
    const size_t rows = BLOCK_BYTES / (16 * n);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i++, to += 2)
            sincos((double)position * theta[i], to, to + 1);
}

/* The table by SLEEF, for each type. */
typedef struct sleef_ways {
    void (*single)(void), (*wide)(void);
} sleef_ways;

#if defined(__x86_64__)
/* The library is only a yardstick: taken when it is there, as wide as the processor. */
typedef struct pair_512 {
    __m512d s, c;
} pair_512;
typedef struct pair_256 {
    __m256d s, c;
} pair_256;
static pair_512 (*sleef_512)(__m512d);
static pair_256 (*sleef_256)(__m256d);

__attribute__((target("avx512f"))) static void run_sleef_512(void)
{
    float *to = (float *)(void *)out;
    const size_t rows = BLOCK_BYTES / (8 * n);
    const __m512i index = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i += 8, to += 16) {
            const pair_512 v = sleef_512(
                _mm512_mul_pd(_mm512_set1_pd((double)position), _mm512_loadu_pd(theta + i)));
            const __m512d both =
                _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_castps_pd(_mm512_cvtpd_ps(v.s))),
                                   _mm256_castps_pd(_mm512_cvtpd_ps(v.c)), 1);
            _mm512_storeu_ps(to, _mm512_permutexvar_ps(index, _mm512_castpd_ps(both)));
        }
}

__attribute__((target("avx2"))) static void run_sleef_256(void)
{
    float *to = (float *)(void *)out;
    const size_t rows = BLOCK_BYTES / (8 * n);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i += 4, to += 8) {
            const pair_256 v = sleef_256(
                _mm256_mul_pd(_mm256_set1_pd((double)position), _mm256_loadu_pd(theta + i)));
            const __m128 s = _mm256_cvtpd_ps(v.s), c = _mm256_cvtpd_ps(v.c);
            _mm_storeu_ps(to, _mm_unpacklo_ps(s, c));
            _mm_storeu_ps(to + 4, _mm_unpackhi_ps(s, c));
        }
}

__attribute__((target("avx512f"))) static void run_sleef_512_double(void)
{
    double *to = (double *)(void *)out;
    const size_t rows = BLOCK_BYTES / (16 * n);
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i += 8, to += 16) {
            const pair_512 v = sleef_512(
                _mm512_mul_pd(_mm512_set1_pd((double)position), _mm512_loadu_pd(theta + i)));
            _mm512_storeu_pd(to, _mm512_permutex2var_pd(v.s, low, v.c));
            _mm512_storeu_pd(to + 8, _mm512_permutex2var_pd(v.s, high, v.c));
        }
}

__attribute__((target("avx2"))) static void run_sleef_256_double(void)
{
    double *to = (double *)(void *)out;
    const size_t rows = BLOCK_BYTES / (16 * n);
    for (size_t r = 0; r < rows; r++, position++)
        for (size_t i = 0; i < n; i += 4, to += 8) {
            const pair_256 v = sleef_256(
                _mm256_mul_pd(_mm256_set1_pd((double)position), _mm256_loadu_pd(theta + i)));
            const __m256d even = _mm256_unpacklo_pd(v.s, v.c), odd = _mm256_unpackhi_pd(v.s, v.c);
            _mm256_storeu_pd(to, _mm256_permute2f128_pd(even, odd, 0x20));
            _mm256_storeu_pd(to + 4, _mm256_permute2f128_pd(even, odd, 0x31));
        }
}

/* Without the library, or a processor for it: NULL. */
static sleef_ways find_sleef(void)
{
    void *library = dlopen("libsleef.so.3", RTLD_NOW), *found;
    if (library != NULL && __builtin_cpu_supports("avx512f")) {
        found = dlsym(library, "Sleef_sincosd8_u10avx512f");
        memcpy(&sleef_512, &found, sizeof sleef_512);
    } else if (library != NULL && __builtin_cpu_supports("avx2")) {
        found = dlsym(library, "Sleef_sincosd4_u10avx2");
        memcpy(&sleef_256, &found, sizeof sleef_256);
    }
    return sleef_512 != NULL   ? (sleef_ways){run_sleef_512, run_sleef_512_double}
           : sleef_256 != NULL ? (sleef_ways){run_sleef_256, run_sleef_256_double}
                               : (sleef_ways){NULL, NULL};
}
#else
static sleef_ways find_sleef(void)
{
    return (sleef_ways){NULL, NULL};
}
#endif

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
    if (pe_wave_make(&spec, &wave, &why) != PE_OK)
        abort();
    n = pairs;
    for (size_t i = 0; i < n; i++)
        theta[i] = pow(base, -(double)i / (double)n);
}

static const struct kind {
    const char *name;
    pe_dtype dtype;
    bool planes, cos_only;
} kinds[] = {
    {"float32", PE_FLOAT32, false, false},    {"float32 planes", PE_FLOAT32, true, false},
    {"float32 cos", PE_FLOAT32, false, true}, {"float64", PE_FLOAT64, false, false},
    {"float64 cos", PE_FLOAT64, false, true}, {"float16", PE_FLOAT16, false, false},
    {"bfloat16", PE_BFLOAT16, false, false},
};
#define DOUBLES 3 /* of kinds */

static const struct set {
    const char *name;
    size_t pairs;
    double base;
    bool amplified, all_ways;
} sets[] = {
    {"64 x 1e4", 64, 10000, false, true},
    {"256 x 1e4", 256, 10000, false, true},
    {"64 x 5e5 amplified", 64, 500000, true, false},
    {"1024 x 1e4", 1024, 10000, false, false},
};

static void measure(const struct set *set, const struct kind *kind, const struct way *asked,
                    const char *yardstick, void (*run)(void))
{
    bench_row row = {.yardstick = yardstick,
                     .run = run_waves,
                     .run_yardstick = run,
                     .unit = BENCH_BYTES,
                     .amount = BLOCK_BYTES,
                     .elements = BLOCK_BYTES / pe_dtype_bytes(kind->dtype)};
    snprintf(row.name, sizeof row.name, "waves/%s/%s%s", set->name, kind->name, asked->name);
    snprintf(row.candidate, sizeof row.candidate, "%s", pe_kernels_get()->name);
    dtype = kind->dtype;
    layout = kind->cos_only ? (pe_wave_layout){1, -1, 0, n}
             : kind->planes ? (pe_wave_layout){1, 0, (ptrdiff_t)n, 2 * n}
                            : (pe_wave_layout){2, 0, 1, 2 * n};
    way = asked;
    position = way->first;
    make_list();
    bench_measure(&row);
}

/* Rows of one kind, asked for so, by every variant. */
static void by_variants(const struct set *set, const struct kind *kind, const struct way *asked)
{
    pe_problem why;
    for (const pe_kernels *const *v = pe_kernels_all(); *v != NULL; v++) {
        if (pe_kernels_select((*v)->name, &why) != PE_OK)
            abort();
        measure(set, kind, asked, "memset", run_memset);
    }
    if (pe_kernels_select("auto", &why) != PE_OK)
        abort();
}

static void by_libraries(const struct set *set, sleef_ways sleef)
{
    const struct kind *const single = &kinds[0], *const wide = &kinds[DOUBLES];
    measure(set, single, &ways[0], "libm", run_libm);
    measure(set, wide, &ways[0], "libm", run_libm_double);
    if (sleef.single == NULL)
        return;
    measure(set, single, &ways[0], "SLEEF", sleef.single);
    measure(set, wide, &ways[0], "SLEEF", sleef.wide);
}

static void bench(const struct set *set, sleef_ways sleef)
{
    make_wave(set->pairs, set->base, set->amplified);
    for (size_t k = 0; k < PE_LEN(kinds); k++)
        by_variants(set, &kinds[k], &ways[0]);
    for (size_t w = 1; w < PE_LEN(ways) && set->all_ways; w++) {
        by_variants(set, &kinds[0], &ways[w]);
        by_variants(set, &kinds[DOUBLES], &ways[w]);
    }
    by_libraries(set, sleef);
    const pe_wave_paths paths = pe_wave_paths_read(wave);
    if (paths.kernel != 0)
        bench_note(
            "# waves/%s: elements %.3g by kernels (%.3g of them directly), %.3g with 128 bits, "
            "%.3g by MPFR",
            set->name, (double)paths.kernel, (double)paths.direct, (double)paths.fixed128,
            (double)paths.mpfr);
    pe_wave_free(wave);
}

void bench_waves(void)
{
    const sleef_ways sleef = find_sleef();
    if (sleef.single == NULL)
        bench_note("# SLEEF is not there (.ci/deps yardsticks); no rows beside it");
    for (size_t k = 0; k < PE_LEN(sets); k++)
        bench(&sets[k], sleef);
}
