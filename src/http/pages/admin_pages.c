/* SPDX-License-Identifier: MIT */
/* admin_pages.c - how the server is, and what operators ask: settings, the log, requests, caches. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/answer/response_cache.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "kernels/kernels.h"
#include "tables/tables.h"
#include "formats/json_write.h"
#include "version.h"

/* Requests that one answer lists at most. */
#define LISTED_MAX 256

static pe_outcome reply_constant(pe_request *request, const char *json)
{
    return pe_reply_held(
        request, json, strlen(json), NULL,
        PE_FIELDS({"Content-Type", "application/json"}, {"Cache-Control", "no-store"}));
}

pe_outcome pe_page_admin(pe_request *request, pe_problem *why PE_UNUSED)
{
    return reply_constant(
        request, "{\"name\":\"posenc\",\"description\":\"the listener for operators\","
                 "\"get\":[\"/metrics\",\"/caches\",\"/settings\",\"/log-level\",\"/readiness\","
                 "\"/requests\",\"/version\",\"/livez\",\"/readyz\",\"/healthz\"],"
                 "\"post\":[\"/caches/purge\",\"/log-level?level=debug\"]}\n");
}

/* ---- web pages of others ---- */

/* Host must be a name that no page of the internet has: such a page could have its own point here,
 * and then read what it likes (DNS rebinding). And a page that a browser shows may send a POST to any
 * address; browsers tell where it is from. */
pe_status pe_page_check_sender(const pe_request *request, pe_problem *why)
{
    static const char *const suffixes[] = {".localhost", ".local", ".internal"};
    const pe_setting_list *also = &request->service->settings->admin_hosts;
    const char *host = request->header[PE_HEADER_HOST];
    char name[256] = "";
    struct in_addr address;
    if (host != NULL)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(host, ":"), host);
    bool own = host == NULL || *host == '[' || strchr(name, '.') == NULL ||
               inet_pton(AF_INET, name, &address) == 1;
    for (size_t i = 0; i < PE_LEN(suffixes); i++) {
        const size_t bytes = strlen(suffixes[i]), all = strlen(name);
        own = own || (all > bytes && strcasecmp(name + all - bytes, suffixes[i]) == 0);
    }
    for (size_t i = 0; i < also->n; i++)
        own = own || strcasecmp(name, also->item[i]) == 0;
    if (!own)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the listener for operators is asked by an address, a name without a dot, "
                       "or one of admin_hosts; got Host: %.128s",
                       host);
    if (request->method != PE_METHOD_POST ||
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Origin") == NULL)
        return PE_OK;
    return pe_fail(why, PE_MALFORMED_REQUEST, "",
                   "the listener for operators takes nothing from web pages (Origin)");
}

/* ---- settings ---- */

/* No setting is a secret; some name files that hold one. */
pe_outcome pe_page_settings(pe_request *request, pe_problem *why)
{
    pe_service *service = request->service;
    pe_buffer content = {0};
    pthread_mutex_lock(&service->reloaded.lock);
    pe_buffer_add(&content, service->reloaded.settings.data, service->reloaded.settings.bytes);
    pthread_mutex_unlock(&service->reloaded.lock);
    if (content.bytes == 0)
        pe_config_print(service->config, &content);
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}

/* ---- the log's level ---- */

pe_outcome pe_page_log_level(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    const pe_slice query = request->query;
    bool named = request->method != PE_METHOD_POST;
    for (pe_log_level level = PE_LOG_ERROR; level <= PE_LOG_DEBUG && !named; level++) {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "level=%s", pe_log_level_name(level));
        named = pe_slice_is(query, wanted);
        if (named)
            pe_log_set_level(level);
    }
    if (!named)
        return pe_fail(why, PE_INVALID_PARAMETER, "level",
                       "the query must be level=error, level=warn, level=info or level=debug, got "
                       "\"%.*s\"",
                       (int)(query.bytes < 64 ? query.bytes : 64), query.text);
    pe_buffer_format(&content, "{\"level\":\"%s\"}\n", pe_log_level_name(pe_log_get_level()));
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}

/* ---- health ---- */

/* Also of /healthz: the process runs and answers. */
pe_outcome pe_page_livez(pe_request *request, pe_problem *why PE_UNUSED)
{
    return reply_constant(request, "{\"status\":\"ok\"}\n");
}

