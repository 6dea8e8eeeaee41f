/* SPDX-License-Identifier: MIT */
/* folder.c - a folder of its own for a test, and tables in it. */
#include "support/check.h"
#include "support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

test_folder folder_make(void)
{
    test_folder folder = {"/tmp/posenc-folder-XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    assert_int_equal(chmod(folder.path, 0755), 0); /* for the user that a server of root becomes */
    return folder;
}

void folder_remove(const test_folder *folder)
{
    DIR *all = opendir(folder->path);
    assert_non_null(all);
    for (const struct dirent *entry; (entry = readdir(all)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
        assert_int_equal(remove(path), 0);
    }
    closedir(all);
    assert_int_equal(rmdir(folder->path), 0);
}

void folder_put(const test_folder *folder, const char *name, const void *data, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

pe_buffer npy_of(pe_dtype dtype, const pe_shape *shape, const double *data)
{
    static const char *const descr[] = {
        [PE_FLOAT32] = "<f4", [PE_FLOAT64] = "<f8", [PE_FLOAT16] = "<f2", [PE_INT32] = "<i4"};
    pe_buffer out = {0}, header = {0};
    size_t elements;
    assert_true(pe_array_elements(shape, &elements));
    pe_buffer_format(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr[dtype]);
    for (size_t a = 0; a < shape->ndim; a++)
        pe_buffer_format(&header, "%zu,", shape->dim[a]);
    pe_buffer_str(&header, "), }");
    while ((10 + header.bytes + 1) % 64 != 0)
        pe_buffer_str(&header, " ");
    pe_buffer_str(&header, "\n");
    const unsigned char head[] = {0x93,
                                  'N',
                                  'U',
                                  'M',
                                  'P',
                                  'Y',
                                  1,
                                  0,
                                  (unsigned char)(header.bytes & 0xff),
                                  (unsigned char)(header.bytes >> 8)};
    pe_buffer_add(&out, head, sizeof head);
    pe_buffer_add(&out, header.data, header.bytes);
    for (size_t e = 0; e < elements; e++) {
        unsigned char number[8];
        pe_dtype_store(dtype, data[e], number);
        pe_buffer_add(&out, number, pe_dtype_bytes(dtype));
    }
    pe_buffer_free(&header);
    assert_false(out.failed);
    return out;
}

void folder_put_npy(const test_folder *folder, const char *name, pe_dtype dtype, size_t rows,
                    size_t width, const double *data)
{
    const pe_shape shape = {2, {rows, width}};
    pe_buffer bytes = npy_of(dtype, &shape, data);
    folder_put(folder, name, bytes.data, bytes.bytes);
    pe_buffer_free(&bytes);
}

pe_buffer safetensors_of(const char *header, const void *data, size_t bytes)
{
    pe_buffer out = {0};
    const uint64_t length = strlen(header);
    pe_buffer_add(&out, &length, sizeof length);
    pe_buffer_add(&out, header, (size_t)length);
    pe_buffer_add(&out, data, bytes);
    assert_false(out.failed);
    return out;
}
