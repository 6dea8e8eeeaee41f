/* SPDX-License-Identifier: MIT */
/* golden.c - golden files, and the numbers of answers beside them. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/real.h"
#include "support/golden.h"
#include "support/slow.h"

const char *const golden_types[] = {"float64", "float32", "float16", "bfloat16"};
const pe_dtype golden_dtypes[] = {PE_FLOAT64, PE_FLOAT32, PE_FLOAT16, PE_BFLOAT16};

/* Ten positions that no golden file holds; above 2^24 float32 has lost them, above 2^32 so has
 * int32. */
const double golden_elsewhere[] = {3,
                                   77,
                                   1021,
                                   65537,
                                   999983,
                                   2147483659,
                                   4294967311,
                                   1099511627791,
                                   4503599627370517,
                                   9007199254740991};
const char golden_elsewhere_text[] = "3,77,1021,65537,999983,2147483659,4294967311,1099511627791,"
                                     "4503599627370517,9007199254740991";

json_t *golden_load(const char *name)
{
    char path[512];
    const char *root = getenv("POSENC_ROOT");
    json_error_t error;
    snprintf(path, sizeof path, "%s/tests/golden/data/%s.json", root != NULL ? root : ".", name);
    json_t *golden = json_load_file(path, 0, &error);
    if (golden == NULL)
        fail_msg("%s: %s", path, error.text);
    return golden;
}

double golden_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value))
        fail_msg("golden file: %s is not a number", name);
    return json_number_value(value);
}

const char *golden_text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    if (value == NULL)
        fail_msg("golden file: %s is not a string", name);
    return value;
}

/* The flat data of golden array `name` in section; NULL when there is none. */
const json_t *golden_flat(const json_t *golden, const char *section, const char *name)
{
    return json_object_get(json_object_get(json_object_get(golden, section), name), "data");
}

size_t golden_dimension(const json_t *golden, const char *section, const char *name, size_t axis)
{
    const json_t *shape =
        json_object_get(json_object_get(json_object_get(golden, section), name), "shape");
    return (size_t)json_integer_value(json_array_get(shape, axis));
}

double golden_item(const json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

void golden_add_nested(const json_t *golden, const char *section, const char *name, pe_buffer *out)
{
    const json_t *array = json_object_get(json_object_get(golden, section), name);
    const json_t *shape = json_object_get(array, "shape"), *flat = json_object_get(array, "data");
    const size_t axes = json_array_size(shape), n = json_array_size(flat);
    assert_true(axes > 0 && n > 0);
    for (size_t i = 0; i < n; i++) {
        size_t block = 1, opened = 0; /* axes that begin with element i */
        for (size_t a = axes; a-- > 0; opened += i % block == 0)
            block *= (size_t)json_integer_value(json_array_get(shape, a));
        for (size_t a = 0; i > 0 && a < opened; a++)
            pe_buffer_str(out, "]");
        pe_buffer_str(out, i > 0 ? "," : "");
        for (size_t a = 0; a < opened; a++)
            pe_buffer_str(out, "[");
        pe_buffer_format(out, "%.17g", golden_item(flat, i));
    }
    for (size_t a = 0; a < axes; a++)
        pe_buffer_str(out, "]");
}

/* Depth-first into out; returns how many numbers there were. null stays NaN. */
static size_t flatten(const json_t *data, double *out, size_t room)
{
    size_t n = 0;
    if (!json_is_array(data)) {
        assert_true(room > 0);
        *out = json_is_number(data) ? json_number_value(data) : (double)NAN;
        return 1;
    }
    for (size_t i = 0; i < json_array_size(data); i++)
        n += flatten(json_array_get(data, i), out + n, room - n);
    return n;
}

double golden_round(pe_dtype dtype, double value)
{
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, value, MPFR_RNDN);
    const double rounded = slow_round(dtype, x);
    mpfr_clear(x);
    return rounded;
}

/* The numbers of tensor `name` ("data": the only one) of a 200 answer of dtype, freed by the
 * caller. The text is the shortest that reads back to the same value of the dtype, so reading ends
 * with a rounding to it. */
double *golden_numbers(const reply *answer, const char *name, pe_dtype dtype, const char *what,
                       size_t *n)
{
    if (answer->status != 200)
        fail_msg("%s: status %ld: %s", what, answer->status, answer->body);
    json_error_t error; /* an element beyond 2^63 may have no fraction */
    json_t *json = json_loadb(answer->body, answer->bytes, JSON_DECODE_INT_AS_REAL, &error);
    if (json == NULL)
        fail_msg("%s: not JSON: %s", what, error.text);
    const json_t *data = json_object_get(json, name);
    if (json_is_object(data))
        data = json_object_get(data, "data");
    if (data == NULL)
        fail_msg("%s: no member %s in %.500s", what, name, answer->body);
    const size_t room = answer->bytes;
    double *out = malloc(room * sizeof *out);
    assert_non_null(out);
    *n = flatten(data, out, room);
    for (size_t i = 0; i < *n; i++)
        out[i] = isnan(out[i]) ? out[i] : golden_round(dtype, out[i]);
    json_decref(json);
    return out;
}

void golden_same(const double *got, size_t n, const json_t *truth, pe_dtype dtype, const char *what)
{
    assert_non_null(truth);
    if (n != json_array_size(truth))
        fail_msg("%s: %zu numbers, wanted %zu", what, n, json_array_size(truth));
    for (size_t i = 0; i < n; i++) {
        const double wanted = golden_round(dtype, golden_item(truth, i));
        if (memcmp(&got[i], &wanted, sizeof wanted) != 0)
            fail_msg("%s, %s, element %zu: got %.17g, wanted %.17g", what, pe_dtype_name(dtype), i,
                     got[i], wanted);
    }
}

const json_t *golden_positions(const json_t *golden)
{
    const json_t *positions = golden_flat(golden, "inputs", "positions");
    return positions != NULL ? positions : golden_flat(golden, "inputs", "timesteps");
}

void golden_add_positions(const json_t *golden, pe_buffer *target)
{
    const json_t *positions = golden_positions(golden);
    if (positions == NULL) { /* the timing signal counts from start_index */
        const json_t *params = json_object_get(golden, "params");
        const double first = golden_number(params, "start_index");
        pe_buffer_format(target, "%.0f:%.0f", first, first + golden_number(params, "length"));
        return;
    }
    for (size_t i = 0; i < json_array_size(positions); i++) {
        if (i != 0)
            pe_buffer_str(target, ",");
        pe_real_print(golden_item(positions, i), target);
    }
}
