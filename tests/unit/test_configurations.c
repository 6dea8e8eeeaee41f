/* SPDX-License-Identifier: MIT */
/*
 * test_configurations.c - configurations in the spellings that there are, against the parameters
 * that the models' own classes in transformers make of them (modeling_rope_utils.py and
 * configuration_*.py at b4b5244c); golden/test_configs_http.c has the same from upstream's own
 * output.
 */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "api/model_json.h"

enum { MAX_DEPTH = 32 };

static pe_model *resolve(const char *text)
{
    pe_model *model = NULL;
    pe_problem why = {0};
    if (pe_model_json_resolve(pe_slice_of(text), MAX_DEPTH, &model, &why) != PE_OK)
        fail_msg("%s: %s: %s", text, why.where, why.detail);
    return model;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* A parameter that the configuration gives to layers of a type; NULL: to those of the default. */
typedef struct spelling {
    const char *config;
    const char *layer_type, *parameter, *value; /* JSON; NULL: absent */
} spelling;

#define LLAMA    "\"model_type\":\"llama\",\"hidden_size\":1024,\"num_attention_heads\":16"
#define YARN     "\"rope_type\":\"yarn\",\"factor\":4"
#define LAYERS   ",\"num_hidden_layers\":4"
#define TOWER    ",\"vision_config\":{\"model_type\":\"vit\""
#define PARAMS   "\"dim\":256,\"n_heads\":4,\"n_layers\":2,\"rope_theta\":5e5"
#define TOWER_OF "\"vision_config\":{\"model_type\":\"vit\"}"
#define LONG     "a_name_of_fifty_bytes_that_no_configuration_would_"
#define SAPROT                                                                                     \
    "\"model_type\":\"\",\"token_dropout\":true,\"position_embedding_type\":\"rotary\","           \
    "\"hidden_size\":1280,\"num_attention_heads\":20"
#define DOTS                                                                                       \
    "\"model_type\":\"dots3_note_text\",\"qk_rope_head_dim\":64,\"layer_types\":["                 \
    "\"indexed_attention\",\"sliding_attention\"]"
#define ODD "\"model_type\":\"glm4_moe\",\"head_dim\":7,\"rope_theta\":1e4"
#define V4  "\"model_type\":\"deepseek_v4\",\"head_dim\":512" LAYERS
#define DEBERTA                                                                                    \
    "\"model_type\":\"deberta-v2\",\"hidden_size\":64,\"num_attention_heads\":4,"                  \
    "\"relative_attention\":true,\"position_buckets\":8,\"max_position_embeddings\":64"
#define GGUF(arch)                                                                                 \
    "\"general.architecture\":\"" arch "\",\"" arch ".embedding_length\":64,\"" arch               \
    ".attention.head_count\":4"
#define DIFFUSERS(class) "\"_class_name\":\"" class "\",\"attention_head_dim\":128"
#define MEGATRON                                                                                   \
    "\"hidden_size\":64,\"num_attention_heads\":4,\"rotary_base\":10000,"                          \
    "\"position_embedding_type\":\"rope\""
#define STEP                                                                                       \
    "{\"model_type\":\"step3p5\",\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\","     \
    "\"sliding_attention\"],\"rope_theta\":[5e6,1e4],\"partial_rotary_factors\":[0.5,1],"          \
    "\"max_position_embeddings\":64,\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":2,"      \
    "\"original_max_position_embeddings\":32,\"low_freq_factor\":1,\"high_freq_factor\":32}}"
#define ASR "\"model_type\":\"nemotron3_5_transcribe_asr_audio\""

static const spelling spellings[] = {
    /* the base */
    {"{\"model_type\":\"wav2vec2-conformer\",\"position_embeddings_type\":\"rotary\","
     "\"rotary_embedding_base\":500}",
     NULL, "rope_theta", "500"},
    {"{" LLAMA ",\"rope_theta\":5e5}", NULL, "rope_theta", "500000"},
    {"{" LLAMA ",\"rope_parameters\":{\"rope_theta\":5e5}}", NULL, "rope_theta", "500000"},
    {"{" LLAMA ",\"rope_theta\":1e6,\"rope_scaling\":{\"rope_theta\":5e5}}", NULL, "rope_theta",
     "500000"},
    {"{" LLAMA ",\"rotary_emb_base\":20000}", NULL, "rope_theta", "20000"},
    {"{" LLAMA ",\"rotary_emb_base\":20000,\"rope_theta\":30000}", NULL, "rope_theta", "30000"},
    {"{" LLAMA ",\"rope_theta\":null}", NULL, "rope_theta", "10000"},
    /* by type of layers: where the class has such types, beside other keys, and in part */
    {"{" LLAMA ",\"rope_theta\":2e4,\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5e5}}}",
     NULL, "rope_theta", "20000"},
    {"{\"model_type\":\"qwen3\",\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5e5}}}",
     NULL, "rope_theta", "500000"},
    {"{\"model_type\":\"laguna\",\"head_dim\":128,\"layer_types\":[\"full_attention\"],\"rope_"
     "parameters\":"
     "{\"full_attention\":{\"rope_theta\":5e5},\"rope_theta\":1e4}}",
     NULL, "rope_theta", "500000"},
    {"{\"model_type\":\"gemma3_text\"" LAYERS
     ",\"rope_parameters\":{\"sliding_attention\":{\"rope_theta\":5e5}}}",
     "sliding_attention", "rope_theta", "500000"},
    {"{\"model_type\":\"gemma3_text\"" LAYERS
     ",\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5e5},\"sliding_attention\":null}}",
     "sliding_attention", "rope_theta", "10000"},
    {"{\"model_type\":\"gemma3_text\"" LAYERS
     ",\"original_max_position_embeddings\":4096,\"rope_parameters\":{\"sliding_attention\":{" YARN
     ",\"original_max_position_embeddings\":32768}}}",
     "sliding_attention", "original_max_position_embeddings", "32768"},
    {"{" LLAMA ",\"rope_scaling\":{" YARN ",\"original_max_position_embeddings\":64,"
     "\"attention_factor\":1.25,\"attn_factor\":1.5}}",
     NULL, "attn_factor", NULL},
    {"{\"model_type\":\"chatglm\",\"hidden_size\":256,\"num_attention_heads\":2,\"rope_ratio\":500,"
     "\"kv_channels\":128}",
     NULL, "rope_theta", "5000000"},
    {"{\"model_type\":\"gpt_oss\"}", NULL, "rope_theta", "150000"},
    {"{\"model_type\":\"mpt\",\"d_model\":512,\"n_heads\":8,\"attn_config\":{\"alibi\":false,"
     "\"rope\":true,\"rope_theta\":20000}}",
     NULL, "rope_theta", "20000"},

    /* the type */
    {"{" LLAMA ",\"rope_scaling\":null}", NULL, "rope_type", "\"default\""},
    {"{" LLAMA ",\"rope_scaling\":{}}", NULL, "rope_type", "\"default\""},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}", NULL, "rope_type",
     "\"linear\""},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"dynamic\",\"rope_type\":\"linear\",\"factor\":2}}",
     NULL, "rope_type", "\"linear\""},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"mrope\",\"mrope_section\":[8,12,12]}}", NULL,
     "rope_type", "\"default\""},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"mrope\",\"mrope_section\":[8,12,12]}}", NULL,
     "mrope_section", "[8,12,12]"},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2},"
     "\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":3}}",
     NULL, "factor", "2"},
    {"{" LLAMA ",\"rope_scaling\":null,\"rope_parameters\":{\"rope_type\":\"linear\","
     "\"factor\":3}}",
     NULL, "factor", "3"},
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{\"type\":\"dynamic\","
     "\"alpha\":1000,\"factor\":1}}",
     NULL, "rope_type", "\"ntk_alpha\""},

    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"mrope\",\"mrope_section\":[8,12,11]}}", NULL,
     "mrope_section", NULL},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_interleaved\":true,\"mrope_section\":[16,16]}}", NULL,
     "mrope_interleaved", NULL},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_interleaved\":true}}", NULL, "mrope_interleaved", NULL},

    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{\"type\":\"deepseek_yarn\","
     "\"factor\":4}}",
     NULL, "rope_type", "\"yarn\""},

    /* lengths */
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{" YARN "}}", NULL,
     "original_max_position_embeddings", "4096"},
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"original_max_position_embeddings\":1024,"
     "\"rope_scaling\":{" YARN ",\"original_max_position_embeddings\":2048}}",
     NULL, "original_max_position_embeddings", "1024"},
    {"{" LLAMA ",\"n_positions\":512}", NULL, "max_position_embeddings", "512"},
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{" YARN "}}", NULL, "beta_fast",
     "32"},
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{" YARN ",\"beta_fast\":null}}",
     NULL, "beta_fast", "32"},
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{" YARN ",\"truncate\":false}}",
     NULL, "truncate", "false"},

    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{" YARN ",\"truncate\":null}}",
     NULL, "truncate", "false"},
    {"{\"model_type\":\"gpt_neox\",\"head_dim\":64,\"rope_theta\":5e5,\"rotary_emb_base\":2e4}",
     NULL, "rope_theta", "20000"},
    {"{\"model_type\":\"ministral3\",\"rope_theta\":5e5,\"rope_scaling\":null}", NULL, "rope_theta",
     "1000000"},
    {"{\"model_type\":\"t5gemma2_text\"" LAYERS ",\"rope_scaling\":{\"type\":\"linear\","
     "\"factor\":8}}",
     "sliding_attention", "factor", NULL},
    {"{\"model_type\":\"gemma3_text\",\"rope_scaling\":{\"type\":\"linear\",\"factor\":8}}", NULL,
     "rope_type", "\"default\""},
    {"{\"model_type\":\"bailing_hybrid\"}", NULL, "rope_theta", "6000000"},
    {"{\"model_type\":\"gpt_oss\"}", NULL, "factor", "32"},
    {"{\"model_type\":\"gpt_oss\",\"rope_parameters\":{\"rope_theta\":1e5}}", NULL, "factor", NULL},
    {"{\"model_type\":\"gpt_oss\",\"rope_scaling\":null}", NULL, "rope_type", "\"yarn\""},

    {"{\"model_type\":\"mistral4\",\"head_dim\":64,\"rope_parameters\":null}", NULL, "rope_type",
     "\"yarn\""},
    {"{" LLAMA
     ",\"max_position_embeddings\":98304,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":null,"
     "\"original_max_position_embeddings\":8192}}",
     NULL, "factor", "12"},
    {"{\"model_type\":\"phi3\",\"head_dim\":4,\"max_position_embeddings\":64,"
     "\"original_max_position_embeddings\":32,\"rope_scaling\":{\"type\":\"yarn\","
     "\"short_factor\":[1,1],\"long_factor\":[1,2]}}",
     NULL, "rope_type", "\"longrope\""},
    {"{\"model_type\":\"phimoe\",\"head_dim\":4,\"max_position_embeddings\":64,"
     "\"rope_scaling\":{\"type\":\"longrope\",\"original_max_position_embeddings\":32,"
     "\"short_mscale\":1.25,\"long_mscale\":1.5,\"short_factor\":[1,1],\"long_factor\":[1,2]}}",
     NULL, "attention_factor", "1.25"},
    {"{\"model_type\":\"qwen3_vl_text\"}", NULL, "rope_theta", "500000"},
    {"{\"model_type\":\"persimmon\",\"head_dim\":64}", NULL, "rope_theta", "10000"},
    {"{\"model_type\":\"gpt_oss\",\"rope_scaling\":{}}", NULL, "rope_type", "\"yarn\""},
    {"{\"model_type\":\"gpt_oss\",\"rope_scaling\":null}", NULL, "rope_type", "\"yarn\""},
    {"{\"model_type\":\"gpt_oss\",\"rope_parameters\":{}}", NULL, "rope_type", "\"default\""},
    {"{\"model_type\":\"cohere2_moe\"" LAYERS
     ",\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}",
     "sliding_attention", "rope_type", "\"default\""},
    {"{\"model_type\":\"cohere2_moe\"" LAYERS
     ",\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":8}}",
     "sliding_attention", "rope_type", "\"linear\""},
    {"{" SAPROT ",\"rope_theta\":5e5,\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":8,"
     "\"rope_theta\":3e4}}",
     NULL, "rope_theta", "500000"},
    {"{" SAPROT ",\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}", NULL, "rope_type",
     "\"default\""},
    {"{\"model_type\":\"modernbert\"" LAYERS ",\"rope_theta\":5e5}", NULL, "rope_theta", "160000"},
    {"{\"model_type\":\"modernbert\"" LAYERS ",\"global_rope_theta\":5e5}", NULL, "rope_theta",
     "500000"},
    {"{\"model_type\":\"modernbert-decoder\"" LAYERS ",\"local_rope_theta\":7e4,\"rope_scaling\":{"
     "\"rope_type\":\"linear\",\"factor\":4}}",
     "sliding_attention", "rope_theta", "70000"},
    {"{\"model_type\":\"modernbert\"" LAYERS ",\"rope_scaling\":{\"rope_type\":\"linear\","
     "\"factor\":4}}",
     "sliding_attention", "rope_type", "\"linear\""},
    {"{\"model_type\":\"cosmos3_edge_text\",\"rope_theta\":5e5}", NULL, "rope_theta", "100000000"},
    {"{\"model_type\":\"mimo_v2_flash\",\"head_dim\":192,\"layer_types\":[\"sliding_attention\"],"
     "\"partial_rotary_factor\":0.5}",
     NULL, "rotary_dim", "64"},
    {"{\"model_type\":\"mellum\",\"layer_types\":[\"full_attention\"],\"partial_rotary_factor\":0."
     "5}",
     NULL, "rotary_dim", "128"},
    {"{\"model_type\":\"phi3\",\"head_dim\":4,\"rope_scaling\":{\"type\":\"longrope\",\"factor\":"
     "32,"
     "\"original_max_position_embeddings\":8192,\"short_factor\":[1,1],\"long_factor\":[1,2]}}",
     NULL, "original_max_position_embeddings", "4096"},
    {"{\"model_type\":\"gemma3n_text\",\"rope_scaling\":{" YARN ",\"truncate\":false,"
     "\"original_max_position_embeddings\":4096}}",
     NULL, "truncate", "true"},
    {"{" DOTS ",\"rope_theta\":5e5}", "indexed_attention", "rope_theta", "500000"},
    {"{" DOTS ",\"rope_theta\":5e5}", "sliding_attention", "rope_theta", "50000"},
    /* GGUF: a type without a factor divides nothing, ext_factor below 0 is as none, and with 0
     * cosines do not grow; sliding layers have widths of their own; Baichuan of 40 layers */
    {"{" GGUF("llama") ",\"llama.rope.scaling.type\":\"yarn\",\"llama.context_length\":64,\"llama."
                       "rope.scaling.original_context_length\":16}",
     NULL, "factor", "1"},
    {"{" GGUF("llama") ",\"llama.rope.scaling.type\":\"linear\"}", NULL, "factor", "1"},
    {"{" GGUF("llama") ",\"llama.rope.scaling.type\":\"yarn\",\"llama.context_length\":64,\"llama."
                       "rope.scaling.factor\":4,\"llama.rope.scaling.yarn_ext_factor\":-1}",
     NULL, "extrapolation_factor", "1"},
    {"{" GGUF("llama") ",\"llama.rope.scaling.type\":\"yarn\",\"llama.context_length\":64,\"llama."
                       "rope.scaling.factor\":4,\"llama.rope.scaling.yarn_ext_factor\":0}",
     NULL, "attention_factor", "1"},
    {"{" GGUF(
         "gemma3") ",\"gemma3.block_count\":6,\"gemma3.rope.dimension_count\":16,\"gemma3.rope."
                   "dimension_count_swa\":8}",
     "sliding_attention", "rotary_dim", "8"},
    {"{" GGUF("gemma3") ",\"gemma3.block_count\":6,\"gemma3.attention.key_length\":16,\"gemma3."
                        "attention.key_length_swa\":32}",
     "sliding_attention", "head_dim", "32"},
    {"{" GGUF("gemma3") ",\"gemma3.block_count\":6,\"gemma3.attention.key_length\":16,\"gemma3."
                        "attention.key_length_swa\":32}",
     "full_attention", "head_dim", "16"},
    {"{" GGUF("baichuan") ",\"baichuan.block_count\":40}", NULL, "num_heads", "4"},
    {"{" GGUF("baichuan") ",\"baichuan.block_count\":32}", NULL, "rotary_dim", "16"},
    /* what chooses tokens: DeepseekV32Indexer turns halves, GlmMoeDsaIndexer neighbours; HYV4Indexer
     * the last channels (transformers 5.24.0) */
    {"{" DOTS ",\"rope_theta\":5e5}", "indexer", "rope_theta", "500000"},
    {"{" DOTS "}", "indexer", "pairing", "\"interleaved\""},
    {"{\"model_type\":\"deepseek_v32\",\"qk_rope_head_dim\":64}", NULL, "pairing",
     "\"interleaved\""},
    {"{\"model_type\":\"deepseek_v32\",\"qk_rope_head_dim\":64}", "indexer", "pairing", "\"half\""},
    {"{\"model_type\":\"deepseek_v32\",\"qk_rope_head_dim\":64}", "indexer", "head_dim", "128"},
    {"{\"model_type\":\"deepseek_v32\",\"qk_rope_head_dim\":64}", "indexer", "rotary_dim", "64"},
    {"{\"model_type\":\"glm_moe_dsa\",\"index_head_dim\":96}", "indexer", "head_dim", "96"},
    {"{\"model_type\":\"glm_moe_dsa\"}", "indexer", "pairing", "\"interleaved\""},
    {"{\"model_type\":\"axk2\"}", "indexer", "pairing", "\"half\""},
    {"{\"model_type\":\"hy_v4\"" LAYERS "}", "indexer", "rotary_offset", "64"},
    {"{\"model_type\":\"hy_v4_vl_text\"" LAYERS "}", "indexer", "pairing", "\"interleaved\""},
    {"{\"model_type\":\"hy_v4_vl_text\"" LAYERS "}", NULL, "mrope_section", "[12,10,10]"},
    {"{\"model_type\":\"hy_v4_vl_text\"" LAYERS "}", NULL, "mrope_layout", "\"interleaved\""},
    {"{\"model_type\":\"sarvam_mla\",\"qk_rope_head_dim\":64}", NULL, "pairing", "\"interleaved\""},
    {"{\"model_type\":\"minimax_m3_vl_text\",\"rotary_dim\":64}", NULL, "rotary_dim", "128"},
    {"{\"model_type\":\"minimax_m3_vl_text\",\"rotary_dim\":64,\"partial_rotary_factor\":0.5}",
     NULL, "rotary_dim", "64"},
    {"{\"model_type\":\"esm\",\"position_embedding_type\":\"absolute\",\"hidden_size\":64}", NULL,
     "offset", "2"},
    {"{" DOTS ",\"swa_rope_theta\":7e4}", "sliding_attention", "rope_theta", "70000"},
    {"{" DOTS ",\"rope_parameters\":{}}", "sliding_attention", "rope_theta", "80000000"},
    {"{\"model_type\":\"dots3_note_text\"}", NULL, "rotary_dim", "64"},
    {"{\"model_type\":\"dots3_note_audio_encoder\",\"hidden_size\":64,\"num_attention_heads\":2,"
     "\"head_dim\":40}",
     NULL, "head_dim", "32"},
    {"{" V4 ",\"rope_scaling\":{" YARN
     ",\"attn_factor\":1,\"original_max_position_embeddings\":32}}",
     "heavily_compressed_attention", "attention_factor", "1"},
    {"{" DOTS ",\"swa_rope_theta\":7e4,\"rope_scaling\":{\"type\":\"linear\",\"factor\":4}}",
     "sliding_attention", "rope_theta", "80000000"},

    {"{" LLAMA ",\"max_position_embeddings\":64,\"rope_scaling\":{" YARN ",\"beta_fast\":0}}", NULL,
     "beta_fast", "32"},

    /* dimensions */
    {"{\"model_type\":\"glm4\",\"head_dim\":128,\"partial_rotary_factor\":null}", NULL,
     "rotary_dim", "128"},
    {"{\"model_type\":\"glm4\",\"head_dim\":128}", NULL, "rotary_dim", "64"},
    {"{\"model_type\":\"neomme\",\"rope_parameters\":{}}", NULL, "rope_theta", "1000000"},
    {"{" SAPROT ",\"partial_rotary_factor\":0.5}", NULL, "rotary_dim", "64"},
    {"{" ASR "}", NULL, "rotary_dim", "64"},
    {"{\"model_type\":\"glm4_moe\"}", NULL, "rotary_dim", "22"},
    {"{" ODD "}", NULL, "freq_factors", "[1,4.6415888336127793]"}, /* 10000^(2 / (3 4)) */
    {"{" ODD ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}", NULL, "rotary_dim", "4"},
    {"{" ODD ",\"max_position_embeddings\":8,\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":2}}",
     NULL, "rotary_dim", "4"},
    {"{" ODD ",\"max_position_embeddings\":8,\"rope_scaling\":{\"type\":\"longrope\","
     "\"factor\":2,\"short_factor\":[1,1],\"long_factor\":[1,2]}}",
     NULL, "freq_factors", "[1,4.6415888336127793]"},
    {"{\"model_type\":\"qwen3_omni_moe_text\",\"hidden_size\":12,\"num_attention_heads\":4,"
     "\"rope_theta\":1e4}",
     NULL, "freq_factors", "[1,4.6415888336127793]"},
    {"{" V4 ",\"qk_rope_head_dim\":64}", "heavily_compressed_attention", "rope_theta", "160000"},
    {"{" V4 ",\"original_max_position_embeddings\":64,\"rope_scaling\":{" YARN
     ",\"original_max_position_embeddings\":32}}",
     "heavily_compressed_attention", "original_max_position_embeddings", "32"},
    {"{" V4 "}", "3", "rotary_offset", "448"},
    {"{" V4 ",\"qk_rope_head_dim\":32}", "3", "rotary_offset", "480"},
    {"{" V4 ",\"qk_rope_head_dim\":32,\"partial_rotary_factor\":0.5}", "3", "rotary_dim", "256"},
    {"{" V4 ",\"rope_parameters\":{\"rope_type\":\"default\",\"partial_rotary_factor\":0.5}}", "3",
     "rotary_dim", "64"},
    {"{\"model_type\":\"gemma4_vision\",\"head_dim\":64}", NULL, "rope_theta", "100"},
    {"{" V4 ",\"compress_ratios\":[128,4,0,0]}", "sliding_attention", "rope_theta", "10000"},
    {"{" V4
     ",\"compress_ratios\":[128,4,0,0],\"max_position_embeddings\":64,\"rope_scaling\":{" YARN "}}",
     "compressed_sparse_attention", "attention_factor", "1"},
    {"{" V4
     ",\"compress_ratios\":[128,4,0,0],\"max_position_embeddings\":64,\"rope_scaling\":{" YARN "}}",
     "sliding_attention", "rope_type", "\"default\""},
    {"{" V4
     ",\"rope_parameters\":{\"main\":{\"rope_theta\":2e4},\"compress\":{\"rope_theta\":3e4}}}",
     "heavily_compressed_attention", "rope_theta", "30000"},
    {"{\"model_type\":\"minimax_m3_vl_vision\",\"hidden_size\":1280,\"num_attention_heads\":16,"
     "\"rope_parameters\":{\"rope_type\":\"axial\"}}",
     NULL, "axes_dims", "[26,26,26]"},
    {"{\"model_type\":\"gemma4_unified_text\"" LAYERS "}", "full_attention", "head_dim", "512"},
    {"{\"model_type\":\"embedding_gemma2_text\"" LAYERS "}", "full_attention", "head_dim", "512"},
    {"{\"model_type\":\"muse_spark\"" LAYERS "}", "sliding_attention", "rope_theta", "500000"},
    {"{\"model_type\":\"sam2_video\",\"memory_attention_rope_theta\":20000}", NULL, "rope_theta",
     "20000"},
    {"{\"model_type\":\"sam2_video\",\"memory_attention_hidden_size\":256,"
     "\"memory_attention_downsample_rate\":2}",
     NULL, "head_dim", "128"},
    {"{" ASR ",\"rope_theta\":5e5}", NULL, "rope_theta", "10000"},
    {"{" ASR ",\"rope_parameters\":{\"rope_theta\":5e5}}", NULL, "rotary_dim", "128"},
    {"{\"model_type\":\"gpt_neox_japanese\",\"hidden_size\":1024,\"num_attention_heads\":16,"
     "\"rotary_pct\":0.5,\"partial_rotary_factor\":0.25}",
     NULL, "rotary_dim", "32"},
    {"{\"model_type\":\"cohere2_moe\"" LAYERS ",\"partial_rotary_factor\":0.5,\"rope_parameters\":{"
     "\"rope_type\":\"linear\",\"factor\":8}}",
     "sliding_attention", "rotary_dim", "128"},
    {"{" LLAMA "}", NULL, "head_dim", "64"},
    {"{" LLAMA ",\"head_dim\":128}", NULL, "head_dim", "128"},
    {"{" LLAMA ",\"head_dim\":null}", NULL, "head_dim", "64"},
    {"{\"model_type\":\"glm\",\"hidden_size\":128,\"num_attention_heads\":4,\"head_dim\":null}",
     NULL, "head_dim", "32"},
    {"{\"model_type\":\"unlimited_ocr_text\",\"hidden_size\":1024,\"num_attention_heads\":16,"
     "\"head_dim\":40}",
     NULL, "head_dim", "64"},
    {"{\"model_type\":\"jetmoe\",\"hidden_size\":2048,\"num_attention_heads\":32}", NULL,
     "head_dim", "128"},
    {"{\"model_type\":\"deepseek_v3\",\"hidden_size\":7168,\"num_attention_heads\":128}", NULL,
     "head_dim", "64"},
    {"{\"model_type\":\"dbrx\"}", NULL, "head_dim", "128"},
    {"{\"model_type\":\"albert\",\"hidden_size\":64,\"embedding_size\":32,\"max_position_"
     "embeddings\":8}",
     NULL, "width", "32"},
    {"{\"model_type\":\"albert\",\"hidden_size\":64,\"max_position_embeddings\":8}", NULL, "width",
     NULL},
    {"{\"model_type\":\"Glm4vMoe_text\",\"head_dim\":128}", NULL, "rotary_dim", "64"},
    /* a vision tower alone has the name of the whole model until transformers 5 */
    {"{\"model_type\":\"qwen2_5_vl\",\"hidden_size\":1280,\"num_heads\":16,\"patch_size\":14}",
     NULL, "convention", "\"qwen2_vl\""},
    {"{\"model_type\":\"qwen2_5_vl\",\"hidden_size\":2048,\"num_attention_heads\":16}", NULL,
     "head_dim", "128"},
    {"{" LLAMA ",\"head_dim\":128,\"qk_rope_head_dim\":32}", NULL, "head_dim", "32"},
    {"{\"model_type\":\"gemma\",\"hidden_size\":2048,\"num_attention_heads\":8}", NULL, "head_dim",
     "256"},
    {"{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\"}}", NULL, "head_dim",
     "128"},
    {"{" LLAMA ",\"partial_rotary_factor\":0.5}", NULL, "rotary_dim", "64"},
    {"{" LLAMA ",\"rope_parameters\":{\"partial_rotary_factor\":0.25}}", NULL, "rotary_dim", "64"},
    {"{" LLAMA ",\"rotary_dim\":16}", NULL, "rotary_dim", "16"},
    {"{\"model_type\":\"gpt_neox\",\"hidden_size\":1024,\"num_attention_heads\":16}", NULL,
     "rotary_dim", "16"},
    {"{\"model_type\":\"gptj\",\"n_embd\":4096,\"n_head\":16}", NULL, "rotary_dim", "64"},
    {"{\"model_type\":\"gemma4_text\",\"head_dim\":64,\"global_head_dim\":128," /* its own width */
     "\"layer_types\":[\"full_attention\",\"sliding_attention\"],\"rope_parameters\":{"
     "\"full_attention\":{\"rope_type\":\"proportional\",\"partial_rotary_factor\":0.25,"
     "\"rope_theta\":1e6},\"sliding_attention\":{\"rope_theta\":1e4}}}",
     "full_attention", "rotary_dim", "128"},

    {"{\"model_type\":\"gemma4_text\"" LAYERS "}", "full_attention", "rotary_dim", "512"},
    {"{\"model_type\":\"gemma4_text\"" LAYERS "}", "sliding_attention", "rope_theta", "10000"},
    {"{\"model_type\":\"moonshine\",\"hidden_size\":288,\"encoder_num_attention_heads\":8}", NULL,
     "rotary_dim", "32"},
    {"{\"model_type\":\"mistral4\",\"qk_rope_head_dim\":64,\"rope_parameters\":{" YARN
     ",\"original_max_position_embeddings\":8192,\"partial_rotary_factor\":0.5}}",
     NULL, "rotary_dim", "64"},

    /* pairs */
    {"{" LLAMA "}", NULL, "pairing", "\"half\""},
    {"{" LLAMA ",\"rope_interleave\":true}", NULL, "pairing", "\"interleaved\""},
    {"{" LLAMA ",\"rope_interleaved\":true}", NULL, "pairing", "\"half\""},
    {"{\"model_type\":\"new\",\"head_dim\":64,\"rope_theta\":1e4,\"rope_interleaved\":true}", NULL,
     "pairing", "\"interleaved\""},
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"rope_interleave\":false}", NULL,
     "pairing", "\"half\""},
    {"{\"model_type\":\"cohere\",\"head_dim\":64}", NULL, "pairing", "\"interleaved\""},
    {"{\"model_type\":\"moonshine_streaming\"}", NULL, "pairing", "\"interleaved\""},
    {"{\"model_type\":\"blt_local_decoder\"}", NULL, "pairing", "\"interleaved\""},
    {"{\"model_type\":\"pe_video_encoder\"}", NULL, "pairing", "\"interleaved\""},
    {"{\"rope_theta\":10000,\"head_dim\":64}", NULL, "pairing", "\"half\""},

    {"{\"model_type\":\"ernie4_5_vl_moe_text\"}", NULL, "mrope_section", "[22,22,20]"},
    {"{\"model_type\":\"ernie4_5_vl_moe_text\"}", NULL, "mrope_layout", "\"ernie\""},
    {"{\"model_type\":\"ernie4_5_moe_vl\",\"hidden_size\":2560,\"num_attention_heads\":20,"
     "\"rope_3d\":true,\"freq_allocation\":20}",
     NULL, "mrope_layout", "\"ernie\""},
    {"{\"model_type\":\"cosmos3_edge_text\"}", NULL, "mrope_layout", "\"interleaved\""},
    {"{\"model_type\":\"qwen2_vl_text\"}", NULL, "mrope_section", "[16,24,24]"},
    {"{\"model_type\":\"neomme\",\"rope_theta\":7e5" LAYERS "}", "sliding_attention", "rope_theta",
     "700000"},
    {"{\"model_type\":\"lfm2\",\"theta\":5e5}", NULL, "rope_theta", "1000000"},
    {STEP, "full_attention", "rope_theta", "5000000"},
    {STEP, "full_attention", "rotary_dim", "64"},
    {STEP, "full_attention", "rope_type", "\"llama3\""},
    {STEP, "sliding_attention", "rotary_dim", "128"},
    {"{" LLAMA ",\"layer_types\":[\"sliding_attention\",\"full_attention\"],\"yarn_only_types\":["
     "\"full_attention\"],\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}",
     "sliding_attention", "rope_type", "\"default\""},
    {STEP, "sliding_attention", "rope_type", "\"default\""},
    {"{\"model_type\":\"qwen2_5_omni_dit\"}", NULL, "pairing", "\"interleaved\""},
    {"{\"model_type\":\"neomme\"" LAYERS "}", "sliding_attention", "mrope_section", "[16,16]"},
    {"{\"model_type\":\"zamba2\",\"use_mem_rope\":true,\"hidden_size\":2560,\"num_attention_"
     "heads\":32,"
     "\"kv_channels\":80}",
     NULL, "rotary_dim", "160"},
    {"{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":6,\"per_layer_config\":{\"05\":{"
     "\"head_dim\":128}}}",
     "full_attention", "rotary_dim", "128"},
    {"{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":6,\"per_layer_config\":{}}",
     "full_attention", "rotary_dim", "256"},

    /* objects within objects */
    {"{\"model_type\":\"x\",\"thinker_config\":{\"text_config\":{" LLAMA ",\"rope_theta\":3e4}}}",
     NULL, "rope_theta", "30000"},
    {"{\"llm_config\":{" LLAMA ",\"rope_theta\":3e4}}", NULL, "rope_theta", "30000"},
    {"{" LLAMA ",\"text_config\":null,\"rope_theta\":3e4}", NULL, "rope_theta", "30000"},

    /* layers */
    {"{\"model_type\":\"gemma3_text\"" LAYERS ",\"rope_scaling\":{\"rope_type\":\"linear\","
     "\"factor\":8}}",
     "sliding_attention", "rope_type", "\"default\""},
    {"{\"model_type\":\"gemma3_text\"" LAYERS "}", "0", "rope_theta", "10000"},
    {"{\"model_type\":\"gemma3_text\"" LAYERS ",\"rope_parameters\":{" YARN "}}", NULL, "rope_type",
     "\"default\""},
    {"{\"model_type\":\"olmo3\",\"head_dim\":64,\"rope_parameters\":{\"rope_theta\":3e4}}", NULL,
     "rope_theta", "500000"},
    {"{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":6}", "5", "rope_theta", "1000000"},
    {"{" LLAMA LAYERS ",\"layer_rope_theta\":[1e4,0,5e5,1e4]}", "2", "rope_theta", "500000"},
    {"{" LLAMA LAYERS ",\"layer_rope_theta\":[1e4,0,5e5,1e4]}", "3", "rope_theta", "10000"},
    {"{" LLAMA LAYERS ",\"rope_theta\":3,\"layer_rope_theta\":[7,7,5e5,7]}",
     "full_attention_500000", "rope_theta", "500000"},
    {"{\"model_type\":\"modernbert\",\"hidden_size\":768,\"num_attention_heads\":12" LAYERS "}",
     "3", "rope_theta", "160000"},
    {"{\"model_type\":\"olmo3\",\"head_dim\":64,\"rope_theta\":5e5,\"max_position_embeddings\":64,"
     "\"layer_types\":[\"sliding_attention\",\"full_attention\"],\"rope_scaling\":{" YARN "}}",
     "sliding_attention", "rope_type", "\"default\""},
    {"{" LLAMA ",\"layer_types\":[\"sliding_attention\",\"full_attention\"],\"rope_theta\":5e5}",
     "sliding_attention", "rope_theta", "500000"},
    {"{\"model_type\":\"exaone4\",\"head_dim\":64" LAYERS ",\"sliding_window_pattern\":\"LLLG\","
     "\"sliding_window\":64}",
     "2", "pairing", "\"half\""},

    /* what other programs write */
    {"{" GGUF("llama") ",\"llama.rope.freq_base\":5e5}", NULL, "rope_theta", "500000"},
    {"{" GGUF("llama") "}", NULL, "pairing", "\"interleaved\""},
    {"{" GGUF("qwen2") "}", NULL, "pairing", "\"half\""},
    {"{" GGUF("qwen2") ",\"qwen2.rope.scale_linear\":4}", NULL, "rope_type", "\"linear\""},
    {"{" GGUF("qwen2") ",\"qwen2.rope.scaling.type\":\"yarn\",\"qwen2.rope.scaling.factor\":4,"
                       "\"qwen2.rope.scaling.original_context_length\":32}",
     NULL, "original_max_position_embeddings", "32"},
    {"{" GGUF("qwen2vl") ",\"qwen2vl.rope.dimension_sections\":[2,3,3,0]}", NULL, "mrope_section",
     "[2,3,3]"},
    {"{" GGUF("gemma3") ",\"gemma3.block_count\":6,\"gemma3.attention.sliding_window\":8}", "0",
     "rope_theta", "10000"},
    {"{" GGUF("gemma3") ",\"gemma3.block_count\":2,\"gemma3.rope.freq_base\":1e6,"
                        "\"gemma3.attention.sliding_window_pattern\":[true,false]}",
     "1", "rope_theta", "1000000"},
    {"{" GGUF("deepseek2") ",\"deepseek2.attention.kv_lora_rank\":512,\"deepseek2.rope.dimension_"
                           "count\":64,\"deepseek2.context_length\":64,\"deepseek2.rope.scaling."
                           "type\":\"yarn\","
                           "\"deepseek2.rope.scaling.factor\":40,\"deepseek2.rope.scaling.yarn_log_"
                           "multiplier\":0.0707}",
     NULL, "mscale_all_dim", "0.707"},
    {"{" GGUF("bloom") "}", NULL, "num_heads", "4"},
    {"{" DIFFUSERS("Flux2Transformer2DModel") "}", NULL, "axes_dims", "[32,32,32,32]"},
    {"{" DIFFUSERS("Flux2Transformer2DModel") "}", NULL, "rope_theta", "2000"},
    {"{" DIFFUSERS("HunyuanVideoTransformer3DModel") ",\"rope_axes_dim\":[32,48,48]}", NULL,
     "axes_dims", "[32,48,48]"},
    {"{" DIFFUSERS("WanTransformer3DModel") "}", NULL, "axes_dims", "[44,42,42]"},
    {"{" DIFFUSERS("CosmosTransformer3DModel") ",\"rope_scale\":[1,3,3]}", NULL, "axes_scale",
     "[1,3,3]"},
    {"{" DIFFUSERS("CosmosTransformer3DModel") "}", NULL, "pairing", "\"half\""},
    {"{" DIFFUSERS("CogView4Transformer2DModel") "}", NULL, "axes_dims", "[64,64]"},
    {"{" DIFFUSERS("CogVideoXTransformer3DModel") ",\"use_rotary_positional_embeddings\":true}",
     NULL, "axes_dims", "[32,48,48]"},
    {"{" DIFFUSERS("SD3Transformer2DModel") ",\"num_attention_heads\":24,\"pos_embed_max_size\":192"
                                            "}",
     NULL, "height", "192"},
    /* of the class, of a key that a class not known has, of part of a head (diffusers 0.42.1) */
    {"{" DIFFUSERS("Krea2Transformer2DModel") "}", NULL, "axes_dims", "[32,48,48]"},
    {"{" DIFFUSERS("JoyImageEditTransformer3DModel") ",\"rope_dim_list\":[32,48,48]}", NULL,
     "axes_dims", "[32,48,48]"},
    {"{" DIFFUSERS("HeliosTransformer3DModel") ",\"rope_dim\":[64,32,32]}", NULL, "axes_dims",
     "[64,32,32]"},
    {"{\"_class_name\":\"Kandinsky5Transformer3DModel\",\"axes_dims\":[32,48,48]}", NULL,
     "head_dim", "128"},
    {"{\"_class_name\":\"NewTransformer3DModel\",\"axes_dims\":[16,24,24]}", NULL, "axes_dims",
     "[16,24,24]"},
    {"{\"model_type\":\"new\",\"rope_axes_dim\":[16,24,24],\"rope_theta\":256}", NULL, "pairing",
     "\"interleaved\""},
    {"{" DIFFUSERS("HiDreamImageTransformer2DModel") "}", NULL, "rotary_dim", "64"},
    {"{" DIFFUSERS("MiniMaxH3Transformer3DModel") "}", NULL, "rotary_dim", "96"},
    {"{" DIFFUSERS("MiniMaxH3Transformer3DModel") ",\"rope_freq_dim\":20}", NULL, "axes_dims",
     "[40,40,40]"},
    {"{" DIFFUSERS("Ideogram4Transformer2DModel") "}", NULL, "mrope_section", "[24,20,20]"},
    {"{" DIFFUSERS("Ideogram4Transformer2DModel") ",\"mrope_section\":[30,18,16]}", NULL,
     "mrope_section", "[30,18,16]"},
    {"{\"_class_name\":\"Ideogram4Transformer2DModel\"}", NULL, "mrope_section", "[88,20,20]"},
    {"{\"_class_name\":\"Cosmos3OmniTransformer\",\"rope_axes_dim\":[32,16,16]}", NULL,
     "mrope_section", "[32,16,16]"},
    {"{\"model_type\":\"qwen3_vl_text\",\"head_dim\":64}", NULL, "mrope_section", "[11,11,10]"},
    {"{" MEGATRON ",\"rotary_percent\":0.5}", NULL, "rotary_dim", "8"},
    {"{\"hidden-size\":64,\"num-attention-heads\":4,\"rotary-base\":5e5,"
     "\"use-rotary-position-embeddings\":true}",
     NULL, "rope_theta", "500000"},
    {"{\"--hidden-size\":64,\"--num-attention-heads\":4,\"--rotary-percent\":0.5,"
     "\"--position-embedding-type\":\"rope\"}",
     NULL, "rotary_dim", "8"},
    /* latent attention that is none, and in other words */
    {"{\"model_type\":\"deepseek_v2\",\"hidden_size\":1280,\"num_attention_heads\":10,"
     "\"qk_nope_head_dim\":0,\"qk_rope_head_dim\":0,\"use_mla\":false}",
     NULL, "head_dim", "128"},
    {"{\"model_type\":\"deepseek_v2\",\"hidden_size\":1280,\"num_attention_heads\":10,"
     "\"qk_nope_head_dim\":0,\"qk_rope_head_dim\":0,\"use_mla\":false}",
     NULL, "pairing", "\"half\""},
    {"{\"model_type\":\"pangu_ultra_moe\",\"hidden_size\":7680,\"num_attention_heads\":128,"
     "\"attention_qk_dim\":128,\"attention_qk_rope_dim\":64,\"rope_theta\":25600000}",
     NULL, "head_dim", "64"},
    /* params.json of Meta, Mistral and OpenAI */
    {"{" PARAMS "}", NULL, "pairing", "\"interleaved\""},
    {"{" PARAMS ",\"use_scaled_rope\":true}", NULL, "factor", "8"},
    {"{" PARAMS ",\"use_scaled_rope\":true,\"rope_scaling_factor\":32}", NULL, "factor", "32"},
    {"{" PARAMS ",\"yarn\":{\"original_max_position_embeddings\":64,\"factor\":16,"
     "\"apply_scale\":false,\"beta\":24,\"alpha\":1}}",
     NULL, "beta_fast", "24"},
    {"{" PARAMS ",\"yarn\":{\"original_max_position_embeddings\":64,\"factor\":16,"
     "\"apply_scale\":false}}",
     NULL, "attention_factor", "1"},
    {"{\"head_dim\":64,\"rope_theta\":150000,\"initial_context_length\":4096,"
     "\"rope_scaling_factor\":16,\"rope_ntk_alpha\":1}",
     NULL, "factor", "16"},
    {"{\"head_dim\":64,\"rope_theta\":150000,\"rope_ntk_alpha\":1}", NULL, "truncate", "false"},
    {"{\"model_type\":\"moonvit\",\"patch_size\":14}", NULL, "head_dim", "72"},
    /* around a language model: the nearest type counts, and one that is not known may wrap it */
    {"{\"model_type\":\"x\",\"vlm_config\":{\"model_type\":\"paligemma\",\"text_config\":{"
     "\"vocab_size\":8}}}",
     NULL, "head_dim", "256"},
    {"{\"model_type\":\"x\",\"llm_cfg\":{\"vocab_size\":8," LLAMA "}," TOWER_OF "}", NULL,
     "head_dim", "64"},
    {"{" MEGATRON ",\"rotary_interleaved\":true}", NULL, "pairing", "\"interleaved\""},
    {"{" MEGATRON ",\"use_rope_scaling\":true}", NULL, "rope_type", "\"llama3\""},
    {"{" MEGATRON ",\"rotary_seq_len_interpolation_factor\":2}", NULL, "factor", "2"},
    {"{" MEGATRON ",\"num_layers\":2,\"no_rope_freq\":[0,1]}", "1", "pairing", NULL},
    {"{\"model\":{" MEGATRON ",\"rotary_percentage\":0.25}}", NULL, "rotary_dim", "4"},
    {"{" MEGATRON ",\"multi_latent_attention\":true,\"qk_pos_emb_head_dim\":8,"
     "\"rotary_scaling_factor\":40,\"mscale\":0.5,\"original_max_position_embeddings\":64}",
     NULL, "attention_factor", "1.1844439727056967"}, /* 1 + 0.05 ln 40 */
    {"{\"architecture\":\"vit_base_patch16_224.augreg\"}", NULL, "rows", "197"},
    {"{\"model_type\":\"timm_backbone\",\"backbone\":\"vit_base_patch16_224\"}", NULL, "rows",
     "197"},
    {"{\"model_type\":\"internvl_vision\",\"image_size\":[448,224],\"patch_size\":[14,14]}", NULL,
     "rows", "513"},
    {"{\"architecture\":\"deit3_small_patch16_384\"}", NULL, "rows", "576"},
    {"{\"architecture\":\"eva02_large_patch14_448\"}", NULL, "head_dim", "64"},
    /* timm 1.0.31, create_model(name).rope */
    {"{\"architecture\":\"timm/vit_base_patch16_224\"}", NULL, "rows", "197"},
    {"{\"architecture\":\"vit_base_patch16_rope_224\"}", NULL, "convention", "\"sam2\""},
    {"{\"architecture\":\"vit_base_patch16_rope_ape_224\"}", NULL, "rope_theta", "100"},
    {"{\"architecture\":\"vit_betwixt_patch16_rope_reg4_gap_256\"}", NULL, "convention",
     "\"eva02\""},
    {"{\"architecture\":\"vit_pe_core_large_patch14_336\"}", NULL, "convention", "\"llama4\""},
    {"{\"architecture\":\"vit_pe_lang_gigantic_patch14_448\"}", NULL, "head_dim", "96"},
    {"{\"architecture\":\"vit_huge_plus_patch16_dinov3\"}", NULL, "head_dim", "64"},
    {"{\"architecture\":\"vit_5b_patch16_sapiens2\"}", NULL, "head_dim", "76"},
    {"{\"architecture\":\"eva_giant_patch14_224\"}", NULL, "rows", "257"},
    {"{\"model_type\":\"timm_wrapper\",\"architecture\":\"vit_large_patch16_dinov3\"}", NULL,
     "convention", "\"dinov3\""},

    /* other encodings */
    {"{\"model_type\":\"falcon\",\"alibi\":true,\"n_head\":8}", NULL, "num_heads", "8"},
    {"{\"model_type\":\"baichuan\",\"hidden_size\":5120,\"num_attention_heads\":40}", NULL,
     "num_heads", "40"},
    {"{\"model_type\":\"jina\",\"position_embedding_type\":\"alibi\",\"num_attention_heads\":8}",
     NULL, "alibi_bias_max", "8"},
    {"{\"model_type\":\"t5\"}", NULL, "bidirectional", "true"},
    {"{\"model_type\":\"t5\"}", "decoder", "bidirectional", "false"},
    {"{\"model_type\":\"x\",\"relative_attention_num_buckets\":16}", NULL, "num_buckets", "16"},
    {"{\"model_type\":\"wavlm\"}", NULL, "max_distance", "800"},
    {"{\"model_type\":\"deberta-v2\",\"position_buckets\":256,\"max_relative_positions\":-1}", NULL,
     "max_distance", "512"},
    {"{\"model_type\":\"distilbert\",\"dim\":768,\"sinusoidal_pos_embds\":true}", NULL, "layout",
     "\"interleaved\""},
    {"{\"model_type\":\"whisper\",\"d_model\":384}", NULL, "freq_shift", "1"},
};

