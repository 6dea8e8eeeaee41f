/* SPDX-License-Identifier: MIT */
/* metrics.c - what the server counts, in Prometheus' text format 0.0.4. */
#include <inttypes.h>
#include <stddef.h>

#include "base/budget.h"
#include "base/log.h"
#include "http/answer/response_cache.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "tables/tables.h"

/** A metric: its name without the prefix, its type and its help. */
typedef struct metric {
    const char *name, *type, *help;
} metric;

static void write_head(pe_buffer *out, const metric *m)
{
    pe_buffer_format(out, "# HELP posenc_%s %s\n# TYPE posenc_%s %s\n", m->name, m->help, m->name,
                     m->type);
}

static void write_single(pe_buffer *out, const metric *m, uint64_t value)
{
    write_head(out, m);
    pe_buffer_format(out, "posenc_%s %" PRIu64 "\n", m->name, value);
}

/* ---- the counters of the service ---- */

/* One row per counter that stands alone. */
static const struct {
    metric metric;
    size_t offset;
} counters[] = {
    {{"requests_total", "counter", "Requests whose first line arrived."},
     offsetof(pe_counters, requests)},
    {{"warm_hits_total", "counter",
      "Requests answered from the response cache by their raw target and headers."},
     offsetof(pe_counters, warm_hits)},
    {{"streams_total", "counter", "Responses computed while they were sent."},
     offsetof(pe_counters, streams)},
    {{"stream_bytes_total", "counter", "Bytes computed for streamed responses."},
     offsetof(pe_counters, stream_bytes)},
    {{"refused_total", "counter", "Requests refused because of their header alone."},
     offsetof(pe_counters, refused)},
    {{"timeouts_total", "counter", "Requests that did not arrive before their deadline."},
     offsetof(pe_counters, timeouts)},
    {{"abandoned_total", "counter",
      "Requests whose clients disconnected before a worker began with them."},
     offsetof(pe_counters, abandoned)},
    {{"work_units_total", "counter",
      "Units of work, of about ten nanoseconds, that requests were priced at when it was begun."},
     offsetof(pe_counters, work)},
    {{"digests_total", "counter", "Responses hashed for a Repr-Digest field."},
     offsetof(pe_counters, digests)},
    {{"connections_total", "counter", "Connections accepted since the start."},
     offsetof(pe_counters, connections)},
};

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void write_counters(const pe_counters *all, pe_buffer *out)
{
    for (size_t i = 0; i < PE_LEN(counters); i++)
        write_single(out, &counters[i].metric,
                     load((const void *)((const char *)all + counters[i].offset)));
}

static void write_responses(const pe_counters *all, pe_buffer *out)
{
    write_head(out,
               &(metric){"responses_total", "counter", "Responses by the class of their status."});
    for (unsigned i = 1; i < PE_LEN(all->by_class); i++)
        pe_buffer_format(out, "posenc_responses_total{class=\"%uxx\"} %" PRIu64 "\n", i,
                         load(&all->by_class[i]));
}

static void write_blocks(const pe_counters *all, pe_buffer *out)
{
    write_head(out, &(metric){"stream_blocks_total", "counter",
                              "Blocks of streamed responses by the threads that computed them."});
    pe_buffer_format(out, "posenc_stream_blocks_total{by=\"io\"} %" PRIu64 "\n",
                     load(&all->blocks_by_io));
    pe_buffer_format(out, "posenc_stream_blocks_total{by=\"worker\"} %" PRIu64 "\n",
                     load(&all->blocks_by_workers));
}

/* ---- what is held now ---- */

static void write_gauges(pe_service *service, pe_buffer *out)
{
    const struct {
        metric metric;
        uint64_t value;
    } gauges[] = {
        {{"connections", "gauge", "Connections that are open."},
         pe_watchdog_count(service->watchdog)},
        {{"queue", "gauge", "Requests that wait for a worker."}, pe_pool_waiting(service->pool)},
        {{"stream_large_blocks_bytes", "gauge", "Bytes held by streams for blocks of 256 KiB."},
         atomic_load(&service->large_blocks)},
        {{"body_bytes", "gauge", "Bytes of request bodies that are held."},
         atomic_load(&service->body_bytes)},
        {{"log_dropped_total", "counter", "Log lines dropped because their reader was too slow."},
         pe_log_dropped()},
    };
    for (size_t i = 0; i < PE_LEN(gauges); i++)
        write_single(out, &gauges[i].metric, gauges[i].value);
}

/* ---- memory ---- */

/* What the budget holds, by purpose; the rest is of requests and streams under way, and what the
 * program keeps. */
