/* SPDX-License-Identifier: MIT */
/* walls.h - what the settings ask of the sandbox, and one function for each wall of it. */
#ifndef PE_SANDBOX_WALLS_H
#define PE_SANDBOX_WALLS_H

#include <stdbool.h>
#include <stddef.h>

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
