/* SPDX-License-Identifier: MIT */
/* csv.c - text/csv: a row for each row of a tensor; rows of several tensors and axes say whose they
 * are. */
#include "formats/segments.h"

#include <math.h>
#include <string.h>

#include "formats/words.h"
#include "plan/resource.h"
#include "text/blocks.h"
#include "text/number.h"

/* The axis of a tensor along which its rows lie. */
static size_t row_axis(const pe_tensor *tensor)
{
    return tensor->shape.ndim < 2 ? 0 : tensor->shape.ndim - 2;
}

/* Before the numbers of a row: a name, and an index for each axis, or a position. */
#define LABELS_MAX 256

/* A vector has one number in each row. */
static size_t columns_of(const pe_tensor *tensor)
{
    return tensor->shape.ndim < 2 ? 1 : tensor->shape.dim[tensor->shape.ndim - 1];
}

/* A separator or a line end (two bytes) after each number. */
static size_t block_max(const pe_tensor *tensor PE_UNUSED, size_t n)
{
    return n * (PE_NUMBER_TEXT_MAX + 2) + 1;
}

static uint64_t length_max(const pe_tensor *tensor)
{
    return (uint64_t)tensor->elements * pe_number_text_most(tensor->dtype);
}

/* The same of rows with labels. */
static size_t labelled_block_max(const pe_tensor *tensor, size_t n)
{
    return block_max(tensor, n) + (n / columns_of(tensor) + 2) * LABELS_MAX;
}

static uint64_t labelled_length_max(const pe_tensor *tensor)
{
    return length_max(tensor) + (uint64_t)(tensor->elements / columns_of(tensor) + 2) * LABELS_MAX;
}

