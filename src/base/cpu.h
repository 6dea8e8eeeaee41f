/* SPDX-License-Identifier: MIT */
/* cpu.h - which sets of instructions the CPU has, and the system saves the registers of. */
#ifndef PE_BASE_CPU_H
#define PE_BASE_CPU_H

#include <stddef.h>

/** 0: what all of its architecture have; 1: x86-64-v3; 2: x86-64-v4; 3: VBMI and VBMI2, too. Each
 * has those below it.   Threads  any. */
size_t pe_cpu_level(void);

#endif
