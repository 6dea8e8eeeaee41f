/* SPDX-License-Identifier: MIT */
/* bench_text.c - time of printing and reading numbers, beside what everybody has. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/blocks.h"
#include "text/number.h"

#define NUMBERS 16384
#define ROUNDS  25

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One measured thing: the best of the rounds, since what disturbs only ever adds. */
typedef struct subject {
    const char *name;
    void (*run)(void);
    double best;
} subject;

static void measure(subject *subjects, size_t n)
{
    for (size_t i = 0; i < n; i++)
        subjects[i].best = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++) {
            double start = seconds();
            subjects[i].run();
            double time = seconds() - start;
            if (time < subjects[i].best)
                subjects[i].best = time;
        }
}

static char elements[8 * NUMBERS], text[PE_NUMBER_TEXT_MAX * NUMBERS];
static pe_dtype dtype;
static size_t text_bytes;

static void print_ours(void)
{
    text_bytes = pe_numbers_print(dtype, elements, NUMBERS, ',', text);
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

static uint64_t random_bits(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9e3779b97f4a7c15; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

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
        sum += (double)(random_bits() >> 11) * 0x1p-53;
    return sum;
}

static double ramp_value(size_t i) /* as attention biases are */
{
    return -(double)i * 0.25;
}

static double any_value(size_t i) /* all magnitudes alike */
{
    (void)i;
    return ldexp(1 + (double)(random_bits() >> 12) * 0x1p-52, (int)(random_bits() % 30) - 15);
}

static const struct data {
    const char *name;
    double (*value)(size_t i);
} datas[] = {
    {"table", table_value}, {"table 0:32", early_value}, {"normal", normal_value},
    {"ramp", ramp_value},   {"2^+-15", any_value},
};

static void fill(const struct data *data)
{
    for (size_t i = 0; i < NUMBERS; i++)
        pe_dtype_store(dtype, data->value(i), elements + i * pe_dtype_bytes(dtype));
}

static void bench_print(void)
{
    printf("%-10s %-12s %10s %12s %8s %10s\n", "print", "data", "ns/value", "snprintf", "ratio",
           "MB/s");
    for (dtype = 0; dtype < PE_INT32; dtype++)
        for (size_t d = 0; d < PE_LEN(datas); d++) {
            fill(&datas[d]);
            subject subjects[] = {{"posenc", print_ours, 0}, {"snprintf", print_snprintf, 0}};
            measure(subjects, 2);
            printf("%-10s %-12s %10.2f %12.1f %7.1fx %10.0f\n", pe_dtype_name(dtype), datas[d].name,
                   subjects[0].best / NUMBERS * 1e9, subjects[1].best / NUMBERS * 1e9,
                   subjects[1].best / subjects[0].best,
                   (double)text_bytes / subjects[0].best * 1e-6);
        }
}

static void bench_variants(void)
{
    const pe_number_blocks *const *all = pe_number_blocks_all();
    printf("\n%-10s %-12s %10s   of the first data\n", "print", "variant", "ns/value");
    for (dtype = 0; dtype < PE_INT32; dtype++)
        for (const pe_number_blocks *const *v = all; *v != NULL; v++) {
            fill(&datas[0]);
            (void)pe_number_select_variant((*v)->name);
            subject subjects[] = {{"posenc", print_ours, 0}};
            measure(subjects, 1);
            printf("%-10s %-12s %10.2f\n", pe_dtype_name(dtype), (*v)->name,
                   subjects[0].best / NUMBERS * 1e9);
        }
    (void)pe_number_select_variant("auto");
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
    if (pe_numbers_scan(body, body_bytes, dtype, "x", NUMBERS, &array, &used, &why) != PE_OK)
        abort();
    pe_array_free(&array);
}

static void scan_jansson(void)
{
    json_t *array = json_loadb(body, body_bytes, 0, NULL);
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

static void bench_scan(void)
{
    printf("\n%-10s %-12s %10s %10s %10s %10s %10s   MB/s\n", "read", "data", "posenc", "jansson",
           "ratio", "strtod", "ratio");
    for (dtype = 0; dtype < PE_INT32; dtype++)
        for (size_t d = 0; d < PE_LEN(datas); d++) {
            fill(&datas[d]);
            body[0] = '[';
            body_bytes = 1 + pe_numbers_print(dtype, elements, NUMBERS, ',', body + 1);
            body[body_bytes++] = ']';
            subject subjects[] = {
                {"posenc", scan_ours, 0}, {"jansson", scan_jansson, 0}, {"strtod", scan_strtod, 0}};
            measure(subjects, 3);
            double mb = (double)body_bytes * 1e-6;
            printf("%-10s %-12s %10.0f %10.0f %9.1fx %10.0f %9.1fx\n", pe_dtype_name(dtype),
                   datas[d].name, mb / subjects[0].best, mb / subjects[1].best,
                   subjects[1].best / subjects[0].best, mb / subjects[2].best,
                   subjects[2].best / subjects[0].best);
        }
}

int main(void)
{
    bench_print();
    bench_variants();
    bench_scan();
    return 0;
}
