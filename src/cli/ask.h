/* SPDX-License-Identifier: MIT */
/* ask.h - what commands that ask the server of this process have in common. */
#ifndef PE_CLI_ASK_H
#define PE_CLI_ASK_H

#include <jansson.h>

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/http_client.h"
#include "http/server.h"
#include "plan/values.h"

/* ---- the arguments of a command: words, its own flags, parameters, settings (arguments.c) ---- */

/** Flags of commands, each with a value: what a command takes of them is a sum. */
typedef enum pe_own_flag {
    PE_FLAG_OUTPUT = 1,
    PE_FLAG_FORMAT = 2,
    PE_FLAG_BODY = 4,
    PE_FLAG_CONFIG = 8,
    PE_FLAG_AGAINST = 16,
    PE_FLAG_PARAMETERS = 32, /* and any other flag is a parameter */
} pe_own_flag;

#define PE_WORDS_MAX 16

/** Zero-initialise, pe_arguments_read, pe_arguments_free. Borrows the arguments. */
typedef struct pe_arguments {
    const char *word[PE_WORDS_MAX];
    size_t n_words;
    pe_buffer query;                                       /* the parameters, percent-encoded */
    const char *output, *format, *body, *config, *against; /* NULL: not given */
    char **settings; /* the arguments that are flags of settings; the array is owned */
    int n_settings;
} pe_arguments;

/** A flag: its value and meaning, for help, and where in pe_arguments the value goes; name NULL past
 * the last. */
typedef struct pe_flag_row {
    pe_own_flag flag;
    const char *name, *value, *help;
    size_t place;
} pe_flag_row;
extern const pe_flag_row pe_flags[];

/**
 * Sort the arguments out: up to words_max words, -o FILE, --name value or --name=value, and any flag
 * of a setting. A truth needs no value.
 * Errors  INVALID_PARAMETER, with all mistakes; names of parameters are left to the server.
 */
pe_status pe_arguments_read(int n, char **arguments, unsigned flags, size_t words_max,
                            pe_arguments *out, pe_problem *why) PE_MUST_CHECK;
void pe_arguments_free(pe_arguments *arguments);

/** Add name=value to a query, percent-encoded. */
void pe_arguments_add(pe_buffer *query, const char *name, const char *value);

/** Fail with "no WHAT is called NAME, did you mean NEAR?". NEAR, where it is NULL, is sought among
 * n names, and where `what` says encoding, among encodings. `list` is what lists them. */
pe_status pe_arguments_no_name(const char *what, const char *name, const char *near,
                               const char *const *names, size_t n, const char *list,
                               pe_problem *why);

/* ---- files that commands read and write (in_out.c) ---- */

/** A file as a whole, or its first bytes. Of a regular file only what is looked at is read. */
typedef struct pe_input {
    const char *path;
    pe_slice content;
    pe_buffer read; /* owned: of what is no regular file */
    void *mapped;   /* of a regular one, or NULL */
} pe_input;

/** Errors  INVALID_PARAMETER: it cannot be read, or is empty; BODY_TOO_LARGE: what is no regular file
 * has more than bytes_max. */
pe_status pe_input_open(const char *path, size_t bytes_max, pe_input *out,
                        pe_problem *why) PE_MUST_CHECK;
void pe_input_close(pe_input *input);

/** From now on a signal that ends the program leaves nothing beside, and no line of progress. */
void pe_output_guard(void);

/**
 * Write what a client still reads, or where that is NULL, a text; path: NULL or "-" is standard
 * output. Another file is written beside, and becomes the one that is meant at the end: what fails
 * half-way, or is ended by a signal, leaves an older one alone.
 * Errors  INVALID_PARAMETER: it cannot be written; those of pe_client_read.
 */
pe_status pe_output_write(const char *path, pe_client *client, pe_slice text,
                          pe_problem *why) PE_MUST_CHECK;

/* ---- asking (ask.c) ---- */

/** Exit statuses beside those of cli.h: the answer is right, but of another thing; a file cannot be
 * read or written, or the machine fails. */
enum { PE_EXIT_DIFFERENT = 1, PE_EXIT_UNREADABLE = 3 };

