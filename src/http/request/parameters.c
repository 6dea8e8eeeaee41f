/* SPDX-License-Identifier: MIT */
/* parameters.c - where a request's parameters are: in its query, its body, or both. */
#include "http/request/parameters.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "files/gguf_file.h"

#define JSON   "application/json"
#define BINARY "application/x-npy, application/vnd.safetensors, application/octet-stream"

static const char *const accepted[] = {
    [PE_BODY_JSON] = JSON,
    [PE_BODY_MODEL] = JSON ", application/octet-stream",
    [PE_BODY_TENSORS] = JSON ", " BINARY,
    [PE_BODY_UPLOAD] = JSON ", " BINARY ", text/csv, multipart/form-data",
};

static const char form[] = "application/x-www-form-urlencoded";

/* The media type without parameters, lower case; "" when it is absent or does not fit. */
static void given_type(const pe_request *request, char *out, size_t room)
{
    const char *header = request->header[PE_HEADER_CONTENT_TYPE];
    size_t bytes = header != NULL ? strcspn(header, "; \t") : 0;
    if (bytes >= room)
        bytes = 0;
    for (size_t i = 0; i < bytes; i++)
        out[i] = (char)tolower((unsigned char)header[i]);
    out[bytes] = '\0';
}

/* The type of a body as it begins, of those that are read; NULL: none. */
static const char *type_of_content(const pe_request *request, pe_body_types types)
{
    const char *type = pe_binary_body_type(pe_buffer_slice(&request->body));
    return type != NULL && strstr(accepted[types], type) != NULL ? type : NULL;
}

/* One of the types that are read, as a constant, or NULL. */
static const char *known_type(const pe_request *request, pe_body_types types)
{
    static const struct {
        const char *name, *type;
        pe_body_types least;
    } known[] = {{JSON, JSON, PE_BODY_JSON},
                 {"application/x-npy", "application/x-npy", PE_BODY_TENSORS},
                 {"application/zip", "application/x-npy", PE_BODY_TENSORS}, /* .npz */
                 {"application/vnd.safetensors", "application/vnd.safetensors", PE_BODY_TENSORS},
                 {"application/octet-stream", "application/octet-stream", PE_BODY_TENSORS},
                 {"text/csv", "text/csv", PE_BODY_UPLOAD}};
    char given[64];
    given_type(request, given, sizeof given);
    for (size_t i = 0; i < PE_LEN(known); i++)
        if (types >= known[i].least && strcmp(given, known[i].name) == 0)
            return known[i].type;
    /* By these a client says nothing of the body; curl sends the last one unless it is told. */
    const bool silent =
        given[0] == '\0' || strcmp(given, "text/plain") == 0 || strcmp(given, form) == 0;
    return silent ? type_of_content(request, types) : NULL;
}

/* Fields of a form, which stand for a query: "d_model=4&positions=0:3". */
static bool is_query(const pe_request *request)
{
    char given[64];
    const pe_slice body = pe_buffer_slice(&request->body);
    const char *equals = body.bytes > 0 ? memchr(body.text, '=', body.bytes) : NULL;
    given_type(request, given, sizeof given);
    for (const char *c = body.text; equals != NULL && c < equals; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return equals != NULL && equals > body.text && strcmp(given, form) == 0;
}

/* The content coding, or where there is none the type, is not read. What to do about the type: curl
 * has one of its own for a body where nobody tells it what that is, and who sends no body has
 * parameters in the query. */
static pe_status unsupported(const pe_request *request, pe_body_types types, const char *coding,
                             pe_problem *why)
{
    const char *type = request->header[PE_HEADER_CONTENT_TYPE], *hint = "";
    if (type != NULL && strncasecmp(type, form, strlen(form)) == 0)
        hint = types >= PE_BODY_TENSORS
                   ? ", which curl sends unless it is told: plain numbers want -H 'Content-Type: "
                     "application/octet-stream' -H 'X-Tensor-Shape: 16,64' -H 'X-Tensor-Dtype: "
                     "float32', with your shape"
                   : ", which curl sends unless it is told: add -H 'Content-Type: " JSON "'";
    if (type == NULL && request->body.bytes == 0 && types == PE_BODY_JSON)
        hint = "; POST reads a JSON object, GET the query";
    if (coding != NULL)
        pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "",
                "a body must come without Content-Encoding, got %.100s", coding);
    else
        pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "Content-Type must be %s%s, got %.100s%s",
                types != PE_BODY_JSON ? "one of " : "", accepted[types],
                type != NULL ? type : "none", hint);
    snprintf(why->allow, sizeof why->allow, "%s", accepted[types]);
    return PE_UNSUPPORTED_MEDIA_TYPE;
}

