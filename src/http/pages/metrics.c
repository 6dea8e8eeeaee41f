/* SPDX-License-Identifier: MIT */
/* metrics.c - what the server counts: a table of metrics, and how each is read. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/budget.h"
#include "base/log.h"
#include "exact/wave.h"
#include "formats/negotiate.h"
#include "http/answer/coder.h"
#include "http/answer/response_cache.h"
#include "http/pages/exposition.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "http/request/tally.h"
#include "kernels/kernels.h"
#include "tables/tables.h"
#include "version.h"

enum { RESPONSES, REQUEST_KEYS, TABLES, CACHES };

static const char *const cache_names[] = {"responses", "request_keys", "tables"};

/* One answer: where it goes, and what is read once for all rows. */
typedef struct scrape {
    pe_exposition to;
    pe_service *service;
    pe_cache_stats cache[CACHES];
    pe_budget_stats budget;
    bool has_memory;
    uint64_t reserved, resident;
} scrape;

/* A row of the table. read writes its samples; `from` says of what, where several rows have one. */
typedef struct metric_row {
    pe_metric metric;
    void (*read)(const scrape *from, const struct metric_row *row);
    size_t from;
} metric_row;

static void count(const scrape *from, const metric_row *row, const char *labels, uint64_t value)
{
    pe_exposition_count(&from->to, &row->metric, labels, value);
}

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static const void *counter_at(const scrape *from, size_t offset)
{
    return (const char *)&from->service->counters + offset;
}

/* from: offset in pe_counters */
static void read_counter(const scrape *from, const metric_row *row)
{
    count(from, row, "", load(counter_at(from, row->from)));
}

/* ---- requests by route, method and status ---- */

/* The names of OpenTelemetry's conventions. */
static void label_series(const pe_tally_sum *sum, char *out, size_t room)
{
    static const char *const methods[] = {
        [PE_METHOD_OTHER] = "_OTHER", [PE_METHOD_GET] = "GET",         [PE_METHOD_HEAD] = "HEAD",
        [PE_METHOD_POST] = "POST",    [PE_METHOD_OPTIONS] = "OPTIONS",
    };
    snprintf(out, room,
             "http_request_method=\"%s\",http_route=\"%s\",http_response_status_code=\"%u\"",
             methods[sum->method], sum->route, sum->status);
}

/* What a visitor of series works on. */
typedef struct series_reading {
    const scrape *from;
    const metric_row *row;
    uint64_t by_class[6]; /* by_class[4]: 4xx; [0]: no reply */
} series_reading;

static uint64_t requests_of(const pe_tally_sum *sum)
{
    uint64_t all = 0;
    for (size_t b = 0; b < PE_LEN(sum->bucket); b++)
        all += sum->bucket[b];
    return all;
}

static void write_duration(void *context, const pe_tally_sum *sum)
{
    const series_reading *reading = context;
    char labels[256];
    label_series(sum, labels, sizeof labels);
    pe_exposition_histogram(&reading->from->to, &reading->row->metric, labels, sum->bucket,
                            sum->nanoseconds);
}

static void read_durations(const scrape *from, const metric_row *row)
{
    series_reading reading = {.from = from, .row = row};
    pe_tally_each(from->service->tally, write_duration, &reading);
}

/* from of the row: offset in pe_tally_sum */
static void write_size(void *context, const pe_tally_sum *sum)
{
    const series_reading *reading = context;
    const uint64_t *bytes = (const void *)((const char *)sum + reading->row->from);
    char labels[256];
    label_series(sum, labels, sizeof labels);
    pe_exposition_summary(&reading->from->to, &reading->row->metric, labels, *bytes,
                          requests_of(sum));
}

static void read_sizes(const scrape *from, const metric_row *row)
{
    series_reading reading = {.from = from, .row = row};
    pe_tally_each(from->service->tally, write_size, &reading);
}

static void add_by_class(void *context, const pe_tally_sum *sum)
{
    series_reading *reading = context;
    reading->by_class[sum->status / 100] += requests_of(sum);
}

static void read_requests(const scrape *from, const metric_row *row)
{
    series_reading reading = {0};
    uint64_t all = 0;
    pe_tally_each(from->service->tally, add_by_class, &reading);
    for (size_t c = 0; c < PE_LEN(reading.by_class); c++)
        all += reading.by_class[c];
    count(from, row, "", all);
}

static void read_responses(const scrape *from, const metric_row *row)
{
    series_reading reading = {0};
    pe_tally_each(from->service->tally, add_by_class, &reading);
    for (unsigned c = 1; c < PE_LEN(reading.by_class); c++) {
        char labels[32];
        snprintf(labels, sizeof labels, "class=\"%uxx\"", c);
        count(from, row, labels, reading.by_class[c]);
    }
}

