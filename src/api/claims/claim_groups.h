/* SPDX-License-Identifier: MIT */
/* claim_groups.h - which tensors of an upload belong together, by what they are called. */
#ifndef PE_API_CLAIMS_CLAIM_GROUPS_H
#define PE_API_CLAIMS_CLAIM_GROUPS_H

#include "base/buffer.h"
#include "files/stored.h"
#include "plan/values.h"

/** Say something of what is read, a line, unless that stands there already. */
void pe_claim_report(pe_buffer *reported, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** What tensors of rotary tables are. */
typedef enum pe_claim_family {
    PE_FAMILY_NONE, /* no name that is known */
    PE_FAMILY_TABLE,
    PE_FAMILY_FUSED,
    PE_FAMILY_COMPLEX,
    PE_FAMILY_FLAT,
    PE_FAMILY_ANGLES,
    PE_FAMILY_VECTORS,
    PE_FAMILY_QUERY,
    PE_FAMILY_KEY,
    PE_FAMILY_INV_FREQ
} pe_claim_family;

/** Tensors that one claim is about. */
typedef struct pe_claim_group {
    size_t first, n; /* of a list */
    bool vectors;    /* inputs and rotated */
} pe_claim_group;

#define PE_CLAIM_GROUPS_MAX 4

pe_claim_family pe_claim_family_of(const pe_stored *tensor);

/** Two tensors, one of cosines and one of sines by their names. */
bool pe_claim_are_cosines_and_sines(const pe_stored_list *list);

/**
 * Sort the tensors of rope/table into groups, under the names that its plan has: buffers of modules
 * ("model.layers.0.rotary_emb.cos_cached"), q and k beside q_rotated and k_rotated (these of
 * rope/xpos/table, too). What has
 * another name goes behind them, in no group, and is said; one that differs from a tensor of its
 * name is a doubt. Where no name is known, and for other resources, all are one group.
 * Returns  how many groups.
 */
size_t pe_claim_groups_sort(pe_buffer *reported, pe_buffer *doubts, const pe_resource *resource,
                            pe_stored_list *tensors, pe_claim_group groups[PE_CLAIM_GROUPS_MAX]);

/** The tensor of this name, or NULL. */
const pe_stored *pe_claim_groups_find(const pe_stored_list *list, const char *name);

/** INVALID_PARAMETER: what arrives is read when all of it is there. */
pe_status pe_claim_groups_fail_begun(pe_problem *why);

/** Give the tensors of a group the names that the plan has. Returns their family. */
pe_claim_family pe_claim_groups_name(pe_stored_list *list);

#endif
