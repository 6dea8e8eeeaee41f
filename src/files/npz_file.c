/* SPDX-License-Identifier: MIT */
/* npz_file.c - files of NumPy in one zip file. */
#include <stdio.h>
#include <string.h>

#include "files/stored.h"

/*
 * Source  PKWARE APPNOTE.TXT 6.3, sections 4.3.7 (an entry), 4.3.12 (its row in the directory) and
 *         4.3.16 (the end, which says where the directory is). Numbers are little-endian.
 */
enum { ENTRY = 30, ROW = 46, END = 22, COMMENT_MAX = 65535 };

static pe_status broken(const char *what, pe_slice name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "not an .npz file: %s%s%.*s", what,
                   name.bytes > 0 ? " " : "", (int)(name.bytes < 60 ? name.bytes : 60), name.text);
}

static size_t number_at(const char *at, size_t bytes)
{
    size_t number = 0;
    for (size_t b = bytes; b-- > 0;)
        number = number << 8 | (unsigned char)at[b];
    return number;
}

bool pe_npz_file_is(pe_slice file)
{
    return file.bytes >= 4 && memcmp(file.text, "PK\x03\x04", 4) == 0;
}

/* A comment may follow the end. NULL: there is none. */
static const char *find_end(pe_slice file)
{
    for (size_t back = END; back <= file.bytes && back <= END + COMMENT_MAX; back++)
        if (memcmp(file.text + file.bytes - back, "PK\x05\x06", 4) == 0)
            return file.text + file.bytes - back;
    return NULL;
}

/* What is left of the file from an offset on; empty: nothing. */
static pe_slice from(pe_slice file, size_t offset)
{
    const size_t at = offset < file.bytes ? offset : file.bytes;
    return (pe_slice){file.text + at, file.bytes - at};
}

/* The bytes of an entry that is stored as it is. */
static pe_status find_data(pe_slice file, const char *row, pe_slice name, pe_slice *out,
                           pe_problem *why)
{
    const size_t bytes = number_at(row + 20, 4), offset = number_at(row + 42, 4);
    const pe_slice entry = from(file, offset);
    if (number_at(row + 10, 2) != 0 || (number_at(row + 8, 2) & 1) != 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "%.*s is compressed in the .npz file; numpy.savez writes files that are not",
                       (int)(name.bytes < 60 ? name.bytes : 60), name.text);
    if (!pe_npz_file_is(entry) || entry.bytes < ENTRY)
        return broken("nothing is where the directory says, of", name, why);
    *out = from(entry, ENTRY + number_at(entry.text + 26, 2) + number_at(entry.text + 28, 2));
    if (bytes > out->bytes)
        return broken("it ends inside", name, why);
    out->bytes = bytes;
    return PE_OK;
}

/* "cos.npy" is the tensor cos. */
static pe_status read_tensor(pe_slice data, pe_slice name, size_t max_elements, pe_stored *out,
                             pe_problem *why)
{
    static const char ends[] = ".npy";
    const size_t end = strlen(ends);
    if (name.bytes < end || memcmp(name.text + name.bytes - end, ends, end) != 0)
        return broken("a file in it does not end in .npy:", name, why);
    if (name.bytes - end >= sizeof out->name)
        return broken("a name is too long:", name, why);
    const pe_status status = pe_npy_file_read(data, max_elements, out, why);
    if (status == PE_OK)
        snprintf(out->name, sizeof out->name, "%.*s", (int)(name.bytes - end), name.text);
    return status;
}

/* The next row of the directory. */
static pe_status read_row(pe_slice file, pe_slice *rows, size_t max_elements, pe_stored *out,
                          pe_problem *why)
{
    pe_slice data;
    if (rows->bytes < ROW || memcmp(rows->text, "PK\x01\x02", 4) != 0)
        return broken("its directory is broken", (pe_slice){"", 0}, why);
    const char *row = rows->text;
    pe_slice name = from(*rows, ROW);
    if (number_at(row + 28, 2) > name.bytes)
        return broken("its directory is broken", (pe_slice){"", 0}, why);
    name.bytes = number_at(row + 28, 2);
    *rows = from(*rows, ROW + name.bytes + number_at(row + 30, 2) + number_at(row + 32, 2));
    const pe_status status = find_data(file, row, name, &data, why);
    return status == PE_OK ? read_tensor(data, name, max_elements, out, why) : status;
}

pe_status pe_npz_file_read(pe_slice file, size_t max_elements, pe_stored_list *out, pe_problem *why)
{
    const char *end = find_end(file);
    const pe_slice none = {"", 0};
    size_t sum = 0;
    out->n = 0;
    if (end == NULL)
        return broken("it ends without a directory", none, why);
    const size_t n = number_at(end + 10, 2);
    if (n == 0 || n > out->room)
        return broken(n == 0 ? "it holds no tensor" : "it holds too many tensors", none, why);
    pe_slice rows = from(file, number_at(end + 16, 4));
    for (; out->n < n; out->n++) {
        pe_stored *tensor = &out->tensor[out->n];
        const pe_status status = read_row(file, &rows, max_elements, tensor, why);
        if (status != PE_OK)
            return status;
        sum += tensor->bytes;
        if (sum > file.bytes)
            return broken("its files overlap", none, why);
    }
    return PE_OK;
}
