/* SPDX-License-Identifier: MIT */
/* problem_json.c - application/problem+json, and the page that explains a code. */
#include <stdio.h>
#include <string.h>

#include "api/documents.h"
#include "base/array.h"
#include "base/percent.h"
#include "formats/json_write.h"

/* The members that a problem and the page of its code begin with. */
static void put_head(pe_status status, pe_buffer *out)
{
    char type[64];
    snprintf(type, sizeof type, "/problems/%s", pe_status_code_text(status));
    pe_buffer_str(out, "{");
    pe_json_write_text(out, "type", type);
    pe_json_write_text(out, "title", pe_status_title(status));
    pe_json_write_number(out, "status", pe_status_http(status));
    pe_json_write_text(out, "code", pe_status_code_text(status));
}

/* The detail of one parameter need not begin with its name or place, which stands beside it. */
static const char *without_name(const char *where, const char *detail)
{
    const char *slash = strrchr(where, '/');
    const char *const names[] = {where, slash != NULL ? slash + 1 : ""};
    for (size_t i = 0; i < PE_LEN(names); i++) {
        const size_t bytes = strlen(names[i]);
        if (bytes > 0 && strncmp(detail, names[i], bytes) == 0 && detail[bytes] == ' ')
            return detail + bytes + 1;
    }
    return detail;
}

static void put_error(const char *where, const char *detail, bool from_json, pe_buffer *out)
{
    pe_json_write_open(out, NULL, "{");
    if (from_json) {
        /* A fragment may hold the characters of a path and '?' (RFC 3986 section 3.5). */
        pe_buffer fragment = {0};
        pe_buffer_str(&fragment, "#/");
        pe_percent_encode(pe_slice_of(where), "-._~!$&'()*+,;=:@/?", &fragment);
        pe_json_write_text(out, "pointer", pe_buffer_text(&fragment));
        out->failed |= fragment.failed;
        pe_buffer_free(&fragment);
    } else {
        pe_json_write_text(out, "parameter", where);
    }
    pe_json_write_text(out, "detail", without_name(where, detail));
    pe_buffer_str(out, "}");
}

/* Counts that overflow everything else still fit the integers that JSON readers have. */
static void write_count(pe_buffer *out, const char *name, uint64_t count)
{
    pe_json_write_count(out, name, count < INT64_MAX ? count : INT64_MAX);
}

void pe_problem_json(const pe_problem *problem, const char *instance, const char *request_id,
                     bool from_json, pe_buffer *out)
{
    const pe_status status = problem->status;
    put_head(status, out);
    /* "...; errors holds 8 mistakes, and there are 4 more". Who stopped reading has not seen all. */
    char detail[sizeof problem->detail + 64];
    const int used = snprintf(detail, sizeof detail, "%s", problem->detail);
    const bool all = problem->n_others + 1 + problem->n_unreported < PE_MISTAKES_COUNTED;
    if (problem->n_unreported > 0)
        snprintf(detail + used, sizeof detail - (size_t)used,
                 "; errors holds %u mistakes, and there are %s%u more", problem->n_others + 1,
                 all ? "" : "at least ", problem->n_unreported);
    pe_json_write_text(out, "detail", detail);
    pe_json_write_text(out, "instance", instance);
    pe_json_write_text(out, "request_id", request_id);
    if (problem->where[0] != '\0') {
        pe_json_write_open(out, "errors", "[");
        put_error(problem->where, problem->detail, from_json, out);
        for (unsigned i = 0; i < problem->n_others; i++)
            put_error(problem->others[i].where, problem->others[i].detail, from_json, out);
        pe_buffer_str(out, "]");
    }
    if (status == PE_TOO_MANY_ELEMENTS) {
        write_count(out, "max_elements", problem->max_elements);
        write_count(out, "requested_elements", problem->requested_elements);
    }
    if (status == PE_TOO_MUCH_WORK) {
        write_count(out, "max_work", problem->max_work);
        write_count(out, "requested_work", problem->requested_work);
    }
    pe_buffer_str(out, "}");
}

void pe_problem_json_page(pe_status status, pe_buffer *out)
{
    put_head(status, out);
    pe_json_write_text(out, "explanation", pe_status_about(status));
    pe_buffer_str(out, "}");
}
