/* SPDX-License-Identifier: MIT */
/* test_mistakes.c - what people get wrong, and the words that help them; names with two
 * spellings. */
#include "support/check.h"

#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

/* Each answer tells what to do, in the words of what was sent. */
static const struct {
    const char *target, *body; /* body NULL: GET */
    const char *says;          /* part of the answer */
} mistakes[] = {
    /* a porter */
    {"/v1/rope/table?hidden_size=4096", NULL, "did you mean head_dim, hidden_size over heads?"},
    {"/v1/sinusoidal?d_model=8&max_position_embeddings=4", NULL, "did you mean positions=0:N?"},
    {"/v1/sinusoidal?d_model=8&layout=split", NULL, "did you mean sin_cos?"},
    {"/v1/sinusoidal/add", "{\"embeddings\": [[1, 2]], \"combine\": \"cat\"}",
     "did you mean concat?"},
    {"/v1/rope/table?head_dim=128&thta=500000", NULL, "did you mean rope_theta?"},
    {"/v1/rope/table?head_dim=128&bas=500000", NULL, "did you mean base?"},
    {"/v1/sinusoidal?d_model=8&max_lenght=4", NULL, "did you mean positions=0:N?"},
    {"/v1/rope/table?head_dim=128&seq_len=2048", NULL,
     "; positions=0:2048 is for that many positions"},
    {"/v1/rope/decay?head_dim=128&seq_len=2048", NULL, "; offsets=0:2048 is for that many offsets"},
    {"/v1/alibi/slopes?num_heads=8&theta=4", NULL,
     "unknown parameter theta; GET /v1 lists those of /v1/alibi/slopes"},
    {"/v1/alibi/bias?num_heads=8&query_length=4&base=4", NULL,
     "unknown parameter base; GET /v1 lists those of /v1/alibi/bias"},
    {"/v1/rope/table?head_dim=128&end=2048", NULL, "did you mean positions=0:N?"},
    {"/v1/rope/table?head_dim=127", NULL, "rotary_dim says how many channels do"},
    {"/v1/rope/table?head_dim=128&rotary_dim=63", NULL, "rotary_dim must be even, got 63"},
    {"/v1/rope/table?head_dim=128&rotary_dim=256", NULL,
     "rotary_dim must be at most head_dim, 128, got 256"},
    {"/v1/rope/table?head_dim=128&rope_type=ntk-aware&factor=4", NULL, "did you mean ntk?"},
    {"/v1/rope/table?head_dim=128&rope_type=su", NULL, "did you mean longrope?"},
    {"/v1/rope/table?head_dim=128&rope_type=YARN&factor=4", NULL, "did you mean yarn?"},
    {"/v1/rope/table?head_dim=128&rope_type=mrope", NULL, "did you mean default?"},
    {"/v1/rope/table?head_dim=128&rope_type=yarn", NULL, "rope_type yarn needs factor"},
    {"/v1/rope/table?head_dim=128&rope_type=yarn&factor=4", NULL,
     "rope_type yarn needs original_max_position_embeddings, or"},
    {"/v1/rope/table?head_dim=128&rope_type=linear", NULL, "rope_type linear needs factor"},
    {"/v1/rope/table?head_dim=128&factor=4", NULL,
     "give a rope_type that reads it: linear, ntk, dynamic, yarn"},
    {"/v1/rope/table?head_dim=128&rope_type=linear&factor=0.25", NULL,
     "4 is four times the context, where others write a scale of"},
    {"/v1/rope/table?head_dim=128&rope_type=dynamic&factor=4", NULL,
     "rope_type dynamic needs max_position_embeddings"},
    {"/v1/rope/table?head_dim=128&rope_type=llama3&factor=8", NULL,
     "rope_type llama3 needs original_max_position_embeddings"},
    {"/v1/rope/"
     "table?head_dim=128&rope_type=llama3&factor=8&low_freq_factor=4&high_freq_factor=1&original_"
     "max_position_embeddings=8192",
     NULL, "high_freq_factor must be at least low_freq_factor, 4, got"},
    {"/v1/rope/table?head_dim=128&rope_type=longrope", NULL,
     "rope_type longrope needs short_factor"},
    {"/v1/rope/"
     "table?head_dim=128&rope_type=longrope&short_factor=1,2&long_factor=1,2&original_max_position_"
     "embeddings=4096&max_position_embeddings=131072",
     NULL, "short_factor must have rotary_dim/2 = 64 numbers, got 2"},
    {"/v1/rope/table?head_dim=128&rope_scaling=yarn", NULL, "did you mean rope_type and factor?"},
    {"/v1/rope/table?head_dim=128&rope_type=linear&factor=4x", NULL,
     "4 is four times the context, where others write a scale of"},
    {"/v1/rope/table?head_dim=128&pairing=neox", NULL, "did you mean half?"},
    {"/v1/rope/table?head_dim=128&pairing=gptj", NULL, "did you mean interleaved?"},
    {"/v1/rope/table?head_dim=128&pairing=rotate_half", NULL, "did you mean half?"},
    {"/v1/alibi/bias?num_heads=8&query_length=4&causal=false", NULL,
     "did you mean form=symmetric?"},
    {"/v1/rope/table?head_dim=128&cache_layout=huggingface", NULL, "did you mean hf?"},
    {"/v1/rope/table?head_dim=128&cache_layout=llama.cpp", NULL, "got \\\"llama.cpp\\\""},
    {"/v1/rope/table?head_dim=128&dtype=float8", NULL, "did you mean float32?"},
    {"/v1/rope/table?model=llama3", NULL,
     "did you mean llama-3-70b, llama-3-8b, llama-3.1-405b, llam"},
    {"/v1/rope/table?model=phi3", NULL,
     "did you mean phi-3-mini-4k, phi-3.5-mini, phi-3.5-vision?"},
    {"/v1/rope/table?model=gpt-4", NULL, "did you mean gpt2?"},
    {"/v1/rope/table?model=bert-base-uncased", NULL, "see /v1/learned"},
    {"/v1/rope/table?model=my-own-model", NULL, "GET /v1/models lists those there are"},
    {"/v1/rope/table?model=llama-3.1-8b&layer_type=sliding_attention", NULL,
     "got sliding_attention"},
    {"/v1/rope/table?model=gemma-3-4b&layer_type=local", NULL, "got local"},
    {"/v1/rope/table", NULL, "head_dim is required, or a model: Channels of a head."},
    {"/v1/rope/table?head_dim=128&mrope_section=16,24,20&positions=0,0;1,1;2,2", NULL,
     "mrope_section must sum to rotary_dim/2 = 64 pairs, got 60"},
    {"/v1/rope/table?head_dim=128&mrope_section=16;24;24&positions=0;0;0", NULL,
     "mrope_section must be a number, got \\\"16;24;24\\\""},
    {"/v1/rope/frequencies?head_dim=128&positions=0:16", NULL,
     "/v1/rope/table has it, not /v1/rope/frequencies"},
    {"/v1/rope/frequencies?head_dim=128&format=npy", NULL,
     "add tensor= and one of: inv_freq, wavelength, stretch"},
    {"/v1/rope/table?head_dim=128&format=npy", NULL, "add tensor= and one of: cos, sin"},
    {"/v1/rope/table?head_dim=128&format=npy&tensor=cosine", NULL,
     "tensor must be one of the answer's: cos, sin"},
    {"/v1/rope/table?head_dim=128&format=npy&tensor=cos&dtype=bfloat16", NULL,
     "ask for dtype=float32, or for format raw or safetensors"},
    {"/v1/rope/table?head_dim=128&format=numpy&tensor=cos", NULL, "did you mean npy?"},
    {"/v1/rope/table?head_dim=128&format=pt", NULL, "did you mean safetensors?"},
    {"/v1/rope/table?head_dim=128&format=bin&tensor=cos", NULL, "did you mean raw?"},
    {"/v1/rope/scaled-base?head_dim=128", NULL,
     "factor is required: The factor by which the context is str"},
    {"/v1/rope/scaled-base?head_dim=128&factor=8&method=yarn", NULL, "got \\\"yarn\\\""},
    {"/v1/rope/scaled-base?head_dim=128&factor=8&method=dynamic", NULL,
     "method dynamic needs seq_len"},
    {"/v1/rope/scaled-base?head_dim=128&scale=8", NULL, "did you mean factor?"},
    {"/v1/rope/compare?model=qwen2.5-7b", NULL,
     "target_length is required, or factor in its place, as targ"},
    {"/v1/rope/compare?head_dim=128", NULL,
     "max_position_embeddings is required, or a model: The conte"},
    {"/v1/rope/compare?head_dim=128&max_position_embeddings=4096", NULL,
     "target_length is required, or factor in its place, as targ"},
    {"/v1/rope/compare?head_dim=128&max_position_embeddings=4096&target_length=2048", NULL,
     "target_length must be at least max_position_embeddings, 40"},
    {"/v1/rope/compare?model=qwen2.5-7b&target_length=131072&rope_types=yarn,ntk-aware", NULL,
     "did you mean ntk?"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3]]}", "rotary_dim says how many channels do"},
    {"/v1/rope/rotate", "{}", "vectors is required, or q or k or both"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2],[3]]}",
     "vectors/1 must have 2 elements as those before it, got 1"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"positions\":[0,1,2]}",
     "positions must give one for each of the 1 tokens of vector"},
    {"/v1/rope/rotate",
     "{\"vectors\":[[1,2,3,4]],\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":\"2x\"}}",
     "write it without quotes; 4 is four times the context, wher"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"head_dim\":8}",
     "the last axis of vectors must have head_dim = 8 channels,"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"rotary_dim\":2,\"rotary_offset\":3}",
     "rotary_offset must be at most head_dim - rotary_dim = 2, got 3"},
    {"/v1/rope/rotate", "{\"vectors\":[1,2,3,4]}", "vectors must have 2 to 8 axes, got 1"},
    {"/v1/rope/rotate", "{\"vectors\":\"[[1,2,3,4]]\"}", "write it without quotes"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,null,4]]}", "vectors/0/2 must be a number, got null"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,NaN,4]]}",
     "vectors/0/2 must be a number, got NaN or Infinity"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],}",
     "not a JSON object: a member name in double quotes is missi"},
    {"/v1/rope/rotate", "{'vectors':[[1,2,3,4]]}",
     "not a JSON object: a member name in double quotes is missi"},
    {"/v1/rope/rotate", "[[1,2,3,4]]", "not a JSON object: it does not begin with { at byte 0"},
    {"/v1/rope/rotate", "", "the body must be a JSON object, got an empty body"},
    {"/v1/rope/rotate?head_dim=4", "{\"vectors\":[[1,2,3,4]]}",
     "parameters belong either in the JSON body or in the query,"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"inverse\":\"yes\"}", "write it without quotes"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"inverse\":1}",
     "inverse must be true or false, got a number"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"seq_axis\":5}", "it has 2 axes, got 5"},
    {"/v1/rope/shift", "{\"keys\":[[1,2,3,4]]}",
     "delta is required: The distance to move: one integer, or o"},
    {"/v1/rope/shift", "{\"keys\":[[1,2,3,4]],\"delta\":1.5}",
     "delta must be integers, got a fraction"},
    {"/v1/rope/scores", "{\"q\":[[1,2]],\"k\":[[1,2,3,4]]}",
     "the last axis of k must have head_dim = 2 channels, got 4"},
    {"/v1/rope/scores", "{\"q\":[1,2],\"k\":[1,2]}", "q must have 2 axes, got 1"},
    {"/v1/rope/scores", "{\"q\":[[1,2]]}",
     "k is required: Keys, [rows, head_dim], before rotation."},
    {"/v1/verify", "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4},\"data\":[[1,2]]}",
     "did you mean table?"},
    {"/v1/verify", "{\"parameters\":{\"head_dim\":4},\"data\":[[1,2]]}", "did you mean table?"},
    {"/v1/verify", "{\"encoding\":\"rotary\",\"parameters\":{\"head_dim\":4},\"data\":[[1,2]]}",
     "did you mean table?"},
    {"/v1/verify",
     "{\"config\":{\"model_type\":\"llama\"},\"positions\":\"0:4\",\"data\":[[1,0,1,0]]}",
     "did you mean table?"},
    {"/v1/models/resolve", "[]", "not a JSON object: it does not begin with { at byte 0"},
    {"/v1/models/llama3", NULL, "did you mean llama-3-70b, llama-3-8b, llama-3.1-405b, llam"},
    {"/v1/models/phi3", NULL, "did you mean phi-3-mini-4k, phi-3.5-mini, phi-3.5-vision?"},
    {"/v1/model", NULL, "did you mean /v1/models?"},
    /* a teacher */
    {"/v1/sinusoidal", NULL, "d_model is required, or a model: Width of a row."},
    {"/v1/sinusoidal?d_model=", NULL, "d_model must be a number, got an empty value"},
    {"/v1/sinusoidal?d_modle=64", NULL, "did you mean d_model?"},
    {"/v1/sinusoidal?dmodel=64", NULL, "did you mean d_model?"},
    {"/v1/sinusoidal?D_MODEL=64", NULL, "did you mean d_model?"},
    {"/v1/sinusoidal?d_model=64&positions=10:0", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0-10", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0..10", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=range(10)", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=(0,1,2)", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0,1,2,", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0%202", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=:10", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=5:5", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0:10:0", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0:10:-1", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=all", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=1e400", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions=0:1e20", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64.5", NULL, "d_model must be an integer, got 64.5"},
    {"/v1/sinusoidal?d_model=0", NULL, "d_model must be between 1 and 65536, got 0"},
    {"/v1/sinusoidal?d_model=-64", NULL, "d_model must be between 1 and 65536, got -64"},
    {"/v1/sinusoidal?d_model=1000000", NULL, "d_model must be between 1 and 65536, got 1000000"},
    {"/v1/sinusoidal?d_model=64&d_model=32", NULL, "d_model is given more than once"},
    {"/v1/sinusoidal?d_model=64&base=0", NULL, "base must be between 1 and 1000000000000, got 0"},
    {"/v1/sinusoidal?d_model=64&base=10k", NULL, "base must be a number, got \\\"10k\\\""},
    {"/v1/sinusoidal?d_model=64&base=10,000", NULL, "base must be a number, got \\\"10,000\\\""},
    {"/v1/sinusoidal?d_model=64&layout=concat", NULL, "did you mean sin_cos?"},
    {"/v1/sinusoidal?d_model=64&layout=sincos", NULL, "did you mean sin_cos?"},
    {"/v1/sinusoidal?d_model=64&layout=half", NULL, "did you mean sin_cos?"},
    {"/v1/sinusoidal?d_model=64&format=jpg", NULL, "did you mean png?"},
    {"/v1/sinusoidal?d_model=64&format=excel", NULL, "did you mean csv?"},
    {"/v1/sinusoidal?d_model=64&format=html", NULL, "did you mean svg?"},
    {"/v1/sinusoidal?d_model=64&view=curves", NULL, "the answer would be json"},
    {"/v1/sinusoidal?d_model=64&format=svg&view=lines", NULL, "got &quot;lines&quot;"},
    {"/v1/sinusoidal?d_model=64&format=svg&width=10", NULL,
     "width must be between 320 and 8192, got 10"},
    {"/v1/sinusoidal?d_model=64&format=svg&width=100%25", NULL,
     "width must be a number, got &quot;100%&quot;"},
    {"/v1/sinusoidal?d_model=64&format=svg&theme=black", NULL, "got &quot;black&quot;"},
    {"/v1/sinusoidal?d_model=64&format=svg&cmap=viridis", NULL,
     "GET /v1 lists those of /v1/sinusoidal"},
    {"/v1/sinusoidal?d_model=64&dtype=float16&scale=1e300", NULL,
     "scale must be between 1e-9 and 1000000000, got 1e300"},
    {"/v1/sinusoidal/offset?d_model=64", NULL,
     "offset is required: The distance by which the rotations mo"},
    {"/v1/sinusoidal/offset?d_model=63&offset=1", NULL, "d_model must be even, got 63"},
    {"/v1/sinusoidal/grid?d_model=64", NULL, "height is required: Rows of the grid."},
    {"/v1/sinusoidal/grid?d_model=64&grid_size=14", NULL, "did you mean height=14 and width=14?"},
    {"/v1/sinusoidal/grid?d_model=64&window_size=14", NULL, "did you mean height=14 and width=14?"},
    {"/v1/sinusoidal/grid?d_model=66&height=4", NULL,
     "d_model must be a multiple of 4, a sine and a cosine for e"},
    {"/v1/sinusoidal/grid?d_model=64&height=4&positions=0:16", NULL,
     "did you mean height and width?"},
    {"/v1/sinusoidal/timing?d_model=64", NULL,
     "length is required: The number of rows. Their positions ar"},
    {"/v1/sinusoidal/add", "{\"embeddings\":[[1,2],[3]]}",
     "embeddings/1 must have 2 elements as those before it, got"},
    {"/v1/alibi/slopes", NULL, "num_heads is required, or a model: Attention heads of the"},
    {"/v1/alibi/slopes?num_heads=0", NULL, "num_heads must be between 1 and 4096, got 0"},
    {"/v1/alibi/slopes?num_heads=8&variant=bloom", NULL, "did you mean press?"},
    {"/v1/alibi/bias?num_heads=8", NULL,
     "query_length is required: how many queries the last keys a"},
    {"/v1/alibi/bias?num_heads=8&query_length=16&key_length=8", NULL,
     "queries are the last of the key positions, so there must b"},
    {"/v1/alibi/bias?num_heads=8&query_length=16&form=lower", NULL, "did you mean causal?"},
    {"/v1/alibi/bias?num_heads=8&query_length=16&heads=8", NULL,
     "heads must be from 0 to 7, got 8"},
    {"/v1/alibi/bias?num_heads=8&query_length=16&mask_value=-1e9", NULL,
     "mask_value is read by form=causal only, form is symmetric"},
    {"/v1/alibi/bias?num_heads=8&query_length=16&form=causal&mask_value=-inf", NULL,
     "leave it out for -inf, which JSON has as null"},
    {"/v1/t5/buckets", NULL, "query_length is required, or distances: query_length=16 or"},
    {"/v1/t5/buckets?query_length=4&bidirectional=True", NULL,
     "bidirectional must be true or false, got \\\"True\\\""},
    {"/v1/t5/buckets?query_length=4&max_distance=8", NULL,
     "max_distance must be more than the 8 distances before buck"},
    {"/v1/t5/bias?query_length=4", NULL, "/v1/t5/bias answers POST, OPTIONS, not GET"},
    {"/v1/t5/bias", "{\"query_length\":4}",
     "weights is required: A bias for each bucket and head, [num"},
    {"/v1/t5/bias", "{\"query_length\":2,\"weights\":[[1],[2]]}",
     "weights must have a row for each of the num_buckets = 32 b"},
    {"/v1/shaw/indices?query_length=4", NULL,
     "max_relative_position is required, or left_max and right_m"},
    {"/v1/swin/index?window_size=7", NULL, "did you mean window_height=7 and window_width=7?"},
    {"/v1/learned/foo?positions=0:4", NULL, "start the server with --learned-dir FOLDER"},
    {"/v1/attention", "{\"q\":[[1,0]],\"k\":[[1,0,0]]}",
     "k must have as many channels as q, 2, got 3"},
    {"/v1/attention", "{\"q\":[[1,0]],\"k\":[[1,0]],\"scheme\":\"rotary\"}", "did you mean rope?"},
    {"/v1/attention", "{\"q\":[[1,0]],\"k\":[[1,0]],\"scheme\":\"alibi\",\"rope_theta\":10}",
     "rope_theta is read by scheme=rope only, scheme is alibi"},
    {"/v1/attention", "{\"q\":[[1,0]],\"k\":[[1,0]],\"scheme\":\"t5\"}",
     "weights is required with scheme=t5: a bias for each bucket"},
    {"/v1/attention", "{\"q\":[[1,0]],\"k\":[[1,0]],\"v\":[[1],[2]]}",
     "v must have as many tokens as k, 1, got 2"},
    /* a shell user / frontend */
    {"/v1/rope/", NULL, "below it are /v1/rope/frequencies, /v1/rope/table, /v1/rop"},
    {"/v1/rope/tables?head_dim=128", NULL, "did you mean /v1/rope/table?"},
    {"/v1/t5/buckets?query_length=4&window=8", NULL, "mask what is beyond it"},
    {"/v1/rope/table?head_dim=8&batch_size=2", NULL, "all sequences of a batch have the same"},
    {"/v1/rope/table?head_dim=8&num_heads=8", NULL, "all heads have the same encoding"},
    {"/v1/rope/table?head_dim=8&layer_idx=3", NULL, "or model and layer_type choose"},
    {"/v1/rope/table?head_dim=8&device=cuda", NULL, "who reads the numbers chooses where they go"},
    {"/v1/rope/table?head_dim=8&page=2", NULL, "positions=START:END asks for a part"},
    {"/v1/rope/table?head_dim=8&cos=true", NULL, "tensor=NAME and a format choose one tensor"},
    {"/v1/rope/table?head_dim=8&digits=3", NULL, "the fewest digits that tell them apart"},
    {"/v1/rope/table?head_dim=8&api_key=abc", NULL, "Authorization: Bearer KEY"},
    {"/v1/rope/table?head_dim=8&download=true", NULL, "curl -OJ saves it"},
    {"/v1/rope/table?head_dim=8&degrees=true", NULL, "angles are in radians"},
    {"/v1/rope/table?head_dim=8&config=llama", NULL,
     "post the configuration to /v1/models/resolve"},
    {"/v1/rope/table", "{\"params\": {\"head_dim\": 8}}", "parameters stand by themselves"},
    {"/v1/rope/table?head_dim=8&rope_theta=10_000", NULL, "a number is 10000, 1e4 or 0.25"},
    {"/v1/rope/table?head_dim=8;rope_theta=5", NULL, "& stands between parameters"},
    {"/v1/rope/table?head_dim=8?format=csv", NULL, "& stands between parameters"},
    {"/v1/rope/table?head_dim=%228%22", NULL, "write it without quotes"},
    {"/v1/rope/rotate", NULL, "answers POST, OPTIONS, not GET; /docs has a form that sends it"},
    {"/v1/models", "{\"q\": \"llama\"}", "not POST; its parameters are in the query"},
    {"/v1/rope/grid?head_dim=8&image_size=224&patch_size=16", NULL,
     "the size of the image over that of a patch"},
    {"/v1/sinusoidal?d_model=8&dropout=0.1", NULL, "no encoding depends on it"},
    {"/v1/sinusoidal?d_model=8&layout=alternating", NULL, "did you mean interleaved?"},
    {"/v1/sinusoidal?d_model=8&layout=sin_first", NULL, "did you mean sin_cos?"},
    {"/v1/sinusoidal?d_model=8&format=pickle", NULL, "did you mean npy?"},
    {"/v1/learned/interpolate", "{\"table\": [[1]], \"size\": 1}", "did you mean target_grid?"},
    {"/v1/verify",
     "{\"encoding\": \"sinusoidal\", \"d_model\": 2, \"table\": [[0, 1]], \"rtol\": 1}",
     "did you mean tolerance?"},
    {"/v1/rope/table?head_dim=2&cos=1", NULL, "the body of /v1/verify takes it"},
    {"/v1/yarn?head_dim=128", NULL, "did you mean /v1/rope/table with rope_type=yarn?"},
    {"/v1/rope/llama3", NULL, "did you mean /v1/rope/table with rope_type=llama3?"},
    {"/v1/mrope", NULL, "/v1/rope/table with mrope_section, or /v1/rope/mrope-positions?"},
    {"/v1/alibi-bias?num_heads=8", NULL, "did you mean /v1/alibi/bias?"},
    {"/v1/alibi/press", NULL, "did you mean /v1/alibi/slopes with variant=press?"},
    {"/v1/rope/rope_theta", NULL, "did you mean /v1/rope/table with rope_theta?"},
    {"/v1/bias", NULL, "did you mean /v1/alibi/bias, /v1/t5/bias, /v1/swin/bias?"},
    {"/v1/xpos", NULL, "did you mean /v1/rope/xpos?"},
    {"/v1/RoPE", NULL, "below it are /v1/rope/frequencies, /v1/rope/table"},
    {"/Rope", NULL, "did you mean one of /v1/rope/frequencies, /v1/rope/table"},
    {"/v1/shaw/bias", NULL, "beside it are /v1/shaw/indices, /v1/shaw/scores"},
    {"/v1/verify/rope", "{}", "did you mean /v1/verify?"},
    {"/v1/rope/table.json?head_dim=8", NULL, "did you mean /v1/rope/table?"},
    {"/v1/positional-encoding?d_model=8", NULL, "did you mean /v1/sinusoidal?"},
    {"/v1/resolve", "{}", "did you mean /v1/models/resolve?"},
    {"/swagger-ui", NULL, "did you mean /docs?"},
    {"/schema", NULL, "did you mean /openapi.json?"},
    {"/ping", NULL, "did you mean /healthz?"},
    {"/x", NULL, "GET /v1 lists what there is"},
    {"/v1/rope_table?head_dim=128", NULL, "did you mean /v1/rope/table?"},
    {"/v1/sinusoid?d_model=4", NULL, "did you mean /v1/sinusoidal?"},
    {"/v1/sinusoidal/?d_model=4", NULL, "did you mean /v1/sinusoidal?"},
    {"/v2/sinusoidal?d_model=4", NULL, "did you mean /v1/sinusoidal?"},
    {"/api/v1/sinusoidal?d_model=4", NULL, "did you mean /v1/sinusoidal?"},
    {"/health", NULL, "did you mean /healthz?"},
    {"/v1/sinusoidal?d_model=4&positions=0:100000000", NULL, "ask for fewer at a time"},
    {"/v1/rope/table?head_dim=65536&positions=0:10000000", NULL, "ask for fewer at a time"},
    {"/v1/rope/decay?head_dim=65536&offsets=0:1000000", NULL,
     "ask for fewer positions or channels at a time"},
    {"/v1/sinusoidal?d_model=4&callback=foo", NULL, "GET /v1 lists those of /v1/sinusoidal"},
    {"/v1/sinusoidal?d_model=4&pretty=true", NULL, "a program that indents, such as jq"},
    {"/v1/sinusoidal?d_model=4&encoding_format=hex", NULL, "got \\\"hex\\\""},
    {"/v1/sinusoidal?d_model=4&%zz=1", NULL,
     "the query must have two hexadecimal digits after each %"},
    {"/v1/sinusoidal?d_model=%22%204%22", NULL, "d_model must be a number, got \\\"\\\" 4\\\"\\\""},
    {"/v1/sinusoidal", "{\"d_model\":\"4\"}", "write it without quotes"},
    {"/v1/sinusoidal", "{\"d_model\":\"four\"}", "write it without quotes"},
    {"/v1/sinusoidal", "{\"d_model\":4,\"positions\":{\"start\":0,\"stop\":4}}",
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal", "{\"d_model\":4,\"positions\":[\"0\",\"1\"]}",
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal", "{\"d_model\":4,\"positions\":[]}",
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal", "{\"d_model\":null}", "leave it out for its default"},
    {"/v1/sinusoidal", "{\"d_model\":4,\"base\":true}", "base must be a number, got a boolean"},
    {"/v1/sinusoidal", "d_model=4", "not a JSON object: it does not begin with { at byte 0"},
    {"/v1/sinusoidal?d_model=4", "{\"positions\":\"0:4\"}",
     "parameters belong either in the JSON body or in the query,"},
    {"/v1/sinusoidal", "{\"dmodel\":4,\"position\":5,\"layout\":\"x\"}", "did you mean d_model?"},
    {"/v1/rope/table?head_dim=128&cache_layout=hf&rope_theta=500000&base=500000", NULL,
     "base is another name of rope_theta: give one"},
    {"/v1/rope/compare?head_dim=128&target_length=131072", NULL,
     "max_position_embeddings is required, or a model: The conte"},
    {"/v1/rope/grid?head_dim=8&positions=4,0", NULL,
     "separate the two with ; as in 0,0,1,1;0,1,0,1"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"mrope_section\":[1,1,0],\"positions\":\"4,0\"}",
     "separate the axes with ;"},
    {"/v1/verify",
     "{\"config\":{\"model_type\":\"llama\",\"head_dim\":4},\"parameters\":{\"positions\":\"0:4\"},"
     "\"table\":[[1,0,1,0]]}",
     "put positions beside config, and leave parameters out"},
    {"/v1/verify",
     "{\"encoding\":\"rope\",\"parameters\":{\"head_dim\":4,\"positions\":\"0:1\"},\"table\":{"
     "\"cos\":[[1,1,1,1]],\"sin\":[[0,0,0,0]]},\"cache_layou\":\"hf\"}",
     "did you mean cache_layout?"},
    {"/v1/alibi/bias?num_heads=8&query_length=4&distances=0:4", NULL,
     "GET /v1 lists those of /v1/alibi/bias"},
    {"/v1/sinusoidal?d_model=4&size=10", NULL, "GET /v1 lists those of /v1/sinusoidal"},
    {"/v1/sinusoidal/grid?d_model=64&target_grid=14,12", NULL,
     "did you mean height=14 and width=12?"},
    {"/v1/sinusoidal/grid?d_model=64&target_grid=x", NULL, "did you mean height and width?"},
    {"/v1/rope/grid?head_dim=8&convention=dinov3&grid_size=2", NULL,
     "did you mean height=2 and width=2?"},
    {"/v1/rope/table?head_dim=8&rope_scaling=2", NULL, "did you mean rope_type and factor?"},
    {"/v1/swin/index?window_size=7,5", NULL, "did you mean window_height=7 and window_width=5?"},
    {"/v1/learned/interpolate", "{\"table\":[[1],[2],[3],[4]],\"height\":2,\"width\":2}",
     "got 2; target_grid=HEIGHT,WIDTH is the size of the wanted grid"},
    {"/v1/attention", "{\"q\":[[1,2]],\"k\":[[1,2]],\"scheme\":\"alibi\",\"base\":2}",
     "base is read by scheme=sinusoidal only"},
    {"/v1/sinusoidal?d_model=4&head_dim=4", NULL, "did you mean d_model?"},
    {"/v1/swin/bias", "{\"window_size\":2,\"table\":[[1],[2]]}",
     "did you mean window_height=2 and window_width=2?"},
    {"/v1/rope/xpos", "{\"queries\":[[1,2,3,4]],\"scale_base\":-1}",
     "scale_base must be between 1 and 1000000, got -1"},
    {"/v1/learned/interpolate", "{\"weights\":[[1],[2],[3],[4],[5],[6]],\"target_grid\":[3,3]}",
     "source_grid is required: 6 rows less 1 extra_tokens are no"},
    {"/v1/rope/xpos/table?head_dim=4&size=1", NULL, "GET /v1 lists those of /v1/rope/xpos/table"},
    {"/v1/rope/xpos/table?head_dim=4&inverse=true", NULL,
     "/v1/rope/rotate has it, not /v1/rope/xpos/table"}, /* a word of a name, or what others call it */
    {"/v1/rope/table?head_dim=64&inv_freqs=1", NULL, "GET /v1 lists those of /v1/rope/table"},
    {"/v1/rope/table?head_dim=64&start=4", NULL, "did you mean positions=START:END?"},
    {"/v1/rope/table?head_dim=64&beta=4", NULL, "did you mean beta_fast, beta_slow?"},
    {"/v1/rope/table?head_dim=64&rotary=4", NULL,
     "did you mean rotary_dim, partial_rotary_factor, rotary_offset?"},
    {"/v1/rope/table?head_dim=64&freq_scale=0.25", NULL,
     "did you mean factor, the inverse of that?"},
    {"/v1/rope/table?head_dim=64&mrope=8,12,12", NULL,
     "did you mean mrope_section, mrope_interleaved, mrope_layout?"},
    {"/v1/rope/compare?head_dim=64&types=yarn", NULL, "did you mean rope_types?"},
    {"/v1/rope/compare?head_dim=64&context=4096", NULL, "did you mean max_position_embeddings?"},
    {"/v1/sinusoidal?d_model=8&num_embeddings=8", NULL, "did you mean positions=0:N?"},
    {"/v1/sinusoidal?d_model=8&padding=0", NULL, "did you mean padding_idx?"},
    {"/v1/swin/index?window=7", NULL, "did you mean window_height, window_width?"},
    {"/v1/t5/buckets?query_length=4&max_dist=4", NULL, "did you mean max_distance?"},
    {"/v1/shaw/indices?query_length=4&left=4", NULL, "did you mean left_max?"},
    {"/v1/rope/xpos/table?head_dim=64&axes_dims=32,32", NULL, "has it, not /v1/rope/xpos/table"},
    {"/v1/sinusoidal?d_model=64&positions=0..8", NULL,
     "0:128 is the first 128, 5 is one, 1,5,9 are three"},
    {"/v1/sinusoidal?d_model=64&positions[]=1", NULL, "did you mean positions?"},
    {"/v1/sinusoidal?dModel=64", NULL, "did you mean d_model?"},
    {"/v1/sinusoidal?d_model=64px", NULL,
     "got \\\"64px\\\"; a number is 10000, 1e4 or 0.25, all of it"},
    {"/v1/sinusoidal?d_model=64&format=xml", NULL, "must be one of json, npy, raw, npz, csv"},
    {"/v1/sinusoidal", "[64]", "not a JSON object: it does not begin with {"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2]],}",
     "a member name in double quotes is missing at byte 19"},
    {"/v1/rope/rotate", "{'vectors':[[1,2]]}",
     "a member name in double quotes is missing at byte 1"},
    {"/v1/rope/rotate", "{\"vectors\":\"[[1,2]]\"}", "got a string; write it without quotes"},
    {"/v1/rope/rotate", "{\"inputs\":{\"vectors\":[[1,2]]}}",
     "parameters stand by themselves, in no object around them"},
    {"/v1/sinusoidal/add?embeddings=1,2", NULL,
     "answers POST, OPTIONS, not GET; /docs has a form that sends it"},
    {"/v1/rope/table?head_dim=64&rope_type=dynamic-ntk&factor=2", NULL, "did you mean dynamic?"},
    {"/v1/rope/table?head_dim=64&rotary_percent=0.25", NULL, "did you mean partial_rotary_factor?"},
    {"/v1/rope/mrope-positions", "{\"input_ids\":[1,2,3]}", "did you mean token_runs?"},
    {"/v1/rope/table?head_dim=64&positions=128:0", NULL,
     "128:0 is empty (the end is not included)"},
    {"/v1/rope/table?head_dim=64&positions=0:1e9", NULL, "names 1000000000 positions, at most"},
    {"/v1/rope/decay?head_dim=64&offsets=-4:4:0", NULL, "the step of offsets must not be 0"},
    {"/v1/rope/grid?head_dim=64&grid=4x4", NULL, "did you mean height and width?"},
    {"/v1/attention", "{\"q\":[[1,2]],\"k\":[[1,2]],\"scheme\":\"rotary\"}", "did you mean rope?"},
    {"/v1/attention", "{\"q\":[[1]],\"k\":[[1]],\"scheme\":\"alibi\",\"alibi_slopes\":[1]}",
     "did you mean slope?"},
    {"/v1/position-ids", "{\"input_ids\":[1,2,3],\"padding_idx\":\"a\"}",
     "got a string; write it without quotes"},
};

