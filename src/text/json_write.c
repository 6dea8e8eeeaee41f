/* SPDX-License-Identifier: MIT */
/* json_write.c - JSON members into a buffer, with their commas. */
#include "api/json_write.h"

#include "plan/real.h"

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
    pe_real_print(number, out);
}
