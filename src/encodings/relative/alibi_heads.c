/* SPDX-License-Identifier: MIT */
/* alibi_heads.c - the heads that an answer wants, and multiples of their slopes. */
#include <math.h>
#include <stddef.h>

#include "encodings/relative/alibi.h"
#include "kernels/kernels.h"
#include "plan/plan.h"

/* Elements whose doubts are listed at a time. */
#define BLOCK 1024

/* What the pair leaves open is done again with as many bits as it takes. */
void pe_alibi_ramp(const pe_alibi_head *head, pe_dtype dtype, int64_t first, int64_t step, size_t n,
                   unsigned char *out)
{
    uint32_t doubtful[BLOCK];
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLOCK ? n - at : BLOCK;
        const int64_t k = first + (int64_t)at * step;
        const size_t listed = pe_kernels_get()->ramp(dtype, head->hi, head->lo, k, step, some,
                                                     out + at * bytes, doubtful);
        for (size_t i = 0; i < listed; i++)
            pe_dtype_store(dtype, pe_alibi_round(&head->slope, k + doubtful[i] * step, dtype),
                           out + (at + doubtful[i]) * bytes);
    }
}

pe_status pe_alibi_heads_check(pe_values *values, pe_problem *why)
{
    const int64_t num_heads = pe_values_int(values, "num_heads");
    pe_values_set_range(values, "heads", 0, (size_t)num_heads);
    const pe_positions *heads = pe_values_positions(values, "heads");
    for (size_t i = 0; i < heads->count; i++) {
        const double h = pe_positions_at(heads, i);
        if (h < 0 || h >= (double)num_heads)
            return pe_fail(why, PE_INVALID_PARAMETER, "heads",
                           "heads must be from 0 to %lld, got %.17g", (long long)num_heads - 1, h);
    }
    return PE_OK;
}

/* ---- slopes ready to be multiplied, which requests share ---- */

typedef struct wanted {
    pe_alibi_formula slopes;
    unsigned char head[PE_ALIBI_HEADS_MAX / 8]; /* a bit each */
} wanted;

static void make_heads(const void *formula, void *out)
{
    const wanted *w = formula;
    pe_alibi_head *head = out;
    for (size_t h = 0; h < w->slopes.num_heads; h++) {
        if ((w->head[h / 8] >> h % 8 & 1) == 0)
            continue;
        head[h].slope = pe_alibi_slope_of(&w->slopes, h);
        pe_alibi_pair(&head[h].slope, &head[h].hi, &head[h].lo);
    }
}

static void release(void *heads)
{
    pe_tables_numbers_unref(&((pe_alibi_heads *)heads)->shared);
}

pe_status pe_alibi_heads_plan(const pe_values *values, pe_plan *plan, pe_alibi_heads *out,
                              pe_problem *why)
{
    wanted w = {.slopes = pe_alibi_formula_of(values)};
    const size_t num_heads = (size_t)w.slopes.num_heads;
    pe_plan_owns(plan, out, release);
    PE_TRY(pe_plan_positions(plan, values, "heads", &out->chosen, why));
    for (size_t i = 0; i < out->chosen.count; i++) {
        const size_t h = (size_t)pe_positions_at(&out->chosen, i);
        w.head[h / 8] |= (unsigned char)(1U << h % 8);
    }
    const pe_numbers_spec spec = {.bytes = num_heads * sizeof(pe_alibi_head),
                                  .make = make_heads,
                                  .formula = &w,
                                  .formula_bytes = offsetof(wanted, head) + (num_heads + 7) / 8};
    pe_status status = pe_tables_numbers(plan->tables, &spec, &out->shared, why);
    if (status == PE_OK)
        out->head = out->shared.data;
    return status;
}

const pe_alibi_head *pe_alibi_heads_at(const pe_alibi_heads *heads, size_t i)
{
    return &heads->head[(size_t)pe_positions_at(&heads->chosen, i)];
}

pe_status pe_alibi_heads_fit(const pe_alibi_heads *heads, pe_dtype dtype, size_t distance,
                             const char *where, pe_problem *why)
{
    for (size_t i = 0; i < heads->chosen.count; i++) {
        unsigned char element[8];
        pe_alibi_ramp(pe_alibi_heads_at(heads, i), dtype, (int64_t)distance, 1, 1, element);
        if (isinf(pe_dtype_load(dtype, element)))
            return pe_fail(why, PE_INVALID_PARAMETER, where,
                           "the bias at distance %zu overflows %s, whose largest number is %.9g",
                           distance, pe_dtype_name(dtype), pe_dtype_max(dtype));
    }
    return PE_OK;
}
