/* SPDX-License-Identifier: MIT */
/* seeds.h - the faults that tests plant, and the claims they befall, drawn at random. */
#ifndef PE_TESTS_SUPPORT_SEEDS_H
#define PE_TESTS_SUPPORT_SEEDS_H

#include "support/planted.h"
#include "support/random.h"

/** A fault as the tests plant it. */
typedef struct seed {
    const char *name;
    unsigned kinds;
    const char *types; /* rope types it can befall; NULL: all drawn */
    bool exact;        /* shows only where exact arithmetic is claimed */
    bool fitted;       /* a number read off the upload: a shorter one may do, too */
    /** Makes the claim one that the fault can befall; then plants it in the copy. */
    void (*prepare)(random_source *random, planted *claim);
    void (*plant)(random_source *random, planted *made);
} seed;

extern const seed seeds[];
extern const size_t seeds_n;

/** Fails the test when there is none. */
const seed *seed_of(const char *name);

/** Sound numbers of a kind, at positions from 0 on. type: a rope type, NULL for any of those with a
 * formula of plain numbers. */
planted draw_claim(random_source *random, planted_kind kind, const char *type);
/** Inputs for its vectors, which stay valid until the next call. */
void draw_vectors(random_source *random, planted *claim);
/** Move its positions to some first one of [low, high]. */
void start_at(random_source *random, planted *claim, int64_t low, int64_t high);

#endif
