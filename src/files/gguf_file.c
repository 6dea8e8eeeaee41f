/* SPDX-License-Identifier: MIT */
/* gguf_file.c - the metadata at the head of a GGUF file. */
#include "files/gguf_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/utf8.h"

/* What is kept: texts and keys of so many bytes, arrays of so many items, so many keys. */
#define TEXT_MAX  256
#define KEY_MAX   128
#define ARRAY_MAX 1024
#define KEYS_MAX  512

enum type { U8, I8, U16, I16, U32, I32, F32, TRUTH, TEXT, ARRAY, U64, I64, F64, TYPES };

static const size_t sizes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* Reading under way. */
typedef struct head {
    const unsigned char *at;
    size_t left;
    bool cut; /* the bytes have ended */
    pe_status status;
    pe_problem *why;
} head;

static const unsigned char *take(head *h, uint64_t bytes)
{
    const unsigned char *at = h->at;
    if (bytes > h->left) {
        h->cut = true;
        h->left = 0;
        return NULL;
    }
    h->at += bytes;
    h->left -= (size_t)bytes;
    return at;
}

/* 0 where the bytes have ended. */
static uint64_t take_integer(head *h, size_t bytes)
{
    uint64_t number = 0;
    const unsigned char *at = take(h, bytes);
    for (size_t i = bytes; at != NULL && i-- > 0;)
        number = number << 8 | at[i];
    return number;
}

static pe_slice take_text(head *h)
{
    const uint64_t bytes = take_integer(h, 8);
    const unsigned char *at = take(h, bytes);
    return (pe_slice){at != NULL ? (const char *)at : "", at != NULL ? (size_t)bytes : 0};
}

static void fail(head *h, const char *detail)
{
    if (h->status == PE_OK)
        h->status = pe_fail(h->why, PE_MALFORMED_REQUEST, "", "%s", detail);
}

/* ---- values ---- */

static json_t *number_of(double number)
{
    return isfinite(number) ? json_real(number) : json_string(isnan(number) ? "NaN" : "Infinity");
}

static json_t *real_of(head *h, size_t bytes)
{
    const uint64_t bits = take_integer(h, bytes);
    const uint32_t low = (uint32_t)bits;
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return number_of(bytes == sizeof narrow ? (double)narrow : wide);
}

static json_t *integer_of(head *h, enum type type)
{
    const uint64_t number = take_integer(h, sizes[type]);
    const unsigned shift = (unsigned)(64 - 8 * sizes[type]);
    const bool is_signed = type == I8 || type == I16 || type == I32 || type == I64;
    const int64_t extended = (int64_t)(number << shift) >> shift;
    return json_real(is_signed ? (double)extended : (double)number);
}

/* A number or a truth. NULL: memory ran out. */
static json_t *scalar_of(head *h, enum type type)
{
    if (type == F32 || type == F64)
        return real_of(h, sizes[type]);
    if (type == TRUTH)
        return json_boolean(take_integer(h, 1) != 0);
    return integer_of(h, type);
}

static enum type take_type(head *h)
{
    const uint64_t type = take_integer(h, 4);
    if (type >= TYPES)
        fail(h, "a GGUF file has values of the types 0 to 12");
    return type < TYPES ? (enum type)type : U8;
}

/* A text that is short; else NULL. */
static json_t *text_of(head *h)
{
    const pe_slice text = take_text(h);
    if (h->cut || text.bytes > TEXT_MAX)
        return NULL;
    json_t *value = json_stringn(text.text, text.bytes);
    if (value == NULL)
        fail(h, "texts of a GGUF file must be UTF-8");
    return value;
}

