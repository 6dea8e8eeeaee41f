/* SPDX-License-Identifier: MIT */
/* proof.h - what programs that prove much for a long time share: shards, limits, progress. */
#ifndef PE_TESTS_PROOF_PROOF_H
#define PE_TESTS_PROOF_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** SHARD=i/n, 0 <= i < n (0/1 without); ends the program with a message when it is neither. */
void proof_shard(uint64_t *i, uint64_t *n);

/** A positive number of that variable, or the other one. */
double proof_number(const char *name, double otherwise);

/** Seconds since the first call. */
double proof_seconds(void);

/** True at most every five seconds: time for a line of progress. */
bool proof_tick(void);

#endif
