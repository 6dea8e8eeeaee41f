/* SPDX-License-Identifier: MIT */
/* sarif.c - reports of /v1/verify as SARIF, which forges show beside the files. */
#include "cli/sarif.h"

#include <stdlib.h>

#include "version.h"

static void add(json_t *results, const char *rule, const char *text, const char *remedy,
                const char *file)
{
    const bool cured = remedy != NULL && *remedy != '\0';
    pe_buffer message = {0};
    pe_buffer_format(&message, "%s%s%s", text != NULL ? text : "", cured ? "; remedy: " : "",
                     cured ? remedy : "");
    json_array_append_new(results, json_pack("{s:s, s:s, s:{s:s}, s:[{s:{s:{s:s}}}]}", "ruleId",
                                             rule, "level", "error", "message", "text",
                                             pe_buffer_text(&message), "locations",
                                             "physicalLocation", "artifactLocation", "uri", file));
    pe_buffer_free(&message);
}

/* A cause of first rank is a result, whose rule is the first of its faults. */
void pe_sarif_add(json_t *results, const json_t *report, const char *file)
{
    size_t i, told = 0;
    const json_t *cause;
    if (json_is_true(json_object_get(report, "matches")))
        return;
    json_array_foreach(json_object_get(report, "diagnosis"), i, cause)
    {
        const char *rule = json_string_value(json_array_get(json_object_get(cause, "faults"), 0));
        if (json_integer_value(json_object_get(cause, "rank")) != 1)
            continue;
        add(results, rule != NULL ? rule : "difference",
            json_string_value(json_object_get(cause, "rule")),
            json_string_value(json_object_get(cause, "remedy")), file);
        told++;
    }
    if (told == 0)
        add(results, "difference", json_string_value(json_object_get(report, "conclusion")), NULL,
            file);
}

void pe_sarif_write(json_t *results, pe_buffer *out)
{
    json_t *log =
        json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s}}, s:O}]}", "$schema",
                  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                  "tool", "driver", "name", "posenc", "version", PE_VERSION, "results", results);
    char *text = log != NULL ? json_dumps(log, JSON_INDENT(1)) : NULL;
    if (text != NULL)
        pe_buffer_format(out, "%s\n", text);
    out->failed |= text == NULL;
    free(text);
    json_decref(log);
}
