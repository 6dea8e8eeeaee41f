/* SPDX-License-Identifier: MIT */
/* main.c - the program: chooses the command. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/table_arguments.h"
#include "encodings/registry.h"
#include "version.h"

static int run_version(int n_arguments, char **arguments);
static int run_help(int n_arguments, char **arguments);

static const pe_command commands[] = {
    {.name = "serve",
     .usage = "[--flag value ...]",
     .summary = "Serve positional encodings over HTTP.",
     .flags = true,
     .run = pe_cli_serve},
    {.name = "table",
     .usage = "ENCODING [--name value ...] [--format NAME] [--body FILE] [-o FILE]",
     .summary = "Write the server's answer to a file, without a server.",
     .own_help = true,
     .run = pe_cli_table},
    {.name = "healthcheck",
     .usage = "[--flag value ...]",
     .summary = "Exit with 0 if the server of these settings answers GET /healthz, else with 1.",
     .run = pe_cli_healthcheck},
    {.name = "check-config",
     .usage = "[--flag value ...]",
     .summary = "Check settings, and the files that they name, without starting.",
     .flags = true,
     .run = pe_cli_check_config},
    {.name = "print-config",
     .usage = "[--flag value ...]",
     .summary = "Print every setting with its value, source and bounds, as a valid settings file.",
     .flags = true,
     .run = pe_cli_print_config},
    {.name = "key",
     .usage = "new NAME",
     .summary = "Make a key for a client, and the line of keys_file that lets it in.",
     .run = pe_cli_key},
    {.name = "version", .usage = "", .summary = "Print the version.", .run = run_version},
    {.name = "help",
     .usage = "[COMMAND | ENCODING]",
     .summary = "Explain the program, a command, or an encoding such as rope/table.",
     .run = run_help},
};

static const pe_command *find(const char *name)
{
    for (size_t c = 0; c < PE_LEN(commands); c++)
        if (strcmp(commands[c].name, name) == 0)
            return &commands[c];
    return NULL;
}

/* What others call a command, and what people take for one. */
static const struct {
    const char *name, *meant;
} meant[] = {
    {"start", "serve"},
    {"run", "serve"},
    {"server", "serve"},
    {"list", "help"},
    {"encodings", "help table"},
    {"config", "print-config"},
    {"health", "healthcheck"},
    {"models", "serve, which answers GET /v1/models"},
    {"model", "serve, which answers GET /v1/models"},
    {"resolve", "serve, which answers POST /v1/models/resolve"},
    {"verify", "serve, which answers POST /v1/verify"},
};

static const char *find_meant(const char *name)
{
    for (size_t i = 0; i < PE_LEN(meant); i++)
        if (strcmp(meant[i].name, name) == 0)
            return meant[i].meant;
    return NULL;
}

#define NAMES_MAX 128

/* Where an encoding may be named as well, those that begin with the name are meant, or the
 * nearest. */
static int refuse(const char *name, bool or_encoding)
{
    size_t n = 0;
    const char *names[NAMES_MAX];
    pe_buffer family = {0};
    pe_problem why;
    for (; n < PE_LEN(commands); n++)
        names[n] = commands[n].name;
    for (size_t r = 0; or_encoding && n < NAMES_MAX && pe_registry[r] != NULL; r++)
        names[n++] = pe_registry[r]->name;
    const char *near = find_meant(name);
    if (near == NULL)
        near = pe_nearest_name(name, names, n);
    if (or_encoding && pe_table_arguments_family(name, &family))
        near = pe_buffer_text(&family);
    if (!or_encoding && pe_registry_find(name) != NULL) {
        pe_buffer_format(&family, "posenc table %s", name);
        near = pe_buffer_text(&family);
    }
    (void)pe_fail(&why, PE_INVALID_PARAMETER, "", "no command%s is called %.100s%s%s%s",
                  or_encoding ? " or encoding" : "", name,
                  near == NULL ? "; posenc help lists them" : ", did you mean ",
                  near == NULL ? "" : near, near == NULL ? "" : "?");
    pe_buffer_free(&family);
    return pe_cli_fail("start_failed", &why);
}

