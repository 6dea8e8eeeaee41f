/* SPDX-License-Identifier: MIT */
/* plain_lines.c - which line of a source each line of an upload is, along an axis. */
#include "verify/plain/plain_lines.h"

#include <math.h>
#include <stdlib.h>

static double length(const double *row, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += row[k] * row[k];
    return sqrt(sum);
}

/* Does line i, so long, hold line j of the source? */
static bool holds(const pe_lines *at, size_t i, size_t j, double size)
{
    const double times = at->size != NULL ? size / at->size[j] : 1;
    if (!pe_numbers_is_near(at->of, at->of->got[i * at->inner], times * at->first[j]))
        return false;
    for (size_t o = 0; o < at->outer; o++) {
        const double *got = at->of->got + (o * at->n + i) * at->inner;
        const double *want = at->source + (o * at->n_source + j) * at->inner;
        for (size_t k = 0; k < at->inner; k++)
            if (!pe_numbers_is_near(at->of, got[k], times * want[k]))
                return false;
    }
    return true;
}

/* Claimed lines go first, then those beside the one before. */
static size_t find_line(const pe_lines *at, size_t i, size_t before)
{
    const size_t likely[] = {at->own[i], before + 1, before - 1, before};
    const double size = at->size != NULL ? length(at->of->got + i * at->inner, at->inner) : 1;
    for (size_t k = 0; k < PE_LEN(likely); k++)
        if (likely[k] < at->n_source && holds(at, i, likely[k], size))
            return likely[k];
    pe_numbers_spend(at->of, at->n_source);
    for (size_t j = 0; j < at->n_source; j++)
        if (holds(at, i, j, size))
            return j;
    return PE_NO_LINE;
}

/* What is compared first of each line of the source, which is known now. */
static pe_status prepare(pe_lines *at, bool scaled, pe_problem *why)
{
    free(at->first);
    at->first = malloc(2 * at->n_source * sizeof *at->first);
    if (at->first == NULL)
        return pe_fail_memory(why);
    at->size = scaled ? at->first + at->n_source : NULL;
    for (size_t j = 0; j < at->n_source; j++) {
        at->first[j] = at->source[j * at->inner];
        if (scaled)
            at->size[j] = length(at->source + j * at->inner, at->inner);
    }
    return PE_OK;
}

/* Of lines that are none of the source, so many are looked for in all of it. */
#define MISSES_MAX 32

pe_status pe_lines_find(pe_lines *at, bool scaled, size_t most, bool *found, pe_problem *why)
{
    size_t misses = 0, moved = 0;
    most = most < MISSES_MAX ? most : MISSES_MAX;
    const pe_status status = prepare(at, scaled, why);
    for (size_t i = 0; i < at->n && misses <= most && status == PE_OK; i++) {
        at->from[i] = find_line(at, i, i > 0 ? at->from[i - 1] : PE_NO_LINE);
        misses += at->from[i] == PE_NO_LINE;
        moved += at->from[i] != at->own[i];
    }
    pe_numbers_spend(at->of, at->of->elements);
    *found = misses <= most && moved > misses;
    return status;
}

void pe_lines_free(pe_lines *at)
{
    free(at->first);
    free(at->own);
}

pe_status pe_lines_make(const pe_numbers *plain, size_t outer, size_t n, pe_lines *out,
                        pe_problem *why)
{
    *out = (pe_lines){.of = plain,
                      .outer = outer,
                      .n = n,
                      .inner = plain->elements / outer / n,
                      .source = plain->claimed,
                      .n_source = n,
                      .own = calloc(2 * n, sizeof *out->own)};
    if (out->own == NULL)
        return pe_fail_memory(why);
    out->from = out->own + n;
    for (size_t i = 0; i < n; i++)
        out->own[i] = i;
    return PE_OK;
}
