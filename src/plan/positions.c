/* SPDX-License-Identifier: MIT */
/* positions.c - ranges and lists of positions: reading, normalising, printing. */
#include "plan/positions.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/params.h"
#include "text/number.h"

double pe_positions_at(const pe_positions *positions, size_t r)
{
    assert(r < positions->count);
    if (positions->list != NULL)
        return positions->list[r];
    return (double)(positions->first + (int64_t)r * positions->step);
}

pe_positions pe_positions_range(int64_t first, int64_t step, size_t count)
{
    return (pe_positions){
        .count = count, .first = first, .step = count == 1 ? 1 : step, .shape = {1, {count}}};
}

pe_status pe_positions_copy(const pe_positions *from, pe_positions *out, pe_problem *why)
{
    double *list = NULL;
    if (from->list != NULL) {
        const size_t bytes = from->count * sizeof *list;
        list = malloc(bytes);
        if (list == NULL)
            return pe_fail_memory(why);
        memcpy(list, from->list, bytes);
    }
    *out = *from;
    out->list = list;
    return PE_OK;
}

void pe_positions_free(pe_positions *positions)
{
    if (positions == NULL)
        return;
    free(positions->list);
    *positions = (pe_positions){0};
}

/* ---- reading ------------------------------------------------------------------------------------
 */

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
    const pe_scan scan = pe_number_scan(text, bytes, out, &used);
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
    const uint64_t span = (uint64_t)(step > 0 ? end - first : first - end);
    const uint64_t stride = (uint64_t)(step > 0 ? step : -step);
    const uint64_t count = (span - 1) / stride + 1;
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

static pe_status parse_list(const char *text, size_t bytes, const char *name, size_t max_count,
                            pe_positions *out, pe_problem *why)
{
    size_t count = 1;
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == ',';
    if (count > max_count)
        return too_many(name, count, max_count, why);
    pe_array list;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {count}}, &list, why);
    if (status != PE_OK)
        return status;
    const char *at = text, *end = text + bytes;
    for (size_t i = 0; i < count && status == PE_OK; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        status = scan_number(at, (size_t)(stop - at), name, (double *)list.data + i, why);
        at = stop + 1;
    }
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

/* Row r of `rows`, and what it makes of the list of all; the first row says how long rows are. */
static pe_status take_row(const pe_positions *row, size_t r, size_t rows, const char *name,
                          size_t max_count, pe_positions *all, pe_problem *why)
{
    assert(row->count > 0); /* an empty range has been refused */
    if (r == 0) {
        if (row->count > max_count / rows)
            return too_many(name, row->count * rows, max_count, why);
        all->shape = (pe_shape){2, {rows, row->count}};
        all->count = rows * row->count;
        all->list = malloc(all->count * sizeof *all->list);
        if (all->list == NULL)
            return pe_fail_memory(why);
    }
    if (row->count != all->shape.dim[1])
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must name as many positions on every axis: %zu on the first, %zu on "
                       "axis %zu",
                       name, all->shape.dim[1], row->count, r);
    for (size_t i = 0; i < row->count; i++)
        all->list[r * row->count + i] = pe_positions_at(row, i);
    all->fractional |= row->fractional;
    return PE_OK;
}

static pe_status parse_rows(const char *text, size_t bytes, size_t rows, const char *name,
                            size_t max_count, pe_positions *out, pe_problem *why)
{
    pe_positions all = {0};
    pe_status status = PE_OK;
    const char *at = text, *end = text + bytes;
    for (size_t r = 0; r < rows && status == PE_OK; r++) {
        const char *mark = at < end ? memchr(at, ';', (size_t)(end - at)) : NULL;
        const char *stop = mark != NULL ? mark : end;
        pe_positions row = {0};
        status = parse_row(at, (size_t)(stop - at), name, max_count, &row, why);
        if (status == PE_OK)
            status = take_row(&row, r, rows, name, max_count, &all, why);
        pe_positions_free(&row);
        at = stop + 1;
    }
    if (status == PE_OK)
        *out = all;
    else
        pe_positions_free(&all);
    return status;
}

pe_status pe_positions_parse(const char *text, size_t bytes, const char *name, size_t max_count,
                             pe_positions *out, pe_problem *why)
{
    size_t rows = 1;
    for (size_t i = 0; i < bytes; i++)
        rows += text[i] == ';';
    if (rows == 1)
        return parse_row(text, bytes, name, max_count, out, why);
    if (rows > max_count)
        return too_many(name, rows, max_count, why);
    return parse_rows(text, bytes, rows, name, max_count, out, why);
}

/* ---- lists --------------------------------------------------------------------------------------
 */

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

pe_status pe_positions_row(const pe_positions *from, size_t first, size_t n, pe_positions *out,
                           pe_problem *why)
{
    assert(n > 0 && first + n <= from->count);
    pe_array list;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {n}}, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        ((double *)list.data)[i] = pe_positions_at(from, first + i);
    status = pe_positions_from_list(&list, "positions", out, why);
    pe_array_free(&list);
    return status;
}

static void print_range(int64_t first, int64_t step, size_t count, pe_buffer *out)
{
    const int64_t last = first + (int64_t)(count - 1) * step;
    pe_buffer_format(out, "%lld:%lld", (long long)first,
                     (long long)(step > 0 ? last + 1 : last - 1));
    if (step != 1)
        pe_buffer_format(out, ":%lld", (long long)step);
}

static void print_list(const double *list, size_t count, pe_buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            pe_buffer_str(out, ",");
        pe_real_print(list[i], out);
    }
}

/* A row of several, as it would be printed alone. */
static void print_row(const double *list, size_t count, pe_buffer *out)
{
    bool whole = true;
    for (size_t i = 0; i < count; i++)
        whole &= list[i] == floor(list[i]);
    if (whole && steady(list, count))
        print_range((int64_t)list[0], count == 1 ? 1 : (int64_t)(list[1] - list[0]), count, out);
    else
        print_list(list, count, out);
}

void pe_positions_print(const pe_positions *positions, pe_buffer *out)
{
    if (positions->list == NULL) {
        print_range(positions->first, positions->step, positions->count, out);
        return;
    }
    if (positions->shape.ndim < 2) {
        print_list(positions->list, positions->count, out);
        return;
    }
    const size_t n = positions->shape.dim[positions->shape.ndim - 1];
    for (size_t first = 0; first < positions->count; first += n) {
        if (first != 0)
            pe_buffer_str(out, ";");
        print_row(positions->list + first, n, out);
    }
}
