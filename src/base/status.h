/* SPDX-License-Identifier: MIT */
/* status.h - every way a request can fail, in one list, and the problem that explains one. */
#ifndef PE_BASE_STATUS_H
#define PE_BASE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(enumerator, HTTP status, problem code, title, explanation served at /problems/{code})
 *
 * Source: RFC 9457 (problem details), RFC 9110 section 15 (status codes).
 */
#define PE_STATUS_MAP(X)                                                                           \
    X(OK, 200, "ok", "Success", "The request succeeded.")                                          \
    X(MALFORMED_REQUEST, 400, "malformed-request", "The request could not be read",                \
      "A parameter is repeated or does not parse, or the body is empty, broken, not a JSON "       \
      "object or repeats a key. Correct the place that detail names and send the request again.")  \
    X(UNKNOWN_PARAMETER, 400, "unknown-parameter", "No such parameter",                            \
      "Parameters are checked strictly: one that the resource does not know is refused rather "    \
      "than ignored. The nearest known name is suggested; GET /v1 lists them all.")                \
    X(MISSING_PARAMETER, 400, "missing-parameter", "A required parameter is missing",              \
      "The resource cannot be computed without this parameter. GET /v1 tells its bounds.")         \
    X(UNAUTHORIZED, 401, "unauthorized", "Credentials are missing or wrong",                       \
      "This server asks for credentials that the request did not carry.")                          \
    X(FORBIDDEN, 403, "forbidden", "Not allowed to this client",                                   \
      "The key is known, and its owner is not served at present. Ask whoever runs the server.")    \
    X(NOT_FOUND, 404, "not-found", "No such resource",                                             \
      "No resource lives at this path. GET /v1 lists the resources there are.")                    \
    X(METHOD_NOT_ALLOWED, 405, "method-not-allowed", "Method not allowed here",                    \
      "The resource exists but does not answer this method; the Allow header names those it "      \
      "does.")                                                                                     \
    X(NOT_ACCEPTABLE, 406, "not-acceptable", "No acceptable representation",                       \
      "The answer has no representation of the kind asked for; detail lists those it has. "        \
      "A format that holds one tensor needs tensor=NAME where the answer has several.")            \
    X(TIMEOUT, 408, "timeout", "The request took too long to arrive",                              \
      "The whole request must arrive within the server's deadline.")                               \
    X(BODY_TOO_LARGE, 413, "body-too-large", "The body is too large",                              \
      "The body exceeds the limit that GET /v1 tells.")                                            \
    X(UNSUPPORTED_MEDIA_TYPE, 415, "unsupported-media-type", "Media type not supported",           \
      "The body's Content-Type is missing or is not one that this resource reads; the "            \
      "Accept-Post header names those it does.")                                                   \
    X(RANGE_NOT_SATISFIABLE, 416, "range-not-satisfiable", "Range not satisfiable",                \
      "The Range asked for lies outside the representation.")                                      \
    X(RATE_LIMITED, 429, "rate-limited", "Too many requests, or too much work",                    \
      "This client, by its key or its address, has had what it may have in a time. Try again "     \
      "after the seconds in Retry-After; RateLimit-Policy tells the limit.")                       \
    X(HEADER_TOO_LARGE, 431, "header-too-large", "The request's header is too large",              \
      "The header with its request target, or the trailer, exceeds the server's "                  \
      "connection_memory_bytes. Send long lists in a body, by POST.")                              \
    X(INVALID_PARAMETER, 422, "invalid-parameter", "A parameter is invalid",                       \
      "The parameter was read but cannot be: a wrong enumeration value, a fraction where an "      \
      "integer belongs, out of range, at odds with another parameter, or not read by the chosen "  \
      "type.")                                                                                     \
    X(TOO_MANY_ELEMENTS, 422, "too-many-elements", "The answer would be too large",                \
      "The answer would hold more elements than the server's limit. Ask for fewer positions at "   \
      "a time.")                                                                                   \
    X(TOO_MUCH_WORK, 422, "too-much-work", "The answer would take too much work",                  \
      "The answer would cost more units of work than the server's limit, however few bytes it "    \
      "is. "                                                                                       \
      "Ask for fewer positions, channels, heads or types at a time.")                              \
    X(OVERLOADED, 503, "overloaded", "The server is busy",                                         \
      "The server's queue is full, its memory is in use, or it is starting or stopping. Try "      \
      "again "                                                                                     \
      "after the seconds in Retry-After.")                                                         \
    X(INTERNAL, 500, "internal", "Internal error",                                                 \
      "The server failed. The request_id finds it in the log.")

