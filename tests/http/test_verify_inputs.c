/* SPDX-License-Identifier: MIT */
/* test_verify_inputs.c - what POST /v1/verify reads off tensors that come as engines keep them. */
#include "support/check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/tensors_file.h"

static test_server server;

#define SAFETENSORS "application/vnd.safetensors"

/* ---- sources: tables of the program, in plain bytes ------------------------------------------ */

enum {
    HALVES_COS,
    HALVES_SIN,
    TWINS_COS,
    TWINS_SIN,
    COS,
    SIN,
    FUSED,
    PAIRED,
    LADDER,
    FLAT_LADDER,
    PATCH_COS,
    PATCH_SIN,
    PATCHES,
    TILED_COS,
    TILED_SIN,
    REPEATED_COS,
    REPEATED_SIN,
    BY_AXES_COS,
    BY_AXES_SIN,
    WAVES,
    GRID_WAVES,
    ZERO,
    WEIGHTS,
    SLOPES,
    SOURCES
};

#define ROWS "/v1/rope/table?head_dim=16&positions=0:6&format=raw"
#define GRID "/v1/rope/grid?head_dim=8&height=2&width=3&format=raw&tensor="
static const struct {
    const char *target, *shape;
} sources[SOURCES] = {
    [HALVES_COS] = {ROWS "&cache_layout=hf&pairing=half&tensor=cos", "[6,16]"},
    [HALVES_SIN] = {ROWS "&cache_layout=hf&pairing=half&tensor=sin", "[1,6,16]"},
    [TWINS_COS] = {ROWS "&cache_layout=hf&tensor=cos", "[6,1,16]"},
    [TWINS_SIN] = {ROWS "&cache_layout=hf&tensor=sin", "[1,1,6,16]"},
    [COS] = {ROWS "&tensor=cos", "[6,8]"},
    [SIN] = {ROWS "&tensor=sin", "[6,8]"},
    [FUSED] = {ROWS "&cache_layout=vllm", "[6,16]"},
    [PAIRED] = {ROWS "&cache_layout=meta", "[6,8]"}, /* as complex numbers */
    [LADDER] = {"/v1/rope/frequencies?head_dim=16&format=raw&tensor=inv_freq", "[8]"},
    [FLAT_LADDER] = {"/v1/rope/frequencies?head_dim=16&format=raw&tensor=inv_freq", "[1,8]"},
    [PATCH_COS] = {GRID "cos", "[6,4]"},
    [PATCH_SIN] = {GRID "sin", "[6,4]"},
    [PATCHES] = {GRID "angles", "[6,4]"},
    [TILED_COS] = {GRID "cos&cache_layout=hf", "[6,8]"},
    [TILED_SIN] = {GRID "sin&cache_layout=hf", "[6,8]"},
    [REPEATED_COS] = {GRID "cos&cache_layout=hf&pairing=interleaved", "[6,8]"},
    [REPEATED_SIN] = {GRID "sin&cache_layout=hf&pairing=interleaved", "[6,8]"},
    [BY_AXES_COS] = {GRID "cos&cache_layout=hf&convention=gemma4", "[6,8]"},
    [BY_AXES_SIN] = {GRID "sin&cache_layout=hf&convention=gemma4", "[6,8]"},
    [WAVES] = {"/v1/sinusoidal?d_model=16&positions=0:6&format=raw", "[6,1,16]"},
    [GRID_WAVES] = {"/v1/sinusoidal/grid?d_model=16&height=2&width=3&format=raw", "[6,16]"},
    [ZERO] = {"/v1/rope/table?head_dim=16&positions=0:1&format=raw&tensor=cos", "[1,8]"},
    [WEIGHTS] = {"/v1/sinusoidal?d_model=4&positions=0:2&format=raw", "[2,4]"},
    [SLOPES] = {"/v1/alibi/slopes?num_heads=8&format=raw", "[8]"},
};
static reply source[SOURCES];

static int start(void **state)
{
    server_start(&server, NULL);
    for (size_t s = 0; s < SOURCES; s++) {
        source[s] = get(&server, sources[s].target);
        assert_status(sources[s].target, &source[s], 200);
    }
    return 0;
}

static int stop(void **state)
{
    for (size_t s = 0; s < SOURCES; s++)
        reply_free(&source[s]);
    server_end(&server);
    return 0;
}

/* ---- uploads --------------------------------------------------------------------------------- */

typedef struct sent {
    const char *name;
    size_t source;
} sent;

#define MOST 8

