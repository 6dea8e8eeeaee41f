/* SPDX-License-Identifier: MIT */
/* test_format_stream.c - the pull engine: pieces, offsets, lengths, limits, failures. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "support/fake.h"
#include "support/random.h"
#include "support/render.h"
#include "text/number.h"
#include "text/scan.h"

static const struct rendered {
    const char *name, *format;
    bool base64;
    size_t n_tensors;
    pe_dtype dtype;
    pe_shape shape;
    size_t unit;
    bool cut; /* the plan can make parts of units */
} cases[] = {
    {"raw rows", "raw", false, 1, PE_FLOAT32, {2, {5, 7}}, 7, false},
    {"raw, several blocks", "raw", false, 1, PE_FLOAT64, {2, {1000, 100}}, 100, false},
    {"raw, units above a block", "raw", false, 1, PE_FLOAT32, {2, {3, 70000}}, 70000, false},
    {"npy", "npy", false, 1, PE_FLOAT16, {3, {3, 5, 7}}, 35, false},
    {"safetensors", "safetensors", false, 3, PE_BFLOAT16, {2, {40, 3}}, 3, false},
    {"json", "json", false, 1, PE_FLOAT32, {3, {3, 5, 7}}, 7, false},
    {"json, several blocks", "json", false, 2, PE_FLOAT32, {2, {300, 128}}, 128, false},
    {"json, units within rows", "json", false, 1, PE_FLOAT64, {2, {3, 20000}}, 1, false},
    {"base64 of 2-byte units", "json", true, 2, PE_FLOAT16, {2, {5, 5}}, 1, false},
    {"base64 of 4-byte units", "json", true, 1, PE_FLOAT32, {1, {11}}, 1, false},
    {"base64 of odd rows", "json", true, 2, PE_FLOAT16, {2, {5, 5}}, 5, false},
    {"base64, several blocks", "json", true, 1, PE_FLOAT32, {2, {400, 101}}, 101, false},
    {"base64, units above a block", "json", true, 1, PE_FLOAT64, {2, {4, 20001}}, 20001, false},
    {"csv", "csv", false, 1, PE_FLOAT32, {2, {30, 7}}, 7, false},
    {"csv, one long row", "csv", false, 1, PE_FLOAT32, {1, {50000}}, 1, false},
    {"csv, units above a block", "csv", false, 1, PE_FLOAT32, {2, {3, 9001}}, 9001, false},
    {"raw, units cut", "raw", false, 1, PE_FLOAT32, {2, {3, 70001}}, 70001, true},
    {"raw, short units not cut", "raw", false, 1, PE_FLOAT32, {2, {30, 700}}, 700, true},
    {"safetensors, units cut", "safetensors", false, 3, PE_BFLOAT16, {2, {4, 9001}}, 9001, true},
    {"json, units cut", "json", false, 2, PE_FLOAT64, {2, {3, 5003}}, 5003, true},
    {"base64, units cut", "json", true, 2, PE_FLOAT16, {2, {3, 5003}}, 5003, true},
    {"csv, units cut", "csv", false, 1, PE_FLOAT32, {2, {3, 9001}}, 9001, true},
};

static void plan_of(const struct rendered *c, pe_plan *plan)
{
    fake_plan(plan, c->n_tensors, c->dtype, &c->shape, c->unit);
    if (c->cut)
        fake_plan_cut(plan);
}

static void assert_same_bytes(const char *name, const pe_buffer *got, const char *wanted,
                              size_t bytes)
{
    if (got->bytes != bytes)
        fail_msg("%s: got %zu bytes, wanted %zu", name, got->bytes, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (got->data[i] != wanted[i])
            fail_msg("%s: byte %zu of %zu is %d, wanted %d", name, i, bytes, got->data[i],
                     wanted[i]);
}

static void pieces_of_any_size_make_the_same_bytes(void **state)
{
    static const size_t pieces[] = {1, 3, 17, 4096, 100000};
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_plan plan;
        pe_buffer whole = {0};
        const pe_rendering rendering = render_as(cases[i].format, cases[i].base64, NULL);
        plan_of(&cases[i], &plan);
        render(&plan, &rendering, 0, (size_t)1 << 22, &whole);
        for (size_t p = 0; p < PE_LEN(pieces); p++) {
            pe_buffer got = {0};
            render(&plan, &rendering, 0, pieces[p], &got);
            assert_same_bytes(cases[i].name, &got, whole.data, whole.bytes);
            pe_buffer_free(&got);
        }
        pe_buffer_free(&whole);
        pe_plan_free(&plan);
    }
}

