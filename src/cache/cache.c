/* SPDX-License-Identifier: MIT */
/* cache.c - a byte-bounded, scan-resistant map of shared immutable values, filled once. */
#include "cache/cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/yield.h"
#include "cache/hash.h"

/* There is one bucket for so much of the budget: about the weight of a small entry. */
#define BYTES_PER_BUCKET 1024
#define BUCKETS_MAX      ((size_t)1 << 24)

/*
 * A thread that waits while another fills. It lies on the waiting thread's stack. The thread that
 * fills sets `status`, `entry` or `*why`, and `done` under the lock, and never looks at it again.
 */
struct waiter {
    struct waiter *next;
    pthread_cond_t wake;
    bool done;
    pe_status status;
    pe_cache_entry *entry; /* with a reference, when status is OK */
    pe_problem *why;
};

/*
 * Life of an entry
 *
 *   FILLING  made by the thread that missed, which alone holds a reference. In the map, so that
 *            others find it and wait, but not in the list. `bytes` is the room that was made for
 *            it, counted in cache->bytes and held; 0 when nobody knows how large it will be.
 *   READY    published by that thread under the lock. `value` never changes again. In the map and
 *            the list, in which the cache holds a reference, and counted in cache->bytes; in held,
 *            too, while there are others.
 *   OUT      evicted when nobody held it, or never kept (no room, or its fill failed): in neither,
 *            and counted in loose. Freed by whoever drops the last reference.
 *
 * The lock guards chain, newer, older, waiters, visited and ready. cache, hash and the key never
 * change; value, bytes and kept are written before `ready` and only read after it. refs is atomic:
 * a holder may add a reference without the lock, a finder only under it, since only the list's own
 * reference keeps what it found alive. So what only the list holds under the lock, nobody holds.
 */
struct pe_cache_entry {
    pe_cache *cache;
    pe_cache_entry *chain;         /* next in the bucket; once evicted, next of the victims */
    pe_cache_entry *newer, *older; /* neighbours in the list */
    struct waiter *waiters;        /* FILLING */
    void *value;
    size_t bytes; /* all it weighs: this struct, the key, the value */
    atomic_size_t refs;
    bool ready, visited;
    bool kept; /* the list has, or had, it */
    uint64_t hash;
    size_t key_bytes;
    unsigned char key[];
};

/*
 * The lock guards all but the counters and what never changes after pe_cache_make. It is a leaf: no
 * other lock is taken under it, and nothing is filled or freed under it.
 */
struct pe_cache {
    pthread_mutex_t lock;
    pe_cache_free_value free_value;
    pe_hash_seed seed;
    atomic_uint_least64_t hits, misses, waits, evictions, rejected;
    /* What somebody holds. It is raised under the lock, and lowered without the lock after a
     * reference is dropped: so under the lock it is never less than what is held. */
    atomic_size_t held;
    atomic_size_t loose;
    size_t bytes_max;
    size_t bytes; /* of the list, of the map and of the room made; <= bytes_max at all times */
    size_t entries;
    pe_cache_entry *newest, *oldest; /* the list, by age */
    pe_cache_entry *hand;            /* next candidate of the eviction; NULL: the oldest */
    size_t buckets;                  /* a power of two */
    pe_cache_entry *bucket[];
};

