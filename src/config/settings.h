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
 * member's name. Kinds:
 *
 *     INT      int64_t, from min to max
 *     BOOL     bool
 *     TEXT     char[256] of min to max bytes
 *     ADDRESS  char[256], an IPv4 or IPv6 address, or a name
 *     CHOICE   char[256], one of the words in the unit's column
 *     LIST     at most max strings: repeated flags, words in the variable, an array in the file
 */
#define PE_SETTINGS_MAP(X)                                                                         \
    X(host, ADDRESS, "127.0.0.1", 0, 0, "",                                                        \
      "Address to listen on, IPv4 or IPv6, or a name of one.")                                     \
    X(port, INT, 8080, 0, 65535, "", "Port to listen on; 0 takes any free one.")                   \
    X(listen, LIST, "", 0, PE_SETTING_PLACES_MAX, "",                                              \
      "Places to listen at instead of host and port: unix:/path, host:port or [host]:port.")       \
    X(tls_certificate, TEXT, "", 0, 255, "",                                                       \
      "PEM file of the certificate and those that lead to its authority; empty: no TLS.")          \
    X(tls_key, TEXT, "", 0, 255, "", "PEM file of the key of tls_certificate.")                    \
    X(tls_minimum, CHOICE, "1.2", 0, 0, "1.2 1.3", "Least version of TLS.")                        \
    X(hsts_seconds, INT, 0, 0, 63072000, "s",                                                      \
      "Time in which browsers shall use TLS alone (Strict-Transport-Security). 0: not sent.")      \
    X(admin_listen, TEXT, "127.0.0.1:9464", 0, 107, "",                                            \
      "Place of the listener for operators, as in listen: metrics, caches, settings, requests; "   \
      "empty: none, and /metrics beside the answers.")                                             \
    X(admin_hosts, LIST, "", 0, 16, "",                                                            \
      "Names in the Host field of operators' requests, beside addresses, names without a dot, "    \
      "and those of .local, .internal and .localhost.")                                            \
    X(threads, INT, 0, 0, 1024, "threads", "Threads that do the I/O; 0 means one per core.")       \
    X(workers, INT, 0, 0, 1024, "threads", "Threads that compute; 0 means one per core.")          \
    X(queue_max, INT, 256, 1, 1000000, "requests",                                                 \
      "Requests with much work that may wait for a worker; further ones are answered with 503.")   \
    X(queue_per_client, INT, 128, 1, 1000000, "requests",                                          \
      "Requests and blocks of one client, by key or address, that wait for a worker.")             \
    X(queue_wait_ms, INT, 10000, 1, 3600000, "ms",                                                 \
      "Time for which a request waits for a worker; then it is answered with 503.")                \
    X(connections_max, INT, 4096, 1, 1000000, "connections",                                       \
      "Connections open at once. One more ends that which has been silent for longest.")           \
    X(connections_per_address, INT, 1024, 0, 1000000, "connections",                               \
      "Connections of one address, or network of ipv6_prefix, open at once. 0 is no limit. "       \
      "Trusted proxies and Unix sockets have none.")                                               \
    X(connection_memory_bytes, INT, 16384, 12288, 1048576, "bytes",                                \
      "Memory for one connection's headers and reads.")                                            \
    X(send_buffer_bytes, INT, 131072, 0, 1073741824, "bytes",                                      \
      "Bytes that the system takes of an answer before it has sent them, for each connection of "  \
      "TCP, at least 65536 with TLS; 0: as many as it likes.")                                     \
    X(idle_timeout_ms, INT, 60000, 1000, 86400000, "ms",                                           \
      "Time after which a connection is closed that carries no request, or whose client reads "    \
      "no byte of an answer.")                                                                     \
    X(header_deadline_ms, INT, 30000, 100, 86400000, "ms",                                         \
      "Time in which a request's header must arrive, and its first byte on a new connection.")     \
    X(request_deadline_ms, INT, 30000, 100, 86400000, "ms",                                        \
      "Time in which a whole request must arrive.")                                                \
    X(response_deadline_ms, INT, 3600000, 1000, 86400000, "ms",                                    \
      "Time in which the client must have read a whole answer.")                                   \
    X(min_rate_bytes, INT, 64, 0, 1099511627776, "bytes",                                          \
      "Bytes a second that a client must send of a body, or read of an answer; 0 is off.")         \
    X(min_rate_window_ms, INT, 60000, 1000, 86400000, "ms",                                        \
      "Time over which min_rate_bytes is measured.")                                               \
    X(linger_ms, INT, 5000, 100, 3600000, "ms",                                                    \
      "Time in which what a client still sends after a refusal is read and dropped, so that it "   \
      "can read the refusal.")                                                                     \
    X(drain_grace_ms, INT, 500, 0, 3600000, "ms",                                                  \
      "Time after SIGTERM in which connections are still accepted and /readyz answers 503.")       \
    X(drain_timeout_ms, INT, 10000, 0, 3600000, "ms",                                              \
      "Time after drain_grace_ms in which answers under way may end.")                             \
    X(memory_max, INT, 0, 0, 1099511627776, "bytes",                                               \
      "Memory for everything together: caches, requests, answers, connections; at least "          \
      "33554432, and at most 64 MiB more are resident. 0 means half of what the system gives. "    \
      "Beyond it caches shrink, then requests get 503.")                                           \
    X(max_elements, INT, 268435456, 1, 1099511627776, "elements",                                  \
      "Largest number of elements of an answer.")                                                  \
    X(max_work, INT, 536870912, 1, 1099511627776, "units",                                         \
      "Most work that an answer may cost, in units of about ten nanoseconds of a core.")           \
    X(unit_ns_max, INT, 30, 0, 1000000, "ns",                                                      \
      "Time of a core that a unit of work may take: a request that takes more than its price "     \
      "allows, and 20 ms, is ended. A unit takes about ten; slow machines want more. 0 ends "      \
      "none, "                                                                                     \
      "and bills prices alone.")                                                                   \
    X(max_positions, INT, 268435456, 1, 1099511627776, "positions",                                \
      "Largest number of positions of a request.")                                                 \
    X(figure_max_pixels, INT, 4194304, 400000, 67108864, "pixels",                                 \
      "Largest figure: its width times its height.")                                               \
    X(verify_max_body_bytes, INT, 1073741824, 1, 1099511627776, "bytes",                           \
      "Largest body of POST /v1/verify, at most a quarter of memory_max.")                         \
    X(verify_held_bytes, INT, 16777216, 65536, 1099511627776, "bytes",                             \
      "Largest body of POST /v1/verify that is held as a whole; of a longer table in one tensor "  \
      "a quarter of this is, and of one in two tensors the first, too: rows are compared as they " \
      "arrive.")                                                                                   \
    X(verify_max_elements, INT, 268435456, 1, 1099511627776, "elements",                           \
      "Largest number of elements of a table that POST /v1/verify takes.")                         \
    X(verify_max_work, INT, 33554432, 1, 1099511627776, "units",                                   \
      "Work that POST /v1/verify does to find a fault, beside 16 times that of comparing.")        \
    X(max_body_bytes, INT, 67108864, 1, 1099511627776, "bytes",                                    \
      "Largest request body; all bodies together have half of memory_max.")                        \
    X(body_bytes_per_address, INT, 268435456, 0, 1099511627776, "bytes",                           \
      "Bodies of one address that are held at once, at least max_body_bytes; 0 is no limit.")      \
    X(config_bytes_max, INT, 1048576, 1, 1099511627776, "bytes",                                   \
      "Largest body of POST /v1/models/resolve: a model's configuration.")                         \
    X(max_url_bytes, INT, 8192, 256, 65536, "bytes",                                               \
      "Longest request target; connection_memory_bytes must hold it and the whole header.")        \
    X(max_json_depth, INT, 32, 4, 1024, "levels", "Deepest nesting of a JSON body.")               \
    X(response_cache_bytes, INT, 268435456, 0, 1099511627776, "bytes",                             \
      "Budget of the response cache, at most a quarter of memory_max; 0 is off.")                  \
    X(response_cache_entry_bytes, INT, 16777216, 0, 1099511627776, "bytes",                        \
      "Largest answer that is cached, at most a quarter of the response cache less what readers "  \
      "hold; larger ones are streamed.")                                                           \
    X(stream_blocks_bytes, INT, 2097152, 0, 1099511627776, "bytes",                                \
      "Memory for stream blocks of 256 KiB; further streams get blocks of 32 KiB.")                \
    X(table_cache_bytes, INT, 268435456, 1048576, 1099511627776, "bytes",                          \
      "Budget of the cache of frequencies, slopes, and sine and cosine rows; at most a quarter "   \
      "of memory_max.")                                                                            \
    X(learned_dir, TEXT, "", 0, 255, "",                                                           \
      "Folder of learned tables: .npy and .safetensors files, read at start; empty means none.")   \
    X(learned_bytes, INT, 1073741824, 0, 1099511627776, "bytes",                                   \
      "Memory for all learned tables together; also the size of the largest file that is read.")   \
    X(learned_tables, INT, 256, 0, 4096, "tables", "Largest number of learned tables.")            \
    X(warm, LIST, "", 0, 64, "",                                                                   \
      "Request targets computed before the server is ready, for example "                          \
      "/v1/rope/table?head_dim=128&positions=0:4096.")                                             \
    X(cors_origin, TEXT, "*", 0, 255, "",                                                          \
      "Value of Access-Control-Allow-Origin; empty sends no such field.")                          \
    X(code_binary, BOOL, 0, 0, 1, "",                                                              \
      "Apply Accept-Encoding to npy, raw, safetensors and png, too; text is always coded.")        \
    X(kernels, CHOICE, "auto", 0, 0, "auto baseline v3 v4",                                        \
      "Kernel variant; auto chooses the best that the CPU can run. All give the same bytes.")      \
    X(log_level, CHOICE, "info", 0, 0, "error warn info debug", "Least severe lines to log.")      \
    X(log_format, CHOICE, "auto", 0, 0, "auto json text",                                          \
      "json: an object a line; text: sentences; auto: text on a terminal.")                        \
    X(log_file, TEXT, "", 0, 255, "", "File of the log, opened again at SIGUSR1; empty: stderr.")  \
    X(log_queue_bytes, INT, 1048576, 65536, 1073741824, "bytes",                                   \
      "Lines that wait for the log's reader; further ones are dropped and counted.")               \
    X(access_log, BOOL, 0, 0, 1, "", "Log one line per request.")                                  \
    X(access_log_file, TEXT, "", 0, 255, "", "File of these lines; empty: where the log goes.")    \
    X(access_log_format, CHOICE, "json", 0, 0, "json combined",                                    \
      "Format of these lines: JSON, or the combined format of Apache and nginx.")                  \
    X(trusted_proxies, LIST, "", 0, 64, "",                                                        \
      "Addresses and networks (10.0.0.0/8, unix) whose X-Forwarded-For is believed.")              \
    X(proxy_protocol, BOOL, 0, 0, 1, "",                                                           \
      "Connections from trusted_proxies begin with a header of the PROXY protocol, version 1 or "  \
      "2.")                                                                                        \
    X(clients_max, INT, 16384, 64, 16777216, "clients",                                            \
      "Addresses and keys that are remembered with what they use.")                                \
    X(ipv6_prefix, INT, 64, 1, 128, "bits", "Bits of an IPv6 address that name one client.")       \
    X(keys_file, TEXT, "", 0, 255, "",                                                             \
      "File of keys, one of which each request must then have; posenc key new NAME makes them. "   \
      "Empty: everybody is served.")                                                               \
    X(keys_max, INT, 4096, 1, 1000000, "keys", "Largest number of keys in that file.")             \
    X(address_rate, INT, 0, 0, 1000000000, "requests/s",                                           \
      "Requests a second of one address; 0 is no limit.")                                          \
    X(address_work_rate, INT, 0, 0, 100000000000, "units/s",                                       \
      "Units of work a second of one address, a unit being some ten nanoseconds; 0 is no limit.")  \
    X(rate_window_s, INT, 10, 1, 86400, "s",                                                       \
      "A client that has rested for this time may use its rate of this time at once.")             \
    X(user, TEXT, "nobody", 0, 64, "",                                                             \
      "User that root becomes once it listens, by name or number; empty: it stays root.")          \
    X(sandbox, CHOICE, "auto", 0, 0, "auto required off",                                          \
      "Give up capabilities, files and system calls after the start. auto: what the system "       \
      "allows. required: all, or no start. off: none.")                                            \
    X(core_dumps, BOOL, 0, 0, 1, "", "Leave a core dump after a crash, and let debuggers in.")

