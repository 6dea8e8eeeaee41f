/* SPDX-License-Identifier: MIT */
/* claim_shapes.h - what the names, shapes and numbers of tensors tell, where a claim does not. */
#ifndef PE_API_CLAIMS_CLAIM_SHAPES_H
#define PE_API_CLAIMS_CLAIM_SHAPES_H

#include "files/stored.h"
#include "verify/verify.h"

/** Of pe_claim_shapes.given: the width of a head, as a model says it, too. */
#define PE_CLAIM_HEAD_DIM 2U

/** A parameter that was read off tensors. */
typedef struct pe_claim_added {
    const char *name;
    char value[48];
} pe_claim_added;

/** What a client gave, and what its tensors add to that. */
typedef struct pe_claim_shapes {
    unsigned given;                          /* watched parameters, as bits */
    size_t head_dim;                         /* as given; 0: it is not known here */
    size_t d_model, num_heads, query_length; /* the same */
    const char *layout;                      /* cache_layout, as given or read; "": neither */
    bool angles;                             /* the lone tensor holds angles */
    bool guessed;                            /* it may be cosines or sines */
    size_t n_added;
    pe_claim_added added[8];
    pe_buffer said;   /* owned: a line for each thing that was read off or left out */
    pe_buffer doubts; /* owned: a line for each tensor that was left out and should be looked at */
} pe_claim_shapes;

/** What was given, before the defaults, for the tensors of a group. configured: by a model, too. */
void pe_claim_shapes_begin(pe_claim_shapes *shapes, const pe_values *values, bool configured);

/**
 * Read off the tensors of a group what was not given: positions, head_dim, d_model, counts of heads
 * and lengths from sizes; cache_layout and pairing from sizes and numbers. *resource becomes that
 * of inverse frequencies where there is nothing else. values: what was given. The names of tensors
 * may change.
 */
void pe_claim_shapes_read(pe_claim_shapes *shapes, const pe_resource **resource,
                          const pe_values *values, pe_stored_list *tensors);

/** Cosines and sines in the place of angles, once the claim has its values and upload. */
pe_status pe_claim_shapes_take_angles(const pe_claim_shapes *shapes, pe_claim *claim,
                                      pe_problem *why) PE_MUST_CHECK;

#endif
