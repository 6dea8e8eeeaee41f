/* SPDX-License-Identifier: MIT */
/* sandbox.h - what the process gives up once it has started: walls around what a fault could
 * reach. */
#ifndef PE_SANDBOX_SANDBOX_H
#define PE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/status.h"
#include "config/settings.h"

/** What for a path is opened after the start; for a folder it holds for all below it. */
typedef enum pe_sandbox_use {
    PE_SANDBOX_READS,
    PE_SANDBOX_WRITES,  /* files are made and written, never read, cut or removed */
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

typedef enum pe_sandbox_state { PE_SANDBOX_OFF, PE_SANDBOX_ON, PE_SANDBOX_FAILED } pe_sandbox_state;

/** The walls, in the order in which they are put up. */
enum {
    PE_SANDBOX_USER,
    PE_SANDBOX_CORE_DUMPS,
    PE_SANDBOX_CAPABILITIES,
    PE_SANDBOX_PRIVILEGES,
    PE_SANDBOX_LANDLOCK,
    PE_SANDBOX_SECCOMP,
    PE_SANDBOX_WALLS
};

/** How a wall stands. */
typedef struct pe_sandbox_wall {
    pe_sandbox_state state;
    char detail[160]; /* one clause: what holds, or why it does not */
} pe_sandbox_wall;

typedef struct pe_sandbox {
    pe_sandbox_wall wall[PE_SANDBOX_WALLS];
} pe_sandbox;

/**
 * Put up the walls of the plan for this thread and all that it starts: call it before there are
 * others. What the system refuses is noted in *out and logged as a warning. It cannot be undone.
 * Errors  INVALID_PARAMETER: a wall that is required cannot be put up.
 */
pe_status pe_sandbox_enter(const pe_sandbox_plan *plan, pe_sandbox *out,
                           pe_problem *why) PE_MUST_CHECK;

/** The last wall, for all threads that there are: from now on only some system calls can be made,
 * Errors  as before. */
pe_status pe_sandbox_seal(const pe_sandbox_plan *plan, pe_sandbox *out,
                          pe_problem *why) PE_MUST_CHECK;

/** {"landlock":{"state":"on","detail":"..."}, ...}. */
void pe_sandbox_json(const pe_sandbox *sandbox, pe_buffer *out);
/** One line per wall. */
void pe_sandbox_text(const pe_sandbox *sandbox, pe_buffer *out);

#endif
