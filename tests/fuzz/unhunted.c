/* SPDX-License-Identifier: MIT */
/*
 * unhunted.c - for BUILD=msan: what libraries write, which are not built with MemorySanitizer, is
 * taken for written.
 */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)

#include <dlfcn.h>
#include <gmp.h>
#include <jansson.h>
#include <nettle/base16.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/status.h"

static void *written(void *at, size_t bytes)
{
    if (at != NULL)
        __msan_unpoison(at, bytes);
    return at;
}

static void *allocate(size_t bytes)
{
    return written(malloc(bytes), bytes);
}

static void *grow(void *at, size_t old, size_t bytes)
{
    (void)old;
    return written(realloc(at, bytes), bytes);
}

static void release(void *at, size_t bytes)
{
    (void)bytes;
    free(at);
}

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* Whoever asks for allocators of their own gets these. */
void json_set_alloc_funcs(json_malloc_t malloc_of PE_UNUSED, json_free_t free_of PE_UNUSED)
{
    NEXT(json_set_alloc_funcs)(allocate, free);
}

void mp_set_memory_functions(void *(*allocate_of)(size_t)PE_UNUSED,
                             void *(*grow_of)(void *, size_t, size_t)PE_UNUSED,
                             void (*release_of)(void *, size_t) PE_UNUSED)
{
    ((__typeof__(&mp_set_memory_functions))dlsym(RTLD_NEXT, "__gmp_set_memory_functions"))(
        allocate, grow, release);
}

__attribute__((constructor)) static void own_allocators(void)
{
    json_set_alloc_funcs(NULL, NULL);
    mp_set_memory_functions(NULL, NULL, NULL);
}

/* It hands text of its own to functions of the C library, which would be looked at. */
json_t *json_loadb(const char *text, size_t bytes, size_t flags, json_error_t *error)
{
    __msan_scoped_disable_interceptor_checks();
    json_t *read = NEXT(json_loadb)(text, bytes, flags, error);
    __msan_scoped_enable_interceptor_checks();
    written(&read, sizeof read);
    if (error != NULL)
        written(error, sizeof *error);
    return read;
}

int inflate(z_streamp stream, int flush)
{
    unsigned char *from = stream->next_out;
    const int result = NEXT(inflate)(stream, flush);
    written(from, (size_t)(stream->next_out - from));
    return result;
}

void nettle_sha256_digest(struct sha256_ctx *sha, size_t bytes, uint8_t *digest)
{
    NEXT(nettle_sha256_digest)(sha, bytes, digest);
    written(digest, bytes);
}

void nettle_base16_encode_update(char *out, size_t bytes, const uint8_t *from)
{
    NEXT(nettle_base16_encode_update)(out, bytes, from);
    written(out, 2 * bytes);
}

void nettle_base64_encode_raw(char *out, size_t bytes, const uint8_t *from)
{
    NEXT(nettle_base64_encode_raw)(out, bytes, from);
    written(out, BASE64_ENCODE_RAW_LENGTH(bytes));
}

#endif
#endif
typedef int fuzz_unhunted; /* an empty file is none */