static reply ask(const char *target, const char *body)
{
    return body != NULL ? post_json(&server, target, body) : get(&server, target);
}

static void each_mistake_is_told_how_to_mend_it(void **state)
{
    (void)state;
    assert_true(PE_LEN(mistakes) >= 90);
    for (size_t m = 0; m < PE_LEN(mistakes); m++) {
        reply answer = ask(mistakes[m].target, mistakes[m].body);
        if (answer.status < 400 || answer.status >= 500 ||
            strstr(answer.body, mistakes[m].says) == NULL)
            fail_msg("%s %s: status %ld does not say \"%s\": %s", mistakes[m].target,
                     mistakes[m].body != NULL ? mistakes[m].body : "", answer.status,
                     mistakes[m].says, answer.body);
        reply_free(&answer);
    }
}

/* Usual names of others, of one meaning, and what is warned of. */
static const struct {
    const char *target, *body, *warns;
} taken[] = {
    {"/v1/rope/table?head_dim=128&theta=500000", NULL, "theta is taken for rope_theta"},
    {"/v1/rope/table?head_dim=128&rope_base=500000", NULL, "rope_base is taken for rope_theta"},
    {"/v1/rope/table?head_dim=128&freq_base=1e6", NULL, "freq_base is taken for rope_theta"},
    {"/v1/rope/table?dim=128", NULL, "dim is taken for head_dim"},
    {"/v1/rope/table?d=128&max_len=2048", NULL, "d is taken for head_dim, max_len for positions"},
    {"/v1/rope/table?head_dim=128&length=2048", NULL, "length is taken for positions"},
    {"/v1/rope/decay?head_dim=128&max_len=2048", NULL, "max_len is taken for offsets"},
    {"/v1/sinusoidal/timing?d_model=8&n=4", NULL, "n is taken for length"},
    {"/v1/sinusoidal/timing?d_model=8&max_len=4", NULL, "max_len is taken for length"},
    {"/v1/sinusoidal/timing?d_model=8&seq_len=4", NULL, "seq_len is taken for length"},
    {"/v1/rope/table?head_dim=128&max_seq_len=2048", NULL, "max_seq_len is taken for positions"},
    {"/v1/rope/table?head_dim=128&dtype=fp16", NULL, "fp16 is taken for float16"},
    {"/v1/rope/table?head_dim=128&dtype=bf16", NULL, "bf16 is taken for bfloat16"},
    {"/v1/rope/table?head_dim=128&dtype=half", NULL, "half is taken for float16"},
    {"/v1/rope/table?head_dim=128&dtype=double", NULL, "double is taken for float64"},
    {"/v1/rope/table?head_dim=128&dtype=torch.float32", NULL,
     "the name of a torch type is taken for float32"},
    {"/v1/rope/table?head_dim=128&torch_dtype=bfloat16", NULL, "torch_dtype is taken for dtype"},
    {"/v1/rope/rotate", "{\"x\":[[1,2,3,4]]}", "x is taken for vectors"},
    {"/v1/rope/rotate", "{\"query\":[[1,2,3,4]]}", "query is taken for q"},
    {"/v1/rope/rotate", "{\"vectors\":[[1,2,3,4]],\"position_ids\":[0]}",
     "position_ids is taken for positions"},
    {"/v1/rope/rotate",
     "{\"vectors\":[[1,2,3,4]],\"rope_scaling\":{\"type\":\"linear\",\"factor\":2}}",
     "type is taken for rope_type"},
    {"/v1/rope/rotate",
     "{\"vectors\":[[1,2,3,4]],\"rope_parameters\":{\"type\":\"linear\",\"factor\":2}}",
     "type is taken for rope_type"},
    {"/v1/rope/shift", "{\"k\":[[1,2,3,4]],\"shift\":5}", "shift is taken for delta"},
    {"/v1/sinusoidal?d=64", NULL, "d is taken for d_model"},
    {"/v1/sinusoidal?dim=64", NULL, "dim is taken for d_model"},
    {"/v1/rope/table?head_dim=128&interleaved=true", NULL,
     "interleaved is taken for pairing=interleaved"},
    {"/v1/rope/table?head_dim=128&interleaved=false", NULL,
     "interleaved is taken for pairing=half"},
    {"/v1/rope/table?head_dim=128&is_neox_style=true", NULL,
     "is_neox_style is taken for pairing=half"},
    {"/v1/alibi/bias?num_heads=8&query_length=16&causal=true", NULL,
     "causal is taken for form=causal"},
    {"/v1/t5/buckets?query_length=4&causal=true", NULL, "causal is taken for bidirectional=false"},
    {"/v1/rope/table?head_dim=64&neox=true", NULL, "neox is taken for pairing=half"},
    {"/v1/rope/table?head_dim=64&interleave=true", NULL,
     "interleave is taken for pairing=interleaved"},
    {"/v1/sinusoidal?d_model=8&flip_sin_to_cos=true", NULL,
     "flip_sin_to_cos is taken for layout=cos_sin"},
    {"/v1/sinusoidal?d_model=8&concat=true", NULL, "concat is taken for layout=sin_cos"},
    {"/v1/sinusoidal/grid?d_model=64&height=2&width=2&cls_token=true", NULL,
     "cls_token is taken for extra_tokens"},
    {"/v1/alibi/bias?num_heads=8&query_length=4&symmetric=true", NULL,
     "symmetric is taken for form=symmetric"},
    {"/v1/t5/buckets?query_length=4&is_decoder=true", NULL,
     "is_decoder is taken for bidirectional=false"},
    {"/v1/rope/rotate", "{\"vectors\": [[1, 2]], \"rotate_half\": false}",
     "rotate_half is taken for pairing=interleaved"},
    {"/v1/rope/compare?head_dim=64&max_position_embeddings=4096&length=8192", NULL,
     "length is taken for target_length"},
    {"/v1/rope/decay?head_dim=8&distance=0:4", NULL, "distance is taken for offsets"},
    {"/v1/sinusoidal?d_model=64&pos=5", NULL, "pos is taken for positions"},
    {"/v1/sinusoidal?d_model=64&position=5", NULL, "position is taken for positions"},
    {"/v1/sinusoidal?d_model=64&n=10", NULL, "n is taken for positions"},
    {"/v1/sinusoidal?d_model=64&theta=10000", NULL, "theta is taken for base"},
    {"/v1/sinusoidal?d_model=64&temperature=10000", NULL, "temperature is taken for base"},
    {"/v1/sinusoidal?d_model=64&precision=float16", NULL, "precision is taken for dtype"},
    {"/v1/sinusoidal/offset?d_model=64&k=1", NULL, "k is taken for offset"},
    {"/v1/sinusoidal/add", "{\"x\":[[1,2]]}", "x is taken for embeddings"},
    {"/v1/alibi/slopes?heads=8", NULL, "heads is taken for num_heads"},
    {"/v1/alibi/slopes?n_heads=8", NULL, "n_heads is taken for num_heads"},
    {"/v1/alibi/bias?num_heads=8&seq_len=16", NULL, "seq_len is taken for query_length"},
    {"/v1/t5/buckets?query_length=4&dtype=int64", NULL, "int64 is taken for int32"},
    {"/v1/shaw/indices?query_length=4&k=2", NULL, "k is taken for max_relative_position"},
    {"/v1/attention", "{\"q\":[[1,0]],\"k\":[[1,0]],\"mask\":[[1]]}",
     "mask is taken for attention_mask"},
    {"/v1/rope/table?model_name=llama-3-8b", NULL, "model_name is taken for model"},
    {"/v1/relative/skew", "{\"x\": [[[1]]]}", "x is taken for logits"},
    {"/v1/learned/interpolate", "{\"pos_embed\": [[1]], \"target_grid\": [1]}",
     "pos_embed is taken for table"},
    {"/v1/rope/decay?head_dim=128&positions=0:10", NULL, "positions is taken for offsets"},
    {"/v1/rope/table?head_dim=64&num_positions=4", NULL, "num_positions is taken for positions"},
    {"/v1/rope/table?head_dim=64&n_ctx=4", NULL, "n_ctx is taken for positions"},
    {"/v1/rope/table?head_dim=64&pos_ids=4", NULL, "pos_ids is taken for positions"},
    {"/v1/rope/table?head_dim=64&rotary_pct=0.5", NULL,
     "rotary_pct is taken for partial_rotary_factor"},
    {"/v1/rope/decay?head_dim=64&length=4", NULL, "length is taken for offsets"},
    {"/v1/sinusoidal/grid?d_model=64&rows=4", NULL, "rows is taken for height"},
    {"/v1/alibi/bias?num_heads=8&query_length=4&past_key_values_length=4", NULL,
     "past_key_values_length is taken for key_length"},
    {"/v1/shaw/indices?query_length=4&clip=4", NULL, "clip is taken for max_relative_position"},
    {"/v1/rope/rotate", "{\"data\":[[1,2]]}", "data is taken for vectors"},
    {"/v1/rope/shift", "{\"keys\":[[1,2]],\"shift\":3}", "shift is taken for delta"},
    {"/v1/attention", "{\"q\":[[1,2]],\"k\":[[1,2]],\"is_causal\":true}",
     "is_causal is taken for causal"},
    {"/v1/rope/table?head_dim=8&theta=500000&length=2&dtype=bf16", NULL,
     "theta is taken for rope_theta, length for positions, bf16 for bfloat16"},
    {"/v1/sinusoidal", "{\"dim\":8,\"seq_len\":2}",
     "dim is taken for d_model, seq_len for positions"},
};