/** A server inside this process, whose one client is the command. */
typedef struct pe_own_server {
    pe_config *config;
    pe_server *server; /* NULL: there is none */
    int fd;            /* of the last request, or -1 */
} pe_own_server;

/** A command under way. What fails is reported at the end; the functions below do nothing after it, and
 * give an empty text, or NULL. */
typedef struct pe_asking {
    const pe_command *command;
    pe_arguments arguments;
    size_t format; /* which of the command's, where it has some */
    pe_own_server own;
    int code;          /* how it ends where nothing fails */
    pe_status status;  /* of the first mistake; `why` tells all */
    pe_problem why;    /* of the command */
    pe_problem step;   /* of the step that is taken now */
    bool failed;       /* nothing more can be asked */
    bool only_reports; /* arguments are wrong: what else is wrong is reported, nothing is written */
    bool unreadable;   /* what fails is a file, not how the command was called */
} pe_asking;

/** Read the arguments, start the server, run the command, tell what is wrong. Returns an exit
 * status. */
int pe_ask(const pe_command *command, int n_arguments, char **arguments);

/* What commands ask. */
void pe_ask_request(pe_asking *asking);
void pe_ask_table(pe_asking *asking);
void pe_ask_resolve(pe_asking *asking);
void pe_ask_verify(pe_asking *asking);
void pe_ask_pack_check(pe_asking *asking);

/** A step of the command, whose problem is in asking->step: nothing follows one that fails. Returns
 * whether it did not. */
bool pe_ask_step(pe_asking *asking, pe_status status);
/** The same of a file, or of what is in one. */
bool pe_ask_file_step(pe_asking *asking, pe_status status);
/** A mistake beside which the server may find more. */
void pe_ask_mistake(pe_asking *asking, pe_status status);

/** pe_input_open; path NULL: there is no file. */
pe_input pe_ask_open(pe_asking *asking, const char *path);
/** The same of a configuration: of a folder its config.json. name: where the file's name is kept. */
pe_input pe_ask_open_config(pe_asking *asking, const char *path, char name[static 4096]);

/** The whole answer, the caller's; a body that is refused as a whole is a file that cannot be read. */
pe_buffer pe_ask_text(pe_asking *asking, const pe_client_request *request);
/** The same of one in JSON, with its tree. */
json_t *pe_ask_json(pe_asking *asking, const pe_client_request *request, pe_buffer *text);

/** GET, or POST of the file of --body, at a path with the query of the arguments; the answer goes to
 * --output as it comes. */
void pe_ask_deliver(pe_asking *asking, const char *path);
/** A text goes there; it is freed. */
void pe_ask_print(pe_asking *asking, pe_buffer *text);

/** The configuration of a model, resolved. Of a GGUF file the head is sent, and what divides
 * frequencies; where it must be whole, one that is cut short fails. */
json_t *pe_ask_resolved(pe_asking *asking, const pe_input *input, bool whole, pe_buffer *text);
/** The same of a file, or of the config.json of a folder. */
json_t *pe_ask_resolved_path(pe_asking *asking, const char *path, pe_buffer *text);

/** Does the query have a parameter ("&a=1&b=2" has b)? */
bool pe_ask_has(pe_buffer *query, const char *name);
/** Members of a JSON object as parameters of a query; what that has is left as it is. */
void pe_ask_add_parameters(const json_t *parameters, pe_buffer *query);

/* ---- what the program says of itself: help, the manual page, completions of shells ---- */

/** A line for each flag of a command. */
void pe_describe_flags(unsigned flags, pe_buffer *out);
/** The encodings that `posenc table` knows, and one with its parameters. */
void pe_describe_encodings(pe_buffer *out);
void pe_describe_resource(const pe_resource *resource, pe_buffer *out);
/** All commands and settings. */
void pe_describe_program(const pe_command *commands, size_t n, pe_buffer *out);
/** posenc(1), for man. */
void pe_describe_manual(const pe_command *commands, size_t n, pe_buffer *out);
/** False where the shell is none of bash, zsh and fish. */
bool pe_describe_completions(const char *shell, const pe_command *commands, size_t n,
                             pe_buffer *out);

#endif
