/* SPDX-License-Identifier: MIT */
/* metrics.c - what the server counts: a table of metrics, and how each is read. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "exact/wave.h"
#include "formats/format.h"
#include "http/reply/coding.h"
#include "http/answer/response_cache.h"
#include "http/pages/document_pages.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "http/request/tally.h"
#include "kernels/kernels.h"
#include "tables/tables.h"
#include "formats/json_write.h"
#include "version.h"

/* ---- metrics as text: Prometheus' format 0.0.4, and OpenMetrics 1.0.0. ---- */

enum { RESPONSES, REQUEST_KEYS, TABLES, CACHES };

static const char *const cache_names[] = {"responses", "request_keys", "tables"};

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "rows read sizes and counts alike");

/* One answer: where it goes, and what is read once for all rows. */
typedef struct scrape {
    pe_buffer *out;
    bool open_metrics;
    pe_service *service;
    pe_cache_stats cache[CACHES];
    pe_budget_stats budget;
    uint64_t reserved, resident; /* UNKNOWN where the system does not tell */
    uint64_t by_class[6];        /* requests; by_class[4]: 4xx; [0]: no reply */
    uint64_t requests, active, queue, connections, log_dropped, files, files_max;
    uint64_t body_bytes, large_blocks;
    struct { /* of the budget, by purpose */
        uint64_t responses, tables, learned, documents, coders, connections;
        uint64_t other; /* of requests and streams under way, and what the program keeps */
    } held;
    double cpu_seconds, started, longest;
} scrape;

typedef enum metric_type {
    METRIC_COUNTER,
    METRIC_GAUGE,
    METRIC_SUMMARY, /* a sum and a count, no quantiles */
    METRIC_HISTOGRAM
} metric_type;

/* A row of the table. The name is without the _total of counters; one that ends in _seconds or _bytes
 * has that unit. read writes its samples; `from` says of what, where several rows have one. */
typedef struct metric_row {
    const char *name;
    metric_type type;
    const char *help; /* NULL: another sample of the metric before */
    void (*read)(const scrape *from, const struct metric_row *row);
    size_t from;
    const char *labels; /* of its one sample; NULL: none */
} metric_row;

static const char *total(const metric_row *row)
{
    return row->type == METRIC_COUNTER ? "_total" : "";
}

/* A sample up to its value. labels: name="value" with commas between them, or NULL. */
static void name(const scrape *from, const metric_row *row, const char *end, const char *labels)
{
    pe_buffer_format(from->out, "%s%s%s%s%s ", row->name, end, labels != NULL ? "{" : "",
                     labels != NULL ? labels : "", labels != NULL ? "}" : "");
}

static void whole(const scrape *from, const metric_row *row, const char *end, const char *labels,
                  uint64_t value)
{
    name(from, row, end, labels);
    pe_buffer_format(from->out, "%" PRIu64 "\n", value);
}

static void count(const scrape *from, const metric_row *row, const char *labels, uint64_t value)
{
    whole(from, row, total(row), labels, value);
}

/* bucket: as in pe_tally_sum. To OpenMetrics a bound is a number that shows its point. */
static void histogram(const scrape *from, const metric_row *row, const char *labels,
                      const uint64_t *bucket, uint64_t nanoseconds)
{
    uint64_t all = 0;
    for (size_t b = 0; b <= PE_HISTOGRAM_BOUNDS; b++) {
        all += bucket[b];
        pe_buffer_format(from->out, "%s_bucket{%s%sle=\"", row->name, labels != NULL ? labels : "",
                         labels != NULL ? "," : "");
        if (b == PE_HISTOGRAM_BOUNDS) {
            pe_buffer_str(from->out, "+Inf");
        } else {
            const int64_t bound = pe_histogram_bounds[b];
            const bool is_whole = bound % PE_NANOSECONDS_PER_SECOND == 0;
            pe_buffer_format(from->out, "%g%s", (double)bound / PE_NANOSECONDS_PER_SECOND,
                             is_whole && from->open_metrics ? ".0" : "");
        }
        pe_buffer_format(from->out, "\"} %" PRIu64 "\n", all);
    }
    name(from, row, "_sum", labels);
    pe_buffer_format(from->out, "%.9f\n", (double)nanoseconds / PE_NANOSECONDS_PER_SECOND);
    whole(from, row, "_count", labels, all);
}

