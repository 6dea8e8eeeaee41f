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
    const pe_mismatches *at = &report->mismatches;
    const size_t down = at->all_rows < PE_MAP_CELLS ? at->all_rows : PE_MAP_CELLS;
    const size_t across = at->all_columns < PE_MAP_CELLS ? at->all_columns : PE_MAP_CELLS;
    for (size_t r = 0; r < down; r++) {
        pe_buffer_format(out, "    rows from %6zu:", (r * at->all_rows + down - 1) / down);
        for (size_t c = 0; c < across; c++)
            pe_buffer_format(out, " %7zu",
                             at->map[cell(r, at->all_rows)][cell(c, at->all_columns)]);
        pe_buffer_str(out, "\n");
    }
}

/* Each line between two texts. */
static void write_lines(pe_slice lines, const char *before, const char *behind, pe_buffer *out)
{
    while (lines.bytes > 0) {
        const pe_slice next = pe_slice_next(&lines, '\n');
        pe_buffer_format(out, "%s%.*s%s\n", before, (int)next.bytes, next.text, behind);
    }
}

void pe_report_text(const pe_claim *claim, const pe_report *report, const pe_claim *sent,
                    bool markdown, pe_buffer *out)
{
    pe_buffer_format(out, "%s%s: %s\n", markdown ? "# " : "", claim->resource->name,
                     report->matches ? "matches" : "does not match");
    const char *text = pe_report_conclusion(report);
    const bool fitted = strncmp(text, "as if ", 6) == 0;
    const char *bold = markdown ? "**" : "";
    pe_buffer warnings = {0}, measured = {0}, json = {0};
    size_t equal = 0; /* findings of the first rank */
    while (equal < report->n_findings && report->findings[equal].rank == 1)
        equal++;
    pe_buffer_str(out, fitted ? "\nThe numbers are " : "\n");
    if (fitted)
        pe_buffer_str(out, text);
    else
        write_sentence(text, out);
    pe_buffer_str(out, ".\n");
    if (!report->matches && equal > 1)
        pe_buffer_format(out,
                         "\n%zu causes explain these numbers equally well: this is the first of "
                         "them.\n",
                         equal);
    pe_report_warnings(report, &sent->doubts, &warnings);
    write_lines(pe_buffer_slice(&warnings), "\nWarning: ", ".", out);
    if (report->n_findings > 0)
        head(out, markdown, "Causes and remedies");
    for (size_t f = 0; f < report->n_findings; f++) {
        const pe_finding *finding = &report->findings[f];
        pe_buffer_format(out, "%zu. %s\n", finding->rank, finding->rule);
        pe_buffer_format(out, "   %sRemedy:%s %s\n", bold, bold, finding->remedy);
        pe_buffer_format(out, "   %sEvidence:%s %s\n", bold, bold, finding->evidence);
    }
    if (report->first_bad.any) {
        head(out, markdown, "First wrong element");
        write_bad(&report->first_bad, out);
    }
    if (!report->matches) {
        head(out, markdown, "Measured");
        pe_report_measured(report, &measured, &json);
        write_sentence(pe_buffer_text(&measured), out);
        pe_buffer_str(out, "\n");
    }
    if (report->has_mismatches && report->mismatches.elements > 0)
        write_strays(report, markdown, out);
    /* What the rows cannot show. */
    if (report->indistinguishable.n > 0)
        head(out, markdown, "What these rows cannot show");
    for (size_t i = 0; i < report->indistinguishable.n; i++) {
        pe_buffer_str(out, "- ");
        pe_report_indistinguishable(claim, &report->indistinguishable.other[i], out);
        pe_buffer_str(out, "\n");
    }
    if (sent->reported.bytes > 0)
        head(out, markdown, "Read off the tensors");
    write_lines(pe_buffer_slice(&sent->reported), "- ", "", out);
    if (report->allowed.max_ulp > 0) {
        pe_buffer_str(out, "\nPer element a difference of ");
        pe_report_allowed(&report->allowed, out);
        pe_buffer_str(out, ".\n");
    }
    pe_buffer_free(&warnings);
    pe_buffer_free(&measured);
    pe_buffer_free(&json);
}
