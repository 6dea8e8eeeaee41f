/* SPDX-License-Identifier: MIT */
/* routes.h - which handler answers which path, and which path was meant. */
#ifndef PE_HTTP_ROUTES_H
#define PE_HTTP_ROUTES_H

#include <stddef.h>

#include "base/buffer.h"
#include "http/request/request.h"

/** A row of the table of routes. */
typedef struct pe_route {
    const char *path;
    bool prefix;        /* everything below path: one name, */
    const char *name;   /* which openapi.yaml calls so */
    bool configures;    /* the body is a model's configuration: bounded by config_bytes_max */
    unsigned listeners; /* that serve it; 0: the public ones */
    bool open;          /* no key is asked for, and no rate holds */
    unsigned methods;   /* pe_method bits; OPTIONS goes without saying */
    const char
        *instead; /* ends the refusal of other methods: what a client may have meant; or NULL */
    pe_step *handler;
    void (*part)(pe_request *request); /* takes a part of a large body, on a worker; or NULL */
} pe_route;

/** Set request->route, body_max and part_at, and request->resource for a resource of numbers; route
 * stays NULL when there is nothing at the path. Does the route read the request's body? */
bool pe_route_find(pe_request *request);

/** Reply by the route that was found: its handler, or OPTIONS.
 * Errors  NOT_FOUND, METHOD_NOT_ALLOWED; those of the handler. */
pe_step pe_route_handle;

/** Is the request served to everybody? Its route has been looked for. */
bool pe_route_is_open(const pe_request *request);

/** The rows, for tests and tools; *n tells how many. Resources of numbers are in the registry. */
const pe_route *pe_routes(size_t *n);

/** What pe_request.route_number is below. */
unsigned pe_routes_numbers(void);

/** The path of that route, as openapi.yaml has it: "/v1/models/{name}"; "" for none. */
void pe_route_template(unsigned number, char *out, size_t room);

/** Is the row served beside the answers, at least where there is no listener for operators? */
bool pe_route_is_public(const pe_route *route);

#endif
