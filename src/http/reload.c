/* SPDX-License-Identifier: MIT */
/* reload.c - what can be made anew while the server serves. */
#include "http/reload.h"

#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "http/clients/keys.h"
#include "http/connection/tls.h"
#include "tables/tables.h"

static const char *const applied[] = {
    "learned_dir",     "learned_bytes", "learned_tables", "keys_file",  "keys_max",
    "tls_certificate", "tls_key",       "log_level",      "log_format",
};

/* What is read before anything is put to use. NULL: there is none. */
typedef struct prepared {
    pe_learned_tables *tables;
    pe_learned_changes changes;
    pe_keys *keys;
    pe_tls_identity *identity;
} prepared;

/* ---- read ---- */

/* A file that gave tables and is broken now would take them away. */
static pe_status prepare_learned(pe_service *service, const pe_settings *fresh, prepared *made,
                                 pe_problem *why)
{
    const pe_learned_limits limits = {.bytes = (size_t)fresh->learned_bytes,
                                      .tables = (size_t)fresh->learned_tables};
    if (*fresh->learned_dir != '\0' &&
        pe_learned_tables_load(fresh->learned_dir, &limits, &made->tables, why) != PE_OK)
        return why->status;
    pe_learned_tables *before = pe_tables_learned(service->tables);
    made->changes = pe_learned_tables_compare(before, made->tables);
    pe_learned_tables_free(before);
    if (made->changes.broken != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "learned_dir",
                       "learned_dir: %.200s can no longer be read as tables; the log says why",
                       made->changes.broken);
    return PE_OK;
}

static pe_status prepare_keys(pe_service *service, const pe_settings *fresh, prepared *made,
                              pe_problem *why)
{
    if (*fresh->keys_file != '\0')
        return pe_keys_load(fresh->keys_file, (size_t)fresh->keys_max, &made->keys, why);
    if (service->reloaded.keys == NULL)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "keys_file",
                   "keys_file must be set, as it was: without it everybody would be let in; a "
                   "restart takes an empty one");
}

/* ---- put to use ---- */

/* First the tables, then the edition: what a request of the new one remembers is of the new
 * tables. */
static void use_learned(pe_service *service, prepared *made)
{
    const pe_learned_changes *changes = &made->changes;
    const bool first = atomic_load(&service->edition) == 0;
    if (!first && changes->added + changes->changed + changes->removed == 0) {
        pe_learned_tables_free(made->tables);
        return;
    }
    pe_tables_use_learned(service->tables, made->tables);
    atomic_fetch_add(&service->edition, 1);
    if (!first)
        PE_LOG(PE_LOG_INFO, "learned_changed", PE_NUMBER("added", changes->added),
               PE_NUMBER("changed", changes->changed), PE_NUMBER("removed", changes->removed));
}

pe_status pe_reload_all(pe_service *service, const pe_settings *fresh, pe_problem *why)
{
    prepared made = {0};
    pe_status status = prepare_learned(service, fresh, &made, why);
    if (status == PE_OK)
        status = prepare_keys(service, fresh, &made, why);
    if (status == PE_OK && service->tls) /* which the start has decided */
        status = pe_tls_identity_read(fresh->tls_certificate, fresh->tls_key, &made.identity, why);
    if (status != PE_OK) {
        pe_learned_tables_free(made.tables);
        pe_keys_unref(made.keys);
        pe_tls_identity_free(made.identity);
        return status;
    }
    use_learned(service, &made);
    /* Requests under way end with the keys that they began with. */
    pe_keys *keys = made.keys;
    const pe_settings *settings = service->settings;
    pthread_mutex_lock(&service->reloaded.lock);
    pe_keys *before = service->reloaded.keys;
    service->reloaded.keys = keys;
    pthread_mutex_unlock(&service->reloaded.lock);
    atomic_store(&service->guarded,
                 keys != NULL || settings->address_rate > 0 || settings->address_work_rate > 0);
    const pe_keys_changes changes = pe_keys_compare(before, keys);
    if (changes.added + changes.changed + changes.removed > 0)
        PE_LOG(PE_LOG_INFO, "keys", PE_NUMBER("keys", changes.keys),
               PE_NUMBER("added", changes.added), PE_NUMBER("changed", changes.changed),
               PE_NUMBER("removed", changes.removed), PE_TEXT("names", changes.names));
    pe_keys_unref(before);
    pe_tls_certificate shown;
    if (made.identity != NULL && pe_tls_use(&service->identity, made.identity, &shown))
        PE_LOG(PE_LOG_INFO, "certificate", PE_TEXT("subject", shown.subject),
               PE_TEXT("sha256", shown.fingerprint));
    pe_log_set_level(pe_log_level_named(fresh->log_level));
    pe_log_set_format(fresh->log_format);
    return PE_OK;
}

bool pe_reload_applies(const char *name)
{
    for (size_t i = 0; i < PE_LEN(applied); i++)
        if (strcmp(applied[i], name) == 0)
            return true;
    return false;
}
