/* SPDX-License-Identifier: MIT */
/* cache_pages.c - the caches as operators see them, and how they are emptied. */
#include "base/array.h"
#include "http/answer/response_cache.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "tables/tables.h"
#include "text/json_write.h"

static void write_cache(const char *name, const pe_cache_stats *stats, pe_buffer *out)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"entries", stats->entries},     {"bytes", stats->bytes},
        {"held_bytes", stats->held},     {"loose_bytes", stats->loose},
        {"max_bytes", stats->bytes_max}, {"hits", stats->hits},
        {"misses", stats->misses},       {"waits", stats->waits},
        {"evictions", stats->evictions}, {"rejected", stats->rejected},
    };
    pe_json_write_open(out, name, "{");
    for (size_t i = 0; i < PE_LEN(rows); i++)
        pe_json_write_count(out, rows[i].name, rows[i].value);
    pe_buffer_str(out, "}");
}

pe_outcome pe_page_caches(pe_request *request, pe_problem *why)
{
    pe_cache_stats responses, keys, tables;
    pe_buffer content = {0};
    pe_response_cache_stats(request->service->responses, &responses, &keys);
    pe_tables_stats(request->service->tables, &tables);
    pe_buffer_str(&content, "{");
    write_cache("responses", &responses, &content);
    write_cache("request_keys", &keys, &content);
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
