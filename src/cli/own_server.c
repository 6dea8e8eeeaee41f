/* SPDX-License-Identifier: MIT */
/* own_server.c - a server inside this process, whose one client is the command that runs. */
#include "cli/own_server.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "http/server.h"

struct pe_own_server {
    pe_config *config;
    pe_server *server;
    int fd; /* of the last request, or -1 */
};

pe_status pe_own_server_start(int n_settings, char **settings, pe_own_server **out, pe_problem *why)
{
    pe_own_server *own = calloc(1, sizeof *own);
    if (own == NULL)
        return pe_fail_memory(why);
    own->fd = -1;
    pe_status status = pe_cli_configure(n_settings, settings, &own->config, why);
    /* What servers tell beside is no news here. */
    if (status == PE_OK && pe_config_is_default(own->config, "log_level"))
        pe_log_set_level(PE_LOG_WARN);
    if (status == PE_OK)
        status = pe_server_start_within(own->config, &own->server, why);
    if (status == PE_OK)
        *out = own;
    else
        pe_own_server_stop(own);
    return status;
}

void pe_own_server_stop(pe_own_server *own)
{
    if (own == NULL)
        return;
    if (own->fd >= 0)
        close(own->fd);
    if (own->server != NULL)
        pe_server_stop(own->server);
    pe_config_free(own->config);
    free(own);
}

size_t pe_own_server_bytes_max(const pe_own_server *own)
{
    return (size_t)pe_config_settings(own->config)->verify_max_body_bytes;
}

/* ---- problems ---- */

/* A mistake of the list, whose detail need not name the parameter. */
static pe_status mistake_of(const json_t *error, pe_status status, pe_problem *out)
{
    const char *parameter = json_string_value(json_object_get(error, "parameter"));
    const char *pointer = json_string_value(json_object_get(error, "pointer"));
    const char *where = parameter != NULL ? parameter : pointer != NULL ? pointer : "";
    const char *detail = json_string_value(json_object_get(error, "detail"));
    return pe_fail(out, status, where, "%s: %s", where, detail != NULL ? detail : "");
}

static pe_status problem_of(const json_t *problem, pe_problem *why)
{
    size_t i;
    json_t *error;
    const json_t *errors = json_object_get(problem, "errors");
    const char *code = json_string_value(json_object_get(problem, "code"));
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    pe_status status = code != NULL ? pe_status_by_code(code) : PE_OK;
    if (status == PE_OK || detail == NULL)
        return pe_fail(why, PE_INTERNAL, "", "the answer is no problem that is known");
    const char *where = json_string_value(json_object_get(json_array_get(errors, 0), "parameter"));
    (void)pe_fail(why, status, where != NULL ? where : "", "%s", detail);
    json_array_foreach(errors, i, error)
    {
        pe_problem mistake;
        if (i > 0)
            status =
                pe_problem_gather(status, mistake_of(error, why->status, &mistake), &mistake, why);
    }
    return status;
}

/* ---- asking ---- */

pe_status pe_own_server_ask(pe_own_server *own, const pe_client_request *request, pe_client *out,
                            pe_problem *why)
{
    pe_client_request local = *request;
    char text[16384];
    size_t bytes = 0, got = 1;
    if (own->fd >= 0)
        close(own->fd);
    PE_TRY(pe_server_connect(own->server, &own->fd, why));
    local.host = "localhost";
    *out = (pe_client){.fd = own->fd};
    PE_TRY(pe_client_ask(out, &local, why));
    if (out->status < 400)
        return PE_OK;
    while (got > 0 && bytes < sizeof text) {
        PE_TRY(pe_client_read(out, text + bytes, sizeof text - bytes, &got, why));
        bytes += got;
    }
    json_t *problem = json_loadb(text, bytes, 0, NULL);
    const pe_status status = problem_of(problem, why);
    json_decref(problem);
    return status;
}

#define BLOCK_BYTES ((size_t)65536)

pe_status pe_own_server_fetch(pe_own_server *own, const pe_client_request *request, pe_buffer *out,
                              pe_problem *why)
{
    pe_client client;
    size_t got = 1;
    PE_TRY(pe_own_server_ask(own, request, &client, why));
    while (got > 0) {
        char *at = pe_buffer_reserve(out, BLOCK_BYTES);
        if (at == NULL)
            return pe_fail_memory(why);
        PE_TRY(pe_client_read(&client, at, BLOCK_BYTES, &got, why));
        out->bytes += got;
    }
    return PE_OK;
}
