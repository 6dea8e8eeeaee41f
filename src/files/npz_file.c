/* SPDX-License-Identifier: MIT */
/* npz_file.c - files of NumPy in one zip file. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/yield.h"
#include "files/stored.h"

/*
 * Source  PKWARE APPNOTE.TXT 6.3, sections 4.3.7 (an entry), 4.3.12 (its row in the directory) and
 *         4.3.16 (the end, which says where the directory is). Numbers are little-endian.
 */
enum { ENTRY = 30, ROW = 46, END = 22, COMMENT_MAX = 65535 };
/* DEFLATE_MOST: bytes that one of RFC 1951 may become, a little less than 1032. */
enum { STORED = 0, DEFLATED = 8, DEFLATE_MOST = 1032 };

/* Bytes between two looks at the clock. */
#define STEP ((size_t)1 << 20)

static pe_status broken(const char *what, pe_slice name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "not an .npz file: %s%s%.*s", what,
                   name.bytes > 0 ? " " : "", (int)(name.bytes < 60 ? name.bytes : 60), name.text);
}

bool pe_npz_file_is(pe_slice file)
{
    return file.bytes >= 4 && memcmp(file.text, "PK\x03\x04", 4) == 0;
}

/* What is left of the file from an offset on; empty: nothing. */
static pe_slice from(pe_slice file, size_t offset)
{
    const size_t at = offset < file.bytes ? offset : file.bytes;
    return (pe_slice){file.text + at, file.bytes - at};
}

/* Unpack an entry, which has so many bytes then, into room that was made. */
static pe_status unpack(pe_slice packed, size_t bytes, const char *row, pe_buffer *unpacked,
                        pe_problem *why)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.text, .avail_in = (uInt)packed.bytes};
    Bytef *to = (Bytef *)pe_buffer_reserve(unpacked, bytes);
    size_t done = 0;
    int inflated = Z_OK;
    pe_status status = PE_OK;
    if (to == NULL || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return pe_fail_memory(why);
    while (done < bytes && inflated == Z_OK && status == PE_OK) {
        const size_t step = bytes - done < STEP ? bytes - done : STEP;
        stream.next_out = to + done;
        stream.avail_out = (uInt)step;
        inflated = inflate(&stream, Z_NO_FLUSH);
        done += step - stream.avail_out;
        status = pe_yield_check(why);
    }
    inflateEnd(&stream);
    unpacked->bytes += done;
    if (status == PE_OK && (done < bytes || crc32_z(0, to, bytes) != pe_stored_little(row + 16, 4)))
        return broken("what is compressed in it does not unpack", (pe_slice){"", 0}, why);
    return status;
}

/* The bytes of an entry, as they are stored or unpacked. */
static pe_status find_data(pe_slice file, const char *row, pe_slice name, pe_buffer *unpacked,
                           pe_slice *out, pe_problem *why)
{
    const size_t bytes = pe_stored_little(row + 20, 4), offset = pe_stored_little(row + 42, 4);
    const size_t method = pe_stored_little(row + 10, 2);
    const pe_slice entry = from(file, offset);
    if ((method != STORED && (method != DEFLATED || unpacked == NULL)) ||
        (pe_stored_little(row + 8, 2) & 1) != 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "%.*s is compressed in the .npz file; numpy.savez writes files that are not",
                       (int)(name.bytes < 60 ? name.bytes : 60), name.text);
    if (!pe_npz_file_is(entry) || entry.bytes < ENTRY)
        return broken("nothing is where the directory says, of", name, why);
    *out = from(entry, ENTRY + pe_stored_little(entry.text + 26, 2) +
                           pe_stored_little(entry.text + 28, 2));
    if (bytes > out->bytes)
        return broken("it ends inside", name, why);
    out->bytes = bytes;
    if (method == STORED)
        return PE_OK;
    const size_t used = unpacked->bytes;
    const pe_status status = unpack(*out, pe_stored_little(row + 24, 4), row, unpacked, why);
    *out = (pe_slice){unpacked->data + used, unpacked->bytes - used};
    return status;
}