static const void *at(const void *what, size_t offset)
{
    return (const char *)what + offset;
}

/* ---- rows of one sample ---- */

/* from: offset in pe_counters of a counter */
static void read_counter(const scrape *from, const metric_row *row)
{
    count(from, row, row->labels, pe_count_of(at(&from->service->counters, row->from)));
}

/* from: offset in pe_counters of a histogram */
static void read_histogram(const scrape *from, const metric_row *row)
{
    const pe_histogram *counted = at(&from->service->counters, row->from);
    uint64_t bucket[PE_HISTOGRAM_BOUNDS + 1];
    for (size_t b = 0; b < PE_LEN(bucket); b++)
        bucket[b] = pe_count_of(&counted->bucket[b]);
    histogram(from, row, row->labels, bucket, pe_count_of(&counted->nanoseconds));
}

#define UNKNOWN UINT64_MAX

/* from: offset in the scrape of an uint64_t */
static void read_number(const scrape *from, const metric_row *row)
{
    const uint64_t *number = at(from, row->from);
    if (*number != UNKNOWN)
        count(from, row, row->labels, *number);
}

/* from: offset in the scrape of a double */
static void read_real(const scrape *from, const metric_row *row)
{
    name(from, row, total(row), row->labels);
    pe_buffer_format(from->out, "%.17g\n", *(const double *)at(from, row->from));
}

/* from: offset in pe_cache_stats */
static void read_caches(const scrape *from, const metric_row *row)
{
    char labels[32];
    for (size_t c = 0; c < CACHES; c++) {
        snprintf(labels, sizeof labels, "cache=\"%s\"", cache_names[c]);
        count(from, row, labels, *(const uint64_t *)at(&from->cache[c], row->from));
    }
}

/* ---- requests by route, method and status ---- */

/* from of the row: 0, or the offset in pe_tally_sum of a sum of bytes. The labels have the names of
 * OpenTelemetry's conventions. */
static void read_series(const scrape *from, const metric_row *row)
{
    pe_tally_sum sum;
    for (size_t place = 0; pe_tally_next(from->service->tally, &place, &sum);) {
        const struct pe_method_name *known = pe_method_names;
        while (known->name != NULL && known->method != sum.method)
            known++;
        char labels[256], route[96];
        from->service->name_route(sum.route, route, sizeof route);
        snprintf(labels, sizeof labels,
                 "http_request_method=\"%s\",http_route=\"%s\",http_response_status_code=\"%u\"",
                 known->name != NULL ? known->name : "_OTHER", route, sum.status);
        if (row->type == METRIC_HISTOGRAM) {
            histogram(from, row, labels, sum.bucket, sum.nanoseconds);
        } else {
            whole(from, row, "_sum", labels, *(const uint64_t *)at(&sum, row->from));
            whole(from, row, "_count", labels, sum.requests);
        }
    }
}

/* ---- rows of several labels ---- */

static void read_problems(const scrape *from, const metric_row *row)
{
    char labels[64];
    for (unsigned status = PE_OK + 1; status < PE_STATUSES; status++) {
        snprintf(labels, sizeof labels, "reason=\"%s\"", pe_status_code_text((pe_status)status));
        count(from, row, labels, pe_count_of(&from->service->counters.problems[status]));
    }
}

