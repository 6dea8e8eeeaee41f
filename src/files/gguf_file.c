/* SPDX-License-Identifier: MIT */
/* gguf_file.c - the metadata at the head of a GGUF file. */
#include "files/gguf_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/utf8.h"
#include "files/stored.h"

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
    const unsigned char *at = take(h, bytes);
    return at != NULL ? pe_stored_little(at, bytes) : 0;
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

static json_t *real_of(head *h, size_t bytes)
{
    const uint64_t bits = take_integer(h, bytes);
    const uint32_t low = (uint32_t)bits;
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    const double number = bytes == sizeof narrow ? (double)narrow : wide;
    return isfinite(number) ? json_real(number) : json_string(isnan(number) ? "NaN" : "Infinity");
}

/* A number or a truth. NULL: memory ran out. */
static json_t *scalar_of(head *h, enum type type)
{
    if (type == F32 || type == F64)
        return real_of(h, sizes[type]);
    if (type == TRUTH)
        return json_boolean(take_integer(h, 1) != 0);
    const uint64_t number = take_integer(h, sizes[type]);
    const unsigned shift = (unsigned)(64 - 8 * sizes[type]);
    const bool is_signed = type == I8 || type == I16 || type == I32 || type == I64;
    const int64_t extended = (int64_t)(number << shift) >> shift;
    return json_real(is_signed ? (double)extended : (double)number);
}

