/* SPDX-License-Identifier: MIT */
/* tree.h - small JSON texts as jansson's trees. */
#ifndef PE_FILES_TREE_H
#define PE_FILES_TREE_H

#include <jansson.h>

#include "base/slice.h"
#include "base/status.h"

/**
 * Parse any JSON value; the caller releases *out with json_decref. Takes several times the text in
 * memory: for small texts only.
 * Errors  MALFORMED_REQUEST, at `where`; INTERNAL.
 */
pe_status pe_tree_load(pe_slice json, size_t flags, const char *where, json_t **out,
                       pe_problem *why) PE_MUST_CHECK;

#endif
