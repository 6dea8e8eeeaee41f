/* SPDX-License-Identifier: MIT */
/* listing.h - GET /v1: the resources, their parameters, the formats and the bounds. */
#ifndef PE_API_LISTING_H
#define PE_API_LISTING_H

#include <stddef.h>

#include "base/buffer.h"

/** A named bound of the server. */
typedef struct pe_listing_bound {
    const char *name;
    double value;
    const char *unit;
} pe_listing_bound;

/** Every resource with its methods, parameters (type, bounds, default, unit, sentence), formula and
 * paper; the formats; the bounds. */
void pe_listing_json(const pe_listing_bound *bounds, size_t n_bounds, pe_buffer *out);

/** The resources whose paths are below this one: {"resources": [{"path", "methods", "summary"}]}. */
void pe_listing_family(const char *path, pe_buffer *out);

#endif
