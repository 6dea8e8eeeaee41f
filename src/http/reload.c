/* SPDX-License-Identifier: MIT */
/* reload.c - what can be made anew while the server serves. */
#include "http/reload.h"

#include <string.h>

#include "base/array.h"
#include "base/log.h"

static void use_log_level(pe_service *service, const pe_settings *fresh, void *prepared)
{
    (void)service;
    (void)prepared;
    pe_log_set_level(pe_log_level_named(fresh->log_level));
}

static const pe_reloadable rows[] = {
    {.settings = {"log_level"}, .use = use_log_level},
};

pe_status pe_reload_all(pe_service *service, const pe_settings *fresh, pe_problem *why)
{
    void *prepared[PE_LEN(rows)] = {0};
    size_t n = 0;
    pe_status status = PE_OK;
    for (; n < PE_LEN(rows) && status == PE_OK; n++)
        if (rows[n].prepare != NULL)
            status = rows[n].prepare(service, fresh, &prepared[n], why);
    for (size_t r = 0; r < n; r++) {
        if (status == PE_OK)
            rows[r].use(service, fresh, prepared[r]);
        else if (prepared[r] != NULL)
            rows[r].drop(prepared[r]);
    }
    return status;
}

bool pe_reload_applies(const char *name)
{
    for (size_t r = 0; r < PE_LEN(rows); r++)
        for (size_t s = 0; s < PE_RELOAD_SETTINGS_MAX && rows[r].settings[s] != NULL; s++)
            if (strcmp(rows[r].settings[s], name) == 0)
                return true;
    return false;
}
