/* SPDX-License-Identifier: MIT */
/* server.c - the HTTP server: start, serve, drain, stop. */
#include "http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/size.h"
#include "exact/reserve.h"
#include "http/acceptor.h"
#include "http/answer/answer.h"
#include "http/answer/response_cache.h"
#include "http/clients/clients.h"
#include "http/clients/keys.h"
#include "http/connection/drain.h"
#include "http/connection/tls.h"
#include "http/connection/watchdog.h"
#include "http/daemon.h"
#include "http/pages/document_pages.h"
#include "http/pages/pages.h"
#include "http/reload.h"
#include "http/reply/reply.h"
#include "http/connection/client_address.h"
#include "http/request/tally.h"
#include "http/routes.h"
#include "http/workers/pool.h"
#include "tables/tables.h"

/* That compute: the main thread, the worker of light jobs, the warmer. */
#define OTHER_THREADS 3

/* Request bodies held at once have so many largest ones, all together, or half of the memory. */
#define BODIES_HELD 8

struct pe_server {
    pe_settings settings; /* the caller's, within memory_max */
    pe_service service;
    pe_listener listener[PE_LISTENERS_MAX];
    size_t n_listeners;
    size_t admin;              /* which of them is for operators; 0: none */
    struct MHD_Daemon *daemon; /* of all of them */
    pthread_t warmer;
    bool has_warmer;
    void (*ready)(void); /* the caller's, or NULL */
    pe_invariants invariants;
};

static size_t threads_or_cores(int64_t threads)
{
    if (threads > 0)
        return (size_t)threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (size_t)cores : 1;
}

/* ---- sockets ---- */

/* Sockets that were passed stand for host and port, and so does the setting `listen`. */
static pe_status open_sockets(pe_server *server, const pe_settings *settings, pe_problem *why)
{
    pe_socket passed[PE_LISTENERS_MAX - PE_SETTING_PLACES_MAX];
    size_t n;
    PE_TRY(pe_socket_take_passed(passed, PE_LEN(passed), &n, why));
    for (size_t i = 0; i < n; i++)
        server->listener[server->n_listeners++].socket = passed[i];
    for (size_t i = 0; i < settings->listen.n; i++)
        if (pe_socket_open_place(settings->listen.item[i],
                                 &server->listener[server->n_listeners++].socket, why) != PE_OK)
            return why->status;
    if (server->n_listeners > 0)
        return PE_OK;
    return pe_socket_open(settings->host, (int)settings->port,
                          &server->listener[server->n_listeners++].socket, why);
}

/* Descriptors beside: logs, sockets, those of the I/O threads, connections that are being
 * dropped. */
#define OTHER_DESCRIPTORS  512
#define LEAST_DESCRIPTORS  32
#define THREAD_DESCRIPTORS 3

static size_t descriptors_wanted(const pe_settings *settings)
{
    return (size_t)settings->connections_max + OTHER_DESCRIPTORS;
}

/* Systems start programs with far fewer descriptors than they allow; have one for each connection,
 * as far as that goes. */
static pe_status allow_connections(const pe_settings *settings, pe_problem *why)
{
    struct rlimit limit;
    const rlim_t wanted = descriptors_wanted(settings);
    const rlim_t least =
        LEAST_DESCRIPTORS + THREAD_DESCRIPTORS * threads_or_cores(settings->threads);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return PE_OK;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < least)
        return pe_fail(why, PE_INVALID_PARAMETER, "RLIMIT_NOFILE",
                       "the system must allow at least %llu open files (ulimit -n), got %llu",
                       (unsigned long long)least, (unsigned long long)limit.rlim_cur);
    if (limit.rlim_cur < wanted)
        PE_LOG(PE_LOG_WARN, "descriptors", PE_NUMBER("wanted", wanted),
               PE_NUMBER("allowed", limit.rlim_cur));
    return PE_OK;
}

/* ---- serving ---- */

/* A default that is taken, by another server perhaps, is no reason not to serve. */
static pe_status open_admin(pe_server *server, pe_problem *why)
{
    const pe_service *service = &server->service;
    const char *place = service->settings->admin_listen;
    pe_problem cause;
    pe_socket opened = {.fd = -1};
    if (*place == '\0')
        return PE_OK;
    if (pe_socket_open_place(place, &opened, &cause) == PE_OK) {
        server->admin = server->n_listeners++;
        server->listener[server->admin] =
            (pe_listener){.socket = opened, .place = PE_PLACE_OPERATOR};
        return PE_OK;
    }
    if (!pe_config_is_default(service->config, "admin_listen"))
        return pe_fail(why, PE_INVALID_PARAMETER, "admin_listen", "admin_listen: %.400s",
                       cause.detail);
    PE_LOG(PE_LOG_WARN, "no_admin_listener", PE_TEXT("detail", cause.detail));
    return PE_OK;
}