static void every_spelling_gives_its_parameter(void **state)
{
    (void)state;
    for (size_t s = 0; s < PE_LEN(spellings); s++) {
        const spelling *c = &spellings[s];
        const pe_model_layers *layers;
        pe_problem why = {0};
        pe_buffer text = {0};
        pe_model *model = resolve(c->config);
        if (pe_model_choose(model, c->layer_type, &layers, &why) != PE_OK)
            fail_msg("%s: %s", c->config, why.detail);
        pe_values_json(&layers->values, &text);
        json_t *values = json_loadb(text.data, text.bytes, 0, NULL);
        json_t *wanted = c->value != NULL ? json_loads(c->value, JSON_DECODE_ANY, NULL) : NULL;
        const json_t *got = json_object_get(values, c->parameter);
        if (wanted != NULL ? !json_equal(got, wanted) : got != NULL)
            fail_msg("%s, %s: wanted %s, got %s", c->config, c->parameter,
                     c->value != NULL ? c->value : "nothing", pe_buffer_text(&text));
        json_decref(values);
        json_decref(wanted);
        pe_buffer_free(&text);
        pe_model_free(model);
    }
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* A letter for each layer: F full, S sliding, N none of either, as kinds rotate or not: lower case
 * does not. */
static const struct {
    const char *config, *layers;
} stacks[] = {
    {"{" LLAMA LAYERS "}", "FFFF"},
    {"{" LLAMA "}", ""},
    {"{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":7}", "SSSSSFS"},
    {"{\"model_type\":\"gemma2\"" LAYERS "}", "SFSF"},
    {"{\"model_type\":\"lara_mini\",\"num_hidden_layers\":6}", "nSnfSn"},
    {"{\"model_type\":\"flint\",\"num_hidden_layers\":8}", "ffSSSfSf"},
    {"{\"model_type\":\"muse_glimmer_text\",\"num_hidden_layers\":6}", "SfSSSf"},
    {"{\"model_type\":\"muse_glimmer_text\"" LAYERS ",\"layer_rope_theta\":[1e4,0,1e4,1e4]}",
     "SnSF"},
    {"{\"model_type\":\"gemma2\"" LAYERS ",\"sliding_window_pattern\":3}", "SSFS"},
    {"{\"model_type\":\"modernbert\",\"head_dim\":64" LAYERS "}", "FSSF"},
    {"{\"model_type\":\"cohere2\",\"head_dim\":64" LAYERS "}", "SSSf"},
    {"{\"model_type\":\"exaone4\",\"head_dim\":64" LAYERS ",\"sliding_window\":null}", "FFFF"},
    {"{\"model_type\":\"smollm3\",\"head_dim\":64" LAYERS "}", "FFFn"},
    {"{\"model_type\":\"smollm3\",\"head_dim\":64" LAYERS ",\"no_rope_layers\":[0,1,1,1]}", "nFFF"},
    {"{\"model_type\":\"smollm3\",\"head_dim\":64" LAYERS ",\"no_rope_layer_interval\":2}", "FnFn"},
    {"{\"model_type\":\"llama4_text\",\"head_dim\":64" LAYERS ",\"no_rope_layers\":[]}", "FFFn"},
    {"{\"model_type\":\"qwen3_next\"" LAYERS "}", "nnnF"},
    {"{\"model_type\":\"mllama_text_model\",\"head_dim\":64" LAYERS "}", "FFFn"},
    {"{\"model_type\":\"mllama_text_model\",\"head_dim\":64" LAYERS
     ",\"cross_attention_layers\":[0,2,99,-1]}",
     "nFnF"},
    {"{\"model_type\":\"lfm2\",\"head_dim\":64" LAYERS ",\"full_attn_idxs\":[1,3]}", "nFnF"},
    {"{\"model_type\":\"bamba\",\"head_dim\":64" LAYERS ",\"attn_layer_indices\":[2]}", "nnFn"},
    {"{\"model_type\":\"mimo_v2_flash\",\"num_hidden_layers\":7}", "FSSSSFS"},
    {"{\"model_type\":\"mimo_v2_flash\"" LAYERS ",\"hybrid_layer_pattern\":[0,1,0,1]}", "FSFS"},
    {"{\"head_dim\":64,\"rope_theta\":1e4" LAYERS ",\"attn_type_list\":[0,0,0,1]}", "nnnF"},
    {"{\"model_type\":\"bamba\"" LAYERS "}", "nnnn"},
    {"{\"model_type\":\"granitemoehybrid\",\"position_embedding_type\":\"rope\"" LAYERS "}",
     "nnnn"},
    {"{\"model_type\":\"granitemoehybrid\",\"rope_theta\":1e4,\"num_hidden_layers\":1,"
     "\"layer_types\":[\"attention\"]}",
     ""},
    {"{\"model_type\":\"zamba2\",\"attention_head_dim\":64,\"use_mem_rope\":true,"
     "\"layers_block_type\":[\"mamba\",\"hybrid\"]}",
     "nN"},
    {"{\"model_type\":\"wav2vec2-conformer\",\"position_embeddings_type\":\"rotary\"" LAYERS "}",
     "FFFF"},
    {"{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":8}", "SSSSSFSF"},
    {"{" LLAMA ",\"layer_types\":[\"conv\",\"full_attention\",\"conv\"]}", "nFn"},
    {"{" LLAMA LAYERS ",\"layer_rope_theta\":[1e4,0,5e5,1e4]}", "FnNF"},
    {"{\"model_type\":\"granite_swa\"" LAYERS ",\"layer_rope_theta\":[0,0,5e5,0]}", "fnSn"},
    {"{\"model_type\":\"granite_swa\"" LAYERS ",\"layer_rope_theta\":null}", "FSSS"},
};

static char letter_of(const pe_model_layers *layers)
{
    const bool full = strcmp(layers->layer_type, "full_attention") == 0;
    const bool sliding = strcmp(layers->layer_type, "sliding_attention") == 0;
    const char letter = full ? 'F' : sliding ? 'S' : 'N';
    return (char)(layers->resource != NULL ? letter : letter + ('a' - 'A'));
}

static void layers_are_told_apart(void **state)
{
    (void)state;
    for (size_t s = 0; s < PE_LEN(stacks); s++) {
        char got[16] = {0};
        pe_model *model = resolve(stacks[s].config);
        assert_int_equal(model->n_layers, strlen(stacks[s].layers));
        for (size_t k = 0; k < model->n_kinds; k++)
            for (size_t i = 0; i < model->kinds[k].n; i++)
                got[model->kinds[k].index[i]] = letter_of(&model->kinds[k]);
        if (strcmp(got, stacks[s].layers) != 0)
            fail_msg("%s: wanted %s, got %s", stacks[s].config, stacks[s].layers, got);
        assert_true(model->kinds[0].resource != NULL || strspn(got, "fsn") == strlen(got));
        pe_model_free(model);
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

static const struct {
    const char *config, *pointer, *value;
    pe_model_key_status status;
} reports[] = {
    {"{" LLAMA ",\"rope_theta\":5e5}", "#/rope_theta", "500000", PE_MODEL_KEY_USED},
    {"{" LLAMA ",\"vision_config\":{\"model_type\":\"timm_wrapper\",\"architecture\":"
     "\"vit_base_patch16_rope_224\"}}",
     "#/vision_config/architecture", "\"vit_base_patch16_rope_224\"", PE_MODEL_KEY_USED},
    {"{\"architecture\":\"new_model\"}", "#/architecture", "\"new_model\"", PE_MODEL_KEY_IGNORED},
    {"{" DIFFUSERS("NewTransformer2DModel") "}", "#/_class_name", "\"NewTransformer2DModel\"",
     PE_MODEL_KEY_IGNORED},
    {"{\"rotary-base\":5e5,\"kv-channels\":64,\"use-rotary-position-embeddings\":true}",
     "#/rotary-base", "500000", PE_MODEL_KEY_USED},
    {"{" LLAMA "}", "#/rope_theta", "10000", PE_MODEL_KEY_DEFAULTED},
    {"{" LLAMA ",\"rope_scaling\":null}", "#/rope_scaling", "null", PE_MODEL_KEY_IGNORED},
    {"{" LLAMA ",\"rope_theta\":1e6,\"rope_scaling\":{\"rope_theta\":5e5}}", "#/rope_theta",
     "1000000", PE_MODEL_KEY_IGNORED},
    {"{" PARAMS ",\"use_scaled_rope\":true}", "#/use_scaled_rope", "true", PE_MODEL_KEY_USED},
    {"{" LLAMA ",\"max_position_embeddings\":64,\"rope_scaling\":{" YARN "}}",
     "#/rope_scaling/beta_slow", "1", PE_MODEL_KEY_DEFAULTED},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2,\"beta_fast\":3}}",
     "#/rope_scaling/beta_fast", "3", PE_MODEL_KEY_IGNORED},
    {"{" LLAMA ",\"rope_scaling\":{\"finetuned\":true}}", "#/rope_scaling/finetuned", "true",
     PE_MODEL_KEY_IGNORED},
    {"{" LLAMA ",\"rope_scaling\":{\"a/b~c\":\"x\"}}", "#/rope_scaling/a~1b~0c", "\"x\"",
     PE_MODEL_KEY_IGNORED},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,11]}}", "#/rope_scaling/mrope_section",
     "[8,12,11]", PE_MODEL_KEY_IGNORED},
    {"{\"text_config\":{" LLAMA ",\"rope_parameters\":{\"llama_4_scaling_beta\":0.25,"
     "\"original_max_position_embeddings\":64}}}",
     "#/text_config/rope_parameters/llama_4_scaling_beta", "0.25", PE_MODEL_KEY_USED},
    {"{\"text_config\":{" LLAMA ",\"rope_parameters\":{\"llama_4_scaling_beta\":0.25,"
     "\"original_max_position_embeddings\":64}}}",
     "#/text_config/rope_parameters/original_max_position_embeddings", "64", PE_MODEL_KEY_USED},
    {"{\"text_config\":{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,12]}},"
     "\"vision_config\":{\"spatial_merge_size\":3}}",
     "#/vision_config/spatial_merge_size", "3", PE_MODEL_KEY_USED},
    {"{\"text_config\":{" LLAMA ",\"rope_theta\":5e5}}", "#/text_config/rope_theta", "500000",
     PE_MODEL_KEY_USED},
    {"{" LLAMA ",\"rope_a/b~c\":1}", "#/rope_a~1b~0c", "1", PE_MODEL_KEY_IGNORED},
    {"{\"rope_theta\":5e5,\"text_config\":{" LLAMA "}}", "#/rope_theta", "500000",
     PE_MODEL_KEY_IGNORED},
    {"{" LLAMA ",\"head_dim\":128}", "#/hidden_size", "1024", PE_MODEL_KEY_IGNORED},
    {"{" LLAMA ",\"rope_thetta\":1}", "#/rope_thetta", "1", PE_MODEL_KEY_IGNORED},
    {"{\"model_type\":\"gpt_oss\"}", "#/rope_parameters/factor", "32", PE_MODEL_KEY_DEFAULTED},
    {"{\"model_type\":\"gemma3_text\"" LAYERS "}", "#/sliding_window_pattern", "6",
     PE_MODEL_KEY_DEFAULTED},
};