static const struct {
    const char *query;
    sent tensors[MOST];
    bool matches;
    const char *says[6];
} uploads[] = {
    {"encoding=rope",
     {{"cos", HALVES_COS}, {"sin", HALVES_SIN}},
     true,
     {"\"cache_layout=hf, each", "\"pairing=half, the halves", "\"head_dim=16, from",
      "\"positions=0:6, one"}},
    {"encoding=rope",
     {{"cos", TWINS_COS}, {"sin", TWINS_SIN}},
     true,
     {"\"cache_layout=hf, each", "\"pairing=interleaved, neigh"}},
    {"encoding=rope&head_dim=16&cache_layout=hf",
     {{"cos", HALVES_COS}, {"sin", HALVES_SIN}},
     true,
     {"\"pairing=half, the halves"}},
    {"encoding=rope&cache_layout=hf&pairing=interleaved",
     {{"cos", HALVES_COS}, {"sin", HALVES_SIN}},
     false,
     {"pairing was half, not interleaved"}},
    {"encoding=rope", {{"cos", COS}, {"sin", SIN}}, true, {"\"head_dim=16, from"}},
    {"encoding=rope&head_dim=32", /* frequencies that repeat, not a layout */
     {{"cos", HALVES_COS}, {"sin", HALVES_SIN}},
     false,
     {"\"cache_layout\":\"pairs\""}},
    {"encoding=rope&head_dim=32&rotary_dim=16",
     {{"cos", HALVES_COS}, {"sin", HALVES_SIN}},
     true,
     {"\"cache_layout=hf, each"}},
    {"encoding=rope&rope_theta=500000",
     {{"cos", COS}, {"sin", SIN}},
     false,
     {"rope_theta was 10000, not 500000"}},
    {"encoding=rope", {{"freqs_cos", COS}, {"freqs_sin", SIN}}, true, {NULL}},
    {"encoding=rope&cache_layout=onnx", {{"cos_cache", COS}, {"sin_cache", SIN}}, true, {NULL}},
    {"encoding=rope", {{"cos_sin_cache", FUSED}}, true, {"\"cache_layout=vllm, cosines"}},
    {"encoding=rope", {{"data", FUSED}}, true, {"\"the table is read as cos_sin, from its num"}},
    {"encoding=rope", {{"freqs_cis", PAIRED}}, true, {"\"cache_layout=meta, a cosine"}},
    {"encoding=rope", {{"anything", PAIRED}}, true, {"\"the table is read as freqs_cis"}},
    {"encoding=rope", {{"inv_freq", LADDER}}, true, {"\"head_dim=16, from"}},
    {"encoding=rope&rope_theta=500000&positions=0:8",
     {{"x", LADDER}},
     false,
     {"\"the table is read as inv_freq", "rope_theta was 10000, not 500000"}},
    {"encoding=rope", {{"data", FLAT_LADDER}}, true, {"\"the table is read as inv_freq"}},
    {"encoding=sinusoidal/grid&d_model=16&height=2&width=3",
     {{"pos_embed", GRID_WAVES}},
     true,
     {"\"pos_embed is read as the table"}},
    {"encoding=rope", {{"cos", COS}}, true, {NULL}},
    {"encoding=rope", {{"data", SIN}}, true, {"\"the table is read as sin, from its num"}},
    {"encoding=rope", {{"cos", HALVES_COS}}, true, {"\"cache_layout=hf, each"}},
    {"encoding=rope&head_dim=16", {{"cos", ZERO}}, true, {"the numbers do not tell the layout"}},
    {"encoding=sinusoidal", {{"pe", WAVES}}, true, {"\"pe is read as the table", "\"d_model=16,"}},
    {"encoding=alibi", {{"slopes", SLOPES}}, true, {"\"num_heads=8, from"}},
    {"encoding=rope/grid&height=2&width=3",
     {{"cos", PATCH_COS}, {"sin", PATCH_SIN}},
     true,
     {"\"head_dim=8, from"}},
    /* columns of channels: those of the convention, or of an export that is claimed */
    {"encoding=rope/grid&height=2&width=3",
     {{"cos", TILED_COS}, {"sin", TILED_SIN}},
     true,
     {"\"each number of cos stands twice in a row\"", "\"head_dim=8, from"}},
    {"encoding=rope/grid&height=2&width=3",
     {{"cos", REPEATED_COS}, {"sin", REPEATED_SIN}},
     false,
     {"\"cache_layout=hf, neighbours are equal\"", "pairing was interleaved, not half"}},
    {"encoding=rope/grid&height=2&width=3&cache_layout=hf&pairing=interleaved",
     {{"cos", REPEATED_COS}, {"sin", REPEATED_SIN}},
     true,
     {NULL}},
    {"encoding=rope/grid&height=2&width=3&convention=eva02",
     {{"cos", TILED_COS}, {"sin", TILED_SIN}},
     false,
     {"\"cache_layout=hf, the halves of a row are equal\"", "pairing was half, not interleaved"}},
    {"encoding=rope/grid&height=2&width=3&convention=eva02",
     {{"cos", REPEATED_COS}, {"sin", REPEATED_SIN}},
     true,
     {"\"each number of sin stands twice in a row\""}},
    {"encoding=rope/grid&height=2&width=3&convention=gemma4",
     {{"cos", BY_AXES_COS}, {"sin", BY_AXES_SIN}},
     true,
     {"\"each number of cos stands twice in a row\""}},
    {"encoding=rope/grid&height=2&width=3&convention=sam2",
     {{"cos", BY_AXES_COS}, {"sin", BY_AXES_SIN}},
     false,
     {"\"cache_layout=hf, the quarters of a row are equal by twos\""}},
    {"encoding=rope/grid&height=2&width=3",
     {{"x", PATCH_COS}},
     true,
     {"\"the table is read as cos"}},
    {"encoding=rope/grid&height=2&width=3",
     {{"x", PATCHES}},
     true,
     {"\"the table is read as angl"}},
    /* a state dict */
    {"encoding=rope",
     {{"layers.0.rotary_emb.inv_freq", LADDER},
      {"layers.0.rotary_emb.cos_cached", HALVES_COS},
      {"layers.0.rotary_emb.sin_cached", HALVES_SIN},
      {"layers.1.rotary_emb.inv_freq", LADDER},
      {"layers.2.rotary_emb.inv_freq", SLOPES},
      {"layers.0.mlp.weight", WEIGHTS}},
     true,
     {"\"layers.0.mlp.weight was not read\"",
      ("\"warnings\":[\"layers.2.rotary_emb.inv_freq was not compared, and differs from "
       "layers.0.rotary_emb.inv_freq: send it alone\"]"),
      "\"1 more tensors are copies of those that were read\"",
      ("\"parts\":[{\"tensors\":\"layers.0.rotary_emb.cos_cached, "
       "layers.0.rotary_emb.sin_cached\",\"table\":\"rope/table\",\"matches\":true"),
      "{\"tensors\":\"layers.0.rotary_emb.inv_freq\",\"table\":\"rope/frequencies\",\"matches\""}},
    {"encoding=rope",
     {{"inv_freq", SLOPES}, {"cos", COS}, {"sin", SIN}},
     false,
     {"\"parts\":[{\"tensors\":\"cos, sin\",\"table\":\"rope/table\",\"matches\":true",
      "\"table\":\"rope/frequencies\",\"matches\":false"}},
};