/* With TLS the certificates of a handshake go out at once (pe_inlet). */
#define UNSENT_MIN 65536

/* Threads that send run for so long at a time: what runs for little has its turn soon after it wakes,
 * though workers compute. Nothing changes before Linux 6.12. */
#define SENDER_NANOSECONDS 100000

/* This thread and those that it makes from now on; 0: as others. */
static void run_at_a_time(uint64_t nanoseconds)
{
    const struct { /* sched_attr */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } how = {.size = sizeof how, .nice = getpriority(PRIO_PROCESS, 0), .runtime = nanoseconds};
    if (sched_getscheduler(0) == SCHED_OTHER) /* what an operator chose stays */
        (void)syscall(SYS_sched_setattr, 0, &how, 0);
}

static pe_status start_serving(pe_server *server, pe_problem *why)
{
    pe_service *service = &server->service;
    run_at_a_time(SENDER_NANOSECONDS);
    server->daemon =
        pe_daemon_start(service, threads_or_cores(service->settings->threads), service->tls);
    if (server->admin > 0)
        service->admin = pe_daemon_start(service, 1, false);
    run_at_a_time(0);
    int unsent = (int)service->settings->send_buffer_bytes;
    if (service->tls && unsent > 0 && unsent < UNSENT_MIN)
        unsent = UNSENT_MIN;
    if (server->daemon == NULL || (server->admin > 0 && service->admin == NULL))
        return pe_process_fail_thread("connections", errno, why);
    for (size_t i = 0; i < server->n_listeners; i++) {
        pe_listener *listener = &server->listener[i];
        listener->daemon = listener->place == PE_PLACE_OPERATOR ? service->admin : server->daemon;
        pe_socket_bound_unsent(&listener->socket, unsent);
    }
    return pe_acceptor_start(service, server->listener, server->n_listeners, &service->acceptor,
                             why);
}

/* ---- warm-up ---- */

static void *warm_up(void *context)
{
    pe_server *server = context;
    pe_service *service = &server->service;
    const pe_setting_list *list = &service->settings->warm;
    pe_thread_computes();
    for (size_t i = 0; i < list->n && !atomic_load(&service->draining); i++) {
        pe_problem why;
        if (pe_precompute(service, list->item[i], true, &why) != PE_OK)
            PE_LOG(PE_LOG_WARN, "warm", PE_TEXT("target", list->item[i]),
                   PE_TEXT("detail", why.detail));
    }
    atomic_store(&service->warming, false);
    pe_log(PE_LOG_INFO, "ready", (pe_log_member[]){{0}});
    if (server->ready != NULL && !atomic_load(&service->draining))
        server->ready();
    return NULL;
}

/* ---- memory ---- */

/* A body is read into numbers beside it, and those into an answer. */
static const struct {
    size_t setting; /* an int64_t of pe_settings */
    int64_t parts;  /* of memory_max it gets one */
} shares[] = {
    {offsetof(pe_settings, response_cache_bytes), 4},
    {offsetof(pe_settings, table_cache_bytes), 4},
    {offsetof(pe_settings, learned_bytes), 2},
    {offsetof(pe_settings, max_body_bytes), 4},
    {offsetof(pe_settings, verify_max_body_bytes), 4},
    {offsetof(pe_settings, stream_blocks_bytes), 16},
};

/* Sets memory_max, where it is 0, and bounds each setting of bytes by its share of it. Half of what
 * the system gives: other programs need some, and so does the system for our sockets
 * and files. */
static pe_status apply_shares(pe_settings *settings, pe_problem *why)
{
    const char *from = "memory_max";
    if (settings->memory_max == 0)
        settings->memory_max = (int64_t)(pe_system_memory(&from) / 2);
    if (settings->memory_max < (int64_t)PE_BUDGET_LEAST)
        return pe_fail(why, PE_INVALID_PARAMETER, "memory_max",
                       "memory_max must be at least %zu bytes, got %lld (%s)", PE_BUDGET_LEAST,
                       (long long)settings->memory_max, from);
    for (size_t i = 0; i < PE_LEN(shares); i++) {
        int64_t *setting = (int64_t *)(void *)((char *)settings + shares[i].setting);
        const int64_t most = settings->memory_max / shares[i].parts;
        *setting = *setting < most ? *setting : most;
    }
    PE_LOG(PE_LOG_INFO, "memory", PE_NUMBER("memory_max", settings->memory_max),
           PE_TEXT("from", from));
    return PE_OK;
}

