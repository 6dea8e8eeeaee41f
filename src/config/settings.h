/* SPDX-License-Identifier: MIT */
/* settings.h - one table of settings: defaults, then the file, then the environment, then flags. */
#ifndef PE_CONFIG_SETTINGS_H
#define PE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

/*
 * X(member, kind, default, min, max, unit, sentence)
 *
 * Flag --max-body-bytes, variable POSENC_MAX_BODY_BYTES and file key "max_body_bytes" come from the
 * member's name. Kinds: INT (int64_t), BOOL, TEXT (char[256]; min/max bound its length), LIST
 * (strings; for warm).
 */
#define PE_SETTINGS_MAP(X)                                                                         \
    X(host, TEXT, "127.0.0.1", 1, 255, "", "Address to listen on; an IPv4 or IPv6 address.")       \
    X(port, INT, 8080, 0, 65535, "", "Port to listen on; 0 takes any free one.")                   \
    X(threads, INT, 0, 0, 1024, "threads", "Threads that do the I/O; 0 means one per core.")       \
    X(workers, INT, 0, 0, 1024, "threads", "Threads that compute; 0 means one per core.")          \
    X(queue_max, INT, 256, 1, 1000000, "requests",                                                 \
      "Requests that may wait for a worker before 503.")                                           \
    X(connections_max, INT, 4096, 1, 1000000, "connections", "Connections open at once.")          \
    X(connection_memory_bytes, INT, 16384, 12288, 1048576, "bytes",                                \
      "Memory for one connection's headers and reads.")                                            \
    X(idle_timeout_ms, INT, 60000, 1000, 86400000, "ms",                                           \
      "Silence after which a connection is closed.")                                               \
    X(request_deadline_ms, INT, 30000, 100, 86400000, "ms",                                        \
      "Time in which a whole request must arrive, however slowly it trickles.")                    \
    X(response_deadline_ms, INT, 3600000, 1000, 86400000, "ms",                                    \
      "Time in which an answer must be taken, however slowly it is read.")                         \
    X(drain_timeout_ms, INT, 10000, 0, 3600000, "ms",                                              \
      "Time that answers under way get after SIGTERM.")                                            \
    X(max_elements, INT, 268435456, 1, 1099511627776, "elements",                                  \
      "Most elements an answer may hold.")                                                         \
    X(max_positions, INT, 268435456, 1, 1099511627776, "positions",                                \
      "Most positions a request may name.")                                                        \
    X(max_body_bytes, INT, 67108864, 1, 1099511627776, "bytes", "Largest request body.")           \
    X(max_url_bytes, INT, 8192, 256, 65536, "bytes", "Longest request target.")                    \
    X(max_json_depth, INT, 32, 4, 1024, "levels", "Deepest nesting of a JSON body.")               \
    X(response_cache_bytes, INT, 268435456, 0, 1099511627776, "bytes",                             \
      "Budget of the response cache; 0 is off.")                                                   \
    X(response_cache_entry_bytes, INT, 16777216, 0, 1099511627776, "bytes",                        \
      "Largest answer kept in the response cache; larger ones are streamed.")                      \
    X(table_cache_bytes, INT, 268435456, 1048576, 1099511627776, "bytes",                          \
      "Budget of the cache of frequencies and sine and cosine rows.")                              \
    X(warm, LIST, "", 0, 64, "",                                                                   \
      "Request targets computed before the server is ready, for example "                          \
      "/v1/rope/table?head_dim=128&positions=0:4096.")                                             \
    X(cors_origin, TEXT, "*", 0, 255, "", "Access-Control-Allow-Origin; empty sends none.")        \
    X(kernels, TEXT, "auto", 1, 16, "", "Kernel variant: auto, baseline, v3 or v4.")               \
    X(log_level, TEXT, "info", 1, 8, "", "error, warn, info or debug.")                            \
    X(access_log, BOOL, 0, 0, 1, "", "Log one line per request.")

#define PE_SETTING_TEXT_MAX 256
#define PE_SETTING_LIST_MAX 64

typedef struct pe_setting_list {
    size_t n;
    char *item[PE_SETTING_LIST_MAX]; /* owned */
} pe_setting_list;

typedef struct pe_settings {
#define PE_SETTING_MEMBER_INT(name)                                   int64_t name;
#define PE_SETTING_MEMBER_BOOL(name)                                  bool name;
#define PE_SETTING_MEMBER_TEXT(name)                                  char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_LIST(name)                                  pe_setting_list name;
#define PE_SETTING_MEMBER(name, kind, fallback, min, max, unit, help) PE_SETTING_MEMBER_##kind(name)
    PE_SETTINGS_MAP(PE_SETTING_MEMBER)
#undef PE_SETTING_MEMBER
} pe_settings;

/** Where a value came from, for print-config: "default", the file's path, "POSENC_PORT", "--port".
 * Opaque beside the values. */
typedef struct pe_config pe_config;

/**
 * Read everything: defaults; the file of --config or POSENC_CONFIG (absent: config/posenc.json
 * beside the working directory or /etc/posenc/posenc.json when they exist); POSENC_*; flags in
 * args. Unknown flag or key, or a bad value: an INVALID_PARAMETER problem that names it (and the
 * nearest known). An unknown POSENC_* variable is logged as a warning; POSENC_PORT=tcp://... is
 * ignored with a warning.
 */
pe_status pe_config_read(int argc, char **argv, char **environment, pe_config **out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_config_free(pe_config *config);
const pe_settings *pe_config_settings(const pe_config *config);
/** JSON: {"port": {"value": 8080, "source": "default", "unit": ..., "help": ...}, ...}. */
void pe_config_print(const pe_config *config, pe_buffer *out);
/** One line per flag for `posenc help`. */
void pe_config_help(pe_buffer *out);

#endif
