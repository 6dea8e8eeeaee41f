/* SPDX-License-Identifier: MIT */
/* query_plan.c - a query planned, or refused with all its mistakes. */
#include <stdio.h>
#include <string.h>

#include "api/query.h"
#include "plan/plan.h"
#include "plan/price.h"
#include "plan/resource.h"

/* What looking for further mistakes may cost, in units of work, and what a plan costs at least. */
#define REFUSAL_WORK ((uint64_t)1 << 19)
#define PLAN_WORK    1000
/* Most elements of a tensor that is made again. */
#define TAKEN_ELEMENTS ((size_t)1 << 16)

typedef struct search {
    const pe_query *query;
    const pe_values *values; /* before any plan; those at fault are refused */
    struct pe_tables *tables;
    const pe_limits *limits;
    uint64_t work; /* left */
    pe_problem *all;
} search;

/* Mistakes beside each other. */
typedef struct mistakes {
    size_t n;
    pe_mistake list[PE_MISTAKES_MAX + 1];
} mistakes;

static mistakes list_of(const pe_problem *problem)
{
    mistakes out = {.n = 1 + problem->n_others};
    snprintf(out.list[0].where, sizeof out.list[0].where, "%.63s", problem->where);
    snprintf(out.list[0].detail, sizeof out.list[0].detail, "%.511s", problem->detail);
    memcpy(out.list + 1, problem->others, problem->n_others * sizeof *problem->others);
    return out;
}

/* The value whose place it is, or within whose it is; NULL: none. */
static pe_value *value_at(const pe_values *values, const char *where)
{
    char place[128];
    for (size_t v = 0; v < values->n; v++) {
        pe_values_place(values, values->value[v].param->name, place, sizeof place);
        const size_t length = strlen(place);
        if (strncmp(where, place, length) == 0 && (where[length] == '\0' || where[length] == '/'))
            return &values->value[v];
    }
    return NULL;
}

static void keep_common(mistakes *list, const mistakes *other)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; j < other->n; j++)
            if (strcmp(list->list[i].where, other->list[j].where) == 0 &&
                strcmp(list->list[i].detail, other->list[j].detail) == 0) {
                list->list[n++] = list->list[i];
                break;
            }
    list->n = n;
}

static bool is_mistake(pe_status status)
{
    return status == PE_INVALID_PARAMETER || status == PE_MISSING_PARAMETER;
}

/* What several plans, with different things in the place of the refused values, say of others. */
typedef struct opinion {
    mistakes common;
    size_t plans;  /* that say something of others */
    size_t silent; /* that complain of refused numbers alone: these must go, as in the first plan */
    bool many;     /* the first plan depends on several values, or on more than a number */
} opinion;

/* Plan with something in the place of the refused values. asked: how many of them it looked at, and
 * lists: how many of those are no numbers and no choices. */
static pe_status plan_with(search *s, unsigned which, size_t *asked, size_t *lists, pe_problem *why)
{
    pe_values values;
    pe_plan plan = {0};
    pe_status status = pe_values_lend(s->values, &values, why);
    PE_TRY(status);
    const bool stands = pe_values_set_placeholders(&values, which);
    const uint64_t work = pe_price_plus(pe_price_estimate(&values).planning, PLAN_WORK);
    if (stands && work <= s->work) {
        const pe_limits limits = {s->limits->max_elements, s->work};
        s->work -= work;
        status = pe_plan_make(s->query->resource, &values, s->tables, &limits, &plan, why);
    } else {
        status = pe_fail(why, PE_TOO_MUCH_WORK, "", "no further mistake is looked for");
    }
    *asked = pe_values_asked(&values, PE_KIND_INT);
    *lists = pe_values_asked(&values, PE_KIND_REAL_LIST);
    pe_plan_free(&plan);
    pe_values_free(&values);
    return status;
}

