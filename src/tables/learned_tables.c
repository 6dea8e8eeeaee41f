/* SPDX-License-Identifier: MIT */
/* learned_tables.c - tables that training has made, read from a folder when the program starts. */
#include "tables/learned_tables.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <nettle/sha2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "files/stored.h"

/* Tensors that a safetensors file may hold; a whole model has some hundreds. */
#define TENSORS_MAX 4096

/* Paths that stand for something else beside tables. */
static const char *const reserved[] = {"interpolate"};

struct pe_learned_tables {
    pe_learned_table *table; /* n of them, owned */
    size_t n, bytes;
    pe_learned_limits limits;
    char *folder;   /* its real path */
    char **skipped; /* files that gave nothing: n_skipped of them, owned */
    size_t n_skipped;
    atomic_size_t references;
};

/* One file. */
typedef struct content {
    const char *file;        /* its name */
    char stem[NAME_MAX + 1]; /* the name without extension */
    unsigned char *data;     /* owned */
    size_t bytes;
} content;

/* tensor: NULL for all of the file. */
static void log_skipped(const char *file, const char *tensor, const char *detail)
{
    PE_LOG(PE_LOG_WARN, "learned_skipped", PE_TEXT("file", file), PE_TEXT("detail", detail),
           {tensor != NULL ? PE_LOG_TEXT : PE_LOG_END, "tensor", .text = tensor});
}

/* ---- one file ---- */

/* The file's real path; a link may lead to another place of the folder, but not out of it. */
static pe_status find_file(const pe_learned_tables *learned, const char *file, char **out,
                           pe_problem *why)
{
    char path[PATH_MAX];
    const size_t folder = strlen(learned->folder);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", learned->folder, file) >= sizeof path)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "its path is too long");
    char *real = realpath(path, NULL);
    if (real == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "%s", strerror(errno));
    if (strncmp(real, learned->folder, folder) == 0 && real[folder] == '/') {
        *out = real;
        return PE_OK;
    }
    free(real);
    return pe_fail(why, PE_INVALID_PARAMETER, "", "a link that leads out of the folder");
}

static pe_status read_open(const pe_learned_tables *learned, int fd, content *out, pe_problem *why)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return pe_fail(why, PE_INVALID_PARAMETER, "", "not a regular file");
    if ((uintmax_t)facts.st_size > learned->limits.bytes)
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "%lld bytes, more than learned_bytes, which is %zu",
                       (long long)facts.st_size, learned->limits.bytes);
    out->bytes = (size_t)facts.st_size;
    out->data = malloc(out->bytes + 1);
    if (out->data == NULL)
        return pe_fail_memory(why);
    for (size_t have = 0; have < out->bytes;) {
        const ssize_t got = read(fd, out->data + have, out->bytes - have);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return pe_fail(why, PE_INVALID_PARAMETER, "", "it ends while it is read: %s",
                           got < 0 ? strerror(errno) : "someone has made it shorter");
        have += got > 0 ? (size_t)got : 0;
    }
    return PE_OK;
}

/* O_NONBLOCK: a pipe without a writer is no reason to wait. */
static pe_status read_file(const pe_learned_tables *learned, content *out, pe_problem *why)
{
    char *path;
    PE_TRY(find_file(learned, out->file, &path, why));
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "cannot be opened: %s", strerror(errno));
    pe_status status = read_open(learned, fd, out, why);
    close(fd);
    return status;
}

/* ---- one table ---- */

/* Two axes, after those of 1 in front have gone. */
static pe_status check_shape(pe_stored *stored, pe_problem *why)
{
    pe_shape *shape = &stored->shape;
    while (shape->ndim > 2 && shape->dim[0] == 1) {
        shape->ndim--;
        memmove(shape->dim, shape->dim + 1, shape->ndim * sizeof shape->dim[0]);
    }
    if (shape->ndim != 2)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "a table has two axes, not %zu", shape->ndim);
    if (shape->dim[0] < 1 || shape->dim[1] < 1 || shape->dim[1] > PE_LEARNED_WIDTH_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "a table has at least one row, of 1 to %d channels; this has %zu of %zu",
                       PE_LEARNED_WIDTH_MAX, shape->dim[0], shape->dim[1]);
    if (stored->dtype == PE_INT32 || stored->dtype == PE_DTYPES)
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "a table is of float32, float64, float16 or bfloat16");
    return PE_OK;
}

