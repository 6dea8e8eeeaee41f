/* SPDX-License-Identifier: MIT */
/* catalogue.c - the models that the program knows. */
#include "models/catalogue/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/nearest.h"
#include "files/tree.h"

/* So much of a name tells its family ("phi", "gemma"), so much a name ("t5"); so many are
 * suggested. */
#define FAMILY_BYTES 3
#define TYPED_BYTES  2
#define SHOWN_MAX    5

/* The files of the catalogue and their number, from catalogue_data.S. */
extern const pe_catalogue_file pe_catalogue_table[];
extern const size_t pe_catalogue_length;

const pe_catalogue_file *pe_catalogue_files(size_t *n)
{
    *n = pe_catalogue_length;
    return pe_catalogue_table;
}

/* ---- names ---- */

/* The name, or the title in the file's text, which a test holds to this form. */
static const pe_catalogue_file *find_spelling(const char *folded)
{
    static const char before[] = "\"title\": \"";
    for (size_t i = 0; i < pe_catalogue_length && folded[0] != '\0'; i++) {
        const pe_catalogue_file *file = &pe_catalogue_table[i];
        const char *at = strstr(file->text, before);
        char its[PE_MODEL_NAME_BYTES], title[PE_MODEL_NAME_BYTES] = "";
        if (at != NULL) {
            at += strlen(before);
            snprintf(title, sizeof title, "%.*s", (int)strcspn(at, "\""), at);
        }
        pe_model_name_fold(file->name, its);
        if (strcmp(its, folded) == 0)
            return file;
        pe_model_name_fold(title, its);
        if (strcmp(its, folded) == 0)
            return file;
    }
    return NULL;
}

/* ---- what was meant ---- */

/* How a name is like what was typed. STRIPPED: it begins so, but for the marks between numbers. */
enum { BEGINS, STRIPPED, CONTAINS };

/* The names that are like what was typed; returns how many there are. */
static size_t list_like(const char *typed, int how, pe_buffer *out)
{
    size_t n = 0;
    for (size_t i = 0; i < pe_catalogue_length; i++) {
        char its[PE_MODEL_NAME_BYTES], one[PE_MODEL_NAME_BYTES], other[PE_MODEL_NAME_BYTES];
        pe_model_name_fold(pe_catalogue_table[i].name, its);
        pe_model_name_strip(its, one);
        pe_model_name_strip(typed, other);
        const bool like = how == BEGINS     ? pe_model_name_shared(its, typed) == strlen(typed)
                          : how == STRIPPED ? strncmp(one, other, strlen(other)) == 0
                                            : strstr(its, typed) != NULL;
        if (like && n++ < SHOWN_MAX)
            pe_buffer_format(out, "%s%s", n > 1 ? ", " : "", pe_catalogue_table[i].name);
    }
    return n;
}

/* Those whose beginning was typed, else the nearest, else those of the same family, else those
 * that have it within. */
static size_t list_meant(const char *name, const char *folded, pe_buffer *out)
{
    size_t n = 0;
    if (strlen(folded) < TYPED_BYTES)
        return 0;
    n = list_like(folded, BEGINS, out);
    if (n == 0)
        n = list_like(folded, STRIPPED, out);
    const char **names = calloc(pe_catalogue_length + 1, sizeof *names), *near = NULL;
    for (size_t i = 0; i < pe_catalogue_length && names != NULL; i++)
        names[i] = pe_catalogue_table[i].name;
    if (n == 0 && names != NULL)
        near = pe_nearest_name(name, names, pe_catalogue_length);
    free(names);
    if (near != NULL) { /* one that is a slip of the pen away */
        pe_buffer_str(out, near);
        n = 1;
    }
    if (n == 0) {
        /* Those that share most with what was typed. */
        size_t most = 0;
        char family[PE_MODEL_NAME_BYTES];
        for (size_t i = 0; i < pe_catalogue_length; i++) {
            char its[PE_MODEL_NAME_BYTES];
            pe_model_name_fold(pe_catalogue_table[i].name, its);
            const size_t shared = pe_model_name_shared(its, folded);
            most = shared > most ? shared : most;
        }
        snprintf(family, sizeof family, "%.*s", (int)most, folded);
        n = most < FAMILY_BYTES ? 0 : list_like(family, BEGINS, out);
    }
    return n > 0 ? n : list_like(folded, CONTAINS, out);
}

static pe_status not_found(const char *name, const char *folded, pe_problem *why)
{
    pe_buffer meant = {0};
    const char *dot = strrchr(name, '.');
    const bool is_file = dot != NULL && (strcmp(dot, ".json") == 0 || strcmp(dot, ".gguf") == 0);
    const size_t n = is_file ? 0 : list_meant(name, folded, &meant);
    pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, "model", "there is no model %.64s; %s", name,
                is_file ? "a configuration goes to /v1/models/resolve, which tells "
                          "its parameters"
                        : "GET /v1/models lists those there are");
    if (n > SHOWN_MAX)
        pe_buffer_format(&meant, " or one of %zu more that GET /v1/models lists", n - SHOWN_MAX);
    if (n > 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "model",
                         "there is no model %.64s, did you mean %s?", name, pe_buffer_text(&meant));
    if (meant.failed)
        status = pe_fail_memory(why);
    pe_buffer_free(&meant);
    return status;
}

/* ---- files ---- */

pe_status pe_catalogue_find(const char *name, const pe_catalogue_file **out, pe_problem *why)
{
    char folded[PE_MODEL_NAME_BYTES];
    for (size_t i = 0; i < pe_catalogue_length; i++)
        if (strcmp(pe_catalogue_table[i].name, name) == 0) {
            *out = &pe_catalogue_table[i];
            return PE_OK;
        }
    pe_model_name_fold(name, folded);
    *out = find_spelling(folded);
    return *out != NULL ? PE_OK : not_found(name, folded, why);
}

pe_status pe_catalogue_read(const pe_catalogue_file *file, json_t **tree, pe_model **model,
                            pe_problem *why)
{
    json_t *whole;
    pe_status status =
        pe_tree_load((pe_slice){file->text, file->bytes}, JSON_REJECT_DUPLICATES, "", &whole, why);
    if (status != PE_OK)
        return pe_fail_memory(why); /* it is valid */
    if (model != NULL)
        status = pe_model_resolve(json_object_get(whole, "config"), model, why);
    if (status != PE_OK && !pe_status_is_ours(status))
        status =
            pe_fail(why, PE_INTERNAL, "", "the configuration of %s does not resolve", file->name);
    if (status == PE_OK && tree != NULL)
        *tree = json_incref(whole);
    json_decref(whole);
    return status;
}
