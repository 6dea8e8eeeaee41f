/* SPDX-License-Identifier: MIT */
/* report_json.c - what POST /v1/verify answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/claims/verify_report.h"
#include "base/slice.h"
#include "formats/json_write.h"
#include "verify/reading/reading.h"

/* name: of an object of its own; NULL: members of the one that was begun. */
static void write_errors(const char *name, const pe_errors *errors, pe_buffer *out)
{
    if (name != NULL)
        pe_json_write_open(out, name, "{");
    pe_json_write_number(out, "max_abs", errors->max_abs);
    pe_json_write_number(out, "max_ulp", errors->max_ulp);
    pe_json_write_number(out, "rms", errors->rms);
    if (errors->has_phase)
        pe_json_write_number(out, "max_phase", errors->max_phase);
    pe_buffer_str(out, "}");
}

static void write_bad(const pe_bad *bad, pe_buffer *out)
{
    pe_json_write_open(out, "first_bad", "{");
    if (bad->tensor[0] != '\0')
        pe_json_write_text(out, "tensor", bad->tensor);
    pe_json_write_counts(out, "index", bad->index, bad->ndim);
    if (bad->has_pair) {
        pe_json_write_number(out, "position", bad->position);
        pe_json_write_count(out, "pair", bad->pair);
    }
    pe_json_write_number(out, "expected", bad->expected);
    pe_json_write_number(out, "got", bad->got);
    pe_buffer_str(out, "}");
}

