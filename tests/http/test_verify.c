/* SPDX-License-Identifier: MIT */
/*
 * test_verify.c - POST /v1/verify over HTTP: uploads that are computed here; the others are
 * cases/claims.json, cases/reports.json and cases/tensors.json.
 * Which faults are found is for properties/test_verify_planted.c to show.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/planted.h"
#include "support/problem.h"
#include "verify/upload/upload.h"

static test_server server;

static json_t *verified(const char *name, const char *body)
{
    reply answer = post_json(&server, "/v1/verify", body);
    if (answer.status != 200)
        fail_msg("%s: %ld %s", name, answer.status, answer.body);
    assert_header(name, &answer, "Content-Type", "application/json");
    assert_header(name, &answer, "Cache-Control", "no-store");
    json_t *report = reply_json(&answer);
    reply_free(&answer);
    return report;
}

static bool matches(const json_t *report)
{
    return json_is_true(json_object_get(report, "matches"));
}

/* The faults of the first finding, joined by "+". */
static const char *first_faults(const json_t *report, char *out, size_t room)
{
    const json_t *finding = json_array_get(json_object_get(report, "diagnosis"), 0);
    const json_t *faults = json_object_get(finding, "faults");
    out[0] = '\0';
    for (size_t f = 0; f < json_array_size(faults); f++) {
        const size_t used = strlen(out);
        snprintf(out + used, room - used, "%s%s", f == 0 ? "" : "+",
                 json_string_value(json_array_get(faults, f)));
    }
    return out;
}

/* ---- what comes back ------------------------------------------------------------------------- */

#define TABLE                                                                                      \
    "\"table\":{\"cos\":[[1,1],[0.5403023,0.99995]],\"sin\":[[0,0],[0.84147096,0.009999833]]}"

static void a_wrong_base_is_named_with_what_would_remain(void **state)
{
    char faults[80];
    json_t *report =
        verified("wrong base", "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,"
                               "\"rope_theta\":500000,\"positions\":\"0:2\"}," TABLE "}");
    const json_t *bad = json_object_get(report, "first_bad");
    const json_t *finding = json_array_get(json_object_get(report, "diagnosis"), 0);
    assert_false(matches(report));
    assert_string_equal(first_faults(report, faults, sizeof faults), "rope_theta");
    assert_string_equal(json_string_value(json_object_get(report, "conclusion")),
                        "rope_theta was 10000, not 500000");
    assert_string_equal(json_string_value(json_object_get(finding, "rule")),
                        "rope_theta was 10000, not 500000");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(finding, "parameters"), "rope_theta")),
        10000);
    assert_true(json_number_value(json_object_get(json_object_get(finding, "error"), "max_abs")) ==
                0);
    assert_string_equal(json_string_value(json_object_get(bad, "tensor")), "cos");
    assert_int_equal(json_integer_value(json_object_get(bad, "position")), 1);
    assert_int_equal(json_integer_value(json_object_get(bad, "pair")), 1);
    /* two pairs, two bands; the first is the same at every base */
    const json_t *bands = json_object_get(report, "bands");
    assert_int_equal(json_array_size(bands), 2);
    assert_true(json_number_value(json_object_get(json_array_get(bands, 0), "max_phase")) == 0);
    const double phase = json_number_value(json_object_get(json_array_get(bands, 1), "max_phase"));
    /* 10000^(-1/2) - 500000^(-1/2) at position 1, numbers of 24 bits */
    assert_true(fabs(phase - (0.01 - 1 / sqrt(500000))) < 1e-7);
    json_decref(report);
}

/* ---- every layout, every kind ---------------------------------------------------------------- */

/* The answer of a GET, its tensors under their names, posted back with the same parameters. */
static void assert_round_trip(const char *encoding, const char *path, const char *query,
                              const char *parameters)
{
    char target[300];
    snprintf(target, sizeof target, "%s?%s", path, query);
    reply table = get(&server, target);
    assert_status(target, &table, 200);
    json_t *answer = reply_json(&table), *tensors = json_object(), *tensor;
    const char *name;
    json_object_foreach(answer, name, tensor) if (json_object_get(tensor, "data") != NULL)
        json_object_set(tensors, name, json_object_get(tensor, "data"));
    if (json_object_size(tensors) == 0) {
        json_decref(tensors);
        tensors = json_incref(json_object_get(answer, "data"));
    }
    json_t *body = json_pack("{s:s, s:o, s:O}", "encoding", encoding, "parameters",
                             json_loads(parameters, 0, NULL), "table", tensors);
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    json_t *report = verified(target, text);
    if (!matches(report))
        fail_msg("%s: %s", target, json_dumps(report, 0));
    free(text);
    json_decref(report);
    json_decref(body);
    json_decref(tensors);
    json_decref(answer);
    reply_free(&table);
}

