/* SPDX-License-Identifier: MIT */
/* raw.c - application/octet-stream: the numbers of one tensor, little-endian, row-major. */
#include "formats/segments.h"

/* Shared with npy and safetensors, whose headers stand before such numbers. */
const pe_encoder pe_raw_encode = {.length = pe_segments_tensor_bytes};

static void describe(const pe_plan *plan PE_UNUSED, const pe_rendering *rendering PE_UNUSED,
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
    .describe = describe,
};
