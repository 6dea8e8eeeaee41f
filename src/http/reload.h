/* SPDX-License-Identifier: MIT */
/* reload.h - what can be made anew while the server serves. */
#ifndef PE_HTTP_RELOAD_H
#define PE_HTTP_RELOAD_H

#include "http/request/service.h"

/**
 * Put the settings of the list in reload.c to use. First all is read that they name; if a part of it
 * fails, all is dropped and nothing has changed. Answers under way end with what they began with.
 *
 * Errors  INVALID_PARAMETER, those of reading.   Threads  one at a time.
 */
pe_status pe_reload_all(pe_service *service, const pe_settings *fresh,
                        pe_problem *why) PE_MUST_CHECK;

/** Does a reload apply the setting of this name? */
bool pe_reload_applies(const char *name);

#endif