static void every_layout_of_a_table_is_read(void **state)
{
    static const char *const layouts[] = {"pairs", "hf", "vllm", "onnx", "meta", "trtllm"};
    static const char *const pairings[] = {"half", "interleaved"};
    for (size_t l = 0; l < PE_LEN(layouts); l++)
        for (size_t p = 0; p < PE_LEN(pairings); p++) {
            char query[200], parameters[200];
            snprintf(query, sizeof query,
                     "head_dim=12&rotary_dim=8&positions=3:9&cache_layout=%s&pairing=%s",
                     layouts[l], pairings[p]);
            snprintf(parameters, sizeof parameters,
                     "{\"head_dim\":12,\"rotary_dim\":8,\"positions\":\"3:9\","
                     "\"cache_layout\":\"%s\",\"pairing\":\"%s\"}",
                     layouts[l], pairings[p]);
            assert_round_trip("rope", "/v1/rope/table", query, parameters);
        }
    assert_round_trip("sinusoidal", "/v1/sinusoidal", "d_model=7&positions=0:5",
                      "{\"d_model\":7,\"positions\":\"0:5\"}");
    assert_round_trip("sinusoidal", "/v1/sinusoidal", "d_model=7&freq_shift=1&layout=sin_cos",
                      "{\"d_model\":7,\"freq_shift\":1,\"layout\":\"sin_cos\"}");
}

static void tables_of_the_registry_are_read_by_name(void **state)
{
    assert_round_trip("t5/buckets", "/v1/t5/buckets", "query_length=4&key_length=40",
                      "{\"query_length\":4,\"key_length\":40}");
    assert_round_trip("shaw/indices", "/v1/shaw/indices", "query_length=4&max_relative_position=2",
                      "{\"query_length\":4,\"max_relative_position\":2}");
    assert_round_trip("alibi", "/v1/alibi/bias", "num_heads=3&query_length=4&form=causal",
                      "{\"num_heads\":3,\"query_length\":4,\"form\":\"causal\"}");
    assert_round_trip("rope/frequencies", "/v1/rope/frequencies", "head_dim=8", "{\"head_dim\":8}");
}

/* ---- planted faults, over the wire ----------------------------------------------------------- */

static void put_rows(const double *numbers, size_t rows, size_t width, pe_buffer *out)
{
    for (size_t e = 0; e < rows * width; e++)
        pe_buffer_format(out, "%s%.9g%s", e % width == 0 ? (e == 0 ? "[[" : ",[") : ",", numbers[e],
                         e % width == width - 1 ? "]" : "");
    pe_buffer_str(out, "]");
}

/* llama3, made with rope_type default: theta 500000, 12 positions, by the tests' own slow code. */
static planted llama(double *numbers)
{
    planted p = {.kind = PLANTED_ROPE,
                 .parameters = json_pack("{s:i, s:i}", "head_dim", 32, "rope_theta", 500000),
                 .tokens = 12,
                 .attention_power = 1};
    pe_shape shape;
    for (size_t t = 0; t < p.tokens; t++)
        p.positions[t] = (double)t + 1; /* and one too large */
    planted_numbers(&p, numbers, &shape);
    json_decref(p.parameters);
    p.parameters = NULL;
    return p;
}

/* longrope of a configuration, at the length that the claim gives: long_factor beyond 16 tokens, and
 * cosines grow by sqrt(1 + ln(64/16) / ln(16)). */
