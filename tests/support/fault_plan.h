/* SPDX-License-Identifier: MIT */
/* fault_plan.h - what the library of faults/ does in the server, and what it has seen. */
#ifndef PE_TESTS_SUPPORT_FAULT_PLAN_H
#define PE_TESTS_SUPPORT_FAULT_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>

/** The environment's variable that names the file both sides have mapped. */
#define FAULT_PLAN "POSENC_TEST_FAULTS"

typedef struct fault_plan {
    atomic_bool on;        /* allocations are counted, and fail */
    atomic_long step;      /* another each time that it is switched on */
    atomic_long first;     /* the first that fails, from 1 */
    atomic_bool for_good;  /* all after it fail, too; else only itself, however often it is tried */
    atomic_long calls;     /* since it was switched on */
    atomic_long failed;    /* of them */
    atomic_long last_size; /* of the one that failed */
    atomic_long blocks;    /* allocated now, whether on or off */
} fault_plan;

#endif
