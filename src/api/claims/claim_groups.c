/* SPDX-License-Identifier: MIT */
/* claim_groups.c - which tensors of an upload belong together, by what they are called. */
#include "api/claims/claim_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "plan/resource.h"

/* ---- what is said of it ---- */

void pe_claim_report(pe_buffer *reported, const char *format, ...)
{
    char line[2 * PE_STORED_NAME_BYTES + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    const size_t bytes = strlen(line);
    line[bytes] = '\n';
    line[bytes + 1] = '\0';
    if (strstr(pe_buffer_text(reported), line) == NULL)
        pe_buffer_str(reported, line);
}

/* ---- names ---- */

/*
 * What buffers and tensors are called:
 * cos_cached, sin_cached, inv_freq, q_embed   huggingface/transformers modeling_llama.py
 * cos_sin_cache                               vllm-project/vllm rotary_embedding/base.py
 * freqs_cis                                   facebookresearch/llama llama/model.py
 * freqs_cos, freqs_sin                        karpathy/llama2.c model.py
 * cos_cache, sin_cache                        microsoft/onnxruntime RotaryEmbedding, MRotaryEmbedding
 * rotary_cos_sin                              NVIDIA/TensorRT-LLM attention plugin
 */
static const struct {
    pe_claim_family family;
    const char *plan; /* the name that plans have */
    const char *names[4];
} kinds[] = {
    {PE_FAMILY_TABLE, "cos", {"cos", "cos_cached", "cos_cache", "freqs_cos"}},
    {PE_FAMILY_TABLE, "sin", {"sin", "sin_cached", "sin_cache", "freqs_sin"}},
    {PE_FAMILY_FUSED, "cos_sin", {"cos_sin", "cos_sin_cache"}},
    {PE_FAMILY_COMPLEX, "freqs_cis", {"freqs_cis"}},
    {PE_FAMILY_FLAT, "rotary_cos_sin", {"rotary_cos_sin"}},
    {PE_FAMILY_INV_FREQ, "inv_freq", {"inv_freq"}},
    {PE_FAMILY_ANGLES, "angles", {"freqs", "angles"}},
    {PE_FAMILY_VECTORS, "inputs", {"inputs"}},
    {PE_FAMILY_VECTORS, "rotated", {"rotated"}},
    {PE_FAMILY_QUERY, "inputs", {"q"}},
    {PE_FAMILY_QUERY, "rotated", {"q_rotated", "q_embed", "q_rot", "q_out"}},
    {PE_FAMILY_KEY, "inputs", {"k"}},
    {PE_FAMILY_KEY, "rotated", {"k_rotated", "k_embed", "k_rot", "k_out"}},
};

/* Modules put theirs before a name: "model.rotary_emb.inv_freq", "_cos_cached". */
static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *part = dot != NULL ? dot + 1 : name;
    return *part == '_' ? part + 1 : part;
}

static size_t kind_of(const pe_stored *tensor)
{
    const char *name = last_part(tensor->name);
    for (size_t k = 0; k < PE_LEN(kinds) && tensor->dtype != PE_DTYPES; k++)
        for (size_t i = 0; i < PE_LEN(kinds[k].names) && kinds[k].names[i] != NULL; i++)
            if (strcmp(kinds[k].names[i], name) == 0)
                return k;
    return PE_LEN(kinds);
}

pe_claim_family pe_claim_family_of(const pe_stored *tensor)
{
    const size_t k = kind_of(tensor);
    return k < PE_LEN(kinds) ? kinds[k].family : PE_FAMILY_NONE;
}

bool pe_claim_are_cosines_and_sines(const pe_stored_list *list)
{
    return list->n == 2 && pe_claim_family_of(&list->tensor[0]) == PE_FAMILY_TABLE &&
           pe_claim_family_of(&list->tensor[1]) == PE_FAMILY_TABLE &&
           kind_of(&list->tensor[0]) != kind_of(&list->tensor[1]);
}

/* ---- groups ---- */

