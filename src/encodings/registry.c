/* SPDX-License-Identifier: MIT */
/* registry.c - the numeric resources there are. */
#include "encodings/registry.h"

#include <string.h>

#define ROW(resource) &(resource),
const pe_resource *const pe_registry[] = {PE_REGISTRY(ROW) NULL};

unsigned pe_registry_number(const pe_resource *resource)
{
    unsigned n = 0;
    while (pe_registry[n] != resource)
        n++;
    return n + 1;
}

const pe_resource *pe_registry_find(const char *name_or_path)
{
    for (const pe_resource *const *r = pe_registry; *r != NULL; r++)
        if (strcmp((*r)->name, name_or_path) == 0 || strcmp((*r)->path, name_or_path) == 0)
            return *r;
    return NULL;
}

/* Does the path fit the pattern? Then *name is what it has between the braces. */
static bool fits(const char *pattern, const char *path, pe_slice *name)
{
    const size_t before = strcspn(pattern, "{");
    *name = (pe_slice){"", 0};
    if (pattern[before] == '\0')
        return strcmp(pattern, path) == 0;
    if (strncmp(pattern, path, before) != 0)
        return false;
    *name = (pe_slice){path + before, strcspn(path + before, "/")};
    return name->bytes > 0 && strcmp(strchr(pattern, '}') + 1, name->text + name->bytes) == 0;
}

const pe_resource *pe_registry_route(const char *path, pe_slice *name)
{
    const pe_resource *found = NULL;
    for (const pe_resource *const *r = pe_registry; *r != NULL; r++) {
        pe_slice own;
        if (!fits((*r)->path, path, &own))
            continue;
        found = *r;
        *name = own;
        if (own.bytes == 0) /* a path of its own is no name */
            break;
    }
    return found;
}
