/* SPDX-License-Identifier: MIT */
/* server.c - the HTTP server: start, serve, drain, stop. */
#include "http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/budget.h"
#include "exact/reserve.h"
#include "http/answer/precompute.h"
#include "http/answer/response_cache.h"
#include "http/callbacks.h"
#include "http/connection/watchdog.h"
#include "http/memory_shares.h"
#include "http/pages/document_pages.h"
#include "http/reply/raw_reply.h"
#include "http/workers/pool.h"
#include "tables/tables.h"

/* That compute: the main thread, the worker of light jobs, the warmer. */
#define OTHER_THREADS 3

/* Between the end of new connections and that of their socket. */
#define NOTE_LIMIT_MS 20

/* Request bodies held at once have so many largest ones, all together, or half of the memory. */
#define BODIES_HELD 8

struct pe_server {
    pe_settings settings; /* the caller's, within memory_max */
    pe_service service;
    struct MHD_Daemon *daemon;
    int fd;    /* that listens */
    int quiet; /* nothing ever happens on it */
    int port;
    pthread_t warmer;
    bool has_warmer;
};

static size_t threads_or_cores(int64_t threads)
{
    if (threads > 0)
        return (size_t)threads;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (size_t)cores : 1;
}

/* ---- the socket ---- */

static int open_socket(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char port[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((struct sockaddr *)&address, length, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0)
        return -1;
    return (int)strtol(port, NULL, 10);
}

static pe_status listen_at(const pe_settings *settings, int *out, pe_problem *why)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    char port[8];
    snprintf(port, sizeof port, "%d", (int)settings->port);
    int wrong = getaddrinfo(settings->host, port, &hints, &address);
    if (wrong != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "host",
                       "host must be an IPv4 or IPv6 address, got %s (%s)", settings->host,
                       gai_strerror(wrong));
    *out = open_socket(address);
    freeaddrinfo(address);
    if (*out < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "port", "could not listen on %s port %s: %s",
                       settings->host, port, strerror(errno));
    return PE_OK;
}

/* Descriptors that are no connections: logs, epoll and event descriptors of the I/O threads. */
#define OTHER_DESCRIPTORS 256

/* Systems start programs with far fewer descriptors than they allow; have one for each connection,
 * as far as that goes. */
static void allow_connections(int64_t connections)
{
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)connections + OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    const bool enough = limit.rlim_max >= wanted;
    limit.rlim_cur = enough ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (!enough)
        pe_log(PE_LOG_WARN, "descriptors",
               (pe_log_member[]){{PE_LOG_NUMBER, "wanted", .number = (int64_t)wanted},
                                 {PE_LOG_NUMBER, "allowed", .number = (int64_t)limit.rlim_cur},
                                 {0}});
}

/* ---- the daemon ---- */

/* What the library has to say is about single clients' mistakes. */
static void log_library(void *context, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static void log_library(void *context, const char *format, va_list arguments)
{
    (void)context;
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    pe_log(PE_LOG_DEBUG, "library", (pe_log_member[]){{PE_LOG_TEXT, "detail", .text = text}, {0}});
}

/* The raw target is read by us; the library's own decoding would cut it at %00. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(pe_service *service, int fd)
{
    const pe_settings *settings = service->settings;
    unsigned idle = (unsigned)((settings->idle_timeout_ms + 999) / 1000);
    unsigned threads = (unsigned)threads_or_cores(settings->threads);
    unsigned connections = (unsigned)settings->connections_max;
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME |
            MHD_USE_ERROR_LOG,
        0, NULL, NULL, pe_callbacks_access, service,   /* */
        MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL, /* first: it may talk */
        MHD_OPTION_LISTEN_SOCKET, fd,                  /* */
        MHD_OPTION_THREAD_POOL_SIZE, threads < connections ? threads : connections, /* one each */
        MHD_OPTION_CONNECTION_LIMIT, connections,                                   /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->connection_memory_bytes, /* */
        MHD_OPTION_CONNECTION_TIMEOUT, idle,                                           /* */
        MHD_OPTION_URI_LOG_CALLBACK, pe_callbacks_target, service,                     /* */
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,                             /* */
        MHD_OPTION_NOTIFY_CONNECTION, pe_callbacks_connection, service,                /* */
        MHD_OPTION_NOTIFY_COMPLETED, pe_callbacks_completed, service,                  /* */
        MHD_OPTION_END);
}

