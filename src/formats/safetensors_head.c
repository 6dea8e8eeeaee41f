/* SPDX-License-Identifier: MIT */
/* safetensors_head.c - what stands before the numbers of a safetensors file. */
#include "formats/safetensors_head.h"

#include "text/json_write.h"

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
