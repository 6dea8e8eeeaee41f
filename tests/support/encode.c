/* SPDX-License-Identifier: MIT */
/* encode.c - a resource's numbers without HTTP: read, planned and filled. */
#include "support/check.h"
#include "plan/resource.h"
#include "support/encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

static const pe_read_limits read_limits = {
    .max_elements = 1 << 24, .max_positions = 1 << 24, .max_depth = 32};
static const pe_limits limits = {.max_elements = 1 << 24};

const char *encode_folder;
pe_tables *encode_tables;

static pe_tables *make_tables(void)
{
    const pe_learned_limits most = {.bytes = 1 << 24, .tables = 64};
    pe_learned_tables *learned = NULL;
    pe_tables *tables;
    pe_problem why;
    assert_int_equal(pe_tables_make(1 << 24, &tables, &why), PE_OK);
    if (encode_folder != NULL)
        assert_int_equal(pe_learned_tables_load(encode_folder, &most, &learned, &why), PE_OK);
    pe_tables_use_learned(tables, learned);
    return tables;
}

static encoded plan(const pe_resource *resource, bool json, const char *text, size_t bytes)
{
    encoded e = {.status = PE_OK};
    e.status =
        pe_query_parse(resource, (pe_slice){text, bytes}, json, &read_limits, &e.ask, &e.why);
    if (e.status != PE_OK)
        return e;
    e.tables = encode_tables == NULL ? make_tables() : NULL;
    e.status =
        pe_plan_make(resource, &e.ask.values, encode_tables != NULL ? encode_tables : e.tables,
                     &limits, &e.plan, &e.why);
    return e;
}

encoded encode(const pe_resource *resource, const char *query, ...)
{
    char text[8192];
    va_list list;
    va_start(list, query);
    const int bytes = vsnprintf(text, sizeof text, query, list);
    va_end(list);
    assert_in_range(bytes, 0, sizeof text - 1);
    return plan(resource, false, text, (size_t)bytes);
}

encoded encode_json(const pe_resource *resource, const char *body, ...)
{
    char *text;
    va_list list;
    va_start(list, body);
    const int bytes = vasprintf(&text, body, list);
    va_end(list);
    assert_true(bytes >= 0);
    const encoded e = plan(resource, true, text, (size_t)bytes);
    free(text);
    return e;
}

void encoded_free(encoded *e)
{
    pe_plan_free(&e->plan);
    pe_query_free(&e->ask);
    pe_tables_free(e->tables);
    *e = (encoded){0};
}

double *encoded_units(const encoded *e, size_t t, size_t first, size_t units)
{
    if (e->status != PE_OK)
        fail_msg("%s: %s", e->why.where, e->why.detail);
    const pe_tensor *tensor = &e->plan.tensors[t];
    const size_t n = units * tensor->unit, bytes = pe_dtype_bytes(tensor->dtype);
    pe_problem why;
    unsigned char *out = aligned_alloc(64, (n * bytes + 63) / 64 * 64 + 64);
    double *values = malloc((n + 1) * sizeof *values);
    assert_non_null(out);
    assert_non_null(values);
    memset(out, 0x5a, n * bytes + 8);
    const pe_region region = pe_plan_units(&e->plan, t, first, units);
    if (e->plan.fill(&e->plan, &region, out, &why) != PE_OK)
        fail_msg("fill: %s", why.detail);
    for (size_t i = 0; i < 8; i++)
        if (out[n * bytes + i] != 0x5a)
            fail_msg("fill of units %zu + %zu wrote past its end", first, units);
    for (size_t i = 0; i < n; i++)
        values[i] = pe_dtype_load(tensor->dtype, out + i * bytes);
    free(out);
    return values;
}

double *encoded_all(const encoded *e, size_t t)
{
    return encoded_units(e, t, 0, e->plan.tensors[t].units);
}

void assert_windows(const encoded *e, random_source *random)
{
    enum { WINDOWS = 60 };
    for (size_t t = 0; t < e->plan.n_tensors; t++) {
        const size_t n = e->plan.tensors[t].units, unit = e->plan.tensors[t].unit;
        double *all = encoded_all(e, t);
        for (int windows = 0; windows < WINDOWS; windows++) {
            const size_t first = (size_t)random_int(random, 0, (int64_t)n - 1);
            const size_t some = (size_t)random_int(random, 1, (int64_t)(n - first));
            double *got = encoded_units(e, t, first, some);
            if (memcmp(got, all + first * unit, some * unit * sizeof *got) != 0)
                fail_msg("seed %llu: units %zu + %zu of %zu of tensor %zu differ",
                         (unsigned long long)random->seed, first, some, n, t);
            free(got);
        }
        free(all);
    }
}

void assert_levels_agree(encoded make(const void *setting), const void *setting)
{
    pe_problem why;
    encoded first = make(setting);
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++) {
        assert_int_equal(pe_kernels_select((*k)->name, &why), PE_OK);
        encoded e = make(setting);
        for (size_t t = 0; t < e.plan.n_tensors; t++) {
            double *got = encoded_all(&e, t), *wanted = encoded_all(&first, t);
            assert_memory_equal(got, wanted, e.plan.tensors[t].elements * sizeof *got);
            free(got);
            free(wanted);
        }
        encoded_free(&e);
    }
    encoded_free(&first);
    assert_int_equal(pe_kernels_select("auto", &why), PE_OK);
}