static reply post_tensors(const char *query, const sent tensors[MOST])
{
    part parts[MOST];
    size_t n = 0;
    pe_buffer body = {0};
    for (; n < MOST && tensors[n].name != NULL; n++) {
        const reply *from = &source[tensors[n].source];
        const char *dtype = tensors[n].source == PAIRED ? "C64" : "F32";
        parts[n] = (part){tensors[n].name, dtype, sources[tensors[n].source].shape, from->body,
                          from->bytes};
    }
    parts_safetensors(parts, n, &body);
    reply answer = parts_verify(&server, query, SAFETENSORS, &body);
    pe_buffer_free(&body);
    return answer;
}

static void assert_said(const char *name, const reply *answer, bool matches,
                        const char *const *says, size_t most)
{
    assert_status(name, answer, 200);
    if ((strstr(answer->body, "{\"matches\":true") != NULL) != matches)
        fail_msg("%s: %s", name, answer->body);
    for (size_t s = 0; s < most && says[s] != NULL; s++)
        if (strstr(answer->body, says[s]) == NULL)
            fail_msg("%s: \"%s\" is not said: %s", name, says[s], answer->body);
}

/* A number without axes is one of one axis. */
static void one_number_has_any_shape(void **state)
{
    static const char *const claims[] = {
        "encoding=rope/decay&head_dim=64&offsets=5",
        "encoding=rope/attention-scale&positions=9000",
        "encoding=alibi/slopes&num_heads=1",
        "encoding=rope/frequencies&head_dim=2",
        "encoding=alibi&num_heads=1&query_length=1",
        "encoding=sinusoidal&d_model=1&positions=3",
        "encoding=rope&head_dim=2&positions=5&rope_theta=1",
    };
    static const char *const shapes[] = {"[]", "[1]", "[1,1]", "[1,1,1,1,1,1,1,1]"};
    static const float number = 0.3F;
    for (size_t k = 0; k < PE_LEN(claims) * PE_LEN(shapes); k++) {
        const char *name = k / PE_LEN(shapes) == 3 ? "inv_freq" : "cos";
        const part alone = {name, "F32", shapes[k % PE_LEN(shapes)], &number, sizeof number};
        pe_buffer body = {0};
        parts_safetensors(&alone, 1, &body);
        reply answer = parts_verify(&server, claims[k / PE_LEN(shapes)], SAFETENSORS, &body);
        assert_said(claims[k / PE_LEN(shapes)], &answer, false, NULL, 0);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

static void tables_are_read_as_engines_keep_them(void **state)
{
    for (size_t u = 0; u < PE_LEN(uploads); u++) {
        char name[120];
        snprintf(name, sizeof name, "%s, %s", uploads[u].query, uploads[u].tensors[0].name);
        reply answer = post_tensors(uploads[u].query, uploads[u].tensors);
        assert_said(name, &answer, uploads[u].matches, uploads[u].says, PE_LEN(uploads[u].says));
        reply_free(&answer);
    }
}

/* ---- NumPy's complex numbers, JSON, vectors, people ------------------------------------------ */

static void put_npy(const char *header, const void *data, size_t bytes, pe_buffer *out)
{
    const char length[] = {(char)strlen(header), 0};
    pe_buffer_add(out, "\x93NUMPY\x01\x00", 8);
    pe_buffer_add(out, length, 2);
    pe_buffer_str(out, header);
    pe_buffer_add(out, data, bytes);
}

static void complex_numbers_of_numpy_are_pairs(void **state)
{
    static const char *const says[] = {"\"cache_layout=meta, a cosine"};
    pe_buffer body = {0};
    put_npy("{'descr': '<c8', 'fortran_order': False, 'shape': (6, 8), }\n", source[PAIRED].body,
            source[PAIRED].bytes, &body);
    reply answer = parts_verify(&server, "encoding=rope", "application/x-npy", &body);
    assert_said("complex64", &answer, true, says, 1);
    reply_free(&answer);
    /* elsewhere they are refused */
    const char *const headers[] = {"Content-Type: application/x-npy", NULL};
    answer = fetch(&server, "POST", "/v1/rope/rotate?head_dim=8", headers, body.data, body.bytes);
    assert_status("rotate", &answer, 422);
    assert_non_null(strstr(answer.body, "numbers must be real"));
    reply_free(&answer);
    pe_buffer_free(&body);
}

/* Element (row, column) of `from`, [rows, columns] elements of so many numbers, as NumPy writes it
 * on a machine whose numbers begin with their most significant byte, or column by column. */
static void rewrite(const reply *from, size_t rows, size_t numbers, bool swapped, bool fortran,
                    unsigned char *out)
{
    const size_t size = sizeof(float), all = from->bytes / size / numbers, columns = all / rows;
    for (size_t e = 0; e < all; e++)
        for (size_t n = 0; n < numbers; n++) {
            const size_t to = fortran ? e % columns * rows + e / columns : e;
            for (size_t b = 0; b < size; b++)
                out[(to * numbers + n) * size + (swapped ? size - 1 - b : b)] =
                    (unsigned char)from->body[(e * numbers + n) * size + b];
        }
}

static void numpy_files_of_any_order_are_read(void **state)
{
    static const struct {
        size_t source, numbers;
        const char *type, *shape, *query, *says;
    } rows[] = {
        {PAIRED, 2, "c8", "(6, 8)", "encoding=rope", "\"cache_layout=meta, a cosine"},
        {FUSED, 1, "f4", "(6, 16)", "encoding=rope", "\"cache_layout=vllm, cosines"},
        {WAVES, 1, "f4", "(1, 6, 16)", "encoding=sinusoidal", "\"d_model=16,"},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++)
        for (int kind = 0; kind < 4; kind++) {
            const bool swapped = kind % 2 == 1, fortran = kind >= 2;
            const reply *from = &source[rows[r].source];
            unsigned char numbers[6 * 16 * sizeof(float)];
            char header[100];
            pe_buffer body = {0};
            assert_int_equal(from->bytes, sizeof numbers);
            rewrite(from, 6, rows[r].numbers, swapped, fortran, numbers);
            snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': %s, }",
                     swapped ? '>' : '<', rows[r].type, fortran ? "True" : "False", rows[r].shape);
            put_npy(header, numbers, sizeof numbers, &body);
            reply answer = parts_verify(&server, rows[r].query, "application/x-npy", &body);
            assert_said(header, &answer, true, &rows[r].says, 1);
            reply_free(&answer);
            pe_buffer_free(&body);
        }
}

/* Buckets as torch and NumPy make them: int64. */
static void wide_integers_are_indices(void **state)
{
    static const struct {
        const char *query;
        int64_t numbers[4];
        long status;
        const char *says;
    } rows[] = {
        {"encoding=t5/buckets", {0, 17, 1, 0}, 200, "{\"matches\":true"},
        {"encoding=t5/buckets&query_length=2", {0, 16, 1, 0}, 200, "{\"matches\":false"},
        {"encoding=shaw/indices&query_length=2&max_relative_position=1",
         {1, 2, 0, 1},
         200,
         "{\"matches\":true"},
        {"encoding=t5/buckets", {0, INT64_MAX, 1, 0}, 422, "must be those of int32; element 1 "},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        const part alone = {"data", "I64", "[2,2]", rows[r].numbers, sizeof rows[r].numbers};
        pe_buffer files[2] = {{0}, {0}};
        parts_safetensors(&alone, 1, &files[0]);
        put_npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }\n", alone.data,
                alone.bytes, &files[1]);
        for (size_t f = 0; f < 2; f++) {
            const char *type = f == 0 ? SAFETENSORS : "application/x-npy";
            reply answer = parts_verify(&server, rows[r].query, type, &files[f]);
            assert_status(rows[r].query, &answer, rows[r].status);
            assert_non_null(strstr(answer.body, rows[r].says));
            reply_free(&answer);
            pe_buffer_free(&files[f]);
        }
    }
}

