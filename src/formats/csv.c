/* SPDX-License-Identifier: MIT */
/* csv.c - text/csv: one tensor of one or two axes, a header row of column indices. */
#include "formats/segments.h"

#include <math.h>
#include <string.h>

#include "text/blocks.h"
#include "text/number.h"

static size_t columns_of(const pe_tensor *tensor)
{
    return tensor->shape.dim[tensor->shape.ndim - 1];
}

/* A separator or a line end (two bytes) after each number. */
static size_t block_max(const pe_tensor *tensor, size_t n)
{
    (void)tensor;
    return n * (PE_NUMBER_TEXT_MAX + 2) + 1;
}

static uint64_t length_max(const pe_tensor *tensor)
{
    return (uint64_t)tensor->elements * pe_number_text_most(tensor->dtype);
}

/* Unlike JSON, CSV has words for numbers that are not finite: those that NumPy and pandas read. */
static size_t print_one(pe_dtype dtype, const void *at, char *out)
{
    double value = pe_dtype_load(dtype, at);
    if (isfinite(value))
        return pe_number_print(dtype, value, out);
    const char *text = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    size_t bytes = strlen(text);
    memcpy(out, text, bytes);
    return bytes;
}

static size_t print_run(pe_dtype dtype, const char *data, size_t n, char *out)
{
    size_t bytes = pe_blocks_print(dtype, data, n, ',', out);
    if (memchr(out, 'n', bytes) == NULL) /* no "null": all are finite */
        return bytes;
    char *to = out;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            *to++ = ',';
        to += print_one(dtype, data + i * pe_dtype_bytes(dtype), to);
    }
    return (size_t)(to - out);
}

static size_t encode(const pe_elements *elements, pe_carry *carry, char *out)
{
    const pe_tensor *tensor = elements->tensor;
    const size_t first = elements->first, end = first + elements->n;
    const size_t columns = columns_of(tensor), size = pe_dtype_bytes(tensor->dtype);
    const char *from = elements->data;
    char *to = out;
    (void)carry;
    for (size_t e = first, run; e < end; e += run, from += run * size) {
        size_t column = e % columns;
        run = columns - column < end - e ? columns - column : end - e;
        if (column > 0)
            *to++ = ',';
        to += print_run(tensor->dtype, from, run, to);
        if (column + run == columns) {
            *to++ = '\n';
        }
    }
    return (size_t)(to - out);
}

static const pe_encoder encoder = {
    .length_max = length_max,
    .block_max = block_max,
    .encode = encode,
};

static pe_status check(const pe_tensor *tensor, const pe_rendering *rendering, pe_problem *why)
{
    (void)rendering;
    if (tensor->shape.ndim < 1 || tensor->shape.ndim > 2)
        return pe_fail(why, PE_NOT_ACCEPTABLE, "format",
                       "csv holds a tensor of one or two axes, this one has %zu; json, npy, raw "
                       "and safetensors hold it",
                       tensor->shape.ndim);
    return PE_OK;
}

/* A tensor of one axis is one row. The header may be as long as a row, and is made like one. */
static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t index,
                     pe_segments *out)
{
    const size_t columns = columns_of(&plan->tensors[index]);
    (void)rendering;
    out->columns = (pe_tensor){.dtype = PE_INT32,
                               .shape = {.ndim = 1, .dim = {columns}},
                               .elements = columns,
                               .units = columns,
                               .unit = 1,
                               .work = 1};
    pe_segments_numbers(out, PE_COLUMNS, &encoder);
    pe_segments_numbers(out, index, &encoder);
}

static const struct pe_format_ops ops = {.check = check, .describe = describe};

const pe_format pe_format_csv = {
    .name = "csv",
    .extension = ".csv",
    .is_text = true,
    .media_type = "text/csv",
    .help =
        "RFC 4180, but lines end with LF: a header row of column indices, then one row for each "
        "row of the tensor.",
    .ops = &ops,
};
