/* SPDX-License-Identifier: MIT */
/* positions.c - ranges and lists of positions: their parts, their normal form, and their text. */
#include "plan/positions.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/real.h"
#include "text/decimal.h"

/* Both are exact doubles, so the quotient is the double nearest the decimal. */
static double at_places(int64_t units, size_t places)
{
    return places == 0 ? (double)units : (double)units / pe_decimal_powers[places];
}

double pe_positions_at(const pe_positions *positions, size_t r)
{
    assert(r < positions->count);
    if (positions->rows != NULL) {
        const size_t n = positions->shape.dim[1], i = r % n;
        const pe_positions_row *row = &positions->rows[r / n];
        if (row->step != 0)
            return at_places(row->first + (int64_t)i * row->step, row->places);
        assert(positions->list != NULL);
        return positions->list[(size_t)row->first + i];
    }
    if (positions->list != NULL)
        return positions->list[r];
    return at_places(positions->first + (int64_t)r * positions->step, positions->places);
}

size_t pe_positions_parts(const pe_positions *positions)
{
    return positions->rows != NULL ? positions->shape.dim[0] : 1;
}

pe_positions pe_positions_part(const pe_positions *positions, size_t k, size_t parts)
{
    const size_t n = positions->count / parts;
    assert(k < parts && (positions->rows == NULL || parts == positions->shape.dim[0]));
    if (positions->rows != NULL && positions->rows[k].step != 0) {
        const pe_positions_row *row = &positions->rows[k];
        return pe_positions_decimal_range(row->first, row->step, n, row->places);
    }
    if (positions->list == NULL)
        return pe_positions_decimal_range(positions->first + (int64_t)(k * n) * positions->step,
                                          positions->step, n, positions->places);
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

pe_positions pe_positions_decimal_range(int64_t first, int64_t step, size_t count, size_t places)
{
    while (places != 0 && first % 10 == 0 && (count == 1 || step % 10 == 0)) {
        first /= 10;
        step /= 10;
        places--;
    }
    pe_positions range = pe_positions_range(first, step, count);
    range.places = places;
    range.fractional = places != 0;
    return range;
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
    out->holders = NULL;
    out->rows = rows;
    if (list != NULL)
        memcpy(list, from->list, list_bytes);
    if (rows != NULL)
        memcpy(rows, from->rows, row_bytes);
    return PE_OK;
}

/* A list without a count of its holders belongs to one, or to nobody: it is a part of another. */
pe_status pe_positions_share(const pe_positions *from, pe_positions *out, pe_problem *why)
{
    if (from->holders == NULL)
        return pe_positions_copy(from, out, why);
    pe_positions rest = *from;
    rest.list = NULL;
    PE_TRY(pe_positions_copy(&rest, out, why));
    atomic_fetch_add(from->holders, 1);
    out->list = from->list;
    out->holders = from->holders;
    return PE_OK;
}

void pe_positions_free(pe_positions *positions)
{
    if (positions == NULL)
        return;
    if (positions->holders == NULL || atomic_fetch_sub(positions->holders, 1) == 1) {
        free(positions->list);
        free(positions->holders);
    }
    free(positions->rows);
    *positions = (pe_positions){0};
}

/* ---- lists ---- */

pe_status pe_positions_check(const double *list, size_t count, const char *name, bool *fractional,
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

/* Whether every step is the same nonzero integer. */
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
    PE_TRY(pe_positions_check(numbers, count, name, &fractional, why));
    if (list->shape.ndim == 1 && !fractional && steady(numbers, count)) {
        const double step = count == 1 ? 1 : numbers[1] - numbers[0];
        *out = pe_positions_range((int64_t)numbers[0], (int64_t)step, count);
        pe_array_free(list);
        return PE_OK;
    }
    assert(list->dtype == PE_FLOAT64 && !list->borrowed);
    atomic_size_t *holders = malloc(sizeof *holders);
    if (holders == NULL)
        return pe_fail_memory(why);
    atomic_init(holders, 1);
    for (size_t i = 0; i < count; i++)
        numbers[i] += 0.0; /* -0 is 0 */
    *out = (pe_positions){.count = count,
                          .list = numbers,
                          .holders = holders,
                          .fractional = fractional,
                          .shape = list->shape};
    *list = (pe_array){0};
    return PE_OK;
}

/* ---- printing ---- */

static void print_fractional(const pe_positions *range, pe_buffer *out)
{
    const int64_t most = (int64_t)PE_POSITION_LIMIT_UNITS, step = range->step;
    const int64_t last = range->first + (int64_t)(range->count - 1) * step;
    const int64_t end = step > 0 ? (last < most - step ? last + step : most)
                                 : (last > -most - step ? last + step : -most);
    pe_real_print(at_places(range->first, range->places), out);
    if (range->count == 1)
        return; /* as a list of one */
    pe_buffer_str(out, ":");
    pe_real_print(at_places(end, range->places), out);
    if (at_places(step, range->places) == 1)
        return;
    pe_buffer_str(out, ":");
    pe_real_print(at_places(step, range->places), out);
}

static void print_range(int64_t first, int64_t step, size_t count, pe_buffer *out)
{
    const int64_t last = first + (int64_t)(count - 1) * step;
    pe_buffer_format(out, "%lld:%lld", (long long)first,
                     (long long)(step > 0 ? last + 1 : last - 1));
    if (step != 1)
        pe_buffer_format(out, ":%lld", (long long)step);
}

static void print_any_range(const pe_positions *range, pe_buffer *out)
{
    if (range->places != 0)
        print_fractional(range, out);
    else
        print_range(range->first, range->step, range->count, out);
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
        print_any_range(positions, out);
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
            print_any_range(&row, out);
        else
            print_row(row.list, row.count, out);
    }
}
