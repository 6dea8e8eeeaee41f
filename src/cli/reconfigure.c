/* SPDX-License-Identifier: MIT */
/* reconfigure.c - SIGHUP: read the settings again, and put to use what can be. */
#include "cli/reconfigure.h"

#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/notify.h"
#include "http/reload.h"

static void log_change(pe_log_level level, const char *event, const pe_config_change *change)
{
    pe_log(level, event,
           (pe_log_member[]){{PE_LOG_TEXT, "name", .text = change->name},
                             {PE_LOG_TEXT, "was", .text = change->was},
                             {PE_LOG_TEXT, "is", .text = change->is},
                             {0}});
}

static void log_applied(void *context, const pe_config_change *change)
{
    (void)context;
    if (pe_reload_applies(change->name))
        log_change(PE_LOG_INFO, "setting_changed", change);
}

static void log_kept(void *context, const pe_config_change *change)
{
    (void)context;
    if (!pe_reload_applies(change->name))
        log_change(PE_LOG_WARN, "setting_needs_restart", change);
}

static void log_changes(const pe_reconfigure *reload, const pe_config *fresh)
{
    const pe_config *applied = reload->applied != NULL ? reload->applied : reload->started;
    pe_config_compare(applied, fresh, log_applied, NULL);
    pe_config_compare(reload->started, fresh, log_kept, NULL);
}

/* Where the level itself has changed, what either of the two lets pass is written. */
static void log_reload(const pe_reconfigure *reload, const pe_config *fresh, pe_log_level before)
{
    const pe_log_level now = pe_log_get_level();
    if (before > now)
        pe_log_set_level(before);
    log_changes(reload, fresh);
    pe_log(PE_LOG_INFO, "reloaded", NULL);
    pe_log_set_level(now);
}

static pe_status run(pe_reconfigure *reload, pe_server *server, pe_problem *why)
{
    const pe_log_level before = pe_log_get_level();
    pe_config *fresh = NULL;
    if (pe_config_read(reload->n_arguments, reload->arguments, environ, &fresh, why) != PE_OK)
        return why->status;
    if (pe_server_reload(server, fresh, why) != PE_OK) {
        pe_config_free(fresh);
        return why->status;
    }
    log_reload(reload, fresh, before);
    pe_config_free(reload->applied);
    reload->applied = fresh;
    return PE_OK;
}

void pe_reconfigure_run(pe_reconfigure *reload, pe_server *server)
{
    pe_problem why;
    const bool ready = pe_server_is_ready(server); /* else the manager is told later */
    if (ready)
        pe_notify_reloading();
    if (run(reload, server, &why) != PE_OK)
        pe_cli_fail("reload_failed", &why);
    if (ready)
        pe_notify_ready();
}