static void a_sequence_may_be_longer_than_a_configuration_tells(void **state)
{
    static const char *const lengths[] = {"\"seq_len\":32,", ""};
    for (size_t l = 0; l < PE_LEN(lengths); l++) {
        double numbers[2][8];
        pe_buffer body = {0};
        for (size_t i = 0; i < 8; i++) {
            const double angle = (double)(i / 2) * (i % 2 == 0 ? 1.0 / 2 : 0.01 / 4);
            numbers[0][i] = sqrt(1.5) * cos(angle);
            numbers[1][i] = sqrt(1.5) * sin(angle);
        }
        pe_buffer_format(&body,
                         "{\"config\":{\"model_type\":\"phi3\",\"hidden_size\":8,"
                         "\"num_attention_heads\":2,\"rope_theta\":10000,"
                         "\"max_position_embeddings\":64,"
                         "\"original_max_position_embeddings\":16,\"rope_scaling\":{"
                         "\"type\":\"longrope\",\"short_factor\":[1,1.5],\"long_factor\":[2,4]}},"
                         "%s\"positions\":\"0:4\",\"table\":{\"cos\":",
                         lengths[l]);
        put_rows(numbers[0], 4, 2, &body);
        pe_buffer_str(&body, ",\"sin\":");
        put_rows(numbers[1], 4, 2, &body);
        pe_buffer_str(&body, "}}");
        json_t *report = verified("longrope", pe_buffer_text(&body));
        assert_int_equal(matches(report), l == 0);
        json_decref(report);
        pe_buffer_free(&body);
    }
}

static void a_pair_of_faults_is_found_in_a_configuration_s_table(void **state)
{
    static double numbers[PLANTED_MAX];
    char faults[120];
    const planted p = llama(numbers);
    pe_buffer body = {0};
    pe_buffer_str(&body,
                  "{\"config\":{\"model_type\":\"llama\",\"hidden_size\":64,"
                  "\"num_attention_heads\":2,\"rope_theta\":500000,"
                  "\"max_position_embeddings\":1024,"
                  "\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
                  "\"high_freq_factor\":4,\"original_max_position_embeddings\":128}},"
                  "\"positions\":\"0:12\",\"table\":{\"cos\":");
    put_rows(numbers, p.tokens, 16, &body);
    pe_buffer_str(&body, ",\"sin\":");
    put_rows(numbers + p.tokens * 16, p.tokens, 16, &body);
    pe_buffer_str(&body, "}}");
    json_t *report = verified("config", pe_buffer_text(&body));
    assert_false(matches(report));
    assert_string_equal(first_faults(report, faults, sizeof faults),
                        "scaling_ignored+position_plus_one");
    json_decref(report);
    pe_buffer_free(&body);
}

/* ---- grids, heads, items ----------------------------------------------------------------------- */

/* Cosines or sines of patches, 3 by 4, of head_dim 16 and theta 10000; types of frequencies and
 * angles. */
static void add_patches(pe_buffer *body, const char *name, double (*wave)(double),
                        const pe_narrow_type *frequencies, const pe_narrow_type *angles)
{
    pe_buffer_format(body, "\"%s\":[", name);
    for (int k = 0; k < 12 * 8; k++) {
        const int patch = k / 8, i = k % 8, at = i < 4 ? patch / 4 : patch % 4;
        double w = pow(10, -(i % 4));
        w = frequencies != NULL ? pe_narrow_type_round(frequencies, w) : w;
        pe_buffer_format(body, "%s%.9g",
                         k == 0   ? "["
                         : i == 0 ? "],["
                                  : ",",
                         wave(pe_narrow_type_round(angles, at * w)));
    }
    pe_buffer_str(body, "]]");
}

static void grids_tell_where_a_narrow_type_came_in(void **state)
{
    const pe_narrow_type *narrow_type = &pe_narrow_types[PE_NARROW_BFLOAT16];
    static const char *const sentences[] = {"angles were rounded to bfloat16",
                                            "frequencies and angles were computed in bfloat16"};
    for (size_t both = 0; both < 2; both++) {
        pe_buffer body = {0};
        const pe_narrow_type *frequencies = both > 0 ? narrow_type : NULL;
        pe_buffer_str(&body, "{\"encoding\":\"rope/grid\",\"parameters\":{\"head_dim\":16,"
                             "\"height\":3,\"width\":4},\"table\":{");
        add_patches(&body, "cos", cos, frequencies, narrow_type);
        pe_buffer_str(&body, ",");
        add_patches(&body, "sin", sin, frequencies, narrow_type);
        pe_buffer_str(&body, "}}");
        json_t *report = verified(sentences[both], pe_buffer_text(&body));
        assert_string_equal(json_string_value(json_object_get(report, "conclusion")),
                            sentences[both]);
        json_decref(report);
        pe_buffer_free(&body);
    }
}

