/* SPDX-License-Identifier: MIT */
/* claim_reader.h - a claim while it is read: what was said of it, and a list of its tensors. */
#ifndef PE_API_CLAIMS_CLAIM_READER_H
#define PE_API_CLAIMS_CLAIM_READER_H

#include "api/claims/claim.h"
#include "api/claims/claim_groups.h"
#include "files/stored.h"
#include "verify/verify.h"

/** What the tensors of a group add to what a client gave. */
typedef struct pe_claim_shapes {
    pe_query *query; /* of the group, before the defaults */
    const pe_read_limits *limits;
    bool configured;  /* a model says what it has not, too */
    bool angles;      /* the lone tensor holds angles */
    bool guessed;     /* it may be cosines or sines */
    pe_status status; /* of the first value that was refused; `why` has it */
    pe_problem *why;
    pe_buffer reported; /* owned: a line for each thing that was read off or left out */
    pe_buffer doubts; /* owned: a line for each tensor that was left out and should be looked at */
} pe_claim_shapes;

/**
 * Read off the tensors of a group what was not given: positions, head_dim, d_model, counts of heads
 * and lengths from sizes; cache_layout and pairing from sizes and numbers. The query becomes that of
 * inverse frequencies where there is nothing else. The names of tensors may change.
 */
void pe_claim_shapes_read(pe_claim_shapes *shapes, pe_stored_list *tensors);

/** head_dim and positions of vectors; seq_axis: their tokens; name: of the tensor for problems. */
pe_status pe_claim_shapes_read_vectors(pe_claim_shapes *shapes, const pe_stored_list *list,
                                       int64_t seq_axis, const char *name,
                                       pe_problem *why) PE_MUST_CHECK;

/** The element type of the numbers: indices beside them are integers whatever the others are. */
void pe_claim_shapes_add_dtype(pe_claim_shapes *shapes, const pe_stored_list *list);

/** Cosines and sines in the place of angles, once the claim has its values and upload. */
pe_status pe_claim_shapes_take_angles(const pe_claim_shapes *shapes, pe_claim *claim,
                                      pe_problem *why) PE_MUST_CHECK;

/** Is it a name by which the lone tensor of any table goes, too? */
bool pe_claim_is_nameless(const char *name);

/** Members of a JSON object that hold numbers. */
#define PE_CLAIM_MEMBERS 15

/**
 * The two sources, a JSON object and a query string with tensors behind it, are read twice: for what
 * the claim is, and its tensors; then, by the claimed resource, for its parameters, once for each
 * group of tensors.
 */
typedef struct pe_claim_reader {
    pe_claim claim; /* the first */
    const pe_read_limits *limits;
    const pe_binary_body *body;                /* NULL: a JSON object */
    pe_slice json;                             /* that */
    pe_slice member[PE_CLAIM_MEMBERS];         /* of it, text NULL: there is none */
    size_t looked_up;                          /* members, for what they may have meant */
    pe_slice config;                           /* a configuration, text NULL: none was sent */
    bool has_parameters, has_axis, has_slopes; /* they were given */
    bool is_broken;                            /* the object, whatever its members are */
    char encoding[64], layer_type[64];         /* "" where none is known */
    char model[128];                           /* "" where none is named */
    pe_model *configured;          /* owned: the model of a configuration, and the layers whose */
    const pe_model_layers *layers; /* values are taken where nothing else was said; or NULL */
    pe_claim_shapes shapes;
    /** Owned. Of JSON: the texts of arrays, of SIZE_MAX elements, until they are read; then each owns
     * its numbers. */
    pe_stored_list tensors;
    pe_buffer unpacked; /* owned: what they borrow from beside the body; goes to the claim */
    size_t n_groups;
    pe_claim_group groups[PE_CLAIM_GROUPS_MAX];
    pe_status failed; /* of the first mistake */
    pe_problem *why;  /* the mistakes: all are told at once */
} pe_claim_reader;

/** Vectors before and behind xPos, in the place of which come the cosines, sines and scales that they
 * tell, [tokens, pairs] of their type.
 * Errors  INVALID_PARAMETER: shapes that do not fit, or a pair of zeros; OVERLOADED (memory). */
pe_status pe_claim_xpos_turn(pe_claim *claim, pe_problem *why) PE_MUST_CHECK;

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
