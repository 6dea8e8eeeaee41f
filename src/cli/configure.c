/* SPDX-License-Identifier: MIT */
/* configure.c - what all commands begin and end with, and those that are about settings and keys. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "cli/cli.h"
#include "http/clients/keys.h"
#include "http/server.h"
#include "kernels/kernels.h"
#include "sandbox/sandbox.h"
#include "text/blocks.h"

pe_status pe_cli_configure(int n_arguments, char **arguments, pe_config **out, pe_problem *why)
{
    pe_config *config = NULL;
    pe_status status = pe_config_read(n_arguments, arguments, environ, &config, why);
    if (status != PE_OK) {
        /* The format that flags or the environment ask for, where the settings cannot be read: it
         * holds for what is wrong with them. */
        static const char flag[] = "--log-format";
        const size_t length = strlen(flag);
        const char *asked = getenv("POSENC_LOG_FORMAT");
        for (int a = 0; a < n_arguments; a++) {
            if (strncmp(arguments[a], flag, length) != 0)
                continue;
            if (arguments[a][length] == '=')
                asked = arguments[a] + length + 1;
            else if (arguments[a][length] == '\0' && a + 1 < n_arguments)
                asked = arguments[a + 1];
        }
        if (asked != NULL)
            pe_log_set_format(asked);
        return status;
    }
    pe_log_set_level(pe_log_level_named(pe_config_settings(config)->log_level));
    pe_log_set_format(pe_config_settings(config)->log_format);
    const char *kernels = pe_config_settings(config)->kernels;
    status = pe_kernels_select(kernels, why);
    if (status == PE_OK && !pe_blocks_select(kernels))
        status = pe_fail(why, PE_INTERNAL, "kernels", "number text has no variant for kernels %s",
                         kernels);
    if (status != PE_OK) {
        pe_config_free(config);
        return status;
    }
    *out = config;
    return PE_OK;
}

static void tell(const char *event, const char *code, const char *where, const char *detail)
{
    const pe_log_member members[] = {
        {PE_LOG_TEXT, "code", .text = code},
        {PE_LOG_TEXT, "parameter", .text = where},
        {PE_LOG_TEXT, "detail", .text = detail},
        {0},
    };
    pe_log(PE_LOG_ERROR, event, members + (code == NULL));
}

/* A line for each mistake. What the machine fails at (a disk that is full) has no code: "internal"
 * is a fault of ours. */
int pe_cli_fail(const char *event, const pe_problem *why)
{
    tell(event, why->status == PE_INTERNAL ? NULL : pe_status_code_text(why->status), why->where,
         why->detail);
    for (unsigned i = 0; i < why->n_others; i++)
        tell(event, NULL, why->others[i].where, why->others[i].detail);
    char more[64];
    snprintf(more, sizeof more, "there are %u more mistakes", why->n_unreported);
    if (why->n_unreported > 0)
        tell(event, NULL, "", more);
    return pe_status_is_ours(why->status) ? PE_EXIT_FAILED : PE_EXIT_USAGE;
}

int pe_cli_print(pe_buffer *text)
{
    bool written = !text->failed;
    if (written)
        written = fwrite(text->data, 1, text->bytes, stdout) == text->bytes && fflush(stdout) == 0;
    const int error = errno;
    pe_buffer_free(text);
    if (written)
        return PE_EXIT_OK;
    pe_problem why;
    (void)pe_fail(&why, PE_INTERNAL, "", "cannot write to standard output: %s", strerror(error));
    return pe_cli_fail("output_failed", &why);
}

/* What a server would give up here is found out by giving it up. */
static pe_status try_sandbox(const pe_config *config, pe_buffer *text, pe_problem *why)
{
    pe_sandbox_plan plan;
    pe_sandbox sandbox;
    pe_sandbox_plan_make(config, &plan);
    PE_TRY(pe_sandbox_enter(&plan, &sandbox, why));
    PE_TRY(pe_sandbox_seal(&plan, &sandbox, why));
    pe_sandbox_text(&sandbox, text);
    return PE_OK;
}

int pe_cli_check_config(int n_arguments, char **arguments)
{
    pe_config *config = NULL;
    pe_problem why;
    if (pe_cli_configure(n_arguments, arguments, &config, &why) != PE_OK)
        return pe_cli_fail("configuration_invalid", &why);
    pe_log_set_level(PE_LOG_WARN); /* what a start would tell beside is no news */
    pe_buffer text = {0};
    pe_buffer_str(&text, "the configuration is valid\n");
    const bool valid =
        pe_server_check(config, &why) == PE_OK && try_sandbox(config, &text, &why) == PE_OK;
    pe_config_free(config);
    if (valid)
        return pe_cli_print(&text);
    pe_buffer_free(&text);
    return pe_cli_fail("configuration_invalid", &why);
}

int pe_cli_print_config(int n_arguments, char **arguments)
{
    pe_config *config = NULL;
    pe_problem why;
    if (pe_config_read(n_arguments, arguments, environ, &config, &why) != PE_OK)
        return pe_cli_fail("configuration_invalid", &why);
    pe_buffer text = {0};
    pe_config_print(config, &text);
    pe_config_free(config);
    return pe_cli_print(&text);
}

/* Standard output has, alone, the line that lets the client in. */
int pe_cli_key(int n_arguments, char **arguments)
{
    pe_problem why;
    pe_buffer text = {0};
    uint8_t hash[PE_KEY_HASH_BYTES];
    char key[PE_KEY_TEXT_BYTES], digits[2 * PE_KEY_HASH_BYTES + 1];
    pe_status status;
    if (n_arguments != 2 || strcmp(arguments[0], "new") != 0)
        status = pe_fail(&why, PE_INVALID_PARAMETER, "", "expected: posenc key new NAME");
    else if (!pe_key_is_name(pe_slice_of(arguments[1])))
        status = pe_fail(&why, PE_INVALID_PARAMETER, "name",
                         "a name must be 1 to %d letters, digits, '.', '_' or '-', got %.100s",
                         PE_KEY_NAME_MAX, arguments[1]);
    else
        status = pe_key_new(key, hash, &why);
    if (status != PE_OK)
        return pe_cli_fail("key_failed", &why);
    pe_key_print(hash, sizeof hash, digits);
    fprintf(stderr,
            "The key, which is shown this once (Authorization: Bearer KEY):\n\n%s\n\n"
            "The line for keys_file; rate=N, work=N and disabled may follow:\n\n",
            key);
    pe_buffer_format(&text, "%s sha256:%s\n", arguments[1], digits);
    explicit_bzero(key, sizeof key);
    return pe_cli_print(&text);
}
