/* SPDX-License-Identifier: MIT */
/* json.c - application/json: tensors as nested arrays, or as base64. */
#include "formats/segments.h"

#include <string.h>

#include "base/size.h"
#include "text/blocks.h"
#include "formats/json_write.h"
#include "text/number.h"

static size_t inner_axis(const pe_tensor *tensor)
{
    return tensor->shape.ndim == 0 ? 1 : tensor->shape.dim[tensor->shape.ndim - 1];
}

/* Each run of numbers (a row, or what a block holds of one) may open and close every axis. */
static size_t brackets_max(const pe_tensor *tensor, size_t n)
{
    return (n / inner_axis(tensor) + 2) * (2 * tensor->shape.ndim + 1);
}

static size_t block_max(const pe_tensor *tensor, size_t n)
{
    return n * PE_NUMBER_TEXT_MAX + brackets_max(tensor, n);
}

static uint64_t length_max(const pe_tensor *tensor)
{
    return (uint64_t)tensor->elements * pe_number_text_most(tensor->dtype) +
           brackets_max(tensor, tensor->elements);
}

/* One bracket for every axis that begins (or ends) at element e. */
static char *put_brackets(const pe_tensor *tensor, size_t e, char bracket, char *to)
{
    size_t block = 1;
    for (size_t axis = tensor->shape.ndim; axis-- > 0;) {
        block *= tensor->shape.dim[axis];
        if (e % block != 0)
            break;
        *to++ = bracket;
    }
    return to;
}

static size_t encode(const pe_elements *elements, pe_carry *carry PE_UNUSED, char *out)
{
    const pe_tensor *tensor = elements->tensor;
    const size_t first = elements->first, end = first + elements->n;
    const size_t inner = inner_axis(tensor), size = pe_dtype_bytes(tensor->dtype);
    const char *from = elements->data;
    char *to = out;
    for (size_t e = first, run; e < end; e += run, from += run * size) {
        size_t left = inner - e % inner;
        run = left < end - e ? left : end - e;
        if (e > 0)
            *to++ = ',';
        to = put_brackets(tensor, e, '[', to);
        to += pe_blocks_print(tensor->dtype, from, run, ',', to);
        to = put_brackets(tensor, e + run, ']', to);
    }
    return (size_t)(to - out);
}

static const pe_encoder encoder = {
    .length_max = length_max,
    .block_max = block_max,
    .encode = encode,
};

/* ---- numbers as base64 text, in blocks of any size ---- */

static uint64_t base64_length(const pe_tensor *tensor)
{
    return (pe_segments_tensor_bytes(tensor) + 2) / 3 * 4;
}

static size_t base64_block_max(const pe_tensor *tensor, size_t n)
{
    /* The block before may have left bits. */
    return BASE64_ENCODE_LENGTH(n * pe_dtype_bytes(tensor->dtype)) + BASE64_ENCODE_FINAL_LENGTH;
}

static uint64_t raw_of(uint64_t at)
{
    return at / 4 * 3;
}

/* The first group that begins at or after this byte: the start of an earlier one is not known. */
static uint64_t text_of(uint64_t raw)
{
    return (raw + 2) / 3 * 4;
}

static size_t encode_base64(const pe_elements *elements, pe_carry *carry, char *out)
{
    const pe_tensor *tensor = elements->tensor;
    const size_t size = pe_dtype_bytes(tensor->dtype), bytes = elements->n * size;
    /* After a seek a block may begin inside a group whose first bytes are not known. The rest of
     * that group is left out. */
    const size_t phase = (size_t)((uint64_t)elements->first * size % 3);
    const size_t lost = carry->base64.bits / 2 == phase ? 0 : pe_size_min(3 - phase, bytes);
    size_t made = base64_encode_update(&carry->base64, out, bytes - lost,
                                       (const uint8_t *)elements->data + lost);
    if (elements->first + elements->n == tensor->elements)
        made += base64_encode_final(&carry->base64, out + made);
    return made;
}

static const pe_encoder base64_encoder = {
    .length = base64_length,
    .block_max = base64_block_max,
    .encode = encode_base64,
    .raw_of = raw_of,
    .text_of = text_of,
};