static size_t cached(const pe_cache_stats *stats)
{
    return stats->bytes + stats->loose;
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
#define COUNTER(metric, what, ...) {metric, METRIC_COUNTER, what, .read = __VA_ARGS__}
#define GAUGE(metric, what, ...) {metric, METRIC_GAUGE, what, .read = __VA_ARGS__}
#define HISTOGRAM(metric, what, ...) {metric, METRIC_HISTOGRAM, what, .read = __VA_ARGS__}
#define SUMMARY(metric, what, ...) {metric, METRIC_SUMMARY, what, .read = __VA_ARGS__}
#define OF_COUNTERS(member)               read_counter, offsetof(pe_counters, member)
#define OF_HISTOGRAM(member)              read_histogram, offsetof(pe_counters, member)
#define OF_CACHES(member)                 read_caches, offsetof(pe_cache_stats, member)
#define OF_SCRAPE(member)                 read_number, offsetof(scrape, member)
#define OF_BUDGET(member)                 OF_SCRAPE(budget.member)

static const metric_row rows[] = {
    HISTOGRAM("http_server_request_duration_seconds",
              "Time from the first line of a request to the end of its response, as handed to the system.",
              read_series, 0),
    SUMMARY("http_server_request_body_size_bytes", "Bytes of the bodies of requests that have arrived.",
            read_series, offsetof(pe_tally_sum, received)),
    SUMMARY("http_server_response_body_size_bytes",
            "Bytes of the bodies of responses; a client that leaves early has taken fewer.",
            read_series, offsetof(pe_tally_sum, sent)),
    GAUGE("http_server_active_requests", "Requests whose first line has arrived and that have not ended, this one included.",
          OF_SCRAPE(active)),
    COUNTER("posenc_requests", "Requests that have ended.", OF_SCRAPE(requests)),
    COUNTER("posenc_responses", "Requests that have ended, by the class of their status.",
            OF_SCRAPE(by_class[1]), "class=\"1xx\""),
    COUNTER("posenc_responses", NULL, OF_SCRAPE(by_class[2]), "class=\"2xx\""),
    COUNTER("posenc_responses", NULL, OF_SCRAPE(by_class[3]), "class=\"3xx\""),
    COUNTER("posenc_responses", NULL, OF_SCRAPE(by_class[4]), "class=\"4xx\""),
    COUNTER("posenc_responses", NULL, OF_SCRAPE(by_class[5]), "class=\"5xx\""),
    COUNTER("posenc_warm_hits",
            "Requests answered from the response cache by their raw target and headers.", OF_COUNTERS(warm_hits)),
    COUNTER("posenc_rejections", "Replies that told a problem, by its code.", read_problems, 0),
    COUNTER("posenc_refused", "Requests refused because of their header alone.", OF_COUNTERS(refused)),
    COUNTER("posenc_timeouts", "Requests that did not arrive before their deadline.", OF_COUNTERS(timeouts)),
    COUNTER("posenc_abandoned", "Requests whose clients disconnected before a worker had done its work.",
            OF_COUNTERS(abandoned)),
    GAUGE("posenc_queue", "Requests that wait for a worker.", OF_SCRAPE(queue)),
    HISTOGRAM("posenc_queue_wait_seconds", "Time that requests waited for a worker, each time they did.",
              OF_HISTOGRAM(waits)),
    HISTOGRAM("posenc_work_seconds",
              "Time of workers: of each turn that a request had, and of each block of a streamed response.",
              OF_HISTOGRAM(work_on_requests), "on=\"request\""),
    HISTOGRAM("posenc_work_seconds", NULL, OF_HISTOGRAM(work_on_blocks), "on=\"stream_block\""),
    COUNTER("posenc_invariant_violations",
            "What should not happen. work: a request took more time than its price allows, and was ended. "
            "idle: nothing was asked, and a quarter of a core was taken. memory: 16 MiB were left over.",
            OF_COUNTERS(overruns), "rule=\"work\""),
    COUNTER("posenc_invariant_violations", NULL, OF_COUNTERS(spins), "rule=\"idle\""),
    COUNTER("posenc_invariant_violations", NULL, OF_COUNTERS(leaks), "rule=\"memory\""),
    GAUGE("posenc_longest_stretch_seconds",
          "Longest time of a worker, since the start, in which it did not look for its client, its bound and the end.",
          read_real, offsetof(scrape, longest)),
    COUNTER("posenc_work_units",
            "Prices of the requests whose work was begun, in units of about ten nanoseconds.",
            OF_COUNTERS(work)),
    COUNTER("posenc_streams", "Responses computed while they were sent.", OF_COUNTERS(streams)),
    COUNTER("posenc_stream_bytes", "Bytes computed for streamed responses.", OF_COUNTERS(stream_bytes)),
    COUNTER("posenc_stream_blocks", "Blocks of streamed responses by the threads that computed them.",
            OF_COUNTERS(blocks_by_io), "by=\"io\""),
    COUNTER("posenc_stream_blocks", NULL, OF_COUNTERS(blocks_by_workers), "by=\"worker\""),
    GAUGE("posenc_stream_large_blocks_bytes", "Bytes held by streams for blocks of 256 KiB.",
          OF_SCRAPE(large_blocks)),
    COUNTER("posenc_digests", "Responses hashed for a Repr-Digest field.", OF_COUNTERS(digests)),
    GAUGE("posenc_connections", "Connections that are open.", OF_SCRAPE(connections)),
    COUNTER("posenc_connections_dropped", "Silent connections ended to make room for others.", OF_COUNTERS(dropped)),
    COUNTER("posenc_connections_opened", "Connections accepted since the start.", OF_COUNTERS(connections)),
    GAUGE("posenc_body_bytes", "Bytes of request bodies that are held.", OF_SCRAPE(body_bytes)),
    COUNTER("posenc_log_dropped", "Log lines dropped because their reader was too slow.", OF_SCRAPE(log_dropped)),
    GAUGE("posenc_memory_bytes", "Bytes allocated, by purpose.", OF_SCRAPE(held.responses),
          "kind=\"responses\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(held.tables), "kind=\"tables\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(held.learned), "kind=\"learned\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(held.documents), "kind=\"documents\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(held.coders), "kind=\"coders\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(body_bytes), "kind=\"bodies\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(held.connections), "kind=\"connections\""),
    GAUGE("posenc_memory_bytes", NULL, OF_SCRAPE(held.other), "kind=\"other\""),
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
    COUNTER("process_cpu_seconds", "Time that all threads of the process have computed.", read_real, offsetof(scrape, cpu_seconds)),
    GAUGE("process_resident_memory_bytes", "Memory of the process that is in RAM.", OF_SCRAPE(resident)),
    GAUGE("process_virtual_memory_bytes", "Addresses that the process has reserved.", OF_SCRAPE(reserved)),
    GAUGE("process_open_fds", "File descriptors that are open.", OF_SCRAPE(files)),
    GAUGE("process_max_fds", "File descriptors that may be open.", OF_SCRAPE(files_max)),
    GAUGE("process_start_time_seconds", "When the server started, in seconds since 1970.", read_real, offsetof(scrape, started)),
    GAUGE("posenc_build_info", "Always 1; the labels say what runs.", read_build, 0),
};
/* clang-format on */

static void take(pe_service *service, scrape *out)
{
    out->service = service;
    pe_cache_stats_get(service->responses->responses, &out->cache[RESPONSES]);
    pe_cache_stats_get(service->responses->requests, &out->cache[REQUEST_KEYS]);
    pe_tables_stats(service->tables, &out->cache[TABLES]);
    pe_budget_stats_get(&out->budget);
    out->body_bytes = atomic_load(&service->body_bytes);
    out->longest = (double)atomic_load(&service->counters.longest) / 1e9;
    out->large_blocks = atomic_load(&service->large_blocks);
    if (!pe_process_memory(&service->process, &out->reserved, &out->resident))
        out->reserved = out->resident = UNKNOWN;
    pe_tally_sum sum;
    for (size_t place = 0; pe_tally_next(service->tally, &place, &sum);) {
        out->by_class[sum.status / 100] += sum.requests;
        out->requests += sum.requests;
    }
    out->active = pe_watchdog_active(service->watchdog);
    out->queue = pe_pool_waiting(service->pool);
    out->connections = pe_watchdog_count(service->watchdog);
    out->log_dropped = pe_log_dropped();
    out->files = pe_process_files(&service->process);
    out->files_max = service->process.files_max;
    out->cpu_seconds = pe_process_cpu_seconds();
    out->started = service->process.started;
    pe_cache_stats documents;
    pe_learned_tables *learned = pe_tables_learned(service->tables);
    const size_t tables = cached(&out->cache[TABLES]), unmade = pe_wave_unmade_bytes();
    pe_cache_stats_get(service->documents, &documents);
    out->held.responses = cached(&out->cache[RESPONSES]) + cached(&out->cache[REQUEST_KEYS]);
    out->held.tables = tables > unmade ? tables - unmade : 0;
    out->held.learned = pe_learned_tables_bytes(learned);
    out->held.documents = cached(&documents);
    out->held.coders = pe_coder_kept_bytes();
    out->held.connections = out->connections * (uint64_t)service->settings->connection_memory_bytes;
    pe_learned_tables_free(learned);
    const uint64_t known = out->held.responses + out->held.tables + out->held.learned +
                           out->held.documents + out->held.coders + out->body_bytes +
                           out->held.connections;
    out->held.other = out->budget.bytes > known ? out->budget.bytes - known : 0;
}

/* The rows of caches, each with the end of its name. */
pe_outcome pe_page_caches(pe_request *request, pe_problem *why)
{
    pe_buffer out = {0};
    scrape from = {0};
    take(request->service, &from);
    pe_buffer_str(&out, "{");
    for (size_t c = 0; c < CACHES; c++) {
        pe_json_write_open(&out, cache_names[c], "{");
        for (const metric_row *row = rows; row < rows + PE_LEN(rows); row++)
            if (row->read == read_caches)
                pe_json_write_count(&out, row->name + strlen("posenc_cache_"),
                                    *(const uint64_t *)at(&from.cache[c], row->from));
        pe_buffer_str(&out, "}");
    }
    pe_buffer_str(&out, "}");
    return pe_reply_json(request, PE_OK, &out, "no-store", why);
}

/* ---- what should never happen, looked for while nothing else does ---- */

#define LEAST_SECONDS 1.0
#define CPU_SHARE     0.25

pe_broken pe_invariants_judge(pe_invariants *invariants, const pe_sight *sight)
{
    const pe_sight before = invariants->before;
    const double seconds = sight->now - before.now;
    pe_broken broken = {0};
    if (seconds < LEAST_SECONDS)
        return broken;
    invariants->before = *sight;
    if (before.active > 0 || sight->active > 0 || before.events != sight->events)
        return broken;
    broken.idle = sight->cpu - before.cpu > CPU_SHARE * seconds;
    broken.memory = invariants->kept > 0 && sight->other > invariants->kept + PE_KEPT_BYTES;
    if (invariants->kept == 0 || broken.memory)
        invariants->kept = sight->other > 0 ? sight->other : 1;
    return broken;
}

void pe_metrics_judge(pe_service *service, pe_invariants *invariants)
{
    scrape from = {0};
    take(service, &from);
    const pe_sight sight = {.now = (double)pe_clock() / PE_NANOSECONDS_PER_SECOND,
                            .cpu = from.cpu_seconds,
                            .events = from.requests + pe_count_of(&service->counters.connections) +
                                      pe_count_of(&service->edition),
                            .active = from.active + atomic_load(&service->warming),
                            .other = from.held.other};
    const pe_broken broken = pe_invariants_judge(invariants, &sight);
    if (broken.idle)
        pe_service_count(&service->counters.spins);
    if (broken.memory)
        pe_service_count(&service->counters.leaks);
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
    static const char *const types[] = {"counter", "gauge", "summary", "histogram"};
    scrape from = {.out = &out, .open_metrics = open};
    take(request->service, &from);
    for (const metric_row *row = rows; row < rows + PE_LEN(rows); row++) {
        /* OpenMetrics gives the name of a counter without _total. */
        const char *end = open ? "" : total(row), *unit = strrchr(row->name, '_');
        if (row->help != NULL)
            pe_buffer_format(&out, "# HELP %s%s %s\n# TYPE %s%s %s\n", row->name, end, row->help,
                             row->name, end, types[row->type]);
        if (row->help != NULL && open && unit != NULL &&
            (strcmp(unit, "_seconds") == 0 || strcmp(unit, "_bytes") == 0))
            pe_buffer_format(&out, "# UNIT %s %s\n", row->name, unit + 1);
        row->read(&from, row);
    }
    pe_buffer_str(&out, open ? "# EOF\n" : "");
    return pe_reply_content(request, PE_OK, &out, fields, why);
}
