/* SPDX-License-Identifier: MIT */
/* test_model_parts.c - configurations and resources that ask of other things than layers. */
#include "support/check.h"

#include <string.h>

#include "api/model_json.h"
#include "base/array.h"
#include "encodings/registry.h"

enum { MAX_DEPTH = 32 };

#define LLAMA "\"model_type\":\"llama\",\"hidden_size\":1024,\"num_attention_heads\":16"

/* parameters NULL: it says nothing */
static const struct {
    const char *config, *path, *parameters;
} parts[] = {
    {"{" LLAMA "}", "/v1/rope/attention-scale", NULL},
    {"{" LLAMA ",\"rope_parameters\":{\"llama_4_scaling_beta\":0.25,"
     "\"original_max_position_embeddings\":64}}",
     "/v1/rope/attention-scale", "{\"beta\":0.25,\"original_max_position_embeddings\":64}"},
    {"{" LLAMA ",\"rope_parameters\":{\"llama_4_scaling_beta\":0.25}}", "/v1/rope/attention-scale",
     NULL},
    {"{" LLAMA ",\"rope_parameters\":{\"llama_4_scaling_beta\":null}}", "/v1/rope/attention-scale",
     NULL},
    {"{\"model_type\":\"ministral3\"}", "/v1/rope/attention-scale",
     "{\"beta\":0.1,\"original_max_position_embeddings\":16384}"},
    {"{\"model_type\":\"llama4_text\"}", "/v1/rope/attention-scale",
     "{\"beta\":0.1,\"original_max_position_embeddings\":8192,\"position_offset\":1}"},
    {"{\"model_type\":\"llama4_text\",\"attn_temperature_tuning\":4,\"floor_scale\":100,"
     "\"attn_scale\":0.5}",
     "/v1/rope/attention-scale",
     "{\"beta\":0.5,\"original_max_position_embeddings\":100,\"position_offset\":1}"},
    {"{\"model_type\":\"llama4_text\",\"attn_temperature_tuning\":false}",
     "/v1/rope/attention-scale", NULL},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]},\"vision_config\":{"
     "\"spatial_merge_size\":3}}",
     "/v1/rope/mrope-positions", "{\"spatial_merge_size\":3}"},
    {"{\"thinker_config\":{\"text_config\":{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]"
     "}},\"vision_config\":{\"spatial_merge_size\":3,\"tokens_per_second\":25}}}",
     "/v1/rope/mrope-positions", "{\"spatial_merge_size\":3,\"tokens_per_second\":25}"},
    {"{\"model_type\":\"qwen2_5_vl\",\"hidden_size\":1024,\"num_attention_heads\":16,"
     "\"rope_scaling\":{\"type\":\"mrope\",\"mrope_section\":[8,12,12]}}",
     "/v1/rope/mrope-positions",
     "{\"after_grid\":\"size\",\"spatial_merge_size\":2,\"tokens_per_second\":4}"},
    /* time beside the towers, whatever the tower says; of the class where it is not there */
    {"{\"model_type\":\"qwen3_omni_moe\",\"thinker_config\":{\"position_id_per_seconds\":13,"
     "\"seconds_per_chunk\":2,\"text_config\":{\"model_type\":\"qwen3_omni_moe_text\","
     "\"head_dim\":128},\"vision_config\":{\"spatial_merge_size\":2,\"tokens_per_second\":2}}}",
     "/v1/rope/mrope-positions",
     "{\"dtype\":\"float32\",\"spatial_merge_size\":2,\"tokens_per_second\":13}"},
    {"{\"model_type\":\"qwen2_5_omni_thinker\",\"seconds_per_chunk\":3,\"text_config\":{"
     "\"model_type\":\"qwen2_5_omni_text\",\"head_dim\":128},\"vision_config\":{"
     "\"spatial_merge_size\":2}}",
     "/v1/rope/mrope-positions",
     "{\"seconds_per_chunk\":3,\"spatial_merge_size\":2,\"tokens_per_second\":25}"},
    /* sections within a model that puts its images elsewhere */
    {"{\"model_type\":\"minicpmv4_6\",\"text_config\":{\"model_type\":\"qwen3_5_text\"}}",
     "/v1/rope/mrope-positions", NULL},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]}}", "/v1/rope/mrope-positions",
     NULL},
    {"{" LLAMA ",\"vision_config\":{\"spatial_merge_size\":3}}", "/v1/rope/mrope-positions", NULL},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]},\"vision_config\":7}",
     "/v1/rope/mrope-positions", NULL},
    /* sections, merging and frames of the class */
    {"{\"model_type\":\"ernie4_5_vl_moe_text\"}", "/v1/rope/mrope-positions",
     "{\"after_grid\":\"size\",\"spatial_merge_size\":2,\"temporal_merge_size\":2}"},
    {"{\"model_type\":\"hunyuan_vl\",\"head_dim\":128,\"rope_scaling\":{\"type\":\"xdrope\","
     "\"alpha\":1000,"
     "\"factor\":1,\"xdrope_section\":[16,16,16,16]},\"vision_config\":{\"spatial_merge_size\":2}}",
     "/v1/rope/mrope-positions", "{\"spatial_merge_size\":2,\"variant\":\"xdrope\"}"},
    {"{\"model_type\":\"qwen3_vl\",\"vision_config\":{\"spatial_merge_size\":3}}",
     "/v1/rope/mrope-positions",
     "{\"after_grid\":\"size\",\"spatial_merge_size\":3,\"video_frames\":\"apart\"}"},
    {"{\"model_type\":\"qwen2_5_vl\",\"head_dim\":64,\"vision_config\":{\"hidden_size\":1280,"
     "\"num_heads\":16}}",
     "/v1/rope/grid",
     "{\"convention\":\"qwen2_vl\",\"head_dim\":80,\"rope_theta\":10000,"
     "\"spatial_merge_size\":2}"},
    {"{\"model_type\":\"qwen2_vl\",\"head_dim\":64,\"vision_config\":{\"hidden_size\":3584,"
     "\"spatial_merge_size\":4}}",
     "/v1/rope/grid/rotate",
     "{\"convention\":\"qwen2_vl\",\"head_dim\":80,\"rope_theta\":10000,"
     "\"spatial_merge_size\":4}"},
    {"{\"text_config\":{" LLAMA
     "},\"vision_config\":{\"model_type\":\"pixtral\",\"hidden_size\":1024,"
     "\"num_attention_heads\":16,\"spatial_merge_size\":2}}",
     "/v1/rope/grid", "{\"convention\":\"pixtral\",\"head_dim\":64,\"rope_theta\":10000}"},
    {"{\"text_config\":{" LLAMA
     "},\"vision_config\":{\"model_type\":\"pixtral\",\"hidden_size\":1024}}",
     "/v1/rope/grid", "{\"convention\":\"pixtral\",\"head_dim\":64,\"rope_theta\":10000}"},
    {"{\"model_type\":\"qwen2_5_vl\",\"head_dim\":64,\"vision_config\":{\"hidden_size\":30,"
     "\"num_heads\":16}}",
     "/v1/rope/grid", NULL},
    {"{" LLAMA ",\"vision_config\":{\"hidden_size\":1280,\"num_heads\":16}}", "/v1/rope/grid",
     NULL},
    {"{\"text_config\":{" LLAMA "},\"vision_config\":{\"model_type\":\"pixtral\",\"head_dim\":64,"
     "\"rope_parameters\":{\"rope_theta\":500}}}",
     "/v1/rope/grid", "{\"convention\":\"pixtral\",\"head_dim\":64,\"rope_theta\":500}"},
    {"{\"model_type\":\"qwen2_5_vl\",\"head_dim\":64}", "/v1/rope/grid", NULL},
    {"{\"model_type\":\"qwen3_vl_vision\",\"hidden_size\":1024}", "/v1/rope/grid",
     "{\"convention\":\"qwen2_vl\",\"head_dim\":64,\"rope_theta\":10000,"
     "\"spatial_merge_size\":2}"},
    {"{\"vlm_config\":{\"model_type\":\"qwen2_vl\",\"head_dim\":64,\"vision_config\":{}}}",
     "/v1/rope/grid/rotate",
     "{\"convention\":\"qwen2_vl\",\"head_dim\":80,\"rope_theta\":10000,"
     "\"spatial_merge_size\":2}"},
    {"{\"model_type\":\"nanochat\",\"head_dim\":64}", "/v1/rope/rotate",
     "{\"head_dim\":64,\"inverse\":true,\"pairing\":\"half\",\"partial_rotary_factor\":1,"
     "\"rope_theta\":10000,\"rope_type\":\"default\",\"rotary_dim\":64}"},
    {"{\"model_type\":\"kimi_k25_vision\",\"rope_theta\":500}", "/v1/rope/grid/rotate",
     "{\"convention\":\"kimi\",\"head_dim\":72,\"pairing\":\"half\",\"rope_theta\":500}"},
    {"{\"model_type\":\"qwen3_vl_vision\",\"rope_parameters\":{\"rope_theta\":3}}", "/v1/rope/grid",
     "{\"convention\":\"qwen2_vl\",\"head_dim\":72,\"rope_theta\":3,"
     "\"spatial_merge_size\":2}"},
};

