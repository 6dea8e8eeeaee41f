/* SPDX-License-Identifier: MIT */
/* learned_tables.h - tables that training has made, read from a folder when the program starts. */
#ifndef PE_TABLES_LEARNED_TABLES_H
#define PE_TABLES_LEARNED_TABLES_H

#include <stddef.h>

#include "base/array.h"

/** 16 bytes in hexadecimal digits, NUL. */
#define PE_LEARNED_DIGEST_BYTES 33

/** Longest name; with it a path still fits. */
#define PE_LEARNED_NAME_MAX 128

/** Widest row. */
#define PE_LEARNED_WIDTH_MAX 65536

typedef struct pe_learned_table {
    char *name;                           /* letters, digits, '.', '_' and '-'; owned */
    char *file;                           /* that it comes from; owned */
    pe_array rows;                        /* [rows, width]: float32, float64, float16 or bfloat16 */
    double largest;                       /* magnitude of all numbers, which are finite */
    char digest[PE_LEARNED_DIGEST_BYTES]; /* of type, shape and numbers: SHA-256, its first half */
} pe_learned_table;

/** Immutable once loaded, and shared by reference.   Threads  any. */
typedef struct pe_learned_tables pe_learned_tables;

typedef struct pe_learned_limits {
    size_t bytes;  /* of all tables, and of any one file */
    size_t tables; /* how many */
} pe_learned_limits;

/**
 * Read the .npy and .safetensors files of a folder, in order of name. A NumPy file becomes the
 * table of its name without extension; a tensor of a safetensors file FILE.TENSOR. Tables have two
 * axes; axes of 1 before those are dropped, as in [1, 197, 768].
 *
 * What is no such table is skipped with a line in the log that says why: files that are broken,
 * larger than the limits or not in the folder (links that lead out of it), names of other letters,
 * a name that is taken, numbers that are not finite.
 *
 * Errors  INVALID_PARAMETER (the folder cannot be read), OVERLOADED (memory).
 */
pe_status pe_learned_tables_load(const char *folder, const pe_learned_limits *limits,
                                 pe_learned_tables **out, pe_problem *why) PE_MUST_CHECK;
/** Both accept NULL; the last reference frees. */
pe_learned_tables *pe_learned_tables_ref(pe_learned_tables *learned);
void pe_learned_tables_free(pe_learned_tables *learned);

/** How two loads differ. */
typedef struct pe_learned_changes {
    size_t added, changed, removed; /* tables */
    const char *broken; /* a file that gave tables before and could not be read after; or NULL */
} pe_learned_changes;

/** Either may be NULL: no tables. `broken` is of `after`. */
pe_learned_changes pe_learned_tables_compare(const pe_learned_tables *before,
                                             const pe_learned_tables *after);

/** All tables, in order of name; learned may be NULL. */
const pe_learned_table *pe_learned_tables_all(const pe_learned_tables *learned, size_t *n);
/** What their numbers take; learned may be NULL. */
size_t pe_learned_tables_bytes(const pe_learned_tables *learned);
/** NULL when there is none of that name; learned may be NULL. */
const pe_learned_table *pe_learned_tables_find(const pe_learned_tables *learned, const char *name);

#endif
