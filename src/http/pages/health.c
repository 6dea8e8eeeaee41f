/* SPDX-License-Identifier: MIT */
/* health.c - how the server is: liveness, readiness, version, metrics. */
#include <inttypes.h>

#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "kernels/kernels.h"
#include "version.h"

static void reply_text(pe_request *request, unsigned http_status, const char *media_type,
                       pe_buffer *content)
{
    const pe_field fields[] = {
        {"Content-Type", media_type},
        {"Cache-Control", "no-store"},
        {"Retry-After", http_status == MHD_HTTP_SERVICE_UNAVAILABLE ? "1" : NULL},
        {0},
    };
    pe_reply_content(request, http_status, content, fields);
}

static void reply_status(pe_request *request, const char *status)
{
    pe_buffer content = {0};
    pe_buffer_format(&content, "{\"status\":\"%s\"}\n", status);
    reply_text(request, MHD_HTTP_OK, "application/json", &content);
}

void pe_page_livez(pe_request *request)
{
    reply_status(request, "ok");
}

void pe_page_healthz(pe_request *request)
{
    reply_status(request, "ok");
}

void pe_page_readyz(pe_request *request)
{
    const pe_service *service = request->service;
    pe_problem why;
    if (atomic_load(&service->draining))
        pe_fail(&why, PE_OVERLOADED, "", "draining");
    else if (atomic_load(&service->warming))
        pe_fail(&why, PE_OVERLOADED, "", "warming");
    else {
        reply_status(request, "ok");
        return;
    }
    pe_reply_problem(request, &why);
}

void pe_page_version(pe_request *request)
{
    pe_buffer content = {0};
    pe_buffer_str(&content, "{\"name\":\"posenc\",\"version\":");
    pe_buffer_json_string(&content, PE_VERSION);
    pe_buffer_str(&content, ",\"revision\":");
    pe_buffer_json_string(&content, PE_REVISION);
    pe_buffer_str(&content, ",\"kernels\":");
    pe_buffer_json_string(&content, pe_kernels_get()->name);
    pe_buffer_str(&content, ",\"libmicrohttpd\":");
    pe_buffer_json_string(&content, MHD_get_version());
    pe_buffer_str(&content, "}\n");
    reply_text(request, MHD_HTTP_OK, "application/json", &content);
}

/* ---- metrics, in Prometheus' text format 0.0.4 ---- */

static void metric(pe_buffer *out, const char *name, const char *kind, const char *help)
{
    pe_buffer_format(out, "# HELP posenc_%s %s\n# TYPE posenc_%s %s\n", name, help, name, kind);
}

static void single(pe_buffer *out, const char *name, const char *kind, const char *help,
                   uint64_t value)
{
    metric(out, name, kind, help);
    pe_buffer_format(out, "posenc_%s %" PRIu64 "\n", name, value);
}

typedef struct cache_row {
    const char *name;
    pe_cache_stats stats;
} cache_row;

static void cache_metric(pe_buffer *out, const cache_row *rows, size_t n, const char *name,
                         const char *kind, const char *help, size_t offset, bool wide)
{
    metric(out, name, kind, help);
    for (size_t i = 0; i < n; i++) {
        const char *at = (const char *)&rows[i].stats + offset;
        uint64_t value =
            wide ? *(const uint64_t *)(const void *)at : *(const size_t *)(const void *)at;
        pe_buffer_format(out, "posenc_%s{cache=\"%s\"} %" PRIu64 "\n", name, rows[i].name, value);
    }
}

