/* SPDX-License-Identifier: MIT */
/* shown_settings.h - the settings in effect, with their sources, as operators see them. */
#ifndef PE_HTTP_PAGES_SHOWN_SETTINGS_H
#define PE_HTTP_PAGES_SHOWN_SETTINGS_H

#include "config/settings.h"

/** A text that a reload replaces. No setting is a secret; some name files that hold one. */
typedef struct pe_shown_settings pe_shown_settings;

/** Those of the start.   Errors  INTERNAL (memory). */
pe_status pe_shown_settings_make(const pe_config *config, pe_shown_settings **out,
                                 pe_problem *why) PE_MUST_CHECK;

/** A reload has taken those that applies(name) from `fresh`. Without memory nothing changes. */
void pe_shown_settings_update(pe_shown_settings *shown, const pe_config *fresh,
                              bool (*applies)(const char *name));

/** Accepts NULL. */
void pe_shown_settings_free(pe_shown_settings *shown);

#endif
