/* SPDX-License-Identifier: MIT */
/* sandbox.h - what the process gives up once it has started: walls around what a fault could
 * reach. */
#ifndef PE_SANDBOX_SANDBOX_H
#define PE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/status.h"
#include "sandbox/walls.h"

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

/** How each wall stands. */
typedef struct pe_sandbox {
    struct {
        pe_sandbox_state state;
        char detail[160]; /* one clause: what holds, or why it does not */
    } wall[PE_SANDBOX_WALLS];
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
