/* SPDX-License-Identifier: MIT */
/* claim_reader.h - a claim while it is read: what was said of it, and a list of its tensors. */
#ifndef PE_API_CLAIMS_CLAIM_READER_H
#define PE_API_CLAIMS_CLAIM_READER_H

#include "api/claims/claim.h"
#include "api/claims/claim_groups.h"
#include "api/claims/claim_shapes.h"

/** What is said that is no parameter of the resource. */
enum {
    PE_CLAIM_ENCODING,
    PE_CLAIM_LAYER_TYPE,
    PE_CLAIM_TOLERANCE,
    PE_CLAIM_SEQ_AXIS,
    PE_CLAIM_CONFIG,
    PE_CLAIM_OWN
};

/** By number, as it is written. */
extern const char *const pe_claim_own_names[PE_CLAIM_OWN];

/**
 * The two sources, a JSON object and a query string with tensors behind it, fill this in; then the
 * claims of its groups of tensors are read the same way. What is meant for the resource is gathered
 * as its own bodies or query strings have it.
 */
typedef struct pe_claim_reader {
    pe_claim claim; /* the first */
    const pe_read_limits *limits;
    const pe_binary_body *body;        /* NULL: a JSON object */
    pe_slice own[PE_CLAIM_OWN];        /* as it was written; text NULL: it was not */
    char encoding[64], layer_type[64]; /* "" where none is known */
    char model[128];                   /* "" where none is named */
    pe_buffer rest;                    /* owned: what is meant for the resource, as it was sent */
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

typedef pe_status pe_claim_step(pe_claim_reader *r, pe_problem *why);

/** A mistake does not end the reading: steps that depend on it find nothing to do. */
void pe_claim_reader_note(pe_claim_reader *r, pe_status status, const pe_problem *mistake);
void pe_claim_reader_do(pe_claim_reader *r, pe_claim_step *step);

/** The room for tensors.   Errors  OVERLOADED (memory). */
pe_status pe_claim_reader_make_room(pe_claim_reader *r, size_t tensors,
                                    pe_problem *why) PE_MUST_CHECK;

/** Steps that both sources have. read_config takes what a configuration says of the encoding and its
 * parameters; set_resource needs the encoding, read_groups the resource. */
pe_claim_step pe_claim_reader_tolerance, pe_claim_reader_axis, pe_claim_reader_config,
    pe_claim_reader_model, pe_claim_reader_groups;

/** Release what was read; the claim goes to *out, or is freed on failure. */
pe_status pe_claim_reader_finish(pe_claim_reader *r, pe_claim *out, pe_problem *why) PE_MUST_CHECK;

/* ---- of JSON (claim_json.c) ---- */

/** Read the array whose text a tensor has as numbers of this type; it is owned then. */
pe_status pe_claim_json_scan(const pe_claim_reader *r, pe_dtype dtype, pe_stored *tensor,
                             pe_problem *why) PE_MUST_CHECK;
/** Read the members for the resource into a query that was begun. */
pe_status pe_claim_json_read(const pe_claim_reader *r, pe_query *query,
                             pe_problem *why) PE_MUST_CHECK;

#endif
