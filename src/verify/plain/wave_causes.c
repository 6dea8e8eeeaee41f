/* SPDX-License-Identifier: MIT */
/* wave_causes.c - tables of sines and cosines by place: which coordinates, frequencies, columns. */
#include "verify/plain/wave_causes.h"

#include <math.h>

#include "verify/plain/wave_rows.h"

/* ---- explaining ---- */

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    (void)claimed;
    return pe_wave_number(context, e, error);
}

#define CAUSES 2

/* The claimed table, and what is done with those that it becomes. */
typedef struct start {
    pe_wave_change table;
    pe_numbers_cause causes[CAUSES];
    size_t found;
} start;

static pe_status try_change(start *by, const pe_wave_change *c, pe_problem *why)
{
    const pe_numbers *plain = c->of->of;
    if (!pe_wave_follows(c, plain->got, plain->roundoff))
        return PE_OK;
    by->found++;
    return pe_numbers_try(plain, by->causes, CAUSES, &(pe_numbers_law){at_law, c, 0}, why);
}

static start start_of(const pe_wave_table *t)
{
    return (start){.table = pe_wave_claimed(t)};
}

static pe_status explain_by_one(start *by, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_numbers *plain = by->table.of->of;
    for (size_t r = 0; r < pe_wave_rows_n && status == PE_OK && pe_numbers_goes_on(plain); r++) {
        pe_wave_change one = by->table;
        if (pe_wave_rows_make(&one, r, &by->causes[0]))
            status = try_change(by, &one, why);
    }
    return status;
}

static pe_status explain_by_two(start *by, pe_problem *why)
{
    const pe_numbers *plain = by->table.of->of;
    pe_status status = PE_OK;
    for (size_t r = 0; r < pe_wave_rows_n && by->found == 0 && status == PE_OK; r++)
        for (size_t s = r + 1; s < pe_wave_rows_n && status == PE_OK && pe_numbers_goes_on(plain);
             s++) {
            pe_wave_change two = by->table;
            if (pe_wave_rows_make(&two, r, &by->causes[0]) &&
                pe_wave_rows_make(&two, s, &by->causes[1]))
                status = try_change(by, &two, why);
        }
    return status;
}

/* How many times as fast as claimed each pair turns from row 0 to the next one along its axis. */
static void tell(const pe_wave_table *t)
{
    const pe_wave_change c = pe_wave_claimed(t);
    enum { MOST = 64 };
    double ratio[MOST];
    size_t n = 0;
    for (; n < t->pairs && n < MOST; n++) {
        const size_t next = t->axis[n] == PE_ACROSS ? t->next : t->below;
        ratio[n] =
            pe_wave_turn(&c, t->of->got, next, n) / pe_wave_turn(&c, t->of->claimed, next, n);
    }
    pe_numbers_list(t->of, "turn_ratios", ratio, n);
}

static pe_status explain(const pe_wave_table *t, pe_problem *why)
{
    start by = start_of(t);
    const pe_status status = explain_by_one(&by, why);
    return status == PE_OK ? explain_by_two(&by, why) : status;
}

pe_status pe_wave_causes_find(const pe_numbers *plain, pe_problem *why)
{
    pe_wave_table t = {0};
    bool made;
    pe_status status = pe_wave_table_make(plain, &t, &made, why);
    if (status != PE_OK)
        return status;
    if (made) {
        tell(&t);
        status = explain(&t, why);
    }
    pe_wave_table_free(&t);
    return status;
}
