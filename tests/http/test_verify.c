/* SPDX-License-Identifier: MIT */
/*
 * test_verify.c - POST /v1/verify over HTTP: uploads of every kind and format, and the bounds.
 * Which faults are found is for properties/test_verify_planted.c to show.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/tensors_file.h"
#include "support/planted.h"
#include "support/problem.h"
#include "verify/upload/grain.h"

static test_server server, narrow; /* narrow: small bounds */

static int start(void **state)
{
    static const char *const flags[] = {"--verify-max-elements",
                                        "100",
                                        "--verify-max-work",
                                        "20000",
                                        "--max-body-bytes",
                                        "20000",
                                        NULL};
    (void)state;
    server_start(&server, NULL);
    server_start(&narrow, flags);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    server_end(&server);
    server_end(&narrow);
    return 0;
}

static json_t *verified(const test_server *at, const char *name, const char *body)
{
    reply answer = post_json(at, "/v1/verify", body);
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

static void a_sound_table_matches(void **state)
{
    (void)state;
    json_t *report = verified(&server, "sound",
                              "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4},"
                              "\"positions\":[0,1]," TABLE "}");
    assert_true(matches(report));
    assert_string_equal(json_string_value(json_object_get(report, "numerics")), "exact");
    assert_int_equal(json_integer_value(json_object_get(report, "elements")), 8);
    assert_int_equal(json_array_size(json_object_get(report, "diagnosis")), 0);
    assert_null(json_object_get(report, "first_bad"));
    assert_null(json_object_get(report, "rule")); /* it is that of every report */
    json_decref(report);
}

static void a_wrong_base_is_named_with_what_would_remain(void **state)
{
    char faults[80];
    (void)state;
    json_t *report = verified(&server, "wrong base",
                              "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,"
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

static void a_tolerance_takes_the_place_of_the_rule(void **state)
{
    (void)state;
    static const char body[] = "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,"
                               "\"rope_theta\":500000,\"positions\":\"0:2\"},"
                               "\"tolerance\":%s," TABLE "}";
    char text[400];
    snprintf(text, sizeof text, body, "0.01");
    json_t *report = verified(&server, "wide", text);
    assert_true(matches(report));
    json_decref(report);
    snprintf(text, sizeof text, body, "0.001");
    report = verified(&server, "tight", text);
    assert_false(matches(report));
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
    json_t *report = verified(&server, target, text);
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
    (void)state;
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
    (void)state;
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
    (void)state;
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
        json_t *report = verified(&server, "longrope", pe_buffer_text(&body));
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
    (void)state;
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
    json_t *report = verified(&server, "config", pe_buffer_text(&body));
    assert_false(matches(report));
    assert_string_equal(first_faults(report, faults, sizeof faults),
                        "scaling_ignored+position_plus_one");
    json_decref(report);
    pe_buffer_free(&body);
}

/* ---- binary bodies --------------------------------------------------------------------------- */

#define SAFETENSORS "application/vnd.safetensors"

static const float good_cos[] = {1, 1, 0.5403023F, 0.99995F},
                   good_sin[] = {0, 0, 0.84147096F, 0.009999833F};

#define F32(label, numbers)                                                                        \
    {                                                                                              \
        (label), "F32", "[2,2]", (numbers), sizeof(numbers)                                        \
    }

static void binary_tables_take_their_parameters_from_the_query(void **state)
{
    const part parts[] = {F32("sin", good_sin), F32("cos", good_cos)};
    static const struct {
        const char *query;
        bool sound;
    } cases[] = {
        {"encoding=rope&head_dim=4&positions=0:2", true},
        {"encoding=rope%2Ftable&head_dim=4&positions=0:2&numerics=exact", true},
        {"encoding=rope&head_dim=4&positions=0:2&rope_theta=500000", false},
        {"encoding=rope&head_dim=4&positions=0:2&rope_theta=500000&tolerance=0.01", true},
    };
    pe_buffer body = {0};
    (void)state;
    parts_safetensors(parts, 2, &body);
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        reply answer = parts_verify(&server, cases[c].query, SAFETENSORS, &body);
        assert_status(cases[c].query, &answer, 200);
        json_t *report = reply_json(&answer);
        assert_int_equal(matches(report), cases[c].sound);
        json_decref(report);
        reply_free(&answer);
    }
    pe_buffer_free(&body);
}

/* Integers beside the numbers, a tensor called table beside others, every type: as it was sent. */
static void what_the_server_writes_is_what_it_claims(void **state)
{
    static const struct {
        const char *encoding, *query;
    } tables[] = {
        {"sinusoidal/relative", "d_model=8&query_length=4&key_length=6"},
        {"rope/grid", "convention=qwen2_vl&head_dim=16&frames=1&height=4&width=6"},
        {"rope/frequencies", "head_dim=16"},
        {"rope/frequencies", "head_dim=32&mrope_section=4,6,6"},
        {"rope/table", "head_dim=16&mrope_section=2,3,3&positions=0:9;0:9;4:13"},
        {"rope/xpos/table", "head_dim=16&positions=0:9"},
        {"rope/scaled-base", "head_dim=16&factor=8"},
        {"alibi/bias", "num_heads=4&query_length=5&form=causal"},
        {"sinusoidal/offset", "d_model=8&offset=3"},
        {"rope/compare", "model=qwen2.5-7b&target_length=131072"},
    };
    static const char *const dtypes[] = {"float32", "float64", "bfloat16"};
    (void)state;
    for (size_t t = 0; t < PE_LEN(tables); t++)
        for (size_t d = 0; d < PE_LEN(dtypes); d++) {
            char target[256], claim[256];
            snprintf(target, sizeof target, "/v1/%s?%s&dtype=%s&format=safetensors",
                     tables[t].encoding, tables[t].query, dtypes[d]);
            snprintf(claim, sizeof claim, "encoding=%s&%s", tables[t].encoding, tables[t].query);
            reply table = get(&server, target);
            assert_status(target, &table, 200);
            pe_buffer body = {.data = table.body, .bytes = table.bytes};
            reply answer = parts_verify(&server, claim, SAFETENSORS, &body);
            assert_status(target, &answer, 200);
            json_t *report = reply_json(&answer);
            assert_true(matches(report));
            assert_string_equal(json_string_value(json_object_get(report, "dtype")), dtypes[d]);
            json_decref(report);
            reply_free(&answer);
            reply_free(&table);
        }
}

/* What is found to be wrong, first of all, with a table of ours that is claimed to be another. */
static void assert_told(const char *target, const char *claim, const char *fault)
{
    char faults[256];
    reply table = get(&server, target);
    assert_status(target, &table, 200);
    pe_buffer body = {.data = table.body, .bytes = table.bytes};
    reply answer = parts_verify(&server, claim, SAFETENSORS, &body);
    assert_status(claim, &answer, 200);
    json_t *report = reply_json(&answer);
    assert_false(matches(report));
    assert_string_equal(first_faults(report, faults, sizeof faults), fault);
    json_decref(report);
    reply_free(&answer);
    reply_free(&table);
}

/* Half as wide as the claim: its pairs are where they are in what it was found to be. */
static void a_table_narrower_than_its_claim_is_told_so(void **state)
{
    (void)state;
    assert_told("/v1/rope/table?head_dim=8&positions=0:5&format=safetensors",
                "encoding=rope/table&head_dim=8&positions=0:5&cache_layout=hf", "cache_layout");
}

/* A cache as Hugging Face keeps it, of a claim that says no layout. */
static void a_table_twice_as_wide_is_of_hugging_face(void **state)
{
    static const char *const claims[] = {"encoding=rope&head_dim=128&positions=0:2048",
                                         "encoding=rope&model=llama-2-7b&positions=0:2048"};
    (void)state;
    reply table = get(&server, "/v1/rope/table?head_dim=128&positions=0:2048&pairing=half"
                               "&cache_layout=hf&format=safetensors");
    const pe_buffer body = {.data = table.body, .bytes = table.bytes};
    for (size_t c = 0; c < PE_LEN(claims); c++) {
        reply answer = parts_verify(&server, claims[c], SAFETENSORS, &body);
        assert_status(claims[c], &answer, 200);
        assert_non_null(strstr(answer.body, "{\"matches\":true"));
        reply_free(&answer);
    }
    reply_free(&table);
}

/* Where positions may be left out, and are, no fault is looked for in them. */
/* Tables of other positions and frequencies than claimed, which no fault of values gives. */
static void positions_are_measured(void **state)
{
    static const struct {
        const char *made, *fault;
    } cases[] = {
        {"positions=7:71", "position_offset"},
        {"positions=63:-1:-1", "positions_reversed"},
        {"positions=0:128:2", "position_scaled"},
        {"positions=-1:63&rope_theta=500000", "position_minus_one+rope_theta"},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        char target[200];
        snprintf(target, sizeof target, "/v1/rope/table?head_dim=64&%s&format=safetensors",
                 cases[c].made);
        assert_told(target, "encoding=rope&head_dim=64&positions=0:64", cases[c].fault);
    }
}

static void a_wrong_grid_is_no_matter_of_positions(void **state)
{
    (void)state;
    assert_told("/v1/rope/grid?convention=pixtral&head_dim=16&height=4&width=6&rope_theta=10000"
                "&format=safetensors",
                "encoding=rope/grid&convention=pixtral&head_dim=16&height=4&width=6"
                "&rope_theta=500000",
                "rope_theta");
}

#define TEXT_IMAGE "positions=0,1,1,1,1,3;0,1,1,2,2,3;0,1,2,1,2,3"
#define EXCHANGED  "positions=0,1,1,1,1,3;0,1,2,1,2,3;0,1,1,2,2,3"
#define YARN                                                                                       \
    "head_dim=64&rope_type=yarn&factor=4&original_max_position_embeddings=4096&positions=0:64"

static const struct {
    const char *path, *made, *claimed, *fault;
} plain_causes[] = {
    {"alibi/bias", "num_heads=32&heads=8:16&query_length=6", "num_heads=8&query_length=6",
     "slope_shard"},
    {"alibi/slopes", "num_heads=8&alibi_bias_max=12", "num_heads=8", "alibi_bias_max"},
    {"alibi/bias", "num_heads=8&alibi_bias_max=12&form=causal&query_length=6",
     "num_heads=8&query_length=6", "form+alibi_bias_max"},
    {"t5/buckets", "query_length=160&max_distance=50", "query_length=160", "max_distance"},
    {"shaw/indices", "query_length=24&max_relative_position=3",
     "query_length=24&max_relative_position=7", "shaw_clip"},
    {"swin/coordinates",
     "window_height=4&window_width=4&pretrained_window_height=7&pretrained_window_width=7",
     "window_height=4&window_width=4&pretrained_window_height=12&pretrained_window_width=12",
     "pretrained_window"},
    {"rope/xpos/table", "head_dim=16&positions=0:40&center=3", "head_dim=16&positions=0:40",
     "xpos_center"},
    {"rope/attention-scale", "positions=0:65536:2048&original_max_position_embeddings=6000",
     "positions=0:65536:2048&original_max_position_embeddings=8192", "scale_length"},
    {"rope/attention-scale", "positions=0:131072:2048&beta=0.07", "positions=0:131072:2048",
     "scale_beta"},
    {"rope/attention-scale", "positions=0:131072:2048&variant=qwen",
     "positions=0:131072:2048&beta=0.2", "attention_variant"},
    {"sinusoidal/timing", "d_model=16&length=40&start_index=100", "d_model=16&length=40",
     "coordinates_shifted"},
    {"sinusoidal/timing", "d_model=16&length=40&start_index=20&max_timescale=1000",
     "d_model=16&length=40", "max_timescale+coordinates_shifted"},
    {"sinusoidal/offset", "d_model=16&offset=5&base=2000", "d_model=16&offset=5", "base"},
    {"rope/grid", "head_dim=16&height=2&width=3&convention=gemma4",
     "head_dim=16&height=2&width=3&convention=pixtral", "convention"},
    /* patches by blocks of 2 x 2, and of two frames */
    {"rope/grid", "head_dim=16&positions=1,1,2,2,1,1,2,2;1,2,1,2,3,4,3,4",
     "head_dim=16&height=2&width=4&spatial_merge_size=2", "coordinates_shifted"},
    {"rope/grid", "head_dim=16&positions=1,1,2,2,3,3,1,1,2,2,3,3;1,2,1,2,1,2,1,2,1,2,1,2",
     "head_dim=16&height=3&width=2&frames=2", "coordinates_shifted"},
    {"rope/grid",
     "head_dim=16&positions=0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3;0,1,0,1,0,1,0,1,2,3,2,3,2,3,2,3",
     "head_dim=16&height=4&width=4&spatial_merge_size=2", "blocks_transposed"},
    /* patches from -1 to 1: of corners, and of columns before rows */
    {"rope/grid",
     "head_dim=16&convention=dinov3&height=2&width=3&positions=-0.5,-0.5,-0.5,0.5,0.5,0.5;"
     "-0.5,0.5,1.5,-0.5,0.5,1.5",
     "head_dim=16&convention=dinov3&height=2&width=3", "coordinates_shifted"},
    {"rope/grid",
     "head_dim=16&convention=dinov3&height=2&width=3&positions=0,1,0,1,0,1;0,0,1,1,2,2",
     "head_dim=16&convention=dinov3&height=2&width=3", "mesh_transposed"},
    /* a row before those of patches, alone and with another base; padding */
    {"sinusoidal/grid", "d_model=16&height=3&extra_tokens=1", "d_model=16&height=3",
     "extra_tokens"},
    {"sinusoidal/grid", "d_model=16&height=3&base=500", "d_model=16&height=3&extra_tokens=1",
     "extra_tokens+base_other"},
    {"sinusoidal/grid", "d_model=16&height=4&offset=1&valid_height=3&valid_width=2",
     "d_model=16&height=4&offset=1&valid_height=3&valid_width=2&normalize=true",
     "coordinates_plain"},
    {"rope/table", "head_dim=16&mrope_section=2,3,3&" EXCHANGED,
     "head_dim=16&mrope_section=2,3,3&" TEXT_IMAGE, "mrope_axes_exchanged"},
    {"rope/table", "head_dim=16&mrope_section=4,2,2&" TEXT_IMAGE,
     "head_dim=16&mrope_section=2,3,3&" TEXT_IMAGE, "mrope_sections"},
    /* 10000^(n/(n - 1)) of axes of 4, 2 and 2 pairs */
    {"rope/table", "head_dim=16&axes_dims=8,4,4&axes_theta=215443.46900318843,1e8,1e8&" TEXT_IMAGE,
     "head_dim=16&axes_dims=8,4,4&" TEXT_IMAGE, "axes_exponents"},
    {"rope/table", "head_dim=16&axes_dims=8,4,4&" EXCHANGED,
     "head_dim=16&axes_dims=8,4,4&axes_scale=3,1,1&" TEXT_IMAGE, "axes_scale+axes_exchanged"},
    /* pairs of each section count from 0; the second time in a ladder as long as the section */
    {"rope/table",
     "head_dim=16&mrope_section=2,3,3&" TEXT_IMAGE
     "&freq_factors=1,1,0.1,0.1,0.1,0.0031622776601683794,0.0031622776601683794,"
     "0.0031622776601683794",
     "head_dim=16&mrope_section=2,3,3&" TEXT_IMAGE, "mrope_ladder_restarts"},
    {"rope/table",
     "head_dim=16&mrope_section=2,3,3&" TEXT_IMAGE
     "&freq_factors=1,31.622776601683793,0.1,0.6812920690579611,4.6415888336127775,"
     "0.0031622776601683794,0.021544346900318832,0.1467799267622069",
     "head_dim=16&mrope_section=2,3,3&" TEXT_IMAGE, "mrope_ladder_restarts"},
    /* 10000 * 4^(128/126), of 64 rotated channels; 10000 * (2 * 6000/2048)^(64/62) */
    {"rope/table", "head_dim=64&rope_theta=40889.94243248622&positions=0:64",
     "head_dim=128&partial_rotary_factor=0.5&rope_type=ntk&factor=4&positions=0:64",
     "exponent_of_head_dim"},
    {"rope/table", "head_dim=64&rope_theta=62032.70084064117&positions=0:64",
     "head_dim=64&rope_type=dynamic&factor=2&max_position_embeddings=2048&seq_len=6000"
     "&positions=0:64",
     "dynamic_not_less"},
    {"rope/table", YARN "&attention_factor=1.0670658068329193", YARN, "attention_factor_root"},
};

/* Numbers without pairs are taken apart, where no value of the claim alone explains them. */
static void causes_are_read_off_plain_numbers(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(plain_causes); c++) {
        char target[300], claim[300];
        snprintf(target, sizeof target, "/v1/%s?%s&format=safetensors", plain_causes[c].path,
                 plain_causes[c].made);
        snprintf(claim, sizeof claim, "encoding=%s&%s", plain_causes[c].path,
                 plain_causes[c].claimed);
        assert_told(target, claim, plain_causes[c].fault);
    }
}

/* The base that was scaled is what the resource is about; it is said how the upload was read. */
static void a_tensor_without_a_name_is_what_was_scaled(void **state)
{
    static const struct {
        const char *second;
        bool matches;
    } cases[] = {{"0.0025", true}, {"0.01", false}};
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        char body[200];
        snprintf(body, sizeof body,
                 "{\"encoding\":\"rope/scaled-base\",\"parameters\":{\"head_dim\":4,\"factor\":4,"
                 "\"method\":\"ntk\"},\"table\":[1,%s]}",
                 cases[c].second);
        json_t *report = verified(&server, cases[c].second, body);
        assert_int_equal(matches(report), cases[c].matches);
        const char *said =
            json_string_value(json_array_get(json_object_get(report, "inferred"), 0));
        assert_non_null(strstr(said, "is read as scaled_inv_freq"));
        json_decref(report);
    }
}

