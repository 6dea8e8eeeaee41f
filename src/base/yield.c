/* SPDX-License-Identifier: MIT */
/* yield.c - long work yields: others have their turn, and it ends where it takes too much. */
#include "base/yield.h"

#include <stddef.h>

#include "base/clock.h"

/* A meter reads the clock after so many units: some tenths of a millisecond. */
#define READ_WORK (PE_YIELD_WORK / 16)

static _Thread_local const pe_yield_ways *own;
static _Thread_local uint64_t spent;
static _Thread_local pe_meter *metered;
static _Thread_local uint64_t unread;
static _Thread_local int64_t turn_began;

static int64_t (*clock_of_thread)(void) = pe_clock_of_thread;

/* ---- what a computation takes ---- */

void pe_meter_use_clock(int64_t (*clock)(void))
{
    clock_of_thread = clock != NULL ? clock : pe_clock_of_thread;
}

void pe_meter_begin(pe_meter *meter)
{
    metered = meter;
    unread = 0;
    turn_began = clock_of_thread();
    meter->began = turn_began - meter->nanoseconds;
}

static void read_clock(void)
{
    const int64_t before = metered->nanoseconds;
    if (metered->nanoseconds_max > 0)
        metered->nanoseconds = clock_of_thread() - metered->began;
    if (metered->nanoseconds - before > metered->longest)
        metered->longest = metered->nanoseconds - before;
    unread = 0;
}

static void judge(void)
{
    const bool late =
        metered->nanoseconds_max > 0 && metered->nanoseconds > metered->nanoseconds_max;
    metered->overran |= late;
    if (late || (metered->units_max > 0 && metered->units > metered->units_max))
        metered->ended = PE_TOO_MUCH_WORK;
}

/* What comes in many pieces, each too short to be looked at, is looked at here. */
void pe_meter_end(void)
{
    if (metered != NULL) {
        read_clock();
        if (metered->ended == PE_OK)
            judge();
    }
    metered = NULL;
}

uint64_t pe_meter_spent(const pe_meter *meter)
{
    const uint64_t by_clock = (uint64_t)meter->nanoseconds / PE_UNIT_NANOSECONDS;
    return meter->units > by_clock ? meter->units : by_clock;
}

bool pe_yield_must_end(void)
{
    return metered != NULL && metered->ended != PE_OK;
}

void pe_yield_finish(void)
{
    if (metered == NULL || metered->ended == PE_OVERLOADED)
        return;
    metered->ended = PE_OK;
    metered->units_max = 0;
    metered->nanoseconds_max = metered->nanoseconds_max > 0 ? INT64_MAX : 0;
}

pe_status pe_yield_check(pe_problem *why)
{
    if (!pe_yield_must_end())
        return PE_OK;
    if (metered->ended == PE_OVERLOADED)
        return pe_fail(why, PE_OVERLOADED, "", "nobody waits for the answer any more");
    pe_fail(why, PE_TOO_MUCH_WORK, "",
            "this was ended after %llu units of work, which is far more than its price; ask for "
            "fewer positions or channels at a time",
            (unsigned long long)pe_meter_spent(metered));
    why->requested_work = pe_meter_spent(metered);
    why->max_work = metered->nanoseconds_max > 0
                        ? (uint64_t)metered->nanoseconds_max / PE_UNIT_NANOSECONDS
                        : metered->units_max;
    return PE_TOO_MUCH_WORK;
}

/* ---- turns ---- */

const pe_yield_ways *pe_yield_set(const pe_yield_ways *turns)
{
    const pe_yield_ways *before = own;
    own = turns;
    return before;
}

void pe_yield_begin(void)
{
    spent = 0;
}

void pe_yield_spend(uint64_t units)
{
    if (metered != NULL)
        metered->units += units;
    pe_yield_look(units);
}

void pe_yield_look(uint64_t units)
{
    spent += units < PE_YIELD_WORK ? units : PE_YIELD_WORK;
    if (metered != NULL) {
        unread += units < READ_WORK ? units : READ_WORK;
        if (unread >= READ_WORK && metered->ended == PE_OK) {
            read_clock();
            judge();
            if (metered->ended == PE_OK && metered->is_left != NULL &&
                metered->is_left(metered->context))
                metered->ended = PE_OVERLOADED;
        }
    }
    /* A turn is over by what was counted; or by the clock, where that counted too little. */
    const int64_t most = (int64_t)PE_YIELD_WORK * PE_UNIT_NANOSECONDS;
    const bool over =
        spent >= PE_YIELD_WORK ||
        (metered != NULL && metered->began + metered->nanoseconds - turn_began > most);
    if (!over || pe_yield_must_end())
        return;
    spent = 0;
    turn_began = metered != NULL ? metered->began + metered->nanoseconds : 0;
    if (own != NULL)
        own->wait(own->context);
}

void pe_yield_leave(void)
{
    if (own != NULL)
        own->leave(own->context);
}

void pe_yield_enter(void)
{
    if (own != NULL)
        own->enter(own->context);
}