static enum type take_type(head *h)
{
    const uint64_t type = take_integer(h, 4);
    if (type >= TYPES)
        fail(h, "a GGUF file has values of the types 0 to 12");
    return type < TYPES ? (enum type)type : U8;
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

/* Of texts those that are short; else NULL. */
static json_t *value_of(head *h)
{
    const enum type type = take_type(h);
    if (h->cut || h->status != PE_OK)
        return NULL;
    if (type != TEXT)
        return type == ARRAY ? array_of(h) : scalar_of(h, type);
    const pe_slice text = take_text(h);
    if (h->cut || text.bytes > TEXT_MAX)
        return NULL;
    json_t *value = json_stringn(text.text, text.bytes);
    if (value == NULL)
        fail(h, "texts of a GGUF file must be UTF-8");
    return value;
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

static void read_members(head *h, json_t *object, uint64_t n)
{
    pe_slice key = {"", 0};
    for (uint64_t i = 0; i < n && !h->cut && h->status == PE_OK; i++) {
        const pe_slice next = take_text(h);
        if (!h->cut && (next.bytes == 0 || memchr(next.text, '\0', next.bytes) != NULL ||
                        !pe_utf8_valid(next.text, next.bytes)))
            fail(h, "keys of a GGUF file must be UTF-8 without zero bytes");
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

/* The bytes before the members, and these; *tensors: how many there are of those. */
static pe_status begin(pe_slice file, head *h, json_t **members, uint64_t *tensors)
{
    (void)take(h, 4);
    const uint64_t version = take_integer(h, 4);
    *tensors = take_integer(h, 8);
    const uint64_t n = take_integer(h, 8);
    if (!pe_gguf_file_is(file) || h->cut)
        return pe_fail(h->why, PE_MALFORMED_REQUEST, "",
                       "a GGUF file begins with GGUF, its version and two counts: 24 bytes");
    if (version != 2 && version != 3)
        return pe_fail(h->why, PE_MALFORMED_REQUEST, "",
                       "versions 2 and 3 of GGUF are read, little-endian, got %llu",
                       (unsigned long long)version);
    *members = json_object();
    if (*members == NULL)
        return pe_fail_memory(h->why);
    read_members(h, *members, n);
    return PE_OK;
}

/* ---- tensors ---- */

/* Those that metadata lack are of float32, and their names begin so. */
static const char prefix[] = "rope_";

#define FOUND_MAX 8
#define TYPE_F32  0 /* of tensors, which have types of their own */

typedef struct tensor {
    pe_slice name;
    uint64_t elements, offset; /* behind the place where tensors begin */
    const char *data;          /* NULL: the bytes end before it does */
} tensor;

/* A row of the list; *wanted: it is one of those. */
static tensor take_tensor(head *h, bool *wanted)
{
    tensor row = {.name = take_text(h), .elements = 1};
    const uint64_t axes = take_integer(h, 4);
    if (axes > PE_MAX_DIMS)
        fail(h, "a tensor of a GGUF file has at most 8 axes");
    for (uint64_t d = 0; d < axes && h->status == PE_OK; d++)
        if (!pe_size_mul(row.elements, take_integer(h, 8), &row.elements))
            fail(h, "a tensor of a GGUF file is too large for any file");
    *wanted = take_integer(h, 4) == TYPE_F32 && row.elements <= ARRAY_MAX &&
              row.name.bytes <= KEY_MAX && row.name.bytes >= strlen(prefix) &&
              memcmp(row.name.text, prefix, strlen(prefix)) == 0;
    row.offset = take_integer(h, 8);
    return row;
}

static uint64_t alignment_of(const json_t *members)
{
    const double given = json_number_value(json_object_get(members, "general.alignment"));
    return given >= 1 && given <= 65536 ? (uint64_t)given : 32;
}

/* Reads the list of n tensors, *found of which are wanted. False where the bytes end before the last
 * tensor begins. */
static bool take_tensors(head *h, pe_slice file, const json_t *members, uint64_t n,
                         tensor out[FOUND_MAX], size_t *found)
{
    uint64_t last = 0;
    bool wanted;
    for (*found = 0; n > 0 && !h->cut && h->status == PE_OK; n--) {
        const tensor row = take_tensor(h, &wanted);
        last = row.offset > last ? row.offset : last;
        if (wanted && !h->cut && *found < FOUND_MAX)
            out[(*found)++] = row;
    }
    const uint64_t alignment = alignment_of(members), used = file.bytes - h->left;
    const uint64_t data = (used + alignment - 1) / alignment * alignment;
    const uint64_t room = data <= file.bytes ? file.bytes - data : 0;
    bool whole = !h->cut && last <= room;
    for (size_t t = 0; t < *found; t++) {
        const uint64_t bytes = out[t].elements * sizeof(float);
        const bool there = !h->cut && out[t].offset <= room && bytes <= room - out[t].offset;
        out[t].data = there ? file.text + data + out[t].offset : NULL;
        whole &= there;
    }
    return whole;
}

/* ---- the interface ---- */

pe_status pe_gguf_file_read(pe_slice file, json_t **out, pe_problem *why)
{
    head h = {(const unsigned char *)file.text, file.bytes, false, PE_OK, why};
    tensor tensors[FOUND_MAX];
    json_t *object;
    uint64_t n_tensors;
    size_t found = 0;
    PE_TRY(begin(file, &h, &object, &n_tensors));
    if (h.status == PE_OK && !h.cut)
        (void)take_tensors(&h, file, object, n_tensors, tensors, &found);
    h.cut = false;
    for (size_t t = 0; t < found; t++)
        if (tensors[t].data != NULL) {
            const tensor *from = &tensors[t];
            head numbers = {(const unsigned char *)from->data, from->elements * sizeof(float),
                            .why = h.why};
            json_t *list = json_array();
            int failed = list == NULL;
            for (uint64_t e = 0; e < from->elements; e++)
                failed |= json_array_append_new(list, real_of(&numbers, sizeof(float)));
            if (failed != 0)
                h.status = pe_fail_memory(h.why);
            keep(&h, object, from->name, list);
        }
    if (!json_is_string(json_object_get(object, "general.architecture")))
        fail(&h, "these bytes of a GGUF file have no general.architecture");
    if (h.status == PE_OK)
        *out = object;
    else
        json_decref(object);
    return h.status;
}

pe_status pe_gguf_file_excerpt(pe_slice file, pe_buffer *out, pe_problem *why)
{
    head h = {(const unsigned char *)file.text, file.bytes, false, PE_OK, why};
    tensor tensors[FOUND_MAX];
    json_t *members;
    uint64_t n_tensors;
    size_t found = 0;
    PE_TRY(begin(file, &h, &members, &n_tensors));
    const size_t metadata = file.bytes - h.left;
    if (!take_tensors(&h, file, members, n_tensors, tensors, &found))
        fail(&h, "the GGUF file is cut short: it ends before its last tensor begins");
    if (h.status == PE_OK) {
        const uint64_t alignment = alignment_of(members);
        uint64_t offset = 0;
        pe_buffer_add(out, file.text, 8); /* GGUF and its version */
        pe_buffer_little(out, found, 8);
        pe_buffer_add(out, file.text + 16, metadata - 16);
        for (size_t t = 0; t < found; t++) {
            pe_buffer_little(out, tensors[t].name.bytes, 8);
            pe_buffer_add(out, tensors[t].name.text, tensors[t].name.bytes);
            pe_buffer_little(out, 1, 4);
            pe_buffer_little(out, tensors[t].elements, 8);
            pe_buffer_little(out, TYPE_F32, 4);
            pe_buffer_little(out, offset, 8);
            offset += (tensors[t].elements * sizeof(float) + alignment - 1) / alignment * alignment;
        }
        for (size_t t = 0; t < found; t++) {
            /* Fills up to where tensors begin, or the next one does. */
            while (out->bytes % alignment != 0 && !out->failed)
                pe_buffer_add(out, "", 1);
            pe_buffer_add(out, tensors[t].data, tensors[t].elements * sizeof(float));
        }
    }
    json_decref(members);
    return h.status != PE_OK || !out->failed ? h.status : pe_fail_memory(why);
}
