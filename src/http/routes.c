/* SPDX-License-Identifier: MIT */
/* routes.c - which handler answers which path, and which path was meant. */
#include "http/routes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/documents.h"
#include "base/buffer.h"
#include "base/nearest.h"
#include "encodings/registry.h"
#include "formats/format.h"
#include "http/answer/answer.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"

#define GET_HEAD (PE_METHOD_GET | PE_METHOD_HEAD)

#define PREFLIGHT_SECONDS "86400"

/* Bytes of the fields that a preflight asks for. */
#define ASKED_FIELDS_MAX 512

/* A longer path, or query, is not moved to /v1. */
#define PATH_MAX_MOVED    64
#define MOVED_QUERY_BYTES 2048

static const char allowed_headers[] = "Content-Type, If-None-Match, Range, If-Range, "
                                      "Want-Repr-Digest, X-Request-Id, X-Tensor-Shape, "
                                      "X-Tensor-Dtype";

static pe_step reply_family;

/* Which listeners serve a row, and what a connection's listener serves. */
enum { PUBLIC = 1, ADMIN = 2, ALONE = 4 /* the public one, where there is no other */ };

/* A row without .listeners is public. */
static const pe_route routes[] = {
    {"/", .open = true, .methods = GET_HEAD, .handler = pe_page_front},
    {"/assets/", .open = true, .prefix = true, .name = "path", .methods = GET_HEAD,
     .handler = pe_page_file},
    {"/docs", .open = true, .methods = GET_HEAD, .handler = pe_page_file},
    {"/favicon.ico", .open = true, .methods = GET_HEAD, .handler = pe_page_file},
    {"/v1", .methods = GET_HEAD, .handler = pe_page_listing},
    {"/v1/verify", .methods = PE_METHOD_POST, .handler = pe_page_verify,
     .part = pe_page_verify_part},
    {"/v1/models", .methods = GET_HEAD, .handler = pe_page_models},
    {"/v1/models/resolve", .configures = true, .methods = PE_METHOD_POST,
     .handler = pe_page_resolve, .instead = "; GET /v1/models/NAME resolves a model by its name"},
    {"/v1/models/", .prefix = true, .name = "name", .methods = GET_HEAD, .handler = pe_page_model},
    {"/v1/packs", .methods = GET_HEAD, .handler = pe_page_packs},
    {"/v1/packs/", .prefix = true, .name = "name", .methods = GET_HEAD, .handler = pe_page_pack},
    {"/v1/learned", .methods = GET_HEAD, .handler = pe_page_listing},
    {"/v1/alibi", .methods = GET_HEAD, .handler = reply_family},
    {"/v1/rope", .methods = GET_HEAD, .handler = reply_family},
    {"/v1/shaw", .methods = GET_HEAD, .handler = reply_family},
    {"/v1/swin", .methods = GET_HEAD, .handler = reply_family},
    {"/v1/t5", .methods = GET_HEAD, .handler = reply_family},
    {"/problems/", .open = true, .prefix = true, .name = "code", .methods = GET_HEAD,
     .handler = pe_page_problem},
    {"/openapi.yaml", .open = true, .methods = GET_HEAD, .handler = pe_page_document},
    {"/openapi.json", .open = true, .methods = GET_HEAD, .handler = pe_page_document},
    {"/livez", .open = true, .listeners = PUBLIC | ADMIN, .methods = GET_HEAD,
     .handler = pe_page_livez},
    {"/readyz", .open = true, .listeners = PUBLIC | ADMIN, .methods = GET_HEAD,
     .handler = pe_page_readyz},
    {"/healthz", .open = true, .listeners = PUBLIC | ADMIN, .methods = GET_HEAD,
     .handler = pe_page_livez},
    {"/version", .open = true, .listeners = PUBLIC | ADMIN, .methods = GET_HEAD,
     .handler = pe_page_version},
    {"/metrics", .listeners = ADMIN | ALONE, .methods = GET_HEAD, .handler = pe_page_metrics},
    {"/caches", .listeners = ADMIN, .methods = GET_HEAD, .handler = pe_page_caches},
    {"/caches/purge", .listeners = ADMIN, .methods = PE_METHOD_POST, .handler = pe_page_purge},
    {"/settings", .listeners = ADMIN, .methods = GET_HEAD, .handler = pe_page_settings},
    {"/log-level", .listeners = ADMIN, .methods = GET_HEAD | PE_METHOD_POST,
     .handler = pe_page_log_level},
    {"/readiness", .listeners = ADMIN, .methods = GET_HEAD, .handler = pe_page_readiness},
    {"/requests", .listeners = ADMIN, .methods = GET_HEAD, .handler = pe_page_requests},
    {"/", .listeners = ADMIN, .methods = GET_HEAD, .handler = pe_page_admin},
    {"*", .listeners = PUBLIC | ADMIN, .methods = 0}, /* OPTIONS * */
};

