/* SPDX-License-Identifier: MIT */
/* daemon.c - the library's daemons: I/O threads that serve connections. */
#include "http/daemon.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "http/callbacks.h"
#include "http/connection/tls.h"

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

/* The acceptor keeps connections_max. The library divides its own limit among its threads, so that
 * one is far above. One thread is not a pool of one. */
struct MHD_Daemon *pe_daemon_start(pe_service *service, size_t threads, bool tls)
{
    const pe_settings *settings = service->settings;
    const unsigned pool = threads > 1 ? (unsigned)threads : 0;
    const unsigned connections =
        ((unsigned)settings->connections_max + SOMAXCONN) * (unsigned)threads;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (char *)(uintptr_t)pe_tls_priorities(settings->tls_minimum)},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)pe_callbacks_certificate},
        {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        (tls ? MHD_USE_TLS : 0U) | MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO |
            MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, pe_callbacks_access, service,                                   /* */
        MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,                                 /* first */
        MHD_OPTION_THREAD_POOL_SIZE, pool,                                             /* */
        MHD_OPTION_CONNECTION_LIMIT, connections,                                      /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->connection_memory_bytes, /* */
        MHD_OPTION_URI_LOG_CALLBACK, pe_callbacks_target, service,                     /* */
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,                             /* */
        MHD_OPTION_NOTIFY_CONNECTION, pe_callbacks_connection, service,                /* */
        MHD_OPTION_NOTIFY_COMPLETED, pe_callbacks_completed, service,                  /* */
        MHD_OPTION_ARRAY, tls ? secure : plain,                                        /* */
        MHD_OPTION_END);
}
