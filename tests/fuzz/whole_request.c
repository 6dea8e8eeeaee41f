/* SPDX-License-Identifier: MIT */
/*
 * whole_request.c - whole requests without a socket: target, fields and body as a resource's
 * handler gets them, to the bytes of the answer. The library's reading of the header is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "encodings/registry.h"
#include "files/stored.h"
#include "fuzz/targets.h"
#include "http/answer/representation.h"
#include "http/request/request.h"
#include "http/routes.h"
#include "plan/price.h"
#include "tables/tables.h"

/* Small, so that an input takes about a millisecond. */
enum { ELEMENTS_MAX = 1 << 11, WORK_MAX = 1 << 15, ROOM = 16 };

static pe_service *get_service(void)
{
    static pe_service service;
    char *arguments[] = {(char[]){"--config="}, NULL}, *environment[] = {NULL};
    pe_config *config;
    pe_problem why;
    if (service.settings != NULL)
        return &service;
    if (pe_config_read(1, arguments, environment, &config, &why) != PE_OK ||
        pe_tables_make(1 << 20, &service.tables, &why) != PE_OK)
        abort();
    service.config = config;
    service.settings = pe_config_settings(config);
    service.limits = (pe_limits){.max_elements = ELEMENTS_MAX, .max_work = WORK_MAX};
    service.read_limits = (pe_read_limits){
        .max_elements = ELEMENTS_MAX, .max_positions = ELEMENTS_MAX, .max_depth = 32};
    service.max_pixels = 320 * 240;
    return &service;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The first line: "POST /v1/rope/table?head_dim=8". */
static void read_first_line(pe_request *request, pe_slice line)
{
    char *method = fuzz_copy(pe_slice_next(&line, ' '));
    request->target = fuzz_copy(pe_slice_next(&line, ' '));
    pe_target_read_method(request, method);
    pe_target_split(request);
    free(method);
}

/* "Name: value". Fields that no handler reads are left out. */
static void read_field(pe_request *request, pe_slice line)
{
    static const char *const names[PE_HEADERS] = {
#define FIELD_NAME(name, text, once) text,
        PE_HEADER_MAP(FIELD_NAME)
#undef FIELD_NAME
    };
    char *name = fuzz_copy(pe_slice_next(&line, ':'));
    while (line.bytes > 0 && line.text[0] == ' ')
        line = (pe_slice){line.text + 1, line.bytes - 1};
    for (size_t i = 0; i < PE_HEADERS; i++)
        if (strcasecmp(name, names[i]) == 0 && request->joined[i] == NULL)
            request->header[i] = request->joined[i] = fuzz_copy(line);
    free(name);
}

static void read_request(pe_request *request, pe_slice input)
{
    static pe_watch watch;
    *request = (pe_request){.service = get_service(), .watch = &watch};
    read_first_line(request, pe_slice_next(&input, '\n'));
    for (pe_slice line; input.bytes > 0;) {
        line = pe_slice_next(&input, '\n');
        if (line.bytes == 0)
            break;
        read_field(request, line);
    }
    if (input.bytes > 0)
        pe_buffer_add(&request->body, input.text, input.bytes);
}

static void free_request(pe_request *request)
{
    for (size_t i = 0; i < PE_HEADERS; i++)
        free(request->joined[i]);
    pe_buffer_free(&request->body);
    free(request->target);
}

/* ---- promises -------------------------------------------------------------------------------- */

/* What we write, our own readers read. */
static void check_bytes(const pe_representation *representation, const pe_buffer *bytes)
{
    const char *name = representation->rendering.format->name;
    pe_stored tensors[ROOM];
    pe_stored_list list = {.tensor = tensors, .room = ROOM};
    pe_problem why;
    FUZZ_PROMISE(representation->length == UINT64_MAX || representation->length == bytes->bytes);
    FUZZ_PROMISE(bytes->bytes <= representation->length_max);
    if (strcmp(name, "npy") == 0)
        FUZZ_PROMISE(pe_npy_file_read(pe_buffer_slice(bytes), SIZE_MAX, tensors, &why) == PE_OK);
    if (strcmp(name, "safetensors") == 0)
        FUZZ_PROMISE(pe_safetensors_file_read(pe_buffer_slice(bytes), SIZE_MAX, &list, &why) ==
                     PE_OK);
}

/* A part has the bytes of the whole. */
static void check_part(pe_request *request, pe_representation *representation,
                       const pe_buffer *whole)
{
    pe_buffer part;
    pe_problem why;
    pe_range range = {0};
    pe_range_read(request->header[PE_HEADER_RANGE], request->header[PE_HEADER_IF_RANGE],
                  representation->metadata.etag, representation->length, &range);
    if (!representation->metadata.ranges || range.kind != PE_RANGE_PART)
        return;
    FUZZ_PROMISE(pe_representation_render(representation, &range, PE_CODING_IDENTITY, &part, NULL,
                                          &why) == PE_OK);
    FUZZ_PROMISE(part.bytes == range.bytes);
    FUZZ_PROMISE(memcmp(part.data, whole->data + range.first, part.bytes) == 0);
    pe_buffer_free(&part);
}

/* Content-Location gets the same representation, but for a warning that names synonyms: with that the
 * bytes, and so the tag, are others. */
static void check_location(const pe_representation *representation)
{
    const char *location = representation->metadata.location;
    pe_representation *again = NULL;
    pe_problem why;
    pe_request request = {.service = representation->service};
    if (location == NULL)
        return;
    request.target = fuzz_copy(pe_slice_of(location));
    pe_target_split(&request);
    pe_request_parameters parameters = {.binary.string = request.query};
    parameters.resource = pe_registry_route(request.path, &parameters.name);
    FUZZ_PROMISE(parameters.resource == representation->resource);
    FUZZ_PROMISE(pe_representation_make(request.service, &parameters, &again, &why) == PE_OK);
    FUZZ_PROMISE(pe_representation_plan(again, representation->metadata.media_type, &why) == PE_OK);
    const bool same = strcmp(again->metadata.etag, representation->metadata.etag) == 0;
    const bool warns = representation->rendering.format->tells_parameters &&
                       representation->query.synonyms.bytes > 0;
    FUZZ_PROMISE(same != warns);
    pe_representation_free(again);
    free(request.target);
}

/* ---- the story ------------------------------------------------------------------------------- */

/* Those of pe_representation, each within bounds. */
static pe_status answer(pe_request *request, pe_problem *why)
{
    pe_representation *representation = request->representation;
    pe_price price = pe_price_estimate(&representation->query.values);
    pe_buffer whole;
    pe_status status = pe_price_check(price.planning, WORK_MAX, why);
    if (status == PE_OK)
        status = pe_representation_plan(representation, request->header[PE_HEADER_ACCEPT], why);
    if (status == PE_OK)
        status = pe_price_check(representation->work, WORK_MAX, why);
    if (status != PE_OK)
        return status;
    check_location(representation);
    if (representation->length_max > WORK_MAX * 32)
        return PE_OK;
    status = pe_representation_render(representation, NULL, PE_CODING_IDENTITY, &whole, NULL, why);
    FUZZ_PROMISE(status == PE_OK);
    check_bytes(representation, &whole);
    check_part(request, representation, &whole);
    pe_buffer_free(&whole);
    return PE_OK;
}

static pe_status make_and_answer(pe_request *request, pe_problem *why)
{
    pe_request_parameters parameters;
    const bool binary = request->resource->kind == PE_TRANSFORM;
    pe_accept_encoding_read(request->header[PE_HEADER_ACCEPT_ENCODING], false, &request->codings);
    pe_status status = pe_parameters_find(request, binary, &parameters, why);
    if (status == PE_OK)
        status =
            pe_representation_make(request->service, &parameters, &request->representation, why);
    if (status == PE_OK)
        status = answer(request, why);
    return status;
}

void fuzz_request(pe_slice input)
{
    pe_request request;
    pe_problem why = {0};
    read_request(&request, input);
    pe_route_find(&request);
    if (request.resource != NULL && (request.route->methods & request.method) != 0 &&
        make_and_answer(&request, &why) != PE_OK)
        fuzz_check_problem(&why, request.path, request.json_body);
    pe_representation_free(request.representation);
    free_request(&request);
}
