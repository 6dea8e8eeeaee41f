/* SPDX-License-Identifier: MIT */
/* ask.h - what commands that ask the server of this process have in common. */
#ifndef PE_CLI_ASK_H
#define PE_CLI_ASK_H

#include <jansson.h>

#include "cli/arguments.h"
#include "cli/in_out.h"
#include "cli/own_server.h"

/** Exit statuses beside those of cli.h: the answer is right, but of another thing; a file cannot be
 * read or written, or the machine fails. */
enum { PE_EXIT_DIFFERENT = 1, PE_EXIT_UNREADABLE = 3 };

/** A command under way. */
typedef struct pe_asking {
    pe_arguments arguments;
    pe_own_server *own;
    int code; /* how it ends where nothing fails */
    bool
        only_tells; /* arguments are wrong: what the server finds wrong is told, nothing is written */
    bool unreadable; /* what fails is a file, not how the command was called */
} pe_asking;

/** A command of this kind. */
typedef struct pe_ask_row {
    const char *needs; /* the sentence where there are fewer words */
    size_t words_min, words_max;
    unsigned flags; /* of pe_own_flag */
    pe_status (*run)(pe_asking *asking, pe_problem *why);
} pe_ask_row;

extern const pe_ask_row pe_ask_get, pe_ask_table, pe_ask_models, pe_ask_resolve_file,
    pe_ask_compare, pe_ask_pack_list, pe_ask_pack_make, pe_ask_pack_check, pe_ask_verify,
    pe_ask_all; /* the last: all flags, for help */

/** Read the arguments, start the server, run the command, tell what is wrong. Returns an exit
 * status. */
int pe_ask(const pe_ask_row *row, int n_arguments, char **arguments);

/** pe_input_open, and what fails is a file. */
pe_status pe_ask_open(pe_asking *asking, const char *path, pe_input *out,
                      pe_problem *why) PE_MUST_CHECK;

/** pe_own_server_fetch; a body that is refused as a whole is a file that cannot be read. */
pe_status pe_ask_text(pe_asking *asking, const pe_client_request *request, pe_buffer *out,
                      pe_problem *why) PE_MUST_CHECK;

/** The answer goes to --output as it comes. */
pe_status pe_ask_deliver(pe_asking *asking, const pe_client_request *request,
                         pe_problem *why) PE_MUST_CHECK;
/** A text goes there; it is freed. */
pe_status pe_ask_print(pe_asking *asking, pe_buffer *text, pe_problem *why) PE_MUST_CHECK;

/** Which of the names (NULL-terminated) --format is, the first where it is not given.
 * Errors  INVALID_PARAMETER: none. */
pe_status pe_ask_format(const pe_asking *asking, const char *const *names, size_t *out,
                        pe_problem *why) PE_MUST_CHECK;

/** The configuration of a model that a file or a folder holds, resolved: JSON. Of a GGUF file its head
 * is read. */
pe_status pe_ask_resolve(pe_asking *asking, const char *path, pe_buffer *out,
                         pe_problem *why) PE_MUST_CHECK;

/** Members of a JSON object as parameters of a query; what that has is left as it is. */
void pe_ask_add_parameters(const json_t *parameters, pe_buffer *query);

#endif
