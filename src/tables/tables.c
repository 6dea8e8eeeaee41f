/* SPDX-License-Identifier: MIT */
/* tables.c - what requests share, kept in one byte-bounded cache. */
#include "tables/tables.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "base/yield.h"

/* Identities start at 1 and never come back, so a block of an evicted set is never found again. */
struct pe_tables {
    pe_cache *cache;
    _Atomic uint64_t last_id;
    pthread_mutex_t lock; /* guards the pointer */
    pe_learned_tables *learned;
};

/* What the cache holds: a frequency set (wave), or the rows of one block or the numbers of a
 * formula (wave NULL). */
typedef struct item {
    pe_wave *wave;
    uint64_t id;
    alignas(max_align_t) double rows[]; /* block: cos [PE_BLOCK_ROWS, n], then sin; or numbers */
} item;

static void free_item(void *value)
{
    item *it = value;
    if (it == NULL)
        return;
    if (it->wave != NULL)
        pe_wave_free(it->wave);
    free(it);
}

pe_status pe_tables_make(size_t bytes_max, pe_tables **out, pe_problem *why)
{
    pe_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL)
        return pe_fail_memory(why);
    const pe_status status = pe_cache_make(bytes_max, free_item, &tables->cache, why);
    if (status != PE_OK) {
        free(tables);
        return status;
    }
    pthread_mutex_init(&tables->lock, NULL);
    *out = tables;
    return PE_OK;
}

void pe_tables_free(pe_tables *tables)
{
    if (tables == NULL)
        return;
    pe_cache_free(tables->cache);
    pe_learned_tables_free(tables->learned);
    pthread_mutex_destroy(&tables->lock);
    free(tables);
}

void pe_tables_use_learned(pe_tables *tables, pe_learned_tables *learned)
{
    pthread_mutex_lock(&tables->lock);
    pe_learned_tables *before = tables->learned;
    tables->learned = learned;
    pthread_mutex_unlock(&tables->lock);
    pe_learned_tables_free(before);
}

pe_learned_tables *pe_tables_learned(pe_tables *tables)
{
    pthread_mutex_lock(&tables->lock);
    pe_learned_tables *learned = pe_learned_tables_ref(tables->learned);
    pthread_mutex_unlock(&tables->lock);
    return learned;
}

size_t pe_tables_evict(pe_tables *tables, size_t bytes)
{
    return pe_cache_evict(tables->cache, bytes);
}

void pe_tables_stats(pe_tables *tables, pe_cache_stats *out)
{
    pe_cache_stats_get(tables->cache, out);
}

void pe_tables_unref(void *shared)
{
    pe_cache_entry **entry = shared;
    pe_cache_entry_unref(*entry);
    *entry = NULL;
}

/* ---- frequency sets ---- */

/* The spec as bytes without padding; the formula's bytes follow. */
typedef struct wave_key {
    uint64_t kind; /* 'W': no block key has this length and first word */
    uint64_t n, float32, formula_bytes;
    double num, den, position_scale;
    void (*base)(const void *, mpfr_ptr);
    size_t (*sequence)(const void *, size_t, mpfr_ptr);
    void (*scale)(const void *, size_t, mpfr_ptr);
    void (*amplitude)(const void *, mpfr_ptr);
    float (*scale32)(const void *, size_t, float);
} wave_key;

_Static_assert(sizeof(wave_key) == 7 * 8 + 5 * sizeof(void (*)(void)), "keys hold no padding");

typedef struct wave_fill {
    pe_tables *tables;
    const pe_wave_spec *spec;
} wave_fill;

static pe_status fill_wave(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const wave_fill *fill = context;
    item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return pe_fail_memory(why);
    const pe_status status = pe_wave_make(fill->spec, &it->wave, why);
    if (status != PE_OK) {
        free(it);
        return status;
    }
    it->id = atomic_fetch_add(&fill->tables->last_id, 1) + 1;
    *bytes = sizeof *it + pe_wave_bytes(it->wave);
    *value = it;
    return PE_OK;
}

/* The entry whose key is a head, and a formula behind it. */
static pe_status get(pe_tables *tables, pe_slice head, pe_slice formula, pe_cache_fill fill,
                     void *context, pe_cache_entry **out, pe_problem *why)
{
    size_t bytes;
    unsigned char *key = pe_size_add(head.bytes, formula.bytes, &bytes) ? malloc(bytes) : NULL;
    if (key == NULL)
        return pe_fail_memory(why);
    memcpy(key, head.text, head.bytes);
    if (formula.bytes != 0)
        memcpy(key + head.bytes, formula.text, formula.bytes);
    const pe_cache_request request = {
        .key = key, .key_bytes = bytes, .fill = fill, .context = context};
    const pe_status status = pe_cache_get(tables->cache, &request, out, NULL, why);
    free(key);
    return status;
}

