/* SPDX-License-Identifier: MIT */
/* test_stored.c - stored tensors become rows whatever their order, shape and type: every element
 * against its index by the definition. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/stored.h"
#include "support/random.h"

#define ELEMENTS_MAX 30000

/* How a file keeps its numbers: 3 bits. */
enum { FORTRAN = 1, SWAPPED = 2, WIDE = 4, KINDS = 8 };

/* Where row-major element e is in the file: coordinates, then the sum over them. */
static size_t place_of(const pe_shape *shape, bool fortran, size_t e)
{
    size_t at[PE_MAX_DIMS] = {0}, index = 0, stride = 1;
    for (size_t axis = shape->ndim; axis-- > 0; e /= shape->dim[axis])
        at[axis] = e % shape->dim[axis];
    for (size_t i = 0; i < shape->ndim; i++) {
        const size_t axis = fortran ? i : shape->ndim - 1 - i;
        index += at[axis] * stride;
        stride *= shape->dim[axis];
    }
    return index;
}

/* Axes about the width of a cache line and of a block of 32, 64; and ones. */
static pe_shape some_shape(random_source *random)
{
    static const size_t sizes[] = {1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 127, 1000, 4097};
    pe_shape shape = {.ndim = (size_t)random_int(random, 0, PE_MAX_DIMS)};
    size_t elements = 1;
    for (size_t axis = 0; axis < shape.ndim; axis++) {
        size_t size = sizes[random_int(random, 0, (int64_t)PE_LEN(sizes) - 1)];
        while (elements * size > ELEMENTS_MAX)
            size = 1 + size / 3;
        shape.dim[axis] = elements * size > ELEMENTS_MAX / 2 ? 1 : size;
        elements *= shape.dim[axis];
    }
    return shape;
}

/* Where number e of the rows is in the file; both parts of a complex one are at one place. */
static size_t index_of(const pe_stored *file, size_t e)
{
    pe_shape shape = file->shape;
    if (!file->is_complex)
        return place_of(&shape, file->fortran, e);
    shape.ndim--;
    return 2 * place_of(&shape, file->fortran, e / 2) + e % 2;
}

static void reverse(unsigned char *at, size_t size)
{
    for (size_t b = 0; b < size / 2; b++) {
        const unsigned char first = at[b];
        at[b] = at[size - 1 - b];
        at[size - 1 - b] = first;
    }
}

/* A file of random numbers, at an odd address. */
static pe_stored some_file(random_source *random, pe_dtype dtype, const pe_shape *shape, int kind,
                           unsigned char **memory)
{
    pe_stored file = {.dtype = dtype,
                      .shape = *shape,
                      .fortran = (kind & FORTRAN) != 0,
                      .swapped = (kind & SWAPPED) != 0,
                      .wide = (kind & WIDE) != 0 && dtype == PE_INT32};
    const size_t size = pe_stored_size(&file);
    if (shape->ndim > 0 && shape->dim[shape->ndim - 1] == 2)
        file.is_complex = true;
    assert_true(pe_array_elements(shape, &file.elements));
    file.bytes = file.elements * size;
    *memory = malloc(file.bytes + 1);
    assert_non_null(*memory);
    for (size_t i = 0; i < file.elements; i++) {
        const double value = dtype == PE_INT32 ? (double)random_int(random, INT32_MIN, INT32_MAX)
                                               : random_value(random, dtype);
        const int64_t whole = (int64_t)value;
        if (file.wide)
            memcpy(*memory + 1 + i * size, &whole, size);
        else
            pe_dtype_store(dtype, value, *memory + 1 + i * size);
        if (file.swapped)
            reverse(*memory + 1 + i * size, size);
    }
    file.data = *memory + 1;
    return file;
}