static pe_status check_type(const pe_request *request, pe_body_types types, const char **type,
                            pe_problem *why)
{
    const char *coding = request->header[PE_HEADER_CONTENT_ENCODING];
    if (coding != NULL && strcasecmp(coding, "identity") != 0)
        return unsupported(request, types, coding, why);
    if (types >= PE_BODY_TENSORS && request->header[PE_HEADER_X_TENSOR_SHAPE] == NULL &&
        pe_pickle_is(pe_buffer_slice(&request->body))) {
        (void)pe_pickle_fail(why);
        snprintf(why->allow, sizeof why->allow, "%s", accepted[types]);
        return PE_UNSUPPORTED_MEDIA_TYPE;
    }
    *type = known_type(request, types);
    if (*type == NULL)
        return unsupported(request, types, NULL, why);
    /* bytes of any kind: plain numbers have fields that describe them */
    if (strcmp(*type, "application/octet-stream") == 0 &&
        request->header[PE_HEADER_X_TENSOR_SHAPE] == NULL &&
        request->header[PE_HEADER_X_TENSOR_DTYPE] == NULL) {
        const char *content = type_of_content(request, types);
        *type = content != NULL && strcmp(content, JSON) != 0 ? content : *type;
    }
    return PE_OK;
}

/* What a form holds becomes the body: its configuration, or its fields as a query. */
static pe_status unwrap(pe_request *request, pe_body_types types, pe_problem *why)
{
    pe_multipart parts;
    pe_buffer *body = &request->body;
    PE_TRY(pe_multipart_read(request->header[PE_HEADER_CONTENT_TYPE], pe_buffer_slice(body), &parts,
                             why));
    const bool fits = types == PE_BODY_MODEL ? parts.config.text != NULL && parts.gguf.text == NULL
                                             : parts.config.text == NULL && parts.query.bytes > 0;
    if (fits && parts.tensors.data == NULL && types == PE_BODY_MODEL) {
        memmove(body->data, parts.config.text, parts.config.bytes);
        body->bytes = parts.config.bytes;
    } else if (fits && parts.tensors.data == NULL) {
        pe_buffer_free(body);
        *body = parts.query;
        body->bytes--; /* the last '&' */
        return PE_OK;
    }
    pe_buffer_free(&parts.query);
    if (fits && parts.tensors.data == NULL)
        return PE_OK;
    return pe_fail(why, PE_MALFORMED_REQUEST, "",
                   types == PE_BODY_MODEL ? "a form must have one file: a configuration, in a file "
                                            ".json or .gguf, or in a part named config"
                                          : "a form must have parameters, and no file");
}

static bool is_form(const pe_request *request)
{
    return pe_multipart_is(request->header[PE_HEADER_CONTENT_TYPE]) &&
           request->header[PE_HEADER_CONTENT_ENCODING] == NULL;
}

pe_status pe_parameters_configuration(pe_request *request, pe_problem *why)
{
    const char *type = request->header[PE_HEADER_CONTENT_TYPE];
    if (is_form(request))
        return unwrap(request, PE_BODY_MODEL, why);
    if (pe_gguf_file_is(pe_buffer_slice(&request->body)))
        return PE_OK;
    if (type != NULL && strcasecmp(type, "application/octet-stream") == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the body is no GGUF file, which begins with the bytes GGUF; a "
                       "configuration is sent as application/json");
    return check_type(request, PE_BODY_MODEL, &type, why);
}

/* A body holds the parameters, or tensors beside those of the query. */
pe_status pe_parameters_find(pe_request *request, pe_body_types types, pe_request_parameters *out,
                             pe_problem *why)
{
    *out = (pe_request_parameters){
        .resource = request->resource,
        .name = request->path_name,
        .binary.string = request->query,
    };
    if (request->method != PE_METHOD_POST)
        return PE_OK;
    if (types == PE_BODY_JSON && is_form(request))
        PE_TRY(unwrap(request, types, why));
    if (types == PE_BODY_JSON && (is_query(request) || is_form(request))) {
        if (request->query.bytes > 0)
            return pe_fail(why, PE_MALFORMED_REQUEST, "",
                           "parameters belong either in the body or in the query, not in both");
        out->binary.string = pe_buffer_slice(&request->body);
        return PE_OK;
    }
    PE_TRY(check_type(request, types, &out->binary.media_type, why));
    request->json_body = out->json = strcmp(out->binary.media_type, JSON) == 0;
    if (request->json_body && request->query.bytes > 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "parameters belong either in the JSON body or in the query, not in both");
    out->body = &request->body;
    out->binary.shape = request->header[PE_HEADER_X_TENSOR_SHAPE];
    out->binary.dtype = request->header[PE_HEADER_X_TENSOR_DTYPE];
    out->binary.data = request->body.data;
    out->binary.bytes = request->body.bytes;
    return PE_OK;
}