static pe_status check(const pe_learned_tables *learned, const char *name, pe_stored *stored,
                       pe_problem *why)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (name[0] == '.' || name[strspn(name, letters)] != '\0')
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "a name must be of letters, digits, '.', '_' and '-', with no '.' in "
                       "front");
    if (strlen(name) > PE_LEARNED_NAME_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "a name has at most %d letters",
                       PE_LEARNED_NAME_MAX);
    for (size_t i = 0; i < PE_LEN(reserved); i++)
        if (strcmp(reserved[i], name) == 0)
            return pe_fail(why, PE_INVALID_PARAMETER, "", "%s is no name for a table here", name);
    if (pe_learned_tables_find(learned, name) != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "there is a table %s already", name);
    PE_TRY(check_shape(stored, why));
    assert(learned != NULL);
    const size_t bytes = stored->elements * pe_dtype_bytes(stored->dtype);
    if (learned->n == learned->limits.tables)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "more than learned_tables, which is %zu",
                       learned->limits.tables);
    if (bytes > learned->limits.bytes - learned->bytes)
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "%zu bytes do not fit beside the tables before; learned_bytes is %zu", bytes,
                       learned->limits.bytes);
    return PE_OK;
}

/* The numbers in memory of their own, since the file's is soon gone. */
static pe_status copy_rows(const pe_stored *stored, pe_array *out, pe_problem *why)
{
    pe_array rows = {0};
    PE_TRY(pe_stored_array(stored, stored->dtype, &rows, why));
    pe_status status = pe_stored_check_finite(&rows, stored, "the table", why);
    if (status != PE_OK) {
        pe_array_free(&rows);
        return status;
    }
    if (!rows.borrowed) {
        *out = rows;
        return PE_OK;
    }
    status = pe_array_make(rows.dtype, &rows.shape, out, why);
    if (status == PE_OK)
        memcpy(out->data, rows.data, rows.elements * pe_dtype_bytes(rows.dtype));
    return status;
}

static void digest_of(const pe_array *rows, char out[PE_LEARNED_DIGEST_BYTES])
{
    const uint64_t head[] = {rows->dtype, rows->shape.dim[0], rows->shape.dim[1]};
    uint8_t digest[(PE_LEARNED_DIGEST_BYTES - 1) / 2];
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, sizeof head, (const uint8_t *)head);
    sha256_update(&sha, rows->elements * pe_dtype_bytes(rows->dtype), rows->data);
    sha256_digest(&sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", (unsigned)digest[i]);
}

static pe_status add_table(pe_learned_tables *learned, const char *file, const char *name,
                           pe_stored *stored, pe_problem *why)
{
    pe_learned_table table = {0};
    PE_TRY(pe_stored_check_real(stored, why));
    PE_TRY(check(learned, name, stored, why));
    PE_TRY(copy_rows(stored, &table.rows, why));
    pe_learned_table *all = realloc(learned->table, (learned->n + 1) * sizeof *all);
    if (all != NULL)
        learned->table = all;
    table.name = strdup(name);
    table.file = strdup(file);
    if (all == NULL || table.name == NULL || table.file == NULL) {
        free(table.name);
        free(table.file);
        pe_array_free(&table.rows);
        return pe_fail_memory(why);
    }
    const size_t bytes = pe_dtype_bytes(table.rows.dtype);
    for (size_t e = 0; e < table.rows.elements; e++)
        table.largest =
            fmax(table.largest,
                 fabs(pe_dtype_load(table.rows.dtype, (const char *)table.rows.data + e * bytes)));
    digest_of(&table.rows, table.digest);
    all[learned->n++] = table;
    learned->bytes += stored->elements * pe_dtype_bytes(stored->dtype);
    return PE_OK;
}

