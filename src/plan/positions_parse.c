/* SPDX-License-Identifier: MIT */
/* positions_parse.c - positions from their text. */
#include "plan/positions.h"

#include <math.h>
#include <stdlib.h>

#include "text/decimal.h"
#include "text/scan.h"

/* What every step knows: the parameter that problems name, and how many positions it may have. */
typedef struct reader {
    const char *name;
    size_t max_count;
    pe_problem *why;
} reader;

static pe_status too_many(const reader *of, size_t requested)
{
    pe_fail(of->why, PE_TOO_MANY_ELEMENTS, of->name,
            "%s names %zu positions, at most %zu are allowed (max_positions)", of->name, requested,
            of->max_count);
    of->why->max_elements = of->max_count;
    of->why->requested_elements = requested;
    return of->why->status;
}

/* One number that must take up all of the text. */
static pe_status scan_number(const reader *of, pe_slice text, double *out)
{
    size_t used;
    const pe_scan scan = pe_scan_number(text.text, text.bytes, out, &used);
    if (scan == PE_SCAN_OVERFLOW)
        return pe_fail(of->why, PE_MALFORMED_REQUEST, of->name,
                       "%s must be numbers that float64 can hold, got \"%.*s\"", of->name,
                       PE_SHOWN(text));
    if (scan != PE_SCAN_OK || used != text.bytes)
        return pe_fail(of->why, PE_MALFORMED_REQUEST, of->name,
                       "%s must be a:b, a:b:step, a number or a list of numbers, got \"%.*s\"",
                       of->name, PE_SHOWN(text));
    *out += 0.0; /* -0 is 0 */
    return PE_OK;
}

/* ---- a range ---- */

/* A bound or step of a range: units of 10^-places, as few as it needs. */
typedef struct bound {
    int64_t units;
    size_t places;
} bound;

static pe_status too_fine(const reader *of)
{
    return pe_fail(of->why, PE_INVALID_PARAMETER, of->name,
                   "the numbers of a fractional range in %s may have 15 digits together, before "
                   "and after the point; a list may have more",
                   of->name);
}

static pe_status scan_bound(const reader *of, pe_slice text, bound *out)
{
    double value;
    pe_decimal decimal;
    PE_TRY(scan_number(of, text, &value));
    if (fabs(value) > PE_POSITION_LIMIT)
        return pe_fail(of->why, PE_INVALID_PARAMETER, of->name,
                       "%s must lie strictly between -2^53 and 2^53, got %.17g", of->name, value);
    *out = (bound){(int64_t)value, 0};
    if (value == floor(value) || !pe_decimal_read(text.text, text.text + text.bytes, &decimal))
        return PE_OK;
    for (; decimal.digits % 10 == 0; decimal.exponent++) /* a fraction, so not 0 */
        decimal.digits /= 10;
    if (decimal.cut || decimal.exponent < -15 || (double)decimal.digits > PE_POSITION_LIMIT_UNITS)
        return too_fine(of);
    const int64_t digits = (int64_t)decimal.digits;
    *out = (bound){decimal.negative ? -digits : digits, (size_t)-decimal.exponent};
    return PE_OK;
}

/* All three in the units of the finest. */
static pe_status align(const reader *of, bound range[3])
{
    size_t places = 0;
    for (size_t i = 0; i < 3; i++)
        places = range[i].places > places ? range[i].places : places;
    for (size_t i = 0; i < 3 && places != 0; i++) {
        const double units = (double)range[i].units * pe_decimal_powers[places - range[i].places];
        if (fabs(units) > PE_POSITION_LIMIT_UNITS)
            return too_fine(of);
        range[i] = (bound){(int64_t)units, places};
    }
    return PE_OK;
}

static bool is_range(pe_slice text)
{
    return text.bytes != 0 && memchr(text.text, ':', text.bytes) != NULL;
}

/* a:b or a:b:step. Whatever follows a second colon is the step, further colons with it. */
static pe_status parse_range(const reader *of, const pe_slice text, pe_positions *out)
{
    const size_t parts = pe_slice_pieces(text, ':');
    pe_slice rest = text;
    bound range[3] = {{0, 0}, {0, 0}, {1, 0}};
    for (size_t i = 0; i < 3 && i < parts; i++) {
        PE_TRY(scan_bound(of, i < 2 ? pe_slice_next(&rest, ':') : rest, &range[i]));
    }
    PE_TRY(align(of, range));
    /* Positions first, first + step, ... before the end; `text` is what the client wrote. */
    const int64_t first = range[0].units, end = range[1].units, step = range[2].units;
    const size_t places = range[0].places;
    if (step == 0)
        return pe_fail(of->why, PE_INVALID_PARAMETER, of->name, "the step of %s must not be 0",
                       of->name);
    if (step > 0 ? end <= first : end >= first) {
        const bool stepped = range[2].units != 1 || places != 0;
        return pe_fail(of->why, PE_INVALID_PARAMETER, of->name,
                       "%s must name at least one position, but %.*s is empty%s", of->name,
                       PE_SHOWN(text), stepped ? "" : " (the end is not included)");
    }
    const uint64_t run = (uint64_t)(step > 0 ? end - first : first - end);
    const uint64_t stride = (uint64_t)(step > 0 ? step : -step);
    const uint64_t count = (run - 1) / stride + 1;
    const int64_t limit = (int64_t)PE_POSITION_LIMIT;
    if (first == limit || first == -limit ||
        (step < 0 && first - (int64_t)((count - 1) * stride) == -limit))
        return pe_fail(of->why, PE_INVALID_PARAMETER, of->name,
                       "%s must lie strictly between -2^53 and 2^53", of->name);
    if (count > of->max_count)
        return too_many(of, count);
    *out = pe_positions_decimal_range(first, step, count, places);
    return PE_OK;
}