static void count(atomic_uint_least64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- the map ---- */

static pe_cache_entry **bucket_of(pe_cache *cache, uint64_t hash)
{
    return &cache->bucket[hash & (cache->buckets - 1)];
}

static pe_cache_entry *map_find(pe_cache *cache, uint64_t hash, const void *key, size_t key_bytes)
{
    pe_cache_entry *entry = *bucket_of(cache, hash);
    while (entry != NULL && (entry->hash != hash || entry->key_bytes != key_bytes ||
                             memcmp(entry->key, key, key_bytes) != 0))
        entry = entry->chain;
    return entry;
}

static void map_remove(pe_cache *cache, pe_cache_entry *entry)
{
    pe_cache_entry **at = bucket_of(cache, entry->hash);
    while (*at != entry)
        at = &(*at)->chain;
    *at = entry->chain;
    entry->chain = NULL;
}

/* ---- the list and its hand ---- */

/*
 * The hand moves from old to new. It clears the mark of each visited entry, and evicts the first
 * entry that was not visited since the hand last passed. New entries join at the new end, and no
 * entry moves: so what a scan brought in, and nobody visits again, is evicted when the hand meets
 * it. The hand passes over what is held; the caller knows that there are other entries.
 *
 * Source    Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024, algorithm 1.
 */
static pe_cache_entry *evict_one(pe_cache *cache)
{
    pe_cache_entry *entry = cache->hand != NULL ? cache->hand : cache->oldest;
    for (bool held;
         (held = atomic_load_explicit(&entry->refs, memory_order_acquire) > 1) || entry->visited;) {
        if (!held)
            entry->visited = false;
        entry = entry->newer != NULL ? entry->newer : cache->oldest;
    }
    cache->hand = entry->newer;
    *(entry->newer != NULL ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &cache->oldest) = entry->newer;
    entry->newer = entry->older = NULL;
    cache->entries--;
    cache->bytes -= entry->bytes;
    map_remove(cache, entry);
    count(&cache->evictions);
    return entry;
}

static size_t map_bytes(const pe_cache *cache)
{
    /* The first bucket counts as part of the struct. A cache without a budget needs it, too, so
     * that other threads find what is being filled. */
    return (cache->buckets - 1) * sizeof cache->bucket[0];
}

/* Whether room for so much can be made. With the lock held. */
static bool admits(const pe_cache *cache, size_t weight)
{
    const size_t held = atomic_load(&cache->held);
    const size_t unheld = held < cache->bytes_max ? cache->bytes_max - held : 0;
    const size_t map = map_bytes(cache);
    return weight <= unheld / 4 && map <= unheld && weight <= unheld - map;
}

/* Evict one, of which the caller knows that it is there; returns what it weighs. */
static size_t add_victim(pe_cache *cache, pe_cache_entry **victims)
{
    pe_cache_entry *entry = evict_one(cache);
    entry->chain = *victims;
    *victims = entry;
    return entry->bytes;
}

/* Evict until `bytes` more fit, which are admitted. Returns the victims, each with the list's
 * reference, to be released once the lock is; *evicted gets what they weigh. */
static pe_cache_entry *evict(pe_cache *cache, size_t bytes, size_t *evicted)
{
    pe_cache_entry *victims = NULL;
    for (*evicted = 0; cache->bytes_max - cache->bytes < bytes;)
        *evicted += add_victim(cache, &victims);
    return victims;
}

/* Count bytes of an entry that is being made, which the thread that makes it holds. */
static void take(pe_cache *cache, size_t bytes)
{
    cache->bytes += bytes;
    atomic_fetch_add(&cache->held, bytes);
}

static void give_back(pe_cache *cache, size_t bytes)
{
    cache->bytes -= bytes;
    atomic_fetch_sub(&cache->held, bytes);
}

static void release_victims(pe_cache_entry *victims)
{
    while (victims != NULL) {
        pe_cache_entry *next = victims->chain;
        pe_cache_entry_unref(victims);
        victims = next;
    }
}

/* ---- entries ---- */

/* What an entry weighs with its key and a value of so many bytes; SIZE_MAX when that overflows. */
static size_t weigh(size_t key_bytes, size_t bytes)
{
    size_t weight;
    return pe_size_add(sizeof(pe_cache_entry) + PE_CACHE_BLOCK_BYTES, key_bytes, &weight) &&
                   pe_size_add(weight, bytes, &weight)
               ? weight
               : SIZE_MAX;
}

static pe_cache_entry *entry_make(pe_cache *cache, uint64_t hash, const void *key, size_t key_bytes)
{
    size_t bytes;
    if (!pe_size_add(sizeof(pe_cache_entry), key_bytes, &bytes))
        return NULL;
    pe_cache_entry *entry = calloc(1, bytes);
    if (entry == NULL)
        return NULL;
    entry->cache = cache;
    entry->hash = hash;
    entry->key_bytes = key_bytes;
    memcpy(entry->key, key, key_bytes);
    atomic_init(&entry->refs, 1);
    return entry;
}

void *pe_cache_entry_value(const pe_cache_entry *entry)
{
    return entry->value;
}

pe_cache_entry *pe_cache_entry_ref(pe_cache_entry *entry)
{
    atomic_fetch_add_explicit(&entry->refs, 1, memory_order_relaxed);
    return entry;
}

void pe_cache_entry_unref(pe_cache_entry *entry)
{
    if (entry == NULL)
        return;
    pe_cache *cache = entry->cache; /* both are read while the entry surely lives */
    const size_t held = entry->kept ? entry->bytes : 0;
    /* Acquire: the last holder sees all that others did before they dropped their references. */
    const size_t before = atomic_fetch_sub_explicit(&entry->refs, 1, memory_order_acq_rel);
    if (before == 2)
        atomic_fetch_sub(&cache->held, held);
    if (before != 1)
        return;
    if (entry->ready)
        cache->free_value(entry->value);
    if (!entry->kept)
        atomic_fetch_sub(&cache->loose, entry->bytes);
    free(entry);
}

/* ---- one thread fills, others wait ---- */

/* With the lock held. A waiter may return and its record vanish as soon as the lock is released. */
static void wake_all(struct waiter *waiter, pe_status status, pe_cache_entry *entry,
                     const pe_problem *why)
{
    while (waiter != NULL) {
        struct waiter *next = waiter->next;
        waiter->status = status;
        if (status == PE_OK)
            waiter->entry = pe_cache_entry_ref(entry);
        else
            *waiter->why = *why;
        waiter->done = true;
        pthread_cond_signal(&waiter->wake);
        waiter = next;
    }
}

/* FILLING to READY, or to OUT when there is no room. With the lock held; returns the victims. */
static pe_cache_entry *publish(pe_cache *cache, pe_cache_entry *entry, void *value, size_t bytes)
{
    const size_t room = entry->bytes;
    give_back(cache, room);
    entry->value = value;
    entry->ready = true;
    entry->visited = entry->waiters != NULL; /* a thread that waited is a second visit */
    entry->bytes = weigh(entry->key_bytes, bytes);
    entry->kept = entry->bytes <= room || admits(cache, entry->bytes);
    if (!entry->kept) {
        map_remove(cache, entry);
        count(&cache->rejected);
        atomic_fetch_add(&cache->loose, entry->bytes);
        return NULL;
    }
    size_t evicted;
    pe_cache_entry *victims = evict(cache, entry->bytes, &evicted);
    take(cache, entry->bytes);
    pe_cache_entry_ref(entry);
    entry->older = cache->newest;
    *(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
    cache->entries++;
    return victims;
}

static pe_status fill_entry(pe_cache *cache, pe_cache_entry *entry, const pe_cache_request *request,
                            pe_cache_entry **out, pe_problem *why)
{
    void *value = NULL;
    size_t bytes = 0;
    pe_cache_entry *victims = NULL;
    const pe_status status = request->fill(request->context, &value, &bytes, why);

    pthread_mutex_lock(&cache->lock);
    if (status == PE_OK) {
        victims = publish(cache, entry, value, bytes);
    } else {
        /* FILLING to OUT. With the lock held. */
        give_back(cache, entry->bytes);
        entry->bytes = 0;
        map_remove(cache, entry);
    }
    wake_all(entry->waiters, status, entry, why);
    entry->waiters = NULL;
    pthread_mutex_unlock(&cache->lock);

    release_victims(victims);
    if (status == PE_OK)
        *out = entry;
    else
        pe_cache_entry_unref(entry);
    return status;
}

/* A hit: the entry is visited, and gets a reference. With the lock held. */
static pe_cache_entry *visit(pe_cache_entry *entry)
{
    entry->visited = true;
    if (atomic_fetch_add_explicit(&entry->refs, 1, memory_order_relaxed) == 1)
        atomic_fetch_add(&entry->cache->held, entry->bytes);
    return entry;
}

/* The entry that is there, with the lock held; returns without it. */
static pe_status join(pe_cache *cache, pe_cache_entry *entry, pe_cache_entry **out, pe_problem *why)
{
    if (!entry->ready) {
        struct waiter self = {.next = entry->waiters, .wake = PTHREAD_COND_INITIALIZER, .why = why};
        /* cppcheck-suppress autoVariables ; the filling thread has let go of it before this returns */
        entry->waiters = &self;
        count(&cache->waits);
        pthread_mutex_unlock(&cache->lock);
        pe_yield_leave();
        pthread_mutex_lock(&cache->lock);
        while (!self.done)
            pthread_cond_wait(&self.wake, &cache->lock);
        pthread_mutex_unlock(&cache->lock);
        pe_yield_enter();
        pthread_cond_destroy(&self.wake);
        if (self.status == PE_OK)
            *out = self.entry;
        return self.status;
    }
    *out = visit(entry);
    pthread_mutex_unlock(&cache->lock);
    count(&cache->hits);
    return PE_OK;
}

/* Nobody has the entry yet, or nobody had a moment ago: nothing is allocated under the lock, since
 * an allocation may have to evict. */
static pe_status fill_new(pe_cache *cache, pe_cache_entry *entry, const pe_cache_request *request,
                          size_t room, pe_cache_entry **out, int *hit, pe_problem *why)
{
    pthread_mutex_lock(&cache->lock);
    pe_cache_entry *other = map_find(cache, entry->hash, request->key, request->key_bytes);
    if (other != NULL) {
        free(entry);
        *hit = true;
        return join(cache, other, out, why);
    }
    const bool fits = room == 0 || admits(cache, room);
    pe_cache_entry *victims = NULL, **bucket = bucket_of(cache, entry->hash);
    if (fits) {
        size_t evicted;
        victims = evict(cache, room, &evicted);
        /* What was evicted beyond that has not been freed yet, so it is nobody else's room. */
        entry->bytes = evicted > room ? evicted : room;
        take(cache, entry->bytes);
        entry->chain = *bucket;
        *bucket = entry;
    }
    pthread_mutex_unlock(&cache->lock);
    release_victims(victims);
    count(fits ? &cache->misses : &cache->rejected);
    if (fits)
        return fill_entry(cache, entry, request, out, why);
    free(entry);
    *out = NULL;
    return PE_OK;
}

static pe_status get_once(pe_cache *cache, const pe_cache_request *request, pe_cache_entry **out,
                          int *hit, pe_problem *why)
{
    /* what is made before the value */
    const size_t room = request->most != 0 ? weigh(request->key_bytes, request->most) : 0;
    const uint64_t hash = pe_hash(&cache->seed, request->key, request->key_bytes);
    pthread_mutex_lock(&cache->lock);
    pe_cache_entry *entry = map_find(cache, hash, request->key, request->key_bytes);
    *hit = entry != NULL;
    if (entry != NULL)
        return join(cache, entry, out, why);
    pthread_mutex_unlock(&cache->lock);
    entry = entry_make(cache, hash, request->key, request->key_bytes);
    return entry != NULL ? fill_new(cache, entry, request, room, out, hit, why)
                         : pe_fail_memory(why);
}

/* ---- the interface ---- */

pe_cache_entry *pe_cache_peek(pe_cache *cache, const void *key, size_t key_bytes)
{
    const uint64_t hash = pe_hash(&cache->seed, key, key_bytes);
    pthread_mutex_lock(&cache->lock);
    pe_cache_entry *entry = map_find(cache, hash, key, key_bytes);
    entry = entry != NULL && entry->ready ? visit(entry) : NULL;
    pthread_mutex_unlock(&cache->lock);
    if (entry != NULL)
        count(&cache->hits);
    return entry;
}

/* That another thread found no memory, had spent all it might, or had nobody who waits, need not
 * hold for this one, which has waited meanwhile. Each round ends with one that fills by itself. */
pe_status pe_cache_get(pe_cache *cache, const pe_cache_request *request, pe_cache_entry **out,
                       int *hit, pe_problem *why)
{
    int waited = false;
    pe_status status = get_once(cache, request, out, &waited, why);
    while ((status == PE_OVERLOADED || status == PE_TOO_MUCH_WORK) && waited &&
           !pe_yield_must_end())
        status = get_once(cache, request, out, &waited, why);
    if (hit != NULL)
        *hit = waited;
    return status;
}

/* Under the lock `held` is never less than what is held: so there are entries that nobody holds, as
 * long as the list has more than that. */
size_t pe_cache_evict(pe_cache *cache, size_t bytes)
{
    pe_cache_entry *victims = NULL;
    size_t evicted = 0;
    pthread_mutex_lock(&cache->lock);
    while (evicted < bytes && cache->bytes - map_bytes(cache) > atomic_load(&cache->held))
        evicted += add_victim(cache, &victims);
    pthread_mutex_unlock(&cache->lock);
    release_victims(victims);
    return evicted;
}

void pe_cache_stats_get(pe_cache *cache, pe_cache_stats *out)
{
    *out = (pe_cache_stats){
        .hits = atomic_load_explicit(&cache->hits, memory_order_relaxed),
        .misses = atomic_load_explicit(&cache->misses, memory_order_relaxed),
        .waits = atomic_load_explicit(&cache->waits, memory_order_relaxed),
        .evictions = atomic_load_explicit(&cache->evictions, memory_order_relaxed),
        .rejected = atomic_load_explicit(&cache->rejected, memory_order_relaxed),
        .held = atomic_load_explicit(&cache->held, memory_order_relaxed),
        .loose = atomic_load_explicit(&cache->loose, memory_order_relaxed),
        .bytes_max = cache->bytes_max,
    };
    pthread_mutex_lock(&cache->lock);
    out->bytes = cache->bytes;
    out->entries = cache->entries;
    pthread_mutex_unlock(&cache->lock);
}

pe_status pe_cache_make(size_t bytes_max, pe_cache_free_value free_value, pe_cache **out,
                        pe_problem *why)
{
    size_t buckets = 1;
    while (buckets < BUCKETS_MAX && buckets <= bytes_max / BYTES_PER_BUCKET / 2)
        buckets *= 2;
    pe_cache *cache = calloc(1, sizeof *cache + buckets * sizeof cache->bucket[0]);
    if (cache == NULL)
        return pe_fail_memory(why);
    pthread_mutex_init(&cache->lock, NULL);
    cache->free_value = free_value;
    cache->seed = pe_hash_seed_make();
    cache->bytes_max = bytes_max;
    cache->buckets = buckets;
    cache->bytes = map_bytes(cache); /* under 1/128 of the budget */
    *out = cache;
    return PE_OK;
}

void pe_cache_free(pe_cache *cache)
{
    if (cache == NULL)
        return;
    for (pe_cache_entry *entry = cache->oldest, *newer; entry != NULL; entry = newer) {
        newer = entry->newer;
        assert(atomic_load(&entry->refs) == 1);
        pe_cache_entry_unref(entry);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
