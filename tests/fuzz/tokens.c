/* SPDX-License-Identifier: MIT */
/* tokens.c - the names, values and choices of all parameters, as mutations put them into inputs. */
#include <stdio.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "fuzz/targets.h"

enum { TOKENS_MAX = 8192 };

typedef struct tokens {
    char *token[TOKENS_MAX + 1];
    size_t n;
} tokens;

/* What stands around names, values and values that are text; and behind a path. */
typedef struct spelling {
    const char *before, *between, *quote, *path_end;
} spelling;

static void add(tokens *out, const char *const part[5])
{
    if (out->n < TOKENS_MAX && asprintf(&out->token[out->n], "%s%s%s%s%s", part[0], part[1],
                                        part[2], part[3], part[4]) >= 0)
        out->n++;
}

static void add_value(tokens *out, const spelling *notation, const pe_param *row, const char *value)
{
    const bool text =
        row->choices != NULL || row->kind == PE_KIND_POSITIONS || row->kind == PE_KIND_TEXT;
    const char *quote = text ? notation->quote : "";
    char between[8];
    snprintf(between, sizeof between, "%s%s", notation->between, quote);
    add(out, (const char *[]){notation->before, row->name, between, value, quote});
}

static void add_row(tokens *out, const spelling *notation, const pe_param *row)
{
    add_value(out, notation, row, row->example != NULL ? row->example : "1");
    for (size_t c = 0; row->choices != NULL && row->choices[c] != NULL; c++)
        add_value(out, notation, row, row->choices[c]);
}

static void fill(tokens *out, const spelling *notation)
{
    for (size_t i = 0; pe_registry[i] != NULL; i++) {
        add(out, (const char *[]){pe_registry[i]->path, notation->path_end, "", "", ""});
        const pe_param *row;
        for (size_t p = 0; (row = pe_params_at(pe_registry[i]->param_sets, p)) != NULL; p++)
            add_row(out, notation, row);
    }
}

const char *fuzz_token_query(size_t k)
{
    static tokens all;
    if (all.n == 0)
        fill(&all, &(spelling){"&", "=", "", "?"});
    return all.token[k];
}

const char *fuzz_token_json(size_t k)
{
    static tokens all;
    if (all.n == 0)
        fill(&all, &(spelling){",\"", "\":", "\"", "\n{"});
    return all.token[k];
}