static void usual_names_of_others_are_taken(void **state)
{
    (void)state;
    for (size_t t = 0; t < PE_LEN(taken); t++) {
        char warning[200];
        snprintf(warning, sizeof warning, "\"warnings\":[\"%s\"", taken[t].warns);
        reply answer = ask(taken[t].target, taken[t].body);
        if (answer.status != 200 || strstr(answer.body, warning) == NULL)
            fail_msg("%s: status %ld does not warn %s: %s", taken[t].target, answer.status,
                     taken[t].warns, answer.body);
        reply_free(&answer);
    }
}

/* The canonical form has our names, and so the same numbers; only the warning is more. */
static void a_name_of_others_leads_to_the_canonical_form(void **state)
{
    char theirs[256], ours[256];
    (void)state;
    reply synonym = get(&server, "/v1/rope/table?dim=8&theta=500000&max_len=3");
    reply plain = get(&server, "/v1/rope/table?head_dim=8&rope_theta=500000&positions=0:3");
    assert_string_equal(reply_header(&synonym, "Content-Location", theirs, sizeof theirs),
                        reply_header(&plain, "Content-Location", ours, sizeof ours));
    assert_string_not_equal(reply_header(&synonym, "ETag", theirs, sizeof theirs),
                            reply_header(&plain, "ETag", ours, sizeof ours));
    reply numbers = get(&server, "/v1/rope/table?dim=8&theta=500000&max_len=3&format=npz");
    reply same =
        get(&server, "/v1/rope/table?head_dim=8&rope_theta=500000&positions=0:3&format=npz");
    assert_int_equal(numbers.bytes, same.bytes);
    assert_memory_equal(numbers.body, same.body, same.bytes);
    assert_string_equal(reply_header(&numbers, "ETag", theirs, sizeof theirs),
                        reply_header(&same, "ETag", ours, sizeof ours));
    reply_free(&synonym);
    reply_free(&plain);
    reply_free(&numbers);
    reply_free(&same);
}

