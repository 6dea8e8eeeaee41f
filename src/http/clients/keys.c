/* SPDX-License-Identifier: MIT */
/* keys.c - the file of keys, by which clients show who they are. */
#include "http/clients/keys.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/named_file.h"

#define KEY_BYTES 32
#define PREFIX    "pe_"

/* The longest line that makes sense, with a comment. */
#define LINE_BYTES 512

/* The largest rate: units of work of a thousand cores, and more requests than anyone serves. */
#define RATE_MAX  UINT64_C(100000000000)
#define RATE_TEXT "100000000000"

struct pe_keys {
    atomic_uint refs;
    size_t n, room;
    pe_key key[]; /* in order of their hashes */
};

/* ---- keys as text ---- */

static void hash_of(pe_slice text, uint8_t out[PE_KEY_HASH_BYTES])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, text.bytes, (const uint8_t *)text.text);
    sha256_digest(&context, PE_KEY_HASH_BYTES, out);
    explicit_bzero(&context, sizeof context);
}

void pe_key_print(const uint8_t *data, size_t bytes, char *out)
{
    base16_encode_update(out, bytes, data);
    out[2 * bytes] = '\0';
}

pe_status pe_key_new(char text[PE_KEY_TEXT_BYTES], uint8_t hash[PE_KEY_HASH_BYTES], pe_problem *why)
{
    uint8_t bits[KEY_BYTES];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return pe_fail(why, PE_INTERNAL, "", "the system gives no random bits");
    memcpy(text, PREFIX, sizeof PREFIX - 1);
    pe_key_print(bits, sizeof bits, text + sizeof PREFIX - 1);
    hash_of(pe_slice_of(text), hash);
    explicit_bzero(bits, sizeof bits);
    return PE_OK;
}

bool pe_key_is_name(pe_slice name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    bool all = name.bytes > 0 && name.bytes <= PE_KEY_NAME_MAX;
    for (size_t i = 0; all && i < name.bytes; i++)
        all = memchr(letters, name.text[i], sizeof letters - 1) != NULL;
    return all;
}

/* ---- a line ---- */

/* Where in the file a mistake is. */
typedef struct place {
    const char *path;
    size_t line;
    pe_problem *why;
} place;

#define refuse(at, format, ...)                                                                    \
    pe_fail((at)->why, PE_INVALID_PARAMETER, "keys_file", "keys_file: %.200s, line %zu: " format,  \
            (at)->path, (at)->line, __VA_ARGS__)

/* The next word; without bytes at the end of the line. */
static pe_slice next_word(pe_slice *rest)
{
    pe_slice word = {"", 0};
    while (word.bytes == 0 && rest->bytes > 0)
        word = pe_slice_next(rest, ' ');
    return word;
}

/* "sha256:" and the digits. */
static pe_status read_hash(const place *at, pe_slice word, pe_key *key)
{
    static const char kind[] = "sha256:";
    enum { BYTES = sizeof kind - 1, DIGITS = 2 * PE_KEY_HASH_BYTES };
    struct base16_decode_ctx digits;
    size_t bytes = PE_KEY_HASH_BYTES;
    base16_decode_init(&digits);
    const bool sound =
        word.bytes == BYTES + DIGITS && memcmp(word.text, kind, BYTES) == 0 &&
        base16_decode_update(&digits, &bytes, key->hash, DIGITS, word.text + BYTES) == 1 &&
        bytes == PE_KEY_HASH_BYTES;
    return sound ? PE_OK
                 : refuse(at,
                          "after the name must stand sha256: and 64 hexadecimal digits, got %zu "
                          "characters",
                          word.bytes);
}

/* A limit "rate=10" or "work=1000000", or "disabled". */
static pe_status read_option(const place *at, pe_slice word, pe_key *key)
{
    pe_slice value = word;
    const pe_slice name = pe_slice_next(&value, '=');
    const bool rate = pe_slice_is(name, "rate"), work = pe_slice_is(name, "work");
    const bool disabled = pe_slice_is(word, "disabled");
    uint64_t *limit = rate ? &key->rate : &key->work_rate, number = 0;
    if (!rate && !work && !disabled)
        return refuse(at, "after the hash may stand %s", "rate=N, work=N and disabled");
    if (disabled ? key->disabled : *limit > 0)
        return refuse(at, "%.*s stands twice", (int)name.bytes, name.text);
    key->disabled |= disabled;
    if (disabled)
        return PE_OK;
    bool sound = true;
    for (size_t i = 0; sound && i < value.bytes; i++) {
        number = 10 * number + (uint64_t)(value.text[i] - '0');
        sound = value.text[i] >= '0' && value.text[i] <= '9' && number <= RATE_MAX;
    }
    *limit = number;
    return sound && number > 0 ? PE_OK
                               : refuse(at, "%s must be a whole number from 1 to " RATE_TEXT,
                                        rate ? "rate" : "work");
}

static pe_status read_line(const place *at, pe_slice line, pe_key *key)
{
    const pe_slice name = next_word(&line);
    if (!pe_key_is_name(name))
        return refuse(at, "a name must be 1 to %d letters, digits, '.', '_' or '-'",
                      PE_KEY_NAME_MAX);
    memcpy(key->name, name.text, name.bytes);
    pe_status status = read_hash(at, next_word(&line), key);
    for (pe_slice word; status == PE_OK && (word = next_word(&line)).bytes > 0;)
        status = read_option(at, word, key);
    return status;
}