/* ---- what other programs are told to compute the same numbers ---- */

void pe_engine_settings_json(const pe_plan *plan, pe_buffer *out)
{
    const char *of = "";
    pe_buffer_str(out, "{");
    for (size_t s = 0; s < plan->n_engine_settings; s++) {
        const pe_engine_setting *setting = &plan->engine_settings[s];
        if (strcmp(setting->of, of) != 0) {
            pe_buffer_str(out, s == 0 ? "" : "}");
            pe_json_write_open(out, setting->of, "{");
        }
        of = setting->of;
        pe_json_write_open(out, setting->program, "{");
        if (setting->text != NULL && !setting->json) {
            pe_json_write_text(out, "value", setting->text);
        } else {
            pe_json_write_name(out, "value");
            pe_buffer_str(out, setting->text != NULL ? setting->text : "null");
        }
        pe_json_write_text(out, "note", setting->note);
        if (setting->layers != NULL) {
            pe_json_write_name(out, "layers");
            pe_buffer_str(out, setting->layers);
        }
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "}}");
}

void pe_engine_setting_sources_json(const pe_plan *plan, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    for (size_t s = 0; s < plan->n_engine_setting_sources; s++)
        pe_json_write_text(out, plan->engine_setting_sources[s].program,
                           plan->engine_setting_sources[s].source);
    pe_buffer_str(out, "}");
}

/* ---- the whole ---- */

/* The members of a lone tensor without scalars are those of the answer; else each tensor is one. */
static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t chosen PE_UNUSED,
                     pe_segments *out)
{
    const bool spread = plan->n_tensors == 1 && plan->n_scalars == 0, base64 = rendering->base64;
    pe_buffer *text = &out->text;
    char number[PE_NUMBER_TEXT_MAX];
    pe_buffer_str(text, "{");
    pe_json_write_text(text, "encoding", rendering->encoding);
    pe_json_write_name(text, "parameters");
    pe_buffer_str(text, rendering->parameters);
    for (const pe_scalar *of = plan->scalars; of < plan->scalars + plan->n_scalars; of++) {
        if (of->text != NULL && !of->null) {
            pe_json_write_text(text, of->name, of->text);
            continue;
        }
        pe_json_write_name(text, of->name);
        if (of->null)
            pe_buffer_str(text, "null");
        else
            pe_buffer_add(text, number, pe_number_print(PE_FLOAT64, of->value, number));
    }
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const pe_tensor *tensor = &plan->tensors[t];
        if (!spread)
            pe_json_write_open(text, pe_segments_tensor_name(plan, t), "{");
        pe_json_write_text(text, "dtype", pe_dtype_name(tensor->dtype));
        pe_json_write_counts(text, "shape", tensor->shape.dim, tensor->shape.ndim);
        pe_json_write_name(text, "data");
        pe_buffer_str(text, base64 ? "\"" : tensor->elements == 0 ? "[]" : "");
        pe_segments_text(out);
        if (tensor->elements > 0)
            pe_segments_numbers(out, t, base64 ? &base64_encoder : &encoder);
        pe_buffer_str(text, base64 ? "\",\"byte_order\":\"little\"" : "");
        pe_buffer_str(text, spread ? "" : "}");
    }
    if (plan->n_engine_settings > 0) {
        pe_json_write_name(text, "settings");
        pe_engine_settings_json(plan, text);
        pe_json_write_name(text, "settings_source");
        pe_engine_setting_sources_json(plan, text);
    }
    if (plan->n_warnings > 0)
        pe_json_write_texts(text, "warnings", (const char *const *)plan->warnings,
                            plan->n_warnings);
    pe_buffer_str(text, "}\n");
    pe_segments_text(out);
}

const pe_format pe_format_json = {
    .name = "json",
    .extension = ".json",
    .media_type = "application/json",
    .help = "The numbers as nested arrays or in base64, with the parameters and every scalar.",
    .holds_many = true,
    .tells_parameters = true,
    .is_text = true,
    .describe = describe,
};
