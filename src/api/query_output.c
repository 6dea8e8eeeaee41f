/* SPDX-License-Identifier: MIT */
/* query_output.c - format, encoding_format, tensor and those of figures: the parameters of every
 * resource. */
#include <string.h>

#include "api/query.h"
#include "formats/negotiate.h"

const char *const pe_query_output_names[PE_OUTPUT_N] = {
    [PE_OUTPUT_FORMAT] = "format", [PE_OUTPUT_ENCODING] = "encoding_format",
    [PE_OUTPUT_TENSOR] = "tensor", [PE_OUTPUT_VIEW] = "view",
    [PE_OUTPUT_THEME] = "theme",   [PE_OUTPUT_WIDTH] = "width",
    [PE_OUTPUT_HEIGHT] = "height",
};
const char *const pe_query_output_encodings[] = {"float", "base64", NULL};

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

static pe_status set_encoding(pe_query *query, const char *text, pe_problem *why)
{
    for (size_t i = 0; pe_query_output_encodings[i] != NULL; i++)
        if (strcmp(pe_query_output_encodings[i], text) == 0) {
            query->base64 = i == 1;
            return PE_OK;
        }
    return pe_fail(why, PE_INVALID_PARAMETER, "encoding_format",
                   "encoding_format must be one of float, base64; got \"%.40s\"", text);
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
    return which == PE_OUTPUT_ENCODING ? set_encoding(query, text, why)
                                       : set_tensor(query, text, why);
}