static void check_array(const pe_stored *file, pe_dtype dtype)
{
    const size_t size = pe_stored_size(file), out_size = pe_dtype_bytes(dtype);
    pe_array array;
    pe_problem why;
    assert_int_equal(pe_stored_array(file, dtype, &array, &why), PE_OK);
    assert_int_equal(array.dtype, dtype);
    assert_int_equal(array.elements, file->elements);
    for (size_t e = 0; e < file->elements; e++) {
        unsigned char in[8], want[8];
        memcpy(in, file->data + index_of(file, e) * size, size);
        if (file->swapped)
            reverse(in, size);
        memcpy(want, in, size); /* of one type they are copied bit for bit, or the low half */
        const double number = pe_dtype_load(file->dtype, in);
        assert_true(pe_stored_number(file, e) == number);
        if (dtype != file->dtype)
            pe_dtype_store(dtype, number, want);
        if (memcmp((const char *)array.data + e * out_size, want, out_size) != 0)
            fail_msg("element %zu of %zu (%zu axes, the last %zu) as %s of %s differs", e,
                     file->elements, file->shape.ndim,
                     file->shape.ndim > 0 ? file->shape.dim[file->shape.ndim - 1] : 0,
                     pe_dtype_name(dtype), pe_dtype_name(file->dtype));
    }
    pe_array_free(&array);
}

static void every_order_shape_and_type_becomes_rows(void **state)
{
    random_source random = random_make("stored tensors");
    for (int k = 0; k < 200; k++) {
        pe_shape shape = some_shape(&random);
        const pe_dtype from = (pe_dtype)(k % PE_DTYPES);
        if (k % 4 == 3 && shape.ndim > 0)
            shape.dim[shape.ndim - 1] = 2; /* complex */
        for (int kind = 0; kind < KINDS; kind++) {
            unsigned char *memory;
            const pe_stored file = some_file(&random, from, &shape, kind, &memory);
            check_array(&file, from);
            check_array(&file, (pe_dtype)random_int(&random, 0, PE_INT32 - 1));
            free(memory);
        }
    }
}

static void wide_integers_must_fit(void **state)
{
    static const struct {
        int64_t number;
        bool fits;
    } rows[] = {{INT32_MAX, true},
                {INT32_MIN, true},
                {(int64_t)INT32_MAX + 1, false},
                {(int64_t)INT32_MIN - 1, false},
                {INT64_MAX, false},
                {INT64_MIN, false}};
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        const int64_t numbers[] = {1, 2, 3, rows[r].number};
        pe_array array;
        pe_problem why;
        const pe_stored file = {.dtype = PE_INT32,
                                .shape = {2, {2, 2}},
                                .elements = 4,
                                .data = (const unsigned char *)numbers,
                                .bytes = sizeof numbers,
                                .wide = true};
        assert_int_equal(pe_stored_array(&file, PE_INT32, &array, &why),
                         rows[r].fits ? PE_OK : PE_INVALID_PARAMETER);
        if (rows[r].fits)
            pe_array_free(&array);
        else
            assert_non_null(strstr(why.detail, "must be those of int32; element 3 is "));
    }
}

static void an_array_of_nothing_is_made(void **state)
{
    static const unsigned char none[1];
    for (size_t axis = 0; axis < 3; axis++) {
        pe_stored file = {
            .dtype = PE_FLOAT32, .shape = {3, {2, 40, 3}}, .data = none, .fortran = true};
        file.shape.dim[axis] = 0;
        check_array(&file, PE_FLOAT64);
    }
}

/* The element is named by its place among the rows. */
static void what_is_not_finite_is_found_where_it_stands(void **state)
{
    random_source random = random_make("not finite");
    for (int k = 0; k < 100; k++) {
        const pe_shape shape = some_shape(&random);
        unsigned char *memory;
        char text[64];
        pe_array array;
        pe_problem why;
        const pe_stored file = some_file(&random, PE_FLOAT16, &shape, k % 2, &memory);
        const size_t e = (size_t)random_int(&random, 0, (int64_t)file.elements - 1);
        pe_dtype_store(PE_FLOAT16, HUGE_VAL, memory + 1 + index_of(&file, e) * 2);
        assert_int_equal(pe_stored_array(&file, PE_FLOAT32, &array, &why), PE_OK);
        assert_int_equal(pe_stored_check_finite(&array, &file, "x", &why), PE_INVALID_PARAMETER);
        snprintf(text, sizeof text, "element %zu of x is not a finite number", e);
        assert_string_equal(why.detail, text);
        pe_array_free(&array);
        free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_shape_and_type_becomes_rows),
        cmocka_unit_test(wide_integers_must_fit),
        cmocka_unit_test(an_array_of_nothing_is_made),
        cmocka_unit_test(what_is_not_finite_is_found_where_it_stands),
    };
    return cmocka_run_group_tests_name("stored", tests, NULL, NULL);
}
