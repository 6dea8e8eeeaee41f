/* SPDX-License-Identifier: MIT */
/* json_write.c - JSON members into a buffer, with their commas. */
#include "formats/json_write.h"

#include <inttypes.h>

#include "text/number.h"

void pe_json_write_item(pe_buffer *out)
{
    const char last = out->bytes > 0 ? out->data[out->bytes - 1] : '[';
    if (last != '[' && last != '{')
        pe_buffer_str(out, ",");
}

void pe_json_write_name(pe_buffer *out, const char *name)
{
    pe_json_write_item(out);
    pe_buffer_json_string(out, name);
    pe_buffer_str(out, ":");
}

void pe_json_write_open(pe_buffer *out, const char *name, const char *bracket)
{
    if (name != NULL)
        pe_json_write_name(out, name);
    else
        pe_json_write_item(out);
    pe_buffer_str(out, bracket);
}

void pe_json_write_truth(pe_buffer *out, const char *name, bool truth)
{
    pe_json_write_name(out, name);
    pe_buffer_str(out, truth ? "true" : "false");
}

void pe_json_write_text(pe_buffer *out, const char *name, const char *text)
{
    if (text == NULL)
        return;
    pe_json_write_name(out, name);
    pe_buffer_json_string(out, text);
}

void pe_json_write_number(pe_buffer *out, const char *name, double number)
{
    pe_json_write_name(out, name);
    char *at = pe_buffer_reserve(out, PE_NUMBER_TEXT_MAX);
    if (at != NULL)
        out->bytes += pe_number_print(PE_FLOAT64, number + 0.0, at); /* -0 is 0 */
}

void pe_json_write_count(pe_buffer *out, const char *name, uint64_t count)
{
    pe_json_write_name(out, name);
    pe_buffer_format(out, "%" PRIu64, count);
}

void pe_json_write_counts(pe_buffer *out, const char *name, const size_t *counts, size_t n)
{
    pe_json_write_open(out, name, "[");
    for (size_t i = 0; i < n; i++)
        pe_buffer_format(out, i == 0 ? "%zu" : ",%zu", counts[i]);
    pe_buffer_str(out, "]");
}

void pe_json_write_texts(pe_buffer *out, const char *name, const char *const *texts, size_t n)
{
    pe_json_write_open(out, name, "[");
    for (size_t i = 0; i < n && texts[i] != NULL; i++) {
        pe_json_write_item(out);
        pe_buffer_json_string(out, texts[i]);
    }
    pe_buffer_str(out, "]");
}
