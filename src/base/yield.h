/* SPDX-License-Identifier: MIT */
/* yield.h - long work yields: others have their turn, and it ends where it takes too much. */
#ifndef PE_BASE_YIELD_H
#define PE_BASE_YIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** Units of work (plan/price.h) that are done in one turn: about five milliseconds. */
#define PE_YIELD_WORK ((uint64_t)524288)

/** Items of a loop between two looks. */
#define PE_YIELD_ITEMS ((size_t)1024)

/** Nanoseconds of a core that a unit is reckoned as. */
#define PE_UNIT_NANOSECONDS 10

/** What a thread that takes turns does: set once, by its owner. */
typedef struct pe_yield_ways {
    void (*wait)(void *context);  /* for the next turn, if others wait for theirs */
    void (*leave)(void *context); /* the turn is over: this thread waits for another */
    void (*enter)(void *context); /* and goes on */
    void *context;
} pe_yield_ways;

/*
 * Each thread has turns of its own; one without takes none, and these do nothing.
 */

/** This thread takes turns from now on, NULL: none. turns stays. Returns what it took before. */
const pe_yield_ways *pe_yield_set(const pe_yield_ways *turns);

/** A new piece of work begins: nothing of it has been done. */
void pe_yield_begin(void);

/** So much work has been done. May wait until others have done theirs, so no lock is held. */
void pe_yield_spend(uint64_t units);
/** The same of work that is counted elsewhere. */
void pe_yield_look(uint64_t units);

/** Around a wait for what another thread makes, which must have its turn meanwhile. */
void pe_yield_leave(void);
void pe_yield_enter(void);

/**
 * What a computation has taken, and how much it may. It may pass from thread to thread; one at a
 * time works on it. All zeros: nothing yet, and any amount.
 */
typedef struct pe_meter {
    uint64_t units;      /* as they were counted */
    int64_t nanoseconds; /* of the threads that computed, as last read */
    uint64_t units_max;  /* 0: any */
    int64_t nanoseconds_max;
    int64_t longest; /* nanoseconds from one look at the clock to the next, at most */
    /** Does nobody wait for what is computed? Asked each time the clock is read, some milliseconds;
     * NULL: somebody does. */
    bool (*is_left)(void *context);
    void *context;
    bool overran;    /* it has taken more than it might, once */
    pe_status ended; /* TOO_MUCH_WORK, OVERLOADED: nobody waits. PE_OK: it goes on */
    int64_t began;   /* the thread's clock, less what was read before */
} pe_meter;

/** This thread works on what is metered, from now on until the end. Each thread has one meter. */
void pe_meter_begin(pe_meter *meter);
void pe_meter_end(void);

/** How much was taken in all, in units: as counted, or as the clock tells, whichever is more. */
uint64_t pe_meter_spent(const pe_meter *meter);

/**
 * Has what this thread works on taken more than it may, or does nobody wait for it? Then it ends as
 * soon as it can. So loops that spend ask, and what they have made is not used.
 */
bool pe_yield_must_end(void);
/** What was to end has ended, and what is left is little and is done. */
void pe_yield_finish(void);
/** Item i of a loop was done, of so many units. Looks now and then; false: the loop is to end. */
static inline bool pe_yield_item(size_t i, uint64_t units)
{
    if (i % PE_YIELD_ITEMS != PE_YIELD_ITEMS - 1)
        return true;
    pe_yield_spend(PE_YIELD_ITEMS * units);
    return !pe_yield_must_end();
}
/** As pe_yield_must_end, as a problem.   Errors  TOO_MUCH_WORK; OVERLOADED: nobody waits. */
pe_status pe_yield_check(pe_problem *why) PE_MUST_CHECK;

/** Meters read this clock of the thread instead; NULL: its own. For tests, before threads. */
void pe_meter_use_clock(int64_t (*clock)(void));

#endif
