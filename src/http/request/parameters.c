/* SPDX-License-Identifier: MIT */
/* parameters.c - where a request's parameters are: in its query, its body, or both. */
#include "http/request/parameters.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define JSON   "application/json"
#define BINARY "application/x-npy, application/vnd.safetensors, application/octet-stream"

static const char *const accepted[] = {
    [PE_BODY_JSON] = JSON,
    [PE_BODY_MODEL] = JSON ", application/octet-stream",
    [PE_BODY_TENSORS] = JSON ", " BINARY,
    [PE_BODY_UPLOAD] = JSON ", " BINARY ", multipart/form-data",
};

/* The media type without parameters, lower case; "" when it does not fit. */
static void media_type(const char *content_type, char *out, size_t room)
{
    size_t bytes = strcspn(content_type, "; \t");
    if (bytes >= room)
        bytes = 0;
    for (size_t i = 0; i < bytes; i++)
        out[i] =
            (char)(content_type[i] | (content_type[i] >= 'A' && content_type[i] <= 'Z' ? 32 : 0));
    out[bytes] = '\0';
}

/* One of the types that are read, as a constant, or NULL. */
static const char *known_type(const pe_request *request, pe_body_types types)
{
    static const char *const known[] = {"application/json", "application/x-npy",
                                        "application/vnd.safetensors", "application/octet-stream"};
    const char *header = request->header[PE_HEADER_CONTENT_TYPE];
    size_t n = types >= PE_BODY_TENSORS ? PE_LEN(known) : 1;
    char given[64];
    media_type(header != NULL ? header : "", given, sizeof given);
    for (size_t i = 0; i < n; i++)
        if (strcmp(given, known[i]) == 0)
            return known[i];
    return NULL;
}

/* The type of a file of tensors, as it begins; of others `otherwise`. */
static const char *type_of_file(const pe_request *request, pe_body_types types,
                                const char *otherwise)
{
    static const struct {
        size_t at;
        const char *word, *type;
    } signs[] = {{0, "\x93NUMPY", "application/x-npy"},
                 {0, "PK\x03\x04", "application/x-npy"}, /* .npz */
                 {8, "{\"", "application/vnd.safetensors"}};
    const pe_buffer *body = &request->body;
    for (size_t k = 0; k < PE_LEN(signs); k++) {
        const size_t bytes = strlen(signs[k].word);
        if (strstr(accepted[types], signs[k].type) != NULL && body->bytes >= signs[k].at + bytes &&
            body->data[0] != '{' && memcmp(body->data + signs[k].at, signs[k].word, bytes) == 0)
            return signs[k].type;
    }
    return otherwise;
}

/* What to do about the type: curl has one of its own for a body where nobody tells it what that
 * is, and who sends no body has parameters in the query. */
static void hint(const pe_request *request, pe_body_types types, char *out, size_t room)
{
    static const char form[] = "application/x-www-form-urlencoded";
    const char *type = request->header[PE_HEADER_CONTENT_TYPE];
    if (type != NULL && strncasecmp(type, form, strlen(form)) == 0)
        snprintf(out, room, ", which curl sends unless it is told: add -H 'Content-Type: %s'",
                 type_of_file(request, types, JSON));
    if (type == NULL && request->body.bytes == 0 && types == PE_BODY_JSON)
        snprintf(out, room, "; POST reads a JSON object, GET the query");
}

/* The content coding, or where there is none the type, is not read. */
static pe_status unsupported(const pe_request *request, pe_body_types types, const char *coding,
                             pe_problem *why)
{
    const char *accepts = accepted[types];
    const char *type = request->header[PE_HEADER_CONTENT_TYPE];
    char what[120] = "";
    hint(request, types, what, sizeof what);
    if (coding != NULL)
        pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "",
                "a body must come without Content-Encoding, got %.100s", coding);
    else
        pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "Content-Type must be %s%s, got %.100s%s",
                types != PE_BODY_JSON ? "one of " : "", accepts, type != NULL ? type : "none",
                what);
    snprintf(why->allow, sizeof why->allow, "%s", accepts);
    return PE_UNSUPPORTED_MEDIA_TYPE;
}

static pe_status check_type(const pe_request *request, pe_body_types types, const char **type,
                            pe_problem *why)
{
    const char *coding = request->header[PE_HEADER_CONTENT_ENCODING];
    if (coding != NULL && strcasecmp(coding, "identity") != 0)
        return unsupported(request, types, coding, why);
    *type = known_type(request, types);
    if (*type == NULL)
        return unsupported(request, types, NULL, why);
    /* bytes of any kind: plain numbers have fields that describe them */
    if (strcmp(*type, "application/octet-stream") == 0 &&
        request->header[PE_HEADER_X_TENSOR_SHAPE] == NULL &&
        request->header[PE_HEADER_X_TENSOR_DTYPE] == NULL)
        *type = type_of_file(request, types, *type);
    return PE_OK;
}

pe_status pe_parameters_json_only(const pe_request *request, pe_body_types types, pe_problem *why)
{
    const char *type;
    return check_type(request, types, &type, why);
}

/* What the header says of a body that holds the parameters, or tensors beside those of the
 * query. */
static pe_status read_body(pe_request *request, pe_body_types types, pe_request_parameters *out,
                           pe_problem *why)
{
    const pe_status status = check_type(request, types, &out->media_type, why);
    if (status != PE_OK)
        return status;
    request->json_body = strcmp(out->media_type, JSON) == 0;
    if (request->json_body && request->query_bytes > 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "parameters belong either in the JSON body or in the query, not in both");
    out->body = &request->body;
    out->shape = request->header[PE_HEADER_X_TENSOR_SHAPE];
    out->dtype = request->header[PE_HEADER_X_TENSOR_DTYPE];
    return PE_OK;
}

pe_status pe_parameters_find(pe_request *request, pe_body_types types, pe_request_parameters *out,
                             pe_problem *why)
{
    *out = (pe_request_parameters){
        .resource = request->resource,
        .name = request->path_name,
        .name_bytes = request->path_name_bytes,
        .query = request->query,
        .query_bytes = request->query_bytes,
    };
    return request->method == PE_METHOD_POST ? read_body(request, types, out, why) : PE_OK;
}
