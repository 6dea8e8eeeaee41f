/* SPDX-License-Identifier: MIT */
/* reconfigure.h - SIGHUP: read the settings again, and put to use what can be. */
#ifndef PE_CLI_RECONFIGURE_H
#define PE_CLI_RECONFIGURE_H

#include "config/settings.h"
#include "http/server.h"

/** What a reload compares with. */
typedef struct pe_reconfigure {
    int n_arguments;
    char **arguments;
    const pe_config *started; /* the settings that the server was started with */
    pe_config *applied;       /* those of the last reload, owned; NULL: none yet */
} pe_reconfigure;

/** Logs what has changed and what needs a restart. A mistake anywhere changes nothing, and is
 * logged. */
void pe_reconfigure_run(pe_reconfigure *reload, pe_server *server);

#endif
