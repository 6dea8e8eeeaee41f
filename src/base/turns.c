/* SPDX-License-Identifier: MIT */
/* turns.c - long work comes round: after a bounded part of it others have their turn. */
#include "base/turns.h"

#include <stddef.h>

static _Thread_local const pe_turn_ways *own;
static _Thread_local uint64_t spent;

void pe_turn_take(const pe_turn_ways *turns)
{
    own = turns;
}

void pe_turn_begin(void)
{
    spent = 0;
}

void pe_turn_spend(uint64_t units)
{
    spent += units < PE_TURN_WORK ? units : PE_TURN_WORK;
    if (spent < PE_TURN_WORK)
        return;
    spent = 0;
    if (own != NULL)
        own->wait(own->context);
}

void pe_turn_leave(void)
{
    if (own != NULL)
        own->leave(own->context);
}

void pe_turn_enter(void)
{
    if (own != NULL)
        own->enter(own->context);
}