/* Cosines or sines of patches, 3 by 4, of head_dim 16 and theta 10000; types of frequencies and
 * angles. */
static void add_patches(pe_buffer *body, const char *name, double (*wave)(double),
                        const pe_grain *frequencies, const pe_grain *angles)
{
    pe_buffer_format(body, "\"%s\":[", name);
    for (int k = 0; k < 12 * 8; k++) {
        const int patch = k / 8, i = k % 8, at = i < 4 ? patch / 4 : patch % 4;
        double w = pow(10, -(i % 4));
        w = frequencies != NULL ? pe_grain_round(frequencies, w) : w;
        pe_buffer_format(body, "%s%.9g",
                         k == 0   ? "["
                         : i == 0 ? "],["
                                  : ",",
                         wave(pe_grain_round(angles, at * w)));
    }
    pe_buffer_str(body, "]]");
}

static void grids_tell_where_a_narrow_type_came_in(void **state)
{
    const pe_grain *narrow_type = &pe_grains[PE_GRAIN_BFLOAT16];
    static const char *const sentences[] = {"angles were rounded to bfloat16",
                                            "frequencies and angles were computed in bfloat16"};
    (void)state;
    for (size_t both = 0; both < 2; both++) {
        pe_buffer body = {0};
        const pe_grain *frequencies = both > 0 ? narrow_type : NULL;
        pe_buffer_str(&body, "{\"encoding\":\"rope/grid\",\"parameters\":{\"head_dim\":16,"
                             "\"height\":3,\"width\":4},\"table\":{");
        add_patches(&body, "cos", cos, frequencies, narrow_type);
        pe_buffer_str(&body, ",");
        add_patches(&body, "sin", sin, frequencies, narrow_type);
        pe_buffer_str(&body, "}}");
        json_t *report = verified(&server, sentences[both], pe_buffer_text(&body));
        assert_string_equal(json_string_value(json_object_get(report, "conclusion")),
                            sentences[both]);
        json_decref(report);
        pe_buffer_free(&body);
    }
}

