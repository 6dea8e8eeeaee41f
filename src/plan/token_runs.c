/* SPDX-License-Identifier: MIT */
/* token_runs.c - a sequence as runs of tokens of one kind: reading and printing. */
#include "plan/token_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/scan.h"

/* What every step knows: the row, whose choices are the kinds, and the name for problems. */
typedef struct reader {
    const pe_param *param;
    const char *name;
    pe_problem *why;
} reader;

static pe_status find_kind(const reader *of, pe_slice word, size_t *out)
{
    const char *const *kinds = of->param->choices;
    pe_buffer list = {0};
    for (size_t k = 0; kinds[k] != NULL; k++) {
        if (strlen(kinds[k]) == word.bytes && memcmp(kinds[k], word.text, word.bytes) == 0) {
            *out = k;
            pe_buffer_free(&list);
            return PE_OK;
        }
        pe_buffer_format(&list, k == 0 ? "%s" : ", %s", kinds[k]);
    }
    const pe_status kind = word.bytes > 0 ? PE_INVALID_PARAMETER : PE_MALFORMED_REQUEST;
    const pe_status status = pe_fail(of->why, kind, of->name,
                                     "%s must be runs KIND or KIND:LENGTH, separated by commas, "
                                     "where KIND is one of %s; got \"%.*s\"",
                                     of->name, pe_buffer_text(&list), PE_SHOWN(word));
    pe_buffer_free(&list);
    return status;
}

/* KIND or KIND:LENGTH. */
static pe_status read_run(const reader *of, pe_slice text, pe_token_run *out)
{
    const bool has_length = pe_slice_pieces(text, ':') > 1;
    const pe_slice word = pe_slice_next(&text, ':');
    const pe_status status = find_kind(of, word, &out->choice);
    if (status != PE_OK || !has_length)
        return status;
    double length;
    size_t used;
    if (pe_scan_number(text.text, text.bytes, &length, &used) != PE_SCAN_OK || used != text.bytes)
        return pe_fail(of->why, PE_MALFORMED_REQUEST, of->name,
                       "a length in %s must be a number, got \"%.*s\"", of->name, PE_SHOWN(text));
    if (length != floor(length) || length < 1 || length > PE_TOKEN_RUN_MAX)
        return pe_fail(of->why, PE_INVALID_PARAMETER, of->name,
                       "a length in %s must be an integer from 1 to %d, got %.*s", of->name,
                       PE_TOKEN_RUN_MAX, PE_SHOWN(text));
    out->length = (int64_t)length;
    return PE_OK;
}

pe_status pe_token_runs_parse(pe_slice text, const pe_param *param, const char *name,
                              pe_token_runs *out, pe_problem *why)
{
    const reader of = {param, name, why};
    const size_t n = pe_slice_pieces(text, ',');
    if (n > param->list_max)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s takes at most %zu runs, got %zu", name,
                       param->list_max, n);
    pe_token_run *list = calloc(n, sizeof *list);
    if (list == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < n; i++) {
        const pe_status status = read_run(&of, pe_slice_next(&text, ','), &list[i]);
        if (status != PE_OK) {
            free(list);
            return status;
        }
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