/* Given under two names, or a name with several meanings. */
static void names_of_others_are_refused_where_they_are_in_doubt(void **state)
{
    static const struct {
        const char *target, *says;
        long status;
    } cases[] = {
        {"/v1/rope/table?head_dim=8&dim=8", "dim is another name of head_dim: give one", 400},
        {"/v1/rope/table?head_dim=8&length=2&positions=0:3", "another name of length", 400},
        {"/v1/rope/table?head_dim=8&length=x", "did you mean positions=0:N?", 400},
        {"/v1/rope/table?hidden_size=4096", "did you mean head_dim, hidden_size over heads?", 400},
        {"/v1/sinusoidal?d_model=8&end=4", "did you mean positions=0:N?", 400},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        reply answer = get(&server, cases[c].target);
        assert_int_equal(answer.status, cases[c].status);
        assert_non_null(strstr(answer.body, cases[c].says));
        reply_free(&answer);
    }
}

/* A request of several mistakes, and the places of all, in the order in which they are told. */
static const struct {
    const char *target, *body, *places;
} several[] = {
    {"/v1/swin/index", NULL, "window_height window_width "},
    {"/v1/rope/scores", "{}", "#/q #/k "},
    {"/v1/sinusoidal/grid", NULL, "d_model height "},
    {"/v1/rope/compare", NULL, "head_dim max_position_embeddings target_length "},
    {"/v1/rope/compare?head_dim=15&max_position_embeddings=100&target_length=50&alpha=3"
     "&rope_types=linear",
     NULL, "target_length head_dim alpha "},
    /* of reading, and of what is read */
    {"/v1/rope/table?head_dim=127&foo=1&dtype=float8", NULL, "foo dtype head_dim "},
    {"/v1/rope/table?head_dim=8&rope_type=linear&factor=-1&rotary_dim=7", NULL,
     "factor rotary_dim "},
    {"/v1/rope/table?model=nosuch&dtype=float8", NULL, "dtype model "},
    {"/v1/rope/table?layer_type=1", NULL, "layer_type head_dim "},
    /* what a model that is refused may have set is no mistake */
    {"/v1/t5/buckets?model=nosuch&query_length=4&key_length=2", NULL, "model query_length "},
    {"/v1/alibi/bias?model=nosuch&heads=9&num_heads=8", NULL, "model heads "},
    {"/v1/rope/rotate", "{\"model\": \"nosuch\"}", "#/model #/vectors "},
    {"/v1/rope/table?model=nosuch&beta_fast=3&positions=0:3;0:3;0:3", NULL, "model "},
    /* a mistake that may be one of the value that is refused is not told: 2 is no head_dim of
     * theirs */
    {"/v1/rope/table?head_dim=x&rotary_dim=64", NULL, "head_dim "},
    {"/v1/rope/table?rope_type=zzz&factor=4&head_dim=8", NULL, "rope_type "},
    /* of the plan, beside a value that is refused and looked at: whatever stands there, it is one */
    {"/v1/rope/table?head_dim=8&attention_factor=zzz&mrope_layout=sections", NULL,
     "attention_factor mrope_layout "},
    {"/v1/rope/table?head_dim=8&short_factor=zzz&freq_factors=1,2&axes_scale=1&axis_order=0", NULL,
     "short_factor freq_factors axis_order axes_scale "},
    {"/v1/rope/compare?head_dim=x&max_position_embeddings=64&target_length=32", NULL,
     "head_dim target_length "},
    {"/v1/attention", "{\"q\": [[1, 2]], \"k\": [[1, 2]], \"scheme\": \"t5\", \"scale\": \"x\"}",
     "#/scale #/weights "},
    {"/v1/shaw/lookup",
     "{\"relative_embeddings\": [[1], [2], [3]], \"query_length\": \"x\", \"left_max\": 1}",
     "#/query_length #/right_max "},
    /* what may have been meant has no default */
    {"/v1/rope/table?head_dim=8&rope_typ=yarn&factor=4&pairing=x", NULL, "rope_typ pairing "},
    {"/v1/rope/table",
     "{\"head_dim\": 8, \"rope_parameters\": {\"type\": \"yarn\", \"factor\": 4, \"beta_fast\": "
     "3}}",
     "#/original_max_position_embeddings "},
    {"/v1/rope/table", "{\"model\": 5, \"rope_type\": \"llama3\", \"factor\": 4}", "#/model "},
    /* the size of a table that is refused is unknown */
    {"/v1/shaw/lookup", "{\"relative_embeddings\": \"x\", \"query_length\": 4}",
     "#/relative_embeddings "},
    /* positions have one axis whatever else of the rotation is refused */
    {"/v1/rope/rotate",
     "{\"vectors\": [[1, 2]], \"freq_factors\": [1, 2, 3], \"positions\": [1, 2]}",
     "#/freq_factors #/positions "},
    {"/v1/rope/rotate", "{\"vectors\": [[1, 2]], \"long_factor\": \"x\", \"positions\": [1, 2]}",
     "#/long_factor #/positions "},
    {"/v1/rope/shift", "{\"keys\": [[1, 2]], \"rotary_dim\": 3, \"delta\": [1, 2]}",
     "#/rotary_dim #/delta "},
    /* a tensor is refused, and what does not depend on its shape */
    {"/v1/attention", "{\"q\": \"x\", \"k\": [[1, 2]], \"scheme\": \"t5\"}", "#/q #/weights "},
    {"/v1/rope/rotate", "{\"vectors\": \"x\", \"mrope_layout\": \"ernie\"}",
     "#/vectors #/mrope_layout "},
    {"/v1/attention",
     "{\"q\": [[1, 2]], \"k\": [[1, 2]], \"v\": \"x\", \"scheme\": \"rope\", \"factor\": 4}",
     "#/v #/factor "},
    /* of the plan alone, where the first ends it */
    {"/v1/rope/rotate",
     "{\"vectors\": [[1, 2]], \"k\": [[1, 2]], \"axes_theta\": [4], \"factor\": 4}",
     "#/vectors #/factor #/axes_theta "},
    {"/v1/attention",
     "{\"q\": [[1, 2]], \"k\": [[1, 2]], \"scheme\": \"rope\", \"slope\": 1, \"rotary_dim\": 3}",
     "#/slope #/rotary_dim "},
    {"/v1/rope/rotate",
     "{\"q\": [[1, 2], [3, 4]], \"k\": [[1, 2], [3, 4]], \"positions\": [1], \"seq_axis\": 5}",
     "#/seq_axis #/positions "},
    {"/v1/rope/grid/rotate",
     "{\"vectors\": [[1, 2, 3, 4]], \"height\": 2, \"width\": 1, \"rotary_dim\": 3}",
     "#/rotary_dim #/height "},
    {"/v1/sinusoidal/add", "{\"embeddings\": [[1, 2], [3, 4]], \"d_model\": 3, \"positions\": [1]}",
     "#/d_model #/positions "},
    {"/v1/shaw/probabilities",
     "{\"q\": [[[1, 2]]], \"k\": [[[1, 2]], [[3, 4]]], \"relative_embeddings\": [[1, 2], [3, 4]],"
     " \"left_max\": 3, \"right_max\": 3}",
     "#/k #/relative_embeddings "},
    {"/v1/rope/table?head_dim=16&rotary_dim=7&positions=0:3;0:3", NULL, "rotary_dim positions "},
    /* what the stand-ins alone complain of is not told */
    {"/v1/t5/buckets?distances=x&key_length=y", NULL, "distances key_length "},
    {"/v1/rope/rotate", "{\"vectors\": \"x\", \"partial_rotary_factor\": \"x\"}",
     "#/vectors #/partial_rotary_factor "},
    {"/v1/rope/frequencies?head_dim=8&rope_type=zzz&factor=4&original_max_position_embeddings=z",
     NULL, "rope_type original_max_position_embeddings "},
    {"/v1/rope/table?head_dim=16&mrope_section=2,3,4&freq_factors=1,2&positions=a;0:3;0:4", NULL,
     "positions positions freq_factors mrope_section "},
    {"/v1/attention",
     "{\"q\": [[1, 2], [3, 4]], \"k\": [[1, 2, 3]], \"v\": [[1], [2]], \"attention_mask\": [[1, "
     "1]],"
     " \"query_positions\": [1, 2, 3], \"key_positions\": [5, 6], \"slope\": 1}",
     "#/slope #/k #/v #/key_positions #/query_positions #/attention_mask "},
    {"/v1/rope/rotate",
     "{\"head_dim\": 4, \"rotary_dim\": 3, \"q\": [[1, 2, 3]], \"k\": [[1, 2, 3, 4, 5]]}",
     "#/q #/k #/rotary_dim "},
    {"/v1/rope/shift", "{\"head_dim\": 4, \"rotary_dim\": 3, \"keys\": [[1, 2, 3]], \"delta\": 1}",
     "#/keys #/rotary_dim "},
    {"/v1/rope/xpos", "{\"head_dim\": 4, \"rotary_dim\": 3, \"q\": [[1, 2, 3]]}",
     "#/q #/rotary_dim "},
    {"/v1/rope/scores",
     "{\"head_dim\": 4, \"rotary_dim\": 3, \"q\": [[1, 2, 3]], \"k\": [[1, 2, 3, 4]],"
     " \"key_positions\": [5, 6], \"foo\": 1}",
     "#/foo #/q #/key_positions #/rotary_dim "},
    {"/v1/rope/mrope-positions?token_runs=text,image:4,video:2&second_per_grid_ts=1,2", NULL,
     "image_grid_thw video_grid_thw second_per_grid_ts tokens_per_second token_runs "},
    {"/v1/rope/mrope-positions?token_runs=text,image:4&image_grid_thw=1,3,3", NULL,
     "token_runs image_grid_thw "},
    {"/v1/rope/table?head_dim=128&rotary_dim=63&rope_type=linear", NULL, "factor rotary_dim "},
    {"/v1/rope/table?head_dim=127&factor=4&beta_fast=3", NULL, "factor beta_fast head_dim "},
    {"/v1/rope/table?head_dim=128&rope_type=yarn", NULL,
     "factor original_max_position_embeddings "},
    {"/v1/rope/table",
     "{\"head_dim\": 8, \"rope_parameters\": {\"rope_type\": \"linear\", \"rotary_dim\": 7}}",
     "#/factor #/rope_parameters/rotary_dim "},
    {"/v1/rope/table?head_dim=8&rope_type=longrope&short_factor=1&long_factor=1"
     "&original_max_position_embeddings=4096&max_position_embeddings=131072",
     NULL, "short_factor long_factor "},
    {"/v1/rope/scaled-base?head_dim=7&factor=8&method=dynamic", NULL,
     "head_dim seq_len max_position_embeddings "},
    {"/v1/rope/compare?head_dim=64&max_position_embeddings=64&target_length=128&rope_types=linear"
     "&beta_fast=3&alpha=2",
     NULL, "beta_fast alpha "},
    {"/v1/attention",
     "{\"q\": [[1, 2]], \"k\": [[1, 2]], \"slope\": 1, \"freq_shift\": 1, \"variant\": \"t5\"}",
     "#/freq_shift #/slope #/variant "},
    {"/v1/alibi/bias?num_heads=8&mask_value=-1&heads=9", NULL, "query_length mask_value heads "},
    {"/v1/t5/buckets?att_span=4", NULL, "att_span query_length "},
    {"/v1/shaw/indices?query_length=4&key_length=2", NULL, "query_length max_relative_position "},
    {"/v1/sinusoidal/relative?d_model=7&query_length=4&key_length=2", NULL,
     "d_model query_length "},
    {"/v1/rope/table", "{\"head_dim\": \"x\", \"format\": \"zzz\", \"encoding_format\": \"qq\"}",
     "#/format #/encoding_format #/head_dim "},
    {"/v1/rope/table", "{\"head_dim\": \"x\", \"bas\": 1, \"rope_parameters\": 5}",
     "#/bas #/rope_parameters #/head_dim "},
    {"/v1/verify",
     "{\"encoding\": \"rotary\", \"parametrs\": {}, \"tabel\": [[1]], \"dtype\": \"fp16\"}",
     "#/parametrs #/tabel #/encoding #/table "},
    {"/v1/verify",
     "{\"encoding\": \"rope\", \"parameters\": {\"head_dim\": 4, \"bas\": 2}, \"tolerance\": \"x\","
     " \"dtype\": \"fp16\", \"table\": [[1, \"a\"]]}",
     "#/tolerance #/parameters/bas #/table/0/1 "},
    {"/v1/verify", "{\"encoding\": \"rope\", \"inputs\": [[1, 2]]}", "#/rotated "},
    {"/v1/verify",
     "{\"encoding\": \"rope\", \"parameters\": {\"head_dim\": 3, \"positions\": \"x\"}, "
     "\"tolerance\": -1,"
     " \"table\": 5}",
     "#/tolerance #/parameters/positions #/table #/parameters/head_dim "},
};

