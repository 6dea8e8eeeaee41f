/* SPDX-License-Identifier: MIT */
/* serve.c - `posenc serve`: start, wait for a signal, stop. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/budget.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "http/server.h"

/* All threads that follow inherit the mask, so that only wait_for_stop takes the
 * signals that stop. */
static void set_signals(sigset_t *stop)
{
    sigemptyset(stop);
    sigaddset(stop, SIGTERM);
    sigaddset(stop, SIGINT);
    pthread_sigmask(SIG_BLOCK, stop, NULL);
    /* A client that went away is a failed write, not a reason to end. */
    signal(SIGPIPE, SIG_IGN);
}

static void wait_for_stop(const sigset_t *stop)
{
    static const struct timespec a_while = {.tv_sec = 2};
    size_t left = 0;
    uint64_t told = 0;
    int number;
    while ((number = sigtimedwait(stop, NULL, &a_while)) < 0) {
        pe_memory_give_back(&left);
        pe_budget_tell(&told);
    }
    pe_log(PE_LOG_INFO, "stopping",
           (pe_log_member[]){
               {PE_LOG_TEXT, "signal", .text = number == SIGINT ? "SIGINT" : "SIGTERM"}, {0}});
    /* Who presses Ctrl-C again does not want to wait for the answers under way. */
    sigset_t impatient;
    sigemptyset(&impatient);
    sigaddset(&impatient, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &impatient, NULL);
}

int pe_cli_serve(int n_arguments, char **arguments)
{
    pe_config *config = NULL;
    pe_server *server = NULL;
    pe_problem why;
    sigset_t stop;
    if (pe_cli_configure(n_arguments, arguments, &config, &why) != PE_OK)
        return pe_cli_fail("start_failed", &why);
    set_signals(&stop);
    int exit_status = PE_EXIT_OK;
    if (pe_server_start(pe_config_settings(config), &server, &why) == PE_OK) {
        wait_for_stop(&stop);
        pe_server_stop(server);
        pe_log(PE_LOG_INFO, "stopped", NULL);
    } else {
        exit_status = pe_cli_fail("start_failed", &why);
    }
    pe_config_free(config);
    return exit_status;
}
