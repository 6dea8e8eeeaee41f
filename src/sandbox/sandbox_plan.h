/* SPDX-License-Identifier: MIT */
/* sandbox_plan.h - what the settings ask of the sandbox, and the files that they name. */
#ifndef PE_SANDBOX_SANDBOX_PLAN_H
#define PE_SANDBOX_SANDBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "config/settings.h"

/** What for a path is opened after the start; for a folder it holds for all below it. */
typedef enum pe_sandbox_use {
    PE_SANDBOX_READS,
    PE_SANDBOX_WRITES,  /* files are made, written and removed */
    PE_SANDBOX_FINDS,   /* reads, if it is there and may be read */
    PE_SANDBOX_REMOVES, /* files are removed */
} pe_sandbox_use;

typedef struct pe_sandbox_path {
    char path[512];
    pe_sandbox_use use;
} pe_sandbox_path;

#define PE_SANDBOX_PATHS_MAX 32

/** What is asked for. */
typedef struct pe_sandbox_plan {
    bool enclose;     /* put up the walls; false: only `user` and `core_dumps` count */
    bool required;    /* a wall that cannot be put up is an error */
    bool core_dumps;  /* may be written */
    const char *user; /* whom root becomes; "" : nobody else */
    pe_sandbox_path paths[PE_SANDBOX_PATHS_MAX];
    size_t n_paths;
} pe_sandbox_plan;

/** By the settings sandbox, user and core_dumps, and all that name files. The plan borrows from
 * config. */
void pe_sandbox_plan_make(const pe_config *config, pe_sandbox_plan *out);

#endif
