/* SPDX-License-Identifier: MIT */
/*
 * fuzz.c - libFuzzer's entry points. POSENC_FUZZ names the target; half of the mutations put a
 * token of the target into the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/targets.h"

int LLVMFuzzerInitialize(int *n, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room);

static const fuzz_target *target;
static size_t n_tokens;

int LLVMFuzzerInitialize(int *n, char ***arguments)
{
    (void)n, (void)arguments;
    const char *name = getenv("POSENC_FUZZ");
    target = name != NULL ? fuzz_target_find(name) : NULL;
    if (target == NULL) {
        fputs("POSENC_FUZZ must name a target:\n", stderr);
        for (const fuzz_target *row = fuzz_targets; row->name != NULL; row++)
            fprintf(stderr, "  %-16s %s\n", row->name, row->format);
        exit(2);
    }
    while (target->token(n_tokens) != NULL)
        n_tokens++;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    target->run((pe_slice){(const char *)data, bytes});
    return 0;
}

/* The token goes over what stands at a place, or before it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed)
{
    if (seed % 2 == 0)
        return LLVMFuzzerMutate(data, bytes, room);
    const char *token = target->token(seed / 4 % n_tokens);
    const size_t length = strlen(token), at = seed / 64 % (bytes + 1);
    const size_t over = seed / 2 % 2 == 0 ? 0 : bytes - at < length ? bytes - at : length;
    if (bytes - over + length > room)
        return LLVMFuzzerMutate(data, bytes, room);
    memmove(data + at + length, data + at + over, bytes - at - over);
    memcpy(data + at, token, length);
    return bytes - over + length;
}
