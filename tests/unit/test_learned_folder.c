/* SPDX-License-Identifier: MIT */
/* test_learned_folder.c - learned tables from a folder: what is taken, what is skipped and why. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/capture.h"
#include "support/folder.h"
#include "support/random.h"
#include "tables/learned_tables.h"

static const pe_learned_limits roomy = {.bytes = 1 << 20, .tables = 64};

/* Load the folder; *log gets what was logged. */
static pe_learned_tables *load(const test_folder *folder, const pe_learned_limits *limits,
                               char **log)
{
    pe_problem why;
    pe_learned_tables *learned = NULL;
    struct capture capture = capture_start(2);
    const pe_status status = pe_learned_tables_load(folder->path, limits, &learned, &why);
    *log = capture_stop(&capture);
    if (status != PE_OK)
        fail_msg("not loaded: %s", why.detail);
    return learned;
}

/* Is there a line that skips the file and says so? */
static bool skipped(const char *log, const char *file, const char *says)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\"event\":\"learned_skipped\",\"file\":\"%s\"", file);
    for (const char *line = log; (line = strstr(line, wanted)) != NULL; line++) {
        const char *end = strchr(line, '\n'), *found = strstr(line, says);
        if (found != NULL && end != NULL && found < end)
            return true;
    }
    return false;
}