/* What the rows of the registry have in common. */
static const pe_route resources[] = {
    [PE_TABLE] = {.methods = GET_HEAD | PE_METHOD_POST, .handler = pe_answer_resource},
    [PE_TRANSFORM] = {.methods = PE_METHOD_POST, .handler = pe_answer_resource},
};

const pe_route *pe_routes(size_t *n)
{
    *n = PE_LEN(routes);
    return routes;
}

static unsigned listener_of(const pe_request *request)
{
    if (request->watch->place == PE_PLACE_OPERATOR)
        return ADMIN;
    return *request->service->settings->admin_listen == '\0' ? PUBLIC | ALONE : PUBLIC;
}

static bool is_served(const pe_route *route, unsigned listener)
{
    return ((route->listeners != 0 ? route->listeners : PUBLIC) & listener) != 0;
}

static bool matches(const pe_route *route, const char *path, unsigned listener)
{
    return is_served(route, listener) &&
           strncmp(route->path, path, strlen(route->path) + !route->prefix) == 0;
}

bool pe_route_is_public(const pe_route *route)
{
    return is_served(route, PUBLIC | ALONE);
}

/* ---- numbers of routes: 0 for none, then the registry's, then those of the table ---- */

unsigned pe_routes_numbers(void)
{
    return PE_REGISTRY_SIZE + 1 + PE_LEN(routes);
}

void pe_route_template(unsigned number, char *out, size_t room)
{
    *out = '\0';
    if (number > PE_REGISTRY_SIZE) {
        const pe_route *route = &routes[number - PE_REGISTRY_SIZE - 1];
        snprintf(out, room, route->prefix ? "%s{%s}" : "%s", route->path, route->name);
    } else if (number > 0) {
        snprintf(out, room, "%s", pe_registry[number - 1]->path);
    }
}

/* ---- finding ---- */

bool pe_route_find(pe_request *request)
{
    const unsigned listener = listener_of(request);
    if (listener != ADMIN)
        request->resource = pe_registry_route(request->path, &request->path_name);
    if (request->resource != NULL)
        request->route = &resources[request->resource->kind];
    for (size_t i = 0; i < PE_LEN(routes) && request->route == NULL; i++)
        if (matches(&routes[i], request->path, listener))
            request->route = &routes[i];
    const pe_route *route = request->route;
    const pe_settings *settings = request->service->settings;
    request->body_max = (uint64_t)settings->max_body_bytes;
    if (route == NULL)
        return false;
    request->route_number = request->resource != NULL
                                ? pe_registry_number(request->resource)
                                : PE_REGISTRY_SIZE + 1 + (unsigned)(route - routes);
    if (route->handler == pe_page_verify)
        request->body_max = (uint64_t)settings->verify_max_body_bytes;
    else if (route->configures && settings->config_bytes_max < settings->max_body_bytes)
        request->body_max = (uint64_t)settings->config_bytes_max;
    /* A body that is not held as a whole is taken in parts; its length must be known. */
    const char *length = request->header[PE_HEADER_CONTENT_LENGTH];
    const uint64_t held = (uint64_t)settings->verify_held_bytes;
    if (route->part != NULL && length != NULL && strtoull(length, NULL, 10) > held)
        request->part_bytes = request->part_at = (size_t)(held / 4);
    return (route->methods & request->method & PE_METHOD_POST) != 0;
}

bool pe_route_is_open(const pe_request *request)
{
    const pe_route *route = request->route;
    return route != NULL && (route->open || request->method == PE_METHOD_OPTIONS);
}

/* ---- which path was meant by one where nothing lives ---- */

