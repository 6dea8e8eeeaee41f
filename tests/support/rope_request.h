/* SPDX-License-Identifier: MIT */
/* rope_request.h - requests to rope resources from the parameters of golden files. */
#ifndef PE_TESTS_SUPPORT_ROPE_REQUEST_H
#define PE_TESTS_SUPPORT_ROPE_REQUEST_H

#include <jansson.h>

#include "support/client.h"

/** A golden file's parameters under our names: members of a body. Release with json_decref. */
json_t *rope_request_of(const json_t *golden);

/** POST /v1/rope/RESOURCE with the members of request and `more`, text of further members. */
reply rope_request_post(const test_server *server, const char *resource, const json_t *request,
                        const char *more);

#endif