/* What was read is told beside the cause; one head alone has no order, and ends nothing. */
static void slopes_are_measured(void **state)
{
    char faults[256];
    (void)state;
    json_t *report = verified(&server, "slopes in reverse",
                              "{\"encoding\":\"alibi\",\"parameters\":{\"num_heads\":4},"
                              "\"slopes\":[0.00390625,0.015625,0.0625,0.25]}");
    const json_t *measured = json_object_get(report, "measured");
    const json_t *slopes = json_object_get(measured, "slopes");
    assert_string_equal(first_faults(report, faults, sizeof faults), "head_order");
    assert_int_equal(json_array_size(slopes), 4);
    assert_true(json_number_value(json_array_get(slopes, 3)) == 0.25);
    json_decref(report);
    report = verified(&server, "one head",
                      "{\"encoding\":\"alibi\",\"parameters\":{\"num_heads\":1,"
                      "\"query_length\":1,\"key_length\":2},\"dtype\":\"float32\","
                      "\"bias\":[[[1e38,0]]]}");
    assert_false(matches(report));
    json_decref(report);
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
    json_t *report = verified(&server, name, pe_buffer_text(&body));
    pe_buffer_free(&body);
    return report;
}

static void heads_are_told(void **state)
{
    char faults[256];
    (void)state;
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
    json_t *report = verified(&server, name, pe_buffer_text(&body));
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
    (void)state;
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

static void binary_vectors_may_be_of_any_type(void **state)
{
    /* (1, 0) at position 1 turned by pi/3, which is no rotation of theta = 1; at 0 not at all */
    static const uint16_t inputs[] = {0x3f80, 0, 0x3f80, 0}, still[] = {0x3f80, 0, 0x3f80, 0},
                          turned[] = {0x3f80, 0, 0x3f0a, 0x3f57}; /* bfloat16 0.5403, 0.8415 */
    const part sound[] = {{"inputs", "BF16", "[2,2]", inputs, sizeof inputs},
                          {"rotated", "BF16", "[2,2]", turned, sizeof turned}};
    const part wrong[] = {sound[0], {"rotated", "BF16", "[2,2]", still, sizeof still}};
    (void)state;
    for (int w = 0; w < 2; w++) {
        pe_buffer body = {0};
        parts_safetensors(w == 0 ? sound : wrong, 2, &body);
        reply answer = parts_verify(&server, "encoding=rope", SAFETENSORS, &body);
        assert_status("vectors", &answer, 200);
        json_t *report = reply_json(&answer);
        assert_int_equal(matches(report), w == 0);
        assert_string_equal(json_string_value(json_object_get(report, "dtype")), "bfloat16");
        json_decref(report);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
}

static void large_uploads_are_searched_in_a_sample_and_confirmed_in_full(void **state)
{
    static const char target[] =
        "/v1/rope/table?head_dim=32&positions=1:4097&format=safetensors&numerics=exact";
    static const char query[] = "encoding=rope&head_dim=32&positions=0:4096";
    char faults[80];
    (void)state;
    reply table = get(&server, target);
    assert_status(target, &table, 200);
    pe_buffer body = {.data = table.body, .bytes = table.bytes};
    reply answer = parts_verify(&server, query, SAFETENSORS, &body);
    assert_status(query, &answer, 200);
    json_t *report = reply_json(&answer);
    assert_string_equal(first_faults(report, faults, sizeof faults), "position_plus_one");
    assert_true(json_integer_value(
                    json_object_get(json_object_get(report, "search"), "sampled_positions")) > 0);
    json_decref(report);
    reply_free(&answer);

    /* one wrong number that no sample holds is told beside the fault, and alone */
    const float wrong = 2;
    memcpy(table.body + table.bytes - (size_t)4 * 16 * 1500, &wrong, sizeof wrong);
    answer = parts_verify(&server, query, SAFETENSORS, &body);
    report = reply_json(&answer);
    assert_string_equal(first_faults(report, faults, sizeof faults),
                        "position_plus_one+corrupted_elements");
    json_decref(report);
    reply_free(&answer);
    answer =
        parts_verify(&server, "encoding=rope&head_dim=32&positions=1:4097", SAFETENSORS, &body);
    report = reply_json(&answer);
    assert_string_equal(first_faults(report, faults, sizeof faults), "corrupted_elements");
    const json_t *bad = json_object_get(report, "first_bad");
    assert_int_equal(json_integer_value(json_object_get(bad, "position")), 4097 - 1500);
    assert_int_equal(json_integer_value(json_object_get(bad, "pair")), 0);
    assert_true(json_number_value(json_object_get(bad, "got")) == 2);
    json_decref(report);
    reply_free(&answer);
    reply_free(&table);
}

/* What is looked up in a table of the claim, or made of one. */
static void tables_of_the_claim_tell_the_cause(void **state)
{
    static const struct {
        const char *body, *faults;
    } cases[] = {
        {"{\"encoding\":\"t5/bias\",\"parameters\":{\"num_buckets\":4,\"query_length\":3,"
         "\"weights\":[[0],[1],[2],[3]]},\"table\":[[[0,1,1],[3,0,1],[3,3,0]]]}",
         "distance_sign"},
        {"{\"encoding\":\"t5/bias\",\"parameters\":{\"num_buckets\":4,\"query_length\":3,"
         "\"weights\":[[0],[1],[2],[3]]},\"table\":[[[2,3,3],[1,2,3],[1,1,2]]]}",
         "zero_ahead"},
        {"{\"encoding\":\"swin/bias\",\"parameters\":{\"window_height\":1,\"window_width\":3,"
         "\"weights\":[[0],[1],[2],[3],[4]]},\"table\":[[[2,3,4],[1,2,3],[0,1,2]]]}",
         "index_mirrored"},
        {"{\"encoding\":\"learned/interpolate\",\"parameters\":{\"mode\":\"bilinear\","
         "\"target_grid\":[2,3],\"table\":[[1],[2],[4],[8]]},"
         "\"table\":[[1],[4],[1.5],[6],[2],[8]]}",
         "patch_order"},
        {"{\"encoding\":\"learned/interpolate\",\"parameters\":{\"mode\":\"bilinear\","
         "\"target_grid\":[2,3],\"table\":[[9],[1],[2],[4],[8]]},"
         "\"table\":[[1],[1.5],[2],[4],[6],[8],[9]]}",
         "extra_last"},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        char faults[80];
        json_t *report = verified(&server, cases[c].body, cases[c].body);
        assert_string_equal(first_faults(report, faults, sizeof faults), cases[c].faults);
        json_decref(report);
    }
}

static void a_bias_of_one_row_may_stand_for_all_queries(void **state)
{
    static const char *const biases[] = {
        "[[[0,0.0625,0.125]],[[0,0.00390625,0.0078125]]]",
        "[[[0,0.0625,0.125],[0,0.0625,0.125],[0,0.0625,0.125]],"
        "[[0,0.00390625,0.0078125],[0,0.00390625,0.0078125],[0,0.00390625,0.0078125]]]"};
    (void)state;
    for (size_t b = 0; b < PE_LEN(biases); b++) {
        char body[400], faults[80];
        snprintf(body, sizeof body,
                 "{\"encoding\":\"alibi\",\"parameters\":{\"num_heads\":2,\"query_length\":3,"
                 "\"form\":\"causal\"},\"bias\":%s}",
                 biases[b]);
        json_t *report = verified(&server, body, body);
        assert_false(matches(report));
        assert_string_equal(first_faults(report, faults, sizeof faults), "alibi_form");
        json_decref(report);
    }
}

static void a_model_is_claimed_by_name(void **state)
{
    char faults[80];
    static const float zeros[2 * 64] = {0};
    float ones[2 * 64];
    pe_buffer body = {0};
    (void)state;
    for (size_t e = 0; e < PE_LEN(ones); e++)
        ones[e] = 1;
    const part parts[] = {{"cos", "F32", "[2,64]", ones, sizeof ones},
                          {"sin", "F32", "[2,64]", zeros, sizeof zeros}};
    parts_safetensors(parts, 2, &body);
    reply answer =
        parts_verify(&server, "encoding=rope&model=llama-3.1-8b&positions=0,0", SAFETENSORS, &body);
    assert_status("model", &answer, 200);
    json_t *report = reply_json(&answer);
    assert_true(matches(report));
    json_decref(report);
    reply_free(&answer);
    pe_buffer_free(&body);

    report = verified(&server, "model",
                      "{\"encoding\":\"rope\",\"parameters\":{\"model\":\"llama-3.1-8b\","
                      "\"head_dim\":4,\"positions\":\"0:2\"}," TABLE "}");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(report, "parameters"), "rope_type")),
        "llama3");
    /* of two pairs one is the same in all models: a base of its own explains the other */
    assert_string_equal(first_faults(report, faults, sizeof faults), "rope_theta");
    json_decref(report);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void large_uploads_are_refused_and_long_searches_end(void **state)
{
    pe_buffer body = {0};
    (void)state;
    pe_buffer_str(&body,
                  "{\"encoding\":\"alibi\",\"parameters\":{\"num_heads\":101},\"slopes\":[0");
    for (int i = 1; i < 101; i++)
        pe_buffer_str(&body, ",0");
    pe_buffer_str(&body, "]}");
    reply answer = post_json(&narrow, "/v1/verify", pe_buffer_text(&body));
    assert_problem("101 elements", &answer, 422, "too-many-elements");
    assert_non_null(strstr(answer.body, "\"requested_elements\":101"));
    reply_free(&answer);
    pe_buffer_free(&body);

    json_t *report =
        verified(&narrow, "little work",
                 "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,\"positions\":\"0:2\"}"
                 ",\"table\":{\"cos\":[[3,1],[4,1]],\"sin\":[[5,9],[2,6]]}}");
    assert_true(json_is_false(json_object_get(json_object_get(report, "search"), "complete")));
    assert_non_null(strstr(json_string_value(json_object_get(report, "conclusion")), "cut short"));
    json_decref(report);
    report = verified(&server, "enough work",
                      "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,\"positions\":\"0:2\"}"
                      ",\"table\":{\"cos\":[[3,1],[4,1]],\"sin\":[[5,9],[2,6]]}}");
    assert_true(json_is_true(json_object_get(json_object_get(report, "search"), "complete")));
    assert_int_equal(json_array_size(json_object_get(report, "diagnosis")), 0);
    json_decref(report);
}

