/* SPDX-License-Identifier: MIT */
/* engine_settings.c - what other programs are told to compute the same numbers, as JSON. */
#include "formats/engine_settings.h"

#include <string.h>

static void put_setting(const pe_engine_setting *setting, pe_buffer *out)
{
    pe_buffer_json_string(out, setting->program);
    pe_buffer_str(out, ":{\"value\":");
    if (setting->text == NULL)
        pe_buffer_str(out, "null");
    else if (setting->json)
        pe_buffer_str(out, setting->text);
    else
        pe_buffer_json_string(out, setting->text);
    if (setting->note != NULL) {
        pe_buffer_str(out, ",\"note\":");
        pe_buffer_json_string(out, setting->note);
    }
    pe_buffer_str(out, "}");
}

void pe_engine_settings_json(const pe_plan *plan, pe_buffer *out)
{
    const char *of = "";
    pe_buffer_str(out, "{");
    for (size_t s = 0; s < plan->n_engine_settings; s++) {
        const pe_engine_setting *setting = &plan->engine_settings[s];
        if (strcmp(setting->of, of) == 0) {
            pe_buffer_str(out, ",");
        } else {
            pe_buffer_str(out, s == 0 ? "" : "},");
            pe_buffer_json_string(out, setting->of);
            pe_buffer_str(out, ":{");
        }
        of = setting->of;
        put_setting(setting, out);
    }
    pe_buffer_str(out, "}}");
}

void pe_engine_setting_sources_json(const pe_plan *plan, pe_buffer *out)
{
    for (size_t s = 0; s < plan->n_engine_setting_sources; s++) {
        pe_buffer_str(out, s == 0 ? "{" : ",");
        pe_buffer_json_string(out, plan->engine_setting_sources[s].program);
        pe_buffer_str(out, ":");
        pe_buffer_json_string(out, plan->engine_setting_sources[s].source);
    }
    pe_buffer_str(out, "}");
}
