/* SPDX-License-Identifier: MIT */
/* test_query_binary.c - requests with a tensor in a binary body. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/stored.h"
#include "support/fake.h"
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

static void integers_become_the_default_dtype(void **state)
{
    static const int32_t two[] = {-7, 8};
    pe_buffer npy = {0};
    put_npy(&npy, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }", two,
            sizeof two);
    pe_query ask = npy_ask(&npy, "");
    const pe_array *vectors = &pe_values_find(&ask.values, "vectors")->tensor;
    assert_int_equal(vectors->dtype, PE_FLOAT32);
    assert_true(element(vectors, 0) == -7);
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

/* Header, then data, the length in front. */
static void put_safetensors(pe_buffer *out, const char *header, const void *data, size_t bytes)
{
    unsigned char length[8] = {(unsigned char)strlen(header), (unsigned char)(strlen(header) >> 8)};
    pe_buffer_add(out, length, sizeof length);
    pe_buffer_str(out, header);
    pe_buffer_add(out, data, bytes);
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
            put_safetensors(&file, rows[i].header, six, sizeof six);
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
    put_safetensors(&file,
                    "{\"__metadata__\":{\"a\":\"b\"},"
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

static void assert_refused(const char *name, const pe_binary_body *body, pe_status status,
                           const char *detail)
{
    pe_query ask = {0};
    pe_problem why = {0};
    pe_status got = read_body(body, "", &ask, &why);
    if (got != status || strstr(why.detail, detail) == NULL)
        fail_msg("%s\n got    %s: %s\n wanted %s: %s", name, pe_status_code_text(got), why.detail,
                 pe_status_code_text(status), detail);
    assert_null(ask.values.value);
}

static void broken_numpy_files_are_refused(void **state)
{
    static const struct {
        const char *header;
        pe_status status;
        const char *detail;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", PE_MALFORMED_REQUEST,
         "which take 32 bytes, got 24 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", PE_MALFORMED_REQUEST,
         "which take 20 bytes, got 24 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", PE_INVALID_PARAMETER,
         "2 to 4 axes, got 1"},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3), }", PE_INVALID_PARAMETER,
         "f4, f8, f2, i4, i8, c8, c16 behind < or >; got \"<u4\": convert it, as by "
         ".astype('<i4')"},
        {"{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }", PE_INVALID_PARAMETER,
         "got \"=f4\""},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", PE_INVALID_PARAMETER, "|O"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }", PE_MALFORMED_REQUEST,
         "header"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }", PE_MALFORMED_REQUEST, "header"},
        {"{'descr': '<f4', 'fortran_order': False, }", PE_MALFORMED_REQUEST, "header"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
         PE_MALFORMED_REQUEST, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", PE_MALFORMED_REQUEST,
         "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,6), }",
         PE_MALFORMED_REQUEST, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x", PE_MALFORMED_REQUEST,
         "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         PE_TOO_MANY_ELEMENTS, ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
         PE_MALFORMED_REQUEST, "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (100001,), }", PE_TOO_MANY_ELEMENTS,
         "100000"},
        {"", PE_MALFORMED_REQUEST, "header"},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_buffer npy = {0};
        put_npy(&npy, 1, rows[i].header, six, sizeof six);
        const pe_binary_body body = {.media_type = NPY, .data = npy.data, .bytes = npy.bytes};
        assert_refused(rows[i].header, &body, rows[i].status, rows[i].detail);
        pe_buffer_free(&npy);
    }
    assert_refused("nothing", &(pe_binary_body){.media_type = NPY}, PE_MALFORMED_REQUEST, "begin");
    assert_refused(
        "no such version",
        &(pe_binary_body){.media_type = NPY, .data = "\x93NUMPY\x04\x00\x00\x00", .bytes = 10},
        PE_MALFORMED_REQUEST, "version");
    assert_refused("a lying header length",
                   &(pe_binary_body){.media_type = NPY,
                                     .data = "\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
                                     .bytes = 14},
                   PE_MALFORMED_REQUEST, "ends inside");
}

static void an_empty_tensor_is_refused(void **state)
{
    pe_buffer npy = {0};
    put_npy(&npy, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }", "", 0);
    assert_refused("no rows",
                   &(pe_binary_body){.media_type = NPY, .data = npy.data, .bytes = npy.bytes},
                   PE_INVALID_PARAMETER, "empty");
    pe_buffer_free(&npy);
}

static void plain_numbers_need_their_headers(void **state)
{
    const struct {
        const char *shape, *dtype;
        size_t bytes;
        pe_status status;
        const char *detail;
    } rows[] = {
        {NULL, "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape is missing"},
        {"2,3", NULL, 24, PE_MALFORMED_REQUEST, "X-Tensor-Dtype is missing"},
        {"2,3", "float32", 23, PE_MALFORMED_REQUEST, "which take 24 bytes, got 23 bytes"},
        {"2,3", "float32", 0, PE_MALFORMED_REQUEST, "got 0 bytes"},
        {"2,2", "float32", 24, PE_MALFORMED_REQUEST, "which take 16 bytes, got 24 bytes"},
        {"2,3", "f4", 24, PE_INVALID_PARAMETER, "float32, float64"},
        {"", "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape must be"},
        {"2,", "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape must be"},
        {"2x3", "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape must be"},
        {"2,-3", "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape must be"},
        {"1,1,1,1,1,1,1,1,6", "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape must be"},
        {"99999999999999999999999", "float32", 24, PE_MALFORMED_REQUEST, "X-Tensor-Shape must be"},
        {"4294967296,4294967296", "float32", 24, PE_TOO_MANY_ELEMENTS, ""},
        {"9223372036854775807,2", "float32", 24, PE_TOO_MANY_ELEMENTS, ""},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++)
        assert_refused(rows[i].shape != NULL ? rows[i].shape : "no shape",
                       &(pe_binary_body){.media_type = RAW,
                                         .shape = rows[i].shape,
                                         .dtype = rows[i].dtype,
                                         .data = six,
                                         .bytes = rows[i].bytes},
                       rows[i].status, rows[i].detail);
}

