/* SPDX-License-Identifier: MIT */
/* report_text.c - what POST /v1/verify answers to people. */
#include <math.h>
#include <string.h>

#include "api/claims/verify_report.h"
#include "base/slice.h"

/* A heading, and an empty line. */
static void head(pe_buffer *out, bool markdown, const char *text)
{
    pe_buffer_format(out, markdown ? "\n## %s\n\n" : "\n%s\n\n", text);
}

/* A sentence begins with a capital letter, but for names of parameters and numbers. */
static void write_sentence(const char *text, pe_buffer *out)
{
    const size_t word = strcspn(text, " ");
    const bool name = strcspn(text, "_0123456789[") < word;
    const bool lower = *text >= 'a' && *text <= 'z';
    const char first = (char)(lower && !name ? *text - 'a' + 'A' : *text);
    if (first != '\0')
        pe_buffer_format(out, "%c%s", first, text + 1);
}

/* How many findings share the first rank. */
static size_t equals(const pe_report *report)
{
    size_t n = 0;
    while (n < report->n_findings && report->findings[n].rank == 1)
        n++;
    return n;
}

static void write_measured(const pe_report *report, pe_buffer *out)
{
    pe_buffer text = {0}, json = {0};
    pe_report_measured(report, &text, &json);
    write_sentence(pe_buffer_text(&text), out);
    pe_buffer_str(out, "\n");
    pe_buffer_free(&text);
    pe_buffer_free(&json);
}

static void write_bad(const pe_bad *bad, pe_buffer *out)
{
    pe_buffer_format(out, "%s[", bad->tensor[0] != '\0' ? bad->tensor : "table");
    for (size_t d = 0; d < bad->ndim; d++)
        pe_buffer_format(out, "%s%zu", d == 0 ? "" : ", ", bad->index[d]);
    pe_buffer_str(out, "]");
    if (bad->has_pair)
        pe_buffer_format(out, ", position %.17g, pair %zu", bad->position, bad->pair);
    pe_buffer_format(out, ": expected %.9g, got %.9g\n", bad->expected + 0.0,
                     bad->got + 0.0); /* no -0 */
}

/* Cells there are: no more than rows or columns. */
static size_t cells(size_t all)
{
    return all < PE_MAP_CELLS ? all : PE_MAP_CELLS;
}

/* The k-th of the parts of the map that are in use: sparse where there are fewer than its cells. */
static size_t cell(size_t k, size_t all)
{
    return all < PE_MAP_CELLS ? k * PE_MAP_CELLS / all : k;
}

static void write_strays(const pe_report *report, bool markdown, pe_buffer *out)
{
    head(out, markdown,
         pe_report_has_heads(report)
             ? "Wrong elements by row (those of all heads and batch items, one after the other), "
               "and by column from left to right"
             : "Wrong elements by row, and by column from left to right");
    const pe_strays *at = &report->strays;
    const size_t down = cells(at->all_rows), across = cells(at->all_columns);
    for (size_t r = 0; r < down; r++) {
        pe_buffer_format(out, "    rows from %6zu:", (r * at->all_rows + down - 1) / down);
        for (size_t c = 0; c < across; c++)
            pe_buffer_format(out, " %7zu",
                             at->map[cell(r, at->all_rows)][cell(c, at->all_columns)]);
        pe_buffer_str(out, "\n");
    }
}

static void write_warnings(const pe_report *report, const pe_buffer *doubts, pe_buffer *out)
{
    pe_buffer text = {0};
    pe_report_warnings(report, &text);
    pe_buffer_add(&text, pe_buffer_slice(doubts).text, doubts->bytes);
    for (pe_slice lines = pe_buffer_slice(&text); lines.bytes > 0;) {
        const pe_slice next = pe_slice_next(&lines, '\n');
        pe_buffer_format(out, "\nWarning: %.*s.\n", (int)next.bytes, next.text);
    }
    pe_buffer_free(&text);
}

/* What was read off the tensors. */
static void write_reported(const pe_buffer *reported, bool markdown, pe_buffer *out)
{
    pe_slice lines = pe_buffer_slice(reported);
    if (lines.bytes > 0)
        head(out, markdown, "Read off the tensors");
    while (lines.bytes > 0) {
        const pe_slice next = pe_slice_next(&lines, '\n');
        pe_buffer_format(out, "- %.*s\n", (int)next.bytes, next.text);
    }
}

void pe_report_text(const pe_claim *claim, const pe_report *report, const pe_claim *sent,
                    bool markdown, pe_buffer *out)
{
    pe_buffer_format(out, "%s%s: %s\n", markdown ? "# " : "", claim->resource->name,
                     report->matches ? "matches" : "does not match");
    const char *text = pe_report_conclusion(report);
    const bool fitted = strncmp(text, "as if ", 6) == 0;
    pe_buffer_str(out, fitted ? "\nThe numbers are " : "\n");
    if (fitted)
        pe_buffer_str(out, text);
    else
        write_sentence(text, out);
    pe_buffer_str(out, ".\n");
    if (!report->matches && equals(report) > 1)
        pe_buffer_format(out,
                         "\n%zu causes explain these numbers equally well: this is the first of "
                         "them.\n",
                         equals(report));
    write_warnings(report, &sent->doubts, out);
    if (report->n_findings > 0)
        head(out, markdown, "Causes and remedies");
    for (size_t f = 0; f < report->n_findings; f++) {
        const pe_finding *finding = &report->findings[f];
        pe_buffer_format(out, "%zu. %s\n", finding->rank, finding->rule);
        pe_buffer_format(out, "   %sRemedy:%s %s\n", markdown ? "**" : "", markdown ? "**" : "",
                         finding->remedy);
        pe_buffer_format(out, "   %sEvidence:%s %s\n", markdown ? "**" : "", markdown ? "**" : "",
                         finding->evidence);
    }
    if (report->first_bad.any) {
        head(out, markdown, "First wrong element");
        write_bad(&report->first_bad, out);
    }
    if (!report->matches) {
        head(out, markdown, "Measured");
        write_measured(report, out);
    }
    if (report->has_strays && report->strays.elements > 0)
        write_strays(report, markdown, out);
    /* What the rows cannot show. */
    if (report->blind.n > 0)
        head(out, markdown, "What these rows cannot show");
    for (size_t i = 0; i < report->blind.n; i++) {
        pe_buffer_str(out, "- ");
        pe_report_blind(claim, &report->blind.other[i], out);
        pe_buffer_str(out, "\n");
    }
    write_reported(&sent->reported, markdown, out);
    if (report->allowed.max_ulp > 0) {
        pe_buffer_str(out, "\nPer element a difference of ");
        pe_report_allowed(&report->allowed, out);
        pe_buffer_str(out, ".\n");
    }
}