#define PE_SETTING_TEXT_MAX 256
#define PE_SETTING_LIST_MAX 64

/** Most items of the setting `listen`. */
#define PE_SETTING_PLACES_MAX 8

typedef struct pe_setting_list {
    size_t n;
    char *item[PE_SETTING_LIST_MAX]; /* owned */
} pe_setting_list;

typedef struct pe_settings {
#define PE_SETTING_MEMBER_INT(name)                                   int64_t name;
#define PE_SETTING_MEMBER_BOOL(name)                                  bool name;
#define PE_SETTING_MEMBER_TEXT(name)                                  char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_ADDRESS(name)                               char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_CHOICE(name)                                char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_LIST(name)                                  pe_setting_list name;
#define PE_SETTING_MEMBER(name, kind, fallback, min, max, unit, help) PE_SETTING_MEMBER_##kind(name)
    PE_SETTINGS_MAP(PE_SETTING_MEMBER)
#undef PE_SETTING_MEMBER
} pe_settings;

/** The settings, and where each came from: "default", the file's path, "POSENC_PORT", "--port". */
typedef struct pe_config pe_config;

/**
 * Read everything, each level over the one before: defaults; the file; POSENC_* of environment (may
 * be NULL); flags. arguments: the n_arguments after the subcommand's name.
 *
 * The file is that of --settings or POSENC_SETTINGS (empty: none; --config and POSENC_CONFIG are
 * their old names, which warn); else config/posenc.json in the working directory or
 * /etc/posenc/posenc.json when there is one. Its members are plain values, or
 * objects with a "value" beside whatever explains it, as pe_config_print writes.
 *
 * A variable POSENC_* that names no setting is ignored and logged as a warning. So are the service
 * links of Kubernetes (POSENC_PORT=tcp://..., POSENC_SERVICE_HOST), all by one line.
 *
 * Errors  INVALID_PARAMETER: an unknown key or flag (names the nearest known), a value that does
 *         not fit (names its bounds), a file that cannot be read.
 */
