/* SPDX-License-Identifier: MIT */
/* npz.c - application/zip: all tensors by name, each an .npy file that is stored as it is. */
#include "formats/segments.h"

#include <string.h>
#include <zlib.h>

/*
 * Source  PKWARE APPNOTE.TXT 6.3, sections 4.3.7 (an entry), 4.3.9 (what follows its bytes), 4.3.12
 *         (its row in the directory) and 4.3.16 (the end). Numbers are little-endian. The CRC-32
 *         of an entry is known once its numbers are, so it follows them (bit 3 of the flags).
 */
enum {
    VERSION = 20,
    FLAGS = 1 << 3,
    STORED = 0,
    DATE = 1 << 5 | 1, /* 1980-01-01: bytes do not depend on the day */
    ENTRY = 30,
    BEHIND = 16,
    ROW = 46,
    END = 22
};

static size_t name_bytes(const pe_plan *plan, size_t t)
{
    return strlen(pe_segments_tensor_name(plan, t)) + strlen(".npy");
}

/* Version, flags, method, time and date, which an entry and its row have. */
static void put_kind(pe_buffer *out)
{
    pe_buffer_little(out, VERSION, 2);
    pe_buffer_little(out, FLAGS, 2);
    pe_buffer_little(out, STORED, 2);
    pe_buffer_little(out, 0, 2);
    pe_buffer_little(out, DATE, 2);
}

/* The .npy file of a tensor: its bytes, and their CRC. */
typedef struct npy {
    uint64_t bytes;
    uint32_t crc;
} npy;

static npy npy_of(const pe_plan *plan, size_t t, const pe_carry *carry)
{
    pe_buffer header = {0};
    const pe_tensor *tensor = &plan->tensors[t];
    const uint64_t numbers = pe_segments_tensor_bytes(tensor);
    pe_npy_header(tensor, &header);
    const uLong crc = crc32(0, (const Bytef *)pe_buffer_text(&header), (uInt)header.bytes);
    const npy made = {header.bytes + numbers,
                      (uint32_t)crc32_combine(crc, carry->crc[t], (z_off_t)numbers)};
    pe_buffer_free(&header);
    return made;
}

static void put_sizes(npy of, pe_buffer *out)
{
    pe_buffer_little(out, of.crc, 4);
    pe_buffer_little(out, of.bytes, 4);
    pe_buffer_little(out, of.bytes, 4);
}

static void put_behind(const pe_plan *plan, size_t t, const pe_carry *carry, pe_buffer *out)
{
    pe_buffer_str(out, "PK\x07\x08");
    put_sizes(npy_of(plan, t, carry), out);
}

/* The directory, and the end. */
static void put_directory(const pe_plan *plan, size_t none PE_UNUSED, const pe_carry *carry,
                          pe_buffer *out)
{
    uint64_t at = 0;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const npy file = npy_of(plan, t, carry);
        pe_buffer_str(out, "PK\x01\x02");
        pe_buffer_little(out, VERSION, 2);
        put_kind(out);
        put_sizes(file, out);
        pe_buffer_little(out, name_bytes(plan, t), 2);
        pe_buffer_little(out, 0, 12); /* no extra field, comment, disk or attributes */
        pe_buffer_little(out, at, 4);
        pe_buffer_format(out, "%s.npy", pe_segments_tensor_name(plan, t));
        at += ENTRY + name_bytes(plan, t) + file.bytes + BEHIND;
    }
    const size_t bytes = out->bytes;
    pe_buffer_str(out, "PK\x05\x06");
    pe_buffer_little(out, 0, 4);
    pe_buffer_little(out, plan->n_tensors, 2);
    pe_buffer_little(out, plan->n_tensors, 2);
    pe_buffer_little(out, bytes, 4);
    pe_buffer_little(out, at, 4);
    pe_buffer_little(out, 0, 2);
}

/* ---- numbers ---- */

static size_t encode(const pe_elements *elements, pe_carry *carry, char *out)
{
    const size_t bytes = elements->n * pe_dtype_bytes(elements->tensor->dtype);
    uint32_t *crc = &carry->crc[carry->tensor];
    memcpy(out, elements->data, bytes);
    *crc = (uint32_t)crc32(*crc, (const Bytef *)out, (uInt)bytes);
    return bytes;
}

static const pe_encoder encoder = {.length = pe_segments_tensor_bytes, .encode = encode};

/* ---- the format ---- */

/* Sizes and offsets have 32 bits. */
static pe_status check(const pe_plan *plan, const pe_rendering *rendering, size_t tensor PE_UNUSED,
                       pe_problem *why)
{
    const uint64_t most = (UINT32_MAX - ((uint64_t)1 << 16)) / PE_MAX_TENSORS;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const uint64_t bytes = pe_segments_tensor_bytes(&plan->tensors[t]);
        if (bytes > most)
            return pe_fail(
                why, PE_NOT_ACCEPTABLE, "format",
                "npz holds tensors of at most %llu bytes, this one has %llu; ask for safetensors",
                (unsigned long long)most, (unsigned long long)bytes);
        PE_TRY(pe_npy_check(plan, rendering, t, why));
    }
    return PE_OK;
}

static void describe(const pe_plan *plan, const pe_rendering *rendering PE_UNUSED,
                     size_t tensor PE_UNUSED, pe_segments *out)
{
    size_t directory = END;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        pe_buffer_str(&out->text, "PK\x03\x04");
        put_kind(&out->text);
        pe_buffer_little(&out->text, 0, 4 + 4 + 4); /* CRC and sizes follow the bytes */
        pe_buffer_little(&out->text, name_bytes(plan, t), 2);
        pe_buffer_little(&out->text, 0, 2);
        pe_buffer_format(&out->text, "%s.npy", pe_segments_tensor_name(plan, t));
        pe_npy_header(&plan->tensors[t], &out->text);
        pe_segments_text(out);
        pe_segments_numbers(out, t, &encoder);
        pe_segments_late(out, t, BEHIND, put_behind);
        directory += ROW + name_bytes(plan, t);
    }
    pe_segments_late(out, 0, directory, put_directory);
}

const pe_format pe_format_npz = {
    .name = "npz",
    .extension = ".npz",
    .media_type = "application/zip",
    .help = "Every tensor by its name, as np.load reads them: .npy files in a zip file that is not "
            "compressed.",
    .holds_many = true,
    .check = check,
    .describe = describe,
};
