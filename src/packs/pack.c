/* SPDX-License-Identifier: MIT */
/* pack.c - golden packs: numbers of several resources in one safetensors file. */
#include "packs/pack.h"

#include <jansson.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "api/query.h"
#include "encodings/registry.h"
#include "plan/plan.h"
#include "formats/json_write.h"
#include "formats/safetensors.h"

/* The recipes and their number, from packs_data.S. */
extern const pe_pack_recipe pe_pack_table[];
extern const size_t pe_pack_length;

/* Positions of an item. */
#define POSITIONS_MAX ((size_t)4096)

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

/* A pack under way: the header's rows, and the numbers behind it. */
typedef struct making {
    struct pe_tables *tables;
    const pe_limits *limits;
    pe_buffer rows, data;
    size_t tensors;
} making;

static void add_tensor(making *m, const char *item, const char *name, const pe_array *tensor)
{
    char path[128];
    const size_t bytes = tensor->elements * pe_dtype_bytes(tensor->dtype);
    snprintf(path, sizeof path, "%s%s%s", item, name != NULL ? "/" : "", name != NULL ? name : "");
    pe_safetensors_head_row(&m->rows, path, tensor->dtype, &tensor->shape, m->data.bytes, bytes);
    pe_buffer_add(&m->data, tensor->data, bytes);
    m->tensors++;
}

static pe_status add_computed(making *m, const char *item, const char *name, const pe_plan *plan,
                              size_t t, pe_problem *why)
{
    pe_array numbers;
    const pe_region all = pe_plan_units(plan, t, 0, plan->tensors[t].units);
    PE_TRY(pe_array_make(plan->tensors[t].dtype, &plan->tensors[t].shape, &numbers, why));
    const pe_status status = plan->fill(plan, &all, numbers.data, why);
    if (status == PE_OK)
        add_tensor(m, item, name, &numbers);
    pe_array_free(&numbers);
    return status;
}

/* ---- items ---- */

/* What is transformed: multiples of 1/64 in [-2, 2], which every type holds. */
static void make_inputs(const json_t *sizes, pe_buffer *shape, pe_buffer *out)
{
    size_t s, n = 1;
    const json_t *size;
    json_array_foreach(sizes, s, size)
    {
        pe_buffer_format(shape, "%s%lld", s > 0 ? "," : "", (long long)json_integer_value(size));
        n *= (size_t)json_integer_value(size);
    }
    for (size_t i = 0; i < n; i++) {
        const float number = (float)(i * 37 % 257) / 64 - 2;
        pe_buffer_add(out, &number, sizeof number);
    }
}

/* What an item asks for, with its inputs, which planning takes. */
static pe_status add_query(making *m, const char *item, pe_query *query, pe_problem *why)
{
    pe_plan plan = {0};
    const pe_value *inputs = pe_values_find(&query->values, "vectors");
    if (inputs != NULL)
        add_tensor(m, item, "inputs", &inputs->tensor);
    pe_status status = pe_query_plan(query, m->tables, m->limits, &plan, why);
    for (size_t t = 0; t < plan.n_tensors && status == PE_OK; t++) {
        const bool alone = plan.n_tensors == 1 && plan.n_scalars == 0;
        const char *name = inputs != NULL ? "rotated" : alone ? NULL : plan.tensors[t].name;
        status = add_computed(m, item, name, &plan, t, why);
    }
    pe_plan_free(&plan);
    return status;
}

/* {"name", "resource": "rope/table", "query": "head_dim=64", "dtype"}, and of a transform "vectors": their sizes. */
static pe_status add_item(making *m, const json_t *item, pe_problem *why)
{
    const char *name = json_string_value(json_object_get(item, "name"));
    const char *asked = json_string_value(json_object_get(item, "query"));
    const char *dtype = json_string_value(json_object_get(item, "dtype"));
    const json_t *vectors = json_object_get(item, "vectors");
    const pe_read_limits limits = {.max_elements = m->limits->max_elements,
                                   .max_positions = POSITIONS_MAX};
    pe_buffer string = {0}, shape = {0}, inputs = {0};
    pe_query query;
    const pe_resource *resource =
        pe_registry_find(json_string_value(json_object_get(item, "resource")));
    pe_buffer_format(&string, "%s%s%s", asked, dtype != NULL ? "&dtype=" : "",
                     dtype != NULL ? dtype : "");
    make_inputs(vectors, &shape, &inputs);
    const pe_binary_body body = {.string = pe_buffer_slice(&string),
                                 .media_type = "application/octet-stream",
                                 .shape = pe_buffer_text(&shape),
                                 .dtype = "float32",
                                 .data = inputs.data,
                                 .bytes = inputs.bytes};
    pe_status status = string.failed || shape.failed || inputs.failed ? pe_fail_memory(why)
                       : vectors != NULL
                           ? pe_query_binary_parse(resource, &body, &limits, &query, why)
                           : pe_query_parse(resource, body.string, false, &limits, &query, why);
    if (status == PE_OK) {
        status = add_query(m, name, &query, why);
        pe_query_free(&query);
    }
    pe_buffer_free(&string);
    pe_buffer_free(&shape);
    pe_buffer_free(&inputs);
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
    sha256_update(&sha, 1, (const uint8_t *)",");
    sha256_update(&sha, m->rows.bytes, (const uint8_t *)m->rows.data);
    sha256_update(&sha, m->data.bytes, (const uint8_t *)m->data.data);
    sha256_digest(&sha, sizeof bytes, bytes);
    for (size_t b = 0; b < sizeof bytes; b++)
        used += (size_t)snprintf(out + used, PE_PACK_DIGEST_BYTES - used, "%02x", bytes[b]);
}

static pe_status write_file(const making *m, const char *name, pe_pack *out, pe_problem *why)
{
    pe_buffer header = {0};
    digest(m, out->digest);
    out->tensors = m->tensors;
    pe_buffer_str(&header, "{\"__metadata__\":{");
    pe_json_write_text(&header, "name", name);
    pe_json_write_text(&header, "digest", out->digest);
    pe_json_write_text(&header, "title", out->title);
    pe_buffer_str(&header, "},");
    pe_buffer_add(&header, m->rows.data, m->rows.bytes);
    pe_buffer_str(&header, "}");
    pe_safetensors_head_put(pe_buffer_slice(&header), &out->file);
    pe_buffer_add(&out->file, m->data.data, m->data.bytes);
    const bool failed = header.failed || out->file.failed || m->rows.failed || m->data.failed;
    pe_buffer_free(&header);
    return failed ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_pack_make(const pe_pack_recipe *recipe, struct pe_tables *tables,
                       const pe_limits *limits, pe_pack *out, pe_problem *why)
{
    making m = {.tables = tables, .limits = limits};
    pe_status status = PE_OK;
    size_t i;
    const json_t *item;
    *out = (pe_pack){0};
    json_t *tree = json_loadb(recipe->text, recipe->bytes, 0, NULL);
    if (tree == NULL)
        return pe_fail_memory(why);
    snprintf(out->title, sizeof out->title, "%s",
             json_string_value(json_object_get(tree, "title")));
    json_array_foreach(json_object_get(tree, "items"), i, item)
    {
        if (status == PE_OK)
            status = add_item(&m, item, why);
    }
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
