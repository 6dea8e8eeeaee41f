/* SPDX-License-Identifier: MIT */
/* reload.h - what can be made anew while the server serves. */
#ifndef PE_HTTP_RELOAD_H
#define PE_HTTP_RELOAD_H

#include "http/request/service.h"

/** Most settings that one row applies. */
#define PE_RELOAD_SETTINGS_MAX 4

/**
 * A row of the table in reload.c. First each row prepares what it will use, from settings and
 * files. If one fails, all is dropped and nothing has changed; else each row puts to use what it
 * has prepared. Answers under way end with what they began with.
 */
typedef struct pe_reloadable {
    const char *settings[PE_RELOAD_SETTINGS_MAX]; /* that it applies, or NULL */
    pe_status (*prepare)(pe_service *service, const pe_settings *fresh, void **prepared,
                         pe_problem *why); /* NULL: `use` needs nothing */
    void (*use)(pe_service *service, const pe_settings *fresh, void *prepared);
    void (*drop)(void *prepared); /* NULL where prepare is */
} pe_reloadable;

/** Put the settings to use, as far as the table goes. Errors  those of the rows; then nothing has
 * changed.   Threads  one at a time. */
pe_status pe_reload_all(pe_service *service, const pe_settings *fresh,
                        pe_problem *why) PE_MUST_CHECK;

/** Does a reload apply the setting of this name? */
bool pe_reload_applies(const char *name);

#endif
