/* SPDX-License-Identifier: MIT */
/* bucket_reading.c - indices of relative positions, by their distance. */
#include "verify/bucket_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/geometry.h"

#define NOWHERE nan("")

/* One of so many rows may be something else, and not more than so many. */
#define ODD_ROWS 4
#define ODD_MOST 8

/* ---- by distance ---- */

double pe_indices_at(const pe_indices *x, double relative)
{
    const double at = relative - x->lowest;
    return at >= 0 && at < (double)x->n ? x->value[(size_t)at] : NOWHERE;
}

double pe_indices_find(const pe_indices *x, double value)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->value[i] == value)
            return x->lowest + (double)i;
    return NOWHERE;
}

static size_t place_of(const pe_indices *x, size_t element)
{
    return element % x->keys + x->queries - 1 - element / x->keys;
}

double pe_indices_relative(const pe_indices *x, size_t element)
{
    return x->lowest + (double)place_of(x, element);
}

size_t pe_indices_nth(const pe_indices *x, size_t k)
{
    const size_t zero = x->lowest > 0 || x->lowest <= -(double)x->n ? 0 : (size_t)-x->lowest;
    return (zero + (k % 2 == 1 ? k / 2 + 1 : x->n - k / 2)) % x->n;
}

/* Of each distance the index that most rows give, by votes for and against. */
static void vote(const pe_indices *x)
{
    for (size_t i = 0; i < x->n; i++) {
        x->value[i] = NOWHERE;
        x->votes[i] = 0;
    }
    for (size_t e = 0; e < x->of->elements; e++) {
        const size_t i = place_of(x, e);
        if (x->odd[e / x->keys])
            continue;
        if (x->votes[i] == 0)
            x->value[i] = x->of->got[e];
        x->votes[i] += x->value[i] == x->of->got[e] ? 1 : -(size_t)1;
    }
    pe_numbers_spend(x->of, x->of->elements);
}

/* The row that differs most from the others; SIZE_MAX: none does. */
static size_t find_odd(const pe_indices *x)
{
    size_t most = SIZE_MAX;
    memset(x->differs, 0, x->queries * sizeof *x->differs);
    for (size_t e = 0; e < x->of->elements; e++)
        x->differs[e / x->keys] += x->value[place_of(x, e)] != x->of->got[e];
    for (size_t q = 0; q < x->queries; q++)
        if (!x->odd[q] && x->differs[q] > (most == SIZE_MAX ? 0 : x->differs[most]))
            most = q;
    return most;
}

/* One row after the other is set aside. False: too many are something else. */
static bool read_values(pe_indices *x)
{
    vote(x);
    for (size_t q = find_odd(x); q != SIZE_MAX; q = find_odd(x)) {
        if (x->n_odd == ODD_MOST || (x->n_odd + 1) * ODD_ROWS > x->queries)
            return false;
        x->odd[q] = true;
        x->n_odd++;
        vote(x);
    }
    return true;
}

bool pe_indices_is_constant(const pe_indices *x, size_t query)
{
    const double *got = x->of->got + query * x->keys;
    size_t k = 1;
    while (k < x->keys && got[k] == got[0])
        k++;
    return k == x->keys;
}

/* ---- facts ---- */

static void tell(const pe_indices *x)
{
    enum { MOST = 32 };
    double edges[MOST], range[2] = {HUGE_VAL, -HUGE_VAL};
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        range[0] = fmin(range[0], x->value[i]);
        range[1] = fmax(range[1], x->value[i]);
        if (i > 0 && n < MOST && x->value[i] != x->value[i - 1])
            edges[n++] = x->lowest + (double)i;
    }
    pe_buffer_format(&pe_numbers_facts(x->of)->text,
                     "Indices are a function of key - query, from %.9g to %.9g", range[0],
                     range[1]);
    if (!isnan(pe_indices_at(x, 0)))
        pe_buffer_format(&pe_numbers_facts(x->of)->text, "; that of 0 is %.9g",
                         pe_indices_at(x, 0));
    if (x->n_odd > 0)
        pe_buffer_format(&pe_numbers_facts(x->of)->text, ", but for %zu rows", x->n_odd);
    pe_buffer_str(&pe_numbers_facts(x->of)->text, ". ");
    pe_numbers_list(x->of, "index_range", range, 2);
    pe_numbers_list(x->of, "index_edges", edges, n);
}

/* ---- life ---- */

static void set_memory(pe_indices *x, unsigned char *memory)
{
    x->value = (double *)(void *)memory;
    x->votes = (size_t *)(void *)(x->value + x->n);
    x->differs = x->votes + x->n;
    x->odd = (bool *)(x->differs + x->queries);
}

/* Distances that are listed one after the other are the keys of one query. */
static bool are_in_a_row(const pe_positions *distances)
{
    size_t e = 1;
    while (e < distances->count &&
           pe_positions_at(distances, e) == pe_positions_at(distances, 0) + (double)e)
        e++;
    return e == distances->count;
}

/* False: the distances of elements are in no order. */
static bool find_distances(const pe_numbers *plain, pe_indices *out)
{
    const pe_values *values = &plain->claim->values;
    const pe_value *listed = pe_values_find(values, "distances");
    *out = (pe_indices){.of = plain, .queries = 1, .keys = plain->elements};
    if (listed != NULL && listed->present) {
        out->lowest = pe_positions_at(&listed->positions, 0);
        return are_in_a_row(&listed->positions) &&
               strcmp(pe_geometry_choice_text(values, "variant"), "deberta") != 0;
    }
    out->keys = (size_t)pe_values_int(values, "key_length");
    out->queries = plain->elements / out->keys;
    out->first = (double)out->keys - (double)out->queries;
    out->lowest = 1 - (double)out->keys;
    return true;
}

pe_status pe_indices_make(const pe_numbers *plain, pe_indices *out, bool *made, pe_problem *why)
{
    *made = false;
    if (!find_distances(plain, out))
        return PE_OK;
    out->n = out->queries + out->keys - 1;
    unsigned char *memory = calloc(out->queries + out->n, 2 * sizeof(double) + sizeof(size_t));
    if (memory == NULL)
        return pe_fail_memory(why);
    set_memory(out, memory);
    *made = read_values(out);
    if (*made)
        tell(out);
    else
        pe_buffer_str(&pe_numbers_facts(plain)->text,
                      "Indices are no function of key - query alone. ");
    return PE_OK;
}

void pe_indices_free(pe_indices *x)
{
    free(x->value);
    *x = (pe_indices){0};
}
