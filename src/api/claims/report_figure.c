/* SPDX-License-Identifier: MIT */
/* report_figure.c - the report of a verification as a picture of the difference. */
#include <stdint.h>
#include <stdio.h>

#include "api/claims/verify_report.h"
#include "formats/stream.h"
#include "plan/plan.h"

/* Rows of cells become rows of the upload. */
static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const pe_difference *of = plan->state;
    float *to = out;
    for (size_t row = region->first; row < region->first + region->units; row++)
        for (size_t c = region->column; c < region->column + region->columns; c++)
            *to++ = of->cell[row * of->down / of->rows * of->across + c * of->across / of->columns];
    return PE_OK;
}

pe_status pe_report_render(const pe_plan *plan, const pe_rendering *rendering, pe_buffer *out,
                           pe_problem *why)
{
    enum { PIECE = 16384 };
    size_t got = 1;
    pe_stream *stream = NULL;
    pe_status status = pe_stream_make(plan, rendering, &stream, why);
    while (status == PE_OK && (got > 0 || pe_stream_reduces(stream))) {
        char *at = pe_buffer_reserve(out, PIECE);
        status = at != NULL ? pe_stream_read(stream, at, PIECE, &got, why) : pe_fail_memory(why);
        out->bytes += status == PE_OK ? got : 0;
    }
    pe_stream_free(stream);
    return status;
}

pe_status pe_report_figure(const pe_claim *claim, const pe_report *report, const pe_format *format,
                           pe_buffer *out, pe_problem *why)
{
    char title[96];
    pe_resource resource = *claim->resource;
    const bool pairs = report->bands_of[0] == 'p';
    const pe_value *at = pe_values_find(&claim->values, "positions");
    const bool placed = /* rows of tables are positions */
        at != NULL && at->present && at->positions.count == report->difference.rows;
    snprintf(title, sizeof title, "%s: difference from the claim", resource.name);
    resource.name = "verify";
    resource.summary = title;
    resource.formula = "|got - claimed|";
    resource.labels = PE_LABELS({.axes = placed  ? (pairs ? "positions, pair" : "positions, column")
                                         : pairs ? "row, pair"
                                                 : "row, column",
                                 .value = "|difference|"});
    const pe_figure_options options = {
        .view = PE_VIEW_HEATMAP, .width = PE_FIGURE_WIDTH, .height = PE_FIGURE_HEIGHT};
    const pe_difference *of = &report->difference;
    if (of->rows == 0 || of->columns == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "format",
                       "the claim has no pairs whose differences a figure could show");
    const pe_rendering *rendering = &(pe_rendering){.format = format,
                                                    .encoding = claim->resource->encoding,
                                                    .parameters = report->parameters,
                                                    .resource = &resource,
                                                    .values = &claim->values,
                                                    .figure = options};
    static const pe_limits limits = {.max_elements = SIZE_MAX};
    pe_plan plan = {
        .limits = &limits, .state = (void *)(uintptr_t)of, .fill = fill, .makes_parts = true};
    const pe_shape shape = {2, {of->rows, of->columns}};
    pe_status status =
        pe_plan_add_tensor(&plan, "difference", PE_FLOAT32, &shape, of->columns, why);
    if (status == PE_OK)
        status = pe_report_render(&plan, rendering, out, why);
    pe_plan_free(&plan);
    return status;
}