static void lengths_are_true_and_bounds_hold(void **state)
{
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_plan plan;
        pe_stream *stream = NULL;
        pe_problem why = {0};
        pe_buffer whole = {0};
        const pe_rendering rendering = render_as(cases[i].format, cases[i].base64, NULL);
        plan_of(&cases[i], &plan);
        render(&plan, &rendering, 0, 65536, &whole);
        assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
        const pe_stream_facts *facts = pe_stream_facts_of(stream);
        const bool known = facts->length != UINT64_MAX;
        if (known && facts->length != whole.bytes)
            fail_msg("%s: length %llu, but %zu bytes came", cases[i].name,
                     (unsigned long long)facts->length, whole.bytes);
        assert_true(known == (rendering.format->known_length || cases[i].base64));
        if (facts->length_max < whole.bytes)
            fail_msg("%s: at most %llu, but %zu bytes came", cases[i].name,
                     (unsigned long long)facts->length_max, whole.bytes);
        pe_stream_free(stream);
        pe_buffer_free(&whole);
        pe_plan_free(&plan);
    }
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : (int)(at - digits);
}

/* The base64 text after "data":" as bytes. */
static void decode(const char *text, pe_buffer *out)
{
    unsigned bits = 0, n = 0;
    for (; digit(*text) >= 0; text++) {
        bits = bits << 6 | (unsigned)digit(*text);
        if (++n % 4 != 1) {
            unsigned char byte = (unsigned char)(bits >> (6 - 2 * ((n - 1) % 4)));
            pe_buffer_add(out, &byte, 1);
        }
    }
}

static void base64_decodes_to_the_numbers(void **state)
{
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_plan plan;
        pe_buffer text = {0}, got = {0}, wanted = {0};
        const pe_rendering as_text = render_as("json", true, NULL);
        const pe_rendering as_bytes = render_as("raw", false, "cos");
        plan_of(&cases[i], &plan);
        plan.tensors[0].name = "cos";
        decode(strstr(render_text(&plan, &as_text, &text), "\"data\":\"") + 8, &got);
        render(&plan, &as_bytes, 0, 65536, &wanted);
        assert_same_bytes(cases[i].name, &got, wanted.data, wanted.bytes);
        pe_buffer_free(&text);
        pe_buffer_free(&got);
        pe_buffer_free(&wanted);
        pe_plan_free(&plan);
    }
}

static void nested_arrays_read_back_to_the_numbers(void **state)
{
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_plan plan;
        pe_buffer text = {0}, wanted = {0};
        pe_array array = {0};
        pe_problem why = {0};
        size_t used = 0;
        const pe_rendering as_text = render_as("json", false, NULL);
        const pe_rendering as_bytes = render_as("raw", false, "cos");
        plan_of(&cases[i], &plan);
        plan.tensors[0].name = "cos";
        const char *data = strstr(render_text(&plan, &as_text, &text), "\"data\":") + 7;
        const pe_scan_wanted numbers = {"data", cases[i].dtype, SIZE_MAX, false};
        if (pe_scan_numbers((pe_slice){data, strlen(data)}, &numbers, &array, &used, &why) != PE_OK)
            fail_msg("%s: %s", cases[i].name, why.detail);
        render(&plan, &as_bytes, 0, 65536, &wanted);
        assert_int_equal(array.shape.ndim, cases[i].shape.ndim);
        assert_memory_equal(array.shape.dim, cases[i].shape.dim,
                            array.shape.ndim * sizeof array.shape.dim[0]);
        assert_int_equal(array.elements * pe_dtype_bytes(array.dtype), wanted.bytes);
        assert_memory_equal(array.data, wanted.data, wanted.bytes);
        pe_array_free(&array);
        pe_buffer_free(&text);
        pe_buffer_free(&wanted);
        pe_plan_free(&plan);
    }
}

/* Every offset of small representations, some of large ones. */
static void a_seek_continues_where_a_whole_read_would(void **state)
{
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_plan plan;
        pe_buffer whole = {0};
        const pe_rendering rendering = render_as(cases[i].format, cases[i].base64, NULL);
        if (!rendering.format->known_length && !cases[i].base64)
            continue;
        plan_of(&cases[i], &plan);
        render(&plan, &rendering, 0, 65536, &whole);
        size_t step = whole.bytes < 2000 ? 1 : whole.bytes / 23;
        for (size_t offset = 1; offset <= whole.bytes; offset += step) {
            pe_buffer got = {0};
            render(&plan, &rendering, offset, 65536, &got);
            assert_same_bytes(cases[i].name, &got, whole.data + offset, whole.bytes - offset);
            pe_buffer_free(&got);
        }
        pe_buffer_free(&whole);
        pe_plan_free(&plan);
    }
}

