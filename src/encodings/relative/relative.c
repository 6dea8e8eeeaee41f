/* SPDX-License-Identifier: MIT */
/* relative.c - what tables of relative positions share: lengths, and rows that
 * repeat each other. */
#include "encodings/relative/relative.h"

#include <string.h>

static const char *const index_dtypes[] = {"int32", NULL};

static const pe_param window_params[] = {
    {.name = "query_length",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 1,
     .max = PE_RELATIVE_LENGTH_MAX,
     .unit = "tokens",
     .help = "Queries: the last so many of the key positions.",
     .example = "16"},
    PE_RELATIVE_KEY_LENGTH("query_length"),
};
const pe_param_set pe_relative_window_params = {window_params, PE_LEN(window_params)};

static const pe_param dtype_params[] = {
    {.name = "dtype",
     .kind = PE_KIND_CHOICE,
     .choices = index_dtypes,
     .help = "Element type of the indices; nothing else is offered here.",
     .example = "int32"},
};
const pe_param_set pe_relative_dtype_params = {dtype_params, PE_LEN(dtype_params)};

pe_status pe_relative_lengths(pe_values *values, int64_t queries, const char *where,
                              pe_problem *why)
{
    if (!pe_values_present(values, "key_length"))
        pe_values_set_int(values, "key_length", queries);
    const int64_t keys = pe_values_int(values, "key_length");
    if (queries <= keys)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, where,
                   "queries are the last of the key positions, so there must be as many keys or "
                   "more, got %lld queries and %lld keys",
                   (long long)queries, (long long)keys);
}

pe_relative pe_relative_make(size_t queries, size_t keys, size_t bytes)
{
    return (pe_relative){
        .rows = queries, .keys = keys, .first_query = (int64_t)(keys - queries), .bytes = bytes};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

pe_status pe_relative_fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                           pe_problem *why)
{
    (void)t;
    (void)why;
    const void *state = plan->state;
    const pe_relative *table = state;
    const size_t keys = table->keys, bytes = table->bytes;
    size_t layer = first / keys / table->rows, row = first / keys % table->rows;
    size_t from = first % keys;
    size_t held_from = keys; /* keys of the row above from here on are in out */
    for (unsigned char *at = out; units > 0; from = 0) {
        const size_t n = smaller(keys - from, units);
        const size_t fresh = smaller(held_from + 1 - from, n);
        const int64_t query = table->first_query + (int64_t)row;
        table->run(state, layer, (int64_t)from - query, fresh, at);
        if (fresh < n)
            memcpy(at + fresh * bytes, at + (fresh - 1) * bytes - keys * bytes,
                   (n - fresh) * bytes);
        at += n * bytes;
        units -= n;
        held_from = from;
        if (++row == table->rows) {
            row = 0;
            layer++;
            held_from = keys;
        }
    }
    return PE_OK;
}

/* What is there is copied behind itself, twice as much each time. */
void pe_relative_repeat(const void *unit, size_t bytes, size_t n, unsigned char *out)
{
    if (n == 0)
        return;
    memcpy(out, unit, bytes);
    for (size_t have = 1, some; have < n; have += some) {
        some = smaller(have, n - have);
        memcpy(out + have * bytes, out, some * bytes);
    }
}
