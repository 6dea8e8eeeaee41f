/* SPDX-License-Identifier: MIT */
/* compare_request.h - requests for rope types side by side, and their answers. */
#ifndef PE_TESTS_SUPPORT_COMPARE_REQUEST_H
#define PE_TESTS_SUPPORT_COMPARE_REQUEST_H

#include <jansson.h>

#include "support/client.h"
#include "support/random.h"

#define COMPARE     "/v1/rope/compare"
#define FREQUENCIES "/v1/rope/frequencies"

/** Types that a comparison has when every key is given. */
#define COMPARE_TYPES 12

/** The answer to a POST, which must be a 200. Release with json_decref. */
json_t *compare_answer(const test_server *server, const char *target, const json_t *body);

/** A model, a target and every key there is, so that all types can be planned. */
json_t *compare_random(random_source *random);
/** n divisors, as longrope has them. */
json_t *compare_random_list(random_source *random, size_t n);
/** What /v1/rope/frequencies is to be asked for one type of a comparison. */
json_t *compare_single(const json_t *compared, const char *type);

/** A number by its name, 0 when absent; and a member taken over when it is there. */
double compare_member(const json_t *object, const char *name);
void compare_copy(json_t *to, const json_t *from, const char *name);

/** Of an answer: the data of a tensor, the number of a type in a tensor [types], the types in the
 * order of the first axis. */
json_t *compare_data(const json_t *answer, const char *tensor);
double compare_number(const json_t *answer, const char *tensor, size_t type);
const json_t *compare_types(const json_t *answer);
const char *compare_type(const json_t *answer, size_t t);
size_t compare_index(const json_t *answer, const char *type);

/** Type t of the comparison must be what /v1/rope/frequencies answered, in the same dtype. */
void compare_same_as_alone(const json_t *compared, const json_t *single, size_t t,
                           const char *type);

#endif