static void ranges_end_where_they_are_told(void **state)
{
    random_source random = random_make("ranges");
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_plan plan;
        pe_buffer whole = {0};
        const pe_rendering rendering = render_as(cases[i].format, cases[i].base64, NULL);
        if (!rendering.format->known_length && !cases[i].base64)
            continue;
        plan_of(&cases[i], &plan);
        render(&plan, &rendering, 0, 65536, &whole);
        char *out = malloc(whole.bytes + 1);
        for (int round = 0; round < 40; round++) {
            pe_stream *stream = NULL;
            pe_problem why = {0};
            size_t from = random_below(&random, whole.bytes), got = 0, sum = 0;
            size_t to = from + 1 + random_below(&random, round % 2 ? 9 : whole.bytes - from);
            to = to < whole.bytes ? to : whole.bytes;
            assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
            assert_int_equal(pe_stream_seek(stream, from, &why), PE_OK);
            pe_stream_limit(stream, to);
            do {
                assert_int_equal(pe_stream_read(stream, out + sum, whole.bytes - sum, &got, &why),
                                 PE_OK);
                sum += got;
            } while (got > 0);
            if (sum != to - from || memcmp(out, whole.data + from, sum) != 0)
                fail_msg("%s: bytes %zu to %zu differ", cases[i].name, from, to);
            pe_stream_free(stream);
        }
        free(out);
        pe_buffer_free(&whole);
        pe_plan_free(&plan);
    }
}

/* The first block of elements that may cost much is small; those after it grow while they cost
 * little. */
static void blocks_that_are_quick_grow(void **state)
{
    enum { ELEMENTS = 1 << 18, WORK = 4096, FIRST = 128 };
    static char out[32768];
    pe_plan plan;
    pe_stream *stream = NULL;
    pe_problem why = {0};
    size_t got = 0, reads = 0;
    const pe_rendering rendering = render_as("raw", false, NULL);
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){1, {ELEMENTS}}, 1);
    plan.tensors[0].work = WORK;
    assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
    assert_int_equal(pe_stream_read(stream, out, sizeof out, &got, &why), PE_OK);
    assert_int_equal(got, FIRST * sizeof(float));
    for (; got > 0; reads++)
        assert_int_equal(pe_stream_read(stream, out, sizeof out, &got, &why), PE_OK);
    assert_true(reads < ELEMENTS / FIRST / 8);
    pe_stream_free(stream);
    pe_plan_free(&plan);
}

static void only_what_a_range_asks_for_is_computed(void **state)
{
    pe_plan plan;
    pe_stream *stream = NULL;
    pe_problem why = {0};
    char out[400];
    size_t got = 0;
    const pe_rendering rendering = render_as("raw", false, NULL);
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){2, {100000, 100}}, 100);
    assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
    fake_units_filled = 0;
    assert_int_equal(pe_stream_seek(stream, 70000 * 400, &why), PE_OK);
    pe_stream_limit(stream, 70001 * 400);
    assert_int_equal(pe_stream_read(stream, out, sizeof out, &got, &why), PE_OK);
    assert_int_equal(got, 400);
    assert_true(fake_units_filled <= 2);
    pe_stream_free(stream);
    pe_plan_free(&plan);
}

/* However many read and stall, a wide unit is nowhere made whole, and no element twice. */
static void wide_units_are_made_in_parts_once(void **state)
{
    static const char *const formats[] = {"raw", "npy", "safetensors", "json", "csv"};
    enum { ROWS = 3, WIDTH = 65536, PIECE = 40960 };
    for (size_t i = 0; i < PE_LEN(formats); i++) {
        pe_plan plan;
        pe_buffer got = {0};
        const pe_rendering rendering = render_as(formats[i], false, NULL);
        fake_plan(&plan, 1, PE_FLOAT64, &(pe_shape){2, {ROWS, WIDTH}}, WIDTH);
        fake_plan_cut(&plan);
        fake_units_filled = fake_parts_elements = 0;
        render(&plan, &rendering, 0, PIECE, &got);
        assert_int_equal(fake_units_filled, 0);
        assert_int_equal(fake_parts_elements, ROWS * WIDTH);
        pe_buffer_free(&got);
        pe_plan_free(&plan);
    }
}

