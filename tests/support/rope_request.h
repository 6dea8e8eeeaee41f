/* SPDX-License-Identifier: MIT */
/* rope_request.h - requests to rope resources from the parameters of golden files. */
#ifndef PE_TESTS_SUPPORT_ROPE_REQUEST_H
#define PE_TESTS_SUPPORT_ROPE_REQUEST_H

#include <jansson.h>

#include "support/client.h"

/** The golden files of rope frequencies, tables and rotations. */
#define ROPE_REQUEST_FILES 24
extern const char *const rope_request_files[ROPE_REQUEST_FILES];

/** A parameter of the file: neutral, or as a model's configuration within it has it. NULL: none. */
const json_t *rope_request_param(const json_t *golden, const char *name);

/** A golden file's parameters under our names: members of a body. Release with json_decref. */
json_t *rope_request_of(const json_t *golden);

/** POST /v1/rope/RESOURCE with the members of request and `more`, text of further members. */
reply rope_request_post(const test_server *server, const char *resource, const json_t *request,
                        const char *more);

#endif
