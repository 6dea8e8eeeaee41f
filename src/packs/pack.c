/* SPDX-License-Identifier: MIT */
/* pack.c - golden packs: numbers of several resources in one safetensors file. */
#include "packs/pack.h"

#include <jansson.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "encodings/registry.h"
#include "text/json_write.h"

/* The recipes and their number, from packs_data.S. */
extern const pe_pack_recipe pe_pack_table[];
extern const size_t pe_pack_length;

/* Positions of an item, and nesting of a body. */
#define POSITIONS_MAX ((size_t)4096)
#define DEPTH_MAX     16

const pe_pack_recipe *pe_pack_recipes(size_t *n)
{
    *n = pe_pack_length;
    return pe_pack_table;
}

const pe_pack_recipe *pe_pack_find(const char *name, size_t bytes)
{
    for (size_t i = 0; i < pe_pack_length; i++)
        if (strlen(pe_pack_table[i].name) == bytes &&
            memcmp(pe_pack_table[i].name, name, bytes) == 0)
            return &pe_pack_table[i];
    return NULL;
}

/* ---- tensors ---- */

static const char *const types[PE_DTYPES] = {[PE_FLOAT32] = "F32",
                                             [PE_FLOAT64] = "F64",
                                             [PE_FLOAT16] = "F16",
                                             [PE_BFLOAT16] = "BF16",
                                             [PE_INT32] = "I32"};

/* A pack under way: the header's rows, and the numbers behind it. */
typedef struct making {
    struct pe_tables *tables;
    const pe_limits *limits;
    pe_buffer rows, data;
    size_t tensors;
} making;

static void put_row(making *m, const char *name, pe_dtype dtype, const pe_shape *shape,
                    size_t bytes)
{
    pe_buffer *out = &m->rows;
    pe_buffer_str(out, ",");
    pe_buffer_json_string(out, name);
    pe_buffer_str(out, ":{");
    pe_json_write_text(out, "dtype", types[dtype]);
    pe_json_write_counts(out, "shape", shape->dim, shape->ndim);
    pe_json_write_counts(out, "data_offsets",
                         (const size_t[]){m->data.bytes, m->data.bytes + bytes}, 2);
    pe_buffer_str(out, "}");
    m->tensors++;
}

static pe_status add_tensor(making *m, const char *item, const pe_plan *plan, size_t t,
                            pe_problem *why)
{
    char name[128];
    const pe_tensor *tensor = &plan->tensors[t];
    const bool named = tensor->name != NULL && (plan->n_tensors > 1 || plan->n_scalars > 0);
    const size_t bytes = tensor->elements * pe_dtype_bytes(tensor->dtype);
    const pe_region all = pe_plan_units(plan, t, 0, tensor->units);
    snprintf(name, sizeof name, "%s%s%s", item, named ? "/" : "", named ? tensor->name : "");
    void *numbers = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (numbers == NULL)
        return pe_fail_memory(why);
    const pe_status status = plan->fill(plan, &all, numbers, why);
    if (status == PE_OK) {
        put_row(m, name, tensor->dtype, &tensor->shape, bytes);
        pe_buffer_add(&m->data, numbers, bytes);
    }
    free(numbers);
    return status;
}

static pe_status add_query(making *m, const char *item, pe_query *query, pe_problem *why)
{
    pe_plan plan = {0};
    pe_status status = pe_query_plan(query, m->tables, m->limits, &plan, why);
    for (size_t t = 0; t < plan.n_tensors && status == PE_OK; t++)
        status = add_tensor(m, item, &plan, t, why);
    pe_plan_free(&plan);
    return status;
}

/* ---- items ---- */

static pe_read_limits limits_of(const making *m)
{
    return (pe_read_limits){.max_elements = m->limits->max_elements,
                            .max_positions = POSITIONS_MAX,
                            .max_depth = DEPTH_MAX};
}

/* {"name", "get": "/v1/rope/table?..."} */
static pe_status add_table(making *m, const char *name, const char *get, pe_problem *why)
{
    char path[64];
    pe_query query;
    const pe_read_limits limits = limits_of(m);
    const size_t bytes = strcspn(get, "?");
    snprintf(path, sizeof path, "%.*s", (int)bytes, get);
    const char *text = get + bytes + (get[bytes] == '?');
    const pe_resource *resource = pe_registry_find(path);
    if (resource == NULL)
        return pe_fail(why, PE_INTERNAL, "", "a recipe asks for %s", path);
    PE_TRY(pe_query_string_parse(resource, pe_slice_of(text), &limits, &query, why));
    pe_status status = add_query(m, name, &query, why);
    pe_query_free(&query);
    return status;
}

/* Inputs are multiples of 1/64 in [-2, 2], which every type holds. */
static double input(size_t i)
{
    return ((double)(i * 37 % 257) - 128) / 64;
}