/* Vectors that the program rotates are what they are claimed to be, in whatever order their pairs
 * and axes are. */
static void vectors_of_grids_are_compared(void **state)
{
    static const char *const conventions[] = {"qwen2_vl", "pixtral", "eva02",    "sam2",
                                              "llama4",   "kimi",    "dinov3",   "gemma4",
                                              "step3",    "neomme",  "inkling2", NULL};
    static const char vectors[] = "[[1,2,3,5,7,-1,2,4],[2,-1,1,3,1,5,2,6],[1,1,2,3,5,8,13,21],"
                                  "[3,1,4,1,5,9,2,6],[2,7,1,8,2,8,1,8],[1,4,1,4,2,1,3,5]]";
    for (size_t c = 0; conventions[c] != NULL; c++) {
        pe_buffer body = {0}, claim = {0};
        pe_buffer_format(&body, "{\"convention\":\"%s\",\"height\":2,\"width\":3,\"vectors\":%s}",
                         conventions[c], vectors);
        reply turned = post_json(&server, "/v1/rope/grid/rotate", pe_buffer_text(&body));
        assert_status(conventions[c], &turned, 200);
        char *data = strstr(turned.body, "\"data\":");
        assert_non_null(data);
        pe_buffer_format(&claim,
                         "{\"encoding\":\"rope/grid\",\"convention\":\"%s\",\"height\":2,"
                         "\"width\":3,\"inputs\":%s,\"rotated\":%s",
                         conventions[c], vectors, data + strlen("\"data\":"));
        reply answer = post_json(&server, "/v1/verify", pe_buffer_text(&claim));
        assert_status(conventions[c], &answer, 200);
        assert_non_null(strstr(answer.body, "{\"matches\":true"));
        reply_free(&turned);
        reply_free(&answer);
        pe_buffer_free(&body);
        pe_buffer_free(&claim);
    }
}