/* ---- a list ---- */

/* `count` numbers with commas between them; out: NULL if they are only looked at. */
static pe_status scan_list(const reader *of, pe_slice text, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        double number;
        PE_TRY(scan_number(of, pe_slice_next(&text, ','), &number));
        if (out != NULL)
            out[i] = number;
    }
    return PE_OK;
}

static pe_status parse_list(const reader *of, pe_slice text, pe_positions *out)
{
    const size_t count = pe_slice_pieces(text, ',');
    if (count > of->max_count)
        return too_many(of, count);
    pe_array list;
    PE_TRY(pe_array_make(PE_FLOAT64, &(pe_shape){1, {count}}, &list, of->why));
    pe_status status = scan_list(of, text, count, list.data);
    if (status == PE_OK)
        status = pe_positions_from_list(&list, of->name, out, of->why);
    pe_array_free(&list);
    return status;
}

/* ---- several rows ---- */

/* The next row: a range, or of a list only how long it is, and a step of 0. */
static pe_status next_row(const reader *of, pe_slice *rows, pe_slice *text, pe_positions *row)
{
    *text = pe_slice_next(rows, ';');
    if (is_range(*text))
        return parse_range(of, *text, row);
    *row = (pe_positions){.count = pe_slice_pieces(*text, ',')};
    return PE_OK;
}

/* One row, which must be as long as the first that can be read: *n, or 0 before that one. */
static pe_status check_row(const reader *of, pe_slice *rows, size_t r, size_t *n)
{
    pe_slice text;
    pe_positions row = {0};
    pe_status status = next_row(of, rows, &text, &row);
    if (status == PE_OK && row.step == 0)
        status = scan_list(of, text, row.count, NULL);
    if (status != PE_OK || *n == 0 || row.count == *n) {
        *n = status == PE_OK ? row.count : *n;
        return status;
    }
    return pe_fail(of->why, PE_INVALID_PARAMETER, of->name,
                   "%s must name the same number of positions on every axis, got %zu on the first "
                   "axis and %zu on axis %zu",
                   of->name, *n, row.count, r);
}

/* The mistakes of all rows, where one has been found. */
static pe_status fail_rows(const reader *of, pe_slice rows, size_t n_rows)
{
    pe_problem mistake;
    const reader one = {of->name, of->max_count, &mistake};
    pe_status failed = PE_OK;
    size_t n = 0;
    for (size_t r = 0; r < n_rows && (failed == PE_OK || of->why->n_others < PE_MISTAKES_MAX); r++)
        failed = pe_problem_gather(failed, check_row(&one, &rows, r, &n), &mistake, of->why);
    return failed;
}

/* Rows as long as `all` says, which has room for them. */
static pe_status fill_rows(const reader *of, pe_slice rows, pe_positions *all)
{
    size_t used = 0;
    for (size_t r = 0; r < all->shape.dim[0]; r++) {
        pe_slice text;
        pe_positions row = {0};
        pe_status status = next_row(of, &rows, &text, &row);
        if (status == PE_OK && row.step == 0) {
            row.first = (int64_t)used;
            double *list = all->list + used;
            used += row.count;
            status = scan_list(of, text, row.count, list);
            if (status == PE_OK)
                status = pe_positions_check(list, row.count, of->name, &row.fractional, of->why);
        }
        PE_TRY(status);
        all->fractional |= row.fractional;
        if (all->rows != NULL)
            all->rows[r] = (pe_positions_row){row.first, row.step, row.places};
    }
    return PE_OK;
}

pe_status pe_positions_parse(pe_slice text, const char *name, size_t max_count, pe_positions *out,
                             pe_problem *why)
{
    const reader of = {name, max_count, why};
    const size_t rows = pe_slice_pieces(text, ';');
    if (rows > 1 && rows > max_count)
        return too_many(&of, rows);
    if (rows > 1) {
        size_t n = 0, lists = 0; /* what is known before numbers are held */
        pe_slice rest = text, row_text;
        for (size_t r = 0; r < rows; r++) {
            pe_positions row = {0};
            const pe_status status = next_row(&of, &rest, &row_text, &row);
            if (status != PE_OK || (r != 0 && row.count != n))
                return fail_rows(&of, text, rows);
            if (r == 0 && row.count > max_count / rows)
                return too_many(&of, row.count * rows);
            n = row.count;
            lists += row.step == 0;
        }
        pe_positions all = {.count = rows * n, .shape = {2, {rows, n}}};
        if (lists != 0)
            all.list = malloc(lists * n * sizeof *all.list);
        if (lists != rows)
            all.rows = malloc(rows * sizeof *all.rows);
        const bool held = (lists == 0 || all.list != NULL) && (lists == rows || all.rows != NULL);
        pe_status status = held ? fill_rows(&of, text, &all) : pe_fail_memory(of.why);
        if (status != PE_OK) {
            pe_positions_free(&all);
            const pe_status rows_status =
                pe_status_is_ours(status) ? PE_OK : fail_rows(&of, text, rows);
            return rows_status != PE_OK ? rows_status : status;
        }
        *out = all;
        return PE_OK;
    }
    return is_range(text) ? parse_range(&of, text, out) : parse_list(&of, text, out);
}
