/* SPDX-License-Identifier: MIT */
/* report_json.c - what POST /v1/verify answers. */
#include "api/report_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "plan/real.h"
#include "text/json_write.h"
#include "verify/reading.h"

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
    pe_json_write_open(out, "first_bad", "{");
    if (bad->tensor[0] != '\0')
        pe_json_write_text(out, "tensor", bad->tensor);
    pe_json_write_open(out, "index", "[");
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
    pe_json_write_open(out, "bands", "[");
    for (size_t b = 0; b < report->distances.n_bands; b++) {
        const pe_band *band = &report->distances.bands[b];
        pe_json_write_open(out, NULL, "{");
        pe_json_write_name(out, report->bands_of);
        pe_buffer_format(out, "[%zu,%zu]", band->first, band->last);
        write_errors(&band->errors, out);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
}

static void write_finding(const pe_finding *finding, pe_buffer *out)
{
    pe_json_write_open(out, NULL, "{");
    size(out, "rank", finding->rank);
    pe_json_write_open(out, "faults", "[");
    for (size_t f = 0; f < finding->n_faults; f++) {
        pe_json_write_item(out);
        pe_buffer_json_string(out, finding->faults[f]);
    }
    pe_buffer_str(out, "]");
    pe_json_write_text(out, "rule", finding->rule);
    pe_json_write_truth(out, "fitted", finding->fitted);
    pe_json_write_text(out, "evidence", finding->evidence);
    pe_json_write_text(out, "remedy", finding->remedy);
    size(out, "undecided", finding->undecided);
    pe_json_write_name(out, "parameters");
    pe_buffer_str(out, finding->parameters);
    pe_json_write_open(out, "error", "{");
    write_errors(&finding->errors, out);
    pe_buffer_str(out, "}}");
}

/* ---- what was measured ---- */

/* How far positions go from one token to the next, for a row. */
static double step(const pe_reading *r, size_t t)
{
    const size_t rows = pe_reading_row(r, t + 1) - pe_reading_row(r, t);
    return (r->position[t + 1] - r->position[t]) / (double)rows;
}

/* Tokens [first, last] whose positions go on by one step. */
static size_t end_of_segment(const pe_reading *r, size_t first)
{
    const double *p = r->position;
    size_t t = first + 1;
    if (!isfinite(p[first])) {
        while (t < r->tokens && !isfinite(p[t]))
            t++;
        return t - 1;
    }
    if (t == r->tokens || !isfinite(p[t]))
        return first;
    while (t + 1 < r->tokens && fabs(step(r, t) - step(r, first)) < 1e-3)
        t++;
    const double each = r->claimed[first + 1] - r->claimed[first];
    const bool is_run = t > first + 1 || p[t] == p[first] || p[t] == p[first] + each;
    return is_run || t + 1 == r->tokens ? t : first;
}

static void write_segments(const pe_reading *r, pe_buffer *out)
{
    enum { MOST = 32 };
    size_t n = 0;
    pe_json_write_open(out, "positions", "[");
    for (size_t t = 0; t < r->tokens && n < MOST; n++) {
        const size_t last = end_of_segment(r, t);
        pe_json_write_item(out);
        pe_buffer_format(out, "{\"rows\":[%zu,%zu]", pe_reading_row(r, t), pe_reading_row(r, last));
        number(out, "first", r->position[t]);
        number(out, "last", r->position[last]);
        pe_buffer_str(out, "}");
        t = last + 1;
    }
    pe_buffer_str(out, "]");
}

static bool is_same_ratio(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 2e-3 * fabs(b);
}

/* Pairs [first, last] that turn by one multiple of the claimed frequencies. */
static void write_ratios(const pe_reading *r, pe_buffer *out)
{
    pe_json_write_open(out, "frequencies", "[");
    for (size_t i = 0; i < r->pairs;) {
        size_t last = i;
        const double ratio = pe_reading_ratio(r, i);
        while (last + 1 < r->pairs && is_same_ratio(pe_reading_ratio(r, last + 1), ratio))
            last++;
        pe_json_write_item(out);
        pe_buffer_format(out, "{\"pairs\":[%zu,%zu]", i, last);
        number(out, "ratio", ratio);
        pe_buffer_str(out, "}");
        i = last + 1;
    }
    pe_buffer_str(out, "]");
}

static void write_strays(const pe_strays *at, pe_buffer *out)
{
    size(out, "bad_elements", at->elements);
    size(out, "bad_rows", at->rows);
    size(out, "bad_columns", at->columns);
    size(out, "not_finite", at->not_finite);
}

/* ---- in sentences ---- */