/* What else people call the last part of a path. `meant` begins with a path. */
static const struct {
    const char *word, *meant; /* the word with _ for - */
} words[] = {
#include "synonyms_paths.inc"
};

typedef struct paths {
    const char *path;
    size_t bytes;        /* of it, without slashes at its end */
    size_t from, family; /* where the name of its family begins, and its length */
    size_t last;         /* where its last part begins */
    const char *const *known;
    size_t n;
} paths;

/* More are not listed. */
#define SHOWN_MAX 3

/* Is a known path below /v1/ followed by these bytes? */
static bool is_below(const char *known, const char *name, size_t bytes)
{
    return strncmp(known, "/v1/", 4) == 0 && strchr(known, '{') == NULL &&
           strncasecmp(known + 4, name, bytes) == 0 && known[4 + bytes] == '/';
}

/* "below it are /v1/rope/table, ..." of as much of the path. False where nothing is. out: NULL:
 * nothing is told. */
static bool add_family(const paths *of, size_t bytes, const char *before, pe_buffer *out)
{
    size_t found = 0;
    for (size_t i = 0; i < of->n && bytes > of->from; i++)
        if (is_below(of->known[i], of->path + of->from, bytes - of->from)) {
            if (out != NULL)
                pe_buffer_format(out, "%s%s", found > 0 ? ", " : before, of->known[i]);
            found++;
        }
    return found > 0;
}

/* The known path that these bytes are, or NULL. */
static const char *known_path(const paths *of, const char *path, size_t bytes)
{
    for (size_t i = 0; i < of->n; i++)
        if (strncmp(of->known[i], path, bytes) == 0 && of->known[i][bytes] == '\0')
            return of->known[i];
    return NULL;
}

/* Is it the last part of the path? */
static bool is_last(const paths *of, const char *word)
{
    const char *text = of->path + of->last;
    const size_t bytes = of->bytes - of->last;
    size_t i = 0;
    while (i < bytes && word[i] != '\0' &&
           strncasecmp(text[i] == '-' ? "_" : &text[i], &word[i], 1) == 0)
        i++;
    return i == bytes && word[i] == '\0';
}

/* What begins at the last slash, without it. */
static size_t last_part(const char *path, size_t bytes)
{
    while (bytes > 0 && path[bytes - 1] != '/')
        bytes--;
    return bytes;
}

/* The paths that end with the only part: /v1/rope/xpos for /v1/xpos. */
static bool add_parts(const paths *of, pe_buffer *out)
{
    size_t found = 0;
    for (size_t i = 0; i < of->n && of->last == of->from; i++) {
        const char *known = of->known[i];
        if (is_last(of, known + last_part(known, strlen(known))) && found++ < SHOWN_MAX)
            pe_buffer_format(out, "%s%s", found > 1 ? ", " : "did you mean ", known);
    }
    if (found > 0)
        pe_buffer_str(out, "?");
    return found > 0;
}

/* "did you mean /v1/rope/table with rope_type=yarn?" where the last part is a value or a name: of a
 * resource of the same family, or a table, if there is one. */
static bool add_value(const paths *of, pe_buffer *out)
{
    const pe_resource *best = NULL;
    const pe_param *of_best = NULL, *row;
    unsigned most = 0;
    bool is_value = false;
    for (size_t r = 0; pe_registry[r] != NULL; r++) {
        const char *path = pe_registry[r]->path, *table = strstr(path, "/table");
        const bool same = strncasecmp(path + 4, of->path + of->from, of->family + 1) == 0;
        const unsigned fit = 1U + (same ? 4U : 0U) + (pe_registry[r]->kind == PE_TABLE ? 2U : 0U) +
                             (table != NULL && table[6] == '\0' ? 1U : 0U);
        for (size_t i = 0; (row = pe_params_at(pe_registry[r]->param_sets, i)) != NULL; i++) {
            bool choice = false;
            for (size_t c = 0; row->kind == PE_KIND_CHOICE && row->choices[c] != NULL; c++)
                choice |= is_last(of, row->choices[c]);
            if (fit <= most || (!choice && !is_last(of, row->name)) ||
                known_path(of, path, strlen(path)) == NULL)
                continue;
            most = fit;
            best = pe_registry[r];
            of_best = row;
            is_value = choice;
        }
    }
    if (best == NULL)
        return false;
    pe_buffer_format(out, "did you mean %s with %s", best->path, of_best->name);
    if (is_value)
        pe_buffer_format(out, "=%.*s", (int)(of->bytes - of->last), of->path + of->last);
    pe_buffer_str(out, "?");
    return true;
}