/* Two heads of queries, one of keys, each of one token and rotated at position 0. */
static void queries_and_keys_come_in_one_post(void **state)
{
    static const float q[] = {1, 2, 3, 4, 5, 6, 7, 8}, k[] = {1, 2, 3, 4}, wrong[] = {1, 2, 3, 5};
    const part right[] = {{"q", "F32", "[2,1,4]", q, sizeof q},
                          {"k", "F32", "[1,1,4]", k, sizeof k},
                          {"q_embed", "F32", "[2,1,4]", q, sizeof q},
                          {"k_embed", "F32", "[1,1,4]", k, sizeof k}};
    part bad[PE_LEN(right)];
    static const char *const good[] = {"\"tensors\":\"q, q_embed\"", "\"tensors\":\"k, k_embed\""};
    static const char *const told[] = {"q_embed\",\"table\":\"rope/table\",\"matches\":true",
                                       "k_embed\",\"table\":\"rope/table\",\"matches\":false",
                                       "\"expected\":4,\"got\":5"};
    memcpy(bad, right, sizeof bad);
    bad[3].data = wrong;
    for (size_t c = 0; c < 2; c++) {
        pe_buffer body = {0};
        parts_safetensors(c == 0 ? right : bad, PE_LEN(right), &body);
        reply answer = parts_verify(&server, "encoding=rope&seq_axis=1", SAFETENSORS, &body);
        assert_said("q and k", &answer, c == 0, c == 0 ? good : told, c == 0 ? 2 : 3);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

/* ---- large ones ------------------------------------------------------------------------------ */

/* More than 2^20 elements are read where they are in the body. */
static void large_tables_are_read_in_place(void **state)
{
    static const struct {
        const char *more;
        bool spoiled, matches;
        const char *says[3];
    } rows[] = {
        {"", false, true, {"\"elements\":1062400", "\"positions=0:8300, one"}},
        {"&rope_theta=500000", false, false, {"rope_theta was 10000, not 500000"}},
        {"", true, false, {"\"bad_elements\":1,", "\"index\":[8000,5]", "\"position\":8000"}},
    };
    reply table = get(&server, "/v1/rope/table?head_dim=128&positions=0:8300&format=safetensors");
    assert_status("large", &table, 200);
    const pe_buffer body = {.data = table.body, .bytes = table.bytes};
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        char query[80];
        const float wrong = 7;
        const size_t numbers = (size_t)8300 * 64 * sizeof wrong, header = table.bytes - 2 * numbers;
        if (rows[r].spoiled)
            memcpy(table.body + header + (8000 * 64 + 5) * sizeof wrong, &wrong, sizeof wrong);
        snprintf(query, sizeof query, "encoding=rope&head_dim=128%s", rows[r].more);
        reply answer = parts_verify(&server, query, SAFETENSORS, &body);
        assert_said(query, &answer, rows[r].matches, rows[r].says, PE_LEN(rows[r].says));
        reply_free(&answer);
    }
    reply_free(&table);
}

/* A lone tensor without pairs is, too, until faults are looked for. It is read in rows of 1024
 * elements, of which the last one has half. */
static void large_lone_cosines_are_read_in_place(void **state)
{
    static const struct {
        const char *more;
        size_t spoiled; /* element; 0: none */
        bool matches;
        const char *says[2];
    } rows[] = {
        {"", 0, true, {"\"elements\":1062400", "\"positions=0:8300, one"}},
        {"&cache_layout=hf", 0, true, {"\"elements\":1062400", "the table is read as cos"}},
        {"&rope_theta=500000", 0, false, {"\"elements\":1062400", "rope_theta"}},
        {"", 8299 * 128 + 127, false, {"\"bad_elements\":1,", "\"index\":[8299,127]"}},
    };
    reply table = get(&server, "/v1/rope/table?head_dim=128&positions=0:8300&cache_layout=hf&"
                               "tensor=cos&format=npy");
    assert_status("cosines", &table, 200);
    const pe_buffer body = {.data = table.body, .bytes = table.bytes};
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        char query[80];
        const float wrong = 7;
        const size_t header = table.bytes - (size_t)8300 * 128 * sizeof wrong;
        if (rows[r].spoiled > 0)
            memcpy(table.body + header + rows[r].spoiled * sizeof wrong, &wrong, sizeof wrong);
        snprintf(query, sizeof query, "encoding=rope&head_dim=128%s", rows[r].more);
        reply answer = parts_verify(&server, query, "application/x-npy", &body);
        assert_said(query, &answer, rows[r].matches, rows[r].says, PE_LEN(rows[r].says));
        reply_free(&answer);
    }
    reply_free(&table);
}

/* Tensors may be larger than other bodies; JSON may not. */
static void bodies_have_a_bound_of_their_own(void **state)
{
    static const char *const flags[] = {"--max-body-bytes", "4096", "--verify-max-body-bytes",
                                        "8192", NULL};
    static const char *const json[] = {"Content-Type: application/json", NULL};
    static const char *const npy[] = {"Content-Type: application/x-npy", NULL};
    static char blanks[9000];
    static const struct {
        const char *path;
        const char *const *type;
        size_t bytes;
        long status;
    } rows[] = {
        {"/v1/rope/rotate?head_dim=8", npy, 5000, 413}, /* of another route */
        {"/v1/verify?encoding=rope", npy, 5000, 400},   /* is read, and is no file of NumPy */
        {"/v1/verify?encoding=rope", npy, 9000, 413},
        {"/v1/verify", json, 4096, 400},
        {"/v1/verify", json, 5000, 413},
    };
    test_server narrow;
    memset(blanks, ' ', sizeof blanks);
    server_start(&narrow, flags);
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        reply answer = fetch(&narrow, "POST", rows[r].path, rows[r].type, blanks, rows[r].bytes);
        assert_status(rows[r].path, &answer, rows[r].status);
        reply_free(&answer);
    }
    server_end(&narrow);
}

/* ---- configurations and forms ---------------------------------------------------------------- */

#define CONFIG                                                                                     \
    "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4,"                      \
    "\"max_position_embeddings\":128,\"rope_theta\":%d}"

