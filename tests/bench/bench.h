/* SPDX-License-Identifier: MIT */
/* bench.h - rows of the one table that `make bench` prints. */
#ifndef PE_TESTS_BENCH_BENCH_H
#define PE_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#define BENCH_NAME_MAX 96

typedef enum bench_unit {
    BENCH_BYTES, /* GB/s */
    BENCH_VALUES /* ns per value */
} bench_unit;

/** A candidate beside a yardstick that does as much; both look at the group's own state. */
typedef struct bench_row {
    char name[BENCH_NAME_MAX]; /* "rotate/half 32 heads/float16": what BENCH= chooses by */
    char candidate[32];        /* "v4" */
    const char *yardstick;     /* "memcpy" */
    void (*run)(void);
    void (*run_yardstick)(void);
    bench_unit unit;
    size_t amount;   /* bytes or values of a run */
    size_t elements; /* where bytes are counted: how many elements they are */
} bench_row;

/** Whether BENCH asks for this row: all without it, else by glob or as a part of the name. */
bool bench_wanted(const char *name);

/**
 * Alternate both, some rounds of about 0.1 ms each, and print the row: the ratio of the yardstick's
 * least time to the candidate's (2: twice as fast), the candidate's figure from its least time, and
 * by how much its median was longer. What disturbs only ever adds. A line follows where a level is
 * slower than the one before it. Nothing if not wanted.
 */
void bench_measure(const bench_row *row);

/** A line of text among the rows (printf). */
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The groups of rows; each measures its own. */
void bench_waves(void);
void bench_kernels(void);
void bench_index(void);
void bench_print(void);
void bench_read(void);

#endif