/* The number that is read first after a jump is one of those that stand there. */
static void samples_are_taken_from_all_over(void **state)
{
    enum { ROWS = 3000, WIDTH = 10 };
    for (size_t part = 0; part < 3; part++) {
        pe_plan plan;
        pe_stream *stream = NULL;
        pe_problem why = {0};
        char text[64], wanted[64];
        size_t got = 0;
        const pe_rendering rendering = render_as("csv", false, NULL);
        fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){2, {ROWS, WIDTH}}, WIDTH);
        assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
        pe_stream_sample(stream, part, 3);
        assert_int_equal(pe_stream_read(stream, text, sizeof text, &got, &why), PE_OK);
        assert_true(got > 40);
        if (part > 0) { /* the header of columns counts, too: rows begin ten numbers later */
            const size_t e = (ROWS + 1) * WIDTH / 3 * part - WIDTH;
            size_t n =
                pe_number_print(PE_FLOAT32, fake_element(PE_FLOAT32, 0, e - e % WIDTH), wanted);
            assert_memory_equal(text, wanted, n);
        }
        pe_stream_free(stream);
        pe_plan_free(&plan);
    }
}

static void offsets_past_the_end_and_unknown_lengths_are_refused(void **state)
{
    pe_plan plan;
    pe_stream *stream = NULL;
    pe_problem why = {0};
    pe_rendering rendering = render_as("raw", false, NULL);
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){1, {4}}, 1);
    assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
    assert_int_equal(pe_stream_seek(stream, 17, &why), PE_RANGE_NOT_SATISFIABLE);
    pe_stream_free(stream);
    rendering = render_as("json", false, NULL);
    assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
    assert_int_equal(pe_stream_seek(stream, 1, &why), PE_INTERNAL);
    pe_stream_free(stream);
    pe_plan_free(&plan);
}

static pe_status fill_fails(const pe_plan *plan, const pe_region *region, void *out,
                            pe_problem *why)
{
    return pe_fail_memory(why);
}

static void a_failing_fill_reaches_the_reader(void **state)
{
    pe_plan plan;
    pe_stream *stream = NULL;
    pe_problem why = {0};
    char out[400];
    size_t got = 0;
    const pe_rendering rendering = render_as("json", false, NULL);
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){1, {4}}, 1);
    plan.fill = fill_fails;
    assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
    assert_int_equal(pe_stream_read(stream, out, sizeof out, &got, &why), PE_OVERLOADED);
    assert_int_equal(why.status, PE_OVERLOADED);
    pe_stream_free(stream);
    pe_plan_free(&plan);
}

static void times_are_spent_and_counted(void **state)
{
    pe_plan plan;
    pe_stream *stream = NULL;
    pe_problem why = {0};
    static char out[1 << 20];
    size_t got = 0;
    double compute = -1, encode = -1;
    const pe_rendering rendering = render_as("json", false, NULL);
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){2, {100, 100}}, 100);
    assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
    pe_stream_times(stream, &compute, &encode);
    assert_true(compute == 0 && encode == 0);
    assert_int_equal(pe_stream_read(stream, out, sizeof out, &got, &why), PE_OK);
    pe_stream_times(stream, &compute, &encode);
    assert_true(compute > 0 && encode > 0);
    pe_stream_free(stream);
    pe_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_make_the_same_bytes),
        cmocka_unit_test(lengths_are_true_and_bounds_hold),
        cmocka_unit_test(base64_decodes_to_the_numbers),
        cmocka_unit_test(nested_arrays_read_back_to_the_numbers),
        cmocka_unit_test(a_seek_continues_where_a_whole_read_would),
        cmocka_unit_test(ranges_end_where_they_are_told),
        cmocka_unit_test(only_what_a_range_asks_for_is_computed),
        cmocka_unit_test(wide_units_are_made_in_parts_once),
        cmocka_unit_test(samples_are_taken_from_all_over),
        cmocka_unit_test(offsets_past_the_end_and_unknown_lengths_are_refused),
        cmocka_unit_test(blocks_that_are_quick_grow),
        cmocka_unit_test(a_failing_fill_reaches_the_reader),
        cmocka_unit_test(times_are_spent_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