/* Cosines and sines of head_dim 16, with the configuration in the metadata or without. */
static void put_tensors(const char *config, pe_buffer *out)
{
    pe_buffer header = {0};
    const size_t bytes = source[COS].bytes;
    pe_buffer_str(&header, "{");
    if (config != NULL) {
        pe_buffer_str(&header, "\"__metadata__\":{\"format\":\"pt\",\"config\":");
        pe_buffer_json_string(&header, config);
        pe_buffer_str(&header, "},");
    }
    pe_buffer_format(&header,
                     "\"cos\":{\"dtype\":\"F32\",\"shape\":[6,8],\"data_offsets\":[0,%zu]},"
                     "\"sin\":{\"dtype\":\"F32\",\"shape\":[6,8],\"data_offsets\":[%zu,%zu]}}",
                     bytes, bytes, 2 * bytes);
    const uint64_t length = header.bytes;
    pe_buffer_add(out, &length, sizeof length);
    pe_buffer_add(out, header.data, header.bytes);
    pe_buffer_add(out, source[COS].body, bytes);
    pe_buffer_add(out, source[SIN].body, bytes);
    pe_buffer_free(&header);
}

static void a_configuration_may_be_in_the_metadata(void **state)
{
    for (int c = 0; c < 2; c++) {
        char config[300];
        pe_buffer body = {0};
        static const char *const says[] = {"the parameters are those of config in the metadata"};
        snprintf(config, sizeof config, CONFIG, c == 0 ? 10000 : 500000);
        put_tensors(config, &body);
        reply answer = parts_verify(&server, "positions=0:6", SAFETENSORS, &body);
        assert_said(config, &answer, c == 0, says, 1);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

#define PART(header) "--x\r\nContent-Disposition: form-data; " header "\r\n\r\n"
#define FILE_PART    PART("name=\"file\"; filename=\"t.safetensors\"")

static const struct {
    const char *query, *before, *after; /* the tensors, NULL: none */
    long status;
    const char *says;
} forms[] = {
    {"", PART("name=\"encoding\"") "rope\r\n" PART("name=\"head_dim\"") "16\r\n" FILE_PART,
     "\r\n--x--\r\n", 200, "{\"matches\":true"},
    {"?encoding=rope", FILE_PART, "\r\n--x--", 200, "{\"matches\":true"},
    {"", FILE_PART,
     "\r\n" PART("name=config") "{\"model_type\":\"llama\",\"head_dim\":16,"
                                "\"hidden_size\":64,\"num_attention_heads\":4,\"rope_theta\":"
                                "500000}\r\n--x--",
     200, "rope_theta was 10000, not 500000"},
    {"", FILE_PART, "\r\n" PART("name=a; filename=config.json") "[]\r\n--x--", 422,
     "config must be an object"},
    {"?encoding=rope", FILE_PART, "\r\n--y--", 400, "a part does not end"},
    {"?encoding=rope", "--y\r\n\r\n", "\r\n--x--", 400, "does not begin with its boundary"},
    {"?encoding=rope", "--x\r\nA: b", "\r\n--x--", 400, "a part "},
    {"?encoding=rope", PART("name=head_dim") "16\r\n--x--", NULL, 400, "must have a part with the"},
    {"?encoding=rope", PART("name=a; filename=b.txt"), "\r\n--x--", 200, "{\"matches\":true"},
    {"?encoding=rope", PART("name=a; filename=b.txt") "words\r\n--x--", NULL, 400,
     "a file must be"},
    {"?encoding=rope", FILE_PART, "\r\n" PART("name=t; filename=a.npy") "\r\n--x--", 400,
     "several files are of tensors"},
    {"?rope_theta=10000", FILE_PART,
     "\r\n" PART("name=config") "{\"model_type\":\"llama\",\"head_dim\":16,"
                                "\"hidden_size\":64,\"num_attention_heads\":4,\"rope_theta\":"
                                "500000}\r\n--x--",
     200, "{\"matches\":true"},
    {"?encoding=rope", FILE_PART, "\r\n" PART("name=head_dmi") "8\r\n--x--", 400,
     "did you mean head_dim?"},
};

static void a_form_may_hold_tensors_and_configuration(void **state)
{
    static const char *const headers[] = {"Content-Type: multipart/form-data; boundary=x", NULL};
    static const char *const none[] = {"Content-Type: multipart/form-data", NULL};
    for (size_t f = 0; f < PE_LEN(forms); f++) {
        char target[80];
        pe_buffer body = {0};
        snprintf(target, sizeof target, "/v1/verify%s", forms[f].query);
        pe_buffer_str(&body, forms[f].before);
        if (forms[f].after != NULL) {
            put_tensors(NULL, &body);
            pe_buffer_str(&body, forms[f].after);
        }
        reply answer = fetch(&server, "POST", target, headers, body.data, body.bytes);
        assert_status(forms[f].says, &answer, forms[f].status);
        if (strstr(answer.body, forms[f].says) == NULL)
            fail_msg("form %zu: %s", f, answer.body);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    reply answer = fetch(&server, "POST", "/v1/verify", none, "--x--", 5);
    assert_status("no boundary", &answer, 400);
    reply_free(&answer);
}

static void put_gguf_key(const char *key, uint32_t type, pe_buffer *out)
{
    pe_buffer_little(out, strlen(key), 8);
    pe_buffer_str(out, key);
    pe_buffer_little(out, type, 4);
}

/* A llama of 4 heads of 16 channels, whose base is 10000. */
static void put_gguf(pe_buffer *out)
{
    enum { UINT32 = 4, STRING = 8 };
    pe_buffer_str(out, "GGUF");
    pe_buffer_little(out, 3, 4);
    pe_buffer_little(out, 0, 8);
    pe_buffer_little(out, 3, 8);
    put_gguf_key("general.architecture", STRING, out);
    pe_buffer_little(out, strlen("llama"), 8);
    pe_buffer_str(out, "llama");
    put_gguf_key("llama.embedding_length", UINT32, out);
    pe_buffer_little(out, 64, 4);
    put_gguf_key("llama.attention.head_count", UINT32, out);
    pe_buffer_little(out, 4, 4);
}

/* Of a GGUF file beside a configuration, or of a model by name, the table is compared. */
static void a_form_may_hold_a_gguf_file(void **state)
{
    static const char *const headers[] = {"Content-Type: multipart/form-data; boundary=x", NULL};
    static const struct {
        const char *target, *config, *says;
        long status;
    } rows[] = {
        {"/v1/verify", "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4}",
         "{\"matches\":true", 200},
        {"/v1/verify",
         "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4,\"rope_theta\":"
         "500000}",
         "rope_theta was 10000, not 500000", 200},
        {"/v1/verify?model=llama-3.1-8b", NULL, "\"matches\":false", 200},
        {"/v1/verify?model_id=llama-3.1-8b", NULL, "\"matches\":false", 200},
        {"/v1/verify?m%6Fdel=meta-llama%2FLlama-3.1-8B", NULL, "\"matches\":false", 200},
        {"/v1/verify?model%5Fid=llama-3.1-8b&layer%5Ftype=nope", NULL, "layer_type must be", 422},
        {"/v1/verify", "{\"model_type\":\"mpt\",\"d_model\":64,\"n_heads\":4}", "query_length",
         400},
        {"/v1/verify?layer_type=sliding_attention",
         "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4}",
         "layer_type must be", 422},
        {"/v1/models/resolve", "{\"model_type\":\"llama\"}", "a form must have one file", 400},
        {"/v1/verify", "{}\r\n" PART("name=t; filename=t.csv") "1,2", "are two uploads", 400},
        {"/v1/verify", NULL, "a file .gguf beside a configuration or model", 400},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        pe_buffer body = {0};
        pe_buffer_str(&body, PART("name=model; filename=m.gguf"));
        put_gguf(&body);
        if (rows[r].config != NULL)
            pe_buffer_format(&body, "\r\n" PART("name=config") "%s", rows[r].config);
        pe_buffer_str(&body, "\r\n--x--");
        reply answer = fetch(&server, "POST", rows[r].target, headers, body.data, body.bytes);
        assert_status(rows[r].says, &answer, rows[r].status);
        if (strstr(answer.body, rows[r].says) == NULL)
            fail_msg("%s: %s", rows[r].says, answer.body);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

/* Where the type says nothing, as that which curl sends unless it is told, the content tells. */
static void a_body_is_told_by_its_content(void **state)
{
    static const char *const types[] = {"Content-Type: application/x-www-form-urlencoded",
                                        "Content-Type: text/plain", "Content-Type:"};
    static const char target[] = "/v1/verify?encoding=sinusoidal&d_model=8&positions=0:4";
    static const char *const formats[] = {"npy", "safetensors", "npz"};
    for (size_t t = 0; t < PE_LEN(types); t++) {
        const char *const headers[] = {types[t], NULL};
        for (size_t f = 0; f < PE_LEN(formats); f++) {
            char table[96];
            snprintf(table, sizeof table, "/v1/sinusoidal?d_model=8&positions=0:4&format=%s",
                     formats[f]);
            reply made = get(&server, table);
            reply answer = fetch(&server, "POST", target, headers, made.body, made.bytes);
            assert_status(types[t], &answer, 200);
            assert_non_null(strstr(answer.body, "\"matches\":true"));
            reply_free(&made);
            reply_free(&answer);
        }
        static const char json[] =
            "{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":2},\"table\":[[0,1]]}";
        reply answer = fetch(&server, "POST", "/v1/verify", headers, json, sizeof json - 1);
        assert_status(types[t], &answer, 200);
        reply_free(&answer);
    }
}

/* A pickle may hold code: it is not read, and the answer says what to do. */
static void a_pickle_is_refused_with_its_conversion(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {{"\x80\x02}q", 4}, {"PK\3\4\0\0archive/data.pkl", 22}};
    static const char *const headers[] = {"Content-Type: application/octet-stream", NULL};
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        reply answer = fetch(&server, "POST", "/v1/verify?encoding=rope&head_dim=8", headers,
                             rows[r].bytes, rows[r].n);
        assert_problem("a pickle", &answer, 415, "unsupported-media-type");
        assert_non_null(strstr(answer.body, "from safetensors.torch import save_file"));
        reply_free(&answer);
    }
}

/* Bytes of any kind are read as the file that they begin as, and zip files as their arrays. */
static void bytes_are_read_as_the_file_they_are(void **state)
{
    static const char *const types[] = {"application/octet-stream", "application/x-npy"};
    static const char *const rows[] = {"format=npy&tensor=cos", "format=npy&tensor=sin",
                                       "format=safetensors"};
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        char from[120];
        snprintf(from, sizeof from, "/v1/rope/table?head_dim=16&positions=0:6&%s", rows[r]);
        reply table = get(&server, from);
        assert_status(from, &table, 200);
        const pe_buffer body = {.data = table.body, .bytes = table.bytes};
        reply answer = parts_verify(&server, "encoding=rope", types[0], &body);
        assert_said(from, &answer, true, NULL, 0);
        reply_free(&answer);
        reply_free(&table);
    }
    pe_buffer npz = {0}, npy[2] = {{0}, {0}};
    part parts[2] = {{.name = "cos"}, {.name = "sin"}};
    for (size_t p = 0; p < 2; p++) {
        const reply *numbers = &source[p == 0 ? COS : SIN];
        put_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6, 8), } \n", numbers->body,
                numbers->bytes, &npy[p]);
        parts[p].data = npy[p].data;
        parts[p].bytes = npy[p].bytes;
    }
    parts_npz(parts, 2, &npz);
    static const char *const says[] = {"\"head_dim=16, from the shape\"", "\"elements\":96"};
    for (size_t t = 0; t < PE_LEN(types); t++) {
        reply answer = parts_verify(&server, "encoding=rope", types[t], &npz);
        assert_said(types[t], &answer, true, says, PE_LEN(says));
        reply_free(&answer);
    }
    for (size_t p = 0; p < 2; p++)
        pe_buffer_free(&npy[p]);
    pe_buffer_free(&npz);
}

