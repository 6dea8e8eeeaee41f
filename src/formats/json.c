/* SPDX-License-Identifier: MIT */
/* json.c - application/json: tensors as nested arrays, or as base64. */
#include "formats/segments.h"

#include "formats/engine_settings.h"
#include "text/blocks.h"
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

static size_t encode(const pe_elements *elements, pe_carry *carry, char *out)
{
    const pe_tensor *tensor = elements->tensor;
    const size_t first = elements->first, end = first + elements->n;
    const size_t inner = inner_axis(tensor), size = pe_dtype_bytes(tensor->dtype);
    const char *from = elements->data;
    char *to = out;
    (void)carry;
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

static void put_scalar(const pe_scalar *scalar, pe_buffer *out)
{
    char text[PE_NUMBER_TEXT_MAX];
    pe_buffer_str(out, ",");
    pe_buffer_json_string(out, scalar->name);
    pe_buffer_str(out, ":");
    if (scalar->null)
        pe_buffer_str(out, "null");
    else if (scalar->text != NULL)
        pe_buffer_json_string(out, scalar->text);
    else
        pe_buffer_add(out, text, pe_number_print(PE_FLOAT64, scalar->value, text));
}

/* The members of a tensor's object: "dtype", "shape", "data", and byte_order of base64. */
static void put_tensor(const pe_plan *plan, size_t index, bool base64, pe_segments *out)
{
    const pe_tensor *tensor = &plan->tensors[index];
    pe_buffer_format(&out->text, "\"dtype\":\"%s\",\"shape\":[", pe_dtype_name(tensor->dtype));
    for (size_t i = 0; i < tensor->shape.ndim; i++)
        pe_buffer_format(&out->text, i == 0 ? "%zu" : ",%zu", tensor->shape.dim[i]);
    pe_buffer_str(&out->text, base64 ? "],\"data\":\"" : "],\"data\":");
    if (tensor->elements == 0 && !base64)
        pe_buffer_str(&out->text, "[]");
    pe_segments_text(out);
    if (tensor->elements > 0)
        pe_segments_numbers(out, index, base64 ? &pe_base64_encode : &encoder);
    if (base64)
        pe_buffer_str(&out->text, "\",\"byte_order\":\"little\"");
}

static void put_warnings(const pe_plan *plan, pe_buffer *out)
{
    for (size_t i = 0; i < plan->n_warnings; i++) {
        pe_buffer_str(out, i == 0 ? ",\"warnings\":[" : ",");
        pe_buffer_json_string(out, plan->warnings[i]);
    }
    if (plan->n_warnings > 0)
        pe_buffer_str(out, "]");
}

static void put_settings(const pe_plan *plan, pe_buffer *out)
{
    if (plan->n_engine_settings == 0)
        return;
    pe_buffer_str(out, ",\"settings\":");
    pe_engine_settings_json(plan, out);
    pe_buffer_str(out, ",\"settings_source\":");
    pe_engine_setting_sources_json(plan, out);
}

/* The members of a lone tensor without scalars are those of the answer; else each tensor is one. */
static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     pe_segments *out)
{
    bool spread = plan->n_tensors == 1 && plan->n_scalars == 0;
    (void)tensor;
    pe_buffer_str(&out->text, "{\"encoding\":");
    pe_buffer_json_string(&out->text, rendering->encoding);
    pe_buffer_str(&out->text, ",\"parameters\":");
    pe_buffer_str(&out->text, rendering->parameters);
    for (size_t i = 0; i < plan->n_scalars; i++)
        put_scalar(&plan->scalars[i], &out->text);
    for (size_t t = 0; t < plan->n_tensors; t++) {
        pe_buffer_str(&out->text, ",");
        if (!spread) {
            pe_buffer_json_string(&out->text, pe_segments_tensor_name(plan, t));
            pe_buffer_str(&out->text, ":{");
        }
        put_tensor(plan, t, rendering->base64, out);
        if (!spread)
            pe_buffer_str(&out->text, "}");
    }
    put_settings(plan, &out->text);
    put_warnings(plan, &out->text);
    pe_buffer_str(&out->text, "}\n");
    pe_segments_text(out);
}

static const struct pe_format_ops ops = {.describe = describe};

const pe_format pe_format_json = {
    .name = "json",
    .extension = ".json",
    .media_type = "application/json",
    .help = "The numbers as nested arrays or in base64, with the parameters and every scalar.",
    .holds_many = true,
    .tells_parameters = true,
    .is_text = true,
    .ops = &ops,
};
