/* SPDX-License-Identifier: MIT */
/* walls.h - one function for each wall of the sandbox. */
#ifndef PE_SANDBOX_WALLS_H
#define PE_SANDBOX_WALLS_H

#include "sandbox/sandbox_plan.h"

typedef enum pe_sandbox_state { PE_SANDBOX_OFF, PE_SANDBOX_ON, PE_SANDBOX_FAILED } pe_sandbox_state;

/** What a wall has to say; cut if it is long. */
typedef struct pe_wall_note {
    char *text;
    size_t bytes;
} pe_wall_note;

/** Puts up one wall and notes what holds now, or why it could not be put up. */
typedef pe_sandbox_state pe_wall(const pe_sandbox_plan *plan, pe_wall_note note);

/* privileges.c */
pe_wall pe_wall_user, pe_wall_core_dumps, pe_wall_capabilities, pe_wall_new_privileges;

/* landlock.c */
pe_wall pe_wall_landlock;

/* seccomp.c */
pe_wall pe_wall_seccomp;

/** Note a text and return the state. */
pe_sandbox_state pe_wall_say(pe_wall_note note, pe_sandbox_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