/* What is wrong with a zip file of one array, of which some bytes are others. */
static void broken_zip_files_are_refused(void **state)
{
    enum { FILE_AT = 37, FILE_BYTES = 112, ROW_AT = FILE_AT + FILE_BYTES, END_AT = ROW_AT + 53 };
    static const struct {
        size_t at;
        char byte;
        const char *says;
    } rows[] = {
        {ROW_AT, 'X', "its directory is broken"},
        {ROW_AT + 10, 8, "what is compressed in it does not unpack"},
        {ROW_AT + 10, 9,
         "cos.npy is compressed in the .npz file; numpy.savez writes files that are not"},
        {ROW_AT + 8, 1, "numpy.savez writes"},
        {ROW_AT + 23, 1, "it ends inside cos.npy"},
        {ROW_AT + 29, 1, "its directory is broken"},
        {ROW_AT + 42, 1, "nothing is where the directory says, of cos.npy"},
        {ROW_AT + 45, 1, "nothing is where the directory says"},
        {ROW_AT + 52, 'z', "a file in it does not end in .npy: cos.npz"},
        {END_AT, 'X', "it ends without a directory"},
        {END_AT + 10, 0, "it holds no tensor"},
        {END_AT + 11, 99, "it holds too many tensors"},
        {END_AT + 10, 2, "its directory is broken"},
        {END_AT + 16, 0, "its directory is broken"},
        {FILE_AT, 'X', "it does not begin with"},
    };
    char header[FILE_BYTES - 32 - 10 + 1];
    pe_buffer npy = {0}, npz = {0};
    snprintf(header, sizeof header, "%-69s\n",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }");
    put_npy(header, source[COS].body, 32, &npy);
    assert_int_equal(npy.bytes, FILE_BYTES);
    parts_npz(&(part){.name = "cos", .data = npy.data, .bytes = npy.bytes}, 1, &npz);
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        const char was = npz.data[rows[r].at];
        npz.data[rows[r].at] = rows[r].byte;
        reply answer = parts_verify(&server, "encoding=rope", "application/x-npy", &npz);
        assert_status(rows[r].says, &answer, 400);
        if (strstr(answer.body, rows[r].says) == NULL)
            fail_msg("%s: %s", rows[r].says, answer.body);
        reply_free(&answer);
        npz.data[rows[r].at] = was;
    }
    pe_buffer_free(&npy);
    pe_buffer_free(&npz);
}

