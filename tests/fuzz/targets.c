/* SPDX-License-Identifier: MIT */
/* targets.c - each parser as a function over bytes. */
#include "fuzz/targets.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/claims/claim.h"
#include "api/binary_body.h"
#include "api/documents.h"
#include "config/settings.h"
#include "encodings/registry.h"
#include "files/gguf_file.h"
#include "files/stored.h"
#include "formats/format.h"
#include "http/reply/header_fields.h"
#include "http/request/wanted.h"
#include "tables/tables.h"
#include "text/number.h"
#include "text/scan.h"
#include "verify/verify.h"

enum { ELEMENTS_MAX = 1 << 14, DEPTH_MAX = 32, ROOM = 16 };

static const pe_read_limits limits = {
    .max_elements = ELEMENTS_MAX, .max_positions = ELEMENTS_MAX, .max_depth = DEPTH_MAX};

/* ---- help ------------------------------------------------------------------------------------ */

_Noreturn void fuzz_break(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

char *fuzz_copy(pe_slice text)
{
    char *copy = malloc(text.bytes + 1);
    if (copy == NULL)
        abort();
    if (text.bytes > 0)
        memcpy(copy, text.text, text.bytes);
    copy[text.bytes] = '\0';
    return copy;
}

int fuzz_file(pe_slice text, char path[FUZZ_PATH_BYTES])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text.text, text.bytes) != (ssize_t)text.bytes)
        abort();
    snprintf(path, FUZZ_PATH_BYTES, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_json(pe_buffer *text)
{
    FUZZ_PROMISE(!text->failed);
    /* a number of 20 digits is a double: jansson's integers have 64 bits */
    json_t *json =
        json_loadb(text->data, text->bytes,
                   JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    FUZZ_PROMISE(json != NULL);
    json_decref(json);
    pe_buffer_free(text);
}

void fuzz_check_problem(const pe_problem *why, const char *instance, bool from_json)
{
    pe_buffer text = {0};
    FUZZ_PROMISE(why->status != PE_OK && why->status != PE_INTERNAL);
    FUZZ_PROMISE(why->detail[0] != '\0');
    pe_problem_json(why, instance, "id", from_json, &text);
    check_json(&text);
}

/* ---- queries and bodies ---------------------------------------------------------------------- */

/* The resource that the first line names; *rest is what follows `mark`. NULL: it names none. */
static const pe_resource *resource_of(pe_slice input, char mark, pe_slice *rest)
{
    pe_slice name;
    *rest = input;
    char *path = fuzz_copy(pe_slice_next(rest, mark));
    const pe_resource *resource = pe_registry_route(path, &name);
    free(path);
    return resource;
}

/* Frees the query. */
static pe_buffer canonical_of(pe_query *query)
{
    pe_buffer out = {0};
    const pe_format *format = query->format != NULL ? query->format : pe_formats[0];
    pe_query_canonical_string(query, format, &out);
    FUZZ_PROMISE(!out.failed);
    pe_query_free(query);
    return out;
}

/* The query of the resource that stands before `mark`; NULL when there is no such, or it is refused
 * with reason. */
static const pe_resource *parse_of(pe_slice input, char mark, pe_query *out)
{
    pe_slice text;
    pe_problem why = {0};
    const pe_resource *resource = resource_of(input, mark, &text);
    if (resource == NULL ||
        pe_query_parse(resource, text, mark == '\n', &limits, out, &why) == PE_OK)
        return resource;
    fuzz_check_problem(&why, resource->path, mark == '\n');
    return NULL;
}

static void run_query(pe_slice input)
{
    pe_query query = {0};
    pe_problem why = {0};
    const pe_resource *resource = parse_of(input, '?', &query);
    if (resource == NULL)
        return;
    pe_buffer first = canonical_of(&query);
    FUZZ_PROMISE(pe_query_parse(resource, pe_buffer_slice(&first), false, &limits, &query, &why) ==
                 PE_OK);
    pe_buffer second = canonical_of(&query);
    FUZZ_PROMISE(first.bytes == second.bytes && memcmp(first.data, second.data, first.bytes) == 0);
    pe_buffer_free(&first);
    pe_buffer_free(&second);
}

static void run_json(pe_slice input)
{
    pe_query query = {0};
    pe_buffer parameters = {0};
    if (parse_of(input, '\n', &query) == NULL)
        return;
    pe_values_json(&query.values, &parameters);
    check_json(&parameters);
    pe_query_free(&query);
}

/* What a form holds is read as a claim, too, which may move the bytes of tensors: of a copy. */
static void run_form(pe_slice given)
{
    pe_multipart form;
    char *copy = malloc(given.bytes + 1);
    FUZZ_PROMISE(copy != NULL);
    if (given.bytes > 0)
        memcpy(copy, given.text, given.bytes);
    const pe_slice input = {copy, given.bytes};
    pe_claim claim = {0};
    pe_problem why = {0};
    pe_status status = pe_multipart_read("multipart/form-data; boundary=x", input, &form, &why);
    if (status == PE_OK && form.tensors.data == NULL) {
        pe_buffer_free(&form.query);
    } else if (status == PE_OK) {
        form.tensors.string = pe_buffer_slice(&form.query);
        form.tensors.config = form.config;
        status = pe_claim_binary_parse(&form.tensors, &limits, &claim, &why);
        if (status == PE_OK)
            pe_verify_claim_free(&claim);
        pe_buffer_free(&form.query);
    }
    if (status != PE_OK)
        fuzz_check_problem(&why, "/v1/verify", false);
    free(copy);
}

static void run_positions(pe_slice input)
{
    pe_positions positions = {0};
    pe_problem why = {0};
    if (pe_positions_parse(input, "positions", ELEMENTS_MAX, &positions, &why) != PE_OK) {
        fuzz_check_problem(&why, "/", false);
        return;
    }
    pe_positions again = {0};
    pe_buffer text = {0};
    pe_positions_print(&positions, &text);
    FUZZ_PROMISE(pe_positions_parse(pe_buffer_slice(&text), "positions", ELEMENTS_MAX, &again,
                                    &why) == PE_OK);
    FUZZ_PROMISE(again.count == positions.count && again.shape.ndim == positions.shape.ndim);
    for (size_t r = 0; r < positions.count; r++)
        FUZZ_PROMISE(pe_positions_at(&positions, r) == pe_positions_at(&again, r));
    pe_positions_free(&again);
    pe_positions_free(&positions);
    pe_buffer_free(&text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void check_number(pe_slice input)
{
    double found, printed;
    size_t used = 0;
    const pe_scan scan = pe_scan_number(input.text, input.bytes, &found, &used);
    if (scan == PE_SCAN_NOT_A_NUMBER)
        return;
    char *text = fuzz_copy((pe_slice){input.text, used}), *end;
    const double expected = strtod(text, &end);
    FUZZ_PROMISE(end == text + used);
    FUZZ_PROMISE((scan == PE_SCAN_OVERFLOW) == (isinf(expected) != 0));
    FUZZ_PROMISE(scan == PE_SCAN_OVERFLOW || memcmp(&expected, &found, sizeof found) == 0);
    free(text);
    if (scan == PE_SCAN_OVERFLOW)
        return;
    char again[PE_NUMBER_TEXT_MAX];
    const size_t bytes = pe_number_print(PE_FLOAT64, found, again);
    FUZZ_PROMISE(pe_scan_number(again, bytes, &printed, &used) == PE_SCAN_OK && used == bytes);
    FUZZ_PROMISE(memcmp(&printed, &found, sizeof found) == 0);
}

/* Text that begins with '[' is an array, read as each type; else it is a number. */
static void run_number(pe_slice input)
{
    if (input.bytes == 0 || input.text[0] != '[') {
        check_number(input);
        return;
    }
    for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++) {
        const pe_scan_wanted wanted = {"numbers", dtype, ELEMENTS_MAX, false};
        pe_array array = {0};
        pe_problem why = {0};
        size_t used = 0;
        if (pe_scan_numbers(input, &wanted, &array, &used, &why) != PE_OK)
            fuzz_check_problem(&why, "/", true);
        else
            FUZZ_PROMISE(used <= input.bytes && input.text[used - 1] == ']');
        pe_array_free(&array);
    }
}

/* ---- fields of headers ----------------------------------------------------------------------- */

static void run_accept(pe_slice input)
{
    const pe_format *format = NULL;
    pe_problem why = {0};
    char *accept = fuzz_copy(input);
    if (pe_format_negotiate(accept, NULL, NULL, &format, &why) != PE_OK)
        fuzz_check_problem(&why, "/", false);
    else
        FUZZ_PROMISE(pe_format_by_name(format->name) == format);
    pe_format_prefers(accept, "text/html", "application/json");
    free(accept);
}

static void run_accept_encoding(pe_slice input)
{
    pe_accepted_codings codings;
    char *text = fuzz_copy(input);
    pe_accept_encoding_read(text, false, &codings);
    for (pe_coding coding = 0; coding < PE_CODINGS; coding++)
        FUZZ_PROMISE(codings.weight[coding] >= -1 && codings.weight[coding] <= 1000);
    FUZZ_PROMISE(codings.best < PE_CODINGS);
    free(text);
}

static const char *const tag = "\"0123456789abcdef0123456789abcdef\"";

/* Two lines: Range, and If-Range where there is one. */
static void run_range(pe_slice input)
{
    static const uint64_t lengths[] = {0, 1, 10, 4096, UINT64_MAX - 1};
    pe_slice rest = input;
    char *range = fuzz_copy(pe_slice_next(&rest, '\n'));
    char *if_range = fuzz_copy(rest);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pe_range found = {0};
        pe_range_read(range, if_range[0] != '\0' ? if_range : NULL, tag, lengths[i], &found);
        FUZZ_PROMISE(found.kind != PE_RANGE_PART || (found.first < lengths[i] && found.bytes > 0 &&
                                                     found.bytes <= lengths[i] - found.first));
        FUZZ_PROMISE(found.kind == PE_RANGE_WHOLE || found.text[0] != '\0');
    }
    free(range);
    free(if_range);
}

static void run_etag(pe_slice input)
{
    char *tags = fuzz_copy(input);
    if (pe_etag_matches(tags, tag))
        FUZZ_PROMISE(strchr(tags, '*') != NULL || strstr(tags, tag) != NULL);
    free(tags);
}

/* ---- files of others ------------------------------------------------------------------------- */

/* In every type that whoever reads files may ask for. */
static void read_numbers(const pe_stored *tensor)
{
    for (pe_dtype dtype = 0; dtype < PE_DTYPES && tensor->dtype < PE_DTYPES; dtype++) {
        if (dtype == PE_INT32 && tensor->dtype != PE_INT32)
            continue;
        pe_array array = {0};
        pe_problem why = {0};
        if (pe_stored_array(tensor, dtype, &array, &why) != PE_OK ||
            pe_stored_check_finite(&array, tensor, "data", &why) != PE_OK)
            fuzz_check_problem(&why, "/", false);
        pe_array_free(&array);
    }
}

static void read_npz(pe_slice file)
{
    pe_stored tensors[ROOM];
    pe_stored_list list = {.tensor = tensors, .room = ROOM};
    pe_problem why = {0};
    pe_buffer unpacked = {0};
    if (pe_npz_file_read(file, ELEMENTS_MAX, &unpacked, &list, &why) != PE_OK)
        fuzz_check_problem(&why, "/", false);
    else
        for (size_t i = 0; i < list.n; i++)
            read_numbers(&list.tensor[i]);
    pe_buffer_free(&unpacked);
}

static void read_csv(pe_slice file)
{
    pe_stored tensors[ROOM];
    pe_stored_list list = {.tensor = tensors, .room = ROOM};
    pe_problem why = {0};
    pe_buffer numbers = {0};
    (void)pe_csv_body_is(file);
    if (pe_csv_body_read(file, false, ELEMENTS_MAX, &numbers, &list, &why) != PE_OK)
        fuzz_check_problem(&why, "/", false);
    else
        for (size_t i = 0; i < list.n; i++)
            read_numbers(&list.tensor[i]);
    pe_buffer_free(&numbers);
}

static void read_npy(pe_slice file)
{
    pe_stored tensor = {0};
    pe_problem why = {0};
    if (pe_npz_file_is(file))
        read_npz(file);
    else if (pe_npy_file_read(file, ELEMENTS_MAX, &tensor, &why) == PE_OK)
        read_numbers(&tensor);
    else
        fuzz_check_problem(&why, "/", false);
}

static void read_safetensors(pe_slice file)
{
    pe_stored tensors[ROOM];
    pe_stored_list list = {.tensor = tensors, .room = ROOM};
    pe_problem why = {0};
    if (pe_safetensors_file_read(file, ELEMENTS_MAX, &list, &why) != PE_OK)
        fuzz_check_problem(&why, "/", false);
    else
        for (size_t i = 0; i < list.n; i++)
            read_numbers(&list.tensor[i]);
}

/*
 * An input that begins with '{' is a header in one line, and the data; its magic and length are put
 * before it, since mutations of a header seldom keep its length right. Others are files as they
 * are.
 */
static void run_file(pe_slice input, const char *magic, void (*read)(pe_slice file))
{
    if (input.bytes == 0 || input.text[0] != '{') {
        read(input);
        return;
    }
    pe_slice data = input;
    const pe_slice header = pe_slice_next(&data, '\n');
    const size_t start = strlen(magic) > 0 ? 10 : 8, length = header.bytes;
    char *file = malloc(start + input.bytes);
    if (file == NULL)
        abort();
    memset(file, 0, start);
    memcpy(file, magic, strlen(magic));
    for (size_t i = start == 10 ? 8 : 0, shift = 0; i < start; i++, shift += 8)
        file[i] = (char)(shift < 64 ? (uint64_t)length >> shift : 0);
    memcpy(file + start, header.text, length);
    if (data.bytes > 0)
        memcpy(file + start + length, data.text, data.bytes);
    read((pe_slice){file, start + length + data.bytes});
    free(file);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void read_claim(pe_slice json)
{
    pe_claim claim = {0};
    pe_problem why = {0};
    if (pe_claim_json_parse(json, "", &limits, &claim, &why) == PE_OK)
        pe_verify_claim_free(&claim);
    else
        fuzz_check_problem(&why, "/v1/verify", true);
}

static pe_slice claimed; /* the query beside a file */

/* Whole: read, and searched with little work. */
static void verify_file(pe_slice file)
{
    static const pe_limits allowed = {.max_elements = ELEMENTS_MAX, .max_work = 1 << 18};
    static const pe_verify_limits bounds = {.max_elements = ELEMENTS_MAX, .max_work = 1 << 18};
    static pe_tables *tables;
    pe_problem why = {0};
    pe_claim claim = {0};
    pe_report report;
    char *data = fuzz_copy(file); /* its tensors may be moved */
    const pe_binary_body body = {.string = claimed,
                                 .media_type = "application/octet-stream",
                                 .data = data,
                                 .bytes = file.bytes};
    if (tables == NULL && pe_tables_make(1 << 20, &tables, &why) != PE_OK)
        abort();
    const pe_verify_context context = {.tables = tables, .limits = &allowed, .bounds = &bounds};
    pe_status status = pe_claim_binary_parse(&body, &limits, &claim, &why);
    if (status == PE_OK) {
        status = pe_verify(&claim, &context, &report, &why);
        if (status == PE_OK)
            pe_verify_report_free(&report);
        pe_verify_claim_free(&claim);
    }
    if (status != PE_OK)
        fuzz_check_problem(&why, "/v1/verify", false);
    free(data);
}

/* JSON; or a query in one line, and a file as of run_file, whose header keeps its length. */
static void run_claim(pe_slice input)
{
    if (input.bytes == 0 || input.text[0] == '{' || memchr(input.text, '\n', input.bytes) == NULL) {
        read_claim(input);
        return;
    }
    claimed = pe_slice_next(&input, '\n');
    run_file(input, "", verify_file);
}

static void run_npy(pe_slice input)
{
    run_file(input, "\x93NUMPY\x01", read_npy);
}

static void run_safetensors(pe_slice input)
{
    run_file(input, "", read_safetensors);
}

/* ---- models and settings --------------------------------------------------------------------- */

static void run_model(pe_slice input)
{
    pe_model *model = NULL;
    pe_problem why = {0};
    pe_buffer text = {0};
    if (pe_model_json_resolve(input, DEPTH_MAX, &model, &why) != PE_OK) {
        fuzz_check_problem(&why, "/v1/models/resolve", true);
        return;
    }
    pe_model_json(model, &text);
    check_json(&text);
    pe_model_free(model);
}

/* As metadata, and as a whole file: what is left of it tells the same. */
static void run_gguf(pe_slice input)
{
    pe_problem why = {0};
    pe_buffer excerpt = {0}, again = {0};
    run_model(input);
    if (pe_gguf_file_excerpt(input, &excerpt, &why) == PE_OK) {
        FUZZ_PROMISE(pe_gguf_file_excerpt(pe_buffer_slice(&excerpt), &again, &why) == PE_OK);
        FUZZ_PROMISE(again.bytes == excerpt.bytes &&
                     memcmp(again.data, excerpt.data, again.bytes) == 0);
    }
    pe_buffer_free(&excerpt);
    pe_buffer_free(&again);
}

/* Whatever spelling of a name finds a model, the model's own name finds the same. */
static void run_catalogue(pe_slice input)
{
    const pe_catalogue_file *file = NULL, *again = NULL;
    pe_problem why = {0};
    char *name = fuzz_copy(input);
    if (pe_catalogue_find(name, &file, &why) == PE_OK)
        FUZZ_PROMISE(pe_catalogue_find(file->name, &again, &why) == PE_OK && again == file);
    else
        fuzz_check_problem(&why, "/", false);
    free(name);
}

/* A file of settings in memory, read over the defaults. */
static pe_status read_settings(pe_slice text, pe_config **out, pe_problem *why)
{
    char path[FUZZ_PATH_BYTES], flag[FUZZ_PATH_BYTES + 16];
    char *arguments[] = {flag, NULL}, *environment[] = {NULL};
    const int fd = fuzz_file(text, path);
    snprintf(flag, sizeof flag, "--config=%s", path);
    const pe_status status = pe_config_read(1, arguments, environment, out, why);
    close(fd);
    return status;
}

/* What is printed of settings that were read can be read, too. */
static void run_settings(pe_slice input)
{
    pe_config *config = NULL;
    pe_problem why = {0};
    pe_buffer text = {0};
    if (read_settings(input, &config, &why) != PE_OK) {
        fuzz_check_problem(&why, "/", false);
        return;
    }
    pe_config_print(config, &text);
    pe_config_free(config);
    FUZZ_PROMISE(read_settings(pe_buffer_slice(&text), &config, &why) == PE_OK);
    pe_config_free(config);
    check_json(&text);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static const char *const word_tokens[] = {"*/*",
                                          "text/*",
                                          "text/csv",
                                          "image/svg+xml",
                                          "image/png",
                                          "application/json",
                                          "application/x-npy",
                                          "application/octet-stream",
                                          "application/vnd.safetensors",
                                          ";q=0.5",
                                          ";q=0",
                                          ";q=1.000",
                                          "gzip",
                                          "zstd",
                                          "identity",
                                          "bytes=",
                                          "-1",
                                          "18446744073709551615",
                                          "W/",
                                          "\"0123456789abcdef0123456789abcdef\"",
                                          ", ",
                                          "*",
                                          "0:128",
                                          "0:10:0.5",
                                          ";",
                                          ":",
                                          ",",
                                          "9007199254740991",
                                          "1e308",
                                          "1e-324",
                                          "0.1",
                                          "-0",
                                          "e+",
                                          "[[",
                                          "]]",
                                          "],[",
                                          "2.2250738585072011e-308",
                                          "llama-3.1-8b",
                                          "gpt-oss",
                                          "\n",
                                          NULL};

static const char *word_token(size_t k)
{
    return word_tokens[k];
}

static const char *const file_tokens[] = {"'descr':",
                                          "'<f4'",
                                          "'<f8'",
                                          "'|b1'",
                                          "'>i2'",
                                          "'fortran_order':",
                                          "True",
                                          "False",
                                          "'shape':",
                                          "(2,3)",
                                          "(4,)",
                                          "()",
                                          "\"dtype\":",
                                          "\"F32\"",
                                          "\"BF16\"",
                                          "\"F16\"",
                                          "\"I64\"",
                                          "\"shape\":",
                                          "[2,3]",
                                          "[4]",
                                          "\"data_offsets\":",
                                          "[0,16]",
                                          "\"__metadata__\":",
                                          "{",
                                          "}",
                                          ",",
                                          "\n",
                                          "abcdabcdabcdabcd",
                                          NULL};

static const char *file_token(size_t k)
{
    return file_tokens[k];
}

static const char *const model_tokens[] = {
    "\"model_type\":\"llama\"",
    "\"hidden_size\":1024",
    "\"num_attention_heads\":16",
    "\"head_dim\":64",
    "\"num_hidden_layers\":4",
    "\"max_position_embeddings\":4096",
    "\"rope_theta\":10000",
    "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4}",
    "\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5e5}}",
    "\"layer_types\":[\"full_attention\",\"sliding_attention\"]",
    "\"text_config\":{",
    "\"rope_type\":\"longrope\"",
    "\"short_factor\":[1,2]",
    "\"long_factor\":[1,2]",
    "\"rope_type\":\"llama3\"",
    "\"partial_rotary_factor\":0.5",
    "\"mrope_section\":[8,12,12]",
    "\"sliding_window_pattern\":6",
    "\"model_type\":\"mpt\"",
    "\"model_type\":\"t5\"",
    "\"model_type\":\"gemma3\"",
    "\"attention_factor\":1.2",
    "\"beta_fast\":32",
    "\"alibi\":true",
    "\"qk_rope_head_dim\":64",
    "\"kv_channels\":128",
    "\"rope_ratio\":500",
    "\"general.architecture\":\"llama\"",
    "\"llama.rope.scaling.type\":\"yarn\"",
    "\"_class_name\":\"FluxTransformer2DModel\"",
    "\"_class_name\":\"CosmosTransformer3DModel\"",
    "\"axes_dims_rope\":[16,56,56]",
    "\"rotary_percent\":0.5",
    "\"multi_latent_attention\":true",
    "\"architecture\":\"vit_base_patch16_224\"",
    "\"model_type\":\"deepseek_v4\"",
    "\"compress_ratios\":[0,4,128,4]",
    ",",
    "null",
    "}",
    NULL};

/* The four bytes of a type, and numbers of four and eight bytes, cannot stand here: a word ends
 * with a zero byte. */
static const char *const gguf_tokens[] = {"GGUF",
                                          "general.architecture",
                                          "llama",
                                          "llama.rope.freq_base",
                                          "llama.rope.dimension_count",
                                          "llama.rope.scaling.type",
                                          "llama.rope.scaling.factor",
                                          "llama.attention.head_count",
                                          "llama.attention.sliding_window_pattern",
                                          "llama.embedding_length",
                                          "yarn",
                                          NULL};

static const char *gguf_token(size_t k)
{
    return gguf_tokens[k];
}

static const char *model_token(size_t k)
{
    return model_tokens[k];
}

static const char *const setting_tokens[] = {
#define SETTING(name, ...) ",\"" #name "\":{\"value\":1}",
#include "settings.inc"
#undef SETTING
    "\"value\":", "\"source\":\"default\"", "true", "[\"a\",\"b\"]", "9223372036854775807", "1e3",
    NULL};

static const char *setting_token(size_t k)
{
    return setting_tokens[k];
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A parser that is added adds its row, and a folder of inputs. */
const fuzz_target fuzz_targets[] = {
    {"query", run_query, fuzz_token_query, "PATH?QUERY"},
    {"json", run_json, fuzz_token_json, "PATH, a line feed, a JSON body"},
    {"claim", run_claim, fuzz_token_json,
     "the body of POST /v1/verify, or a query, a line feed, a file"},
    {"form", run_form, file_token, "a form of POST /v1/verify, of the boundary x"},
    {"request", fuzz_request, fuzz_token_query, "a request with lines that end with a line feed"},
    {"positions", run_positions, word_token, "positions"},
    {"number", run_number, word_token, "a number, or an array of them"},
    {"accept", run_accept, word_token, "Accept"},
    {"accept_encoding", run_accept_encoding, word_token, "Accept-Encoding"},
    {"range", run_range, word_token, "Range, a line feed, If-Range"},
    {"etag", run_etag, word_token, "If-None-Match"},
    {"npy", run_npy, file_token, "a file, or a header, a line feed, data"},
    {"safetensors", run_safetensors, file_token, "a file, or a header, a line feed, data"},
    {"csv", read_csv, word_token, "tensors as CSV"},
    {"model", run_model, model_token, "config.json"},
    {"gguf", run_gguf, gguf_token, "the head of a GGUF file"},
    {"catalogue", run_catalogue, word_token, "a model's name"},
    {"settings", run_settings, setting_token, "a file of settings"},
    {"keys", fuzz_keys, fuzz_token_key, "a file of keys"},
    {"framing", fuzz_framing, fuzz_token_wire, "the bytes of a connection"},
    {"inlet", fuzz_inlet, fuzz_token_wire, "the bytes of a connection, perhaps behind a proxy"},
    {"proxy_header", fuzz_proxy_header, fuzz_token_wire, "the first bytes of a connection"},
    {"forwarded", fuzz_forwarded, fuzz_token_wire, "X-Forwarded-For"},
    {0},
};

const fuzz_target *fuzz_target_find(const char *name)
{
    for (const fuzz_target *target = fuzz_targets; target->name != NULL; target++)
        if (strcmp(target->name, name) == 0)
            return target;
    return NULL;
}
