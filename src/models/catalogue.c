/* SPDX-License-Identifier: MIT */
/* catalogue.c - the models that the program knows. */
#include "models/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "files/tree.h"

/* The files of the catalogue and their number, from catalogue_data.S. */
extern const pe_catalogue_file pe_catalogue_table[];
extern const size_t pe_catalogue_length;

const pe_catalogue_file *pe_catalogue_files(size_t *n)
{
    *n = pe_catalogue_length;
    return pe_catalogue_table;
}

static pe_status not_found(const char *name, pe_problem *why)
{
    const char **names = calloc(pe_catalogue_length + 1, sizeof *names);
    if (names == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < pe_catalogue_length; i++)
        names[i] = pe_catalogue_table[i].name;
    const char *near = pe_nearest_name(name, names, pe_catalogue_length);
    free(names);
    if (near != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "model",
                       "there is no model %.64s, did you mean %s?", name, near);
    return pe_fail(why, PE_INVALID_PARAMETER, "model",
                   "there is no model %.64s; GET /v1/models lists those there are", name);
}

pe_status pe_catalogue_find(const char *name, const pe_catalogue_file **out, pe_problem *why)
{
    for (size_t i = 0; i < pe_catalogue_length; i++)
        if (strcmp(pe_catalogue_table[i].name, name) == 0) {
            *out = &pe_catalogue_table[i];
            return PE_OK;
        }
    return not_found(name, why);
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
