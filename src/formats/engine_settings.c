/* SPDX-License-Identifier: MIT */
/* engine_settings.c - what other programs are told to compute the same numbers, as JSON. */
#include "formats/segments.h"

#include <string.h>

#include "text/json_write.h"

void pe_engine_settings_json(const pe_plan *plan, pe_buffer *out)
{
    const char *of = "";
    pe_buffer_str(out, "{");
    for (size_t s = 0; s < plan->n_engine_settings; s++) {
        const pe_engine_setting *setting = &plan->engine_settings[s];
        if (strcmp(setting->of, of) != 0) {
            pe_buffer_str(out, s == 0 ? "" : "}");
            pe_json_write_open(out, setting->of, "{");
        }
        of = setting->of;
        pe_json_write_open(out, setting->program, "{");
        if (setting->text != NULL && !setting->json) {
            pe_json_write_text(out, "value", setting->text);
        } else {
            pe_json_write_name(out, "value");
            pe_buffer_str(out, setting->text != NULL ? setting->text : "null");
        }
        pe_json_write_text(out, "note", setting->note);
        if (setting->layers != NULL) {
            pe_json_write_name(out, "layers");
            pe_buffer_str(out, setting->layers);
        }
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "}}");
}

void pe_engine_setting_sources_json(const pe_plan *plan, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    for (size_t s = 0; s < plan->n_engine_setting_sources; s++)
        pe_json_write_text(out, plan->engine_setting_sources[s].program,
                           plan->engine_setting_sources[s].source);
    pe_buffer_str(out, "}");
}
