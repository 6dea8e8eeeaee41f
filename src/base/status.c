/* SPDX-License-Identifier: MIT */
/* status.c - the failures as rows, and how a problem is filled. */
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const struct status_row {
    int http;
    const char *code, *title, *about;
} rows[] = {
#define ROW(name, http, code, title, about) [PE_##name] = {http, code, title, about},
    PE_STATUS_MAP(ROW)
#undef ROW
};

pe_status(pe_fail)(pe_problem *why, pe_status status, const char *where, const char *format, ...)
{
    why->status = status;
    why->allow[0] = '\0';
    why->max_elements = why->requested_elements = why->max_work = why->requested_work = 0;
    why->retry_after = 0;
    why->n_others = why->n_unreported = 0;
    snprintf(why->where, sizeof why->where, "%s", where);
    va_list list;
    va_start(list, format);
    vsnprintf(why->detail, sizeof why->detail, format, list);
    va_end(list);
    pe_hide_controls(why->detail);
    return status;
}

pe_status(pe_fail_memory)(pe_problem *why)
{
    return pe_fail(why, PE_OVERLOADED, "", "the server's memory is in use");
}

/* A place is told once, unless by one problem: of the first n others. */
static bool is_reported(const pe_problem *why, unsigned n, const char *where)
{
    bool reported = strcmp(why->where, where) == 0;
    for (unsigned i = 0; i < n && !reported; i++)
        reported = strcmp(why->others[i].where, where) == 0;
    return reported;
}

static void add_mistake(pe_problem *why, const char *where, const char *detail)
{
    if (why->n_others == PE_MISTAKES_MAX) {
        why->n_unreported++;
        return;
    }
    pe_mistake *mistake = &why->others[why->n_others++];
    snprintf(mistake->where, sizeof mistake->where, "%.63s", where);
    snprintf(mistake->detail, sizeof mistake->detail, "%.511s", detail);
}

/* once: those whose place is told already are left out. */
static void add_mistakes(pe_problem *why, const pe_problem *other, bool once)
{
    const unsigned before = why->n_others;
    if (!once || (other->where[0] != '\0' && !is_reported(why, before, other->where)))
        add_mistake(why, other->where, other->detail);
    for (unsigned i = 0; i < other->n_others; i++)
        if (!once || !is_reported(why, before, other->others[i].where))
            add_mistake(why, other->others[i].where, other->others[i].detail);
    why->n_unreported += other->n_unreported;
}

void pe_problem_add(pe_problem *why, const pe_problem *other)
{
    add_mistakes(why, other, true);
}

static pe_status add_to(pe_status so_far, pe_status status, const pe_problem *mistake, bool once,
                        pe_problem *why)
{
    if (status == PE_OK || pe_status_is_ours(so_far))
        return so_far;
    if (so_far != PE_OK && !pe_status_is_ours(status)) {
        add_mistakes(why, mistake, once);
        return so_far;
    }
    *why = *mistake;
    return status;
}

pe_status pe_problem_collect(pe_status so_far, pe_status status, const pe_problem *mistake,
                             pe_problem *why)
{
    return add_to(so_far, status, mistake, true, why);
}

pe_status pe_problem_gather(pe_status so_far, pe_status status, const pe_problem *mistake,
                            pe_problem *why)
{
    return add_to(so_far, status, mistake, false, why);
}

int pe_status_http(pe_status status)
{
    return rows[status].http;
}

const char *pe_status_code_text(pe_status status)
{
    return rows[status].code;
}

const char *pe_status_title(pe_status status)
{
    return rows[status].title;
}

const char *pe_status_about(pe_status status)
{
    return rows[status].about;
}

pe_status pe_status_by_code(const char *code)
{
    for (size_t s = 0; s < sizeof rows / sizeof rows[0]; s++)
        if (strcmp(rows[s].code, code) == 0)
            return (pe_status)s;
    return PE_OK;
}