static int refuse_flag(const char *flag)
{
    pe_problem why;
    (void)pe_fail(&why, PE_INVALID_PARAMETER, "", "a command comes first: posenc serve %.100s",
                  flag);
    return pe_cli_fail("start_failed", &why);
}

static int run_version(int n_arguments, char **arguments)
{
    (void)n_arguments;
    (void)arguments;
    pe_buffer text = {0};
    pe_buffer_str(&text, "posenc " PE_VERSION " (" PE_REVISION ")\n");
    return pe_cli_print(&text);
}

/* What somebody sees who types the name alone. */
static int introduce(void)
{
    pe_buffer text = {0};
    pe_buffer_str(&text, "posenc - exact positional encodings, over HTTP or into a file.\n"
                         "\n"
                         "  posenc serve                    serve http://127.0.0.1:8080\n"
                         "  posenc serve --host 0.0.0.0 -p 9000\n"
                         "  posenc table sinusoidal --d-model 512 --positions 0:2048 -o pe.npy\n"
                         "  posenc help                     all commands and settings\n"
                         "  posenc help table               the encodings\n"
                         "  posenc help rope/table          the parameters of one\n"
                         "\n"
                         "Documentation: README.md, and /docs of a running server.\n");
    const int printed = pe_cli_print(&text);
    return printed == PE_EXIT_OK ? PE_EXIT_USAGE : printed;
}

static void explain_program(pe_buffer *out)
{
    pe_buffer_str(out, "posenc - exact positional encodings, over HTTP or into a file.\n\n");
    for (size_t c = 0; c < PE_LEN(commands); c++)
        pe_buffer_format(out, "  posenc %-13s %s\n", commands[c].name, commands[c].summary);
    pe_buffer_str(
        out,
        "\nSettings. Each is a flag, a variable POSENC_NAME and a key of the settings file:\n\n");
    pe_config_help(out);
    pe_buffer_str(out, "\nExamples:\n\n"
                       "  posenc serve --port 8080\n"
                       "  posenc table sinusoidal --d-model 512 --positions 0:2048 -o pe.npy\n"
                       "  posenc help table\n");
}

static void explain_command(const pe_command *command, pe_buffer *out)
{
    pe_buffer_format(out, "posenc %s %s\n\n%s\n\n", command->name, command->usage,
                     command->summary);
    if (command->flags)
        pe_config_help(out);
    if (command->own_help)
        pe_cli_table_help(out);
}

static int print_help(const pe_command *command)
{
    pe_buffer text = {0};
    if (command == NULL)
        explain_program(&text);
    else
        explain_command(command, &text);
    return pe_cli_print(&text);
}

static int run_help(int n_arguments, char **arguments)
{
    const pe_command *command = n_arguments > 0 ? find(arguments[0]) : NULL;
    char *of_table[] = {n_arguments > 0 ? arguments[0] : NULL, (char[]){"--help"}};
    if (command == NULL && n_arguments > 0 && pe_registry_find(arguments[0]) != NULL)
        return pe_cli_table((int)PE_LEN(of_table), of_table);
    return n_arguments > 0 && command == NULL ? refuse(arguments[0], true) : print_help(command);
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* `posenc COMMAND ... --help`; a command that has pages of its own opens them itself. */
static int run_command(const pe_command *command, int n_arguments, char **arguments)
{
    for (int a = 0; a < n_arguments && !command->own_help; a++)
        if (is_help(arguments[a]))
            return print_help(command);
    return command->run(n_arguments, arguments);
}

int main(int argc, char **argv)
{
    pe_memory_prepare();
    if (argc < 2)
        return introduce();
    if (is_help(argv[1]))
        return run_help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return run_version(0, NULL);
    if (argv[1][0] == '-')
        return refuse_flag(argv[1]);
    const pe_command *command = find(argv[1]);
    return command == NULL ? refuse(argv[1], false) : run_command(command, argc - 2, argv + 2);
}
