/* SPDX-License-Identifier: MIT */
/* cache.h - a byte-bounded, scan-resistant map of shared immutable values, filled once. */
#ifndef PE_CACHE_CACHE_H
#define PE_CACHE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/**
 * Eviction is SIEVE (Zhang et al., NSDI'24): one visited bit an entry, a hand that moves from old
 * to new, no reordering on a hit. Keys are byte strings, compared whole. Values are the caller's,
 * counted by references: the cache holds one while the entry lives, each holder of an entry
 * another.
 *
 * Life of an entry: FILLING (one thread computes, others wait on it) -> READY (immutable) ->
 * EVICTED. A fill that fails leaves the map and its waiters get the same problem; but where there
 * was no memory, each tries once more.
 *
 * An entry that somebody holds would keep its memory if it were evicted, so it is not: what is kept
 * and what is held is the same memory, counted once, and all of it is within the budget. What does
 * not fit beside it is not kept. An entry may weigh at most a quarter of what nobody holds, so that
 * the more is held, the smaller are the entries for which there is still room.
 *
 * Threads  any. No lock is held while a value is filled or freed.
 */
typedef struct pe_cache pe_cache;
typedef struct pe_cache_entry pe_cache_entry; /* a reference to a READY entry */

/** Every pe_cache_get counts as a hit, a miss or a wait (for another thread's fill). One that fills
 * nothing since there is no room counts as rejected. */
typedef struct pe_cache_stats {
    uint64_t hits, misses, waits, evictions, rejected; /* rejected: there was no room */
    size_t bytes; /* what is kept: values, keys, entries and the map; at most bytes_max */
    size_t held;  /* of these: what somebody holds, or is being filled */
    size_t loose; /* beside these: what was handed out but not kept, and is still held */
    size_t bytes_max, entries;
} pe_cache_stats;

/** The most that malloc adds to a block, header and rounding: part of the memory of a value. */
#define PE_CACHE_BLOCK_BYTES 24

/**
 * Make the value: *value and *bytes (all of its memory, without the key, which the cache counts
 * itself). Runs without a lock; may use other keys and other caches, but not wait for its own key.
 */
typedef pe_status (*pe_cache_fill)(void *context, void **value, size_t *bytes, pe_problem *why);
typedef void (*pe_cache_free_value)(void *value);

/** bytes_max 0 keeps nothing; concurrent callers of one key still share one fill. */
pe_status pe_cache_make(size_t bytes_max, pe_cache_free_value free_value, pe_cache **out,
                        pe_problem *why) PE_MUST_CHECK;
/** All entries must have been released. Accepts NULL. */
void pe_cache_free(pe_cache *cache);

/** The entry of key if READY, with a reference, else NULL. Counts a hit, or (NULL) nothing. */
pe_cache_entry *pe_cache_peek(pe_cache *cache, const void *key, size_t key_bytes);

/** A key, and how its value is made where it is absent. */
typedef struct pe_cache_request {
    const void *key;
    size_t key_bytes;
    pe_cache_fill fill;
    void *context; /* fill's */
    size_t most;   /* the value has no more bytes; 0: nobody knows */
} pe_cache_request;

/**
 * The entry of the request's key, filled when absent; concurrent callers of the same key wait for
 * the one that fills. *hit (may be NULL) tells whether it was there or waited for.
 *
 * Where `most` is known, room is made for it before the value is filled. Without room nothing is
 * filled: PE_OK, and *out is NULL. So no more than the budget is ever allocated. Where it is not, a
 * value for which there is no room is handed out but not kept.
 */
pe_status pe_cache_get(pe_cache *cache, const pe_cache_request *request, pe_cache_entry **out,
                       int *hit, pe_problem *why) PE_MUST_CHECK;

void *pe_cache_entry_value(const pe_cache_entry *entry);
pe_cache_entry *pe_cache_entry_ref(pe_cache_entry *entry);
void pe_cache_entry_unref(pe_cache_entry *entry); /* accepts NULL */

/** Evict about so many bytes of what nobody holds; returns how many were freed. Allocates nothing:
 * any allocation but one of the cache's own may call it. */
size_t pe_cache_evict(pe_cache *cache, size_t bytes);

void pe_cache_stats_get(pe_cache *cache, pe_cache_stats *out);

#endif