/* An allocation finds no room. Frequencies are made again faster than answers are. */
static size_t evict(void *context, size_t bytes)
{
    pe_service *service = context;
    const size_t evicted = pe_tables_evict(service->tables, bytes);
    return evicted < bytes ? evicted + pe_response_cache_evict(service->responses, bytes - evicted)
                           : evicted;
}

/* What needs no thread. */
static pe_status make_service(pe_service *service, const pe_settings *settings, pe_problem *why)
{
    const size_t stored = (size_t)settings->response_cache_bytes;
    service->tls = *settings->tls_certificate != '\0' || *settings->tls_key != '\0';
    service->settings = settings;
    pthread_mutex_init(&service->reloaded.lock, NULL);
    pe_budget_set((size_t)settings->memory_max, NULL, NULL);
    service->max_pixels = (size_t)settings->figure_max_pixels;
    service->limits = (pe_limits){.max_elements = (size_t)settings->max_elements,
                                  .max_work = (uint64_t)settings->max_work};
    service->read_limits = (pe_read_limits){.max_elements = (size_t)settings->max_elements,
                                            .max_positions = (size_t)settings->max_positions,
                                            .max_depth = (size_t)settings->max_json_depth};
    const size_t half = (size_t)settings->memory_max / 2;
    if (!pe_size_mul((size_t)settings->max_body_bytes, BODIES_HELD, &service->body_bytes_max) ||
        service->body_bytes_max > half)
        service->body_bytes_max = half;
    atomic_store(&service->warming, true);
    pe_process_open(&service->process, descriptors_wanted(settings));
    const size_t computing = pe_pool_threads(threads_or_cores(settings->workers)) +
                             threads_or_cores(settings->threads) + OTHER_THREADS;
    PE_TRY(pe_reserve_make(computing, why));
    PE_TRY(pe_tables_make((size_t)settings->table_cache_bytes, &service->tables, why));
    service->name_route = pe_route_template;
    PE_TRY(pe_tally_make(pe_routes_numbers(), &service->tally, why));
    PE_TRY(pe_response_cache_make(stored, &service->responses, why));
    PE_TRY(pe_clients_make((size_t)settings->clients_max, &service->clients, why));
    pe_budget_set((size_t)settings->memory_max, evict, service);
    PE_TRY(pe_documents_make(&service->documents, why));
    return pe_reload_all(service, settings, why); /* for the first time */
}

/* What a refused client still sends is dropped up to twice the largest body, and at least this. */
#define LINGER_BYTES_MIN 67108864

static pe_status start_threads(pe_service *service, const pe_settings *settings, pe_problem *why)
{
    const int64_t ms = PE_NANOSECONDS_PER_MS;
    const int64_t header = settings->header_deadline_ms, whole = settings->request_deadline_ms;
    const int64_t alone = (header < whole ? header : whole) * ms;
    const uint64_t bodies = 2 * (uint64_t)settings->max_body_bytes;
    const pe_pool_limits pool = {.threads = threads_or_cores(settings->workers),
                                 .queue_max = (size_t)settings->queue_max,
                                 .client_max = (size_t)settings->queue_per_client};
    const pe_drain_limits drain = {.time = settings->linger_ms * ms,
                                   .bytes = bodies > LINGER_BYTES_MIN ? bodies : LINGER_BYTES_MIN};
    const pe_progress_rules rules = {.window = settings->min_rate_window_ms * ms,
                                     .rate_min = (uint64_t)settings->min_rate_bytes};
    pe_deadlines deadlines = {.of = {[PE_PHASE_FRESH] = alone,
                                     [PE_PHASE_HEADER] = alone,
                                     [PE_PHASE_RECEIVING] = whole * ms,
                                     [PE_PHASE_SENDING] = settings->response_deadline_ms * ms,
                                     [PE_PHASE_IDLE] = settings->idle_timeout_ms * ms,
                                     [PE_PHASE_LEAVING] = settings->linger_ms * ms},
                              .reader = rules,
                              .sender = rules};
    deadlines.reader.silence = settings->idle_timeout_ms * ms;
    PE_TRY(pe_pool_make(&pool, &service->pool, why));
    PE_TRY(pe_drain_make(&drain, &service->drain, why));
    return pe_watchdog_make(&deadlines, &service->watchdog, why);
}