static void every_part_has_its_parameters(void **state)
{
    (void)state;
    for (size_t p = 0; p < PE_LEN(parts); p++) {
        pe_buffer text = {0};
        pe_problem why = {0};
        pe_model *model = NULL;
        if (pe_model_json_resolve(pe_slice_of(parts[p].config), MAX_DEPTH, &model, &why) != PE_OK)
            fail_msg("%s: %s: %s", parts[p].config, why.where, why.detail);
        const pe_values *values = pe_model_part_find(model, pe_registry_find(parts[p].path));
        if ((values != NULL) != (parts[p].parameters != NULL))
            fail_msg("%s: %s is %s", parts[p].config, parts[p].path,
                     values != NULL ? "there" : "not there");
        if (values != NULL) {
            pe_values_json(values, &text);
            assert_string_equal(pe_buffer_text(&text), parts[p].parameters);
        }
        pe_buffer_free(&text);
        pe_model_free(model);
    }
}

/* Towers, and what each says; NULL: no tower. */
static const struct {
    const char *config, *pointer, *encoding;
} towers[] = {
    {"{\"text_config\":{" LLAMA "},\"vision_config\":{\"model_type\":\"pixtral\"}}",
     "#/vision_config", "rope"},
    {"{\"text_config\":{" LLAMA "},\"vision_config\":{\"a\":1}}", "#/vision_config", "unknown"},
    {"{\"thinker_config\":{\"text_config\":{" LLAMA "},\"audio_config\":{\"model_type\":"
     "\"bert\"}}}",
     "#/thinker_config/audio_config", "learned"},
    {"{\"encoder\":{\"model_type\":\"bert\"},\"decoder\":{" LLAMA "}}", "#/encoder", "learned"},
    {"{" LLAMA ",\"talker_config\":{\"model_type\":\"x\",\"text_config\":{" LLAMA "}}}",
     "#/talker_config", "rope"},
    {"{" LLAMA ",\"vision_config\":7}", NULL, NULL},
    {"{" LLAMA ",\"vision_config\":{\"model_type\":\"pixtral\",\"head_dim\":6}}", NULL, NULL},
};

static void every_tower_has_its_layers(void **state)
{
    (void)state;
    for (size_t t = 0; t < PE_LEN(towers); t++) {
        pe_problem why = {0};
        pe_model *model = NULL;
        if (pe_model_json_resolve(pe_slice_of(towers[t].config), MAX_DEPTH, &model, &why) != PE_OK)
            fail_msg("%s: %s: %s", towers[t].config, why.where, why.detail);
        assert_int_equal(model->n_towers, towers[t].pointer != NULL);
        if (model->n_towers > 0) {
            assert_string_equal(model->towers[0].pointer, towers[t].pointer);
            assert_string_equal(model->towers[0].model->encoding, towers[t].encoding);
        }
        pe_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_has_its_parameters),
        cmocka_unit_test(every_tower_has_its_layers),
    };
    return cmocka_run_group_tests_name("parts of models", tests, NULL, NULL);
}
