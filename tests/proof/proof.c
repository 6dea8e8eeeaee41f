/* SPDX-License-Identifier: MIT */
/* proof.c - shards, limits, progress. */
#include "proof/proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void proof_shard(uint64_t *i, uint64_t *n)
{
    const char *given = getenv("SHARD");
    char *end;
    *i = 0;
    *n = 1;
    if (given == NULL || *given == '\0')
        return;
    *i = strtoull(given, &end, 10);
    if (end != given && *end == '/')
        *n = strtoull(end + 1, &end, 10);
    if (end == given || *end != '\0' || *i >= *n) {
        fprintf(stderr, "SHARD must be i/n with i from 0 to n - 1, got %s\n", given);
        exit(2);
    }
}

double proof_number(const char *name, double otherwise)
{
    const char *given = getenv(name);
    if (given == NULL || *given == '\0')
        return otherwise;
    char *end;
    const double number = strtod(given, &end);
    if (*end != '\0' || !(number > 0)) {
        fprintf(stderr, "%s must be a positive number, got %s\n", name, given);
        exit(2);
    }
    return number;
}

double proof_seconds(void)
{
    static double began;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (began == 0)
        began = seconds;
    return seconds - began;
}

bool proof_tick(void)
{
    static double last;
    const double now = proof_seconds();
    if (now - last < 5)
        return false;
    last = now;
    return true;
}