static void write_memory_by_kind(pe_service *service, const pe_budget_stats *budget, pe_buffer *out)
{
    pe_cache_stats responses, keys, tables;
    pe_response_cache_stats(service->responses, &responses, &keys);
    pe_tables_stats(service->tables, &tables);
    pe_learned_tables *learned = pe_tables_learned(service->tables);
    const struct {
        const char *kind;
        size_t bytes;
    } kinds[] = {
        {"responses", responses.bytes + responses.loose + keys.bytes + keys.loose},
        {"tables", tables.bytes + tables.loose},
        {"learned", pe_learned_tables_bytes(learned)},
        {"bodies", atomic_load(&service->body_bytes)},
        {"connections",
         pe_watchdog_count(service->watchdog) * (size_t)service->settings->connection_memory_bytes},
    };
    size_t rest = budget->bytes;
    pe_learned_tables_free(learned);
    write_head(out, &(metric){"memory_bytes", "gauge", "Bytes allocated, by purpose."});
    for (size_t i = 0; i < PE_LEN(kinds); i++) {
        rest -= kinds[i].bytes < rest ? kinds[i].bytes : rest;
        pe_buffer_format(out, "posenc_memory_bytes{kind=\"%s\"} %zu\n", kinds[i].kind,
                         kinds[i].bytes);
    }
    pe_buffer_format(out, "posenc_memory_bytes{kind=\"other\"} %zu\n", rest);
}

static void write_memory(pe_service *service, pe_buffer *out)
{
    pe_budget_stats budget;
    pe_budget_stats_get(&budget);
    const struct {
        metric metric;
        uint64_t value;
    } figures_of_memory[] = {
        {{"memory_allocated_bytes", "gauge", "Bytes allocated for everything together."},
         budget.bytes},
        {{"memory_max_bytes", "gauge", "Bytes that may be allocated for everything together."},
         budget.bytes_max},
        {{"memory_refused_total", "counter",
          "Allocations refused because the memory was in use, after caches had shrunk."},
         budget.refused},
        {{"memory_failed_total", "counter", "Allocations that the system refused."}, budget.failed},
        {{"memory_evicted_bytes_total", "counter",
          "Bytes evicted from caches to make room for other memory."},
         budget.evicted},
    };
    write_memory_by_kind(service, &budget, out);
    for (size_t i = 0; i < PE_LEN(figures_of_memory); i++)
        write_single(out, &figures_of_memory[i].metric, figures_of_memory[i].value);
}

/* ---- caches ---- */

/* One row per figure of a cache. */
static const struct {
    metric metric;
    size_t offset;
    bool is_counter; /* uint64_t; else size_t */
} figures[] = {
    {{"cache_hits_total", "counter", "Look-ups that found an entry."},
     offsetof(pe_cache_stats, hits),
     true},
    {{"cache_misses_total", "counter", "Look-ups that computed an entry."},
     offsetof(pe_cache_stats, misses),
     true},
    {{"cache_waits_total", "counter",
      "Look-ups that waited while another thread computed the entry."},
     offsetof(pe_cache_stats, waits),
     true},
    {{"cache_evictions_total", "counter", "Entries removed to make room for others."},
     offsetof(pe_cache_stats, evictions),
     true},
    {{"cache_rejected_total", "counter", "Values not stored because there was no room for them."},
     offsetof(pe_cache_stats, rejected),
     true},
    {{"cache_bytes", "gauge", "Bytes of the stored entries."},
     offsetof(pe_cache_stats, bytes),
     false},
    {{"cache_held_bytes", "gauge",
      "Bytes of the stored entries that requests use now, and of those being computed."},
     offsetof(pe_cache_stats, held),
     false},
    {{"cache_loose_bytes", "gauge",
      "Bytes of values that requests use although they are not stored."},
     offsetof(pe_cache_stats, loose),
     false},
    {{"cache_max_bytes", "gauge", "Bytes that the cache may hold."},
     offsetof(pe_cache_stats, bytes_max),
     false},
    {{"cache_entries", "gauge", "Stored entries."}, offsetof(pe_cache_stats, entries), false},
};

static uint64_t figure_of(const pe_cache_stats *stats, size_t figure)
{
    const void *at = (const char *)stats + figures[figure].offset;
    return figures[figure].is_counter ? *(const uint64_t *)at : *(const size_t *)at;
}

static void write_caches(pe_service *service, pe_buffer *out)
{
    struct {
        const char *name;
        pe_cache_stats stats;
    } caches[] = {{.name = "responses"}, {.name = "request_keys"}, {.name = "tables"}};
    pe_response_cache_stats(service->responses, &caches[0].stats, &caches[1].stats);
    pe_tables_stats(service->tables, &caches[2].stats);
    for (size_t f = 0; f < PE_LEN(figures); f++) {
        write_head(out, &figures[f].metric);
        for (size_t c = 0; c < PE_LEN(caches); c++)
            pe_buffer_format(out, "posenc_%s{cache=\"%s\"} %" PRIu64 "\n", figures[f].metric.name,
                             caches[c].name, figure_of(&caches[c].stats, f));
    }
}

pe_outcome pe_page_metrics(pe_request *request, pe_problem *why)
{
    const pe_field fields[] = {
        {"Content-Type", "text/plain; version=0.0.4"}, {"Cache-Control", "no-store"}, {0}};
    pe_service *service = request->service;
    pe_buffer out = {0};
    write_counters(&service->counters, &out);
    write_responses(&service->counters, &out);
    write_blocks(&service->counters, &out);
    write_gauges(service, &out);
    write_memory(service, &out);
    write_caches(service, &out);
    return pe_reply_content(request, MHD_HTTP_OK, &out, fields, why);
}