/* A step of decoding has one row, of which nothing is reversed or constant. */
static void a_single_row_was_moved(void **state)
{
    (void)state;
    reply made = get(&server, "/v1/rope/table?head_dim=16&positions=10&format=safetensors");
    static const char *const headers[] = {"Content-Type: application/vnd.safetensors", NULL};
    reply answer = fetch(&server, "POST", "/v1/verify?encoding=rope&head_dim=16&positions=7",
                         headers, made.body, made.bytes);
    assert_int_equal(answer.status, 200);
    if (strstr(answer.body, "\"conclusion\":\"positions were larger by 3\"") == NULL)
        fail_msg("%s", answer.body);
    reply_free(&answer);
    reply_free(&made);
}

static void contains_all(const char *text, const char *const *parts)
{
    for (; *parts != NULL; parts++)
        if (strstr(text, *parts) == NULL)
            fail_msg("no \"%s\" in: %s", *parts, text);
}

static void a_report_is_told_to_people(void **state)
{
    static const char body[] = "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,"
                               "\"rope_theta\":500000,\"positions\":\"0:2\"}," TABLE "}";
    static const struct {
        const char *accept, *type;
        const char *parts[8];
    } cases[] = {
        {"Accept: text/plain",
         "text/plain",
         {"rope/table: does not match\n", "\nrope_theta was 10000, not 500000.\n",
          "1. rope_theta was 10000, not 500000\n", "Remedy: set rope_theta to 500000\n",
          "cos[1, 1], position 1, pair 1: expected 0.99999",
          "rows from      0:       0       0       0       0\n",
          "rows from      1:       0       1       0       1\n", NULL}},
        {"Accept: text/markdown, application/json;q=0.5",
         "text/markdown",
         {"# rope/table: does not match\n", "## Causes and remedies\n", "**Remedy:**", NULL}},
        {"Accept: text/plain;q=0.5, text/markdown", "text/markdown", {"# rope/table", NULL}},
        {"Accept: application/json, text/plain", "application/json", {"\"diagnosis\":[", NULL}},
        {"Accept: */*", "application/json", {"\"diagnosis\":[", NULL}},
        {"Accept: image/svg+xml, application/json;q=0.9",
         "image/svg+xml",
         {"<title>rope/table: difference from the claim</title>", ">pair<", ">positions", NULL}},
        {"Accept: image/png", "image/png", {"\x89PNG", NULL}},
    };
    (void)state;
    for (size_t k = 0; k < PE_LEN(cases); k++) {
        const char *const headers[] = {cases[k].accept, "Content-Type: application/json", NULL};
        reply answer = fetch(&server, "POST", "/v1/verify", headers, body, sizeof body - 1);
        assert_int_equal(answer.status, 200);
        assert_header(cases[k].accept, &answer, "Content-Type", cases[k].type);
        assert_header(cases[k].accept, &answer, "Vary", "Accept");
        contains_all(answer.body, cases[k].parts);
        reply_free(&answer);
    }
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
    static const char *const said[] = {
        "\nNo known fault, nor any pair of them, explains the numbers", NULL};
    pe_buffer body = {0};
    (void)state;
    pe_buffer_str(&body, "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":8,"
                         "\"positions\":\"0:64\"},\"table\":{");
    add_rough_waves(&body, "cos", cos);
    pe_buffer_str(&body, ",");
    add_rough_waves(&body, "sin", sin);
    pe_buffer_str(&body, "}}");
    reply answer = fetch(&server, "POST", "/v1/verify", headers, body.data, body.bytes);
    assert_status("rough", &answer, 200);
    contains_all(answer.body, said);
    reply_free(&answer);
    pe_buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_table_matches),
        cmocka_unit_test(a_wrong_base_is_named_with_what_would_remain),
        cmocka_unit_test(a_tolerance_takes_the_place_of_the_rule),
        cmocka_unit_test(every_layout_of_a_table_is_read),
        cmocka_unit_test(tables_of_the_registry_are_read_by_name),
        cmocka_unit_test(a_pair_of_faults_is_found_in_a_configuration_s_table),
        cmocka_unit_test(a_sequence_may_be_longer_than_a_configuration_tells),
        cmocka_unit_test(binary_tables_take_their_parameters_from_the_query),
        cmocka_unit_test(what_the_server_writes_is_what_it_claims),
        cmocka_unit_test(a_table_narrower_than_its_claim_is_told_so),
        cmocka_unit_test(a_table_twice_as_wide_is_of_hugging_face),
        cmocka_unit_test(positions_are_measured),
        cmocka_unit_test(a_wrong_grid_is_no_matter_of_positions),
        cmocka_unit_test(causes_are_read_off_plain_numbers),
        cmocka_unit_test(a_tensor_without_a_name_is_what_was_scaled),
        cmocka_unit_test(grids_tell_where_a_narrow_type_came_in),
        cmocka_unit_test(slopes_are_measured),
        cmocka_unit_test(heads_are_told),
        cmocka_unit_test(vectors_have_positions_of_items_or_axes),
        cmocka_unit_test(binary_vectors_may_be_of_any_type),
        cmocka_unit_test(large_uploads_are_searched_in_a_sample_and_confirmed_in_full),
        cmocka_unit_test(tables_of_the_claim_tell_the_cause),
        cmocka_unit_test(a_bias_of_one_row_may_stand_for_all_queries),
        cmocka_unit_test(a_model_is_claimed_by_name),
        cmocka_unit_test(a_single_row_was_moved),
        cmocka_unit_test(a_report_is_told_to_people),
        cmocka_unit_test(small_errors_are_no_bad_memory),
        cmocka_unit_test(large_uploads_are_refused_and_long_searches_end),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