/* "row 7 ", "rows 0 to 7 " */
static void say_range(const char *what, size_t first, size_t last, pe_buffer *out)
{
    if (first == last)
        pe_buffer_format(out, "%s %zu ", what, first);
    else
        pe_buffer_format(out, "%ss %zu to %zu ", what, first, last);
}

/* A token may have several rows: the vectors of its heads and batch items. */
static void say_positions(const pe_reading *r, bool vectors, pe_buffer *out)
{
    enum { MOST = 4 };
    const char *what = vectors ? "token" : "row",
               *none = vectors ? "no one position" : "no position";
    size_t n = 0;
    for (size_t t = 0; t < r->tokens; n++) {
        const size_t last = end_of_segment(r, t);
        if (n == MOST) {
            pe_buffer_str(out, ", and so on");
            break;
        }
        pe_buffer_str(out, n == 0 ? "" : ", ");
        say_range(what, pe_reading_row(r, t), pe_reading_row(r, last), out);
        pe_buffer_str(out, t == last ? "carries " : "carry ");
        if (!isfinite(r->position[t]))
            pe_buffer_str(out, none);
        else if (r->position[t] == r->position[last])
            pe_buffer_format(out, "position %.7g", r->position[t]);
        else
            pe_buffer_format(out, "positions %.7g to %.7g", r->position[t], r->position[last]);
        t = last + 1;
    }
    pe_buffer_str(out, ". ");
}

static void say_ratio(size_t first, size_t last, double ratio, pe_buffer *out)
{
    const double times = fabs(ratio) < 1 ? 1 / fabs(ratio) : fabs(ratio);
    const char *s = first == last ? "s" : "";
    say_range("Pair", first, last, out);
    if (isnan(ratio))
        pe_buffer_format(out, "turn%s without order. ", s);
    else if (fabs(ratio) < 1e-9)
        pe_buffer_format(out, "do%s not turn. ", first == last ? "es" : "");
    else
        pe_buffer_format(out, "turn%s %s%.6g times %s than claimed. ", s,
                         ratio < 0 ? "the other way, " : "", times,
                         fabs(ratio) < 1 ? "slower" : "faster");
}

static void say_ratios(const pe_reading *r, pe_buffer *out)
{
    enum { MOST = 6 };
    size_t said = 0;
    for (size_t i = 0; i < r->pairs && said < MOST;) {
        size_t last = i;
        const double ratio = pe_reading_ratio(r, i);
        while (last + 1 < r->pairs && is_same_ratio(pe_reading_ratio(r, last + 1), ratio))
            last++;
        if (!is_same_ratio(ratio, 1)) {
            say_ratio(i, last, ratio, out);
            said++;
        }
        i = last + 1;
    }
}

bool pe_report_has_heads(const pe_report *report)
{
    return report->has_strays && report->has_reading &&
           report->strays.all_rows > report->reading.tokens;
}

/* What the upload is, in sentences. */
void pe_report_measured(const pe_report *report, pe_buffer *out)
{
    const pe_reading *r = &report->reading;
    const pe_strays *strays = &report->strays;
    if (report->has_reading) {
        say_positions(r, pe_report_has_heads(report), out);
        if (r->own)
            say_ratios(r, out);
        if (fabs(r->amplitude - r->claimed_amplitude) > 4e-3 * r->claimed_amplitude)
            pe_buffer_format(out, "The amplitude is %.5g instead of %.5g. ", r->amplitude,
                             r->claimed_amplitude);
    }
    if (report->facts.text.bytes > 0)
        pe_buffer_add(out, report->facts.text.data, report->facts.text.bytes);
    if (!report->has_strays)
        return;
    pe_buffer_format(out,
                     "%zu of %zu elements are not what was claimed, in %zu of %zu rows and %zu of "
                     "%zu columns",
                     strays->elements, report->distances.errors.elements, strays->rows,
                     strays->all_rows, strays->columns, strays->all_columns);
    if (strays->not_finite > 0)
        pe_buffer_format(out, "; %zu are NaN or infinite", strays->not_finite);
    pe_buffer_str(out, ".");
}

static void write_measured(const pe_report *report, pe_buffer *out)
{
    pe_buffer text = {0};
    pe_json_write_open(out, "measured", "{");
    pe_report_measured(report, &text);
    pe_json_write_text(out, "text", pe_buffer_text(&text));
    pe_buffer_free(&text);
    if (report->has_strays)
        write_strays(&report->strays, out);
    if (report->has_reading) {
        const pe_reading *r = &report->reading;
        number(out, "rows_with_position", round(r->quality * (double)r->tokens));
        write_segments(r, out);
        write_ratios(r, out);
        number(out, "amplitude", r->amplitude);
        number(out, "claimed_amplitude", r->claimed_amplitude);
    }
    if (report->facts.json.bytes > 0) {
        pe_buffer_str(out, ",");
        pe_buffer_add(out, report->facts.json.data, report->facts.json.bytes);
    }
    pe_buffer_str(out, "}");
}

