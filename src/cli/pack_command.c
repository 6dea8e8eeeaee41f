/* SPDX-License-Identifier: MIT */
/* pack_command.c - `posenc pack check`: what others computed, held against a golden pack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "encodings/registry.h"
#include "files/stored.h"
#include "packs/pack.h"

#define TENSORS_MAX 256

/* The pack, and what is held against it. */
typedef struct check {
    pe_asking *asking;
    const pe_pack_recipe *recipe;
    pe_buffer pack; /* its file */
    pe_input dump;
    pe_stored_list golden, got;
    pe_buffer report;
    size_t checked;
} check;

/* ---- the pack ---- */

static pe_status fetch_pack(check *c, const char *name, pe_problem *why)
{
    char target[256];
    snprintf(target, sizeof target, "/v1/packs/%.200s", name);
    const pe_client_request request = {.method = "GET", .target = target};
    PE_TRY(pe_ask_text(c->asking, &request, &c->pack, why));
    c->recipe = pe_pack_find(name, strcspn(name, "@"));
    return PE_OK;
}

/* A file of a pack says which one it is, of which version; and is that. */
static pe_status read_pack(check *c, const char *path, pe_problem *why)
{
    pe_input file;
    char name[256], *label = NULL, *digest = NULL;
    PE_TRY(pe_ask_open(c->asking, path, &file, why));
    pe_status status = pe_safetensors_file_metadata(file.content, "name", &label, why);
    if (status == PE_OK)
        status = pe_safetensors_file_metadata(file.content, "digest", &digest, why);
    if (status == PE_OK && (label == NULL || digest == NULL))
        status = pe_fail(why, PE_MALFORMED_REQUEST, "", "%.200s is no golden pack", path);
    if (status == PE_OK) {
        snprintf(name, sizeof name, "%.100s@%.100s", label, digest);
        status = fetch_pack(c, name, why);
    }
    if (status == PE_OK && (c->pack.bytes != file.content.bytes ||
                            memcmp(c->pack.data, file.content.text, c->pack.bytes) != 0))
        status = pe_fail(why, PE_MALFORMED_REQUEST, "",
                         "%.200s says that it is %.200s, and has other numbers", path, name);
    c->asking->unreadable |= status != PE_OK;
    free(label);
    free(digest);
    pe_input_close(&file);
    return status;
}

/* ---- one item ---- */

/* What a tensor is called within an item: "cos" of "table/cos"; NULL: it is another's. */
static const char *leaf_of(const pe_stored *tensor, const char *item)
{
    const size_t bytes = strlen(item);
    if (strncmp(tensor->name, item, bytes) != 0)
        return NULL;
    return tensor->name[bytes] == '/'    ? tensor->name + bytes + 1
           : tensor->name[bytes] == '\0' ? item
                                         : NULL;
}

static const char *type_of(const pe_stored *tensor)
{
    static const char *const types[PE_DTYPES] = {[PE_FLOAT32] = "F32",
                                                 [PE_FLOAT64] = "F64",
                                                 [PE_FLOAT16] = "F16",
                                                 [PE_BFLOAT16] = "BF16",
                                                 [PE_INT32] = "I32"};
    return tensor->wide ? "I64" : tensor->dtype < PE_DTYPES ? types[tensor->dtype] : "U8";
}

/* The tensors of an item as a safetensors file of their own; inputs that the dump has not are those
 * of the pack. Returns how many of them are the dump's. */
static size_t gather(const check *c, const char *item, pe_buffer *out)
{
    size_t n = 0, used = 0;
    pe_buffer rows = {0}, data = {0};
    for (size_t l = 0; l < c->got.n + c->golden.n; l++) {
        const bool own = l < c->got.n;
        const pe_stored *tensor = own ? &c->got.tensor[l] : &c->golden.tensor[l - c->got.n];
        const char *leaf = leaf_of(tensor, item);
        if (leaf == NULL || (!own && strcmp(leaf, "inputs") != 0) ||
            strstr(pe_buffer_text(&rows), leaf) != NULL)
            continue;
        pe_buffer_format(&rows, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", used > 0 ? "," : "", leaf,
                         type_of(tensor));
        for (size_t d = 0; d < tensor->shape.ndim; d++)
            pe_buffer_format(&rows, "%s%zu", d > 0 ? "," : "", tensor->shape.dim[d]);
        pe_buffer_format(&rows, "],\"data_offsets\":[%zu,%zu]}", used, used + tensor->bytes);
        pe_buffer_add(&data, tensor->data, tensor->bytes);
        used += tensor->bytes;
        n += own && strcmp(leaf, "inputs") != 0;
    }
    const uint64_t length = rows.bytes + 2;
    for (unsigned b = 0; b < 8; b++)
        pe_buffer_add(out, &(unsigned char){(unsigned char)(length >> (8 * b))}, 1);
    pe_buffer_format(out, "{%s}", pe_buffer_text(&rows));
    pe_buffer_add(out, data.data, data.bytes);
    out->failed |= rows.failed || data.failed;
    pe_buffer_free(&rows);
    pe_buffer_free(&data);
    return n;
}

