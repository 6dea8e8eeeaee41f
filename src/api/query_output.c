/* SPDX-License-Identifier: MIT */
/* query_output.c - format, encoding_format, tensor and those of figures: the parameters of every
 * resource. */
#include <string.h>

#include "api/query.h"
#include "formats/negotiate.h"

const char *const pe_query_output_names[PE_OUTPUT_N] = {
    [PE_OUTPUT_FORMAT] = "format", [PE_OUTPUT_ENCODING] = "encoding_format",
    [PE_OUTPUT_TENSOR] = "tensor", [PE_OUTPUT_CSV_HEADER] = "csv_header",
    [PE_OUTPUT_VIEW] = "view",     [PE_OUTPUT_THEME] = "theme",
    [PE_OUTPUT_WIDTH] = "width",   [PE_OUTPUT_HEIGHT] = "height",
};
const char *const pe_query_output_encodings[] = {"float", "base64", NULL};
const char *const pe_query_csv_headers[] = {"indices", "names", "none", NULL};

size_t pe_query_output_find(const pe_resource *resource, const char *name)
{
    static const char prefix[] = "figure_";
    const bool sized = strncmp(name, prefix, sizeof prefix - 1) == 0;
    const char *plain = sized ? name + sizeof prefix - 1 : name;
    for (size_t i = sized ? PE_OUTPUT_WIDTH : 0; i < PE_OUTPUT_N; i++)
        if (strcmp(pe_query_output_names[i], plain) == 0)
            return pe_params_find(resource->param_sets, name) == NULL ? i : PE_OUTPUT_N;
    return PE_OUTPUT_N;
}

static pe_status find_choice(const char *name, const char *const *choices, const char *text,
                             size_t *out, pe_problem *why)
{
    pe_buffer list = {0};
    for (size_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *out = i;
            pe_buffer_free(&list);
            return PE_OK;
        }
        pe_buffer_format(&list, i == 0 ? "%s" : ", %s", choices[i]);
    }
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be one of %s; got \"%.40s\"", name,
                pe_buffer_text(&list), text);
    pe_buffer_free(&list);
    return status;
}

static pe_status set_encoding(pe_query *query, const char *text, pe_problem *why)
{
    size_t choice = 0;
    const pe_status status =
        find_choice("encoding_format", pe_query_output_encodings, text, &choice, why);
    query->base64 = choice == 1;
    return status;
}

static pe_status set_csv_header(pe_query *query, const char *text, pe_problem *why)
{
    size_t choice = 0;
    const pe_status status = find_choice("csv_header", pe_query_csv_headers, text, &choice, why);
    query->csv_header = (pe_csv_header)choice;
    query->csv_asked = true;
    return status;
}

static pe_status set_tensor(pe_query *query, const char *text, pe_problem *why)
{
    const size_t bytes = strlen(text);
    if (bytes >= sizeof query->tensor)
        return pe_fail(why, PE_INVALID_PARAMETER, "tensor", "no tensor is named \"%.40s\"", text);
    memcpy(query->tensor, text, bytes + 1);
    return PE_OK;
}

pe_status pe_query_output_set(pe_query *query, size_t which, const char *text, pe_problem *why)
{
    if (text[0] == '\0')
        return pe_fail(why, PE_MALFORMED_REQUEST, pe_query_output_names[which],
                       "%s must not be empty", pe_query_output_names[which]);
    if (which == PE_OUTPUT_FORMAT)
        return pe_format_parse(text, &query->format, why);
    if (which >= PE_OUTPUT_VIEW)
        return pe_query_figure_set(query, which, text, why);
    if (which == PE_OUTPUT_CSV_HEADER)
        return set_csv_header(query, text, why);
    return which == PE_OUTPUT_ENCODING ? set_encoding(query, text, why)
                                       : set_tensor(query, text, why);
}