/* Elements that the match, or else the first finding, tells nothing of. */
static size_t undecided(const pe_report *report)
{
    if (report->matches)
        return report->undecided;
    return report->n_findings > 0 ? report->findings[0].undecided : 0;
}

const char *pe_report_conclusion(const pe_report *report)
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

void pe_report_warnings(const pe_report *report, pe_buffer *out)
{
    if (undecided(report) > 0)
        pe_buffer_format(out,
                         "float32 arithmetic cannot decide %zu of %zu elements, whose positions "
                         "are too large%s\n",
                         undecided(report), report->distances.errors.elements,
                         report->matches ? "; a claim with numerics=exact compares them" : "");
    if (report->sampled_of > 0 && !report->matches)
        pe_buffer_format(out,
                         "every element was compared as it arrived, but causes were looked for in "
                         "%zu of %zu rows, and hold for these: the setting verify_held_bytes "
                         "bounds tables of which all rows are searched\n",
                         report->sampled, report->sampled_of);
}

void pe_report_allowed(const pe_allowed *a, pe_buffer *out)
{
    if (a->arithmetic == NULL) {
        pe_buffer_format(out, "the tolerance %.4g is allowed everywhere", a->max_abs);
        return;
    }
    pe_buffer_format(out, "at most %.4g ", a->max_abs);
    if (a->max_ulp < 1e6) /* more says nothing: a narrower type was computed with */
        pe_buffer_format(out, "(%.4g ulp) ", a->max_ulp);
    pe_buffer_format(out, "is allowed by %s arithmetic: ", a->arithmetic);
    if (a->has_pair) {
        pe_buffer_format(out,
                         "%.4g for the angle of pair %zu at position %.17g (%.4g roundings of "
                         "2^-24 of %.4g radians), %.4g for sine, cosine and attention factor, ",
                         a->angle, a->pair, a->position, a->roundings,
                         fabs(a->position) * a->frequency, a->waves);
        if (a->products > 0)
            pe_buffer_format(out, "%.4g for products and their sum in the type, ", a->products);
    } else if (a->max_abs > a->stored * (1 + 1e-9)) {
        pe_buffer_format(out, "%.4g for %s, ", a->max_abs - a->stored,
                         strcmp(a->arithmetic, "exact") == 0 ? "a product kept in the type"
                                                             : a->words);
    }
    pe_buffer_format(out, "%.4g for the rounding to the type", a->stored);
}

static void write_allowed(const pe_allowed *a, pe_buffer *out)
{
    pe_buffer text = {0};
    pe_report_allowed(a, &text);
    pe_json_write_open(out, "allowance", "{");
    pe_json_write_text(out, "arithmetic", a->arithmetic);
    number(out, "max_abs", a->max_abs);
    number(out, "max_ulp", a->max_ulp);
    if (a->arithmetic != NULL) {
        pe_json_write_open(out, "steps", "{");
        if (a->has_pair) {
            number(out, "angle", a->angle);
            number(out, "waves", a->waves);
        }
        number(out, a->has_pair ? "products" : "computed",
               a->has_pair ? a->products : a->max_abs - a->stored);
        number(out, "stored", a->stored);
        pe_buffer_str(out, "}");
    }
    if (a->has_pair) {
        number(out, "position", a->position);
        size(out, "pair", a->pair);
        number(out, "roundings", a->roundings);
    }
    pe_json_write_text(out, "text", pe_buffer_text(&text));
    pe_buffer_str(out, "}");
    pe_buffer_free(&text);
}

void pe_report_blind(const pe_claim *claim, const pe_blind_other *other, pe_buffer *out)
{
    pe_buffer shown = {0};
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    pe_positions_print(&positions->positions, &shown);
    if (shown.bytes > 0 && shown.bytes <= 40)
        pe_buffer_format(out, "positions %s", pe_buffer_text(&shown));
    else
        pe_buffer_str(out, "these positions");
    pe_buffer_free(&shown);
    pe_buffer_format(out, " cannot tell %s from %s; ", other->claimed, other->instead);
    if (other->rows_from > 0)
        pe_buffer_format(out, "send rows from %.0f on", other->rows_from);
    else
        pe_buffer_str(out, "no rows of these parameters can");
}

