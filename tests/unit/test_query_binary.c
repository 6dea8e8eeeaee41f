/* SPDX-License-Identifier: MIT */
/* test_query_binary.c - requests with a tensor in a binary body; what is refused of them is
 * http/cases/bodies.json. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/stored.h"
#include "support/fake.h"
#include "support/folder.h"
#include "support/random.h"

#define NPY "application/x-npy"
#define RAW "application/octet-stream"
#define ST  "application/vnd.safetensors"

static double element(const pe_array *array, size_t e)
{
    return pe_dtype_load(array->dtype,
                         (const char *)array->data + e * pe_dtype_bytes(array->dtype));
}

static pe_status read_body(const pe_binary_body *body, const char *query, pe_query *ask,
                           pe_problem *why)
{
    pe_binary_body with = *body;
    with.string = pe_slice_of(query);
    return pe_query_binary_parse(&fake_transform, &with, &fake_limits, ask, why);
}

/* A NumPy file of version 1, header as given, then data. */
static void put_npy(pe_buffer *out, unsigned char version, const char *header, const void *data,
                    size_t bytes)
{
    const size_t length = strlen(header);
    const unsigned char start[] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   version,
                                   0,
                                   (unsigned char)length,
                                   (unsigned char)(length >> 8),
                                   0,
                                   0};
    pe_buffer_add(out, start, version == 1 ? 10 : 12);
    pe_buffer_str(out, header);
    pe_buffer_add(out, data, bytes);
}

static pe_query npy_ask(pe_buffer *npy, const char *query)
{
    pe_query ask = {0};
    pe_problem why = {0};
    const pe_binary_body body = {.media_type = NPY, .data = npy->data, .bytes = npy->bytes};
    if (read_body(&body, query, &ask, &why) != PE_OK)
        fail_msg("refused: %s", why.detail);
    return ask;
}

static float six[] = {1, 2, 3, 4, 5, 6};

static void a_numpy_file_is_the_first_tensor(void **state)
{
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n",
        "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
        "{\"shape\": (2, 3,), \"descr\": \"<f4\", \"fortran_order\": False}\n"};
    for (size_t i = 0; i < PE_LEN(headers); i++)
        for (unsigned char version = 1; version <= 3; version++) {
            pe_buffer npy = {0};
            put_npy(&npy, version, headers[i], six, sizeof six);
            pe_query ask = npy_ask(&npy, "factor=2&positions=5:7");
            const pe_array *vectors = &pe_values_find(&ask.values, "vectors")->tensor;
            assert_int_equal(vectors->dtype, PE_FLOAT32);
            assert_int_equal(vectors->shape.ndim, 2);
            assert_int_equal(vectors->shape.dim[1], 3);
            assert_true(element(vectors, 5) == 6);
            assert_true(pe_values_real(&ask.values, "factor") == 2);
            assert_int_equal(pe_values_find(&ask.values, "positions")->positions.first, 5);
            pe_query_free(&ask);
            pe_buffer_free(&npy);
        }
}

static void fortran_order_is_turned_into_rows(void **state)
{
    pe_buffer npy = {0};
    float column_major[24];
    for (size_t i = 0, e = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 4; k++)
                column_major[i + 2 * (j + 3 * k)] = (float)e++;
    put_npy(&npy, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }", column_major,
            sizeof column_major);
    pe_query ask = npy_ask(&npy, "");
    for (size_t e = 0; e < 24; e++)
        assert_true(element(&pe_values_find(&ask.values, "vectors")->tensor, e) == (double)e);
    pe_query_free(&ask);
    pe_buffer_free(&npy);
}

