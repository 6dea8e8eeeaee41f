/* SPDX-License-Identifier: MIT */
/* base64.c - numbers as base64 text, in blocks of any size. */
#include "formats/segments.h"

#include "base/size.h"

static uint64_t length(const pe_tensor *tensor)
{
    return (pe_segments_tensor_bytes(tensor) + 2) / 3 * 4;
}

static size_t block_max(const pe_tensor *tensor, size_t n)
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

static size_t encode(const pe_elements *elements, pe_carry *carry, char *out)
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

const pe_encoder pe_base64_encode = {
    .length = length,
    .block_max = block_max,
    .encode = encode,
    .raw_of = raw_of,
    .text_of = text_of,
};
