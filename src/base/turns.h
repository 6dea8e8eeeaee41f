/* SPDX-License-Identifier: MIT */
/* turns.h - long work comes round: after a bounded part of it others have their turn. */
#ifndef PE_BASE_TURNS_H
#define PE_BASE_TURNS_H

#include <stdint.h>

/** Units of work (plan/price.h) that are done in one turn: about five milliseconds. */
#define PE_TURN_WORK ((uint64_t)524288)

/** What a thread that takes turns does: set once, by its owner. */
typedef struct pe_turn_ways {
    void (*wait)(void *context);  /* for the next turn, if others wait for theirs */
    void (*leave)(void *context); /* the turn is over: this thread waits for another */
    void (*enter)(void *context); /* and goes on */
    void *context;
} pe_turn_ways;

/*
 * Each thread has turns of its own; one without takes none, and these do nothing.
 */

/** This thread takes turns from now on. turns stays. */
void pe_turn_take(const pe_turn_ways *turns);

/** A new piece of work begins: nothing of it has been done. */
void pe_turn_begin(void);

/** So much work has been done. May wait until others have done theirs, so no lock is held. */
void pe_turn_spend(uint64_t units);

/** Around a wait for what another thread makes, which must have its turn meanwhile. */
void pe_turn_leave(void);
void pe_turn_enter(void);

#endif
