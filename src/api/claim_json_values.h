/* SPDX-License-Identifier: MIT */
/* claim_json_values.h - the tensors and vectors of a claim in JSON, and what they tell of it. */
#ifndef PE_API_CLAIM_JSON_VALUES_H
#define PE_API_CLAIM_JSON_VALUES_H

#include "api/claim.h"
#include "api/claim_shapes.h"

/** Members that are no parameters of the resource. */
enum {
    PE_CLAIM_ENCODING,
    PE_CLAIM_CONFIG,
    PE_CLAIM_LAYER_TYPE,
    PE_CLAIM_TOLERANCE,
    PE_CLAIM_SEQ_AXIS,
    PE_CLAIM_TABLE,
    PE_CLAIM_BIAS,
    PE_CLAIM_SLOPES,
    PE_CLAIM_INPUTS,
    PE_CLAIM_ROTATED,
    PE_CLAIM_Q,
    PE_CLAIM_Q_ROTATED,
    PE_CLAIM_Q_EMBED,
    PE_CLAIM_K,
    PE_CLAIM_K_ROTATED,
    PE_CLAIM_K_EMBED,
    PE_CLAIM_PARAMETERS,
    PE_CLAIM_MEMBERS
};

/** By member, as it is written. */
extern const char *const pe_claim_member_names[PE_CLAIM_MEMBERS];

/** The members of the body: ours, and those of the resource, which are read as its own bodies
 * are. */
typedef struct pe_claim_body {
    const pe_read_limits *limits;
    pe_claim *claim;
    pe_slice member[PE_CLAIM_MEMBERS];
    char encoding[64], layer_type[64]; /* "" when absent */
    pe_buffer rest, nested;            /* the others, and those in parameters; comma after each */
    pe_buffer configured;              /* the object of parameters that config says */
    pe_slice dtype;                    /* as written, at either place */
    bool has_seq_len;
    bool has_positions, has_head_dim;
    pe_slice model;   /* JSON; text NULL: none is named */
    size_t looked_up; /* members, for what they may have meant */
    pe_claim_shapes shapes;
    pe_dtype element;       /* of tensors */
    pe_status failed;       /* of the first mistake */
    pe_problem *why;        /* the mistakes */
    size_t inputs, rotated; /* members that hold the vectors */
} pe_claim_body;

/** The element type as pe_query_dtype will tell it, once the parameters are read. */
pe_dtype pe_claim_values_element(const pe_claim_body *b);

/** The tensors of member `holder` become the claim's uploads, of type b->element.
 * Errors  those of pe_claim_array_read; INVALID_PARAMETER: too many tensors, or two of one name. */
pe_status pe_claim_values_read_tensors(pe_claim_body *b, size_t holder,
                                       pe_problem *why) PE_MUST_CHECK;

/** The vectors before rotation. They tell their head_dim and how many positions there are. Sets
 * b->element.
 * Shapes  channels along the last axis, tokens along seq_axis.
 * Errors  those of pe_claim_array_read; INVALID_PARAMETER: no such axes. */
pe_status pe_claim_values_read_inputs(pe_claim_body *b, pe_problem *why) PE_MUST_CHECK;

/** What the tensors, read before, tell of the parameters, which are read after them: it is added to
 * b->rest. `holder`: the member of the tensors.
 * Errors  OVERLOADED (memory). */
pe_status pe_claim_values_read_shapes(pe_claim_body *b, size_t holder,
                                      pe_problem *why) PE_MUST_CHECK;

#endif