/* The claim: what the recipe asks for, but the element type, which is the dump's. */
static void claim_of(const json_t *item, pe_buffer *out)
{
    const char *get = json_string_value(json_object_get(item, "get"));
    char path[64];
    pe_buffer query = {0};
    snprintf(path, sizeof path, "%.*s", get != NULL ? (int)strcspn(get, "?") : 0,
             get != NULL ? get : "");
    const pe_resource *resource = pe_registry_find(path);
    pe_arguments_add(&query, "encoding", resource != NULL ? resource->name : "rope");
    pe_slice left =
        pe_slice_of(get != NULL && strchr(get, '?') != NULL ? strchr(get, '?') + 1 : "");
    while (left.bytes > 0) {
        const pe_slice one = pe_slice_next(&left, '&');
        if (strncmp(one.text, "dtype=", 6) != 0)
            pe_buffer_format(&query, "&%.*s", (int)one.bytes, one.text);
    }
    pe_ask_add_parameters(json_object_get(item, "body"), &query);
    pe_buffer_format(out, "/v1/verify?%s", pe_buffer_text(&query));
    pe_buffer_free(&query);
}

static pe_status check_item(check *c, const json_t *item, pe_problem *why)
{
    const char *name = json_string_value(json_object_get(item, "name"));
    pe_buffer file = {0}, target = {0}, answer = {0};
    pe_status status = PE_OK;
    if (strncmp(name, "wrong/", 6) != 0 && gather(c, name, &file) > 0) {
        claim_of(item, &target);
        const pe_client_request request = {.method = "POST",
                                           .target = pe_buffer_text(&target),
                                           .parts = {pe_buffer_slice(&file)},
                                           .n_parts = 1};
        status = pe_ask_text(c->asking, &request, &answer, why);
        json_t *report =
            status == PE_OK ? json_loadb(pe_buffer_text(&answer), answer.bytes, 0, NULL) : NULL;
        const bool matches = json_is_true(json_object_get(report, "matches"));
        const char *conclusion = json_string_value(json_object_get(report, "conclusion"));
        if (status == PE_OK)
            pe_buffer_format(&c->report, "%s: %s%s%s\n", name,
                             matches ? "matches" : "does not match",
                             matches || conclusion == NULL ? "" : ": ",
                             matches || conclusion == NULL ? "" : conclusion);
        if (status == PE_OK && !matches)
            c->asking->code = PE_EXIT_DIFFERENT;
        c->checked++;
        json_decref(report);
    }
    pe_buffer_free(&file);
    pe_buffer_free(&target);
    pe_buffer_free(&answer);
    return status;
}

/* ---- the command ---- */

static pe_status check_all(check *c, pe_problem *why)
{
    size_t i;
    json_t *item;
    pe_status status = PE_OK;
    json_t *tree = json_loadb(c->recipe->text, c->recipe->bytes, 0, NULL);
    json_array_foreach(json_object_get(tree, "items"), i, item)
    {
        if (status == PE_OK)
            status = check_item(c, item, why);
    }
    json_decref(tree);
    if (status != PE_OK || c->checked > 0)
        return status == PE_OK ? pe_ask_print(c->asking, &c->report, why) : status;
    c->asking->unreadable = true;
    return pe_fail(why, PE_INVALID_PARAMETER, "",
                   "%.200s has no tensor that goes by a name of the pack, such as %.100s",
                   c->dump.path, c->golden.n > 0 ? c->golden.tensor[0].name : "none");
}

static pe_status run(check *c, pe_problem *why)
{
    const char *pack = c->asking->arguments.word[0], *against = c->asking->arguments.against;
    const bool is_file = strchr(pack, '/') != NULL || strstr(pack, ".safetensors") != NULL;
    if (against == NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, "against",
                       "--against FILE is required: the safetensors file that is checked");
    PE_TRY(is_file ? read_pack(c, pack, why) : fetch_pack(c, pack, why));
    PE_TRY(pe_ask_open(c->asking, against, &c->dump, why));
    PE_TRY(pe_safetensors_file_read(pe_buffer_slice(&c->pack), SIZE_MAX, &c->golden, why));
    const pe_status status = pe_safetensors_file_read(c->dump.content, SIZE_MAX, &c->got, why);
    c->asking->unreadable |= status != PE_OK;
    return status == PE_OK ? check_all(c, why) : status;
}

static pe_status run_pack_check(pe_asking *asking, pe_problem *why)
{
    pe_stored *tensors = calloc((size_t)2 * TENSORS_MAX, sizeof *tensors);
    check c = {.asking = asking,
               .golden = {.tensor = tensors, .room = TENSORS_MAX},
               .got = {.tensor = tensors + TENSORS_MAX, .room = TENSORS_MAX}};
    const pe_status status = tensors != NULL ? run(&c, why) : pe_fail_memory(why);
    pe_input_close(&c.dump);
    pe_buffer_free(&c.pack);
    pe_buffer_free(&c.report);
    free(tensors);
    return status;
}

const pe_ask_row pe_ask_pack_check = {
    "a pack is required, as in posenc pack check llama3 --against dump.safetensors", 1, 1,
    PE_FLAG_OUTPUT | PE_FLAG_AGAINST, run_pack_check};