/* Each of 4 heads has 6 tokens of 4 channels; `of` says which head's vectors stand there, and head
 * `other` is as if its positions were three times as large. */
static json_t *verified_heads(const char *name, const size_t of[4], size_t other)
{
    pe_buffer body = {0};
    pe_buffer_str(&body, "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,"
                         "\"pairing\":\"interleaved\"},\"dtype\":\"float64\"");
    for (size_t rotated = 0; rotated < 2; rotated++) {
        pe_buffer_str(&body, rotated ? ",\"rotated\":[" : ",\"inputs\":[");
        for (size_t k = 0; k < 4 * 6 * 2; k++) {
            const size_t at = k / 12, t = k / 2 % 6, pair = k % 2, h = rotated ? of[at] : at;
            const double w = pair == 0 ? 1 : 0.01, p = (double)t * (at == other ? 3 : 1);
            const double angle = rotated ? p * w : 0, x = (double)(1 + h),
                         y = (double)(t + pair) - 2;
            pe_buffer_format(&body, "%s%.17g,%.17g%s",
                             k % 12 == 0 ? (k > 0 ? ",[[" : "[[")
                             : pair == 0 ? "["
                                         : "",
                             x * cos(angle) - y * sin(angle), y * cos(angle) + x * sin(angle),
                             k % 12 == 11 ? "]]"
                             : pair == 1  ? "],"
                                          : ",");
        }
        pe_buffer_str(&body, "]");
    }
    pe_buffer_str(&body, "}");
    json_t *report = verified(name, pe_buffer_text(&body));
    pe_buffer_free(&body);
    return report;
}

static void heads_are_told(void **state)
{
    char faults[256];
    json_t *report = verified_heads("in another order", (const size_t[]){2, 0, 3, 1}, 4);
    assert_string_equal(first_faults(report, faults, sizeof faults), "head_order");
    assert_null(json_object_get(json_object_get(report, "measured"), "heads"));
    json_decref(report);
    report = verified_heads("one of them", (const size_t[]){0, 1, 2, 3}, 2);
    const json_t *measured = json_object_get(report, "measured");
    const json_t *heads = json_object_get(measured, "heads");
    assert_int_equal(json_array_size(heads), 1);
    assert_int_equal(json_integer_value(json_array_get(heads, 0)), 2);
    const json_t *run = json_array_get(json_object_get(measured, "positions"), 0);
    assert_true(json_number_value(json_object_get(run, "last")) == 15);
    const json_t *first = json_array_get(json_object_get(report, "diagnosis"), 0);
    assert_non_null(strstr(json_string_value(json_object_get(first, "rule")), "head 2 of 4"));
    json_decref(report);
}

/* Vectors of two items with four tokens of four channels, each at a position of its own on each of
 * two axes: pair 0 turns by those of the first, pair 1 by those of the last. */
static json_t *verified_places(const char *name, const char *claim, double (*places)[2])
{
    pe_buffer body = {0};
    pe_buffer_format(&body, "{\"encoding\":\"rope\",\"dtype\":\"float64\",%s", claim);
    for (size_t rotated = 0; rotated < 2; rotated++) {
        pe_buffer_str(&body, rotated ? ",\"rotated\":[[" : ",\"inputs\":[[");
        for (size_t k = 0; k < 2 * 4 * 2; k++) {
            const size_t token = k / 2, pair = k % 2;
            const double w = pair == 0 || strstr(claim, "axes_dims") != NULL ? 1 : 0.01;
            const double angle = rotated ? places[token][pair] * w : 0;
            const double x = 1 + (double)pair, y = (double)token - 2;
            pe_buffer_format(&body, "%s%.17g,%.17g%s", pair == 0 ? "[" : "",
                             x * cos(angle) - y * sin(angle), y * cos(angle) + x * sin(angle),
                             pair == 0    ? ","
                             : token == 3 ? "]],["
                             : token == 7 ? "]]]"
                                          : "],");
        }
    }
    pe_buffer_str(&body, "}");
    json_t *report = verified(name, pe_buffer_text(&body));
    pe_buffer_free(&body);
    return report;
}

