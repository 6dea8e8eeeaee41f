/* SPDX-License-Identifier: MIT */
/* resource.h - one numeric path: its parameters, its formula, its source, and how it is planned. */
#ifndef PE_PLAN_RESOURCE_H
#define PE_PLAN_RESOURCE_H

#include "plan/price.h"

/** What the axes and the values of a tensor are, for people: in figures. */
typedef struct pe_labels {
    const char *tensor; /* NULL: all those that have none of their own */
    const char *axes;   /* the last axes, "head, query, key"; the name of a parameter of kind
                         * POSITIONS: the elements are at these */
    const char *value;  /* "wavelength [positions]"; NULL: the tensor's name */
} pe_labels;

/** Rows of labels, with the row that ends them. */
#define PE_LABELS(...) ((const pe_labels[]){__VA_ARGS__, {0}})

/** The encoding of a resource, which its name begins with, and its path. */
#define PE_NAMED(of, rest) .path = "/v1/" of rest, .encoding = of, .name = of rest

typedef enum pe_resource_kind { PE_TABLE, PE_TRANSFORM } pe_resource_kind;

/**
 * One numeric resource: a row of encodings/registry.h. Knows no JSON and no HTTP.
 */
struct pe_resource {
    const char *path;     /* "/v1/rope/table"; "/v1/learned/{name}" with a row of that name */
    const char *encoding; /* the answer's "encoding" member: "rope" */
    const char *name;     /* for the command line: "rope/table" */
    pe_resource_kind kind;
    /** An upload can be claimed to be the answer of a table. true: this one's cannot; or that of
     * this transform can, since it computes from its parameters alone. */
    bool claimed_otherwise;
    const char *summary, *formula,
        *source; /* one sentence; ASCII formula; paper or repository@commit */
    /** Its parameters: own rows and shared ones, in the order of GET /v1; NULL-terminated. */
    const pe_param_set *param_sets[PE_PARAM_SETS_MAX];
    const pe_labels *labels;
    /** In the JSON of a claim, null is a masked bias: -inf. */
    bool null_is_masked;
    /** JSON members that hold parameters of their own: "rope_parameters", else NULL. */
    const char *nested;
    /**
     * Check what single rows cannot say, derive defaults (pe_values_set_*: they become part of the
     * canonical form), and plan the answer. May move tensors out of values. pe_plan_make calls
     * it: *out has limits and tables, and nothing else.
     */
    pe_status (*plan)(pe_values *values, pe_plan *out, pe_problem *why);
    /** The values of rope/table that turn vectors as this table of waves does, once their channels
     * [head_dim] are put in an order, which is the caller's to free. NULL: none do. */
    pe_status (*turned)(pe_values *values, pe_values *out, uint32_t **order, pe_problem *why);
    /** Where models keep a column for each channel, cache_layout=hf: a row of `pairs` numbers has
     * each run of so many again behind itself. The values may still lack defaults. NULL: no such. */
    size_t (*run)(const pe_values *values, size_t pairs);
};

static inline bool pe_resource_is_claimable(const pe_resource *resource)
{
    return (resource->kind == PE_TABLE) != resource->claimed_otherwise;
}

#endif