static const double counting[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void tables_keep_type_shape_and_numbers(void **state)
{
    static const struct {
        const char *file, *name;
        pe_dtype dtype;
    } cases[] = {{"a.npy", "a", PE_FLOAT32},
                 {"B-2_c.npy", "B-2_c", PE_FLOAT64},
                 {"b.weight.npy", "b.weight", PE_FLOAT16}};
    const test_folder folder = folder_make();
    for (size_t i = 0; i < PE_LEN(cases); i++)
        folder_put_npy(&folder, cases[i].file, cases[i].dtype, 3, 4, counting);
    folder_put(&folder, "readme.txt", "no table", 8);
    char *log;
    pe_learned_tables *learned = load(&folder, &roomy, &log);
    size_t n;
    const pe_learned_table *all = pe_learned_tables_all(learned, &n);
    assert_int_equal(n, PE_LEN(cases));
    assert_string_equal(all[0].name, "B-2_c"); /* in order of name */
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        const pe_learned_table *table = pe_learned_tables_find(learned, cases[i].name);
        assert_non_null(table);
        assert_int_equal(table->rows.dtype, cases[i].dtype);
        assert_int_equal(table->rows.shape.dim[0], 3);
        assert_int_equal(table->rows.shape.dim[1], 4);
        assert_true(table->largest == 11);
        for (size_t e = 0; e < 12; e++)
            assert_true(pe_dtype_load(cases[i].dtype, (const char *)table->rows.data +
                                                          e * pe_dtype_bytes(cases[i].dtype)) ==
                        counting[e]);
    }
    assert_null(strstr(log, "learned_skipped")); /* other files are nobody's business */
    assert_null(pe_learned_tables_find(learned, "readme"));
    free(log);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

/* NumPy's order of a transposed array. */
static void columns_first_become_rows_first(void **state)
{
    const test_folder folder = folder_make();
    const pe_shape shape = {2, {3, 4}};
    pe_buffer bytes = npy_of(PE_FLOAT32, &shape, counting);
    char *order = memmem(bytes.data, bytes.bytes, "False", 5);
    memcpy(order, "True ", 5);
    folder_put(&folder, "t.npy", bytes.data, bytes.bytes);
    char *log;
    pe_learned_tables *learned = load(&folder, &roomy, &log);
    const pe_learned_table *table = pe_learned_tables_find(learned, "t");
    assert_non_null(table);
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 4; c++)
            assert_true(((const float *)table->rows.data)[r * 4 + c] == (float)(c * 3 + r));
    free(log);
    pe_buffer_free(&bytes);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

static void a_safetensors_file_gives_a_table_for_each_tensor_that_is_one(void **state)
{
    const char *header =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"wpe\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
        "\"vit.pos\":{\"dtype\":\"BF16\",\"shape\":[1,2,2],\"data_offsets\":[16,24]},"
        "\"ids\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[24,40]},"
        "\"bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[40,48]},"
        "\"a/b\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[48,52]}}";
    unsigned char data[52] = {0};
    const float numbers[] = {1, 2, 3, 4};
    const uint16_t halves[] = {0x3f80, 0x4000, 0x4040, 0x4080};
    memcpy(data, numbers, sizeof numbers);
    memcpy(data + 16, halves, sizeof halves);
    pe_buffer bytes = safetensors_of(header, data, sizeof data);
    const test_folder folder = folder_make();
    folder_put(&folder, "gpt2.safetensors", bytes.data, bytes.bytes);
    char *log;
    pe_learned_tables *learned = load(&folder, &roomy, &log);
    size_t n;
    pe_learned_tables_all(learned, &n);
    assert_int_equal(n, 2);
    const pe_learned_table *wpe = pe_learned_tables_find(learned, "gpt2.wpe");
    const pe_learned_table *vit = pe_learned_tables_find(learned, "gpt2.vit.pos");
    assert_non_null(wpe);
    assert_non_null(vit);
    assert_memory_equal(wpe->rows.data, numbers, sizeof numbers);
    assert_memory_equal(vit->rows.data, halves, sizeof halves);
    assert_int_equal(vit->rows.dtype, PE_BFLOAT16);
    assert_int_equal(vit->rows.shape.ndim, 2); /* the axis of 1 in front has gone */
    assert_true(skipped(log, "gpt2.safetensors", "\"tensor\":\"ids\""));
    assert_true(skipped(log, "gpt2.safetensors", "\"tensor\":\"bias\""));
    assert_true(skipped(log, "gpt2.safetensors", "\"tensor\":\"a/b\""));
    free(log);
    pe_buffer_free(&bytes);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

static void digests_tell_tables_apart(void **state)
{
    static const double other[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5};
    const test_folder folder = folder_make();
    folder_put_npy(&folder, "a.npy", PE_FLOAT32, 3, 4, counting);
    folder_put_npy(&folder, "same.npy", PE_FLOAT32, 3, 4, counting);
    folder_put_npy(&folder, "shape.npy", PE_FLOAT32, 4, 3, counting);
    folder_put_npy(&folder, "type.npy", PE_FLOAT64, 3, 4, counting);
    folder_put_npy(&folder, "numbers.npy", PE_FLOAT32, 3, 4, other);
    char *log;
    pe_learned_tables *learned = load(&folder, &roomy, &log);
    const char *digest = pe_learned_tables_find(learned, "a")->digest;
    assert_int_equal(strlen(digest), 32);
    assert_string_equal(digest, pe_learned_tables_find(learned, "same")->digest);
    assert_string_not_equal(digest, pe_learned_tables_find(learned, "shape")->digest);
    assert_string_not_equal(digest, pe_learned_tables_find(learned, "type")->digest);
    assert_string_not_equal(digest, pe_learned_tables_find(learned, "numbers")->digest);
    free(log);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

static void what_is_no_table_is_skipped_with_its_reason(void **state)
{
    static const double nan_table[] = {0, (double)NAN}, infinite[] = {(double)INFINITY, 0};
    const test_folder folder = folder_make();
    char path[128];
    folder_put_npy(&folder, "good.npy", PE_FLOAT32, 3, 4, counting);
    folder_put_npy(&folder, "int.npy", PE_INT32, 3, 4, counting);
    folder_put_npy(&folder, "nan.npy", PE_FLOAT32, 1, 2, nan_table);
    folder_put_npy(&folder, "infinite.npy", PE_FLOAT16, 1, 2, infinite);
    folder_put_npy(&folder, "empty.npy", PE_FLOAT32, 0, 4, counting);
    folder_put_npy(&folder, "bad name.npy", PE_FLOAT32, 3, 4, counting);
    folder_put_npy(&folder, ".hidden.npy", PE_FLOAT32, 3, 4, counting);
    folder_put_npy(&folder, "interpolate.npy", PE_FLOAT32, 3, 4, counting);
    const pe_shape line = {1, {12}}, cube = {3, {2, 2, 3}};
    pe_buffer bytes = npy_of(PE_FLOAT32, &line, counting);
    folder_put(&folder, "line.npy", bytes.data, bytes.bytes);
    pe_buffer_free(&bytes);
    bytes = npy_of(PE_FLOAT32, &cube, counting);
    folder_put(&folder, "cube.npy", bytes.data, bytes.bytes);
    pe_buffer_free(&bytes);
    snprintf(path, sizeof path, "%s/folder.npy", folder.path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/pipe.npy", folder.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/out.npy", folder.path);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    snprintf(path, sizeof path, "%s/up.npy", folder.path);
    assert_int_equal(symlink("../../etc/hostname", path), 0);
    snprintf(path, sizeof path, "%s/nowhere.npy", folder.path);
    assert_int_equal(symlink("missing", path), 0);
    snprintf(path, sizeof path, "%s/inside.npy", folder.path);
    assert_int_equal(symlink("good.npy", path), 0);
    char *log;
    pe_learned_tables *learned = load(&folder, &roomy, &log);
    static const struct {
        const char *file, *says;
    } reasons[] = {
        {"int.npy", "float32, float64"},
        {"nan.npy", "not a finite number"},
        {"infinite.npy", "not a finite"},
        {"empty.npy", "at least one row"},
        {"bad name.npy", "letters, digits"},
        {".hidden.npy", "letters, digits"},
        {"interpolate.npy", "no name"},
        {"line.npy", "two axes"},
        {"cube.npy", "two axes"},
        {"folder.npy", "not a regular file"},
        {"pipe.npy", "not a regular file"},
        {"out.npy", "leads out of the folder"},
        {"up.npy", "\"detail\""},
        {"nowhere.npy", "No such file"},
    };
    for (size_t i = 0; i < PE_LEN(reasons); i++)
        if (!skipped(log, reasons[i].file, reasons[i].says))
            fail_msg("%s was not skipped with \"%s\":\n%s", reasons[i].file, reasons[i].says, log);
    size_t n;
    pe_learned_tables_all(learned, &n);
    assert_int_equal(n, 2);
    assert_non_null(pe_learned_tables_find(learned, "good"));
    assert_non_null(pe_learned_tables_find(learned, "inside"));
    free(log);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

static void limits_hold_for_files_tables_and_their_sum(void **state)
{
    const test_folder folder = folder_make();
    for (char name[] = "a.npy"; name[0] <= 'e'; name[0]++)
        folder_put_npy(&folder, name, PE_FLOAT32, 3, 4, counting); /* 48 bytes of 176 */
    char *log;
    size_t n;
    pe_learned_tables *learned =
        load(&folder, &(pe_learned_limits){.bytes = 1 << 20, .tables = 3}, &log);
    pe_learned_tables_all(learned, &n);
    assert_int_equal(n, 3);
    assert_true(skipped(log, "d.npy", "learned_tables, which is 3"));
    free(log);
    pe_learned_tables_free(learned);
    learned = load(&folder, &(pe_learned_limits){.bytes = 191, .tables = 64}, &log);
    pe_learned_tables_all(learned, &n);
    assert_int_equal(n, 3);
    assert_true(skipped(log, "d.npy", "learned_bytes is 191"));
    free(log);
    pe_learned_tables_free(learned);
    learned = load(&folder, &(pe_learned_limits){.bytes = 100, .tables = 64}, &log);
    pe_learned_tables_all(learned, &n);
    assert_int_equal(n, 0);
    assert_true(skipped(log, "a.npy", "more than learned_bytes, which is 100"));
    free(log);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

static void a_name_is_taken_once(void **state)
{
    const test_folder folder = folder_make();
    folder_put_npy(&folder, "a.b.npy", PE_FLOAT32, 3, 4, counting);
    pe_buffer bytes = safetensors_of(
        "{\"b\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]}}", "\0\0\0\0", 4);
    folder_put(&folder, "a.safetensors", bytes.data, bytes.bytes);
    char *log;
    pe_learned_tables *learned = load(&folder, &roomy, &log);
    assert_int_equal(pe_learned_tables_find(learned, "a.b")->rows.shape.dim[0], 3);
    assert_true(skipped(log, "a.safetensors", "there is a table a.b already"));
    free(log);
    pe_buffer_free(&bytes);
    pe_learned_tables_free(learned);
    folder_remove(&folder);
}

static void a_folder_that_is_none_is_an_error(void **state)
{
    pe_problem why;
    pe_learned_tables *learned = NULL;
    assert_int_equal(pe_learned_tables_load("/nowhere/at/all", &roomy, &learned, &why),
                     PE_INVALID_PARAMETER);
    assert_non_null(strstr(why.detail, "/nowhere/at/all"));
    assert_null(learned);
    pe_learned_tables_free(NULL);
    assert_null(pe_learned_tables_find(NULL, "a"));
}

/* ---- broken headers ---- */

static const char *const npy_headers[] = {
    "",
    "{",
    "{}",
    "{'descr': '<f4'}",
    "{'descr': '<f4', 'fortran_order': False}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': 12, }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4.0), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 1), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,3,4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }",
    "{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'more': 1}",
    "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': '=f4', 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': '<f4, 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': '<f4aaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x",
};

static const char *const safetensors_headers[] = {
    "",
    "{",
    "[]",
    "null",
    "{}",
    "{\"__metadata__\":{}}",
    "{\"a\":{}}",
    "{\"a\":1}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,47]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,49]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[48,0]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[-48,0]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":\"0,48\"}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,-4],\"data_offsets\":[0,48]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4.5],\"data_offsets\":[0,48]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,2],\"data_offsets\":[0,48]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,0],\"data_offsets\":[0,0]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[18446744073709551616,4],\"data_offsets\":[0,48]}}",
    "{\"a\":{\"dtype\":4,\"shape\":[3,4],\"data_offsets\":[0,48]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,3,4],\"data_offsets\":[0,48]}}",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]}}",
    ("{\"a\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[12,36]}}"),
    ("{\"a\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[24,48]}}"),
};

/* A header of that text; the length in front of it lies by `lie`. */
static pe_buffer npy_file(const char *header, int version, int lie)
{
    pe_buffer out = {0};
    const size_t length = (size_t)((long)strlen(header) + lie);
    unsigned char head[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
    memcpy(head + 8, &length, 4);
    pe_buffer_add(&out, head, version == 1 ? 10 : 12);
    pe_buffer_str(&out, header);
    float numbers[12] = {0};
    pe_buffer_add(&out, numbers, sizeof numbers);
    return out;
}

static void assert_nothing_loaded(const test_folder *folder, const char *file, const char *what)
{
    char *log;
    size_t n;
    pe_learned_tables *learned = load(folder, &roomy, &log);
    pe_learned_tables_all(learned, &n);
    if (n != 0 || !skipped(log, file, ""))
        fail_msg("%s: %zu tables, and the log says %s", what, n, log);
    free(log);
    pe_learned_tables_free(learned);
}

static void broken_numpy_headers_are_skipped(void **state)
{
    const test_folder folder = folder_make();
    const char *good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    for (size_t i = 0; i < PE_LEN(npy_headers); i++)
        for (int version = 1; version <= 3; version++) {
            pe_buffer bytes = npy_file(npy_headers[i], version, 0);
            folder_put(&folder, "x.npy", bytes.data, bytes.bytes);
            assert_nothing_loaded(&folder, "x.npy", npy_headers[i]);
            pe_buffer_free(&bytes);
        }
    static const int lies[] = {-60, -1, 1, 48, 49, 60000};
    for (size_t i = 0; i < PE_LEN(lies); i++) {
        pe_buffer bytes = npy_file(good, 1, lies[i]);
        folder_put(&folder, "x.npy", bytes.data, bytes.bytes);
        assert_nothing_loaded(&folder, "x.npy", "a length that lies");
        pe_buffer_free(&bytes);
    }
    static const int versions[] = {0, 4, 255};
    for (size_t i = 0; i < PE_LEN(versions); i++) {
        pe_buffer bytes = npy_file(good, versions[i], 0);
        folder_put(&folder, "x.npy", bytes.data, bytes.bytes);
        assert_nothing_loaded(&folder, "x.npy", "a version of the future");
        pe_buffer_free(&bytes);
    }
    folder_remove(&folder);
}

static void broken_safetensors_headers_are_skipped(void **state)
{
    const test_folder folder = folder_make();
    unsigned char data[48] = {0};
    for (size_t i = 0; i < PE_LEN(safetensors_headers); i++) {
        pe_buffer bytes = safetensors_of(safetensors_headers[i], data, sizeof data);
        folder_put(&folder, "x.safetensors", bytes.data, bytes.bytes);
        assert_nothing_loaded(&folder, "x.safetensors", safetensors_headers[i]);
        pe_buffer_free(&bytes);
    }
    static const uint64_t lengths[] = {0, 1, 56, 200, UINT64_MAX, UINT64_MAX - 7, 1ULL << 63};
    for (size_t i = 0; i < PE_LEN(lengths); i++) {
        pe_buffer bytes =
            safetensors_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,48]}}",
                           data, sizeof data);
        memcpy(bytes.data, &lengths[i], sizeof lengths[i]);
        folder_put(&folder, "x.safetensors", bytes.data, bytes.bytes);
        assert_nothing_loaded(&folder, "x.safetensors", "a length that lies");
        pe_buffer_free(&bytes);
    }
    folder_remove(&folder);
}