static void vectors_have_positions_of_items_or_axes(void **state)
{
#define PLACES "\"parameters\":{\"head_dim\":4,\"pairing\":\"interleaved\""
    static const struct {
        const char *claim;
        double places[8][2];
        const char *faults; /* NULL: a match */
    } rows[] = {
        {PLACES "},\"positions\":[[0,1,2,3],[7,8,9,10]]",
         {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {7, 7}, {8, 8}, {9, 9}, {10, 10}},
         NULL},
        {PLACES "},\"positions\":\"0:4;7:11\"",
         {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {7, 7}, {8, 8}, {9, 9}, {10, 10}},
         NULL},
        {PLACES "},\"positions\":[[0,1,2,3],[7,8,9,10]]",
         {{0, 0}, {-1, -1}, {-2, -2}, {-3, -3}, {-7, -7}, {-8, -8}, {-9, -9}, {-10, -10}},
         "inverse"},
        {PLACES ",\"axes_dims\":[2,2]},\"positions\":[[0,1,2,3],[5,7,9,20]]",
         {{0, 5}, {1, 7}, {2, 9}, {3, 20}, {0, 5}, {1, 7}, {2, 9}, {3, 20}},
         NULL},
        {PLACES ",\"axes_dims\":[2,2]},\"positions\":[[0,1,2,3],[5,7,9,20]]",
         {{0, -5}, {-1, -7}, {-2, -9}, {-3, -20}, {0, -5}, {-1, -7}, {-2, -9}, {-3, -20}},
         "inverse"},
    };
    char faults[256];
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        double places[8][2];
        memcpy(places, rows[r].places, sizeof places);
        json_t *report = verified_places(rows[r].claim, rows[r].claim, places);
        assert_true(json_is_true(json_object_get(report, "matches")) == (rows[r].faults == NULL));
        if (rows[r].faults != NULL)
            assert_string_equal(first_faults(report, faults, sizeof faults), rows[r].faults);
        json_decref(report);
    }
    reply refused = post_json(&server, "/v1/verify",
                              "{\"encoding\":\"rope\"," PLACES
                              "},\"positions\":[[0],[1],[2]],\"inputs\":[[[1,2,3,4]],[[1,2,3,4]]],"
                              "\"rotated\":[[[1,2,3,4]],[[1,2,3,4]]]}");
    assert_status("items", &refused, 422);
    assert_non_null(strstr(refused.body, "got [3, 1]"));
    reply_free(&refused);
#undef PLACES
}

/* Cosines, then sines, of 64 rows and 4 pairs; one of 11 is off by 1/1024. */
static void add_rough_waves(pe_buffer *body, const char *name, double (*wave)(double))
{
    pe_buffer_format(body, "\"%s\":", name);
    for (int e = 0; e < 64 * 4; e++)
        pe_buffer_format(body, "%s%.9g",
                         e == 0       ? "[["
                         : e % 4 == 0 ? "],["
                                      : ",",
                         wave(e / 4 * pow(10, -(e % 4))) + (e % 11 == 7 ? 0x1p-10 : 0));
    pe_buffer_str(body, "]]");
}

/* A running sum or the like: it is not the memory that is bad. */
static void small_errors_are_no_bad_memory(void **state)
{
    static const char *const headers[] = {"Accept: text/plain", "Content-Type: application/json",
                                          NULL};
    pe_buffer body = {0};
    pe_buffer_str(&body, "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":8,"
                         "\"positions\":\"0:64\"},\"table\":{");
    add_rough_waves(&body, "cos", cos);
    pe_buffer_str(&body, ",");
    add_rough_waves(&body, "sin", sin);
    pe_buffer_str(&body, "}}");
    reply answer = fetch(&server, "POST", "/v1/verify", headers, body.data, body.bytes);
    assert_status("rough", &answer, 200);
    assert_non_null(
        strstr(answer.body, "\nNo known fault, nor any pair of them, explains the numbers"));
    reply_free(&answer);
    pe_buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_base_is_named_with_what_would_remain),
        cmocka_unit_test(every_layout_of_a_table_is_read),
        cmocka_unit_test(tables_of_the_registry_are_read_by_name),
        cmocka_unit_test(a_pair_of_faults_is_found_in_a_configuration_s_table),
        cmocka_unit_test(a_sequence_may_be_longer_than_a_configuration_tells),
        cmocka_unit_test(grids_tell_where_a_narrow_type_came_in),
        cmocka_unit_test(heads_are_told),
        cmocka_unit_test(vectors_have_positions_of_items_or_axes),
        cmocka_unit_test(small_errors_are_no_bad_memory),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
