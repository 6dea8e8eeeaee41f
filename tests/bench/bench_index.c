/* SPDX-License-Identifier: MIT */
/* bench_index.c - tables of relative positions, made block by block, beside copying one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "bench/bench.h"
#include "encodings/registry.h"
#include "plan/plan.h"
#include "tables/tables.h"

#define BLOCK_BYTES ((size_t)256 << 10)

static _Alignas(64) unsigned char out[BLOCK_BYTES], from[BLOCK_BYTES];
static pe_plan plan;
static size_t bytes;

static void require(pe_status status, const pe_problem *why)
{
    if (status == PE_OK)
        return;
    fprintf(stderr, "%s\n", why->detail);
    exit(1);
}

/* The whole table through one block, as a stream would pull it. */
static void run_ours(void)
{
    const pe_tensor *tensor = &plan.tensors[0];
    const size_t most = BLOCK_BYTES / (tensor->unit * pe_dtype_bytes(tensor->dtype));
    pe_problem why;
    for (size_t first = 0, n; first < tensor->units; first += n) {
        n = tensor->units - first < most ? tensor->units - first : most;
        const pe_region region = pe_plan_units(&plan, 0, first, n);
        require(plan.fill(&plan, &region, out, &why), &why);
    }
}

static void run_memcpy(void)
{
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < BLOCK_BYTES ? bytes - done : BLOCK_BYTES;
        memcpy(out, from, n);
        __asm__ volatile("" : : "r"(out) : "memory"); /* each block is wanted */
    }
}

static void bench(const char *target, pe_tables *tables)
{
    char path[64];
    const char *query = strchr(target, '?') + 1;
    const pe_read_limits read_limits = {
        .max_elements = 1 << 28, .max_positions = 1 << 28, .max_depth = 32};
    const pe_limits limits = {.max_elements = 1 << 28};
    bench_row row = {.candidate = "posenc",
                     .yardstick = "memcpy",
                     .run = run_ours,
                     .run_yardstick = run_memcpy,
                     .unit = BENCH_BYTES};
    pe_query ask;
    pe_problem why;
    snprintf(row.name, sizeof row.name, "index/%s", target + strlen("/v1/"));
    if (!bench_wanted(row.name))
        return;
    snprintf(path, sizeof path, "%.*s", (int)(query - 1 - target), target);
    const pe_resource *resource = pe_registry_find(path);
    require(pe_query_parse(resource, pe_slice_of(query), false, &read_limits, &ask, &why), &why);
    plan = (pe_plan){0};
    require(pe_plan_make(resource, &ask.values, tables, &limits, &plan, &why), &why);
    row.elements = plan.tensors[0].units * plan.tensors[0].unit;
    row.amount = bytes = row.elements * pe_dtype_bytes(plan.tensors[0].dtype);
    bench_measure(&row);
    pe_plan_free(&plan);
    pe_query_free(&ask);
}

void bench_index(void)
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
    pe_tables *tables;
    pe_problem why;
    require(pe_tables_make(1 << 24, &tables, &why), &why);
    memset(from, 1, sizeof from);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        bench(targets[i], tables);
    pe_tables_free(tables);
}
