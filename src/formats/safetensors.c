/* SPDX-License-Identifier: MIT */
/* safetensors.c - application/vnd.safetensors: all tensors by name, any dtype. */
#include "formats/segments.h"

#include "formats/json_write.h"
#include "text/number.h"
#include "formats/safetensors.h"

void pe_safetensors_head_row(pe_buffer *rows, const char *name, pe_dtype dtype,
                             const pe_shape *shape, size_t begin, size_t bytes)
{
    pe_json_write_open(rows, name, "{");
    pe_json_write_text(rows, "dtype", pe_dtype_safetensors_name(dtype));
    pe_json_write_counts(rows, "shape", shape->dim, shape->ndim);
    pe_json_write_counts(rows, "data_offsets", (const size_t[]){begin, begin + bytes}, 2);
    pe_buffer_str(rows, "}");
}

void pe_safetensors_head_put(pe_slice json, pe_buffer *out)
{
    const size_t padding = (8 - json.bytes % 8) % 8;
    pe_buffer_little(out, json.bytes + padding, 8);
    pe_buffer_format(out, "%.*s%*s", (int)json.bytes, json.text, (int)padding, "");
}

/* ---- the format ---- */

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

static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t tensor PE_UNUSED,
                     pe_segments *out)
{
    pe_buffer header = {0};
    size_t at = 0;
    pe_buffer_str(&header, "{");
    pe_json_write_open(&header, "__metadata__", "{");
    pe_json_write_text(&header, "encoding", rendering->encoding);
    pe_json_write_text(&header, "parameters", rendering->parameters);
    for (size_t i = 0; i < plan->n_scalars; i++) {
        /* Metadata holds text only, so a number goes in as its text. */
        const pe_scalar *scalar = &plan->scalars[i];
        char text[PE_NUMBER_TEXT_MAX + 1] = "null";
        if (!scalar->null && scalar->text == NULL)
            text[pe_number_print(PE_FLOAT64, scalar->value, text)] = '\0';
        pe_json_write_text(&header, scalar->name,
                           scalar->text != NULL && !scalar->null ? scalar->text : text);
    }
    if (plan->n_engine_settings > 0) {
        put_text("settings", pe_engine_settings_json, plan, &header);
        put_text("settings_source", pe_engine_setting_sources_json, plan, &header);
    }
    if (plan->n_warnings > 0)
        put_text("warnings", put_warnings, plan, &header);
    pe_buffer_str(&header, "}");
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const pe_tensor *one = &plan->tensors[t];
        const size_t bytes = pe_segments_tensor_bytes(one);
        pe_safetensors_head_row(&header, pe_segments_tensor_name(plan, t), one->dtype, &one->shape,
                                at, bytes);
        at += bytes;
    }
    pe_buffer_str(&header, "}");
    pe_safetensors_head_put(pe_buffer_slice(&header), &out->text);
    out->text.failed |= header.failed;
    pe_buffer_free(&header);
    pe_segments_text(out);
    for (size_t t = 0; t < plan->n_tensors; t++)
        pe_segments_numbers(out, t, &pe_raw_encode);
}

const pe_format pe_format_safetensors = {
    .name = "safetensors",
    .extension = ".safetensors",
    .media_type = "application/vnd.safetensors",
    .help = "Every tensor by its name, little-endian; the parameters are in __metadata__.",
    .holds_many = true,
    .tells_parameters = true,
    .known_length = true,
    .describe = describe,
};
