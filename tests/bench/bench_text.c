/* SPDX-License-Identifier: MIT */
/* bench_text.c - time of printing and reading numbers, beside what everybody has. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "support/random.h"
#include "text/blocks.h"
#include "text/number.h"
#include "text/scan.h"

#define NUMBERS 16384

static char elements[8 * NUMBERS], text[PE_NUMBER_TEXT_MAX * NUMBERS];
static pe_dtype dtype;

static void print_ours(void)
{
    (void)pe_blocks_print(dtype, elements, NUMBERS, ',', text);
}

static void print_snprintf(void)
{
    const int digits = dtype == PE_FLOAT64 ? 17 : 9;
    char *out = text;
    for (size_t i = 0; i < NUMBERS; i++) {
        double v = pe_dtype_load(dtype, elements + i * pe_dtype_bytes(dtype));
        out += snprintf(out, PE_NUMBER_TEXT_MAX, "%.*g,", digits, v);
    }
}

/* --- what is printed --- */

static random_source source = {.seed = 1, .state = 1}; /* the same numbers in every run */

/* Element i of a sinusoidal table of this width, `first` being the position of its first row. */
static double sinusoidal(size_t first, size_t width, size_t i)
{
    const size_t position = first + i / width, channel = i % width, pair = channel / 2;
    double angle = (double)position / pow(10000, 2 * (double)pair / (double)width);
    return channel % 2 ? cos(angle) : sin(angle);
}

static double table_value(size_t i)
{
    return sinusoidal(1000, 64, i);
}

static double early_value(size_t i)
{
    return sinusoidal(0, 512, i);
}

static double normal_value(size_t i) /* roughly normal, as embeddings are */
{
    double sum = -6;
    (void)i;
    for (int k = 0; k < 12; k++)
        sum += (double)(random_bits(&source) >> 11) * 0x1p-53;
    return sum;
}

static double ramp_value(size_t i) /* as attention biases are */
{
    return -(double)i * 0.25;
}

static double middle_value(size_t i) /* magnitudes from 2^-15 to 2^15 alike */
{
    (void)i;
    return ldexp(1 + (double)(random_bits(&source) >> 12) * 0x1p-52,
                 (int)(random_bits(&source) % 30) - 15);
}

static double bits_value(size_t i) /* every finite value of the type alike, with either sign */
{
    double value;
    (void)i;
    do {
        const uint64_t bits = random_bits(&source);
        value = pe_dtype_load(dtype, &bits);
    } while (!isfinite(value));
    return value;
}

static const struct data {
    const char *name;
    double (*value)(size_t i);
    bool every_variant; /* the best one only, otherwise */
} datas[] = {
    {"table", table_value, true},          {"table 0:32", early_value, false},
    {"normal", normal_value, false},       {"ramp", ramp_value, true},
    {"2^-15 to 2^15", middle_value, true}, {"random bits", bits_value, true},
};

static void fill(const struct data *data)
{
    for (size_t i = 0; i < NUMBERS; i++)
        pe_dtype_store(dtype, data->value(i), elements + i * pe_dtype_bytes(dtype));
}

static void measure_print(const struct data *data)
{
    const pe_blocks *const *all = pe_blocks_all();
    bench_row row = {.yardstick = "snprintf",
                     .run = print_ours,
                     .run_yardstick = print_snprintf,
                     .unit = BENCH_VALUES,
                     .amount = NUMBERS};
    snprintf(row.name, sizeof row.name, "print/%s/%s", data->name, pe_dtype_name(dtype));
    for (const pe_blocks *const *v = all; *v != NULL; v++) {
        if (!data->every_variant && v[1] != NULL)
            continue;
        (void)pe_blocks_select((*v)->name);
        snprintf(row.candidate, sizeof row.candidate, "%s", (*v)->name);
        bench_measure(&row);
    }
    (void)pe_blocks_select("auto");
}

void bench_print(void)
{
    for (dtype = 0; dtype < PE_INT32; dtype++)
        for (size_t d = 0; d < PE_LEN(datas); d++) {
            fill(&datas[d]);
            measure_print(&datas[d]);
        }
}

/* --- reading back what was printed --- */

static char body[PE_NUMBER_TEXT_MAX * NUMBERS + 2];
static size_t body_bytes;
static volatile double sink;

static void scan_ours(void)
{
    pe_array array;
    pe_problem why;
    size_t used;
    const pe_scan_wanted wanted = {"x", dtype, NUMBERS, false};
    if (pe_scan_numbers((pe_slice){body, body_bytes}, &wanted, &array, &used, &why) != PE_OK)
        abort();
    pe_array_free(&array);
}

static void scan_jansson(void)
{
    /* Some have more digits than its integers. */
    json_t *array = json_loadb(body, body_bytes, JSON_DECODE_INT_AS_REAL, NULL);
    if (json_array_size(array) != NUMBERS)
        abort();
    json_decref(array);
}

static void scan_strtod(void)
{
    char *at = body + 1;
    for (size_t i = 0; i < NUMBERS; i++)
        sink = strtod(at, &at), at++;
}

static void measure_read(const struct data *data, const char *yardstick, void (*run)(void))
{
    bench_row row = {.candidate = "posenc",
                     .yardstick = yardstick,
                     .run = scan_ours,
                     .run_yardstick = run,
                     .unit = BENCH_BYTES,
                     .amount = body_bytes,
                     .elements = NUMBERS};
    snprintf(row.name, sizeof row.name, "read/%s/%s", data->name, pe_dtype_name(dtype));
    bench_measure(&row);
}

/* --- a body of megabytes --- */

#define LARGE_BYTES 12500000

static char *large;
static size_t large_bytes;

static void scan_large(void)
{
    pe_array array;
    pe_problem why;
    size_t used;
    const pe_scan_wanted wanted = {"x", PE_FLOAT32, LARGE_BYTES, false};
    if (pe_scan_numbers((pe_slice){large, large_bytes}, &wanted, &array, &used, &why) != PE_OK)
        abort();
    pe_array_free(&array);
}

static void scan_large_jansson(void)
{
    json_decref(json_loadb(large, large_bytes, 0, NULL));
}

/* The block over and over again. */
static void measure_large(void)
{
    bench_row row = {.candidate = "posenc",
                     .yardstick = "jansson",
                     .run = scan_large,
                     .run_yardstick = scan_large_jansson,
                     .unit = BENCH_BYTES,
                     .name = "read/table, 12.5 MB/float32"};
    if (!bench_wanted(row.name) || (large = malloc(LARGE_BYTES + sizeof text)) == NULL)
        return;
    dtype = PE_FLOAT32;
    fill(&datas[0]);
    const size_t block = pe_blocks_print(dtype, elements, NUMBERS, ',', text);
    large[0] = '[';
    for (large_bytes = 1; large_bytes < LARGE_BYTES; large_bytes += block + 1) {
        memcpy(large + large_bytes, text, block);
        large[large_bytes + block] = ',';
    }
    large[large_bytes - 1] = ']';
    row.amount = large_bytes;
    bench_measure(&row);
    free(large);
}

void bench_read(void)
{
    for (dtype = 0; dtype < PE_INT32; dtype++)
        for (size_t d = 0; d < PE_LEN(datas); d++) {
            fill(&datas[d]);
            body[0] = '[';
            body_bytes = 1 + pe_blocks_print(dtype, elements, NUMBERS, ',', body + 1);
            body[body_bytes++] = ']';
            measure_read(&datas[d], "jansson", scan_jansson);
            measure_read(&datas[d], "strtod", scan_strtod);
        }
    measure_large();
}
