/* SPDX-License-Identifier: MIT */
/* folder.h - a folder of its own for a test, and tables in it. */
#ifndef PE_TESTS_SUPPORT_FOLDER_H
#define PE_TESTS_SUPPORT_FOLDER_H

#include <stddef.h>

#include "base/array.h"
#include "base/buffer.h"

typedef struct test_folder {
    char path[64];
} test_folder;

test_folder folder_make(void);
/** With all files in it, and empty folders. */
void folder_remove(const test_folder *folder);

/** A file of these bytes, over any of that name. */
void folder_put(const test_folder *folder, const char *name, const void *data, size_t bytes);

/** NumPy's bytes of data [shape], rounded to dtype; free the buffer. */
pe_buffer npy_of(pe_dtype dtype, const pe_shape *shape, const double *data);
/** The same as a file: a table [rows, width]. */
void folder_put_npy(const test_folder *folder, const char *name, pe_dtype dtype, size_t rows,
                    size_t width, const double *data);

/** A safetensors file of this header, JSON, and these bytes. */
pe_buffer safetensors_of(const char *header, const void *data, size_t bytes);

#endif