static void add_caches(pe_service *service, pe_buffer *out)
{
    cache_row rows[] = {{.name = "responses"}, {.name = "fronts"}, {.name = "tables"}};
    pe_response_cache_stats(service->warm, &rows[0].stats, &rows[1].stats);
    pe_tables_stats(service->tables, &rows[2].stats);
    static const struct {
        const char *name, *kind, *help;
        size_t offset;
        bool wide;
    } columns[] = {
        {"cache_hits_total", "counter", "Found.", offsetof(pe_cache_stats, hits), true},
        {"cache_misses_total", "counter", "Filled.", offsetof(pe_cache_stats, misses), true},
        {"cache_waits_total", "counter", "Waited for another's fill.",
         offsetof(pe_cache_stats, waits), true},
        {"cache_evictions_total", "counter", "Thrown out for others.",
         offsetof(pe_cache_stats, evictions), true},
        {"cache_rejected_total", "counter", "Not kept: too large beside what is held.",
         offsetof(pe_cache_stats, rejected), true},
        {"cache_bytes", "gauge", "Kept.", offsetof(pe_cache_stats, bytes), false},
        {"cache_held_bytes", "gauge", "Of these, what requests hold or wait for.",
         offsetof(pe_cache_stats, held), false},
        {"cache_loose_bytes", "gauge", "Beside these, what requests hold though it was not kept.",
         offsetof(pe_cache_stats, loose), false},
        {"cache_max_bytes", "gauge", "Budget.", offsetof(pe_cache_stats, bytes_max), false},
        {"cache_entries", "gauge", "Entries.", offsetof(pe_cache_stats, entries), false},
    };
    for (size_t c = 0; c < PE_LEN(columns); c++)
        cache_metric(out, rows, PE_LEN(rows), columns[c].name, columns[c].kind, columns[c].help,
                     columns[c].offset, columns[c].wide);
}

static void add_answers(const pe_counters *counters, pe_buffer *out)
{
    metric(out, "responses_total", "counter", "Answers by class of status.");
    for (unsigned i = 1; i < PE_LEN(counters->by_class); i++)
        pe_buffer_format(out, "posenc_responses_total{class=\"%uxx\"} %" PRIu64 "\n", i,
                         (uint64_t)atomic_load(&counters->by_class[i]));
}

static void add_blocks(const pe_counters *counters, pe_buffer *out)
{
    metric(out, "stream_blocks_total", "counter", "Blocks of streams by who made them.");
    pe_buffer_format(out, "posenc_stream_blocks_total{by=\"io\"} %" PRIu64 "\n",
                     (uint64_t)atomic_load(&counters->blocks_by_io));
    pe_buffer_format(out, "posenc_stream_blocks_total{by=\"worker\"} %" PRIu64 "\n",
                     (uint64_t)atomic_load(&counters->blocks_by_workers));
}

void pe_page_metrics(pe_request *request)
{
    pe_service *service = request->service;
    pe_counters *counters = &service->counters;
    pe_buffer out = {0};
    single(&out, "requests_total", "counter", "Requests begun.", atomic_load(&counters->requests));
    add_answers(counters, &out);
    single(&out, "warm_hits_total", "counter", "Answered without reading the request.",
           atomic_load(&counters->warm_hits));
    single(&out, "streams_total", "counter", "Answers made while they were sent.",
           atomic_load(&counters->streams));
    single(&out, "stream_bytes_total", "counter", "Bytes made for streams.",
           atomic_load(&counters->stream_bytes));
    add_blocks(counters, &out);
    single(&out, "refused_total", "counter", "Requests refused by their header alone.",
           atomic_load(&counters->refused));
    single(&out, "timeouts_total", "counter", "Requests that did not arrive in time.",
           atomic_load(&counters->timeouts));
    single(&out, "abandoned_total", "counter",
           "Requests whose clients left before their turn came.",
           atomic_load(&counters->abandoned));
    single(&out, "digests_total", "counter", "Answers hashed for a Repr-Digest.",
           atomic_load(&counters->digests));
    single(&out, "connections_total", "counter", "Connections ever.",
           atomic_load(&counters->connections));
    single(&out, "connections", "gauge", "Connections open.", pe_watchdog_count(service->watchdog));
    single(&out, "queue", "gauge", "Requests waiting for a worker.",
           pe_pool_waiting(service->pool));
    single(&out, "stream_large_blocks_bytes", "gauge", "Held by streams that have large blocks.",
           atomic_load(&service->large_blocks));
    single(&out, "body_bytes", "gauge", "Bytes of request bodies held.",
           atomic_load(&service->body_bytes));
    add_caches(service, &out);
    reply_text(request, MHD_HTTP_OK, "text/plain; version=0.0.4", &out);
}