static void every_key_is_reported(void **state)
{
    (void)state;
    for (size_t r = 0; r < PE_LEN(reports); r++) {
        size_t k = 0;
        pe_model *model = resolve(reports[r].config);
        while (k < model->n_keys && strcmp(model->keys[k].pointer, reports[r].pointer) != 0)
            k++;
        if (k == model->n_keys)
            fail_msg("%s: %s is not reported", reports[r].config, reports[r].pointer);
        assert_string_equal(model->keys[k].value, reports[r].value);
        assert_int_equal(model->keys[k].status, reports[r].status);
        pe_model_free(model);
    }
}

static const struct {
    const char *config, *says;
} warnings[] = {
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"max_position_embeddings\":4096,"
     "\"rope_scaling\":{" YARN ",\"mscale\":0.7}}",
     "mscale_all_dim is absent: transformers then reads neither it nor mscale"},
    {"{" LLAMA ",\"max_position_embeddings\":4096,\"rope_scaling\":{\"type\":\"deepseek_yarn\","
     "\"factor\":4,\"original_max_position_embeddings\":1024,\"mscale\":0.7}}",
     "mscale_all_dim is absent"},
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"head_dim\":256}",
     "qk_rope_head_dim, 64, is what rotates"},
    {"{" LLAMA "}", "no rope_theta"},
    {"{\"head_dim\":64}", "no model_type"},
    {"{\"model_type\":\"new\",\"head_dim\":64,\"rope_theta\":1e4,\"layer_types\":[\"full_"
     "attention\","
     "\"other\"]}",
     "which types of layer_types rotate is not known"},
    {"{\"model_type\":\"new\",\"head_dim\":64,\"rope_theta\":1e4,\"rope_scaling\":{\"mrope_"
     "section\":["
     "16,8,8]}}",
     "the layout of mrope_section is not known"},
    {"{" LLAMA
     ",\"max_position_embeddings\":64,\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":2}}",
     "frequencies depend on seq_len: not scaled up to"},
    {"{" GGUF("llama") ",\"llama.rope.scaling.type\":\"yarn\",\"llama.context_length\":64}",
     "llama.cpp scales no frequencies"},
    {"{\"model_type\":\"minimax_m3_vl_text\",\"rotary_dim\":64}", "rotary_dim is not read"},
    {"{\"model_type\":\"axk2\",\"index_head_dim\":16}", "less than the 32 channels that turn"},
    {"{\"model_type\":\"minimax\",\"head_dim\":128,\"rotary_dim\":64}",
     "transformers does not read rotary_dim"},
    {"{\"model_type\":\"gpt2\",\"n_embd\":64,\"scale_attn_by_inverse_layer_idx\":true}",
     "divided by i + 1"},
    {"{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":12,\"per_layer_config\":{\"5\":{"
     "\"head_dim\":128}}}",
     "several head_dims"},
    {"{\"model_type\":\"paligemma\",\"text_config\":{\"model_type\":\"gemma\"}}", "count from 1"},
    {"{\"name\":\"llama-3.1-8b\"}", "GET /v1/models/llama-3.1-8b"},
    {"{\"model\":\"llama-3.1-8b\"}", "GET /v1/models/llama-3.1-8b"},
    {"{\"model_type\":\"mistral_large4_text\"}", "exp(alpha)"},
    {"{\"head_dim\":64}", "nothing says how positions are encoded"},
    {"{\"model_type\":\"nosuch\",\"head_dim\":64,\"rope_theta\":1e4}", "pairing half is assumed"},
    {"{\"model_type\":\"nosuch\",\"head_dim\":64}", "model_type nosuch is not known"},
    {"{" LLAMA ",\"max_position_embeddings\":64,\"rope_scaling\":{" YARN "}}",
     "no original_max_position_embeddings"},
    {"{" LLAMA ",\"max_position_embeddings\":64,\"rope_scaling\":{" YARN ",\"facter\":2}}",
     "did you mean factor"},
    {"{" LLAMA ",\"rope_thetta\":1}", "did you mean rope_theta"},
    {"{" LLAMA ",\"rope_theta\":1e6,\"rope_scaling\":{\"rope_theta\":5e5}}", "differ"},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":2},\"rope_parameters\":{"
     "\"type\":\"linear\",\"factor\":4}}",
     "rope_scaling and rope_parameters differ"},
    {"{" LLAMA ",\"rope_scaling\":{\"type\":\"dynamic\",\"rope_type\":\"linear\",\"factor\":2}}",
     "rope_type and type differ"},
    {"{" LLAMA ",\"rope_scaling\":{\"factor\":2}}", "no rope_type"},
    {"{" LLAMA ",\"max_position_embeddings\":64,\"rope_scaling\":{" YARN
     ",\"original_max_position_embeddings\":32}}",
     "rope_scaling/factor is 4, but"},
    {"{" LLAMA
     ",\"max_position_embeddings\":4096,\"rope_scaling\":{\"type\":\"llama3\",\"factor\":8,"
     "\"low_freq_factor\":1,\"high_freq_factor\":4,\"original_max_position_embeddings\":8192}}",
     "rope_scaling/original_max_position_embeddings is 8192, more than max_position_embeddings, "
     "4096"},
    {"{\"model_type\":\"gemma3_text\",\"head_dim\":64,\"num_hidden_layers\":6,"
     "\"rope_local_base_freq\":1e4,\"rope_parameters\":{\"full_attention\":{\"rope_theta\":1e6},"
     "\"sliding_attention\":{\"rope_theta\":2e4}}}",
     "rope_local_base_freq and rope_parameters/sliding_attention/rope_theta differ"},
    {"{\"model_type\":\"phi\",\"head_dim\":64,\"partial_rotary_factor\":0.5,\"rope_parameters\":{"
     "\"rope_type\":\"default\",\"partial_rotary_factor\":0.25}}",
     "partial_rotary_factor and rope_parameters/partial_rotary_factor differ"},
    {"{\"model_type\":\"llama\",\"hidden_size\":1000,\"num_attention_heads\":16}",
     "do not divide evenly"},
    {"{" LLAMA LAYERS ",\"layer_types\":[\"full_attention\"]}",
     "1 entries for 4 layers of num_hidden_layers"},
    {"{" LLAMA ",\"rope_interleaved\":true}", "turns halves"},
    {"{\"model_type\":\"new\",\"head_dim\":64,\"rope_theta\":1e4,\"use_rope\":false}",
     "nothing says how positions are encoded"},
    {"{" LLAMA ",\"nope_layers\":[3]}", "nope_layers is not known"},
    {"{\"model_type\":\"gpt_oss\"}", "those of model type gpt_oss"},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_section\":[8,12,11]}}",
     "rotary_dim/2 = 32 pairs, got 31"},
    {"{" LLAMA ",\"rope_scaling\":{\"mrope_interleaved\":true}}", "mrope_section, which is absent"},
    {"{" LLAMA ",\"rope_parameters\":{\"rope_theta\":5e5,\"full_attention\":{\"factor\":8}}}",
     "an object among parameters"},
    {"{" LLAMA ",\"rope_parameters\":{\"full_attention\":{\"rope_theta\":5e5}}}",
     "types of layers, which model type llama does not have"},
    {"{" LLAMA ",\"rope_scaling\":{" YARN
     ",\"original_max_position_embeddings\":64,\"attn_factor\":2}}",
     "attn_factor is not read by transformers"},
    {"{" LLAMA ",\"rope_scaling\":{" YARN ",\"original_max_position_embeddings\":64,"
     "\"extrapolation_factor\":0.5}}",
     "extrapolation_factor is not read by transformers"},
    {"{" LLAMA ",\"rope_scaling\":{" YARN ",\"original_max_position_embeddings\":64,"
     "\"attention_factor\":1.25,\"attn_factor\":2}}",
     "attn_factor is not read beside attention_factor"},
    {"{\"model_type\":\"voxtral\",\"text_config\":{\"model_type\":\"llama\",\"head_dim\":64}}",
     "transformers fills text_config"},
    {"{\"model_type\":\"cohere2_moe\",\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}",
     "rope_scaling is not read by model type cohere2_moe"},
    {"{\"model_type\":\"gpt_neox\",\"head_dim\":64,\"partial_rotary_factor\":0.5}",
     "partial_rotary_factor is not read by model type gpt_neox: rotary_pct is"},
    {"{\"model_type\":\"mistral4\",\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":64,"
     "\"rope_parameters\":{\"rope_type\":\"default\"}}",
     "transformers makes too many frequencies, and fails"},
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"partial_rotary_factor\":0.5,\"rope_"
     "scaling\":{\"type\":\"linear\",\"factor\":2}}",
     "transformers makes too few frequencies, and fails"},
    {"{\"model_type\":\"gemma3n_text\",\"rope_scaling\":{" YARN ",\"truncate\":false,"
     "\"original_max_position_embeddings\":4096}}",
     "rope_scaling/truncate is not read by transformers"},
    {"{" ODD "}", "is odd, 3: transformers turns 4 channels"},
    {"{\"model_type\":\"deepseek_v3\",\"hidden_size\":64,\"num_attention_heads\":4,\"head_dim\":"
     "null,"
     "\"qk_rope_head_dim\":64}",
     "head_dim is null, and qk_rope_head_dim is 64: transformers makes"},
    {"{\"model_type\":\"deepseek_v3\",\"head_dim\":192,\"qk_rope_head_dim\":64,\"qk_nope_head_"
     "dim\":128}",
     "head_dim is 192, but qk_rope_head_dim, 64"},
    {"{" LLAMA ",\"ntk_alpha_x\":4}", "ntk_alpha_x is not known and ignored"},
    {"{\"model_type\":\"m2m_100\",\"d_model\":64}", "positions begin at 2"},
    {"{" GGUF("llama") "}", "rope_freqs.weight"},
    {"{" GGUF("llama") ",\"llama.rope.x\":1}", "llama.rope.x is not known and ignored"},
    {"{" GGUF("phi3") ",\"phi3.rope.scaling.type\":\"longrope\"}", "tensors that metadata do not"},
    {"{" GGUF("phi3") ",\"phi3.rope.scaling.attn_factor\":1.19}", "tensors that metadata do not"},
    {"{" GGUF("phi3") ",\"phi3.context_length\":131072,"
                      "\"phi3.rope.scaling.original_context_length\":4096}",
     "tensors that metadata do not"},
    {"{" DIFFUSERS("MochiTransformer3DModel") "}", "learns the frequencies"},
    {"{" DIFFUSERS("ErnieImageTransformer2DModel") "}", "which is no rotation"},
    {"{" DIFFUSERS("NewTransformer3DModel") ",\"rope_theta\":256}",
     "a class of diffusers may turn by several axes: no key says which"},
    {"{" DIFFUSERS("NewTransformer2DModel") ",\"rope_axes_dim\":[256,256]}",
     "rope_axes_dim is not known and ignored"},
    {"{" DIFFUSERS("HiDreamImageTransformer2DModel") "}", "axes take 64 of 128 channels"},
    {"{" PARAMS ",\"qk_rope_head_dim\":64}", "though no key says so"},
    {"{\"architecture\":\"swin_tiny_patch4_window7_224\"}", "/v1/swin/index"},
    {"{\"architecture\":\"new_model.in1k\"}", "model_type timm model/new_model is not known"},
    {"{\"architecture\":\"vit_base_patch16_rope_mixed_224\"}", "learns the frequencies"},
    {"{" ODD ",\"partial_rotary_factor\":1}",
     "head_dim is odd, 7: transformers makes 4 frequencies"},
    {"{\"model_type\":\"t5gemma2_text\",\"rope_parameters\":{" YARN "}}",
     "transformers ignores parameters of all layers there"},
    {"{" LLAMA ",\"vision_config\":\"siglip\"}",
     "vision_config is not told: a configuration is an"},
    {"{" LLAMA ",\"a~b\":{\"model_type\":\"vit\"}}",
     "a~b is not told: the name of a configuration"},
    {"{" LLAMA ",\"" LONG "within_a_tower\":{\"model_type\":\"vit\"}}",
     "within_a_towe is not told: the name of a configuration has at most 63 bytes"},
    {"{\"text_config\":{\"text_config\":{\"text_config\":{\"text_config\":{" LLAMA
     ",\"text_config\":{\"rope_theta\":5e5}}}}}}",
     "text_config/text_config/text_config/text_config/text_config is not read"},
    {"{" LLAMA TOWER TOWER TOWER TOWER TOWER "}}}}}}",
     "vision_config is not told: configurations are"},
    {"{" LLAMA ",\"rope_scaling\":{\"" LONG LONG "\":1}}", "a key of 100 bytes is not known"},
    {"{" LLAMA ",\"rope_" LONG LONG "\":1}", "a key of 105 bytes is not known"},
    {"{\"model_type\":\"zamba2\",\"head_dim\":64,\"use_mem_rope\":true,\"use_long_context\":true}",
     "alpha 8"},
};