static void put_places(const reply *answer, char *out, size_t bytes)
{
    json_t *problem = reply_json(answer), *error;
    size_t i, used = 0;
    out[0] = '\0';
    json_array_foreach(json_object_get(problem, "errors"), i, error)
    {
        const json_t *parameter = json_object_get(error, "parameter");
        const json_t *place = parameter != NULL ? parameter : json_object_get(error, "pointer");
        used += (size_t)snprintf(out + used, bytes - used, "%s ", json_string_value(place));
    }
    json_decref(problem);
}

static void all_mistakes_are_told_at_once(void **state)
{
    (void)state;
    for (size_t s = 0; s < PE_LEN(several); s++) {
        char places[512];
        reply answer = ask(several[s].target, several[s].body);
        put_places(&answer, places, sizeof places);
        assert_string_equal(places, several[s].places);
        reply_free(&answer);
    }
}

/* There is room for eight, and the others are counted. */
static void mistakes_past_the_room_are_counted(void **state)
{
    static const char query[] = "/v1/rope/table?head_dim=8&a=1&b=1&c=1&z=1&e=1&f=1&g=1&i=1&j=1&l=1"
                                "&o=1&p=1";
    static const char body[] = "{\"a\":1,\"b\":1,\"c\":1,\"z\":1,\"e\":1,\"f\":1,\"g\":1,\"i\":1,"
                               "\"j\":1,\"l\":1,\"o\":1,\"p\":1,\"head_dim\":8}";
    static const char says[] = "; errors holds 8 mistakes, and there are 4 more\"";
    (void)state;
    for (size_t posted = 0; posted < 2; posted++) {
        reply answer = posted ? ask("/v1/rope/table", body) : ask(query, NULL);
        assert_problem(query, &answer, 400, "unknown-parameter");
        assert_non_null(strstr(answer.body, says));
        reply_free(&answer);
    }
}

