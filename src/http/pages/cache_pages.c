/* SPDX-License-Identifier: MIT */
/* cache_pages.c - the caches as operators see them, and how they are emptied. */
#include "base/array.h"
#include "http/answer/response_cache.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "tables/tables.h"

static void write_cache(const char *name, const pe_cache_stats *stats, pe_buffer *out)
{
    pe_buffer_format(out,
                     "\"%s\":{\"entries\":%zu,\"bytes\":%zu,\"held_bytes\":%zu,"
                     "\"loose_bytes\":%zu,\"max_bytes\":%zu,\"hits\":%llu,\"misses\":%llu,"
                     "\"waits\":%llu,\"evictions\":%llu,\"rejected\":%llu}",
                     name, stats->entries, stats->bytes, stats->held, stats->loose,
                     stats->bytes_max, (unsigned long long)stats->hits,
                     (unsigned long long)stats->misses, (unsigned long long)stats->waits,
                     (unsigned long long)stats->evictions, (unsigned long long)stats->rejected);
}

pe_outcome pe_page_caches(pe_request *request, pe_problem *why)
{
    pe_cache_stats responses, keys, tables;
    pe_buffer content = {0};
    pe_response_cache_stats(request->service->responses, &responses, &keys);
    pe_tables_stats(request->service->tables, &tables);
    pe_buffer_str(&content, "{");
    write_cache("responses", &responses, &content);
    pe_buffer_str(&content, ",");
    write_cache("request_keys", &keys, &content);
    pe_buffer_str(&content, ",");
    write_cache("tables", &tables, &content);
    pe_buffer_str(&content, "}\n");
    return pe_reply_json(request, &content, "no-store", why);
}

/* What somebody holds stays until it is let go. */
pe_outcome pe_page_purge(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    const size_t responses = pe_response_cache_evict(request->service->responses, SIZE_MAX);
    const size_t tables = pe_tables_evict(request->service->tables, SIZE_MAX);
    pe_buffer_format(&content, "{\"freed_bytes\":{\"responses\":%zu,\"tables\":%zu}}\n", responses,
                     tables);
    return pe_reply_json(request, &content, "no-store", why);
}