static void numbers_that_are_none_are_refused(void **state)
{
    for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++) {
        _Alignas(8) unsigned char data[6 * 8] = {0};
        pe_dtype_store(dtype, dtype % 2 ? -(double)INFINITY : (double)NAN,
                       data + 4 * pe_dtype_bytes(dtype));
        assert_refused(pe_dtype_name(dtype),
                       &(pe_binary_body){.media_type = RAW,
                                         .shape = "2,3",
                                         .dtype = pe_dtype_name(dtype),
                                         .data = data,
                                         .bytes = 6 * pe_dtype_bytes(dtype)},
                       PE_INVALID_PARAMETER, "element 4 of vectors is not a finite number");
    }
}

static void a_number_that_overflows_the_dtype_is_refused(void **state)
{
    static float row[] = {1, 70000};
    pe_query ask = {0};
    pe_problem why = {0};
    const pe_binary_body body = {
        .media_type = RAW, .shape = "1,2", .dtype = "float32", .data = row, .bytes = sizeof row};
    assert_int_equal(read_body(&body, "dtype=float16", &ask, &why), PE_INVALID_PARAMETER);
    assert_string_equal(why.detail, "element 1 of vectors overflows float16");
}

static void other_types_and_other_resources_are_refused(void **state)
{
    pe_query ask = {0};
    pe_problem why = {0};
    const pe_binary_body png = {.media_type = "image/png", .data = six, .bytes = sizeof six};
    assert_refused("image/png", &png, PE_UNSUPPORTED_MEDIA_TYPE, "image/png");
    const pe_binary_body raw = {.string = pe_slice_of("d_model=4"),
                                .media_type = RAW,
                                .shape = "2,3",
                                .dtype = "float32",
                                .data = six,
                                .bytes = sizeof six};
    assert_int_equal(pe_query_binary_parse(&fake_table, &raw, &fake_limits, &ask, &why),
                     PE_UNSUPPORTED_MEDIA_TYPE);
    assert_int_equal(read_body(&raw, "factr=1", &ask, &why), PE_UNKNOWN_PARAMETER);
    assert_int_equal(read_body(&raw, "factor=0", &ask, &why), PE_INVALID_PARAMETER);
}

static void broken_safetensors_are_refused(void **state)
{
    static const struct {
        const char *header;
        pe_status status;
    } rows[] = {
        {"{}", PE_MALFORMED_REQUEST},
        {"[]", PE_MALFORMED_REQUEST},
        {"{\"data\":", PE_MALFORMED_REQUEST},
        {"{\"data\":5}", PE_MALFORMED_REQUEST},
        {"{\"data\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,25]}}",
         PE_MALFORMED_REQUEST},
        {"{\"data\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[-1,23]}}",
         PE_MALFORMED_REQUEST},
        {"{\"data\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}",
         PE_MALFORMED_REQUEST},
        {"{\"data\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,16]}}",
         PE_MALFORMED_REQUEST},
        {"{\"data\":{\"dtype\":\"F8_E4M3\",\"shape\":[24],\"data_offsets\":[0,24]}}",
         PE_INVALID_PARAMETER},
        {"{\"vektors\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}",
         PE_UNKNOWN_PARAMETER},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        pe_buffer file = {0};
        put_safetensors(&file, rows[i].header, six, sizeof six);
        const pe_binary_body body = {.media_type = ST, .data = file.data, .bytes = file.bytes};
        assert_refused(rows[i].header, &body, rows[i].status, "");
        pe_buffer_free(&file);
    }
    assert_refused("nothing", &(pe_binary_body){.media_type = ST}, PE_MALFORMED_REQUEST, "header");
    assert_refused("a lying length",
                   &(pe_binary_body){
                       .media_type = ST, .data = "\xff\xff\xff\xff\xff\xff\xff\xff{}", .bytes = 10},
                   PE_MALFORMED_REQUEST, "longer");
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
        put_safetensors(&file, header, six, sizeof six);
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
    put_safetensors(&file[1],
                    "{\"data\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", six,
                    sizeof six);
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
        cmocka_unit_test(integers_become_the_default_dtype),
        cmocka_unit_test(aligned_numbers_are_borrowed_and_others_copied),
        cmocka_unit_test(aligned_numbers_of_files_are_borrowed_and_others_copied),
        cmocka_unit_test(safetensors_go_to_the_rows_of_their_names),
        cmocka_unit_test(broken_numpy_files_are_refused),
        cmocka_unit_test(an_empty_tensor_is_refused),
        cmocka_unit_test(plain_numbers_need_their_headers),
        cmocka_unit_test(numbers_that_are_none_are_refused),
        cmocka_unit_test(a_number_that_overflows_the_dtype_is_refused),
        cmocka_unit_test(other_types_and_other_resources_are_refused),
        cmocka_unit_test(broken_safetensors_are_refused),
        cmocka_unit_test(tensors_that_share_bytes_are_refused),
        cmocka_unit_test(every_truncation_and_many_mutations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