/* All that settings and the files that they name decide. */
static pe_status prepare(pe_server *server, const pe_settings *settings, pe_problem *why)
{
    pe_service *service = &server->service;
    PE_TRY(allow_connections(settings, why));
    PE_TRY(pe_client_address_check(settings, why));
    PE_TRY(make_service(service, settings, why));
    /* A target that nothing answers is a mistake in the settings, reported before anybody is served. */
    const pe_setting_list *list = &service->settings->warm;
    for (size_t i = 0; i < list->n; i++) {
        pe_problem cause;
        if (pe_precompute(service, list->item[i], false, &cause) != PE_OK)
            return pe_fail(why, PE_INVALID_PARAMETER, "warm", "warm: %.200s: %.280s", list->item[i],
                           cause.detail);
    }
    return PE_OK;
}

/* The sandbox holds for threads that start in it, so that it comes before them; and after all that
 * needs root. */
static pe_status start(pe_server *server, const pe_settings *settings, pe_problem *why)
{
    pe_service *service = &server->service;
    pe_sandbox_plan plan;
    pe_sandbox_plan_make(service->config, &plan);
    PE_TRY(prepare(server, settings, why));
    PE_TRY(open_sockets(server, settings, why));
    PE_TRY(open_admin(server, why));
    PE_TRY(pe_sandbox_enter(&plan, &service->sandbox, why));
    PE_TRY(pe_log_run(why));
    PE_TRY(start_threads(service, settings, why));
    PE_TRY(start_serving(server, why));
    return pe_sandbox_seal(&plan, &service->sandbox, why);
}

/* The one client is the program: what keeps clients from each other would only keep it waiting. */
static void settle_within(pe_settings *settings)
{
    const int64_t day_ms = 86400000;
    settings->threads = 1;
    settings->admin_listen[0] = settings->tls_certificate[0] = settings->tls_key[0] = '\0';
    settings->keys_file[0] = '\0';
    settings->address_rate = settings->address_work_rate = settings->min_rate_bytes = 0;
    settings->warm.n = 0;
    settings->access_log = settings->proxy_protocol = false;
    settings->idle_timeout_ms = settings->header_deadline_ms = day_ms;
    settings->request_deadline_ms = settings->response_deadline_ms = day_ms;
    settings->queue_wait_ms = day_ms;
    settings->unit_ns_max =
        0; /* on a machine that is slow it takes longer, and nobody else waits */
    settings->max_url_bytes = 65536;
    settings->connection_memory_bytes = 262144;
    settings->config_bytes_max = settings->max_body_bytes;
    settings->response_cache_bytes = 0;
    settings->drain_grace_ms = settings->drain_timeout_ms = 0;
    snprintf(settings->log_level, sizeof settings->log_level, "%s",
             pe_log_level_name(pe_log_get_level())); /* the caller's */
}

static pe_status start_within(pe_server *server, const pe_settings *settings, pe_problem *why)
{
    server->service.logs_warnings = true;
    PE_TRY(prepare(server, settings, why));
    PE_TRY(start_threads(&server->service, settings, why));
    PE_TRY(start_serving(server, why));
    atomic_store(&server->service.warming, false);
    return PE_OK;
}

/* As far as it has come. */
static void end(pe_server *server)
{
    pe_service *service = &server->service;
    if (service->acceptor != NULL)
        pe_acceptor_end(service->acceptor);
    for (size_t i = 0; i < server->n_listeners; i++)
        pe_socket_close(&server->listener[i].socket);
    if (service->watchdog != NULL)
        pe_watchdog_drain(service->watchdog, service->settings->drain_timeout_ms);
    if (server->has_warmer)
        pthread_join(server->warmer, NULL);
    if (service->pool != NULL)
        pe_pool_end(service->pool);
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    if (service->admin != NULL)
        MHD_stop_daemon(service->admin);
    pe_budget_set(SIZE_MAX, NULL, NULL);
    pe_acceptor_free(service->acceptor);
    pe_tls_identity_free(atomic_load(&service->identity));
    pe_watchdog_free(service->watchdog);
    pe_drain_free(service->drain);
    pe_pool_free(service->pool);
    pe_cache_free(service->documents);
    pe_response_cache_free(service->responses);
    pe_tables_free(service->tables);
    pe_clients_free(service->clients);
    pe_keys_unref(service->reloaded.keys);
    pe_buffer_free(&service->reloaded.settings);
    pthread_mutex_destroy(&service->reloaded.lock);
    pe_tally_free(service->tally);
    pe_process_close(&service->process);
    free(server);
}