/* Unlike JSON, CSV has words for numbers that are not finite: those that NumPy and pandas read. */
static size_t print_run(pe_dtype dtype, const char *data, size_t n, char between, char *out)
{
    size_t bytes = pe_blocks_print(dtype, data, n, between, out);
    if (memchr(out, 'n', bytes) == NULL) /* no "null": all are finite */
        return bytes;
    char *to = out;
    for (size_t i = 0; i < n; i++) {
        const double value = pe_dtype_load(dtype, data + i * pe_dtype_bytes(dtype));
        if (i > 0)
            *to++ = between;
        if (isfinite(value))
            to += pe_number_print(dtype, value, to);
        else
            to = stpcpy(to, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    }
    return (size_t)(to - out);
}

/* An index or a position. */
static char *put_number(double number, char *to)
{
    to += pe_number_print(PE_FLOAT64, number, to);
    *to++ = ',';
    return to;
}

/* What stands before the first number of a row. */
static char *put_labels(const pe_elements *elements, size_t row, char *to)
{
    const pe_row_labels *labels = elements->labels;
    const pe_shape *shape = &elements->tensor->shape;
    if (labels->block != NULL) {
        const size_t bytes = strnlen(labels->block, LABELS_MAX / 4);
        memcpy(to, labels->block, bytes);
        to += bytes;
        *to++ = ',';
    }
    for (size_t e = 0; e < labels->empty; e++)
        *to++ = ',';
    const size_t axis = row_axis(elements->tensor);
    const size_t rows = shape->ndim == 0 ? 1 : shape->dim[axis];
    size_t inner = rows;
    for (size_t d = 0; d < axis; d++)
        inner *= shape->dim[d];
    for (size_t d = 0; d < labels->leading; d++) {
        inner /= shape->dim[d];
        to = put_number((double)(row / inner % shape->dim[d]), to);
    }
    if (!labels->numbered)
        return to;
    const pe_positions *positions = labels->positions;
    row %= rows;
    return put_number(positions == NULL ? (double)row : pe_positions_at(positions, row), to);
}

static bool has_labels(const pe_row_labels *labels)
{
    return labels->block != NULL || labels->leading > 0 || labels->numbered;
}

/* Rows of one number without labels are printed as a single row, with line ends between its numbers. */
static size_t encode(const pe_elements *elements, pe_carry *carry PE_UNUSED, char *out)
{
    const pe_tensor *tensor = elements->tensor;
    const bool labelled = elements->labels != NULL && has_labels(elements->labels);
    const bool lone = !labelled && columns_of(tensor) == 1;
    const size_t columns = lone ? tensor->elements : columns_of(tensor);
    const size_t first = elements->first, end = first + elements->n;
    const size_t size = pe_dtype_bytes(tensor->dtype);
    const char *from = elements->data, between = lone ? '\n' : ',';
    char *to = out;
    for (size_t e = first, run; e < end; e += run, from += run * size) {
        size_t column = e % columns;
        run = columns - column < end - e ? columns - column : end - e;
        if (column > 0)
            *to++ = between;
        else if (labelled)
            to = put_labels(elements, e / columns, to);
        to += print_run(tensor->dtype, from, run, between, to);
        if (column + run == columns)
            *to++ = '\n';
    }
    return (size_t)(to - out);
}

static const pe_encoder encoder = {
    .length_max = length_max,
    .block_max = block_max,
    .encode = encode,
};

static const pe_encoder labelled = {
    .length_max = labelled_length_max,
    .block_max = labelled_block_max,
    .encode = encode,
    .row_work = 8,
};

/* ---- what rows are called ---- */

/* "positions [tokens]" without its unit. */
static void put_axis_name(const pe_rendering *rendering, const pe_tensor *tensor, size_t axis,
                          pe_buffer *out)
{
    pe_axis_words words;
    pe_words_axis(rendering, tensor, axis, &words);
    const char *unit = strstr(words.name, " [");
    pe_buffer_format(out, "%.*s,",
                     (int)(unit != NULL ? (size_t)(unit - words.name) : strlen(words.name)),
                     words.name);
}

/* The names of what stands before the numbers, then the columns' indices; of a vector, whose rows
 * have labels, the name of its numbers. */
static void describe_header(const pe_plan *plan, const pe_rendering *rendering, size_t longest,
                            pe_segments *out)
{
    const pe_tensor *tensor = &plan->tensors[longest];
    const pe_row_labels *labels = &out->labels[longest];
    const size_t columns = columns_of(tensor);
    if (labels->block != NULL)
        pe_buffer_str(&out->text, "tensor,");
    for (size_t axis = 0; axis < labels->leading; axis++)
        put_axis_name(rendering, tensor, axis, &out->text);
    if (labels->numbered)
        put_axis_name(rendering, tensor, row_axis(tensor), &out->text);
    if (labels->numbered && tensor->shape.ndim < 2) {
        /* "decay" of rope/decay; "value" of several tensors */
        const char *name = pe_segments_tensor_name(plan, longest);
        const char *path = rendering->resource->name, *last = strrchr(path, '/');
        pe_buffer_format(&out->text, "%s\n",
                         plan->n_tensors > 1         ? "value"
                         : strcmp(name, "data") != 0 ? name
                         : last != NULL              ? last + 1
                                                     : path);
        pe_segments_text(out);
        return;
    }
    pe_segments_text(out);
    out->columns = (pe_tensor){.dtype = PE_INT32,
                               .shape = {.ndim = 2, .dim = {1, columns}},
                               .elements = columns,
                               .units = columns,
                               .unit = 1,
                               .work = 1};
    pe_segments_numbers(out, PE_COLUMNS, &encoder);
}

/* The header may be as long as a row, and is made like one. */
static void describe(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                     pe_segments *out)
{
    size_t tensors = 0, longest = SIZE_MAX;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        if (!pe_format_holds(rendering, t, chosen))
            continue;
        tensors++;
        if (longest == SIZE_MAX || row_axis(&plan->tensors[t]) > row_axis(&plan->tensors[longest]))
            longest = t;
    }
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const pe_tensor *tensor = &plan->tensors[t];
        const size_t most = row_axis(&plan->tensors[longest]), own = row_axis(tensor);
        const bool names = rendering->csv_header == PE_CSV_NAMES;
        out->labels[t] = (pe_row_labels){
            .block = tensors > 1 ? pe_segments_tensor_name(plan, t) : NULL,
            .empty = own < most ? most - own : 0,
            .leading = own,
            .numbered = names,
            .positions = names ? pe_words_positions(rendering, tensor, own) : NULL,
        };
    }
    if (rendering->csv_header != PE_CSV_NONE)
        describe_header(plan, rendering, longest, out);
    for (size_t t = 0; t < plan->n_tensors; t++)
        if (pe_format_holds(rendering, t, chosen))
            pe_segments_numbers(out, t, has_labels(&out->labels[t]) ? &labelled : &encoder);
}

/* Lines have one number of fields. */
static pe_status check_plan(const pe_plan *plan, const pe_rendering *rendering, size_t chosen,
                            pe_problem *why)
{
    size_t first = SIZE_MAX;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        if (!pe_format_holds(rendering, t, chosen))
            continue;
        first = first == SIZE_MAX ? t : first;
        const size_t columns[] = {columns_of(&plan->tensors[first]), columns_of(&plan->tensors[t])};
        if (columns[0] != columns[1])
            return pe_fail(why, PE_NOT_ACCEPTABLE, "tensor",
                           "csv holds tensors of as many columns, %s has %zu and %s %zu; npz holds "
                           "them, and tensor= chooses one",
                           pe_segments_tensor_name(plan, first), columns[0],
                           pe_segments_tensor_name(plan, t), columns[1]);
    }
    return PE_OK;
}

const pe_format pe_format_csv = {
    .name = "csv",
    .extension = ".csv",
    .is_text = true,
    .media_type = "text/csv",
    .help = "RFC 4180, but lines end with LF: a header row (csv_header), then a line for each row "
            "of the tensor, or for each number of a vector. Lines of several tensors begin with "
            "the tensor's name, those of more than two axes with the indices of the leading ones.",
    .holds_any = true,
    .check = check_plan,
    .describe = describe,
};
