/* SPDX-License-Identifier: MIT */
/* json.c - application/json: tensors as nested arrays, or as base64. */
#include "formats/segments.h"

#include "text/blocks.h"
#include "text/json_write.h"
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

static void put_scalar(const pe_scalar *scalar, pe_buffer *out)
{
    char text[PE_NUMBER_TEXT_MAX];
    if (scalar->text != NULL && !scalar->null) {
        pe_json_write_text(out, scalar->name, scalar->text);
        return;
    }
    pe_json_write_name(out, scalar->name);
    if (scalar->null)
        pe_buffer_str(out, "null");
    else
        pe_buffer_add(out, text, pe_number_print(PE_FLOAT64, scalar->value, text));
}

/* The members of a tensor's object: "dtype", "shape", "data", and byte_order of base64. */
static void put_tensor(const pe_plan *plan, size_t index, bool base64, pe_segments *out)
{
    const pe_tensor *tensor = &plan->tensors[index];
    pe_json_write_text(&out->text, "dtype", pe_dtype_name(tensor->dtype));
    pe_json_write_counts(&out->text, "shape", tensor->shape.dim, tensor->shape.ndim);
    pe_json_write_name(&out->text, "data");
    pe_buffer_str(&out->text, base64 ? "\"" : tensor->elements == 0 ? "[]" : "");
    pe_segments_text(out);
    if (tensor->elements > 0)
        pe_segments_numbers(out, index, base64 ? &pe_base64_encode : &encoder);
    if (base64)
        pe_buffer_str(&out->text, "\",\"byte_order\":\"little\"");
}

/* The members of a lone tensor without scalars are those of the answer; else each tensor is one. */
static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor PE_UNUSED,
                     pe_segments *out)
{
    const bool spread = plan->n_tensors == 1 && plan->n_scalars == 0;
    pe_buffer *text = &out->text;
    pe_buffer_str(text, "{");
    pe_json_write_text(text, "encoding", rendering->encoding);
    pe_json_write_name(text, "parameters");
    pe_buffer_str(text, rendering->parameters);
    for (size_t i = 0; i < plan->n_scalars; i++)
        put_scalar(&plan->scalars[i], text);
    for (size_t t = 0; t < plan->n_tensors; t++) {
        if (!spread)
            pe_json_write_open(text, pe_segments_tensor_name(plan, t), "{");
        put_tensor(plan, t, rendering->base64, out);
        if (!spread)
            pe_buffer_str(text, "}");
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
