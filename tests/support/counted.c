/* SPDX-License-Identifier: MIT */
/* counted.c - caches of values that know who they are, and that count what is alive. */
#include "support/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

atomic_size_t counted_values, counted_bytes, counted_fills;
char counted_freed[256];

static void counted_free(void *data)
{
    counted_value *value = data;
    atomic_fetch_sub(&counted_values, 1);
    atomic_fetch_sub(&counted_bytes, value->bytes);
    const size_t freed = strlen(counted_freed);
    if (strlen(value->name) == 1 && freed + 1 < sizeof counted_freed)
        memcpy(counted_freed + freed, value->name, 2);
    free(value);
}

pe_status counted_fill(void *context, void **out, size_t *bytes, pe_problem *why)
{
    const counted_wish *wish = context;
    counted_value *value = calloc(1, sizeof *value);
    if (value == NULL)
        return pe_fail_memory(why);
    value->bytes = wish->bytes;
    snprintf(value->name, sizeof value->name, "%s", wish->name);
    atomic_fetch_add(&counted_fills, 1);
    atomic_fetch_add(&counted_values, 1);
    atomic_fetch_add(&counted_bytes, wish->bytes);
    *out = value;
    *bytes = wish->bytes;
    return PE_OK;
}

pe_cache *counted_cache_make(size_t bytes_max)
{
    pe_cache *cache = NULL;
    pe_problem why = {0};
    counted_freed[0] = '\0';
    atomic_store(&counted_fills, 0);
    assert_int_equal(pe_cache_make(bytes_max, counted_free, &cache, &why), PE_OK);
    return cache;
}

void counted_cache_free(pe_cache *cache)
{
    pe_cache_free(cache);
    assert_int_equal(atomic_load(&counted_values), 0);
    assert_int_equal(atomic_load(&counted_bytes), 0);
}

pe_cache_stats counted_stats(pe_cache *cache)
{
    pe_cache_stats stats;
    pe_cache_stats_get(cache, &stats);
    return stats;
}

int counted_touch(pe_cache *cache, const char *name, size_t bytes)
{
    counted_wish wish = {name, bytes};
    pe_cache_entry *entry = NULL;
    pe_problem why = {0};
    int hit = -1;
    assert_int_equal(pe_cache_get(cache,
                                  &(pe_cache_request){name, strlen(name), counted_fill, &wish, 0},
                                  &entry, &hit, &why),
                     PE_OK);
    const counted_value *value = pe_cache_entry_value(entry);
    assert_string_equal(value->name, name);
    pe_cache_entry_unref(entry);
    return hit;
}

size_t counted_overhead(void)
{
    pe_cache *cache = counted_cache_make((size_t)1 << 20);
    const size_t before = counted_stats(cache).bytes;
    counted_touch(cache, "a", 0);
    const size_t after = counted_stats(cache).bytes;
    counted_cache_free(cache);
    return after - before;
}