/* Two spellings of one request: the canonical form has the first. */
static const struct {
    const char *target, *name, *body, *alias;
} spellings[] = {
    {"/v1/rope/table?head_dim=8&positions=0:2&", "rope_theta=5000", NULL, "base=5000"},
    {"/v1/rope/grid?head_dim=8&height=2&", "convention=dinov3", NULL, "variant=dinov3"},
    {"/v1/sinusoidal?d_model=8&positions=0:2&", "base=100", NULL, "rope_theta=100"},
    {"/v1/rope/decay?head_dim=8&", "offsets=0:4", NULL, "distances=0:4"},
    {"/v1/t5/buckets?", "distances=-4:4", NULL, "offsets=-4:4"},
    {"/v1/sinusoidal/grid?d_model=8&", "height=2&width=3", NULL, "window_height=2&window_width=3"},
    {"/v1/rope/grid?head_dim=8&convention=dinov3&", "height=2&width=3", NULL,
     "window_height=2&window_width=3"},
    {"/v1/swin/index?", "window_height=2&window_width=3", NULL, "height=2&width=3"},
    {"/v1/swin/index?format=svg&width=400&", "window_width=3&window_height=2", NULL,
     "window_width=3&height=2"},
    {"/v1/shaw/scores", "{\"queries\":[[1,2]],\"relative_embeddings\":[[1,2],[3,4],[5,6]]}", "",
     "{\"q\":[[1,2]],\"table\":[[1,2],[3,4],[5,6]]}"},
    {"/v1/t5/bias",
     "{\"num_buckets\":2,\"bidirectional\":false,\"max_distance\":4,\"query_length\":2,\"weights\":"
     "[[1],[2]]}",
     "",
     "{\"num_buckets\":2,\"bidirectional\":false,\"max_distance\":4,\"query_length\":2,\"relative_"
     "embeddings\":[[1],[2]]}"},
    {"/v1/swin/bias", "{\"window_height\":1,\"window_width\":1,\"weights\":[[2]]}", "",
     "{\"height\":1,\"width\":1,\"table\":[[2]]}"},
    {"/v1/rope/shift", "{\"keys\":[[1,2]],\"delta\":1}", "", "{\"k\":[[1,2]],\"delta\":1}"},
    {"/v1/attention", "{\"q\":[[1]],\"k\":[[1]],\"v\":[[2]]}", "",
     "{\"queries\":[[1]],\"keys\":[[1]],\"values\":[[2]]}"},
    {"/v1/attention", "{\"q\":[[1,2]],\"k\":[[1,3]],\"scheme\":\"rope\",\"rope_theta\":100}", "",
     "{\"q\":[[1,2]],\"k\":[[1,3]],\"scheme\":\"rope\",\"base\":100}"},
    {"/v1/attention", "{\"q\":[[1,2]],\"k\":[[1,3]],\"scheme\":\"sinusoidal\",\"base\":100}", "",
     "{\"q\":[[1,2]],\"k\":[[1,3]],\"scheme\":\"sinusoidal\",\"rope_theta\":100}"},
    {"/v1/learned/interpolate",
     "{\"table\":[[1],[2],[3],[4]],\"target_grid\":[1],\"extra_tokens\":0}", "",
     "{\"weights\":[[1],[2],[3],[4]],\"target_grid\":[1]}"},
};

