/* SPDX-License-Identifier: MIT */
/* report_json.c - what POST /v1/verify answers. */
#include "api/report_json.h"

#include <math.h>

#include "api/json_write.h"
#include "plan/real.h"

static const char rules[] =
    "clean: each element is the claimed value rounded to dtype, perhaps by way of the next wider "
    "type (exact), or as near to it as the float32 reference path's angles are, and pairs as near "
    "to "
    "their circle (float32)";

/* What is not finite has no JSON form: null. */
static void number(pe_buffer *out, const char *name, double value)
{
    pe_json_write_name(out, name);
    if (isfinite(value))
        pe_real_print(value, out);
    else
        pe_buffer_str(out, "null");
}

static void size(pe_buffer *out, const char *name, size_t value)
{
    pe_json_write_name(out, name);
    pe_buffer_format(out, "%zu", value);
}

static void truth(pe_buffer *out, const char *name, bool value)
{
    pe_json_write_name(out, name);
    pe_buffer_str(out, value ? "true" : "false");
}

static void write_errors(const pe_errors *errors, pe_buffer *out)
{
    number(out, "max_abs", errors->max_abs);
    number(out, "max_ulp", errors->max_ulp);
    number(out, "rms", errors->rms);
    if (errors->has_phase)
        number(out, "max_phase", errors->max_phase);
}

static void write_bad(const pe_bad *bad, pe_buffer *out)
{
    pe_json_write_name(out, "first_bad");
    pe_buffer_str(out, "{");
    if (bad->tensor[0] != '\0')
        pe_json_write_text(out, "tensor", bad->tensor);
    pe_json_write_name(out, "index");
    pe_buffer_str(out, "[");
    for (size_t d = 0; d < bad->ndim; d++)
        pe_buffer_format(out, "%s%zu", d == 0 ? "" : ",", bad->index[d]);
    pe_buffer_str(out, "]");
    if (bad->has_pair) {
        number(out, "position", bad->position);
        size(out, "pair", bad->pair);
    }
    number(out, "expected", bad->expected);
    number(out, "got", bad->got);
    pe_buffer_str(out, "}");
}

static void write_bands(const pe_report *report, pe_buffer *out)
{
    pe_json_write_name(out, "bands");
    pe_buffer_str(out, "[");
    for (size_t b = 0; b < report->distances.n_bands; b++) {
        const pe_band *band = &report->distances.bands[b];
        pe_json_write_item(out);
        pe_buffer_str(out, "{");
        pe_json_write_name(out, report->bands_of);
        pe_buffer_format(out, "[%zu,%zu]", band->first, band->last);
        write_errors(&band->errors, out);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
}

static void write_finding(const pe_finding *finding, pe_buffer *out)
{
    pe_json_write_item(out);
    pe_buffer_str(out, "{");
    size(out, "rank", finding->rank);
    pe_json_write_name(out, "faults");
    pe_buffer_str(out, "[");
    for (size_t f = 0; f < finding->n_faults; f++) {
        pe_json_write_item(out);
        pe_buffer_json_string(out, finding->faults[f]);
    }
    pe_buffer_str(out, "]");
    pe_json_write_text(out, "rule", finding->rule);
    size(out, "undecided", finding->undecided);
    pe_json_write_name(out, "parameters");
    pe_buffer_str(out, finding->parameters);
    pe_json_write_name(out, "error");
    pe_buffer_str(out, "{");
    write_errors(&finding->errors, out);
    pe_buffer_str(out, "}}");
}

/* Elements that the match, or else the first finding, tells nothing of. */
static size_t undecided(const pe_report *report)
{
    if (report->matches)
        return report->undecided;
    return report->n_findings > 0 ? report->findings[0].undecided : 0;
}

static const char *conclusion(const pe_report *report)
{
    if (undecided(report) > 0 && undecided(report) == report->distances.errors.elements)
        return "float32 arithmetic cannot decide numbers at such large positions: see warnings";
    if (report->matches && report->undecided > 0)
        return "the numbers are what was claimed, except those at positions too large for float32 "
               "arithmetic to decide: see warnings";
    if (report->matches)
        return "the numbers are what was claimed";
    if (report->n_findings > 0)
        return report->findings[0].rule;
    if (!report->complete)
        return "no fault tried so far explains the numbers; the search was cut short";
    return "no known fault, nor any pair of them, explains the numbers";
}

static void write_warnings(const pe_report *report, pe_buffer *out)
{
    if (undecided(report) == 0)
        return;
    pe_json_write_name(out, "warnings");
    pe_buffer_format(out,
                     "[\"float32 arithmetic cannot decide %zu of %zu elements, whose positions are "
                     "too large%s\"]",
                     undecided(report), report->distances.errors.elements,
                     report->matches ? "; a claim with numerics=exact compares them" : "");
}

static void write_search(const pe_report *report, pe_buffer *out)
{
    pe_json_write_name(out, "search");
    pe_buffer_str(out, "{");
    size(out, "hypotheses", report->hypotheses);
    truth(out, "pairs_tried", report->pairs_tried);
    if (report->sampled > 0)
        size(out, "sampled_positions", report->sampled);
    truth(out, "complete", report->complete);
    pe_buffer_str(out, "}");
}

void pe_report_json(const pe_claim *claim, const pe_report *report, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    truth(out, "matches", report->matches);
    pe_json_write_text(out, "conclusion", conclusion(report));
    pe_json_write_text(out, "encoding", claim->resource->encoding);
    pe_json_write_name(out, "parameters");
    pe_buffer_str(out, report->parameters);
    pe_json_write_text(out, "dtype", pe_dtype_name(claim->uploads[0].array.dtype));
    pe_json_write_text(out, "numerics", report->numerics);
    if (claim->tolerance >= 0)
        number(out, "tolerance", claim->tolerance);
    else
        pe_json_write_text(out, "rule", rules);
    size(out, "elements", report->distances.errors.elements);
    if (report->matches)
        size(out, "undecided", report->undecided);
    write_warnings(report, out);
    if (report->distances.errors.elements > 0) {
        pe_json_write_name(out, "error");
        pe_buffer_str(out, "{");
        write_errors(&report->distances.errors, out);
        pe_buffer_str(out, "}");
        write_bands(report, out);
    }
    if (report->first_bad.any)
        write_bad(&report->first_bad, out);
    pe_json_write_name(out, "diagnosis");
    pe_buffer_str(out, "[");
    for (size_t f = 0; f < report->n_findings; f++)
        write_finding(&report->findings[f], out);
    pe_buffer_str(out, "]");
    if (!report->matches)
        write_search(report, out);
    pe_buffer_str(out, "}\n");
}
