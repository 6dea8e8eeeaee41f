/* SPDX-License-Identifier: MIT */
/* pack_command.c - `posenc pack check`: what others computed, held against a golden pack. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "files/stored.h"
#include "formats/safetensors.h"
#include "packs/pack.h"

#define TENSORS_MAX 256

/* A golden pack, and what is held against it. */
typedef struct check {
    pe_asking *asking;
    pe_stored_list golden, got;
    pe_buffer report;
} check;

/* ---- the pack ---- */

static pe_buffer fetch_pack(pe_asking *asking, const char *name)
{
    char target[256];
    snprintf(target, sizeof target, "/v1/packs/%.200s", name);
    return pe_ask_text(asking, &(pe_client_request){.target = target});
}

/* A file of a pack says which one it is, of which version (name: NAME@DIGEST); and is that. */
static pe_buffer read_pack(pe_asking *asking, const char *path, char name[static 256])
{
    pe_problem *why = &asking->step;
    pe_buffer pack = {0};
    char *label = NULL, *digest = NULL;
    pe_input file = pe_ask_open(asking, path);
    if (asking->failed)
        return pack;
    assert(file.content.text != NULL);
    pe_status status = pe_safetensors_file_metadata(file.content, "name", &label, why);
    if (status == PE_OK)
        status = pe_safetensors_file_metadata(file.content, "digest", &digest, why);
    if (status == PE_OK && (label == NULL || digest == NULL))
        status = pe_fail(why, PE_MALFORMED_REQUEST, "", "%.200s is no golden pack", path);
    if (pe_ask_file_step(asking, status)) {
        snprintf(name, 256, "%.100s@%.100s", label, digest);
        pack = fetch_pack(asking, name);
        asking->unreadable |= asking->failed;
    }
    if (!asking->failed && (pack.bytes != file.content.bytes ||
                            memcmp(pe_buffer_text(&pack), file.content.text, pack.bytes) != 0))
        pe_ask_file_step(asking, pe_fail(why, PE_MALFORMED_REQUEST, "",
                                         "%.200s says that it is %.200s, and has other numbers",
                                         path, name));
    free(label);
    free(digest);
    pe_input_close(&file);
    return pack;
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

static void add_tensor(check *c, const pe_stored *tensor, const char *name, pe_buffer *rows,
                       pe_buffer *data)
{
    pe_problem *why = &c->asking->step;
    pe_array numbers = {0};
    const pe_status status =
        tensor->dtype != PE_DTYPES
            ? pe_stored_array(tensor, tensor->dtype, &numbers, why)
            : pe_fail(why, PE_INVALID_PARAMETER, "",
                      "the element type of tensor %s is none that is read", tensor->name);
    if (!pe_ask_step(c->asking, status))
        return;
    const size_t bytes = numbers.elements * pe_dtype_bytes(numbers.dtype);
    pe_safetensors_head_row(rows, name, numbers.dtype, &numbers.shape, data->bytes, bytes);
    pe_buffer_add(data, numbers.data, bytes);
    pe_array_free(&numbers);
}

/* The tensors of an item as a safetensors file of their own (empty: there are none); inputs that the
 * dump has not are those of the pack. */
static pe_buffer gather(check *c, const char *item)
{
    size_t n = 0;
    bool has_inputs = false;
    pe_buffer rows = {0}, data = {0}, file = {0};
    pe_buffer_str(&rows, "{");
    for (size_t t = 0; t < c->got.n + c->golden.n; t++) {
        const bool ours = t >= c->got.n;
        const pe_stored *tensor = ours ? &c->golden.tensor[t - c->got.n] : &c->got.tensor[t];
        const char *leaf = leaf_of(tensor, item);
        const bool inputs = leaf != NULL && strcmp(leaf, "inputs") == 0;
        if (leaf == NULL || (ours && (!inputs || has_inputs)))
            continue;
        add_tensor(c, tensor, leaf, &rows, &data);
        has_inputs |= inputs;
        n += !inputs;
    }
    pe_buffer_str(&rows, "}");
    if (n > 0) {
        pe_safetensors_head_put(pe_buffer_slice(&rows), &file);
        pe_buffer_add(&file, data.data, data.bytes);
        file.failed |= rows.failed || data.failed;
    }
    pe_buffer_free(&rows);
    pe_buffer_free(&data);
    return file;
}

/* The claim is what the recipe asks for, but the element type, which is the dump's; rotated vectors are
 * claimed as such by their names. */
static void check_item(check *c, const json_t *item)
{
    pe_buffer target = {0}, answer = {0}, file = {0};
    const char *name = json_string_value(json_object_get(item, "name"));
    if (strncmp(name, "wrong/", 6) != 0)
        file = gather(c, name);
    if (file.bytes == 0 && !file.failed)
        return;
    pe_buffer_format(&target, "/v1/verify?encoding=%s&%s",
                     json_object_get(item, "vectors") != NULL
                         ? "rope"
                         : json_string_value(json_object_get(item, "resource")),
                     json_string_value(json_object_get(item, "query")));
    const pe_client_request request = {
        .target = pe_buffer_text(&target), .parts = {pe_buffer_slice(&file)}, .n_parts = 1};
    json_t *report = pe_ask_json(c->asking, &request, &answer);
    const bool matches = json_is_true(json_object_get(report, "matches"));
    const char *conclusion = json_string_value(json_object_get(report, "conclusion"));
    pe_buffer_format(&c->report, "%s: %s%s%s\n", name, matches ? "matches" : "does not match",
                     matches || conclusion == NULL ? "" : ": ",
                     matches || conclusion == NULL ? "" : conclusion);
    if (!matches)
        c->asking->code = PE_EXIT_DIFFERENT;
    c->report.failed |= file.failed;
    json_decref(report);
    pe_buffer_free(&answer);
    pe_buffer_free(&target);
    pe_buffer_free(&file);
}

/* ---- the command ---- */

static void check_all(check *c, const pe_pack_recipe *recipe, const char *against)
{
    size_t i;
    json_t *item, *tree = json_loadb(recipe->text, recipe->bytes, 0, NULL);
    json_array_foreach(json_object_get(tree, "items"), i, item)
    {
        check_item(c, item);
    }
    json_decref(tree);
    if (c->report.bytes == 0 && !c->asking->failed)
        pe_ask_file_step(c->asking,
                         pe_fail(&c->asking->step, PE_INVALID_PARAMETER, "",
                                 "%.200s has no tensor that goes by a name of the pack, such as "
                                 "%.100s",
                                 against, c->golden.n > 0 ? c->golden.tensor[0].name : "none"));
    pe_ask_print(c->asking, &c->report);
}

void pe_ask_pack_check(pe_asking *asking)
{
    pe_stored golden[TENSORS_MAX], got[TENSORS_MAX];
    check c = {.asking = asking,
               .golden = {.tensor = golden, .room = TENSORS_MAX},
               .got = {.tensor = got, .room = TENSORS_MAX}};
    const char *pack = asking->arguments.word[0], *against = asking->arguments.against;
    char name[256];
    pe_problem *why = &asking->step;
    if (against == NULL) {
        pe_ask_step(asking,
                    pe_fail(why, PE_MISSING_PARAMETER, "against",
                            "--against FILE is required: the safetensors file that is checked"));
        return;
    }
    snprintf(name, sizeof name, "%.200s", pack);
    const bool is_file = strchr(pack, '/') != NULL || strstr(pack, ".safetensors") != NULL;
    pe_buffer numbers = is_file ? read_pack(asking, pack, name) : fetch_pack(asking, pack);
    pe_input dump = pe_ask_open(asking, against);
    if (!asking->failed &&
        pe_ask_step(asking, pe_safetensors_file_read(pe_buffer_slice(&numbers), SIZE_MAX, &c.golden,
                                                     why)) &&
        pe_ask_file_step(asking, pe_safetensors_file_read(dump.content, SIZE_MAX, &c.got, why)))
        check_all(&c, pe_pack_find(name, strcspn(name, "@")), against);
    pe_input_close(&dump);
    pe_buffer_free(&numbers);
}