static void assert_same(const char *name, const reply *one, const reply *other, bool table)
{
    char tag[64], other_tag[64];
    assert_status(name, one, 200);
    assert_status(name, other, 200);
    assert_int_equal(one->bytes, other->bytes);
    assert_memory_equal(one->body, other->body, one->bytes);
    if (!table)
        return;
    assert_non_null(reply_header(one, "ETag", tag, sizeof tag));
    assert_non_null(reply_header(other, "ETag", other_tag, sizeof other_tag));
    assert_string_equal(tag, other_tag);
}

static void an_alias_is_the_same_request(void **state)
{
    (void)state;
    for (size_t s = 0; s < PE_LEN(spellings); s++) {
        const bool table = spellings[s].body == NULL;
        char target[2][256];
        snprintf(target[0], sizeof target[0], "%s%s", spellings[s].target,
                 table ? spellings[s].name : "");
        snprintf(target[1], sizeof target[1], "%s%s", spellings[s].target,
                 table ? spellings[s].alias : "");
        reply one = ask(target[0], table ? NULL : spellings[s].name);
        reply other = ask(target[1], table ? NULL : spellings[s].alias);
        assert_same(target[1], &one, &other, table);
        reply_free(&one);
        reply_free(&other);
    }
}

/* A problem points to what was sent, and the listing tells of the other names. */
static void an_alias_is_named_as_it_was_sent(void **state)
{
    (void)state;
    reply refused = post_json(&server, "/v1/rope/table", "{\"head_dim\":8,\"base\":0}");
    assert_non_null(strstr(refused.body, "\"pointer\":\"#/base\""));
    assert_non_null(strstr(refused.body, "base must be between 1 and"));
    reply listing = get(&server, "/v1");
    assert_non_null(
        strstr(listing.body, "\"name\":\"rope_theta\",\"aliases\":[\"base\",\"theta\""));
    reply_free(&refused);
    reply_free(&listing);
}