/* ---- warm-up ---- */

static void *warm_up(void *context)
{
    pe_service *service = context;
    const pe_setting_list *list = &service->settings->warm;
    for (size_t i = 0; i < list->n && !atomic_load(&service->draining); i++) {
        pe_problem why;
        if (pe_precompute(service, list->item[i], &why) != PE_OK)
            pe_log(PE_LOG_WARN, "warm",
                   (pe_log_member[]){{PE_LOG_TEXT, "target", .text = list->item[i]},
                                     {PE_LOG_TEXT, "detail", .text = why.detail},
                                     {0}});
    }
    atomic_store(&service->warming, false);
    pe_log(PE_LOG_INFO, "ready", (pe_log_member[]){{0}});
    return NULL;
}

/* A target that nothing answers is a mistake in the settings, told before anybody is served. */
static pe_status check_warm_list(pe_service *service, pe_problem *why)
{
    const pe_setting_list *list = &service->settings->warm;
    for (size_t i = 0; i < list->n; i++) {
        pe_problem cause;
        if (pe_precompute_check(service, list->item[i], &cause) != PE_OK)
            return pe_fail(why, PE_INVALID_PARAMETER, "warm", "warm: %.200s: %.280s", list->item[i],
                           cause.detail);
    }
    return PE_OK;
}

/* ---- start and stop ---- */

static void on_expired(void *context, int socket)
{
    pe_service *service = context;
    pe_problem why;
    atomic_fetch_add_explicit(&service->counters.timeouts, 1, memory_order_relaxed);
    pe_fail(&why, PE_TIMEOUT, "", "the request did not arrive within %lld ms",
            (long long)service->settings->request_deadline_ms);
    pe_raw_reply(service, socket, &why, "", NULL);
}

/* ---- memory ---- */

/* An allocation finds no room. Frequencies are made again faster than answers are. */
static size_t evict(void *context, size_t bytes)
{
    pe_service *service = context;
    const size_t evicted = pe_tables_evict(service->tables, bytes);
    return evicted < bytes ? evicted + pe_response_cache_evict(service->responses, bytes - evicted)
                           : evicted;
}

static void set_bounds(pe_service *service, const pe_settings *settings)
{
    service->settings = settings;
    pe_budget_set((size_t)settings->memory_max, NULL, NULL);
    service->limits.max_elements = (size_t)settings->max_elements;
    service->read_limits = (pe_read_limits){.max_elements = (size_t)settings->max_elements,
                                            .max_positions = (size_t)settings->max_positions,
                                            .max_depth = (size_t)settings->max_json_depth};
    const size_t half = (size_t)settings->memory_max / 2;
    if (!pe_size_mul((size_t)settings->max_body_bytes, BODIES_HELD, &service->body_bytes_max) ||
        service->body_bytes_max > half)
        service->body_bytes_max = half;
    atomic_store(&service->warming, true);
}

static pe_status make_tables(pe_service *service, const pe_settings *settings, pe_problem *why)
{
    const pe_learned_limits learned = {.bytes = (size_t)settings->learned_bytes,
                                       .tables = (size_t)settings->learned_tables};
    const pe_status status =
        pe_tables_make((size_t)settings->table_cache_bytes, &service->tables, why);
    if (status != PE_OK)
        return status;
    return pe_tables_load_learned(service->tables, settings->learned_dir, &learned, why);
}

static pe_status make_service(pe_service *service, const pe_settings *settings, pe_problem *why)
{
    const pe_deadlines deadlines = {
        .receive = settings->request_deadline_ms * PE_NANOSECONDS_PER_MS,
        .send = settings->response_deadline_ms * PE_NANOSECONDS_PER_MS,
        .idle = (settings->idle_timeout_ms + settings->request_deadline_ms) * PE_NANOSECONDS_PER_MS,
    };
    const size_t workers = threads_or_cores(settings->workers);
    const size_t computing = workers + threads_or_cores(settings->threads) + OTHER_THREADS;
    const size_t stored = (size_t)settings->response_cache_bytes;
    set_bounds(service, settings);
    if (pe_reserve_make(computing, why) != PE_OK || make_tables(service, settings, why) != PE_OK ||
        pe_response_cache_make(stored, &service->responses, why) != PE_OK)
        return why->status;
    pe_budget_set((size_t)settings->memory_max, evict, service);
    if (pe_documents_make(settings, pe_tables_learned(service->tables), &service->documents, why) !=
            PE_OK ||
        pe_pool_make(workers, (size_t)settings->queue_max, &service->pool, why) != PE_OK)
        return why->status;
    return pe_watchdog_make(&deadlines, on_expired, service, &service->watchdog, why);
}