/* ---- one file's tables ---- */

static pe_status add_npy(pe_learned_tables *learned, const content *from, pe_problem *why)
{
    pe_stored stored;
    const pe_slice text = {(const char *)from->data, from->bytes};
    PE_TRY(pe_npy_file_read(text, SIZE_MAX, &stored, why));
    return add_table(learned, from->file, from->stem, &stored, why);
}

/* A tensor that is no table leaves the others alone. */
static pe_status add_tensors(pe_learned_tables *learned, const content *from,
                             const pe_stored_list *list, pe_problem *why)
{
    for (size_t t = 0; t < list->n; t++) {
        pe_stored *stored = &list->tensor[t];
        char name[NAME_MAX + 1 + PE_STORED_NAME_BYTES];
        snprintf(name, sizeof name, "%s.%s", from->stem, stored->name);
        const pe_status status = add_table(learned, from->file, name, stored, why);
        if (pe_status_is_ours(status))
            return status;
        if (status != PE_OK)
            log_skipped(from->file, stored->name, why->detail);
    }
    return PE_OK;
}

static pe_status add_safetensors(pe_learned_tables *learned, const content *from, pe_problem *why)
{
    const pe_slice text = {(const char *)from->data, from->bytes};
    pe_stored_list list = {.tensor = calloc(TENSORS_MAX, sizeof(pe_stored)), .room = TENSORS_MAX};
    if (list.tensor == NULL)
        return pe_fail_memory(why);
    pe_status status = pe_safetensors_file_read(text, SIZE_MAX, &list, why);
    if (status == PE_OK)
        status = add_tensors(learned, from, &list, why);
    free(list.tensor);
    return status;
}

static const struct {
    const char *extension;
    pe_status (*add)(pe_learned_tables *learned, const content *from, pe_problem *why);
} kinds[] = {{".npy", add_npy}, {".safetensors", add_safetensors}};

static pe_status add_file(pe_learned_tables *learned, const char *file, size_t kind,
                          pe_problem *why)
{
    content from = {.file = file};
    const size_t stem = strlen(file) - strlen(kinds[kind].extension);
    snprintf(from.stem, sizeof from.stem, "%.*s", (int)stem, file);
    pe_status status = read_file(learned, &from, why);
    if (status == PE_OK)
        status = kinds[kind].add(learned, &from, why);
    free(from.data);
    return status;
}

/* ---- the folder ---- */

/* Which kind of file it is by its name; PE_LEN(kinds) for none. */
static size_t kind_of(const char *file)
{
    const size_t bytes = strlen(file);
    for (size_t k = 0; k < PE_LEN(kinds); k++) {
        const size_t tail = strlen(kinds[k].extension);
        if (bytes > tail && strcmp(file + bytes - tail, kinds[k].extension) == 0)
            return k;
    }
    return PE_LEN(kinds);
}

static int is_wanted(const struct dirent *entry)
{
    return kind_of(entry->d_name) < PE_LEN(kinds);
}