/* False: there is no further mistake. */
static bool ask(search *s, unsigned which, opinion *so_far)
{
    pe_problem problem;
    size_t asked = 0, lists = 0;
    const pe_status status = plan_with(s, which, &asked, &lists, &problem);
    if (status == PE_OK || pe_status_is_ours(status))
        return false;
    if (!is_mistake(status))
        return true;
    pe_query_locate(s->query, &problem);
    const mistakes all = list_of(&problem);
    mistakes others = {0}; /* those that are not of refused values */
    bool plain = true; /* of numbers and choices what stands in for one is as good as any other */
    for (size_t i = 0; i < all.n; i++) {
        const pe_value *value = value_at(s->values, all.list[i].where);
        plain &= value == NULL || value->param->kind <= PE_KIND_CHOICE;
        if (all.list[i].where[0] != '\0' && (value == NULL || !value->refused))
            others.list[others.n++] = all.list[i];
    }
    /* Does the first plan complain of refused values alone, and say that one is missing? Then nothing
     * but something stands there from now on. */
    bool needed = false;
    for (size_t i = 0; i < all.n && others.n == 0 && which == 0; i++) {
        pe_value *value = value_at(s->values, all.list[i].where);
        if (value != NULL && !value->needed)
            needed = value->needed = true;
    }
    if (needed)
        return ask(s, which, so_far);
    if (others.n == 0)
        so_far->silent += !so_far->many && plain;
    else if (so_far->plans++ == 0)
        so_far->common = others;
    else
        keep_common(&so_far->common, &others);
    if (which == 0)
        so_far->many = others.n == 0 || lists > 0 || asked > 1;
    if (others.n > 0 && asked == 0)
        so_far->plans = PE_PLACEHOLDERS;
    return true;
}

/* Zeros for the numbers of small tensors that a plan has taken. False where that cannot be. */
static bool replace_taken(pe_values *before, const pe_values *after)
{
    bool all = true;
    for (size_t i = 0; i < before->n && all; i++) {
        pe_array *tensor = &before->value[i].tensor;
        const pe_array was = *tensor;
        pe_problem none;
        if (was.data == after->value[i].tensor.data)
            continue;
        *tensor = (pe_array){0};
        all = was.elements <= TAKEN_ELEMENTS &&
              pe_array_make(was.dtype, &was.shape, tensor, &none) == PE_OK;
        if (all)
            memset(tensor->data, 0, was.elements * pe_dtype_bytes(was.dtype));
    }
    return all;
}

pe_status pe_query_plan(pe_query *query, struct pe_tables *tables, const pe_limits *limits,
                        pe_plan *out, pe_problem *why)
{
    pe_values before;
    pe_status status = pe_values_lend(&query->values, &before, why);
    PE_TRY(status);
    if (query->mistakes == NULL) {
        pe_values_synonyms(&query->values, &query->synonyms);
        status = pe_plan_make(query->resource, &query->values, tables, limits, out, why);
        if (status != PE_OK)
            pe_query_locate(query, why);
        else if (query->synonyms.bytes > 0)
            pe_plan_warn(out, "%s", pe_buffer_text(&query->synonyms));
    } else {
        *why = *query->mistakes;
        status = why->status;
    }
    search s = {query, &before, tables, limits, REFUSAL_WORK, why};
    if ((query->mistakes != NULL || is_mistake(status)) && replace_taken(&before, &query->values)) {
        /* Refused are values whose mistakes are known, and those that are missing, for which there
         * may have been no room. */
        mistakes more;
        do {
            const mistakes known = list_of(s.all);
            for (size_t v = 0; v < s.values->n; v++) {
                pe_value *value = &s.values->value[v];
                value->refused |=
                    value->param->required && !value->present && value->param->kind != PE_KIND_NAME;
            }
            for (size_t i = 0; i < known.n; i++) {
                pe_value *value = value_at(s.values, known.list[i].where);
                if (value != NULL)
                    value->refused = true;
            }
            /* Those that are there whatever stands in for the refused values. */
            opinion all = {0};
            bool further = true;
            for (unsigned w = 0; w < PE_PLACEHOLDERS && all.plans < PE_PLACEHOLDERS && further; w++)
                further = ask(&s, w, &all);
            const bool agreed = all.plans > 1 || all.plans + all.silent == PE_PLACEHOLDERS;
            more = further && agreed ? all.common : (mistakes){0};
            for (size_t i = 0; i < more.n; i++) {
                pe_problem one;
                (void)pe_fail(&one, PE_INVALID_PARAMETER, more.list[i].where, "%s",
                              more.list[i].detail);
                pe_problem_add(s.all, &one);
            }
        } while (more.n > 0 && s.all->n_others < PE_MISTAKES_MAX);
    }
    pe_values_free(&before);
    return status;
}