static void a_layout_of_hugging_face_warns_of_interleaved_pairs(void **state)
{
    (void)state;
    static const char target[] = "/v1/rope/table?head_dim=4&positions=0:1&cache_layout=hf";
    char half[sizeof target + 16];
    snprintf(half, sizeof half, "%s&pairing=half", target);
    reply warned = get(&server, target), plain = get(&server, half);
    assert_non_null(strstr(warned.body, "\"warnings\":[\"cache_layout=hf"));
    assert_non_null(strstr(warned.body, "pairing=half is theirs"));
    assert_null(strstr(plain.body, "warnings"));
    reply_free(&warned);
    reply_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_is_told_how_to_mend_it),
        cmocka_unit_test(usual_names_of_others_are_taken),
        cmocka_unit_test(a_name_of_others_leads_to_the_canonical_form),
        cmocka_unit_test(names_of_others_are_refused_where_they_are_in_doubt),
        cmocka_unit_test(all_mistakes_are_told_at_once),
        cmocka_unit_test(mistakes_past_the_room_are_counted),
        cmocka_unit_test(an_alias_is_the_same_request),
        cmocka_unit_test(an_alias_is_named_as_it_was_sent),
        cmocka_unit_test(a_layout_of_hugging_face_warns_of_interleaved_pairs),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