typedef enum pe_status {
#define PE_STATUS_ENUM(name, http, code, title, about) PE_##name,
    PE_STATUS_MAP(PE_STATUS_ENUM)
#undef PE_STATUS_ENUM
} pe_status;

/** Goes with every function that can fail: ignoring its status is a compiler warning. */
#define PE_MUST_CHECK __attribute__((warn_unused_result))

/** Behind a parameter that a function has for its type alone. */
#define PE_UNUSED __attribute__((unused))

/**
 * The one failure that a request is answered with. Plain value; the first failure wins and is
 * passed up untouched.
 *
 * Threads  a problem belongs to one request.
 */
#define PE_MISTAKES_MAX 7
/** A request that has so many is read no further. */
#define PE_MISTAKES_COUNTED 100
/** A mistake beside the one that a problem is of. */
typedef struct pe_mistake {
    char where[64], detail[512];
} pe_mistake;

typedef struct pe_problem {
    pe_status status;
    /** Parameter at fault, "" when none. Deeper places as a path: "vectors/3/2",
     * "rope_parameters/factor". */
    char where[128];
    /** One sentence for the client: what was expected and what came. */
    char detail[512];
    /** METHOD_NOT_ALLOWED: the Allow header; UNSUPPORTED_MEDIA_TYPE: Accept-Post;
     * UNAUTHORIZED: WWW-Authenticate. Else "". */
    char allow[192];
    /** TOO_MANY_ELEMENTS only. */
    uint64_t max_elements, requested_elements;
    /** TOO_MUCH_WORK only: units of work (plan/price.h). */
    uint64_t max_work, requested_work;
    uint64_t retry_after; /* RATE_LIMITED only: seconds */
    /** Further mistakes of the same request, in the order in which they were found; and how many
     * more there were, for which there is no room. */
    unsigned n_others, n_unreported;
    pe_mistake others[PE_MISTAKES_MAX];
} pe_problem;

/** Add the mistakes of another problem; those past the room are counted. */
void pe_problem_add(pe_problem *why, const pe_problem *other);

/**
 * Rules that do not depend on each other are all looked at: the first that is broken is the
 * problem, those after it are added to it, and memory that is short ends it all.
 */
pe_status pe_problem_collect(pe_status so_far, pe_status status, const pe_problem *mistake,
                             pe_problem *why) PE_MUST_CHECK;

/**
 * The same in a function that has `why`, and a problem `mistake` for the call.
 *
 *     status = PE_ALSO(status, check_height(values, &mistake));
 */
#define PE_ALSO(so_far, call) pe_problem_collect(so_far, call, &mistake, why)

/** The same where several mistakes may have one place, or none. */
pe_status pe_problem_gather(pe_status so_far, pe_status status, const pe_problem *mistake,
                            pe_problem *why) PE_MUST_CHECK;

/**
 * Fill *why and return status.
 *
 *     if (dim % 2 != 0)
 *         return pe_fail(why, PE_INVALID_PARAMETER, "dim", "dim must be even, got %zu", dim);
 */
pe_status pe_fail(pe_problem *why, pe_status status, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** pe_fail for an allocation that failed. */
pe_status pe_fail_memory(pe_problem *why);

/* Shows compilers and analysers, which cannot look into another file, that neither gives PE_OK. */
static inline pe_status pe_status_known(pe_status given, pe_status known)
{
    (void)given;
    return known;
}
#define pe_fail(why, status, ...) pe_status_known(pe_fail(why, status, __VA_ARGS__), status)
#define pe_fail_memory(why)       pe_status_known(pe_fail_memory(why), PE_OVERLOADED)

/**
 * Leave the function where a call failed, with its status. Not where something is held that is to be
 * released.
 *
 *     PE_TRY(check_height(values, why));
 */
#define PE_TRY(call)                                                                               \
    do {                                                                                           \
        const pe_status pe_tried = (call);                                                         \
        if (pe_tried != PE_OK)                                                                     \
            return pe_tried;                                                                       \
    } while (0)

int pe_status_http(pe_status status);
const char *pe_status_code_text(pe_status status); /* "invalid-parameter" */
const char *pe_status_title(pe_status status);
const char *pe_status_about(pe_status status);

/** Is the failure the server's, which no change of the request would mend: memory, most of all? */
static inline bool pe_status_is_ours(pe_status status)
{
    return status == PE_OVERLOADED || status == PE_INTERNAL;
}

/** The status with this problem code, or PE_OK when there is none. */
pe_status pe_status_by_code(const char *code);

#endif