/* A short array of numbers or truths; else NULL, and its bytes are passed over. */
static json_t *array_of(head *h)
{
    const enum type type = take_type(h);
    const uint64_t n = take_integer(h, 8);
    if (type == ARRAY)
        fail(h, "arrays of arrays are not read of a GGUF file");
    if (type == TEXT) {
        for (uint64_t i = 0; i < n && !h->cut; i++)
            (void)take_text(h);
        return NULL;
    }
    if (n > ARRAY_MAX || type == ARRAY) {
        (void)take(h, n > UINT64_MAX / 8 ? UINT64_MAX : n * sizes[type]);
        return NULL;
    }
    json_t *list = json_array();
    int failed = list == NULL;
    for (uint64_t i = 0; i < n && !h->cut; i++)
        failed |= json_array_append_new(list, scalar_of(h, type));
    if (failed != 0)
        h->status = pe_fail_memory(h->why);
    return list;
}

static json_t *value_of(head *h)
{
    const enum type type = take_type(h);
    if (h->cut || h->status != PE_OK)
        return NULL;
    return type == TEXT ? text_of(h) : type == ARRAY ? array_of(h) : scalar_of(h, type);
}

/* ---- members ---- */

static void keep(head *h, json_t *object, pe_slice key, json_t *value)
{
    char name[KEY_MAX + 1];
    if (value == NULL || h->cut || h->status != PE_OK || key.bytes > KEY_MAX ||
        json_object_size(object) >= KEYS_MAX) {
        json_decref(value);
        return;
    }
    memcpy(name, key.text, key.bytes);
    name[key.bytes] = '\0';
    if (json_object_get(object, name) != NULL) {
        json_decref(value);
        fail(h, "a GGUF file has each key once");
    } else if (json_object_set_new(object, name, value) != 0) {
        h->status = pe_fail_memory(h->why);
    }
}

/* The key of a member; h->cut where it is not whole. */
static pe_slice take_key(head *h)
{
    const pe_slice key = take_text(h);
    if (!h->cut && (key.bytes == 0 || memchr(key.text, '\0', key.bytes) != NULL ||
                    !pe_utf8_valid(key.text, key.bytes)))
        fail(h, "keys of a GGUF file must be UTF-8 without zero bytes");
    return key;
}

static void read_members(head *h, json_t *object, uint64_t n)
{
    pe_slice key = {"", 0};
    for (uint64_t i = 0; i < n && !h->cut && h->status == PE_OK; i++) {
        const pe_slice next = take_key(h);
        if (h->cut || h->status != PE_OK)
            break;
        key = next;
        keep(h, object, key, value_of(h));
    }
    if (h->status == PE_OK && h->cut &&
        json_object_set_new(object, "", json_stringn(key.text, pe_size_min(key.bytes, KEY_MAX))) !=
            0)
        fail(h, "keys of a GGUF file must be UTF-8 of at most 128 bytes");
}

bool pe_gguf_file_is(pe_slice file)
{
    return file.bytes >= 4 && memcmp(file.text, "GGUF", 4) == 0;
}

/* The bytes before the members; *n: how many of these there are. */
static pe_status begin(pe_slice file, head *h, uint64_t *n, uint64_t *tensors)
{
    (void)take(h, 4);
    const uint64_t version = take_integer(h, 4);
    *tensors = take_integer(h, 8);
    *n = take_integer(h, 8);
    if (!pe_gguf_file_is(file) || h->cut)
        return pe_fail(h->why, PE_MALFORMED_REQUEST, "",
                       "a GGUF file begins with GGUF, its version and two counts: 24 bytes");
    if (version != 2 && version != 3)
        return pe_fail(h->why, PE_MALFORMED_REQUEST, "",
                       "versions 2 and 3 of GGUF are read, little-endian, got %llu",
                       (unsigned long long)version);
    return PE_OK;
}

pe_status pe_gguf_file_read(pe_slice file, json_t **out, pe_problem *why)
{
    head h = {(const unsigned char *)file.text, file.bytes, false, PE_OK, why};
    uint64_t n, tensors;
    PE_TRY(begin(file, &h, &n, &tensors));
    json_t *object = json_object();
    if (object == NULL)
        return pe_fail_memory(why);
    read_members(&h, object, n);
    if (!json_is_string(json_object_get(object, "general.architecture")))
        fail(&h, "these bytes of a GGUF file have no general.architecture");
    if (h.status == PE_OK)
        *out = object;
    else
        json_decref(object);
    return h.status;
}

