/* SPDX-License-Identifier: MIT */
/* body_safetensors.c - a body in the safetensors format. */
#include <string.h>

#include "api/body.h"
#include "api/tree.h"

/* A header of ours is a few hundred bytes. */
#define HEADER_MAX ((size_t)1 << 20)

static pe_status broken(const char *what, const char *name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "not a safetensors file: %s%s%.40s", what,
                   name[0] != '\0' ? " " : "", name);
}

static bool take_size(const json_t *value, size_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (size_t)json_integer_value(value);
    return true;
}

static bool read_shape(const json_t *array, pe_shape *out)
{
    *out = (pe_shape){.ndim = json_array_size(array)};
    if (!json_is_array(array) || out->ndim > PE_MAX_DIMS)
        return false;
    for (size_t i = 0; i < out->ndim; i++)
        if (!take_size(json_array_get(array, i), &out->dim[i]))
            return false;
    return true;
}

static bool read_dtype(const json_t *value, pe_dtype *out)
{
    static const char *const names[PE_DTYPES] = {[PE_FLOAT32] = "F32",
                                                 [PE_FLOAT64] = "F64",
                                                 [PE_FLOAT16] = "F16",
                                                 [PE_BFLOAT16] = "BF16",
                                                 [PE_INT32] = "I32"};
    for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++)
        if (json_is_string(value) && strcmp(json_string_value(value), names[dtype]) == 0) {
            *out = dtype;
            return true;
        }
    return false;
}

/* One member of the header; the numbers are in [data, data + bytes). */
static pe_status read_tensor(const char *name, const json_t *row, const unsigned char *data,
                             size_t bytes, size_t max_elements, pe_body_tensor *out,
                             pe_problem *why)
{
    const json_t *offsets = json_object_get(row, "data_offsets");
    size_t begin = 0, end = 0;
    *out = (pe_body_tensor){0};
    if (strlen(name) >= sizeof out->name)
        return broken("too long a tensor name:", name, why);
    memcpy(out->name, name, strlen(name) + 1);
    if (!json_is_object(row) || !read_shape(json_object_get(row, "shape"), &out->shape))
        return broken("no shape of at most 8 sizes for tensor", name, why);
    if (!read_dtype(json_object_get(row, "dtype"), &out->dtype))
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "the element type of tensor %s must be one of F32, F64, F16, BF16, I32",
                       name);
    if (json_array_size(offsets) != 2 || !take_size(json_array_get(offsets, 0), &begin) ||
        !take_size(json_array_get(offsets, 1), &end) || begin > end || end > bytes)
        return broken("no data_offsets inside the file for tensor", name, why);
    out->data = data + begin;
    return pe_body_check_size(out, "the safetensors header", end - begin, max_elements, why);
}

static pe_status read_header(json_t *header, const unsigned char *data, size_t bytes,
                             size_t max_elements, pe_body_tensor *tensors, size_t *n,
                             pe_problem *why)
{
    const char *name;
    json_t *row;
    size_t sum = 0;
    *n = 0;
    json_object_foreach(header, name, row)
    {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        if (*n == PE_BODY_TENSORS_MAX)
            return broken("more tensors than any resource takes", "", why);
        pe_body_tensor *tensor = &tensors[*n];
        pe_status status = read_tensor(name, row, data, bytes, max_elements, tensor, why);
        if (status != PE_OK)
            return status;
        if (!pe_size_add(sum, tensor->elements * pe_dtype_bytes(tensor->dtype), &sum))
            return broken("its tensors overlap", "", why);
        (*n)++;
    }
    if (*n == 0)
        return broken("it holds no tensor", "", why);
    return sum == bytes ? PE_OK
                        : broken("its tensors do not fill it: some bytes are missing, left over or "
                                 "shared",
                                 "", why);
}

/* Source  huggingface/safetensors: README.md ("Format"). */
pe_status pe_body_safetensors(const pe_binary_body *body, size_t max_elements,
                              pe_body_tensor *tensors, size_t *n, pe_problem *why)
{
    const unsigned char *data = body->data;
    uint64_t length = 0;
    if (body->bytes < 8)
        return broken("it ends inside its header", "", why);
    for (size_t i = 8; i-- > 0;)
        length = length << 8 | data[i];
    if (length > body->bytes - 8 || length > HEADER_MAX)
        return broken("its header is longer than the file or 1 MiB", "", why);

    json_t *header = NULL;
    const pe_slice text = {(const char *)data + 8, (size_t)length};
    pe_status status = pe_tree_load(text, JSON_REJECT_DUPLICATES, "", &header, why);
    if (status != PE_OK)
        return status;
    if (!json_is_object(header)) {
        json_decref(header);
        return broken("its header is not a JSON object", "", why);
    }
    status = read_header(header, data + 8 + length, body->bytes - 8 - (size_t)length, max_elements,
                         tensors, n, why);
    json_decref(header);
    return status;
}