static void read_cache_hits(const scrape *from, const metric_row *row)
{
    count(from, row, "", pe_tally_cache_hits(from->service->tally));
}

static void read_active(const scrape *from, const metric_row *row)
{
    count(from, row, "", pe_watchdog_active(from->service->watchdog));
}

static void read_problems(const scrape *from, const metric_row *row)
{
    for (unsigned status = PE_OK + 1; status < PE_STATUSES; status++) {
        char labels[64];
        snprintf(labels, sizeof labels, "reason=\"%s\"", pe_status_code_text((pe_status)status));
        count(from, row, labels, load(&from->service->counters.problems[status]));
    }
}

/* ---- workers ---- */

static void write_histogram(const scrape *from, const metric_row *row, const char *labels,
                            const pe_histogram *histogram)
{
    uint64_t bucket[PE_HISTOGRAM_BOUNDS + 1];
    for (size_t b = 0; b < PE_LEN(bucket); b++)
        bucket[b] = load(&histogram->bucket[b]);
    pe_exposition_histogram(&from->to, &row->metric, labels, bucket, load(&histogram->nanoseconds));
}

static void read_waits(const scrape *from, const metric_row *row)
{
    write_histogram(from, row, "", &from->service->counters.waits);
}

static void read_work(const scrape *from, const metric_row *row)
{
    write_histogram(from, row, "on=\"request\"", &from->service->counters.work_on_requests);
    write_histogram(from, row, "on=\"stream_block\"", &from->service->counters.work_on_blocks);
}

static void read_violations(const scrape *from, const metric_row *row)
{
    count(from, row, "rule=\"work\"", load(&from->service->counters.overruns));
}

static void read_queue(const scrape *from, const metric_row *row)
{
    count(from, row, "", pe_pool_waiting(from->service->pool));
}

static void read_blocks(const scrape *from, const metric_row *row)
{
    count(from, row, "by=\"io\"", load(&from->service->counters.blocks_by_io));
    count(from, row, "by=\"worker\"", load(&from->service->counters.blocks_by_workers));
}

/* ---- what is held now ---- */

static void read_connections(const scrape *from, const metric_row *row)
{
    count(from, row, "", pe_watchdog_count(from->service->watchdog));
}

/* from: offset in pe_service of an atomic_size_t */
static void read_held(const scrape *from, const metric_row *row)
{
    const atomic_size_t *held = (const void *)((const char *)from->service + row->from);
    count(from, row, "", atomic_load(held));
}

static void read_log_dropped(const scrape *from, const metric_row *row)
{
    count(from, row, "", pe_log_dropped());
}

/* ---- memory ---- */

/* from: offset in pe_budget_stats, whose counters are uint64_t and whose sizes are size_t */
static void read_budget(const scrape *from, const metric_row *row)
{
    const void *at = (const char *)&from->budget + row->from;
    count(from, row, "",
          row->metric.type == PE_METRIC_COUNTER ? *(const uint64_t *)at : *(const size_t *)at);
}

static size_t cached(const scrape *from, size_t cache)
{
    return from->cache[cache].bytes + from->cache[cache].loose;
}

/* What the budget holds, by purpose; the rest is of requests and streams under way, and what the
 * program keeps. */
static void read_purposes(const scrape *from, const metric_row *row)
{
    pe_service *service = from->service;
    pe_learned_tables *learned = pe_tables_learned(service->tables);
    const size_t tables = cached(from, TABLES), unmade = pe_wave_unmade_bytes();
    const struct {
        const char *labels;
        size_t bytes;
    } kinds[] = {
        {"kind=\"responses\"", cached(from, RESPONSES) + cached(from, REQUEST_KEYS)},
        {"kind=\"tables\"", tables > unmade ? tables - unmade : 0},
        {"kind=\"learned\"", pe_learned_tables_bytes(learned)},
        {"kind=\"coders\"", pe_coder_kept_bytes()},
        {"kind=\"bodies\"", atomic_load(&service->body_bytes)},
        {"kind=\"connections\"",
         pe_watchdog_count(service->watchdog) * (size_t)service->settings->connection_memory_bytes},
    };
    size_t rest = from->budget.bytes;
    pe_learned_tables_free(learned);
    for (size_t i = 0; i < PE_LEN(kinds); i++) {
        rest -= kinds[i].bytes < rest ? kinds[i].bytes : rest;
        count(from, row, kinds[i].labels, kinds[i].bytes);
    }
    count(from, row, "kind=\"other\"", rest);
}

/* ---- caches ---- */

/* from: offset in pe_cache_stats, whose counters are uint64_t and whose sizes are size_t */
static void read_caches(const scrape *from, const metric_row *row)
{
    for (size_t c = 0; c < CACHES; c++) {
        const void *at = (const char *)&from->cache[c] + row->from;
        char labels[32];
        snprintf(labels, sizeof labels, "cache=\"%s\"", cache_names[c]);
        count(from, row, labels,
              row->metric.type == PE_METRIC_COUNTER ? *(const uint64_t *)at : *(const size_t *)at);
    }
}