static json_t *make_vectors(size_t tokens, size_t width)
{
    json_t *rows = json_array();
    for (size_t t = 0; t < tokens; t++) {
        json_t *row = json_array();
        for (size_t c = 0; c < width; c++)
            json_array_append_new(row, json_real(input(t * width + c)));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* The inputs as a tensor of their own, of the type that they are rotated in. */
static void add_inputs(making *m, const char *name, size_t tokens, size_t width)
{
    const pe_shape shape = {2, {tokens, width}};
    put_row(m, name, PE_FLOAT32, &shape, tokens * width * sizeof(float));
    for (size_t i = 0; i < tokens * width; i++)
        pe_buffer_add(&m->data, &(float){(float)input(i)}, sizeof(float));
}

/* {"name", "post": "/v1/rope/rotate", "body": {...}, "vectors": [tokens, width]} */
static pe_status add_transform(making *m, const char *name, const json_t *item, pe_problem *why)
{
    char inputs[96];
    pe_query query;
    const pe_read_limits limits = limits_of(m);
    const json_t *size = json_object_get(item, "vectors");
    const size_t tokens = (size_t)json_integer_value(json_array_get(size, 0));
    const size_t width = (size_t)json_integer_value(json_array_get(size, 1));
    json_t *body = json_deep_copy(json_object_get(item, "body"));
    json_object_set_new(body, "vectors", make_vectors(tokens, width));
    char *text = json_dumps(body, JSON_COMPACT);
    const pe_resource *resource =
        pe_registry_find(json_string_value(json_object_get(item, "post")));
    pe_status status = text == NULL ? pe_fail_memory(why)
                       : resource == NULL
                           ? pe_fail(why, PE_INTERNAL, "", "a recipe posts to no resource")
                           : pe_query_json_parse(resource, pe_slice_of(text), &limits, &query, why);
    if (status == PE_OK) {
        snprintf(inputs, sizeof inputs, "%.80s/inputs", name);
        add_inputs(m, inputs, tokens, width);
        snprintf(inputs, sizeof inputs, "%.80s/rotated", name);
        status = add_query(m, inputs, &query, why);
        pe_query_free(&query);
    }
    free(text);
    json_decref(body);
    return status;
}

static pe_status add_items(making *m, const json_t *items, pe_problem *why)
{
    size_t i;
    const json_t *item;
    pe_status status = PE_OK;
    json_array_foreach(items, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *get = json_string_value(json_object_get(item, "get"));
        if (status == PE_OK)
            status = get != NULL ? add_table(m, name, get, why) : add_transform(m, name, item, why);
    }
    return status;
}

/* ---- the file ---- */

/* Rows and numbers, and no more: the digest does not depend on the release. */
static void digest(const making *m, char out[PE_PACK_DIGEST_BYTES])
{
    struct sha256_ctx sha;
    uint8_t bytes[SHA256_DIGEST_SIZE];
    size_t used = (size_t)snprintf(out, PE_PACK_DIGEST_BYTES, "sha256-");
    sha256_init(&sha);
    sha256_update(&sha, m->rows.bytes, (const uint8_t *)m->rows.data);
    sha256_update(&sha, m->data.bytes, (const uint8_t *)m->data.data);
    sha256_digest(&sha, sizeof bytes, bytes);
    for (size_t b = 0; b < sizeof bytes; b++)
        used += (size_t)snprintf(out + used, PE_PACK_DIGEST_BYTES - used, "%02x", bytes[b]);
}

static pe_status write_file(const making *m, const char *name, pe_pack *out, pe_problem *why)
{
    pe_buffer header = {0};
    unsigned char length[8];
    digest(m, out->digest);
    out->tensors = m->tensors;
    pe_buffer_str(&header, "{\"__metadata__\":{");
    pe_json_write_text(&header, "name", name);
    pe_json_write_text(&header, "digest", out->digest);
    pe_json_write_text(&header, "title", out->title);
    pe_buffer_str(&header, "}");
    pe_buffer_add(&header, m->rows.data, m->rows.bytes);
    pe_buffer_str(&header, "}");
    while (header.bytes % 8 != 0 && !header.failed)
        pe_buffer_str(&header, " ");
    for (unsigned i = 0; i < sizeof length; i++)
        length[i] = (unsigned char)((uint64_t)header.bytes >> (8 * i));
    pe_buffer_add(&out->file, length, sizeof length);
    pe_buffer_add(&out->file, header.data, header.bytes);
    pe_buffer_add(&out->file, m->data.data, m->data.bytes);
    const bool failed = header.failed || out->file.failed || m->rows.failed || m->data.failed;
    pe_buffer_free(&header);
    return failed ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_pack_make(const pe_pack_recipe *recipe, struct pe_tables *tables,
                       const pe_limits *limits, pe_pack *out, pe_problem *why)
{
    making m = {.tables = tables, .limits = limits};
    *out = (pe_pack){0};
    json_t *tree = json_loadb(recipe->text, recipe->bytes, 0, NULL);
    if (tree == NULL)
        return pe_fail_memory(why);
    snprintf(out->title, sizeof out->title, "%s",
             json_string_value(json_object_get(tree, "title")));
    pe_status status = add_items(&m, json_object_get(tree, "items"), why);
    if (status == PE_OK)
        status = write_file(&m, recipe->name, out, why);
    else if (!pe_status_is_ours(status))
        status = pe_fail(why, PE_INTERNAL, "", "the recipe of %s is refused", recipe->name);
    pe_buffer_free(&m.rows);
    pe_buffer_free(&m.data);
    json_decref(tree);
    if (status != PE_OK)
        pe_pack_free(out);
    return status;
}

void pe_pack_free(pe_pack *pack)
{
    pe_buffer_free(&pack->file);
}
