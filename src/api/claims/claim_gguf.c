/* SPDX-License-Identifier: MIT */
/* claim_gguf.c - what a GGUF file makes of positions, as an upload: what its conversion lost. */
#include "api/claims/claim.h"

#include <string.h>

#include "api/claims/verify_report.h"
#include "encodings/registry.h"
#include "files/gguf_file.h"
#include "files/tree.h"
#include "plan/plan.h"

/* The first positions tell all frequencies. */
static const char first_rows[] = "dtype=float64&positions=0:64&format=safetensors";

static pe_status table_of(const pe_model *model, const char *layer_type,
                          const pe_read_limits *limits, pe_buffer *out, pe_problem *why)
{
    pe_query query;
    pe_plan plan = {0};
    const pe_model_layers *layers;
    PE_TRY(pe_model_choose(model, layer_type, &layers, why));
    if (layers->resource != &pe_rope_table)
        return pe_fail(why, PE_INVALID_PARAMETER, "config",
                       "layers of the GGUF file encode positions by %s, and of such a file rope "
                       "alone is compared%s%s",
                       model->encoding, model->n_warnings > 0 ? ": " : "",
                       model->n_warnings > 0 ? model->warnings[0] : "");
    PE_TRY(pe_query_begin(&pe_rope_table, &query, why));
    pe_status status = pe_query_read(&query, pe_slice_of(first_rows), false, limits, why);
    if (status == PE_OK)
        status = pe_model_fill(&layers->values, &query.values, why);
    PE_TRY(pe_query_finish(&query, status, limits, &query, why));
    const pe_rendering rendering = pe_query_rendering(&query);
    status = pe_query_plan(&query, limits->tables, limits->plan, &plan, why);
    if (status == PE_OK)
        status = pe_report_render(&plan, &rendering, out, why);
    pe_plan_free(&plan);
    pe_query_free(&query);
    return status;
}

pe_status pe_claim_gguf_table(pe_slice file, const char *layer_type, const pe_read_limits *limits,
                              pe_buffer *out, pe_problem *why)
{
    json_t *metadata = NULL;
    pe_model *model = NULL;
    PE_TRY(pe_gguf_file_read(file, &metadata, why));
    pe_status status = pe_model_resolve(metadata, &model, why);
    if (status == PE_OK)
        status = table_of(model, layer_type, limits, out, why);
    pe_model_free(model);
    json_decref(metadata);
    return status;
}