static void write_finding(const pe_finding *finding, pe_buffer *out)
{
    pe_json_write_open(out, NULL, "{");
    pe_json_write_count(out, "rank", finding->rank);
    pe_json_write_texts(out, "faults", finding->faults, finding->n_faults);
    pe_json_write_text(out, "rule", finding->rule);
    pe_json_write_truth(out, "fitted", finding->fitted);
    pe_json_write_text(out, "evidence", finding->evidence);
    pe_json_write_text(out, "remedy", finding->remedy);
    pe_json_write_count(out, "undecided", finding->undecided);
    pe_json_write_name(out, "parameters");
    pe_buffer_str(out, finding->parameters);
    write_errors("error", &finding->errors, out);
    pe_buffer_str(out, "}");
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

/* "row 7 ", "rows 0 to 7 " */
static void say_range(const char *what, size_t first, size_t last, pe_buffer *out)
{
    if (first == last)
        pe_buffer_format(out, "%s %zu ", what, first);
    else
        pe_buffer_format(out, "%ss %zu to %zu ", what, first, last);
}

/* An item {"rows":[0,7] */
static void write_range(const char *what, size_t first, size_t last, pe_buffer *out)
{
    pe_json_write_item(out);
    pe_buffer_format(out, "{\"%s\":[%zu,%zu]", what, first, last);
}

/* Where rows are, as items and in a sentence. A token may have several rows: the vectors of its heads
 * and batch items. */
static void tell_positions(const pe_reading *r, bool vectors, pe_buffer *text, pe_buffer *json)
{
    enum { SHOWN = 4, MOST = 32 };
    const char *what = vectors ? "token" : "row",
               *none = vectors ? "no one position" : "no position";
    size_t last;
    pe_json_write_open(json, "positions", "[");
    for (size_t t = 0, n = 0; t < r->tokens && n < MOST; t = last + 1, n++) {
        const double *p = r->position;
        const size_t from = pe_reading_row(r, t);
        last = end_of_segment(r, t);
        const size_t to = pe_reading_row(r, last);
        write_range("rows", from, to, json);
        pe_json_write_number(json, "first", p[t]);
        pe_json_write_number(json, "last", p[last]);
        pe_buffer_str(json, "}");
        if (n == SHOWN)
            pe_buffer_str(text, ", and so on");
        if (n >= SHOWN)
            continue;
        pe_buffer_str(text, n == 0 ? "" : ", ");
        say_range(what, from, to, text);
        pe_buffer_str(text, t == last ? "carries " : "carry ");
        if (!isfinite(p[t]))
            pe_buffer_str(text, none);
        else if (p[t] == p[last])
            pe_buffer_format(text, "position %.7g", p[t] + 0.0); /* no -0 */
        else
            pe_buffer_format(text, "positions %.7g to %.7g", p[t] + 0.0, p[last] + 0.0);
    }
    pe_buffer_str(json, "]");
    pe_buffer_str(text, ". ");
}

static bool is_same_ratio(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 2e-3 * fabs(b);
}

bool pe_report_has_heads(const pe_report *report)
{
    return report->has_mismatches && report->has_reading &&
           report->mismatches.all_rows > report->reading.tokens;
}

static void tell_reading(const pe_report *report, pe_buffer *text, pe_buffer *json)
{
    const pe_reading *r = &report->reading;
    pe_json_write_number(json, "rows_with_position", round(r->quality * (double)r->tokens));
    tell_positions(r, pe_report_has_heads(report), text, json);
    /* Pairs [first, last] that turn by one multiple of the claimed frequencies. */
    enum { SHOWN = 6 };
    size_t shown = 0, last;
    pe_json_write_open(json, "frequencies", "[");
    for (size_t i = 0; i < r->pairs; i = last + 1) {
        const double ratio = pe_reading_ratio(r, i);
        last = i;
        while (last + 1 < r->pairs && is_same_ratio(pe_reading_ratio(r, last + 1), ratio))
            last++;
        write_range("pairs", i, last, json);
        pe_json_write_number(json, "ratio", ratio);
        pe_buffer_str(json, "}");
        if (r->own && !is_same_ratio(ratio, 1) && shown++ < SHOWN) {
            const double times = fabs(ratio) < 1 ? 1 / fabs(ratio) : fabs(ratio);
            const char *s = i == last ? "s" : "";
            say_range("Pair", i, last, text);
            if (isnan(ratio))
                pe_buffer_format(text, "turn%s without order. ", s);
            else if (fabs(ratio) < 1e-9)
                pe_buffer_format(text, "do%s not turn. ", i == last ? "es" : "");
            else
                pe_buffer_format(text, "turn%s %s%.6g times %s than claimed. ", s,
                                 ratio < 0 ? "the other way, " : "", times,
                                 fabs(ratio) < 1 ? "slower" : "faster");
        }
    }
    pe_buffer_str(json, "]");
    pe_json_write_number(json, "amplitude", r->amplitude);
    pe_json_write_number(json, "claimed_amplitude", r->claimed_amplitude);
    if (fabs(r->amplitude - r->claimed_amplitude) > 4e-3 * r->claimed_amplitude)
        pe_buffer_format(text, "The amplitude is %.5g instead of %.5g. ", r->amplitude,
                         r->claimed_amplitude);
}

void pe_report_measured(const pe_report *report, pe_buffer *text, pe_buffer *json)
{
    pe_buffer_str(json, "{");
    if (report->has_reading)
        tell_reading(report, text, json);
    if (report->facts.text.bytes > 0)
        pe_buffer_add(text, report->facts.text.data, report->facts.text.bytes);
    if (report->facts.json.bytes > 0) {
        pe_json_write_item(json);
        pe_buffer_add(json, report->facts.json.data, report->facts.json.bytes);
    }
    if (report->has_mismatches) {
        const pe_mismatches *at = &report->mismatches;
        pe_json_write_count(json, "bad_elements", at->elements);
        pe_json_write_count(json, "bad_rows", at->rows);
        pe_json_write_count(json, "bad_columns", at->columns);
        pe_json_write_count(json, "not_finite", at->not_finite);
        pe_buffer_format(text,
                         "%zu of %zu elements are not what was claimed, in %zu of %zu rows and %zu "
                         "of %zu columns",
                         at->elements, report->distances.errors.elements, at->rows, at->all_rows,
                         at->columns, at->all_columns);
        if (at->not_finite > 0)
            pe_buffer_format(text, "; %zu are NaN or infinite", at->not_finite);
        pe_buffer_str(text, ".");
    }
    pe_json_write_text(json, "text", pe_buffer_text(text));
    pe_buffer_str(json, "}");
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
    if (report->mismatches.compared <= PE_NUMBERS_TOO_FEW && report->mismatches.compared > 0)
        return "no known fault with a name explains the numbers, which are too few to read another "
               "off them: send more positions or heads";
    return "no known fault, nor any pair of them, explains the numbers";
}

void pe_report_warnings(const pe_report *report, const pe_buffer *doubts, pe_buffer *out)
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
    pe_buffer_add(out, pe_buffer_slice(doubts).text, doubts->bytes);
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
    pe_json_write_number(out, "max_abs", a->max_abs);
    pe_json_write_number(out, "max_ulp", a->max_ulp);
    if (a->arithmetic != NULL) {
        pe_json_write_open(out, "steps", "{");
        if (a->has_pair) {
            pe_json_write_number(out, "angle", a->angle);
            pe_json_write_number(out, "waves", a->waves);
        }
        pe_json_write_number(out, a->has_pair ? "products" : "computed",
                             a->has_pair ? a->products : a->max_abs - a->stored);
        pe_json_write_number(out, "stored", a->stored);
        pe_buffer_str(out, "}");
    }
    if (a->has_pair) {
        pe_json_write_number(out, "position", a->position);
        pe_json_write_count(out, "pair", a->pair);
        pe_json_write_number(out, "roundings", a->roundings);
    }
    pe_json_write_text(out, "text", pe_buffer_text(&text));
    pe_buffer_str(out, "}");
    pe_buffer_free(&text);
}