/* The tensors of one family from `first` on, one of each name. */
static pe_claim_group gather(pe_stored_list *list, size_t first, pe_claim_family family)
{
    pe_claim_group group = {.first = first,
                            .vectors = family == PE_FAMILY_VECTORS || family == PE_FAMILY_QUERY ||
                                       family == PE_FAMILY_KEY};
    for (size_t t = first; t < list->n; t++) {
        const size_t k = kind_of(&list->tensor[t]);
        bool held = false;
        for (size_t i = first; i < first + group.n; i++)
            held |= kind_of(&list->tensor[i]) == k;
        if (k < PE_LEN(kinds) && kinds[k].family == family && !held) {
            const size_t to = first + group.n;
            const pe_stored moved = list->tensor[t];
            memmove(&list->tensor[to + 1], &list->tensor[to], (t - to) * sizeof moved);
            list->tensor[to] = moved;
            group.n++;
        }
    }
    return group;
}

pe_claim_group pe_claim_group_of_all(const pe_stored_list *tensors)
{
    const bool vectors = pe_claim_groups_find(tensors, "inputs") != NULL ||
                         pe_claim_groups_find(tensors, "rotated") != NULL;
    return (pe_claim_group){.n = tensors->n, .vectors = vectors};
}

size_t pe_claim_groups_sort(pe_claim *claim, pe_stored_list *tensors,
                            pe_claim_group groups[PE_CLAIM_GROUPS_MAX])
{
    static const pe_claim_family order[] = {
        PE_FAMILY_VECTORS, PE_FAMILY_QUERY, PE_FAMILY_KEY,    PE_FAMILY_TABLE,   PE_FAMILY_FUSED,
        PE_FAMILY_COMPLEX, PE_FAMILY_FLAT,  PE_FAMILY_ANGLES, PE_FAMILY_INV_FREQ};
    enum { OF_VECTORS = 3 };
    size_t n = 0, used = 0;
    const size_t families = strcmp(claim->resource->name, "rope/table") == 0        ? PE_LEN(order)
                            : strcmp(claim->resource->name, "rope/xpos/table") == 0 ? OF_VECTORS
                                                                                    : 0;
    for (size_t f = 0; f < families && n < PE_CLAIM_GROUPS_MAX; f++) {
        groups[n] = gather(tensors, used, order[f]);
        used += groups[n].n;
        n += groups[n].n > 0;
    }
    if (n > 0) {
        /* The tensors behind the groups: copies of those, others of their names, and what is
         * ignored. */
        enum { MOST = 8 };
        size_t copies = 0, ignored = 0;
        for (size_t t = used; t < tensors->n; t++) {
            const pe_stored *tensor = &tensors->tensor[t], *twin = NULL; /* of another module */
            for (size_t u = 0; u < used && twin == NULL; u++)
                if (strcmp(last_part(tensors->tensor[u].name), last_part(tensor->name)) == 0)
                    twin = &tensors->tensor[u];
            if (twin != NULL && tensor->dtype == twin->dtype && tensor->swapped == twin->swapped &&
                tensor->wide == twin->wide && tensor->bytes == twin->bytes &&
                memcmp(tensor->data, twin->data, tensor->bytes) == 0) {
                copies++;
            } else if (ignored++ < MOST && twin != NULL) {
                pe_claim_report(&claim->doubts,
                                "%s was not compared, and differs from %s: send it alone",
                                tensor->name, twin->name);
            } else if (ignored <= MOST) {
                pe_claim_report(&claim->reported, "%s was not read", tensor->name);
            }
        }
        if (ignored > MOST)
            pe_claim_report(&claim->reported, "%zu more tensors were not read", ignored - MOST);
        if (copies > 0)
            pe_claim_report(&claim->reported, "%zu more tensors are copies of those that were read",
                            copies);
        return n;
    }
    groups[0] = pe_claim_group_of_all(tensors);
    return 1;
}

pe_claim_family pe_claim_groups_name(pe_stored_list *list)
{
    for (size_t t = 0; t < list->n; t++) {
        const size_t k = kind_of(&list->tensor[t]);
        if (k < PE_LEN(kinds))
            snprintf(list->tensor[t].name, sizeof list->tensor[t].name, "%s", kinds[k].plan);
    }
    return pe_claim_family_of(&list->tensor[0]);
}

const pe_stored *pe_claim_groups_find(const pe_stored_list *list, const char *name)
{
    for (size_t t = 0; t < list->n; t++)
        if (strcmp(list->tensor[t].name, name) == 0)
            return &list->tensor[t];
    return NULL;
}

pe_status pe_claim_groups_fail_begun(pe_problem *why)
{
    return pe_fail(why, PE_INVALID_PARAMETER, "table", "the table is read when all of it is there");
}
