/* SPDX-License-Identifier: MIT */
/* token_runs.c - a sequence as spans of tokens of one kind: reading and printing. */
#include "plan/token_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/scan.h"

/* How much of a client's text a problem repeats. */
static int shown(size_t bytes)
{
    return bytes < 40 ? (int)bytes : 40;
}

static pe_status find_kind(const char *text, size_t bytes, const char *const *kinds,
                           const char *name, size_t *out, pe_problem *why)
{
    pe_buffer list = {0};
    for (size_t k = 0; kinds[k] != NULL; k++) {
        if (strlen(kinds[k]) == bytes && memcmp(kinds[k], text, bytes) == 0) {
            *out = k;
            pe_buffer_free(&list);
            return PE_OK;
        }
        pe_buffer_format(&list, k == 0 ? "%s" : ", %s", kinds[k]);
    }
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, name, "%s has spans of %s; got \"%.*s\"", name,
                pe_buffer_text(&list), shown(bytes), text);
    pe_buffer_free(&list);
    return status;
}

static pe_status read_length(const char *text, size_t bytes, const char *name, int64_t *out,
                             pe_problem *why)
{
    double length;
    size_t used;
    if (pe_scan_number(text, bytes, &length, &used) != PE_SCAN_OK || used != bytes)
        return pe_fail(why, PE_MALFORMED_REQUEST, name,
                       "a length in %s must be a number, got \"%.*s\"", name, shown(bytes), text);
    if (length != floor(length) || length < 1 || length > PE_TOKEN_RUN_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "a length in %s must be an integer from 1 to %d, got %.*s", name,
                       PE_TOKEN_RUN_MAX, shown(bytes), text);
    *out = (int64_t)length;
    return PE_OK;
}

static pe_status read_span(const char *text, size_t bytes, const char *const *kinds,
                           const char *name, pe_token_run *out, pe_problem *why)
{
    const char *colon = memchr(text, ':', bytes);
    const size_t word = colon != NULL ? (size_t)(colon - text) : bytes;
    if (word == 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, name,
                       "%s must be spans KIND:LENGTH with commas between them", name);
    const pe_status status = find_kind(text, word, kinds, name, &out->choice, why);
    if (status != PE_OK || colon == NULL)
        return status;
    return read_length(colon + 1, bytes - word - 1, name, &out->length, why);
}

pe_status pe_token_runs_parse(const char *text, size_t bytes, const char *const *kinds,
                              size_t n_max, const char *name, pe_token_runs *out, pe_problem *why)
{
    size_t n = 1;
    for (size_t i = 0; i < bytes; i++)
        n += text[i] == ',';
    if (n > n_max)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s takes at most %zu spans, got %zu", name,
                       n_max, n);
    pe_token_run *list = calloc(n, sizeof *list);
    if (list == NULL)
        return pe_fail_memory(why);
    const char *at = text, *end = text + bytes;
    for (size_t i = 0; i < n; i++) {
        const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
        const char *stop = comma != NULL ? comma : end;
        const pe_status status = read_span(at, (size_t)(stop - at), kinds, name, &list[i], why);
        if (status != PE_OK) {
            free(list);
            return status;
        }
        at = stop + 1;
    }
    *out = (pe_token_runs){list, n};
    return PE_OK;
}

void pe_token_runs_print(const pe_token_runs *runs, const char *const *kinds, pe_buffer *out)
{
    for (size_t i = 0; i < runs->n; i++) {
        pe_buffer_format(out, i == 0 ? "%s" : ",%s", kinds[runs->list[i].choice]);
        if (runs->list[i].length != 0)
            pe_buffer_format(out, ":%lld", (long long)runs->list[i].length);
    }
}
