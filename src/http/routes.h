/* SPDX-License-Identifier: MIT */
/* routes.h - which handler answers which path. */
#ifndef PE_HTTP_ROUTES_H
#define PE_HTTP_ROUTES_H

#include "http/request/request.h"

/** Decides request->reply, or defers. */
typedef void pe_handler(pe_request *request);

/** A row of the table of routes. */
typedef struct pe_route {
    const char *path;
    bool prefix;      /* everything below path: one name, */
    const char *name; /* which openapi.yaml calls so */
    bool configures;  /* the body is a model's configuration: bounded by config_bytes_max */
    unsigned methods; /* pe_method bits; OPTIONS goes without saying */
    pe_handler *answer;
} pe_route;

/** Set request->route, and request->resource for a representation one; route stays NULL when
 * nothing lives there. Does the route read the request's body? */
bool pe_route_find(pe_request *request);

/** Answer by the route: its handler, its OPTIONS, 404 or 405. */
void pe_route_answer(pe_request *request);

/** The rows, for tests and tools; *n tells how many. Numeric resources are in the registry. */
const pe_route *pe_routes(size_t *n);

#endif
