/* SPDX-License-Identifier: MIT */
/* positions.c - ranges and lists of positions: reading, normalising, printing. */
#include "plan/positions.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/real.h"
#include "text/scan.h"

double pe_positions_at(const pe_positions *positions, size_t r)
{
    assert(r < positions->count);
    if (positions->rows != NULL) {
        const size_t n = positions->shape.dim[1], i = r % n;
        const pe_positions_row *row = &positions->rows[r / n];
        if (row->step != 0)
            return (double)(row->first + (int64_t)i * row->step);
        assert(positions->list != NULL);
        return positions->list[(size_t)row->first + i];
    }
    if (positions->list != NULL)
        return positions->list[r];
    return (double)(positions->first + (int64_t)r * positions->step);
}

size_t pe_positions_parts(const pe_positions *positions)
{
    return positions->rows != NULL ? positions->shape.dim[0] : 1;
}

pe_positions pe_positions_part(const pe_positions *positions, size_t k, size_t parts)
{
    const size_t n = positions->count / parts;
    assert(k < parts && (positions->rows == NULL || parts == positions->shape.dim[0]));
    if (positions->rows != NULL && positions->rows[k].step != 0)
        return pe_positions_range(positions->rows[k].first, positions->rows[k].step, n);
    if (positions->list == NULL)
        return pe_positions_range(positions->first + (int64_t)(k * n) * positions->step,
                                  positions->step, n);
    const size_t from = positions->rows != NULL ? (size_t)positions->rows[k].first : k * n;
    return (pe_positions){.count = n,
                          .list = positions->list + from,
                          .fractional = positions->fractional,
                          .shape = {1, {n}}};
}

void pe_positions_bounds(const pe_positions *positions, double *least, double *most)
{
    const size_t parts = pe_positions_parts(positions);
    *least = *most = pe_positions_at(positions, 0);
    for (size_t k = 0; k < parts; k++) {
        const pe_positions part = pe_positions_part(positions, k, parts);
        const size_t step = part.list == NULL && part.count > 1 ? part.count - 1 : 1;
        for (size_t r = 0; r < part.count; r += step) { /* a range has both at its ends */
            *least = fmin(*least, pe_positions_at(&part, r));
            *most = fmax(*most, pe_positions_at(&part, r));
        }
    }
}

pe_positions pe_positions_range(int64_t first, int64_t step, size_t count)
{
    return (pe_positions){
        .count = count, .first = first, .step = count == 1 ? 1 : step, .shape = {1, {count}}};
}

/* Numbers of the list. */
static size_t listed(const pe_positions *positions)
{
    size_t rows = 0;
    if (positions->rows == NULL)
        return positions->count;
    for (size_t k = 0; k < positions->shape.dim[0]; k++)
        rows += positions->rows[k].step == 0;
    return rows * positions->shape.dim[1];
}

pe_status pe_positions_copy(const pe_positions *from, pe_positions *out, pe_problem *why)
{
    const size_t list_bytes = from->list == NULL ? 0 : listed(from) * sizeof *from->list;
    const size_t row_bytes = from->rows == NULL ? 0 : from->shape.dim[0] * sizeof *from->rows;
    double *list = list_bytes == 0 ? NULL : malloc(list_bytes);
    pe_positions_row *rows = row_bytes == 0 ? NULL : malloc(row_bytes);
    if ((list == NULL && list_bytes != 0) || (rows == NULL && row_bytes != 0)) {
        free(list);
        free(rows);
        return pe_fail_memory(why);
    }
    *out = *from;
    out->list = list;
    out->rows = rows;
    if (list != NULL)
        memcpy(list, from->list, list_bytes);
    if (rows != NULL)
        memcpy(rows, from->rows, row_bytes);
    return PE_OK;
}

void pe_positions_free(pe_positions *positions)
{
    if (positions == NULL)
        return;
    free(positions->list);
    free(positions->rows);
    *positions = (pe_positions){0};
}

/* ---- reading ---- */

static pe_status too_many(const char *name, size_t requested, size_t max, pe_problem *why)
{
    pe_fail(why, PE_TOO_MANY_ELEMENTS, name, "%s names %zu positions, at most %zu are allowed",
            name, requested, max);
    why->max_elements = max;
    why->requested_elements = requested;
    return why->status;
}

