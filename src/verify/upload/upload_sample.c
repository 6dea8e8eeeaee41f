/* SPDX-License-Identifier: MIT */
/* upload_sample.c - some tokens of an upload. */
#include "verify/upload/upload_sample.h"

#define SAMPLE_ROWS 4 /* of a token */

/* Token k of n: a quarter from the start, a quarter up to the end, the rest spread between. */
static size_t sampled_token(size_t k, size_t n, size_t tokens)
{
    const size_t quarter = n / 4, spread = n - 2 * quarter;
    if (k < quarter)
        return k;
    if (k >= n - quarter)
        return tokens - (n - k);
    return quarter + (k - quarter) * (tokens - 2 * quarter) / spread;
}

static pe_status copy_tokens(const pe_upload_view *from, pe_upload_view *to,
                             pe_positions *positions, pe_problem *why)
{
    const size_t width = from->width, token_rows = pe_upload_view_token_rows(from);
    const pe_positions *all = &pe_values_find(&from->claim->values, "positions")->positions;
    const pe_shape one = {1, {to->tokens}}, several = {2, {from->axes, to->tokens}};
    pe_array list;
    pe_status status = pe_array_make(PE_FLOAT64, from->axes == 1 ? &one : &several, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t k = 0; k < to->tokens; k++) {
        const size_t token = sampled_token(k, to->tokens, from->tokens);
        for (size_t a = 0; a < from->axes; a++)
            ((double *)list.data)[a * to->tokens + k] =
                pe_positions_at(all, a * from->tokens + token);
        for (size_t o = 0; o < to->inner; o++) {
            const size_t row = pe_upload_view_row(from, token, o * token_rows / to->inner);
            const size_t at = pe_upload_view_row(to, k, o) * width;
            pe_upload_view_take(from, false, row, to->got + at);
            if (to->inputs != NULL)
                pe_upload_view_take(from, true, row, to->inputs + at);
        }
    }
    status = pe_positions_from_list(&list, "positions", positions, why);
    pe_array_free(&list);
    return status;
}

static pe_status sample_few(const pe_upload_view *view, size_t tokens, size_t rows,
                            pe_upload_view *out, pe_positions *positions, pe_problem *why)
{
    *out = *view;
    out->outer = 1;
    out->inner = rows;
    out->heads = rows > 1 ? rows : view->heads;
    out->tokens = out->batch_tokens = tokens < view->tokens ? tokens : view->tokens;
    out->rows = out->tokens * rows;
    pe_status status = pe_upload_view_make_rows(out, why);
    if (status == PE_OK)
        status = copy_tokens(view, out, positions, why);
    if (status != PE_OK)
        pe_upload_view_free(out);
    return status;
}

pe_status pe_upload_sample_make(const pe_upload_view *view, pe_upload_view *out,
                                pe_positions *positions, bool *sampled, pe_problem *why)
{
    const size_t token_rows = pe_upload_view_token_rows(view);
    const size_t rows = token_rows < SAMPLE_ROWS ? token_rows : SAMPLE_ROWS;
    const size_t tokens = PE_SAMPLE_ELEMENTS / (view->width * rows) + 32;
    *sampled = view->layout != NULL && view->elements > PE_SAMPLE_ELEMENTS && tokens < view->tokens;
    return *sampled ? sample_few(view, tokens, rows, out, positions, why) : PE_OK;
}