/* Adds "did you mean /v1/rope/table?" or "below it are /v1/t5/buckets, /v1/t5/bias"; nothing where
 * no path is like it. `known`: the n paths that are served, templates with {name} among them. */
static void suggest(const char *path, const char *const *known, size_t n, pe_buffer *out)
{
    paths of = {.path = path, .bytes = strlen(path), .known = known, .n = n};
    if (*path != '/')
        return;
    while (of.bytes > 1 && path[of.bytes - 1] == '/')
        of.bytes--;
    of.last = last_part(path, of.bytes);
    of.from = strncasecmp(path, "/v1/", 4) == 0 ? 4 : 1;
    of.family = strcspn(path + of.from, "/");
    /* Without the slashes at its end, or what a proxy or another version put before it. */
    const char *meant = known_path(&of, path, of.bytes), *api = strstr(path, "/v1/");
    if (meant == NULL && api != NULL)
        meant = known_path(&of, api, strlen(api));
    if (meant == NULL && of.from > 1 && add_family(&of, of.bytes, "below it are ", out))
        return;
    for (size_t w = 0; w < PE_LEN(words) && meant == NULL; w++)
        if (is_last(&of, words[w].word) &&
            known_path(&of, words[w].meant, strcspn(words[w].meant, " ")) != NULL)
            meant = words[w].meant;
    if (meant == NULL && add_parts(&of, out))
        return;
    /* The nearest one, where the path names no family, or that of it. */
    const char *near = meant == NULL ? pe_nearest_name(path, known, n) : NULL;
    const bool named =
        path[of.from + of.family] == '/' && add_family(&of, of.from + of.family, "", NULL);
    if (near != NULL && strcmp(near, "/") != 0 &&
        (!named || is_below(near, path + of.from, of.family)))
        meant = near;
    if (meant == NULL && add_family(&of, of.bytes, "did you mean one of ", out))
        return;
    /* The longest one that the path goes on from: /v1/verify for /v1/verify/rope. */
    const bool none = meant == NULL;
    for (size_t i = 0, most = 3; i < n && none; i++) {
        const size_t bytes = strlen(known[i]);
        if (bytes > most && strncasecmp(known[i], path, bytes) == 0 &&
            strchr("/-_.", path[bytes]) != NULL) {
            meant = known[i];
            most = bytes;
        }
    }
    const pe_format *format = meant != NULL ? pe_format_by_extension(path) : NULL;
    const bool other = format != NULL && strcmp(format->name, "json") != 0; /* than the default */
    if (meant != NULL)
        pe_buffer_format(out, "did you mean %s%s%s?", meant, other ? " with format=" : "",
                         other ? format->name : "");
    else if (!add_value(&of, out))
        (void)add_family(&of, of.last - 1, "beside it are ", out);
}

/* ---- replies ---- */

static void allow_text(const pe_route *route, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct pe_method_name *known = pe_method_names; known->name != NULL; known++)
        if ((route->methods | PE_METHOD_OPTIONS) & known->method)
            used += (size_t)snprintf(out + used, room - used, "%s%s", used > 0 ? ", " : "",
                                     known->name);
}

static pe_status not_found(const pe_request *request, pe_problem *why)
{
    const unsigned listener = listener_of(request);
    const char *known[PE_LEN(routes) + PE_REGISTRY_SIZE];
    size_t n = 0;
    for (size_t i = 0; i < PE_LEN(routes); i++)
        if (!routes[i].prefix && routes[i].handler != reply_family &&
            is_served(&routes[i], listener))
            known[n++] = routes[i].path;
    for (size_t i = 0; listener != ADMIN && pe_registry[i] != NULL; i++)
        known[n++] = pe_registry[i]->path;
    pe_buffer meant = {0};
    suggest(request->path, known, n, &meant);
    if (meant.bytes > 0)
        (void)pe_fail(why, PE_NOT_FOUND, "", "nothing lives at %.200s; %s", request->path,
                      pe_buffer_text(&meant));
    else
        (void)pe_fail(why, PE_NOT_FOUND, "", "nothing lives at %.200s; GET %s lists what there is",
                      request->path, listener == ADMIN ? "/" : "/v1");
    pe_buffer_free(&meant);
    return why->status;
}

