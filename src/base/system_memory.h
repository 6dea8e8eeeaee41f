/* SPDX-License-Identifier: MIT */
/* system_memory.h - how much memory the system lets this process have. */
#ifndef PE_BASE_SYSTEM_MEMORY_H
#define PE_BASE_SYSTEM_MEMORY_H

#include <stddef.h>

/**
 * The least of the memory of the machine, the limit of the address space (RLIMIT_AS) and those of
 * the control groups, of version 1 or 2. *from (may be NULL): which of them, for people.
 */
size_t pe_system_memory(const char **from);

#endif
