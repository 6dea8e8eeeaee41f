/* SPDX-License-Identifier: MIT */
/* writer.c - JSON members into a buffer, with their commas. */
#include "api/writer.h"

#include "plan/real.h"

void pe_writer_item(pe_buffer *out)
{
    const char last = out->bytes > 0 ? out->data[out->bytes - 1] : '[';
    if (last != '[' && last != '{')
        pe_buffer_str(out, ",");
}

void pe_writer_name(pe_buffer *out, const char *name)
{
    pe_writer_item(out);
    pe_buffer_json_string(out, name);
    pe_buffer_str(out, ":");
}

void pe_writer_text(pe_buffer *out, const char *name, const char *text)
{
    if (text == NULL)
        return;
    pe_writer_name(out, name);
    pe_buffer_json_string(out, text);
}

void pe_writer_number(pe_buffer *out, const char *name, double number)
{
    pe_writer_name(out, name);
    pe_real_print(number, out);
}