/* ---- the process ---- */

static void read_cpu(const scrape *from, const metric_row *row)
{
    pe_exposition_real(&from->to, &row->metric, "", pe_process_cpu_seconds());
}

/* from: offset in the scrape. Without samples where the system does not tell. */
static void read_memory(const scrape *from, const metric_row *row)
{
    if (from->has_memory)
        count(from, row, "", *(const uint64_t *)(const void *)((const char *)from + row->from));
}

static void read_files(const scrape *from, const metric_row *row)
{
    count(from, row, "", pe_process_files(&from->service->process));
}

static void read_files_max(const scrape *from, const metric_row *row)
{
    count(from, row, "", from->service->process.files_max);
}

static void read_started(const scrape *from, const metric_row *row)
{
    pe_exposition_real(&from->to, &row->metric, "", from->service->process.started);
}

static void read_build(const scrape *from, const metric_row *row)
{
    char labels[256];
    snprintf(labels, sizeof labels,
             "version=\"%s\",revision=\"%s\",kernels=\"%s\",libmicrohttpd=\"%s\"", PE_VERSION,
             PE_REVISION, pe_kernels_get()->name, MHD_get_version());
    count(from, row, labels, 1);
}

/* ---- the table ---- */

/* clang-format off */
#define COUNTER(name, help, ...) {{name, PE_METRIC_COUNTER, help}, __VA_ARGS__}
#define GAUGE(name, help, ...) {{name, PE_METRIC_GAUGE, help}, __VA_ARGS__}
#define HISTOGRAM(name, help, read) {{name, PE_METRIC_HISTOGRAM, help}, read, 0}
#define SUMMARY(name, help, ...) {{name, PE_METRIC_SUMMARY, help}, __VA_ARGS__}
#define OF_COUNTERS(member)               read_counter, offsetof(pe_counters, member)
#define OF_CACHES(member)                 read_caches, offsetof(pe_cache_stats, member)
#define OF_BUDGET(member)                 read_budget, offsetof(pe_budget_stats, member)

