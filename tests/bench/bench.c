/* SPDX-License-Identifier: MIT */
/* bench.c - one table of what is fast how much, each row alternated with its yardstick.
 *
 * BENCH=glob or part of a name chooses rows, BENCH_ROUNDS sets the rounds, BENCH_JSON=file appends
 * a JSON object per row, each on a line of its own and complete in itself.
 */
#include "bench/bench.h"

#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "kernels/kernels.h"
#include "text/blocks.h"

#define ROUNDS_MAX 1000
#define SAMPLE     1e-4 /* seconds of a round */

static size_t rounds = 25, measured;
static FILE *records;
static char machine[256], date[32];

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one side of a row ---------------------------------------------------------------------- */

typedef struct side {
    void (*run)(void);
    size_t calls;
    double time[ROUNDS_MAX];
} side;

static double sample(const side *s)
{
    const double start = seconds();
    for (size_t call = 0; call < s->calls; call++)
        s->run();
    return (seconds() - start) / (double)s->calls;
}

/* The first run touches pages and makes what is made once. */
static void warm_up(side *s, void (*run)(void))
{
    s->run = run;
    s->calls = 1;
    (void)sample(s);
    const double once = sample(s);
    s->calls = once < SAMPLE / 1000 ? 1000 : once < SAMPLE ? (size_t)(SAMPLE / once) : 1;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- rows ----------------------------------------------------------------------------------- */

bool bench_wanted(const char *name)
{
    const char *wanted = getenv("BENCH");
    if (wanted == NULL || *wanted == '\0')
        return true;
    return strpbrk(wanted, "*?[") ? fnmatch(wanted, name, 0) == 0 : strstr(name, wanted) != NULL;
}

void bench_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

/* Of a row whose candidate is a level: the row before, if it is of the level below. */
static void tell_slower(const bench_row *row, double least, double spread)
{
    static bench_row below;
    static double below_least;
    const double by = least / below_least - 1;
    if (strcmp(row->name, below.name) == 0 && strcmp(row->yardstick, below.yardstick) == 0 &&
        by > spread)
        bench_note("# %s: %s is slower than %s by %.0f %%", row->name, row->candidate,
                   below.candidate, by * 100);
    below = *row;
    below_least = least;
}

static void record(const bench_row *row, double ratio, double figure, double least, double spread)
{
    if (records == NULL)
        return;
    json_t *object = json_pack(
        "{ss ss ss sf sf ss sf sf ss ss ss ss ss}", "bench", row->name, "candidate", row->candidate,
        "yardstick", row->yardstick, "ratio", ratio, "figure", figure, "unit",
        row->unit == BENCH_BYTES ? "GB/s" : "ns/value", "elements/s", (double)row->elements / least,
        "spread", spread, "machine", machine, "date", date, "compiler", __VERSION__, "kernels",
        pe_kernels_get()->name, "text", pe_blocks_get()->name);
    if (object == NULL || json_dumpf(object, records, JSON_REAL_PRECISION(6)) != 0)
        fprintf(stderr, "bench: no record of %s\n", row->name);
    fputc('\n', records);
    json_decref(object);
}

void bench_measure(const bench_row *row)
{
    static side candidate, yardstick;
    if (!bench_wanted(row->name))
        return;
    measured++;
    warm_up(&yardstick, row->run_yardstick);
    warm_up(&candidate, row->run);
    for (size_t round = 0; round < rounds; round++) {
        yardstick.time[round] = sample(&yardstick);
        candidate.time[round] = sample(&candidate);
    }
    qsort(candidate.time, rounds, sizeof(double), by_size);
    qsort(yardstick.time, rounds, sizeof(double), by_size);
    const double least = candidate.time[0], amount = (double)row->amount;
    const double ratio = yardstick.time[0] / least;
    const double spread = candidate.time[rounds / 2] / least - 1;
    const double figure = row->unit == BENCH_BYTES ? amount / least * 1e-9 : least / amount * 1e9;
    char rate[32] = "";
    if (row->elements != 0)
        snprintf(rate, sizeof rate, "%8.3f G/s", (double)row->elements / least * 1e-9);
    printf("%-50s %-10s %-9s %7.*f  %7.2f %-8s %12s %5.0f %%\n", row->name, row->candidate,
           row->yardstick,
           ratio < 0.1  ? 3
           : ratio < 10 ? 2
                        : 1,
           ratio, figure, row->unit == BENCH_BYTES ? "GB/s" : "ns/value", rate, spread * 100);
    tell_slower(row, least, spread);
    fflush(stdout);
    record(row, ratio, figure, least, spread);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* "Intel(R) Xeon(R) ..., x86_64, Linux 6.1" */
static void describe_machine(void)
{
    char line[160], model[160] = "";
    struct utsname system;
    FILE *cpus = fopen("/proc/cpuinfo", "r");
    while (cpus != NULL && model[0] == '\0' && fgets(line, sizeof line, cpus) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL)
            snprintf(model, sizeof model, "%.*s, ", (int)strcspn(strchr(line, ':') + 2, "\n"),
                     strchr(line, ':') + 2);
    if (cpus != NULL)
        fclose(cpus);
    if (uname(&system) == 0)
        snprintf(machine, sizeof machine, "%s%s, %.20s %.40s", model, system.machine,
                 system.sysname, system.release);
    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

static bool read_settings(void)
{
    const char *asked = getenv("BENCH_ROUNDS"), *file = getenv("BENCH_JSON");
    if (asked != NULL && *asked != '\0')
        rounds = strtoul(asked, NULL, 10);
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench: BENCH_ROUNDS must be 1 to %d, got %s\n", ROUNDS_MAX, asked);
        return false;
    }
    if (file == NULL || *file == '\0')
        return true;
    records = fopen(file, "a");
    if (records == NULL)
        perror(file);
    return records != NULL;
}

int main(void)
{
    if (!read_settings())
        return 1;
    describe_machine();
    printf("%s; %s; kernels %s, text %s; %zu rounds\n\n", machine, __VERSION__,
           pe_kernels_get()->name, pe_blocks_get()->name, rounds);
    printf("%-50s %-10s %-9s %7s  %16s %12s %7s\n", "bench", "candidate", "yardstick", "ratio",
           "figure", "elements", "spread");
    bench_waves();
    bench_kernels();
    bench_index();
    bench_print();
    bench_read();
    if (records != NULL && fclose(records) != 0) {
        perror("BENCH_JSON");
        return 1;
    }
    if (measured == 0)
        fprintf(stderr, "bench: no row is called %s\n", getenv("BENCH"));
    return measured == 0;
}
