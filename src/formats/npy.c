/* SPDX-License-Identifier: MIT */
/* npy.c - application/x-npy: one tensor in NumPy's format 1.0; application/octet-stream: its numbers
 * alone. */
#include "formats/segments.h"

static const char *const descr[PE_DTYPES] = {
    [PE_FLOAT32] = "<f4", [PE_FLOAT64] = "<f8", [PE_FLOAT16] = "<f2", [PE_INT32] = "<i4"};

pe_status pe_npy_check(const pe_plan *plan, const pe_rendering *rendering PE_UNUSED, size_t tensor,
                       pe_problem *why)
{
    const pe_dtype dtype = plan->tensors[tensor].dtype;
    if (descr[dtype] != NULL)
        return PE_OK;
    return pe_fail(why, PE_NOT_ACCEPTABLE, "format",
                   "NumPy has no %s; ask for dtype=float32, or for format raw or safetensors",
                   pe_dtype_name(dtype));
}

/*
 * Magic, version, a header length of two bytes, and the header, padded with spaces so that the
 * numbers begin at a multiple of 64.
 *
 * Source  numpy/numpy: numpy/lib/format.py (NEP 1).
 */
void pe_npy_header(const pe_tensor *tensor, pe_buffer *out)
{
    enum { PREAMBLE = 10 };
    pe_buffer header = {0};

    pe_buffer_format(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     descr[tensor->dtype]);
    for (size_t i = 0; i < tensor->shape.ndim; i++)
        pe_buffer_format(&header, i == 0 ? "%zu," : " %zu,", tensor->shape.dim[i]);
    if (tensor->shape.ndim > 1 && header.bytes > 0)
        header.bytes--; /* a comma after the last dimension is for one-tuples only */
    pe_buffer_str(&header, "), }");
    while ((PREAMBLE + header.bytes + 1) % 64 != 0 && !header.failed)
        pe_buffer_str(&header, " ");
    pe_buffer_str(&header, "\n");

    pe_buffer_add(out, "\x93NUMPY\x01\x00", 8);
    pe_buffer_little(out, header.bytes, 2);
    pe_buffer_add(out, header.data, header.bytes);
    out->failed |= header.failed;
    pe_buffer_free(&header);
}

static void describe(const pe_plan *plan, const pe_rendering *rendering PE_UNUSED, size_t index,
                     pe_segments *out)
{
    pe_npy_header(&plan->tensors[index], &out->text);
    pe_segments_text(out);
    pe_segments_numbers(out, index, &pe_raw_encode);
}

const pe_format pe_format_npy = {
    .name = "npy",
    .extension = ".npy",
    .media_type = "application/x-npy",
    .help = "NumPy's .npy, version 1.0: a header, then the numbers, little-endian, in C order.",
    .known_length = true,
    .check = pe_npy_check,
    .describe = describe,
};

/* ---- the numbers alone ---- */

/* Shared with safetensors, whose header stands before such numbers, too. */
const pe_encoder pe_raw_encode = {.length = pe_segments_tensor_bytes};

static void describe_raw(const pe_plan *plan PE_UNUSED, const pe_rendering *rendering PE_UNUSED,
                         size_t tensor, pe_segments *out)
{
    pe_segments_numbers(out, tensor, &pe_raw_encode);
}

const pe_format pe_format_raw = {
    .name = "raw",
    .extension = ".bin",
    .media_type = "application/octet-stream",
    .help = "The numbers alone, little-endian, in C order; X-Tensor-Shape and X-Tensor-Dtype "
            "describe them.",
    .known_length = true,
    .is_bare = true,
    .describe = describe_raw,
};