void pe_report_indistinguishable(const pe_claim *claim, const pe_indistinguishable_other *other,
                                 pe_buffer *out)
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

static void write_indistinguishable(const pe_claim *claim,
                                    const pe_indistinguishable *indistinguishable, pe_buffer *out)
{
    if (indistinguishable->n == 0)
        return;
    pe_json_write_open(out, "cannot_tell", "[");
    for (size_t i = 0; i < indistinguishable->n; i++) {
        const pe_indistinguishable_other *other = &indistinguishable->other[i];
        pe_buffer text = {0};
        pe_report_indistinguishable(claim, other, &text);
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "text", pe_buffer_text(&text));
        pe_json_write_text(out, "claimed", other->claimed);
        pe_json_write_text(out, "instead", other->instead);
        if (other->rows_from > 0)
            pe_json_write_number(out, "rows_from", other->rows_from);
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

void pe_report_part(const pe_claim *claim, const pe_report *report, pe_buffer *out)
{
    pe_buffer_str(out, out->bytes > 0 ? ",{" : "{");
    pe_json_write_text(out, "tensors", claim->sent);
    pe_json_write_text(out, "table", claim->resource->name);
    pe_json_write_truth(out, "matches", report->matches);
    pe_json_write_text(out, "conclusion", pe_report_conclusion(report));
    pe_buffer_str(out, "}");
}

static void write_items(const char *name, const pe_buffer *items, pe_buffer *out)
{
    if (items->bytes == 0)
        return;
    pe_json_write_open(out, name, "[");
    pe_buffer_add(out, items->data, items->bytes);
    pe_buffer_str(out, "]");
}

void pe_report_json(const pe_claim *claim, const pe_report *report, const pe_claim *sent,
                    const pe_buffer *parts, const pe_buffer *readings, pe_buffer *out)
{
    const pe_errors *errors = &report->distances.errors;
    pe_buffer warnings = {0};
    pe_report_warnings(report, &sent->doubts, &warnings);
    pe_buffer_str(out, "{");
    pe_json_write_truth(out, "matches", report->matches);
    pe_json_write_text(out, "conclusion", pe_report_conclusion(report));
    pe_json_write_text(out, "numerics", report->numerics);
    write_lines("warnings", &warnings, out);
    pe_buffer_free(&warnings);
    pe_json_write_open(out, "diagnosis", "[");
    for (size_t f = 0; f < report->n_findings; f++)
        write_finding(&report->findings[f], out);
    pe_buffer_str(out, "]");
    if (report->first_bad.any)
        write_bad(&report->first_bad, out);
    if (!report->matches) {
        pe_buffer text = {0};
        pe_json_write_name(out, "measured");
        pe_report_measured(report, &text, out);
        pe_buffer_free(&text);
    }
    pe_json_write_text(out, "encoding", claim->resource->encoding);
    pe_json_write_name(out, "parameters");
    pe_buffer_str(out, report->parameters);
    write_lines("inferred", &sent->reported, out);
    write_items("parts", parts, out);
    write_items("readings", readings, out);
    pe_json_write_text(out, "dtype", pe_dtype_name(claim->uploads[0].array.dtype));
    if (claim->tolerance >= 0)
        pe_json_write_number(out, "tolerance", claim->tolerance);
    if (report->allowed.max_ulp > 0 || claim->tolerance >= 0)
        write_allowed(&report->allowed, out);
    pe_json_write_count(out, "elements", errors->elements);
    if (report->matches)
        pe_json_write_count(out, "undecided", report->undecided);
    write_indistinguishable(claim, &report->indistinguishable, out);
    if (errors->elements > 0) {
        write_errors("error", errors, out);
        pe_json_write_open(out, "bands", "[");
        for (size_t b = 0; b < report->distances.n_bands; b++) {
            const pe_band *band = &report->distances.bands[b];
            pe_json_write_open(out, NULL, "{");
            pe_json_write_name(out, report->bands_of);
            pe_buffer_format(out, "[%zu,%zu]", band->first, band->last);
            write_errors(NULL, &band->errors, out);
        }
        pe_buffer_str(out, "]");
    }
    if (!report->matches) {
        pe_json_write_open(out, "search", "{");
        pe_json_write_count(out, "hypotheses", report->hypotheses);
        if (report->mismatches.compared > 0)
            pe_json_write_number(out, "evaluations",
                                 (double)report->computed / (double)report->mismatches.compared);
        pe_json_write_truth(out, "pairs_tried", report->pairs_tried);
        if (report->sampled > 0)
            pe_json_write_count(out, "sampled_positions", report->sampled);
        pe_json_write_truth(out, "complete", report->complete);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "}\n");
}