/* A path without its version leads to that with it. False: there is none such. */
static bool lacks_version(const pe_request *request, char *location, size_t room)
{
    const char *query = strchr(request->target, '?');
    const unsigned listener = listener_of(request);
    pe_slice name;
    if (listener == ADMIN || strlen(request->path) >= PATH_MAX_MOVED)
        return false;
    snprintf(location, room, "/v1%s", request->path);
    bool known = pe_registry_route(location, &name) != NULL;
    for (size_t i = 0; i < PE_LEN(routes) && !known; i++)
        known = matches(&routes[i], location, listener);
    snprintf(location, room, "/v1%s%s", request->path, query != NULL ? query : "");
    return known && strlen(request->target) + strlen("/v1") < room;
}

/* The resources below a path. */
static pe_outcome reply_family(pe_request *request, pe_problem *why)
{
    pe_buffer out = {0};
    pe_listing_family(request->path, &out);
    return pe_reply_json(request, PE_OK, &out, "no-cache", why);
}

/* The fields that we read are allowed, and those that a browser asks for: none of them does harm.
 * What is no list of names, which are tokens (RFC 9110, section 5.6.2), is left out. */
static pe_outcome reply_options(pe_request *request)
{
    char allow[64], fields_text[sizeof allowed_headers + ASKED_FIELDS_MAX + 2];
    const char *asked = request->header[PE_HEADER_REQUESTED_HEADERS];
    bool names = asked != NULL && *asked != '\0' && strlen(asked) <= ASKED_FIELDS_MAX;
    for (const char *c = asked; names && *c != '\0'; c++)
        names = isalnum((unsigned char)*c) || strchr("!#$%&'*+-.^_`|~, ", *c) != NULL;
    snprintf(fields_text, sizeof fields_text, "%s%s%s", allowed_headers, names ? ", " : "",
             names ? asked : "");
    const bool cors = request->watch->place != PE_PLACE_OPERATOR &&
                      *request->service->settings->cors_origin != '\0';
    allow_text(request->route, allow, sizeof allow);
    const pe_field fields[] = {
        {"Allow", allow},
        {"Access-Control-Allow-Methods", cors ? allow : NULL},
        {"Access-Control-Allow-Headers", cors ? fields_text : NULL},
        {"Vary", cors ? "Access-Control-Request-Headers" : NULL},
        {"Access-Control-Max-Age", cors ? PREFLIGHT_SECONDS : NULL},
        {0},
    };
    return pe_reply_empty(request, MHD_HTTP_NO_CONTENT, fields);
}

pe_outcome pe_route_handle(pe_request *request, pe_problem *why)
{
    const pe_route *route = request->route;
    if (listener_of(request) == ADMIN)
        PE_TRY(pe_page_check_sender(request, why));
    if (route == NULL) {
        char location[PATH_MAX_MOVED + MOVED_QUERY_BYTES];
        if ((request->method & (GET_HEAD | PE_METHOD_POST)) != 0 &&
            lacks_version(request, location, sizeof location))
            return pe_reply_empty(request, MHD_HTTP_PERMANENT_REDIRECT,
                                  PE_FIELDS({"Location", location}));
        return not_found(request, why);
    }
    if (request->method == PE_METHOD_OPTIONS)
        return reply_options(request);
    if ((route->methods & request->method) != 0)
        return route->handler(request, why);
    char allow[64];
    const bool posts = (route->methods & PE_METHOD_POST) != 0;
    const char *hint =
        route->instead != NULL                        ? route->instead
        : posts && request->method == PE_METHOD_GET   ? "; /docs has a form that sends it"
        : !posts && request->method == PE_METHOD_POST ? "; its parameters are in the query"
                                                      : "";
    allow_text(route, allow, sizeof allow);
    (void)pe_fail(why, PE_METHOD_NOT_ALLOWED, "", "%.200s answers %s, not %s%s", request->path,
                  allow, request->method_text, hint);
    snprintf(why->allow, sizeof why->allow, "%s", allow);
    return PE_METHOD_NOT_ALLOWED;
}