static const metric_row rows[] = {
    HISTOGRAM("http_server_request_duration_seconds",
              "Time from the first line of a request to the end of its response, as handed to the system.",
              read_durations),
    SUMMARY("http_server_request_body_size_bytes", "Bytes of the bodies of requests that have arrived.",
            read_sizes, offsetof(pe_tally_sum, received)),
    SUMMARY("http_server_response_body_size_bytes",
            "Bytes of the bodies of responses; a client that leaves early has taken fewer.",
            read_sizes, offsetof(pe_tally_sum, sent)),
    GAUGE("http_server_active_requests", "Requests whose first line has arrived and that have not ended, this one included.",
          read_active, 0),
    COUNTER("posenc_requests", "Requests that have ended.", read_requests, 0),
    COUNTER("posenc_responses", "Requests that have ended, by the class of their status.", read_responses, 0),
    COUNTER("posenc_warm_hits",
            "Requests answered from the response cache by their raw target and headers.", read_cache_hits, 0),
    COUNTER("posenc_rejections", "Replies that told a problem, by its code.", read_problems, 0),
    COUNTER("posenc_refused", "Requests refused because of their header alone.", OF_COUNTERS(refused)),
    COUNTER("posenc_timeouts", "Requests that did not arrive before their deadline.", OF_COUNTERS(timeouts)),
    COUNTER("posenc_abandoned", "Requests whose clients disconnected before a worker had done its work.",
            OF_COUNTERS(abandoned)),
    GAUGE("posenc_queue", "Requests that wait for a worker.", read_queue, 0),
    HISTOGRAM("posenc_queue_wait_seconds", "Time that requests waited for a worker, each time they did.", read_waits),
    HISTOGRAM("posenc_work_seconds",
              "Time of workers: of each turn that a request had, and of each block of a streamed response.",
              read_work),
    COUNTER("posenc_invariant_violations",
            "What should not happen. work: a request took more time than its price allows, and was ended.",
            read_violations, 0),
    COUNTER("posenc_work_units",
            "Prices of the requests whose work was begun, in units of about ten nanoseconds.",
            OF_COUNTERS(work)),
    COUNTER("posenc_streams", "Responses computed while they were sent.", OF_COUNTERS(streams)),
    COUNTER("posenc_stream_bytes", "Bytes computed for streamed responses.", OF_COUNTERS(stream_bytes)),
    COUNTER("posenc_stream_blocks", "Blocks of streamed responses by the threads that computed them.", read_blocks, 0),
    GAUGE("posenc_stream_large_blocks_bytes", "Bytes held by streams for blocks of 256 KiB.",
          read_held, offsetof(pe_service, large_blocks)),
    COUNTER("posenc_digests", "Responses hashed for a Repr-Digest field.", OF_COUNTERS(digests)),
    GAUGE("posenc_connections", "Connections that are open.", read_connections, 0),
    COUNTER("posenc_connections_dropped", "Silent connections ended to make room for others.", OF_COUNTERS(dropped)),
    COUNTER("posenc_connections_opened", "Connections accepted since the start.", OF_COUNTERS(connections)),
    GAUGE("posenc_body_bytes", "Bytes of request bodies that are held.", read_held, offsetof(pe_service, body_bytes)),
    COUNTER("posenc_log_dropped", "Log lines dropped because their reader was too slow.", read_log_dropped, 0),
    GAUGE("posenc_memory_bytes", "Bytes allocated, by purpose.", read_purposes, 0),
    GAUGE("posenc_memory_allocated_bytes", "Bytes allocated for everything together.", OF_BUDGET(bytes)),
    GAUGE("posenc_memory_max_bytes", "Bytes that may be allocated for everything together.", OF_BUDGET(bytes_max)),
    COUNTER("posenc_memory_refused",
            "Allocations refused because the memory was in use, after caches had shrunk.", OF_BUDGET(refused)),
    COUNTER("posenc_memory_failed", "Allocations that the system refused.", OF_BUDGET(failed)),
    COUNTER("posenc_memory_evicted_bytes", "Bytes evicted from caches to make room for other memory.",
            OF_BUDGET(evicted)),
    COUNTER("posenc_cache_hits", "Look-ups that found an entry.", OF_CACHES(hits)),
    COUNTER("posenc_cache_misses", "Look-ups that computed an entry.", OF_CACHES(misses)),
    COUNTER("posenc_cache_waits", "Look-ups that waited while another thread computed the entry.", OF_CACHES(waits)),
    COUNTER("posenc_cache_evictions", "Entries removed to make room for others.", OF_CACHES(evictions)),
    COUNTER("posenc_cache_rejected", "Values not stored because there was no room for them.", OF_CACHES(rejected)),
    GAUGE("posenc_cache_bytes", "Bytes of the stored entries.", OF_CACHES(bytes)),
    GAUGE("posenc_cache_held_bytes",
          "Bytes of the stored entries that requests use now, and of those being computed.", OF_CACHES(held)),
    GAUGE("posenc_cache_loose_bytes", "Bytes of values that requests use although they are not stored.",
          OF_CACHES(loose)),
    GAUGE("posenc_cache_max_bytes", "Bytes that the cache may hold.", OF_CACHES(bytes_max)),
    GAUGE("posenc_cache_entries", "Stored entries.", OF_CACHES(entries)),
    COUNTER("process_cpu_seconds", "Time that all threads of the process have computed.", read_cpu, 0),
    GAUGE("process_resident_memory_bytes", "Memory of the process that is in RAM.",
          read_memory, offsetof(scrape, resident)),
    GAUGE("process_virtual_memory_bytes", "Addresses that the process has reserved.",
          read_memory, offsetof(scrape, reserved)),
    GAUGE("process_open_fds", "File descriptors that are open.", read_files, 0),
    GAUGE("process_max_fds", "File descriptors that may be open.", read_files_max, 0),
    GAUGE("process_start_time_seconds", "When the server started, in seconds since 1970.", read_started, 0),
    GAUGE("posenc_build_info", "Always 1; the labels say what runs.", read_build, 0),
};
/* clang-format on */

static void take(pe_service *service, scrape *out)
{
    out->service = service;
    pe_response_cache_stats(service->responses, &out->cache[RESPONSES], &out->cache[REQUEST_KEYS]);
    pe_tables_stats(service->tables, &out->cache[TABLES]);
    pe_budget_stats_get(&out->budget);
    out->has_memory = pe_process_memory(&service->process, &out->reserved, &out->resident);
}

pe_outcome pe_page_metrics(pe_request *request, pe_problem *why)
{
    static const char text[] = "text/plain", open_metrics[] = "application/openmetrics-text";
    const bool open = pe_format_prefers(request->header[PE_HEADER_ACCEPT], open_metrics, text);
    const pe_field fields[] = {
        {"Content-Type", open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                              : "text/plain; version=0.0.4; charset=utf-8"},
        {"Vary", "Accept"},
        {"Cache-Control", "no-store"},
        {0}};
    pe_buffer out = {0};
    scrape from = {.to = {&out, open}};
    take(request->service, &from);
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_exposition_head(&from.to, &rows[i].metric);
        rows[i].read(&from, &rows[i]);
    }
    pe_exposition_end(&from.to);
    return pe_reply_content(request, MHD_HTTP_OK, &out, fields, why);
}
