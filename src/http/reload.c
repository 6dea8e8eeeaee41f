/* SPDX-License-Identifier: MIT */
/* reload.c - what can be made anew while the server serves. */
#include "http/reload.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "http/clients/keys.h"
#include "http/connection/tls.h"
#include "http/pages/document_pages.h"
#include "tables/tables.h"

/* ---- the log ---- */

static void use_log_level(pe_service *service, const pe_settings *fresh, void *prepared)
{
    (void)service;
    (void)prepared;
    pe_log_set_level(pe_log_level_named(fresh->log_level));
    pe_log_set_format(fresh->log_format);
}

/* ---- learned tables ---- */

typedef struct learned {
    pe_learned_tables *tables; /* NULL: none */
    pe_learned_page *page;
    pe_learned_changes changes;
} learned;

static void drop_learned(void *prepared)
{
    learned *dropped = prepared;
    pe_learned_tables_free(dropped->tables);
    pe_learned_page_free(dropped->page);
    free(dropped);
}

static pe_status load(const pe_settings *fresh, pe_learned_tables **out, pe_problem *why)
{
    const pe_learned_limits limits = {.bytes = (size_t)fresh->learned_bytes,
                                      .tables = (size_t)fresh->learned_tables};
    if (*fresh->learned_dir == '\0')
        return PE_OK;
    return pe_learned_tables_load(fresh->learned_dir, &limits, out, why);
}

/* A file that gave tables and is broken now would take them away. */
static pe_status compare(pe_service *service, learned *made, pe_problem *why)
{
    pe_learned_tables *before = pe_tables_learned(service->tables);
    made->changes = pe_learned_tables_compare(before, made->tables);
    pe_learned_tables_free(before);
    if (made->changes.broken == NULL)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "learned_dir",
                   "learned_dir: %.200s can no longer be read as tables; the log says why",
                   made->changes.broken);
}

static pe_status prepare_learned(pe_service *service, const pe_settings *fresh, void **prepared,
                                 pe_problem *why)
{
    learned *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    *prepared = made;
    if (load(fresh, &made->tables, why) != PE_OK || compare(service, made, why) != PE_OK)
        return why->status;
    return pe_learned_page_make(made->tables, &made->page, why);
}

static void log_learned(const pe_learned_changes *changes)
{
    pe_log(PE_LOG_INFO, "learned_changed",
           (pe_log_member[]){{PE_LOG_NUMBER, "added", .number = (int64_t)changes->added},
                             {PE_LOG_NUMBER, "changed", .number = (int64_t)changes->changed},
                             {PE_LOG_NUMBER, "removed", .number = (int64_t)changes->removed},
                             {0}});
}

/* First the tables, then the edition: what a request of the new one remembers is of the new
 * tables. */
static void use_learned(pe_service *service, const pe_settings *fresh, void *prepared)
{
    (void)fresh;
    learned *made = prepared;
    const pe_learned_changes changes = made->changes;
    const bool first = atomic_load(&service->edition) == 0;
    const bool same = changes.added + changes.changed + changes.removed == 0;
    if (same && !first) {
        drop_learned(made);
        return;
    }
    pe_tables_use_learned(service->tables, made->tables);
    pe_documents_use_learned(service->documents, made->page);
    atomic_fetch_add(&service->edition, 1);
    if (!first)
        log_learned(&changes);
    free(made);
}

/* ---- keys ---- */

static void drop_keys(void *prepared)
{
    pe_keys_unref(prepared);
}

static pe_status prepare_keys(pe_service *service, const pe_settings *fresh, void **prepared,
                              pe_problem *why)
{
    pe_keys *keys = NULL;
    if (*fresh->keys_file == '\0' && service->keys.now != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "keys_file",
                       "keys_file must be set, as it was: without it everybody would be let in; a "
                       "restart takes an empty one");
    if (*fresh->keys_file != '\0' &&
        pe_keys_load(fresh->keys_file, (size_t)fresh->keys_max, &keys, why) != PE_OK)
        return why->status;
    *prepared = keys;
    return PE_OK;
}

static void log_keys(const pe_keys *keys, pe_keys_changes changes)
{
    if (changes.added + changes.changed + changes.removed == 0)
        return;
    const int64_t count = keys != NULL ? (int64_t)pe_keys_count(keys) : 0;
    pe_log(PE_LOG_INFO, "keys",
           (pe_log_member[]){{PE_LOG_NUMBER, "keys", .number = count},
                             {PE_LOG_NUMBER, "added", .number = (int64_t)changes.added},
                             {PE_LOG_NUMBER, "changed", .number = (int64_t)changes.changed},
                             {PE_LOG_NUMBER, "removed", .number = (int64_t)changes.removed},
                             {PE_LOG_TEXT, "names", .text = changes.names},
                             {0}});
}

/* Requests under way end with the keys that they began with. */
static void use_keys(pe_service *service, const pe_settings *fresh, void *prepared)
{
    (void)fresh;
    pe_keys *keys = prepared;
    const pe_settings *settings = service->settings;
    pthread_mutex_lock(&service->keys.lock);
    pe_keys *before = service->keys.now;
    service->keys.now = keys;
    pthread_mutex_unlock(&service->keys.lock);
    atomic_store(&service->guarded,
                 keys != NULL || settings->address_rate > 0 || settings->address_work_rate > 0);
    log_keys(keys, pe_keys_compare(before, keys));
    pe_keys_unref(before);
}

/* ---- the certificate ---- */

/* Whether there is TLS at all is decided at the start. */
static pe_status prepare_identity(pe_service *service, const pe_settings *fresh, void **prepared,
                                  pe_problem *why)
{
    pe_tls_identity *read = NULL;
    if (service->tls == NULL)
        return PE_OK;
    const pe_status status =
        pe_tls_identity_read(fresh->tls_certificate, fresh->tls_key, &read, why);
    *prepared = read;
    return status;
}

static void log_certificate(const pe_tls_identity *identity)
{
    pe_tls_certificate shown;
    pe_tls_describe(identity, &shown);
    pe_log(PE_LOG_INFO, "certificate",
           (pe_log_member[]){{PE_LOG_TEXT, "subject", .text = shown.subject},
                             {PE_LOG_TEXT, "sha256", .text = shown.fingerprint},
                             {0}});
}

static void use_identity(pe_service *service, const pe_settings *fresh, void *prepared)
{
    (void)fresh;
    if (prepared == NULL)
        return;
    if (!pe_tls_is_used(service->tls, prepared))
        log_certificate(prepared);
    pe_tls_use(service->tls, prepared);
}

static void drop_identity(void *prepared)
{
    pe_tls_identity_free(prepared);
}

/* ---- all ---- */

static const pe_reloadable rows[] = {
    {.settings = {"learned_dir", "learned_bytes", "learned_tables"},
     .prepare = prepare_learned,
     .use = use_learned,
     .drop = drop_learned},
    {.settings = {"keys_file", "keys_max"},
     .prepare = prepare_keys,
     .use = use_keys,
     .drop = drop_keys},
    {.settings = {"tls_certificate", "tls_key"},
     .prepare = prepare_identity,
     .use = use_identity,
     .drop = drop_identity},
    {.settings = {"log_level", "log_format"}, .use = use_log_level},
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