typedef pe_status beginning(pe_server *server, const pe_settings *settings, pe_problem *why);

static pe_status begin(const pe_config *config, beginning *how, pe_server **out, pe_problem *why)
{
    pe_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return pe_fail_memory(why);
    server->service.config = config;
    server->settings = *pe_config_settings(config);
    if (how == start_within)
        settle_within(&server->settings);
    pe_status status = apply_shares(&server->settings, why);
    if (status == PE_OK)
        status = how(server, &server->settings, why);
    if (status != PE_OK)
        end(server);
    else
        *out = server;
    return status;
}

pe_status pe_server_check(const pe_config *config, pe_problem *why)
{
    pe_server *server = NULL;
    PE_TRY(begin(config, prepare, &server, why));
    end(server);
    return PE_OK;
}

pe_status pe_server_start(const pe_config *config, void (*ready)(void), pe_server **out,
                          pe_problem *why)
{
    pe_server *server = NULL;
    PE_TRY(begin(config, start, &server, why));
    server->ready = ready;
    for (size_t i = 0; i < server->n_listeners; i++) {
        const pe_socket *socket = &server->listener[i].socket;
        const bool path = socket->port < 0, admin = server->listener[i].place == PE_PLACE_OPERATOR;
        PE_LOG(PE_LOG_INFO, admin ? "admin_listening" : "listening",
               PE_TEXT(path ? "path" : "host", socket->name),
               {path ? PE_LOG_END : PE_LOG_NUMBER, "port", .number = socket->port});
    }
    server->has_warmer = pthread_create(&server->warmer, NULL, warm_up, server) == 0;
    if (!server->has_warmer)
        warm_up(server);
    *out = server;
    return PE_OK;
}

pe_status pe_server_start_within(const pe_config *config, pe_server **out, pe_problem *why)
{
    return begin(config, start_within, out, why);
}

pe_status pe_server_connect(pe_server *server, int *out, pe_problem *why)
{
    int ends[2];
    const pe_accepted accepted = {.peer.path.sun_family = AF_UNIX, .place = PE_PLACE_PUBLIC};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return pe_fail(why, PE_INTERNAL, "", "no socket: %s", strerror(errno));
    if (MHD_add_connection(server->daemon, ends[1], &accepted.peer.any, sizeof accepted) !=
        MHD_YES) { /* it has closed its end */
        close(ends[0]);
        return pe_fail_memory(why);
    }
    *out = ends[0];
    return PE_OK;
}

bool pe_server_is_ready(const pe_server *server)
{
    return !atomic_load(&server->service.draining) && !atomic_load(&server->service.warming);
}

int pe_server_port(const pe_server *server)
{
    return server->listener[0].socket.port;
}

void pe_server_judge(pe_server *server)
{
    pe_metrics_judge(&server->service, &server->invariants);
}

pe_status pe_server_reload(pe_server *server, const pe_config *fresh, pe_problem *why)
{
    pe_service *service = &server->service;
    pe_buffer text = {0};
    PE_TRY(pe_reload_all(service, pe_config_settings(fresh), why));
    pe_config_print_over(service->config, fresh, pe_reload_applies, &text);
    if (!text.failed) { /* without memory operators see those of before */
        pthread_mutex_lock(&service->reloaded.lock);
        const pe_buffer before = service->reloaded.settings;
        service->reloaded.settings = text;
        text = before;
        pthread_mutex_unlock(&service->reloaded.lock);
    }
    pe_buffer_free(&text);
    return PE_OK;
}

/* First whoever asks /readyz learns that the end has begun, and sends nobody here any more. Then the
 * order matters: no new connections, then no answers under way, then no work under way (each
 * suspended connection is resumed by its worker), and only then may the library stop. */
void pe_server_stop(pe_server *server)
{
    const int64_t ms = server->service.settings->drain_grace_ms;
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    atomic_store(&server->service.draining, true);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    end(server);
}