/* Files of NumPy go by the names of their parts. */
static void a_form_may_hold_files_of_numpy(void **state)
{
    static const char *const headers[] = {"Content-Type: multipart/form-data; boundary=x", NULL};
    static const struct {
        const char *second;
        bool matches;
    } rows[] = {{"sin", true}, {"cos", false}};
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        pe_buffer body = {0};
        for (size_t t = 0; t < 2; t++) {
            char target[100];
            snprintf(target, sizeof target, "%s%s",
                     "/v1/rope/table?head_dim=16&positions=0:6&format=npy&tensor=",
                     t == 0 ? "cos" : rows[r].second);
            reply table = get(&server, target);
            pe_buffer_format(&body, PART("name=%s; filename=%zu.npy"), t == 0 ? "cos" : "sin", t);
            pe_buffer_add(&body, table.body, table.bytes);
            pe_buffer_str(&body, "\r\n");
            reply_free(&table);
        }
        pe_buffer_str(&body, "--x--");
        reply answer =
            fetch(&server, "POST", "/v1/verify?encoding=rope", headers, body.data, body.bytes);
        assert_said("files of NumPy", &answer, rows[r].matches, NULL, 0);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_has_any_shape),
        cmocka_unit_test(tables_are_read_as_engines_keep_them),
        cmocka_unit_test(complex_numbers_of_numpy_are_pairs),
        cmocka_unit_test(numpy_files_of_any_order_are_read),
        cmocka_unit_test(wide_integers_are_indices),
        cmocka_unit_test(vectors_of_grids_are_compared),
        cmocka_unit_test(queries_and_keys_come_in_one_post),
        cmocka_unit_test(large_tables_are_read_in_place),
        cmocka_unit_test(large_lone_cosines_are_read_in_place),
        cmocka_unit_test(bodies_have_a_bound_of_their_own),
        cmocka_unit_test(a_configuration_may_be_in_the_metadata),
        cmocka_unit_test(a_form_may_hold_tensors_and_configuration),
        cmocka_unit_test(a_form_may_hold_a_gguf_file),
        cmocka_unit_test(a_form_may_hold_files_of_numpy),
        cmocka_unit_test(a_body_is_told_by_its_content),
        cmocka_unit_test(a_pickle_is_refused_with_its_conversion),
        cmocka_unit_test(bytes_are_read_as_the_file_they_are),
        cmocka_unit_test(broken_zip_files_are_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
