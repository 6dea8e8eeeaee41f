/* SPDX-License-Identifier: MIT */
/* relative.c - what tables of relative positions share: their plan, and rows that repeat each
 * other. */
#include "encodings/relative/relative.h"

#include <string.h>

#include "base/size.h"

static const pe_param window_params[] = {
    PE_PARAM("query_length", INT, .axis = true, .required = true, .min = 1,
             .max = PE_RELATIVE_LENGTH_MAX, .unit = "tokens",
             .help = "The number of queries. They are at the last key positions.", .example = "16"),
    PE_RELATIVE_KEY_LENGTH("query_length"),
};
const pe_param_set pe_relative_window_params = {window_params, PE_LEN(window_params)};

pe_status pe_relative_keys(pe_values *values, int64_t queries, const char *where, pe_problem *why)
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

pe_status pe_relative_lengths(pe_values *values, pe_problem *why)
{
    return pe_relative_keys(values, pe_values_int(values, "query_length"), "query_length", why);
}

/* Bytes copied at once, about. glibc copies more than some KiB by `rep movsb`, which on Zen takes 30
 * times as long where both ends lie nearly alike in their pages, as rows of whole pages do. */
#define PIECE 2048

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const void *state = plan->state;
    const pe_relative *table = state;
    const size_t keys = table->keys, bytes = table->bytes;
    size_t layer = region->first / keys / table->rows, row = region->first / keys % table->rows;
    size_t from = region->first % keys, units = region->units;
    size_t held_from = keys; /* keys of the row above from here on are in out */
    for (unsigned char *at = out; units > 0; from = 0) {
        const size_t n = pe_size_min(keys - from, units);
        const size_t fresh = pe_size_min(held_from + 1 - from, n);
        const int64_t query = table->first_query + (int64_t)row;
        table->run(state, layer, (int64_t)from - query, fresh, at);
        for (size_t k = fresh, some; k < n; k += some) {
            some = pe_size_min(PIECE / bytes + 1, n - k);
            memcpy(at + k * bytes, at + (k - 1) * bytes - keys * bytes, some * bytes);
        }
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

pe_status pe_relative_plan(const pe_relative_window *window, const pe_values *values, pe_plan *out,
                           pe_problem *why)
{
    const size_t queries = pe_values_size(values, "query_length");
    const size_t keys = pe_values_size(values, "key_length");
    const size_t rows = window->one_row ? 1 : queries;
    const size_t unit = window->channels > 0 ? window->channels : 1;
    pe_shape shape = {0};
    if (window->layers > 0)
        shape.dim[shape.ndim++] = window->layers;
    shape.dim[shape.ndim++] = rows;
    shape.dim[shape.ndim++] = keys;
    if (window->channels > 0)
        shape.dim[shape.ndim++] = window->channels;
    PE_TRY(pe_plan_add_tensor(out, window->tensor, window->dtype, &shape, unit, why));
    PE_TRY(pe_plan_begin(out, window->state_bytes, fill, why));
    pe_relative *table = out->state;
    *table = (pe_relative){.rows = rows,
                           .keys = keys,
                           .first_query = window->one_row ? 0 : (int64_t)(keys - queries),
                           .bytes = unit * pe_dtype_bytes(window->dtype),
                           .run = window->run};
    return PE_OK;
}

/* What is there is copied behind itself, twice as much each time. */
void pe_relative_repeat(const void *unit, size_t bytes, size_t n, unsigned char *out)
{
    if (n == 0)
        return;
    memcpy(out, unit, bytes);
    for (size_t have = 1, some; have < n; have += some) {
        some = pe_size_min(have, n - have);
        memcpy(out + have * bytes, out, some * bytes);
    }
}