pe_status pe_config_read(int n_arguments, char **arguments, char **environment, pe_config **out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_config_free(pe_config *config);
const pe_settings *pe_config_settings(const pe_config *config);

/** Has nobody asked for another value than the default? A file that repeats the default has not, a
 * flag and a variable have. */
bool pe_config_is_default(const pe_config *config, const char *name);

/** The path of the file that was read, or NULL. */
const char *pe_config_file(const pe_config *config);

/** A setting with another value; the values are JSON. */
typedef struct pe_config_change {
    const char *name, *was, *is;
} pe_config_change;

/** Call found(context, change) for each setting whose values differ, in the table's order. */
void pe_config_compare(const pe_config *before, const pe_config *after,
                       void (*found)(void *context, const pe_config_change *change), void *context);

/**
 * The setting ("port", "settings") whose flag is at arguments[0]; NULL: it is no setting's. *width: how
 * many arguments it takes, 1 ("--port=80", "--access-log") or 2 ("--port 80").
 */
const char *pe_config_flag_setting(int n_arguments, char **arguments, int *width);

/** JSON: {"port": {"value": 8080, "source": "default", "min": 0, ..., "help": ...}, ...}, which is
 * a valid file, too. */
void pe_config_print(const pe_config *config, pe_buffer *out);
/** The same, with the settings that applies(name) taken from `fresh`, unless that is NULL. */
void pe_config_print_over(const pe_config *config, const pe_config *fresh,
                          bool (*applies)(const char *name), pe_buffer *out);
/** One line per flag for `posenc help`. */
void pe_config_help(pe_buffer *out);

#endif