/* One number that must take up all of [text, text + bytes). */
static pe_status scan_number(const char *text, size_t bytes, const char *name, double *out,
                             pe_problem *why)
{
    size_t used;
    const int shown = bytes > 40 ? 40 : (int)bytes;
    const pe_scan scan = pe_scan_number(text, bytes, out, &used);
    if (scan == PE_SCAN_OVERFLOW)
        return pe_fail(why, PE_MALFORMED_REQUEST, name, "%s: \"%.*s\" is too large to be a number",
                       name, shown, text);
    if (scan != PE_SCAN_OK || used != bytes)
        return pe_fail(why, PE_MALFORMED_REQUEST, name,
                       "%s must be a:b, a:b:step, a number or a list of numbers, got \"%.*s\"",
                       name, shown, text);
    *out += 0.0; /* -0 is 0 */
    return PE_OK;
}

/* A bound or step of a range: an integer, |x| <= 2^53. */
static pe_status scan_integer(const char *text, size_t bytes, const char *name, int64_t *out,
                              pe_problem *why)
{
    double value;
    const pe_status status = scan_number(text, bytes, name, &value, why);
    if (status != PE_OK)
        return status;
    if (value != floor(value))
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "the bounds and the step of a range in %s must be integers, got %.*s", name,
                       bytes > 40 ? 40 : (int)bytes, text);
    if (fabs(value) > PE_POSITION_LIMIT)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must lie strictly between -2^53 and 2^53, got %.17g", name, value);
    *out = (int64_t)value;
    return PE_OK;
}

static pe_status make_range(int64_t first, int64_t end, int64_t step, const char *name,
                            size_t max_count, pe_positions *out, pe_problem *why)
{
    if (step == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "the step of %s must not be 0", name);
    if (step > 0 ? end <= first : end >= first)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must name at least one position, but %lld:%lld%s is empty", name,
                       (long long)first, (long long)end,
                       step == 1 ? " (the end is not included)" : " with that step");
    const uint64_t run = (uint64_t)(step > 0 ? end - first : first - end);
    const uint64_t stride = (uint64_t)(step > 0 ? step : -step);
    const uint64_t count = (run - 1) / stride + 1;
    if (first == (int64_t)PE_POSITION_LIMIT || first == -(int64_t)PE_POSITION_LIMIT ||
        (step < 0 && first - (int64_t)((count - 1) * stride) == -(int64_t)PE_POSITION_LIMIT))
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must lie strictly between -2^53 and 2^53", name);
    if (count > max_count)
        return too_many(name, count, max_count, why);
    *out = pe_positions_range(first, step, count);
    return PE_OK;
}

static pe_status parse_range(const char *text, size_t bytes, const char *colon, const char *name,
                             size_t max_count, pe_positions *out, pe_problem *why)
{
    const char *end = text + bytes;
    const char *second = memchr(colon + 1, ':', (size_t)(end - colon - 1));
    const char *stop = second != NULL ? second : end;
    int64_t first, last, step = 1;
    pe_status status = scan_integer(text, (size_t)(colon - text), name, &first, why);
    if (status == PE_OK)
        status = scan_integer(colon + 1, (size_t)(stop - colon - 1), name, &last, why);
    if (status == PE_OK && second != NULL)
        status = scan_integer(second + 1, (size_t)(end - second - 1), name, &step, why);
    if (status != PE_OK)
        return status;
    return make_range(first, last, step, name, max_count, out, why);
}

static size_t count_numbers(const char *text, size_t bytes)
{
    size_t count = 1;
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == ',';
    return count;
}

/* `count` numbers with commas between them; out: NULL if they are only looked at. */
static pe_status scan_list(const char *text, size_t bytes, const char *name, size_t count,
                           double *out, pe_problem *why)
{
    pe_status status = PE_OK;
    const char *at = text, *end = text + bytes;
    for (size_t i = 0; i < count && status == PE_OK; i++) {
        const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
        const char *stop = comma != NULL ? comma : end;
        double number;
        status = scan_number(at, (size_t)(stop - at), name, &number, why);
        if (status == PE_OK && out != NULL)
            out[i] = number;
        at = stop + 1;
    }
    return status;
}

static pe_status parse_list(const char *text, size_t bytes, const char *name, size_t max_count,
                            pe_positions *out, pe_problem *why)
{
    const size_t count = count_numbers(text, bytes);
    if (count > max_count)
        return too_many(name, count, max_count, why);
    pe_array list;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {count}}, &list, why);
    if (status != PE_OK)
        return status;
    status = scan_list(text, bytes, name, count, list.data, why);
    if (status == PE_OK)
        status = pe_positions_from_list(&list, name, out, why);
    pe_array_free(&list);
    return status;
}

