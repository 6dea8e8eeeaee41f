/* SPDX-License-Identifier: MIT */
/* walls.c - what the settings ask of the sandbox, the files that they name, and what all walls say. */
#include "sandbox/walls.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- paths ---- */

static void add(pe_sandbox_plan *plan, const char *path, pe_sandbox_use use)
{
    const size_t bytes = strlen(path);
    if (bytes == 0 || bytes >= sizeof plan->paths->path || plan->n_paths == PE_SANDBOX_PATHS_MAX)
        return;
    pe_sandbox_path *next = &plan->paths[plan->n_paths++];
    next->use = use;
    memcpy(next->path, path, bytes + 1);
}

/* The folder of a file, as the path names it. */
static void add_folder_of(pe_sandbox_plan *plan, const char *file, pe_sandbox_use use)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", file);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    add(plan, folder, use);
}

/* Files are replaced by others of their name, and a name may be a link to another folder: what is
 * read again is what the folders hold then. */
static void add_file(pe_sandbox_plan *plan, const char *file)
{
    char real[PATH_MAX];
    if (file == NULL || *file == '\0')
        return;
    add(plan, file, PE_SANDBOX_READS);
    add_folder_of(plan, file, PE_SANDBOX_FINDS);
    if (realpath(file, real) != NULL && strcmp(real, file) != 0)
        add_folder_of(plan, real, PE_SANDBOX_FINDS);
}

/* Another file of this name is made when the log was moved away. */
static void add_log(pe_sandbox_plan *plan, const char *file)
{
    if (*file != '\0')
        add_folder_of(plan, file, PE_SANDBOX_WRITES);
}

/* ---- the plan ---- */

void pe_sandbox_plan_make(const pe_config *config, pe_sandbox_plan *out)
{
    const pe_settings *settings = pe_config_settings(config);
    *out = (pe_sandbox_plan){.enclose = strcmp(settings->sandbox, "off") != 0,
                             .required = strcmp(settings->sandbox, "required") == 0,
                             .core_dumps = settings->core_dumps,
                             .user = settings->user};
    add(out, "/proc/self", PE_SANDBOX_FINDS); /* memory that is in use */
    add(out, settings->learned_dir, PE_SANDBOX_READS);
    add_file(out, pe_config_file(config));
    add_file(out, settings->keys_file);
    add_file(out, settings->tls_certificate);
    add_file(out, settings->tls_key);
    /* The file of a unix socket is removed at the end. */
    const pe_setting_list *places = &settings->listen;
    static const char prefix[] = "unix:";
    for (size_t i = 0; i < places->n; i++)
        if (strncmp(places->item[i], prefix, strlen(prefix)) == 0)
            add_folder_of(out, places->item[i] + strlen(prefix), PE_SANDBOX_REMOVES);
    add_log(out, settings->log_file);
    add_log(out, settings->access_log_file);
}

pe_sandbox_state pe_wall_say(pe_wall_note note, pe_sandbox_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note.text, note.bytes, format, arguments);
    va_end(arguments);
    return state;
}