static void what_looks_wrong_is_warned_of(void **state)
{
    (void)state;
    for (size_t w = 0; w < PE_LEN(warnings); w++) {
        bool found = false;
        pe_model *model = resolve(warnings[w].config);
        for (size_t i = 0; i < model->n_warnings; i++)
            found |= strstr(model->warnings[i], warnings[w].says) != NULL;
        if (!found)
            fail_msg("%s: no warning says \"%s\"", warnings[w].config, warnings[w].says);
        pe_model_free(model);
    }
}

/* width^(-1/2) (1 + mscale_all_dim ln(factor)/10)^2 to 17 digits, computed with 60. */
static const struct {
    const char *config;
    bool has;
    double scale;
} scales[] = {
    {"{" LLAMA "}", true, 0.125},
    {"{\"model_type\":\"nosuch\",\"head_dim\":64,\"rope_theta\":1e4}", false, 0},
    {"{\"model_type\":\"falcon_h1\",\"head_dim\":64}", false, 0},
    {"{\"model_type\":\"gemma2\",\"query_pre_attn_scalar\":144}", true, 0.083333333333333329},
    {"{\"model_type\":\"zamba2\",\"use_mem_rope\":true}", true, 0.11180339887498948}, /* 80^-1/2 */
    /* T5Attention.scaling, GPTNeoSelfAttention, MptAttention.softmax_scale of transformers 5.23.0 */
    {"{\"model_type\":\"t5\"}", true, 1},
    {"{\"model_type\":\"mt5\"}", true, 1},
    {"{\"model_type\":\"gpt_neo\"}", true, 1},
    {"{\"model_type\":\"gpt2\"}", false, 0},
    {"{\"model_type\":\"mpt\",\"n_heads\":8,\"attn_config\":{\"softmax_scale\":0.5}}", true, 0.5},
    /* GPT2Attention.scaling, DisentangledSelfAttention: 16 channels, 1 to 3 terms */
    {"{\"model_type\":\"gpt2\",\"n_embd\":64,\"scale_attn_weights\":false}", true, 1},
    {"{\"model_type\":\"gpt2\",\"n_embd\":64,\"scale_attn_weights\":true}", false, 0},
    {"{" DEBERTA "}", true, 0.25},
    {"{" DEBERTA ",\"pos_att_type\":[\"c2p\",\"p2c\"]}", true, 0.14433756729740643},
    {"{" DEBERTA ",\"pos_att_type\":\"p2c|c2p\"}", true, 0.14433756729740643},
    {"{" DEBERTA ",\"pos_att_type\":\"\"}", true, 0.25},
    {"{\"model_type\":\"mpt\",\"n_heads\":8,\"attn_config\":{\"softmax_scale\":null}}", false, 0},
    {"{\"model_type\":\"granite\",\"head_dim\":64,\"attention_multiplier\":0.0078125}", true,
     0.0078125},
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128}", true,
     0.072168783648703216},
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,"
     "\"max_position_embeddings\":163840,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":40,"
     "\"mscale\":1,\"mscale_all_dim\":1,\"original_max_position_embeddings\":4096}}",
     true, 0.13523377886088009},
    {"{\"model_type\":\"deepseek_v3\",\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,"
     "\"max_position_embeddings\":163840,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":40,"
     "\"original_max_position_embeddings\":4096}}",
     true, 0.072168783648703216},
};