static pe_status parse_row(const char *text, size_t bytes, const char *name, size_t max_count,
                           pe_positions *out, pe_problem *why)
{
    const char *colon = memchr(text, ':', bytes);
    if (colon != NULL)
        return parse_range(text, bytes, colon, name, max_count, out, why);
    return parse_list(text, bytes, name, max_count, out, why);
}

/* ----
 * several rows ------------------------------------------------------------------------------- */

/* Rows of text, one after the other. */
typedef struct row_texts {
    const char *at, *end;
    const char *name;
    size_t max_count;
} row_texts;

/* The next row as a range, or of a list only how long it is: its step is 0. */
static pe_status next_row(row_texts *texts, const char **text, size_t *bytes, pe_positions *row,
                          pe_problem *why)
{
    const char *at = texts->at;
    const size_t left = at < texts->end ? (size_t)(texts->end - at) : 0;
    const char *mark = left != 0 ? memchr(at, ';', left) : NULL;
    *text = at;
    *bytes = mark != NULL ? (size_t)(mark - at) : left;
    texts->at = at + *bytes + 1;
    const char *colon = *bytes != 0 ? memchr(at, ':', *bytes) : NULL;
    if (colon != NULL)
        return parse_range(at, *bytes, colon, texts->name, texts->max_count, row, why);
    *row = (pe_positions){.count = count_numbers(at, *bytes)};
    return PE_OK;
}

/* Row r is not as long as those before it, unless one of them cannot be read at all. */
static pe_status fail_length(row_texts texts, size_t r, size_t n, pe_problem *why)
{
    const char *text;
    size_t bytes;
    pe_positions row = {0};
    pe_status status = PE_OK;
    for (size_t k = 0; k <= r && status == PE_OK; k++) {
        status = next_row(&texts, &text, &bytes, &row, why);
        if (status == PE_OK && row.step == 0)
            status = scan_list(text, bytes, texts.name, row.count, NULL, why);
    }
    if (status != PE_OK)
        return status;
    return pe_fail(why, PE_INVALID_PARAMETER, texts.name,
                   "%s must name as many positions on every axis: %zu on the first, %zu on axis "
                   "%zu",
                   texts.name, n, row.count, r);
}

/* How long rows are, and how many of them are lists: nothing is held yet. */
static pe_status measure_rows(const row_texts *all, size_t rows, size_t *n, size_t *lists,
                              pe_problem *why)
{
    row_texts texts = *all;
    const char *text;
    size_t bytes;
    *n = *lists = 0;
    for (size_t r = 0; r < rows; r++) {
        pe_positions row;
        const pe_status status = next_row(&texts, &text, &bytes, &row, why);
        if (status != PE_OK)
            return status;
        if (r == 0 && row.count > texts.max_count / rows)
            return too_many(texts.name, row.count * rows, texts.max_count, why);
        if (r != 0 && row.count != *n)
            return fail_length(*all, r, *n, why);
        *n = row.count;
        *lists += row.step == 0;
    }
    return PE_OK;
}

static pe_status check_list(const double *list, size_t count, const char *name, bool *fractional,
                            pe_problem *why)
{
    *fractional = false;
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(list[i]) < PE_POSITION_LIMIT))
            return pe_fail(why, PE_INVALID_PARAMETER, name,
                           "%s must lie strictly between -2^53 and 2^53, got %.17g", name, list[i]);
        *fractional |= list[i] != floor(list[i]);
    }
    return PE_OK;
}

/* Rows that are as long as `all` says go where there is room for them. */
static pe_status fill_rows(row_texts texts, pe_positions *all, pe_problem *why)
{
    const char *text;
    size_t bytes, used = 0;
    const size_t n = all->shape.dim[1];
    pe_status status = PE_OK;
    for (size_t r = 0; r < all->shape.dim[0] && status == PE_OK; r++) {
        pe_positions row;
        bool fractional = false;
        status = next_row(&texts, &text, &bytes, &row, why);
        if (status == PE_OK && row.step == 0) {
            row.first = (int64_t)used;
            status = scan_list(text, bytes, texts.name, n, all->list + used, why);
            if (status == PE_OK)
                status = check_list(all->list + used, n, texts.name, &fractional, why);
            used += n;
        }
        all->fractional |= fractional;
        if (all->rows != NULL)
            all->rows[r] = (pe_positions_row){row.first, row.step};
    }
    return status;
}

