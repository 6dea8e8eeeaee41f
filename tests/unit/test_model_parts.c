/* SPDX-License-Identifier: MIT */
/* test_model_parts.c - configurations and resources that ask of other things than layers. */
#include "support/check.h"

#include <string.h>

#include "api/model_json.h"
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
     "/v1/rope/mrope-positions", "{\"spatial_merge_size\":2,\"tokens_per_second\":4}"},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]}}", "/v1/rope/mrope-positions",
     NULL},
    {"{" LLAMA ",\"vision_config\":{\"spatial_merge_size\":3}}", "/v1/rope/mrope-positions", NULL},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]},\"vision_config\":7}",
     "/v1/rope/mrope-positions", NULL},
    {"{\"model_type\":\"qwen2_5_vl\",\"head_dim\":64,\"vision_config\":{\"hidden_size\":1280,"
     "\"num_heads\":16}}",
     "/v1/rope/grid", "{\"convention\":\"qwen2_vl\",\"head_dim\":80,\"spatial_merge_size\":2}"},
    {"{\"model_type\":\"qwen2_vl\",\"head_dim\":64,\"vision_config\":{\"hidden_size\":3584,"
     "\"spatial_merge_size\":4}}",
     "/v1/rope/grid/rotate",
     "{\"convention\":\"qwen2_vl\",\"head_dim\":80,\"spatial_merge_size\":4}"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_has_its_parameters),
    };
    return cmocka_run_group_tests_name("parts of models", tests, NULL, NULL);
}