static void write_blind(const pe_claim *claim, const pe_blind *blind, pe_buffer *out)
{
    if (blind->n == 0)
        return;
    pe_json_write_open(out, "cannot_tell", "[");
    for (size_t i = 0; i < blind->n; i++) {
        const pe_blind_other *other = &blind->other[i];
        pe_buffer text = {0};
        pe_report_blind(claim, other, &text);
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "text", pe_buffer_text(&text));
        pe_json_write_text(out, "claimed", other->claimed);
        pe_json_write_text(out, "instead", other->instead);
        if (other->rows_from > 0)
            number(out, "rows_from", other->rows_from);
        pe_buffer_str(out, "}");
        pe_buffer_free(&text);
    }
    pe_buffer_str(out, "]");
}

/* Lines as an array of texts; none where there are none. */
static void write_lines(const char *name, const pe_buffer *text, pe_buffer *out)
{
    pe_slice lines = pe_buffer_slice(text);
    if (lines.bytes == 0)
        return;
    pe_json_write_open(out, name, "[");
    while (lines.bytes > 0) {
        char line[512];
        const pe_slice next = pe_slice_next(&lines, '\n');
        snprintf(line, sizeof line, "%.*s", (int)next.bytes, next.text);
        pe_json_write_item(out);
        pe_buffer_json_string(out, line);
    }
    pe_buffer_str(out, "]");
}

static void write_warnings(const pe_report *report, const pe_buffer *doubts, pe_buffer *out)
{
    pe_buffer text = {0};
    pe_report_warnings(report, &text);
    pe_buffer_add(&text, pe_buffer_slice(doubts).text, doubts->bytes);
    write_lines("warnings", &text, out);
    pe_buffer_free(&text);
}

static void write_search(const pe_report *report, pe_buffer *out)
{
    pe_json_write_open(out, "search", "{");
    size(out, "hypotheses", report->hypotheses);
    pe_json_write_truth(out, "pairs_tried", report->pairs_tried);
    if (report->sampled > 0)
        size(out, "sampled_positions", report->sampled);
    pe_json_write_truth(out, "complete", report->complete);
    pe_buffer_str(out, "}");
}

void pe_report_part(const pe_claim *claim, const pe_report *report, pe_buffer *out)
{
    pe_buffer_str(out, out->bytes > 0 ? ",{" : "{");
    pe_json_write_text(out, "tensors", claim->sent);
    pe_json_write_text(out, "table", claim->resource->name);
    pe_json_write_truth(out, "matches", report->matches);
    pe_json_write_text(out, "conclusion", pe_report_conclusion(report));
    pe_buffer_str(out, "}");
}

void pe_report_json(const pe_claim *claim, const pe_report *report, const pe_report_beside *beside,
                    pe_buffer *out)
{
    pe_buffer_str(out, "{");
    pe_json_write_truth(out, "matches", report->matches);
    pe_json_write_text(out, "conclusion", pe_report_conclusion(report));
    pe_json_write_text(out, "encoding", claim->resource->encoding);
    pe_json_write_name(out, "parameters");
    pe_buffer_str(out, report->parameters);
    write_lines("inferred", beside->said, out);
    if (beside->parts->bytes > 0) {
        pe_json_write_open(out, "parts", "[");
        pe_buffer_add(out, beside->parts->data, beside->parts->bytes);
        pe_buffer_str(out, "]");
    }
    if (beside->readings->bytes > 0) {
        pe_json_write_open(out, "readings", "[");
        pe_buffer_add(out, beside->readings->data, beside->readings->bytes);
        pe_buffer_str(out, "]");
    }
    pe_json_write_text(out, "dtype", pe_dtype_name(claim->uploads[0].array.dtype));
    pe_json_write_text(out, "numerics", report->numerics);
    if (claim->tolerance >= 0)
        number(out, "tolerance", claim->tolerance);
    else
        pe_json_write_text(out, "rule", rules);
    if (report->allowed.max_ulp > 0 || claim->tolerance >= 0)
        write_allowed(&report->allowed, out);
    size(out, "elements", report->distances.errors.elements);
    if (report->matches)
        size(out, "undecided", report->undecided);
    write_warnings(report, beside->doubts, out);
    write_blind(claim, &report->blind, out);
    if (report->distances.errors.elements > 0) {
        pe_json_write_open(out, "error", "{");
        write_errors(&report->distances.errors, out);
        pe_buffer_str(out, "}");
        write_bands(report, out);
    }
    if (report->first_bad.any)
        write_bad(&report->first_bad, out);
    if (!report->matches)
        write_measured(report, out);
    pe_json_write_open(out, "diagnosis", "[");
    for (size_t f = 0; f < report->n_findings; f++)
        write_finding(&report->findings[f], out);
    pe_buffer_str(out, "]");
    if (!report->matches)
        write_search(report, out);
    pe_buffer_str(out, "}\n");
}