pe_outcome pe_page_readyz(pe_request *request, pe_problem *why)
{
    const bool draining = atomic_load(&request->service->draining);
    if (!draining && !atomic_load(&request->service->warming))
        return pe_page_livez(request, why);
    return pe_fail(why, PE_OVERLOADED, "", draining ? "draining" : "warming");
}

pe_outcome pe_page_version(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    pe_buffer_str(&content, "{");
    pe_json_write_text(&content, "name", "posenc");
    pe_json_write_text(&content, "version", PE_VERSION);
    pe_json_write_text(&content, "revision", PE_REVISION);
    pe_json_write_text(&content, "kernels", pe_kernels_get()->name);
    pe_json_write_text(&content, "libmicrohttpd", MHD_get_version());
    if (request->watch->place == PE_PLACE_OPERATOR) {
        pe_json_write_name(&content, "sandbox");
        pe_sandbox_json(&request->service->sandbox, &content);
    }
    pe_buffer_str(&content, "}\n");
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}

pe_outcome pe_page_readiness(pe_request *request, pe_problem *why)
{
    pe_service *service = request->service;
    const bool warming = atomic_load(&service->warming), draining = atomic_load(&service->draining);
    pe_buffer content = {0};
    pe_buffer_str(&content, "{");
    pe_json_write_truth(&content, "ready", !warming && !draining);
    pe_json_write_truth(&content, "warming", warming);
    pe_json_write_truth(&content, "draining", draining);
    pe_json_write_count(&content, "connections", pe_watchdog_count(service->watchdog));
    pe_json_write_count(&content, "connections_max", (uint64_t)service->settings->connections_max);
    pe_json_write_count(&content, "queue", pe_pool_waiting(service->pool));
    pe_json_write_count(&content, "queue_max", (uint64_t)service->settings->queue_max);
    pe_json_write_count(&content, "body_bytes", atomic_load(&service->body_bytes));
    pe_buffer_str(&content, "}");
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}

/* ---- requests under way ---- */

pe_outcome pe_page_requests(pe_request *request, pe_problem *why)
{
    pe_watched *all = calloc(LISTED_MAX, sizeof *all);
    if (all == NULL)
        return pe_fail_memory(why);
    pe_buffer content = {0};
    const size_t n = pe_watchdog_look(request->service->watchdog, all, LISTED_MAX);
    const int64_t now = pe_clock();
    pe_buffer_format(&content, "{\"connections\":%zu,\"requests\":[",
                     pe_watchdog_count(request->service->watchdog));
    for (size_t i = 0; i < n; i++) {
        const pe_watched *one = &all[i];
        static const char *const phases[] = {
            [PE_PHASE_FRESH] = "connected",     [PE_PHASE_HEADER] = "header",
            [PE_PHASE_RECEIVING] = "receiving", [PE_PHASE_WORKING] = "working",
            [PE_PHASE_SENDING] = "sending",     [PE_PHASE_IDLE] = "idle",
            [PE_PHASE_LEAVING] = "leaving",
        };
        pe_json_write_open(&content, NULL, "{");
        pe_json_write_text(&content, "phase", phases[one->phase]);
        pe_json_write_text(&content, "listener",
                           one->place == PE_PLACE_OPERATOR ? "admin" : "public");
        if (one->started != 0) {
            pe_json_write_text(&content, "request", one->label);
            pe_buffer_format(&content, ",\"age_ms\":%.3f",
                             (double)(now - one->started) / PE_NANOSECONDS_PER_MS);
        }
        pe_buffer_str(&content, "}");
    }
    pe_buffer_str(&content, "]}\n");
    free(all);
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}

/* ---- how the caches are emptied ---- */

/* What somebody holds stays until it is let go. */
pe_outcome pe_page_purge(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    const size_t responses = pe_response_cache_evict(request->service->responses, SIZE_MAX);
    const size_t tables = pe_tables_evict(request->service->tables, SIZE_MAX);
    pe_buffer_format(&content, "{\"freed_bytes\":{\"responses\":%zu,\"tables\":%zu}}\n", responses,
                     tables);
    return pe_reply_json(request, PE_OK, &content, "no-store", why);
}
