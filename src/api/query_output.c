/* SPDX-License-Identifier: MIT */
/* query_output.c - format, encoding_format and tensor: the parameters of every resource. */
#include <string.h>

#include "api/query.h"
#include "formats/negotiate.h"

const char *const pe_query_output_names[PE_OUTPUT_N] = {
    [PE_OUTPUT_FORMAT] = "format",
    [PE_OUTPUT_ENCODING] = "encoding_format",
    [PE_OUTPUT_TENSOR] = "tensor",
};
const char *const pe_query_output_encodings[] = {"float", "base64", NULL};

size_t pe_query_output_find(const char *name)
{
    size_t i = 0;
    while (i < PE_OUTPUT_N && strcmp(pe_query_output_names[i], name) != 0)
        i++;
    return i;
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
    return which == PE_OUTPUT_ENCODING ? set_encoding(query, text, why)
                                       : set_tensor(query, text, why);
}
