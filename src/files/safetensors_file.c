/* SPDX-License-Identifier: MIT */
/* safetensors_file.c - a file in the safetensors format. */
#include <stdio.h>
#include <string.h>

#include "files/stored.h"
#include "files/tree.h"

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

/* The numbers of all tensors, and how many a tensor may have. */
typedef struct numbers {
    const unsigned char *data;
    size_t bytes, max_elements;
} numbers;

/* One member of the header. */
static pe_status read_tensor(const char *name, const json_t *row, const numbers *from,
                             pe_stored *out, pe_problem *why)
{
    const json_t *offsets = json_object_get(row, "data_offsets");
    size_t begin = 0, end = 0;
    *out = (pe_stored){0};
    if (strlen(name) >= sizeof out->name)
        return broken("a tensor name is too long:", name, why);
    pe_stored_set_name(out, name, strlen(name));
    if (!json_is_object(row) || !read_shape(json_object_get(row, "shape"), &out->shape))
        return broken("no shape of at most 8 sizes for tensor", name, why);
    const char *type = json_string_value(json_object_get(row, "dtype"));
    if (type == NULL)
        return broken("no dtype for tensor", name, why);
    while (out->dtype < PE_DTYPES && strcmp(type, pe_dtype_safetensors_name(out->dtype)) != 0)
        out->dtype++; /* PE_DTYPES: one that is not read here */
    if (strcmp(type, "C64") == 0 && pe_stored_split_complex(out))
        out->dtype = PE_FLOAT32;
    out->wide = strcmp(type, "I64") == 0;
    if (out->wide)
        out->dtype = PE_INT32;
    if (json_array_size(offsets) != 2 || !take_size(json_array_get(offsets, 0), &begin) ||
        !take_size(json_array_get(offsets, 1), &end) || begin > end || end > from->bytes)
        return broken("no data_offsets inside the file for tensor", name, why);
    out->data = from->data + begin;
    out->bytes = end - begin;
    return out->dtype == PE_DTYPES ? PE_OK
                                   : pe_stored_check_size(out, "the safetensors header",
                                                          end - begin, from->max_elements, why);
}

static pe_status read_header(json_t *header, const numbers *from, pe_stored_list *out,
                             pe_problem *why)
{
    const char *name;
    json_t *row;
    size_t sum = 0;
    out->n = 0;
    if (!json_is_object(header))
        return broken("its header is not a JSON object", "", why);
    json_object_foreach(header, name, row)
    {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        if (out->n == out->room)
            return broken("it holds too many tensors", "", why);
        PE_TRY(read_tensor(name, row, from, &out->tensor[out->n], why));
        const pe_stored *last = &out->tensor[out->n];
        bool overlaps = !pe_size_add(sum, last->bytes, &sum);
        for (const pe_stored *t = out->tensor; t < last; t++)
            overlaps |= last->data < t->data + t->bytes && t->data < last->data + last->bytes;
        if (overlaps)
            return broken("its tensors overlap", "", why);
        out->n++;
    }
    if (out->n == 0)
        return broken("it holds no tensor", "", why);
    return sum == from->bytes ? PE_OK : broken("some of its bytes belong to no tensor", "", why);
}

/* The header, and where the numbers begin. */
static pe_status load_header(pe_slice file, json_t **out, size_t *begin, pe_problem *why)
{
    if (file.bytes < 8)
        return broken("it ends inside its header", "", why);
    const uint64_t length = pe_stored_little(file.text, 8);
    if (length > file.bytes - 8 || length > HEADER_MAX)
        return broken("its header is longer than the file or 1 MiB", "", why);
    *begin = 8 + (size_t)length;
    const pe_slice text = {file.text + 8, (size_t)length};
    const pe_status status = pe_tree_load(text, JSON_REJECT_DUPLICATES, "", out, why);
    char detail[160];
    if (status != PE_MALFORMED_REQUEST)
        return status;
    snprintf(detail, sizeof detail, "%.150s", why->detail);
    return broken(detail, "", why);
}

pe_status pe_safetensors_file_begin(pe_slice head, size_t bytes, size_t max_elements,
                                    pe_stored_list *out, pe_problem *why)
{
    json_t *header = NULL;
    size_t begin = 0;
    PE_TRY(load_header(head, &header, &begin, why));
    const numbers from = {(const unsigned char *)head.text + begin, bytes - begin, max_elements};
    pe_status status = read_header(header, &from, out, why);
    json_decref(header);
    return status;
}

pe_status pe_safetensors_file_read(pe_slice file, size_t max_elements, pe_stored_list *out,
                                   pe_problem *why)
{
    return pe_safetensors_file_begin(file, file.bytes, max_elements, out, why);
}

pe_status pe_safetensors_file_metadata(pe_slice file, const char *key, char **out, pe_problem *why)
{
    json_t *header = NULL;
    size_t begin = 0;
    *out = NULL;
    pe_status status = load_header(file, &header, &begin, why);
    PE_TRY(status);
    const json_t *text = json_object_get(json_object_get(header, "__metadata__"), key);
    if (json_is_string(text)) {
        *out = strdup(json_string_value(text));
        status = *out == NULL ? pe_fail_memory(why) : PE_OK;
    }
    json_decref(header);
    return status;
}