/* Not by the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int by_table_name(const void *a, const void *b)
{
    return strcmp(((const pe_learned_table *)a)->name, ((const pe_learned_table *)b)->name);
}

static pe_status note_skipped(pe_learned_tables *learned, const char *file, pe_problem *why)
{
    log_skipped(file, NULL, why->detail);
    char **all = realloc(learned->skipped, (learned->n_skipped + 1) * sizeof *all);
    char *copy = strdup(file);
    if (all != NULL)
        learned->skipped = all;
    if (all == NULL || copy == NULL) {
        free(copy);
        return pe_fail_memory(why);
    }
    all[learned->n_skipped++] = copy;
    return PE_OK;
}

static pe_status read_folder(pe_learned_tables *learned, pe_problem *why)
{
    struct dirent **entry;
    const int n = scandir(learned->folder, &entry, is_wanted, by_name);
    if (n < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "learned_dir",
                       "learned_dir: %.200s cannot be read: %s", learned->folder, strerror(errno));
    pe_status status = PE_OK;
    for (int i = 0; i < n; i++) {
        const char *file = entry[i]->d_name;
        const pe_status added =
            status == PE_OK ? add_file(learned, file, kind_of(file), why) : PE_OK;
        if (pe_status_is_ours(added))
            status = added;
        else if (added != PE_OK)
            status = note_skipped(learned, file, why);
        free(entry[i]);
    }
    free(entry);
    return status;
}

pe_status pe_learned_tables_load(const char *folder, const pe_learned_limits *limits,
                                 pe_learned_tables **out, pe_problem *why)
{
    pe_learned_tables *learned = calloc(1, sizeof *learned);
    if (learned == NULL)
        return pe_fail_memory(why);
    atomic_init(&learned->references, 1);
    learned->limits = *limits;
    learned->folder = realpath(folder, NULL);
    pe_status status = learned->folder == NULL ? pe_fail(why, PE_INVALID_PARAMETER, "learned_dir",
                                                         "learned_dir: %.200s cannot be read: %s",
                                                         folder, strerror(errno))
                                               : read_folder(learned, why);
    if (status != PE_OK) {
        pe_learned_tables_free(learned);
        return status;
    }
    if (learned->n > 0)
        qsort(learned->table, learned->n, sizeof *learned->table, by_table_name);
    PE_LOG(PE_LOG_INFO, "learned", PE_TEXT("folder", learned->folder),
           PE_NUMBER("tables", learned->n), PE_NUMBER("bytes", learned->bytes));
    *out = learned;
    return PE_OK;
}

pe_learned_tables *pe_learned_tables_ref(pe_learned_tables *learned)
{
    if (learned != NULL)
        atomic_fetch_add(&learned->references, 1);
    return learned;
}

void pe_learned_tables_free(pe_learned_tables *learned)
{
    if (learned == NULL || atomic_fetch_sub(&learned->references, 1) > 1)
        return;
    for (size_t i = 0; i < learned->n; i++) {
        free(learned->table[i].name);
        free(learned->table[i].file);
        pe_array_free(&learned->table[i].rows);
    }
    for (size_t i = 0; i < learned->n_skipped; i++)
        free(learned->skipped[i]);
    free(learned->skipped);
    free(learned->table);
    free(learned->folder);
    free(learned);
}

size_t pe_learned_tables_bytes(const pe_learned_tables *learned)
{
    return learned != NULL ? learned->bytes : 0;
}

const pe_learned_table *pe_learned_tables_all(const pe_learned_tables *learned, size_t *n)
{
    *n = learned != NULL ? learned->n : 0;
    return learned != NULL ? learned->table : NULL;
}

const pe_learned_table *pe_learned_tables_find(const pe_learned_tables *learned, const char *name)
{
    for (size_t i = 0; learned != NULL && i < learned->n; i++)
        if (strcmp(learned->table[i].name, name) == 0)
            return &learned->table[i];
    return NULL;
}

/* ---- changes ---- */

pe_learned_changes pe_learned_tables_compare(const pe_learned_tables *before,
                                             const pe_learned_tables *after)
{
    pe_learned_changes changes = {0};
    size_t n_before, n_after;
    const pe_learned_table *old = pe_learned_tables_all(before, &n_before);
    const pe_learned_table *fresh = pe_learned_tables_all(after, &n_after);
    for (size_t i = 0; i < n_before; i++) {
        const pe_learned_table *now = pe_learned_tables_find(after, old[i].name);
        changes.removed += now == NULL;
        changes.changed += now != NULL && strcmp(now->digest, old[i].digest) != 0;
        for (size_t k = 0; after != NULL && changes.broken == NULL && k < after->n_skipped; k++)
            if (strcmp(after->skipped[k], old[i].file) == 0)
                changes.broken = after->skipped[k];
    }
    for (size_t i = 0; i < n_after; i++)
        changes.added += pe_learned_tables_find(before, fresh[i].name) == NULL;
    return changes;
}