/* Every beginning of a good file, and good files with bytes changed at random: never a crash, and
 * never a table of more than the file has. */
static void damaged_files_do_no_harm(void **state)
{
    random_source random = random_make("damage");
    const pe_shape shape = {2, {3, 4}};
    const unsigned char data[48] = {0};
    for (int kind = 0; kind < 2; kind++) {
        const test_folder folder = folder_make();
        const char *file = kind == 0 ? "x.npy" : "x.safetensors";
        pe_buffer good =
            kind == 0 ? npy_of(PE_FLOAT32, &shape, counting)
                      : safetensors_of(
                            "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,48]}}",
                            data, sizeof data);
        for (size_t cut = 0; cut < good.bytes; cut++) {
            folder_put(&folder, file, good.data, cut);
            assert_nothing_loaded(&folder, file, "a file cut short");
        }
        for (int round = 0; round < 400; round++) {
            char *bytes = malloc(good.bytes + 1);
            memcpy(bytes, good.data, good.bytes);
            for (int64_t changes = random_int(&random, 1, 4); changes > 0; changes--)
                bytes[random_int(&random, 0, (int64_t)good.bytes - 1)] = (char)random_bits(&random);
            folder_put(&folder, file, bytes, good.bytes);
            char *log;
            size_t n;
            pe_learned_tables *learned = load(&folder, &roomy, &log);
            const pe_learned_table *all = pe_learned_tables_all(learned, &n);
            for (size_t t = 0; t < n; t++)
                assert_true(all[t].rows.elements * pe_dtype_bytes(all[t].rows.dtype) <= 48);
            free(log);
            free(bytes);
            pe_learned_tables_free(learned);
        }
        folder_remove(&folder);
        pe_buffer_free(&good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_keep_type_shape_and_numbers),
        cmocka_unit_test(columns_first_become_rows_first),
        cmocka_unit_test(a_safetensors_file_gives_a_table_for_each_tensor_that_is_one),
        cmocka_unit_test(digests_tell_tables_apart),
        cmocka_unit_test(what_is_no_table_is_skipped_with_its_reason),
        cmocka_unit_test(limits_hold_for_files_tables_and_their_sum),
        cmocka_unit_test(a_name_is_taken_once),
        cmocka_unit_test(a_folder_that_is_none_is_an_error),
        cmocka_unit_test(broken_numpy_headers_are_skipped),
        cmocka_unit_test(broken_safetensors_headers_are_skipped),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
