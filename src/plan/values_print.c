/* SPDX-License-Identifier: MIT */
/* values_print.c - the canonical form of values: as a query and as a JSON object. */
#include "plan/values.h"

#include <string.h>

#include "plan/real.h"

/* A list of rows, with `between` between them. */
static void print_rows(const pe_value *value, const char *between, pe_buffer *out)
{
    const size_t row = value->param->list_row;
    for (size_t i = 0; i < value->list_length; i += row) {
        pe_buffer_str(out, i == 0 ? "" : between);
        pe_real_print_list(value->list + i, row, out);
    }
}

static void print_picks(const pe_value *value, const char *between, pe_buffer *out)
{
    for (size_t i = 0; i < value->n_picks; i++)
        pe_buffer_format(out, "%s%s", i == 0 ? "" : between,
                         value->param->choices[value->picks[i]]);
}

void pe_value_print(const pe_value *value, pe_buffer *out)
{
    const pe_param *param = value->param;
    switch (param->kind) {
    case PE_KIND_INT:
        pe_buffer_format(out, "%lld", (long long)value->integer);
        break;
    case PE_KIND_REAL:
        pe_real_print(value->real, out);
        break;
    case PE_KIND_BOOL:
        pe_buffer_str(out, value->truth ? "true" : "false");
        break;
    case PE_KIND_CHOICE:
        pe_buffer_str(out, param->choices[value->choice]);
        break;
    case PE_KIND_REAL_LIST:
        if (param->list_row != 0)
            print_rows(value, ";", out);
        else
            pe_real_print_list(value->list, value->list_length, out);
        break;
    case PE_KIND_TOKEN_RUNS:
        pe_token_runs_print(&value->runs, param->choices, out);
        break;
    case PE_KIND_CHOICES:
        print_picks(value, ",", out);
        break;
    case PE_KIND_POSITIONS:
        pe_positions_print(&value->positions, out);
        break;
    case PE_KIND_NAME:
        pe_buffer_str(out, value->text);
        break;
    case PE_KIND_TEXT:
        pe_buffer_str(out, param->canonical ? value->text : "");
        break;
    case PE_KIND_TENSOR:
        break;
    }
}

/* Positions [axes, batch, n] have no query text; in JSON they are nested arrays. */
static void print_nested(const pe_shape *shape, size_t axis, const double **next, pe_buffer *out)
{
    const size_t n = shape->dim[axis];
    pe_buffer_str(out, "[");
    if (axis + 1 == shape->ndim) {
        pe_real_print_list(*next, n, out);
        *next += n;
    } else {
        for (size_t i = 0; i < n; i++) {
            pe_buffer_str(out, i == 0 ? "" : ",");
            print_nested(shape, axis + 1, next, out);
        }
    }
    pe_buffer_str(out, "]");
}

static void print_json(const pe_value *value, pe_buffer *out)
{
    const pe_param *param = value->param;
    const char *open = "", *close = "";
    if (param->kind == PE_KIND_POSITIONS && value->positions.shape.ndim > 2) {
        const double *next = value->positions.list;
        print_nested(&value->positions.shape, 0, &next, out);
        return;
    }
    if (param->kind == PE_KIND_REAL_LIST && param->list_row != 0) {
        pe_buffer_str(out, "[[");
        print_rows(value, "],[", out);
        pe_buffer_str(out, "]]");
        return;
    }
    if (param->kind == PE_KIND_CHOICES) {
        pe_buffer_str(out, "[\"");
        print_picks(value, "\",\"", out);
        pe_buffer_str(out, "\"]");
        return;
    }
    if (param->kind == PE_KIND_CHOICE || param->kind == PE_KIND_POSITIONS ||
        param->kind == PE_KIND_TOKEN_RUNS || param->canonical ||
        param->kind == PE_KIND_NAME) /* what has a name here has plain letters in it */
        open = close = "\"";
    else if (param->kind == PE_KIND_REAL_LIST) {
        open = "[";
        close = "]";
    }
    pe_buffer_str(out, open);
    pe_value_print(value, out);
    pe_buffer_str(out, close);
}

/* The row whose name comes next after `after`, of those that are present, have a canonical form and
 * are not of kind `without`; n when there is none. */
static size_t next_by_name(const pe_values *values, const char *after, pe_param_kind without)
{
    size_t best = values->n;
    for (size_t i = 0; i < values->n; i++) {
        const char *name = values->value[i].param->name;
        const pe_param_kind kind = values->value[i].param->kind;
        if (!values->value[i].present || kind == PE_KIND_TENSOR || kind == without ||
            (kind == PE_KIND_TEXT && !values->value[i].param->canonical))
            continue;
        if (after != NULL && strcmp(name, after) <= 0)
            continue;
        if (best == values->n || strcmp(name, values->value[best].param->name) < 0)
            best = i;
    }
    return best;
}

void pe_values_query(const pe_values *values, pe_buffer *out)
{
    const char *after = NULL;
    for (size_t i; (i = next_by_name(values, after, PE_KIND_NAME)) < values->n;
         after = values->value[i].param->name) {
        pe_buffer_format(out, "%s%s=", after == NULL ? "" : "&", values->value[i].param->name);
        pe_value_print(&values->value[i], out);
    }
}

void pe_values_json(const pe_values *values, pe_buffer *out)
{
    const char *after = NULL;
    pe_buffer_str(out, "{");
    for (size_t i; (i = next_by_name(values, after, PE_KIND_TENSOR)) < values->n;
         after = values->value[i].param->name) {
        pe_buffer_format(out, "%s\"%s\":", after == NULL ? "" : ",", values->value[i].param->name);
        print_json(&values->value[i], out);
    }
    pe_buffer_str(out, "}");
}