pe_status pe_tables_wave(pe_tables *tables, const pe_wave_spec *spec, pe_shared_wave *out,
                         pe_problem *why)
{
    const wave_key head = {.kind = 'W',
                           .n = spec->n,
                           .float32 = spec->float32,
                           .formula_bytes = spec->formula_bytes,
                           .num = spec->num,
                           .den = spec->den,
                           .position_scale = spec->position_scale,
                           .base = spec->base,
                           .sequence = spec->sequence,
                           .scale = spec->scale,
                           .amplitude = spec->amplitude,
                           .scale32 = spec->scale32};
    wave_fill fill = {tables, spec};
    pe_cache_entry *entry;
    PE_TRY(get(tables, (pe_slice){(const char *)&head, sizeof head},
               (pe_slice){spec->formula, spec->formula_bytes}, fill_wave, &fill, &entry, why));
    const item *it = pe_cache_entry_value(entry);
    *out = (pe_shared_wave){entry, it->wave, it->id};
    return PE_OK;
}

/* ---- row blocks ---- */

typedef struct block_key {
    uint64_t kind; /* 'B' */
    uint64_t id;
    int64_t block;
} block_key;

typedef struct block_fill {
    const pe_wave *wave;
    int64_t block;
} block_fill;

static pe_status fill_block(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const block_fill *fill = context;
    const size_t n = pe_wave_count(fill->wave);
    size_t elements;
    if (!pe_size_mul(n, 2 * PE_BLOCK_ROWS, &elements) ||
        !pe_size_mul(elements, sizeof(double), bytes) || !pe_size_add(*bytes, sizeof(item), bytes))
        return pe_fail_memory(why);
    item *it = malloc(*bytes);
    if (it == NULL)
        return pe_fail_memory(why);
    *it = (item){0};
    /* the sines lie a whole plane behind the cosines */
    const pe_wave_layout layout = {
        .stride = 1, .cos_at = 0, .sin_at = (ptrdiff_t)(n * PE_BLOCK_ROWS), .row = n};
    const pe_positions positions =
        pe_positions_range(fill->block * PE_BLOCK_ROWS, 1, PE_BLOCK_ROWS);
    const pe_wave_table table = {fill->wave, &positions, &layout, PE_FLOAT64};
    pe_status status = pe_wave_table_rows(&table, 0, PE_BLOCK_ROWS, it->rows, why);
    pe_yield_spend(elements);
    if (status == PE_OK)
        status = pe_yield_check(why);
    if (status != PE_OK) {
        free(it);
        return status;
    }
    *value = it;
    return PE_OK;
}

pe_status pe_tables_block(pe_tables *tables, const pe_shared_wave *wave, int64_t block,
                          pe_block *out, pe_problem *why)
{
    pe_cache_entry *entry;
    const block_key key = {'B', wave->id, block};
    block_fill fill = {wave->wave, block};
    const pe_cache_request request = {
        .key = &key, .key_bytes = sizeof key, .fill = fill_block, .context = &fill};
    PE_TRY(pe_cache_get(tables->cache, &request, &entry, NULL, why));
    const item *it = pe_cache_entry_value(entry);
    *out = (pe_block){entry, it->rows, it->rows + pe_wave_count(wave->wave) * PE_BLOCK_ROWS};
    return PE_OK;
}

/* ---- numbers of a formula ---- */

/* The spec as bytes without padding; the formula's bytes follow. */
typedef struct numbers_key {
    uint64_t kind; /* 'N' */
    uint64_t bytes, formula_bytes;
    void (*make)(const void *, void *);
} numbers_key;

_Static_assert(sizeof(numbers_key) == 3 * 8 + sizeof(void (*)(void)), "keys hold no padding");

static pe_status fill_numbers(void *context, void **value, size_t *bytes, pe_problem *why)
{
    const pe_numbers_spec *spec = context;
    if (!pe_size_add(spec->bytes, sizeof(item), bytes))
        return pe_fail_memory(why);
    item *it = calloc(1, *bytes);
    if (it == NULL)
        return pe_fail_memory(why);
    spec->make(spec->formula, it->rows);
    *value = it;
    return PE_OK;
}

pe_status pe_tables_numbers(pe_tables *tables, const pe_numbers_spec *spec, pe_shared_numbers *out,
                            pe_problem *why)
{
    const numbers_key head = {'N', spec->bytes, spec->formula_bytes, spec->make};
    pe_numbers_spec fill = *spec;
    pe_cache_entry *entry;
    PE_TRY(get(tables, (pe_slice){(const char *)&head, sizeof head},
               (pe_slice){spec->formula, spec->formula_bytes}, fill_numbers, &fill, &entry, why));
    *out = (pe_shared_numbers){entry, ((const item *)pe_cache_entry_value(entry))->rows};
    return PE_OK;
}
