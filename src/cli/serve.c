/* SPDX-License-Identifier: MIT */
/* serve.c - `posenc serve`: start, do what signals ask for, stop. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "http/reload.h"
#include "http/server.h"

/* ---- the service manager ---- */

/* Opened once, since the sandbox allows no socket later; -1: nobody asked. */
static int manager = -1;

/* Connect to the socket that NOTIFY_SOCKET names: a path, or an abstract name after '@'. */
static void open_manager(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t bytes = name == NULL ? 0 : strlen(name);
    if (bytes < 2 || bytes >= sizeof to.sun_path || (*name != '/' && *name != '@'))
        return;
    memcpy(to.sun_path, name, bytes);
    if (*name == '@')
        to.sun_path[0] = '\0';
    const socklen_t taken = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (manager < 0 || connect(manager, (struct sockaddr *)&to, taken) == 0)
        return;
    close(manager);
    manager = -1;
}

/* Send the state there, as sd_notify(3) does. Nothing happens where there is none. */
static void notify(const char *state)
{
    if (manager >= 0)
        send(manager, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void notify_ready(void)
{
    notify("READY=1");
}

/* ---- signals ---- */

/* Those that cannot be taken, that are faults of the program itself, that stop and continue it, and
 * those that do nothing. */
static const int untouched[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                SIGABRT, SIGTRAP, SIGSYS,  SIGPIPE, SIGTSTP, SIGTTIN,
                                SIGTTOU, SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};

static bool is_stop(int number)
{
    return number == SIGTERM || number == SIGINT;
}

static void log_signal(pe_log_level level, const char *event, int number)
{
    const char *known = sigabbrev_np(number); /* none of real-time signals */
    char name[32];
    if (known != NULL)
        snprintf(name, sizeof name, "SIG%s", known);
    else
        snprintf(name, sizeof name, "%d", number);
    PE_LOG(level, event, PE_TEXT("signal", name));
}

/* ---- SIGHUP: the settings are read again, and what can be is put to use ---- */

/* What a reload compares with. */
typedef struct reconfiguration {
    int n_arguments;
    char **arguments;
    const pe_config *started; /* the settings that the server was started with */
    pe_config *applied;       /* those of the last reload, owned; NULL: none yet */
} reconfiguration;

/* context: NULL for what needs a restart. */
static void log_change(void *context, const pe_config_change *change)
{
    const bool applied = context != NULL;
    if (pe_reload_applies(change->name) == applied)
        PE_LOG(applied ? PE_LOG_INFO : PE_LOG_WARN,
               applied ? "setting_changed" : "setting_needs_restart", PE_TEXT("name", change->name),
               PE_TEXT("was", change->was), PE_TEXT("is", change->is));
}

static pe_status reload_all(reconfiguration *reload, pe_server *server, pe_problem *why)
{
    const pe_log_level before = pe_log_get_level();
    pe_config *fresh = NULL;
    PE_TRY(pe_config_read(reload->n_arguments, reload->arguments, environ, &fresh, why));
    if (pe_server_reload(server, fresh, why) != PE_OK) {
        pe_config_free(fresh);
        return why->status;
    }
    /* Where the level itself has changed, what either of the two lets pass is written. */
    const pe_log_level now = pe_log_get_level();
    if (before > now)
        pe_log_set_level(before);
    pe_config *applied = reload->applied;
    pe_config_compare(applied != NULL ? applied : reload->started, fresh, log_change, reload);
    pe_config_compare(reload->started, fresh, log_change, NULL);
    pe_log(PE_LOG_INFO, "reloaded", NULL);
    pe_log_set_level(now);
    pe_config_free(applied);
    reload->applied = fresh;
    return PE_OK;
}

/* Logs what has changed and what needs a restart. A mistake anywhere changes nothing, and is
 * logged. */
static void reconfigure(reconfiguration *reload, pe_server *server)
{
    pe_problem why;
    const bool ready = pe_server_is_ready(server); /* else the manager is notified later */
    if (ready) {                                   /* the manager wants the time beside it */
        char state[64];
        snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
                 (long long)(pe_clock() / 1000));
        notify(state);
    }
    if (reload_all(reload, server, &why) != PE_OK)
        pe_cli_fail("reload_failed", &why);
    if (ready)
        notify_ready();
}

/* ---- while it serves ---- */

/* Log that allocations failed, if more did than *logged: so a flood of refusals is a line every few
 * seconds, not a flood. */
static void log_refused_memory(uint64_t *logged)
{
    pe_budget_stats stats;
    pe_budget_stats_get(&stats);
    if (stats.refused + stats.failed == *logged)
        return;
    *logged = stats.refused + stats.failed;
    PE_LOG(PE_LOG_WARN, "memory_short", PE_NUMBER("allocated", stats.bytes),
           PE_NUMBER("memory_max", stats.bytes_max), PE_NUMBER("refused", stats.refused),
           PE_NUMBER("failed", stats.failed));
}

/* ---- the end ---- */

/* Taken by whoever ends the program, and never given back: the log is not stopped under another. */
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

/* Who asks a second time does not want to wait for the answers under way. The first process of a
 * container cannot be ended by a signal that it does not take, so this is no signal's default. */
static void *cut_when_asked_again(void *context)
{
    const sigset_t *taken = context;
    int number = 0;
    for (;;) {
        if (sigwait(taken, &number) != 0)
            continue;
        pthread_mutex_lock(&ending);
        if (is_stop(number))
            break;
        log_signal(PE_LOG_WARN, "signal_ignored", number);
        pthread_mutex_unlock(&ending);
    }
    log_signal(PE_LOG_WARN, "cut", number);
    pe_log_flush();
    _exit(128 + number);
}

/* ---- the command ---- */

static pe_status serve(reconfiguration *reload, sigset_t *taken, pe_problem *why)
{
    pe_server *server = NULL;
    open_manager();
    PE_TRY(pe_server_start(reload->started, notify_ready, &server, why));
    static const struct timespec a_while = {.tv_sec = 2};
    size_t left = 0;
    uint64_t logged = 0;
    int number;
    while (!is_stop(number = sigtimedwait(taken, NULL, &a_while))) {
        if (number >= 0) {
            if (number == SIGHUP)
                reconfigure(reload, server);
            else if (number == SIGUSR1)
                pe_log_reopen();
            else
                log_signal(PE_LOG_WARN, "signal_ignored", number);
            continue;
        }
        pe_memory_give_back(&left);
        log_refused_memory(&logged);
        pe_server_judge(server);
    }
    log_signal(PE_LOG_INFO, "stopping", number);
    pthread_t impatience;
    notify("STOPPING=1");
    if (pthread_create(&impatience, NULL, cut_when_asked_again, taken) == 0)
        pthread_detach(impatience); /* it may outlive this, and ends with the program */
    pe_server_stop(server);
    pthread_mutex_lock(&ending);
    pe_log(PE_LOG_INFO, "stopped", NULL);
    return PE_OK;
}

int pe_cli_serve(int n_arguments, char **arguments)
{
    static sigset_t taken; /* the thread that waits at the end may see the last of main */
    pe_config *config = NULL;
    pe_problem why;
    if (pe_cli_configure(n_arguments, arguments, &config, &why) != PE_OK)
        return pe_cli_fail("start_failed", &why);
    /* All others wait for this file: none of them may end the program by itself. Threads that
     * follow inherit the mask. */
    sigfillset(&taken);
    for (size_t s = 0; s < PE_LEN(untouched); s++)
        sigdelset(&taken, untouched[s]);
    pthread_sigmask(SIG_BLOCK, &taken, NULL);
    /* A client that went away is a failed write, not a reason to end. */
    signal(SIGPIPE, SIG_IGN);
    const pe_settings *settings = pe_config_settings(config);
    const pe_log_options options = {.file = settings->log_file,
                                    .access_file = settings->access_log_file,
                                    .queue_bytes = (size_t)settings->log_queue_bytes};
    if (pe_log_start(&options, &why) != PE_OK) {
        pe_config_free(config);
        return pe_cli_fail("start_failed", &why);
    }
    reconfiguration reload = {
        .n_arguments = n_arguments, .arguments = arguments, .started = config};
    const pe_status status = serve(&reload, &taken, &why);
    const int exit_status = status == PE_OK ? PE_EXIT_OK : pe_cli_fail("start_failed", &why);
    pe_log_stop();
    pe_config_free(reload.applied);
    pe_config_free(config);
    return exit_status;
}
