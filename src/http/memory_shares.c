/* SPDX-License-Identifier: MIT */
/* memory_shares.c - the budget for all memory, and what settings get of it. */
#include "http/memory_shares.h"

#include "base/budget.h"
#include "base/log.h"
#include "base/size.h"
#include "base/system_memory.h"

/* A body is read into numbers beside it, and those into an answer. */
static const struct {
    size_t setting; /* an int64_t of pe_settings */
    int64_t parts;  /* of memory_max it gets one */
} shares[] = {
    {offsetof(pe_settings, response_cache_bytes), 4},
    {offsetof(pe_settings, table_cache_bytes), 4},
    {offsetof(pe_settings, learned_bytes), 2},
    {offsetof(pe_settings, max_body_bytes), 4},
    {offsetof(pe_settings, verify_max_body_bytes), 4},
    {offsetof(pe_settings, stream_blocks_bytes), 16},
};

static void bound(int64_t *setting, int64_t most)
{
    if (*setting > most)
        *setting = most;
}

/* Half of what the system gives: other programs need some, and so does the system for our sockets
 * and files. */
pe_status pe_memory_shares_apply(pe_settings *settings, pe_problem *why)
{
    const char *from = "memory_max";
    if (settings->memory_max == 0)
        settings->memory_max = (int64_t)(pe_system_memory(&from) / 2);
    if (settings->memory_max < (int64_t)PE_BUDGET_LEAST)
        return pe_fail(why, PE_INVALID_PARAMETER, "memory_max",
                       "memory_max must be at least %zu bytes, got %lld (%s)", PE_BUDGET_LEAST,
                       (long long)settings->memory_max, from);
    for (size_t i = 0; i < PE_LEN(shares); i++)
        bound((int64_t *)(void *)((char *)settings + shares[i].setting),
              settings->memory_max / shares[i].parts);
    pe_log(PE_LOG_INFO, "memory",
           (pe_log_member[]){{PE_LOG_NUMBER, "memory_max", .number = settings->memory_max},
                             {PE_LOG_TEXT, "from", .text = from},
                             {0}});
    return PE_OK;
}
