/* SPDX-License-Identifier: MIT */
/* bench_index.c - tables of relative positions, made block by block, beside copying such a block.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/ask.h"
#include "encodings/registry.h"
#include "tables/tables.h"

#define BLOCK_BYTES ((size_t)256 << 10)
#define ROUNDS      25

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void require(pe_status status, const pe_problem *why)
{
    if (status == PE_OK)
        return;
    fprintf(stderr, "%s\n", why->detail);
    exit(1);
}

static char *out, *from;

/* The whole table through one block, as a stream would pull it; returns its bytes. */
static size_t run_ours(const pe_plan *plan)
{
    const pe_tensor *tensor = &plan->tensors[0];
    const size_t unit = tensor->unit * pe_dtype_bytes(tensor->dtype), most = BLOCK_BYTES / unit;
    pe_problem why;
    for (size_t first = 0, n; first < tensor->units; first += n) {
        n = tensor->units - first < most ? tensor->units - first : most;
        require(plan->fill(plan, 0, first, n, out, &why), &why);
    }
    return tensor->units * unit;
}

static void run_memcpy(size_t bytes)
{
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < BLOCK_BYTES ? bytes - done : BLOCK_BYTES;
        memcpy(out, from, n);
        __asm__ volatile("" : : "r"(out) : "memory"); /* each block is wanted */
    }
}

static void bench(const char *target)
{
    char path[64];
    const char *query = strchr(target, '?') + 1;
    const pe_read_limits read_limits = {1 << 28, 1 << 28, 32};
    const pe_limits limits = {1 << 28};
    pe_ask ask;
    pe_plan plan = {0};
    pe_problem why;
    double ours = HUGE_VAL, copied = HUGE_VAL;
    size_t bytes = 0;

    snprintf(path, sizeof path, "%.*s", (int)(query - 1 - target), target);
    const pe_resource *resource = pe_resource_find(path);
    require(pe_ask_from_query(resource, query, strlen(query), &read_limits, &ask, &why), &why);
    require(resource->plan(&ask.values, NULL, &limits, &plan, &why), &why);
    for (int round = 0; round < ROUNDS; round++) {
        const double start = seconds();
        bytes = run_ours(&plan);
        const double middle = seconds();
        run_memcpy(bytes);
        const double end = seconds();
        ours = fmin(ours, middle - start);
        copied = fmin(copied, end - middle);
    }
    printf("%-66s %7.1f %7.1f %6.2f\n", target, (double)bytes / ours * 1e-9,
           (double)bytes / copied * 1e-9, copied / ours);
    pe_plan_free(&plan);
    pe_ask_free(&ask);
}

int main(void)
{
    static const char *const targets[] = {
        "/v1/t5/buckets?query_length=64",
        "/v1/t5/buckets?query_length=512",
        "/v1/t5/buckets?query_length=4096",
        "/v1/t5/buckets?query_length=16&key_length=1000000",
        "/v1/t5/buckets?query_length=512&variant=deberta",
        "/v1/shaw/indices?query_length=512&max_relative_position=64",
        "/v1/shaw/indices?query_length=4096&max_relative_position=4096",
        "/v1/alibi/bias?num_heads=8&query_length=512",
        "/v1/alibi/bias?num_heads=8&query_length=512&form=causal",
    };
    out = aligned_alloc(64, BLOCK_BYTES);
    from = aligned_alloc(64, BLOCK_BYTES);
    if (out == NULL || from == NULL)
        return 1;
    memset(from, 1, BLOCK_BYTES);
    printf("%-66s %7s %7s %6s\n", "table, 256 KiB blocks", "GB/s", "memcpy", "ratio");
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        bench(targets[i]);
    free(out);
    free(from);
    return 0;
}