/* ---- the file ---- */

static const pe_key *find_name(const pe_keys *keys, const char *name)
{
    for (size_t i = 0; keys != NULL && i < keys->n; i++)
        if (strcmp(keys->key[i].name, name) == 0)
            return &keys->key[i];
    return NULL;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(((const pe_key *)a)->hash, ((const pe_key *)b)->hash, PE_KEY_HASH_BYTES);
}

/* The keys, in order of their hashes. */
static pe_status read_lines(const char *path, pe_slice text, pe_keys *keys, pe_problem *why)
{
    place at = {path, 0, why};
    while (text.bytes > 0) {
        pe_key key = {0};
        pe_slice rest = pe_slice_next(&text, '\n');
        pe_slice line = pe_slice_next(&rest, '#'); /* a comment follows */
        at.line++;
        for (size_t i = 0; i < line.bytes; i++)
            if (line.text[i] == '\t' || line.text[i] == '\r')
                ((char *)(uintptr_t)line.text)[i] = ' ';
        rest = line;
        if (next_word(&rest).bytes == 0)
            continue;
        if (keys->n == keys->room)
            return refuse(&at, "at most %zu keys are allowed (keys_max)", keys->room);
        if (read_line(&at, line, &key) != PE_OK)
            return why->status;
        if (find_name(keys, key.name) != NULL)
            return refuse(&at, "%s is the name of another key", key.name);
        keys->key[keys->n++] = key;
    }
    if (keys->n == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "keys_file",
                       "keys_file: %.200s holds no key; posenc key new NAME makes one", path);
    qsort(keys->key, keys->n, sizeof keys->key[0], by_hash);
    for (size_t i = 1; i < keys->n; i++)
        if (by_hash(&keys->key[i - 1], &keys->key[i]) == 0)
            return pe_fail(why, PE_INVALID_PARAMETER, "keys_file",
                           "keys_file: %.200s: %s and %s have the same key", path,
                           keys->key[i - 1].name, keys->key[i].name);
    return PE_OK;
}

pe_status pe_keys_load(const char *path, size_t most, pe_keys **out, pe_problem *why)
{
    const pe_named_file file = {"keys_file", path, most * LINE_BYTES};
    char *text;
    size_t bytes;
    pe_keys *keys = calloc(1, sizeof *keys + most * sizeof keys->key[0]);
    if (keys == NULL)
        return pe_fail_memory(why);
    atomic_init(&keys->refs, 1);
    keys->room = most;
    pe_status status = pe_named_file_read(&file, &text, &bytes, why);
    if (status == PE_OK) {
        status = read_lines(path, (pe_slice){text, bytes}, keys, why);
        pe_named_file_free(text, bytes);
    }
    if (status == PE_OK)
        *out = keys;
    else
        pe_keys_unref(keys);
    return status;
}

pe_keys *pe_keys_ref(pe_keys *keys)
{
    if (keys != NULL)
        atomic_fetch_add(&keys->refs, 1);
    return keys;
}

void pe_keys_unref(pe_keys *keys)
{
    if (keys != NULL && atomic_fetch_sub(&keys->refs, 1) == 1)
        free(keys);
}

/* ---- who is it? ---- */

/* Nobody can choose the hash of what they send, so the way that this takes helps nobody. */
const pe_key *pe_keys_find(const pe_keys *keys, pe_slice text)
{
    pe_key sent = {0};
    hash_of(text, sent.hash);
    return bsearch(&sent, keys->key, keys->n, sizeof keys->key[0], by_hash);
}

/* ---- what has changed ---- */

/* A name that finds no room is counted alone. */
static void add_change(pe_keys_changes *out, const pe_key *key, const char *change, size_t *count)
{
    const size_t bytes = strlen(out->names), room = sizeof out->names - bytes;
    const char *comma = bytes > 0 ? ", " : "";
    const int wanted = snprintf(out->names + bytes, room, "%s%s %s", comma, key->name, change);
    if (wanted < 0 || (size_t)wanted >= room)
        out->names[bytes] = '\0';
    ++*count;
}

pe_keys_changes pe_keys_compare(const pe_keys *before, const pe_keys *now)
{
    pe_keys_changes out = {.keys = now != NULL ? now->n : 0};
    for (size_t i = 0; now != NULL && i < now->n; i++) {
        const pe_key *key = &now->key[i], *old = find_name(before, key->name);
        if (old == NULL)
            add_change(&out, key, "added", &out.added);
        else if (old->disabled != key->disabled)
            add_change(&out, key, key->disabled ? "disabled" : "enabled", &out.changed);
        else if (by_hash(old, key) != 0 || old->rate != key->rate ||
                 old->work_rate != key->work_rate)
            add_change(&out, key, "changed", &out.changed);
    }
    for (size_t i = 0; before != NULL && i < before->n; i++)
        if (find_name(now, before->key[i].name) == NULL)
            add_change(&out, &before->key[i], "removed", &out.removed);
    return out;
}
