/* SPDX-License-Identifier: MIT */
/* safetensors.c - application/vnd.safetensors: all tensors by name, any dtype. */
#include "formats/segments.h"

#include "text/json_write.h"
#include "text/number.h"

static const char *const names[PE_DTYPES] = {[PE_FLOAT32] = "F32",
                                             [PE_FLOAT64] = "F64",
                                             [PE_FLOAT16] = "F16",
                                             [PE_BFLOAT16] = "BF16",
                                             [PE_INT32] = "I32"};

/* Metadata holds text only, so a number goes in as its text. */
static void put_scalar(const pe_scalar *scalar, pe_buffer *out)
{
    char text[PE_NUMBER_TEXT_MAX + 1] = "null";
    if (!scalar->null && scalar->text == NULL)
        text[pe_number_print(PE_FLOAT64, scalar->value, text)] = '\0';
    pe_json_write_text(out, scalar->name,
                       scalar->text != NULL && !scalar->null ? scalar->text : text);
}

static void put_warnings(const pe_plan *plan, pe_buffer *out)
{
    for (size_t i = 0; i < plan->n_warnings; i++) {
        pe_buffer_str(out, i == 0 ? "" : "; ");
        pe_buffer_str(out, plan->warnings[i]);
    }
}

/* What is no text, as text. */
static void put_text(const char *name, void (*put)(const pe_plan *, pe_buffer *),
                     const pe_plan *plan, pe_buffer *out)
{
    pe_buffer text = {0};
    put(plan, &text);
    pe_json_write_text(out, name, pe_buffer_text(&text));
    out->failed |= text.failed;
    pe_buffer_free(&text);
}

static void put_metadata(const pe_plan *plan, const pe_rendering *rendering, pe_buffer *out)
{
    pe_json_write_open(out, "__metadata__", "{");
    pe_json_write_text(out, "encoding", rendering->encoding);
    pe_json_write_text(out, "parameters", rendering->parameters);
    for (size_t i = 0; i < plan->n_scalars; i++)
        put_scalar(&plan->scalars[i], out);
    if (plan->n_engine_settings > 0) {
        put_text("settings", pe_engine_settings_json, plan, out);
        put_text("settings_source", pe_engine_setting_sources_json, plan, out);
    }
    if (plan->n_warnings > 0)
        put_text("warnings", put_warnings, plan, out);
    pe_buffer_str(out, "}");
}

static uint64_t put_tensor(const pe_plan *plan, size_t index, uint64_t begin, pe_buffer *out)
{
    const pe_tensor *tensor = &plan->tensors[index];
    const uint64_t end = begin + pe_segments_tensor_bytes(tensor);
    pe_json_write_open(out, pe_segments_tensor_name(plan, index), "{");
    pe_json_write_text(out, "dtype", names[tensor->dtype]);
    pe_json_write_counts(out, "shape", tensor->shape.dim, tensor->shape.ndim);
    pe_json_write_counts(out, "data_offsets", (const size_t[]){begin, end}, 2);
    pe_buffer_str(out, "}");
    return end;
}

/*
 * Eight bytes of header length, the header as JSON padded with spaces to eight bytes, the numbers.
 *
 * Source  huggingface/safetensors: README.md ("Format").
 */
static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                     pe_segments *out)
{
    pe_buffer header = {0};
    uint64_t at = 0;
    (void)tensor;
    pe_buffer_str(&header, "{");
    put_metadata(plan, rendering, &header);
    for (size_t t = 0; t < plan->n_tensors; t++)
        at = put_tensor(plan, t, at, &header);
    pe_buffer_str(&header, "}");
    while (header.bytes % 8 != 0 && !header.failed)
        pe_buffer_str(&header, " ");

    unsigned char length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)header.bytes >> (8 * i));
    pe_buffer_add(&out->text, length, sizeof length);
    pe_buffer_add(&out->text, header.data, header.bytes);
    out->text.failed |= header.failed;
    pe_buffer_free(&header);
    pe_segments_text(out);
    for (size_t t = 0; t < plan->n_tensors; t++)
        pe_segments_numbers(out, t, &pe_raw_encode);
}

static const struct pe_format_ops ops = {.describe = describe};

const pe_format pe_format_safetensors = {
    .name = "safetensors",
    .extension = ".safetensors",
    .media_type = "application/vnd.safetensors",
    .help = "Every tensor by its name, little-endian; the parameters are in __metadata__.",
    .holds_many = true,
    .tells_parameters = true,
    .known_length = true,
    .ops = &ops,
};