/* ---- tensors ---- */

#define TYPE_F32 0 /* of tensors, which have types of their own */

/* A row of the list; `data` is told as an offset, until it is known where tensors begin. */
static void take_tensor(head *h, pe_stored *out, uint64_t *offset, bool *is_float32)
{
    const pe_slice name = take_text(h);
    *out =
        (pe_stored){.dtype = PE_FLOAT32, .shape.ndim = (size_t)take_integer(h, 4), .elements = 1};
    snprintf(out->name, sizeof out->name, "%.*s",
             (int)pe_size_min(name.bytes, sizeof out->name - 1), name.text);
    if (out->shape.ndim > PE_MAX_DIMS)
        fail(h, "a tensor of a GGUF file has at most 8 axes");
    for (size_t d = 0; d < out->shape.ndim && h->status == PE_OK; d++) {
        out->shape.dim[d] = (size_t)take_integer(h, 8);
        if (!pe_size_mul(out->elements, out->shape.dim[d], &out->elements))
            fail(h, "a tensor of a GGUF file is too large for any file");
    }
    *is_float32 = take_integer(h, 4) == TYPE_F32;
    *offset = take_integer(h, 8);
}

/* Tensors begin behind the list, at a multiple of general.alignment. */
static pe_status place(head *h, pe_slice file, const json_t *members, uint64_t last,
                       const uint64_t *offsets, pe_stored_list *out)
{
    const double given = json_number_value(json_object_get(members, "general.alignment"));
    const uint64_t alignment = given >= 1 && given <= 65536 ? (uint64_t)given : 32;
    const uint64_t used = file.bytes - h->left;
    const uint64_t data = (used + alignment - 1) / alignment * alignment;
    bool there = data <= file.bytes && last <= file.bytes - data;
    for (size_t t = 0; t < out->n && there; t++) {
        pe_stored *tensor = &out->tensor[t];
        there = pe_size_mul(tensor->elements, sizeof(float), &tensor->bytes) &&
                offsets[t] <= file.bytes - data && tensor->bytes <= file.bytes - data - offsets[t];
        tensor->data = (const unsigned char *)file.text + (there ? data + offsets[t] : 0);
    }
    return there ? PE_OK
                 : pe_fail(h->why, PE_MALFORMED_REQUEST, "",
                           "the GGUF file is cut short: it ends before its last tensor begins");
}

#define FOUND_MAX 8

pe_status pe_gguf_file_tensors(pe_slice file, const char *prefix, size_t *metadata_bytes,
                               pe_stored_list *out, pe_problem *why)
{
    head h = {(const unsigned char *)file.text, file.bytes, false, PE_OK, why};
    uint64_t n, tensors, last = 0, offset, offsets[FOUND_MAX];
    bool is_float32;
    PE_TRY(begin(file, &h, &n, &tensors));
    json_t *members = json_object();
    if (members == NULL)
        return pe_fail_memory(why);
    read_members(&h, members, n);
    *metadata_bytes = file.bytes - h.left;
    for (out->n = 0; tensors > 0 && !h.cut && h.status == PE_OK; tensors--) {
        pe_stored tensor;
        take_tensor(&h, &tensor, &offset, &is_float32);
        last = offset > last ? offset : last;
        if (!is_float32 || strncmp(tensor.name, prefix, strlen(prefix)) != 0 ||
            out->n == out->room || out->n == FOUND_MAX)
            continue;
        offsets[out->n] = offset;
        out->tensor[out->n++] = tensor;
    }
    if (h.cut)
        fail(&h, "the GGUF file is cut short: it ends within its metadata or list of tensors");
    const pe_status status =
        h.status != PE_OK ? h.status : place(&h, file, members, last, offsets, out);
    json_decref(members);
    return status;
}
