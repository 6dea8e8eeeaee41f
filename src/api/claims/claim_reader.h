/* SPDX-License-Identifier: MIT */
/* claim_reader.h - a claim while it is read: what was said of it, and a list of its tensors. */
#ifndef PE_API_CLAIMS_CLAIM_READER_H
#define PE_API_CLAIMS_CLAIM_READER_H

#include "api/claims/claim.h"
#include "files/stored.h"
#include "verify/verify.h"

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

/** Members of a JSON object that hold numbers. */
#define PE_CLAIM_MEMBERS 15

/**
 * The two sources, a JSON object and a query string with tensors behind it, are read twice: for what
 * the claim is, and its tensors; then, by the claimed resource, for its parameters, once for each
 * group of tensors.
 */
typedef struct pe_claim_reader {
    pe_claim claim; /* the first, in which is reported what is read off tensors */
    const pe_read_limits *limits;
    const pe_binary_body *body;                /* NULL: a JSON object */
    pe_slice json;                             /* that */
    const char *more;                          /* a query string beside it, or NULL */
    pe_slice member[PE_CLAIM_MEMBERS];         /* of it, text NULL: there is none */
    size_t looked_up;                          /* members, for what they may have meant */
    pe_slice config;                           /* a configuration, text NULL: none was sent */
    bool has_parameters, has_axis, has_slopes; /* they were given */
    bool is_broken;                            /* the object, whatever its members are */
    char encoding[64], layer_type[64];         /* "" where none is known */
    char model[128];                           /* "" where none is named */
    pe_model *configured;          /* owned: the model of a configuration, and the layers whose */
    const pe_model_layers *layers; /* values are taken where nothing else was said; or NULL */
    /* What the tensors of a group add to what a client gave: */
    pe_query *query;     /* of the group, before the defaults */
    bool angles;         /* the lone tensor holds angles */
    pe_status status;    /* of the first value that was refused */
    pe_problem *refused; /* that */
    /** Owned. Of JSON: the texts of arrays, of SIZE_MAX elements, until they are read; then each owns
     * its numbers. */
    pe_stored_list tensors;
    size_t n_groups;
    pe_claim_group groups[PE_CLAIM_GROUPS_MAX];
    pe_status failed; /* of the first mistake: all are told at once */
} pe_claim_reader;

/** Vectors before and behind xPos, in the place of which come the cosines, sines and scales that they
 * tell, [tokens, pairs] of their type.
 * Errors  INVALID_PARAMETER: shapes that do not fit, or a pair of zeros; OVERLOADED (memory). */
pe_status pe_claim_xpos_turn(pe_claim *claim, pe_problem *why) PE_MUST_CHECK;

/* ---- which tensors belong together, by what they are called (claim_groups.c) ---- */

pe_claim_family pe_claim_family_of(const pe_stored *tensor);

/** Two tensors, one of cosines and one of sines by their names. */
bool pe_claim_are_cosines_and_sines(const pe_stored_list *list);

/**
 * Sort the tensors of a claim of rope/table into groups, under the names that its plan has: buffers
 * of modules ("model.layers.0.rotary_emb.cos_cached"), q and k beside q_rotated and k_rotated (these
 * of rope/xpos/table, too). What has another name goes behind them, in no group, and is said; one
 * that differs from a tensor of its name is a doubt. Where no name is known, and for other resources,
 * all are one group.
 * Returns  how many groups.
 */
size_t pe_claim_groups_sort(pe_claim *claim, pe_stored_list *tensors,
                            pe_claim_group groups[PE_CLAIM_GROUPS_MAX]);

/** All tensors as one group: of vectors where one has a name of theirs. */
pe_claim_group pe_claim_group_of_all(const pe_stored_list *tensors);

/** The tensor of this name, or NULL. */
const pe_stored *pe_claim_groups_find(const pe_stored_list *list, const char *name);

/** INVALID_PARAMETER: what arrives is read when all of it is there. */
pe_status pe_claim_groups_fail_begun(pe_problem *why);

/** Give the tensors of a group the names that the plan has. Returns their family. */
pe_claim_family pe_claim_groups_name(pe_stored_list *list);

/* ---- what they tell (claim_shapes.c) ---- */

/**
 * Read off the tensors of a group what was not given: positions, head_dim, d_model, counts of heads
 * and lengths from sizes; cache_layout and pairing from sizes and numbers; dtype. The query becomes
 * that of inverse frequencies where there is nothing else. The names of tensors may change.
 * vectors: what problems call the first, where they are vectors before and after rotation.
 */
pe_status pe_claim_shapes_read(pe_claim_reader *reader, pe_stored_list *tensors,
                               const char *vectors, pe_problem *why) PE_MUST_CHECK;

/** Cosines and sines in the place of angles, once the claim has its values and upload. */
pe_status pe_claim_shapes_take_angles(pe_claim *claim, pe_problem *why) PE_MUST_CHECK;

/** Is it a name by which the lone tensor of any table goes, too? */
bool pe_claim_is_nameless(const char *name);

/* ---- tensors (claim_tensors.c) ---- */

/** Keep a member that is no row of the claim's own. Errors  UNKNOWN_PARAMETER: what is near. */
pe_status pe_claim_json_keep(pe_claim_reader *r, const char *key, pe_slice json,
                             pe_problem *why) PE_MUST_CHECK;
/** Does a member of this name hold numbers, or a configuration? */
bool pe_claim_json_is_member(const char *key);

/** Those of members that were kept, in groups; nothing where there is a body. */
pe_status pe_claim_tensors_of_json(pe_claim_reader *r, pe_problem *why) PE_MUST_CHECK;
/** Those of the body, if there is one. */
pe_status pe_claim_tensors_of_body(pe_claim_reader *r, pe_problem *why) PE_MUST_CHECK;

/** Read the array whose text a tensor of JSON has as numbers of this type; it is owned then. */
pe_status pe_claim_json_scan(const pe_claim_reader *r, pe_dtype dtype, pe_stored *tensor,
                             pe_problem *why) PE_MUST_CHECK;

#endif
