/* SPDX-License-Identifier: MIT */
/* sandbox.c - the walls in their order, and how they stand. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"

/* A sanitizer traces the process at its end, and counts of coverage are written then. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(PE_COVERAGE)
#define WATCHED_BUILD 1
#else
#define WATCHED_BUILD 0
#endif

static const struct {
    const char *name;
    pe_wall *enter;
    bool enclosing; /* left out where plan->enclose is false */
    bool for_all;   /* for all threads, and so put up when they have been started */
} walls[PE_SANDBOX_WALLS] = {
    [PE_SANDBOX_USER] = {"user", pe_wall_user, false, false},
    [PE_SANDBOX_CORE_DUMPS] = {"core_dumps", pe_wall_core_dumps, false, false},
    [PE_SANDBOX_CAPABILITIES] = {"capabilities", pe_wall_capabilities, true, false},
    [PE_SANDBOX_PRIVILEGES] = {"new_privileges", pe_wall_new_privileges, true, false},
    [PE_SANDBOX_LANDLOCK] = {"landlock", pe_wall_landlock, true, false},
    [PE_SANDBOX_SECCOMP] = {"seccomp", pe_wall_seccomp, true, true},
};

static const char *const state_names[] = {
    [PE_SANDBOX_OFF] = "off", [PE_SANDBOX_ON] = "on", [PE_SANDBOX_FAILED] = "failed"};

static pe_sandbox_state enter(size_t w, const pe_sandbox_plan *plan, pe_wall_note note)
{
    if (WATCHED_BUILD)
        return pe_wall_say(note, plan->required ? PE_SANDBOX_FAILED : PE_SANDBOX_OFF,
                           "not in a build with a sanitizer or coverage");
    if (walls[w].enclosing && !plan->enclose)
        return pe_wall_say(note, PE_SANDBOX_OFF, "switched off by the setting sandbox");
    return walls[w].enter(plan, note);
}

static void warn(size_t w, const char *detail)
{
    PE_LOG(PE_LOG_WARN, "sandbox", PE_TEXT("wall", walls[w].name), PE_TEXT("detail", detail));
}

static pe_status enter_those(const pe_sandbox_plan *plan, bool for_all, pe_sandbox *out,
                             pe_problem *why)
{
    for (size_t w = 0; w < PE_SANDBOX_WALLS; w++) {
        if (walls[w].for_all != for_all)
            continue;
        char *detail = out->wall[w].detail;
        out->wall[w].state = enter(w, plan, (pe_wall_note){detail, sizeof out->wall[w].detail});
        if (out->wall[w].state != PE_SANDBOX_FAILED)
            continue;
        if (plan->required)
            return pe_fail(why, PE_INVALID_PARAMETER, "sandbox",
                           "sandbox is required, but %s is not to be had: %s", walls[w].name,
                           detail);
        warn(w, detail);
    }
    return PE_OK;
}

/* The first folder on the way to a path that this user may not pass, or the path. */
static void find_closed(const char *path, char *out, size_t room)
{
    for (const char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        snprintf(out, room, "%.*s", (int)(at - path), path);
        if (eaccess(out, X_OK) != 0)
            return;
    }
    snprintf(out, room, "%s", path);
}

/* What only root may use cannot be used again: what fails then, and what mends it. */
static void warn_unusable(const pe_sandbox_plan *plan)
{
    static const int modes[] = {[PE_SANDBOX_READS] = R_OK, [PE_SANDBOX_WRITES] = W_OK | X_OK};
    char detail[1024], closed[512];
    for (size_t p = 0; p < plan->n_paths; p++) {
        const char *path = plan->paths[p].path;
        const pe_sandbox_use use = plan->paths[p].use;
        if ((size_t)use >= PE_LEN(modes) || eaccess(path, modes[use]) == 0)
            continue;
        const bool reads = use == PE_SANDBOX_READS, denied = errno == EACCES;
        snprintf(detail, sizeof detail, "user %u may not %s %.400s after the start: %s, so %s",
                 (unsigned)geteuid(), reads ? "read" : "write into", path, strerror(errno),
                 reads ? "SIGHUP will not read it again" : "SIGUSR1 will not open the log again");
        find_closed(path, closed, sizeof closed);
        const size_t used = strlen(detail);
        if (denied)
            snprintf(detail + used, sizeof detail - used, "; chgrp %u %.200s && chmod %s %.200s",
                     (unsigned)getegid(), closed,
                     strcmp(closed, path) != 0 ? "g+x"
                     : reads                   ? "g+rX"
                                               : "g+wx",
                     closed);
        warn(PE_SANDBOX_USER, detail);
    }
}

pe_status pe_sandbox_enter(const pe_sandbox_plan *plan, pe_sandbox *out, pe_problem *why)
{
    const pe_status status = enter_those(plan, false, out, why);
    if (status == PE_OK)
        warn_unusable(plan);
    return status;
}

pe_status pe_sandbox_seal(const pe_sandbox_plan *plan, pe_sandbox *out, pe_problem *why)
{
    return enter_those(plan, true, out, why);
}

void pe_sandbox_json(const pe_sandbox *sandbox, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    for (size_t w = 0; w < PE_SANDBOX_WALLS; w++) {
        pe_buffer_format(out, "%s\"%s\":{\"state\":\"%s\",\"detail\":", w == 0 ? "" : ",",
                         walls[w].name, state_names[sandbox->wall[w].state]);
        pe_buffer_json_string(out, sandbox->wall[w].detail);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "}");
}

void pe_sandbox_text(const pe_sandbox *sandbox, pe_buffer *out)
{
    for (size_t w = 0; w < PE_SANDBOX_WALLS; w++)
        pe_buffer_format(out, "sandbox: %-14s %-6s %s\n", walls[w].name,
                         state_names[sandbox->wall[w].state], sandbox->wall[w].detail);
}