static pe_status parse_rows(const char *text, size_t bytes, size_t rows, const char *name,
                            size_t max_count, pe_positions *out, pe_problem *why)
{
    const row_texts texts = {text, text + bytes, name, max_count};
    size_t n, lists;
    pe_status status = measure_rows(&texts, rows, &n, &lists, why);
    if (status != PE_OK)
        return status;
    pe_positions all = {.count = rows * n, .shape = {2, {rows, n}}};
    if (lists != 0)
        all.list = malloc(lists * n * sizeof *all.list);
    if (lists != rows)
        all.rows = malloc(rows * sizeof *all.rows);
    if ((lists != 0 && all.list == NULL) || (lists != rows && all.rows == NULL))
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = fill_rows(texts, &all, why);
    if (status == PE_OK)
        *out = all;
    else
        pe_positions_free(&all);
    return status;
}

size_t pe_positions_count_rows(const char *text, size_t bytes)
{
    size_t rows = 1;
    for (size_t i = 0; i < bytes; i++)
        rows += text[i] == ';';
    return rows;
}

pe_status pe_positions_parse(const char *text, size_t bytes, const char *name, size_t max_count,
                             pe_positions *out, pe_problem *why)
{
    const size_t rows = pe_positions_count_rows(text, bytes);
    if (rows == 1)
        return parse_row(text, bytes, name, max_count, out, why);
    if (rows > max_count)
        return too_many(name, rows, max_count, why);
    return parse_rows(text, bytes, rows, name, max_count, out, why);
}

/* ---- lists ---- */

/* Is every step the same nonzero integer? */
static bool steady(const double *list, size_t count)
{
    if (count == 1)
        return true;
    const double step = list[1] - list[0];
    for (size_t i = 1; i < count; i++)
        if (list[i] - list[i - 1] != step)
            return false;
    return step != 0 && fabs(step) <= PE_POSITION_LIMIT;
}

pe_status pe_positions_from_list(pe_array *list, const char *name, pe_positions *out,
                                 pe_problem *why)
{
    const size_t count = list->elements;
    double *numbers = list->data;
    bool fractional;
    if (count == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must name at least one position", name);
    const pe_status status = check_list(numbers, count, name, &fractional, why);
    if (status != PE_OK)
        return status;
    if (list->shape.ndim == 1 && !fractional && steady(numbers, count)) {
        const double step = count == 1 ? 1 : numbers[1] - numbers[0];
        *out = pe_positions_range((int64_t)numbers[0], (int64_t)step, count);
        pe_array_free(list);
        return PE_OK;
    }
    assert(list->dtype == PE_FLOAT64 && !list->borrowed);
    for (size_t i = 0; i < count; i++)
        numbers[i] += 0.0; /* -0 is 0 */
    *out = (pe_positions){
        .count = count, .list = numbers, .fractional = fractional, .shape = list->shape};
    *list = (pe_array){0};
    return PE_OK;
}

static void print_range(int64_t first, int64_t step, size_t count, pe_buffer *out)
{
    const int64_t last = first + (int64_t)(count - 1) * step;
    pe_buffer_format(out, "%lld:%lld", (long long)first,
                     (long long)(step > 0 ? last + 1 : last - 1));
    if (step != 1)
        pe_buffer_format(out, ":%lld", (long long)step);
}

/* A listed row of several, as it would be printed alone. */
static void print_row(const double *list, size_t count, pe_buffer *out)
{
    bool whole = true;
    for (size_t i = 0; i < count; i++)
        whole &= list[i] == floor(list[i]);
    if (whole && steady(list, count))
        print_range((int64_t)list[0], count == 1 ? 1 : (int64_t)(list[1] - list[0]), count, out);
    else
        pe_real_print_list(list, count, out);
}

void pe_positions_print(const pe_positions *positions, pe_buffer *out)
{
    const size_t axes = positions->shape.ndim;
    if (positions->list == NULL && positions->rows == NULL) {
        print_range(positions->first, positions->step, positions->count, out);
        return;
    }
    if (axes < 2) {
        assert(positions->list != NULL); /* rows are of several axes */
        pe_real_print_list(positions->list, positions->count, out);
        return;
    }
    const size_t rows = positions->count / positions->shape.dim[axes - 1];
    for (size_t r = 0; r < rows; r++) {
        const pe_positions row = pe_positions_part(positions, r, rows);
        if (r != 0)
            pe_buffer_str(out, ";");
        if (row.list == NULL)
            print_range(row.first, row.step, row.count, out);
        else
            print_row(row.list, row.count, out);
    }
}