static void logits_are_scaled_as_the_model_does(void **state)
{
    (void)state;
    for (size_t s = 0; s < PE_LEN(scales); s++) {
        pe_model *model = resolve(scales[s].config);
        assert_int_equal(model->has_softmax_scale, scales[s].has);
        if (scales[s].has && model->softmax_scale != scales[s].scale)
            fail_msg("%s: got %.17g, wanted %.17g", scales[s].config, model->softmax_scale,
                     scales[s].scale);
        pe_model_free(model);
    }
}

/* Repeated keys of several spellings must not make reading them slow, or the report long. */
static void a_large_configuration_takes_no_longer_than_it_is(void **state)
{
    (void)state;
    pe_buffer text = {0};
    pe_problem why = {0};
    pe_model *model = NULL;
    pe_buffer_str(&text, "{" LLAMA);
    for (int i = 0; i < 30000; i++)
        pe_buffer_format(&text, ",\"my_rope_%d\":%d", i, i);
    pe_buffer_str(&text, "}");
    assert_int_equal(pe_model_json_resolve(pe_buffer_slice(&text), MAX_DEPTH, &model, &why), PE_OK);
    assert_true(model->n_keys <= 512 && model->n_warnings <= 64);
    pe_model_free(model);
    pe_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_gives_its_parameter),
        cmocka_unit_test(layers_are_told_apart),
        cmocka_unit_test(every_key_is_reported),
        cmocka_unit_test(what_looks_wrong_is_warned_of),
        cmocka_unit_test(logits_are_scaled_as_the_model_does),
        cmocka_unit_test(a_large_configuration_takes_no_longer_than_it_is),
    };
    return cmocka_run_group_tests_name("models", tests, NULL, NULL);
}