static void free_service(pe_service *service)
{
    pe_budget_set(SIZE_MAX, NULL, NULL);
    pe_watchdog_free(service->watchdog);
    pe_pool_free(service->pool);
    pe_documents_free(service->documents);
    pe_response_cache_free(service->responses);
    pe_tables_free(service->tables);
}

static void free_server(pe_server *server)
{
    if (server->quiet >= 0)
        close(server->quiet);
    free_service(&server->service);
    free(server);
}

static void log_listening(const pe_server *server)
{
    pe_log(PE_LOG_INFO, "listening",
           (pe_log_member[]){{PE_LOG_TEXT, "host", .text = server->service.settings->host},
                             {PE_LOG_NUMBER, "port", .number = server->port},
                             {0}});
}

static pe_status start(pe_server *server, const pe_settings *settings, pe_problem *why)
{
    pe_service *service = &server->service;
    if (make_service(service, settings, why) != PE_OK || check_warm_list(service, why) != PE_OK ||
        listen_at(settings, &server->fd, why) != PE_OK)
        return why->status;
    allow_connections(settings->connections_max);
    server->port = port_of(server->fd);
    server->quiet = eventfd(0, EFD_CLOEXEC);
    server->daemon = server->quiet >= 0 ? start_daemon(service, server->fd) : NULL;
    return server->daemon != NULL ? PE_OK
                                  : pe_fail(why, PE_INTERNAL, "", "could not start serving");
}

pe_status pe_server_start(const pe_settings *settings, pe_server **out, pe_problem *why)
{
    pe_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return pe_fail_memory(why);
    server->fd = server->quiet = -1;
    server->settings = *settings;
    pe_status status = pe_memory_shares_apply(&server->settings, why);
    if (status == PE_OK)
        status = start(server, &server->settings, why);
    if (status != PE_OK) {
        if (server->fd >= 0)
            close(server->fd);
        free_server(server);
        return status;
    }
    log_listening(server);
    server->has_warmer = pthread_create(&server->warmer, NULL, warm_up, &server->service) == 0;
    if (!server->has_warmer)
        warm_up(&server->service);
    *out = server;
    return PE_OK;
}

int pe_server_port(const pe_server *server)
{
    return server->port;
}

/* Whoever asks /readyz learns that the end has begun, and sends nobody here any more. */
static void pause_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/*
 * MHD_quiesce_daemon, whose task this is, ends the process when a thread of the library is about to
 * take the socket off its epoll set, too. So the socket is closed beneath them: first nobody can
 * connect, and whoever is at its limit has time to note it; then the descriptor stands for
 * something else, and the kernel takes the socket off their sets. Meanwhile they turn idly.
 */
static void stop_listening(const pe_server *server)
{
    shutdown(server->fd, SHUT_RDWR);
    pause_ms(NOTE_LIMIT_MS);
    while (dup3(server->quiet, server->fd, O_CLOEXEC) < 0 && (errno == EINTR || errno == EBUSY))
        ;
}

/* The order matters: no new connections, then no answers under way, then no work under way (each
 * suspended connection is resumed by its worker), and only then may the library stop. */
void pe_server_stop(pe_server *server)
{
    pe_service *service = &server->service;
    atomic_store(&service->draining, true);
    pause_ms(service->settings->drain_grace_ms);
    stop_listening(server);
    pe_watchdog_drain(service->watchdog, service->settings->drain_timeout_ms);
    if (server->has_warmer)
        pthread_join(server->warmer, NULL);
    pe_pool_end(service->pool);
    MHD_stop_daemon(server->daemon); /* closes the descriptor */
    free_server(server);
}
