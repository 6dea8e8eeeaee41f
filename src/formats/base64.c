/* SPDX-License-Identifier: MIT */
/* base64.c - numbers as base64 text, in blocks of any size. */
#include "formats/segments.h"

#include <string.h>

/* Source  RFC 4648 section 4. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint64_t length(const pe_tensor *tensor)
{
    return (pe_segments_tensor_bytes(tensor) + 2) / 3 * 4;
}

static size_t block_max(const pe_tensor *tensor, size_t n)
{
    /* The block before may have left two bytes. */
    return (n * pe_dtype_bytes(tensor->dtype) + 2 + 2) / 3 * 4;
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

static char *put_group(const unsigned char *from, char *to)
{
    unsigned bits = (unsigned)from[0] << 16 | (unsigned)from[1] << 8 | from[2];
    to[0] = digits[bits >> 18];
    to[1] = digits[bits >> 12 & 63];
    to[2] = digits[bits >> 6 & 63];
    to[3] = digits[bits & 63];
    return to + 4;
}

/*
 * After a seek a block may begin inside a group whose first bytes are not known. The rest of that
 * group is left out.
 */
static size_t bytes_before_group(uint64_t raw, const pe_carry *carry)
{
    size_t phase = (size_t)(raw % 3);
    return carry->n == phase ? 0 : 3 - phase;
}

static size_t encode(const pe_elements *elements, pe_carry *carry, char *out)
{
    const pe_tensor *tensor = elements->tensor;
    const size_t size = pe_dtype_bytes(tensor->dtype), bytes = elements->n * size;
    const size_t lost = bytes_before_group((uint64_t)elements->first * size, carry);
    const unsigned char *from = elements->data, *end = from + bytes;
    char *to = out;

    from += lost < bytes ? lost : bytes;
    while (carry->n > 0 && carry->n < 3 && from < end)
        carry->byte[carry->n++] = *from++;
    if (carry->n == 3) {
        to = put_group(carry->byte, to);
        carry->n = 0;
    }
    for (; end - from >= 3; from += 3)
        to = put_group(from, to);
    while (from < end)
        carry->byte[carry->n++] = *from++;
    if (elements->first + elements->n == tensor->elements && carry->n > 0) {
        /* The last one or two bytes, filled up with zeros and '='. */
        unsigned char group[3] = {0};
        memcpy(group, carry->byte, carry->n);
        put_group(group, to);
        for (size_t i = carry->n + 1; i < 4; i++)
            to[i] = '=';
        to = to + 4;
        carry->n = 0;
    }
    return (size_t)(to - out);
}

const pe_encoder pe_base64_encode = {
    .length = length,
    .length_max = length,
    .block_max = block_max,
    .encode = encode,
    .raw_of = raw_of,
    .text_of = text_of,
};