/* Take the next row of the directory, and its name. */
static pe_status next_row(pe_slice *rows, const char **row, pe_slice *name, pe_problem *why)
{
    if (rows->bytes < ROW || memcmp(rows->text, "PK\x01\x02", 4) != 0)
        return broken("its directory is broken", (pe_slice){"", 0}, why);
    *row = rows->text;
    *name = from(*rows, ROW);
    if (pe_stored_little(*row + 28, 2) > name->bytes)
        return broken("its directory is broken", (pe_slice){"", 0}, why);
    name->bytes = pe_stored_little(*row + 28, 2);
    *rows = from(*rows, ROW + name->bytes + pe_stored_little(*row + 30, 2) +
                            pe_stored_little(*row + 32, 2));
    return PE_OK;
}

/* Room for what is compressed, so that what is unpacked stays where it is. */
static pe_status make_room(pe_slice rows, size_t n, size_t max_elements, pe_buffer *unpacked,
                           pe_problem *why)
{
    const size_t most = max_elements < SIZE_MAX / 16 ? max_elements * 8 + STEP : SIZE_MAX;
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const char *row;
        pe_slice name;
        PE_TRY(next_row(&rows, &row, &name, why));
        const size_t packed = pe_stored_little(row + 20, 4), bytes = pe_stored_little(row + 24, 4);
        if (pe_stored_little(row + 10, 2) != DEFLATED)
            continue;
        if (bytes / DEFLATE_MOST > packed) /* it cannot: no room is made for a lie */
            return broken("what is compressed in it does not unpack:", name, why);
        sum += bytes;
    }
    if (sum > most)
        return pe_fail(why, PE_TOO_MANY_ELEMENTS, "",
                       "the .npz file has %zu bytes once it is unpacked, more than the %zu of as "
                       "many elements as are read",
                       sum, most);
    return sum == 0 || pe_buffer_reserve(unpacked, sum) != NULL ? PE_OK : pe_fail_memory(why);
}

static pe_status read_row(pe_slice file, pe_slice *rows, size_t max_elements, pe_buffer *unpacked,
                          pe_stored *out, pe_problem *why)
{
    const char *row;
    pe_slice name, data;
    PE_TRY(next_row(rows, &row, &name, why));
    PE_TRY(find_data(file, row, name, unpacked, &data, why));
    /* "cos.npy" is the tensor cos. */
    static const char ends[] = ".npy";
    const size_t end = strlen(ends);
    if (name.bytes < end || memcmp(name.text + name.bytes - end, ends, end) != 0)
        return broken("a file in it does not end in .npy:", name, why);
    if (name.bytes - end >= sizeof out->name)
        return broken("a name is too long:", name, why);
    const pe_status status = pe_npy_file_read(data, max_elements, out, why);
    if (status == PE_OK)
        pe_stored_set_name(out, name.text, name.bytes - end);
    return status;
}

pe_status pe_npz_file_read(pe_slice file, size_t max_elements, pe_buffer *unpacked,
                           pe_stored_list *out, pe_problem *why)
{
    const char *end = NULL;
    const pe_slice none = {"", 0};
    size_t sum = 0;
    out->n = 0;
    /* A comment may follow the end. */
    for (size_t back = END; end == NULL && back <= file.bytes && back <= END + COMMENT_MAX; back++)
        if (memcmp(file.text + file.bytes - back, "PK\x05\x06", 4) == 0)
            end = file.text + file.bytes - back;
    if (end == NULL)
        return broken("it ends without a directory", none, why);
    const size_t n = pe_stored_little(end + 10, 2);
    if (n == 0 || n > out->room)
        return broken(n == 0 ? "it holds no tensor" : "it holds too many tensors", none, why);
    pe_slice rows = from(file, pe_stored_little(end + 16, 4));
    if (unpacked != NULL)
        PE_TRY(make_room(rows, n, max_elements, unpacked, why));
    for (; out->n < n; out->n++) {
        pe_stored *tensor = &out->tensor[out->n];
        PE_TRY(read_row(file, &rows, max_elements, unpacked, tensor, why));
        sum += tensor->bytes;
        if (sum > file.bytes + (unpacked != NULL ? unpacked->bytes : 0))
            return broken("its files overlap", none, why);
    }
    return PE_OK;
}
