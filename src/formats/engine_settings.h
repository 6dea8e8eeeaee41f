/* SPDX-License-Identifier: MIT */
/* engine_settings.h - what other programs are told to compute the same numbers, as JSON. */
#ifndef PE_FORMATS_ENGINE_SETTINGS_H
#define PE_FORMATS_ENGINE_SETTINGS_H

#include "base/buffer.h"
#include "plan/plan.h"

/** A plan's engine settings by kind and by program, {"yarn": {"vllm": {"value": ..., "note":
 * ...}}}. The plan has some. */
void pe_engine_settings_json(const pe_plan *plan, pe_buffer *out);

/** Where these settings are documented, {"vllm": "..."}. */
void pe_engine_setting_sources_json(const pe_plan *plan, pe_buffer *out);

#endif