static void dtype_is_the_bodys_unless_given(void **state)
{
    static const double two[] = {0.1, 1 + 0x1p-11 + 0x1p-40};
    static const char header[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
    pe_buffer npy = {0};
    put_npy(&npy, 1, header, two, sizeof two);

    pe_query ask = npy_ask(&npy, "");
    assert_int_equal(pe_values_choice(&ask.values, "dtype"), PE_FLOAT64);
    assert_true(element(&pe_values_find(&ask.values, "vectors")->tensor, 0) == 0.1);
    pe_query_free(&ask);

    ask = npy_ask(&npy, "dtype=float16"); /* rounded once: through float32 it would be 1 */
    assert_int_equal(pe_values_find(&ask.values, "vectors")->tensor.dtype, PE_FLOAT16);
    assert_true(element(&pe_values_find(&ask.values, "vectors")->tensor, 1) == 1 + 0x1p-10);
    pe_query_free(&ask);
    pe_buffer_free(&npy);
}

static void aligned_numbers_are_borrowed_and_others_copied(void **state)
{
    _Alignas(8) char bytes[sizeof six + 1];
    for (size_t shift = 0; shift < 2; shift++) {
        pe_query ask = {0};
        pe_problem why = {0};
        memcpy(bytes + shift, six, sizeof six);
        const pe_binary_body body = {.media_type = RAW,
                                     .shape = " 3 ,2",
                                     .dtype = "float32",
                                     .data = bytes + shift,
                                     .bytes = sizeof six};
        assert_int_equal(read_body(&body, "", &ask, &why), PE_OK);
        const pe_array *vectors = &pe_values_find(&ask.values, "vectors")->tensor;
        assert_true(vectors->borrowed == (shift == 0));
        assert_int_equal(vectors->shape.dim[0], 3);
        assert_true(element(vectors, 5) == 6);
        pe_query_free(&ask);
    }
}

static bool is_within(const pe_array *array, const pe_buffer *body)
{
    const char *data = array->data;
    return data >= body->data && data < body->data + body->bytes;
}

/* Both formats pad their headers so that the numbers are aligned. */
static void aligned_numbers_of_files_are_borrowed_and_others_copied(void **state)
{
    static const struct {
        const char *type, *header;
        bool borrowed;
    } rows[] = {
        {NPY, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }  \n", true},
        {NPY, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } \n", false},
        {NPY, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }   \n", false},
        {NPY, "{'descr': '<f2', 'fortran_order': False, 'shape': (6, 2), }  \n", false},
        {ST, "{\"data\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]}}", true},
        {ST, "{\"data\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]}} ", false},
        {ST, "{\"data\":{\"dtype\":\"BF16\",\"shape\":[6,2],\"data_offsets\":[0,24]}}   ", false},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_buffer file = {0};
        pe_query ask = {0};
        pe_problem why = {0};
        if (strcmp(rows[i].type, NPY) == 0)
            put_npy(&file, 1, rows[i].header, six, sizeof six);
        else
            file = safetensors_of(rows[i].header, six, sizeof six);
        const pe_binary_body body = {
            .media_type = rows[i].type, .data = file.data, .bytes = file.bytes};
        if (read_body(&body, "dtype=float32", &ask, &why) != PE_OK)
            fail_msg("%s refused: %s", rows[i].header, why.detail);
        const pe_array *vectors = &pe_values_find(&ask.values, "vectors")->tensor;
        if (vectors->borrowed != rows[i].borrowed || is_within(vectors, &file) != rows[i].borrowed)
            fail_msg("%s: %s", rows[i].header, vectors->borrowed ? "borrowed" : "copied");
        pe_query_free(&ask);
        pe_buffer_free(&file);
    }
}

static void safetensors_go_to_the_rows_of_their_names(void **state)
{
    pe_buffer file = {0};
    pe_query ask = {0};
    pe_problem why = {0};
    file = safetensors_of("{\"__metadata__\":{\"a\":\"b\"},"
                          "\"weights\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
                          "\"data\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}} ",
                          six, sizeof six);
    const pe_binary_body body = {.media_type = ST, .data = file.data, .bytes = file.bytes};
    if (read_body(&body, "", &ask, &why) != PE_OK)
        fail_msg("refused: %s", why.detail);
    assert_true(element(&pe_values_find(&ask.values, "vectors")->tensor, 3) == 4);
    assert_int_equal(pe_values_find(&ask.values, "weights")->tensor.dtype, PE_FLOAT64);
    assert_true(element(&pe_values_find(&ask.values, "weights")->tensor, 1) == 6);
    pe_query_free(&ask);
    pe_buffer_free(&file);
}

/* Sizes that add up to the file's do not make tensors stand side by side. */
static void tensors_that_share_bytes_are_refused(void **state)
{
    static const struct {
        int data[2], weights[2]; /* offsets in 24 bytes */
        bool taken;
    } rows[] = {
        {{0, 16}, {16, 24}, true}, {{8, 24}, {0, 8}, true},   {{0, 16}, {0, 8}, false},
        {{0, 16}, {8, 16}, false}, {{8, 24}, {8, 16}, false}, {{4, 20}, {0, 8}, false},
        {{0, 12}, {0, 12}, false}, {{0, 24}, {24, 24}, true}, /* an empty one is nowhere */
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        const int *at = rows[i].data, *of = rows[i].weights;
        char header[256];
        pe_buffer file = {0};
        snprintf(header, sizeof header,
                 "{\"data\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%d,%d]},"
                 "\"weights\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%d,%d]}}",
                 (at[1] - at[0]) / 4, at[0], at[1], (of[1] - of[0]) / 4, of[0], of[1]);
        file = safetensors_of(header, six, sizeof six);
        pe_stored tensors[2];
        pe_stored_list list = {.tensor = tensors, .room = 2};
        pe_problem why = {0};
        const pe_status status = pe_safetensors_file_read(pe_buffer_slice(&file), 100, &list, &why);
        if (status != (rows[i].taken ? PE_OK : PE_MALFORMED_REQUEST))
            fail_msg("%s\n got %s", header, status == PE_OK ? "no refusal" : why.detail);
        pe_buffer_free(&file);
    }
}

static pe_status read_exactly(const char *media_type, const char *data, size_t bytes)
{
    char *exact = malloc(bytes == 0 ? 1 : bytes); /* so that sanitizers see an overrun */
    pe_query ask = {0};
    pe_problem why = {0};
    memcpy(exact, data, bytes);
    const pe_binary_body body = {.media_type = media_type, .data = exact, .bytes = bytes};
    pe_status status = read_body(&body, "", &ask, &why);
    assert_int_equal(status, why.status);
    pe_query_free(&ask);
    free(exact);
    return status;
}

static void every_truncation_and_many_mutations_are_survived(void **state)
{
    pe_buffer file[2] = {{0}, {0}};
    static const char *const types[2] = {NPY, ST};
    put_npy(&file[0], 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", six,
            sizeof six);
    file[1] = safetensors_of(
        "{\"data\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", six, sizeof six);
    random_source random = random_make("files");
    for (size_t f = 0; f < 2; f++) {
        assert_int_equal(read_exactly(types[f], file[f].data, file[f].bytes), PE_OK);
        for (size_t bytes = 0; bytes < file[f].bytes; bytes++)
            if (read_exactly(types[f], file[f].data, bytes) != PE_MALFORMED_REQUEST)
                fail_msg("%s cut after %zu bytes: not refused as malformed", types[f], bytes);
        for (int round = 0; round < 20000; round++) {
            char copy[256];
            memcpy(copy, file[f].data, file[f].bytes);
            for (size_t edits = 1 + random_below(&random, 3); edits > 0; edits--)
                copy[random_below(&random, file[f].bytes - sizeof six)] =
                    "(){}[]',:0123456789Tfu\xff"[random_below(&random, 23)];
            (void)read_exactly(types[f], copy, file[f].bytes);
        }
        pe_buffer_free(&file[f]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_numpy_file_is_the_first_tensor),
        cmocka_unit_test(fortran_order_is_turned_into_rows),
        cmocka_unit_test(dtype_is_the_bodys_unless_given),
        cmocka_unit_test(aligned_numbers_are_borrowed_and_others_copied),
        cmocka_unit_test(aligned_numbers_of_files_are_borrowed_and_others_copied),
        cmocka_unit_test(safetensors_go_to_the_rows_of_their_names),
        cmocka_unit_test(tensors_that_share_bytes_are_refused),
        cmocka_unit_test(every_truncation_and_many_mutations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
