/* SPDX-License-Identifier: MIT */
/* keys.h - the file of keys, by which clients show who they are. */
#ifndef PE_HTTP_CLIENTS_KEYS_H
#define PE_HTTP_CLIENTS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

#define PE_KEY_NAME_MAX   64
#define PE_KEY_HASH_BYTES 32

/** "pe_", 64 hexadecimal digits of 256 random bits, NUL. */
#define PE_KEY_TEXT_BYTES 68

/** A line of the file. */
typedef struct pe_key {
    char name[PE_KEY_NAME_MAX + 1];
    uint8_t hash[PE_KEY_HASH_BYTES]; /* SHA-256 of the key's text: enough for so many random bits */
    bool disabled;
    uint64_t rate, work_rate; /* requests and units of work a second; 0: no limit of its own */
} pe_key;

/** The keys of a file. Immutable and shared. */
typedef struct pe_keys pe_keys;

/**
 * Read a file of at most `most` keys, one a line; what follows a '#' does not count:
 *
 *     NAME  sha256:HEX  [rate=REQUESTS]  [work=UNITS]  [disabled]
 *
 * Errors  INVALID_PARAMETER: it cannot be read, is no regular file, holds no key; a line (by its
 *         number) that is not so, repeats a name or a key.   No text of the file is in a problem
 *         but names: a key might stand where its hash should.
 */
pe_status pe_keys_load(const char *path, size_t most, pe_keys **out, pe_problem *why) PE_MUST_CHECK;

/** Accept NULL.   Threads  any. */
pe_keys *pe_keys_ref(pe_keys *keys);
void pe_keys_unref(pe_keys *keys);

/** What a file has become. `names` lists the keys that differ, as far as there is room:
 * "alice disabled, bob added, carol changed". */
typedef struct pe_keys_changes {
    size_t keys, added, changed, removed;
    char names[512];
} pe_keys_changes;

/** NULL is a file without keys. */
pe_keys_changes pe_keys_compare(const pe_keys *before, const pe_keys *now);

/** The key of this text, or NULL. The time that it takes tells nothing of any key. */
const pe_key *pe_keys_find(const pe_keys *keys, pe_slice text);

/** A name: letters, digits, '.', '_' and '-', at most PE_KEY_NAME_MAX of them. */
bool pe_key_is_name(pe_slice name);

/** `bytes` bytes as hexadecimal digits, and NUL. */
void pe_key_print(const uint8_t *data, size_t bytes, char *out);

/** A new key, and its hash.   Errors  INTERNAL: the system gives no random bits. */
pe_status pe_key_new(char text[PE_KEY_TEXT_BYTES], uint8_t hash[PE_KEY_HASH_BYTES],
                     pe_problem *why) PE_MUST_CHECK;

#endif
