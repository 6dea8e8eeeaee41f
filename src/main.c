/* SPDX-License-Identifier: MIT */
/* main.c - the program: chooses the command. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "encodings/registry.h"
#include "version.h"

static int run_version(int n_arguments, char **arguments);
static int run_help(int n_arguments, char **arguments);
static int run_completions(int n_arguments, char **arguments);

#define ANSWER (PE_FLAG_OUTPUT | PE_FLAG_FORMAT)

static const char *const text_or_json[] = {"text", "json", NULL};
static const char *const json_or_text[] = {"json", "text", NULL};
static const char *const reports[] = {"text", "json", "markdown", "sarif", NULL};

static const pe_command commands[] = {
    {.name = "serve",
     .usage = "[--flag value ...]",
     .summary = "Serve positional encodings over HTTP.",
     .settings = true,
     .run = pe_cli_serve},
    {.name = "get",
     .usage = "PATH [--body FILE] [-o FILE]",
     .summary = "Print what a server answers to GET, or with --body to POST.",
     .ask = pe_ask_request,
     .words = {1, 1},
     .flags = PE_FLAG_OUTPUT | PE_FLAG_BODY},
    {.name = "table",
     .usage = "ENCODING [--name value ...] [--config FILE] [--format NAME] [--body FILE] [-o FILE]",
     .summary = "Write the numbers of an encoding, in the format of the file's extension.",
     .ask = pe_ask_table,
     .words = {1, 1},
     .flags = ANSWER | PE_FLAG_BODY | PE_FLAG_CONFIG | PE_FLAG_PARAMETERS},
    {.name = "verify",
     .usage =
         "FILE ... [--config FILE | --model NAME | --name value ...] [--format NAME] [-o FILE]",
     .summary = "Tell whether tensors are what they should be, and which mistake made them; of a "
                "GGUF file what the conversion lost. Formats: text, json, markdown, sarif.",
     .ask = pe_ask_verify,
     .words = {1, PE_WORDS_MAX},
     .flags = ANSWER | PE_FLAG_CONFIG | PE_FLAG_PARAMETERS,
     .formats = reports},
    {.name = "models",
     .usage = "[WORD ...] [--format text|json]",
     .summary = "List the models of the catalogue, or those that have these words.",
     .ask = pe_ask_request,
     .words = {0, PE_WORDS_MAX},
     .flags = ANSWER,
     .formats = text_or_json,
     .path = "/v1/models",
     .parameters = {"q"},
     .list = "models",
     .columns = {"name", "encoding", "title"}},
    {.name = "resolve",
     .usage = "config.json | FOLDER | model.gguf | MODEL [--format json|text]",
     .summary = "Tell how a model's configuration encodes positions; of a name what the catalogue "
                "has.",
     .ask = pe_ask_resolve,
     .words = {1, 1},
     .flags = ANSWER,
     .formats = json_or_text},
    {.name = "compare",
     .usage = "MODEL | config.json LENGTH [--name value ...] [--format NAME] [-o FILE]",
     .summary = "Hold the scalings for a longer context side by side.",
     .ask = pe_ask_request,
     .words = {2, 2},
     .flags = ANSWER | PE_FLAG_PARAMETERS,
     .path = "/v1/rope/compare",
     .parameters = {"model", "target_length"},
     .outlined = true},
    {.name = "pack list",
     .usage = "[--format text|json]",
     .summary = "List the golden packs.",
     .ask = pe_ask_request,
     .flags = ANSWER,
     .formats = text_or_json,
     .path = "/v1/packs",
     .list = "packs",
     .columns = {"name", "digest", "title"}},
    {.name = "pack make",
     .usage = "NAME[@DIGEST] -o FILE",
     .summary = "Write a golden pack: numbers for the tests of others.",
     .ask = pe_ask_request,
     .words = {1, 1},
     .flags = PE_FLAG_OUTPUT,
     .path = "/v1/packs/"},
    {.name = "pack check",
     .usage = "NAME[@DIGEST] | PACK.safetensors --against FILE",
     .summary = "Hold what others computed against a golden pack, and name the mistake.",
     .ask = pe_ask_pack_check,
     .words = {1, 1},
     .flags = PE_FLAG_OUTPUT | PE_FLAG_AGAINST},
    {.name = "healthcheck",
     .usage = "[--flag value ...]",
     .summary = "Exit with 0 if the server of these settings answers GET /healthz, else with 1.",
     .run = pe_cli_healthcheck},
    {.name = "check-config",
     .usage = "[--flag value ...]",
     .summary = "Check settings, and the files that they name, without starting.",
     .settings = true,
     .run = pe_cli_check_config},
    {.name = "print-config",
     .usage = "[--flag value ...]",
     .summary = "Print every setting with its value, source and bounds, as a valid settings file.",
     .settings = true,
     .run = pe_cli_print_config},
    {.name = "key",
     .usage = "new NAME",
     .summary = "Make a key for a client, and the line of keys_file that lets it in.",
     .run = pe_cli_key},
    {.name = "version", .usage = "", .summary = "Print the version.", .run = run_version},
    {.name = "help",
     .usage = "[COMMAND | ENCODING | --man]",
     .summary = "Explain the program, a command, or an encoding such as rope/table.",
     .run = run_help},
    {.name = "completions",
     .usage = "bash | zsh | fish",
     .summary = "Print the completions of a shell.",
     .run = run_completions},
};

/* The command that the first words are; *words: how many they are. */
static const pe_command *find(int n, char **arguments, int *words)
{
    for (size_t c = 0; c < PE_LEN(commands); c++) {
        const char *space = strchr(commands[c].name, ' ');
        const size_t bytes = strcspn(commands[c].name, " ");
        *words = space != NULL ? 2 : 1;
        if (n >= *words && strncmp(arguments[0], commands[c].name, bytes) == 0 &&
            arguments[0][bytes] == '\0' && (space == NULL || strcmp(arguments[1], space + 1) == 0))
            return &commands[c];
    }
    return NULL;
}

/* What others call a command, and what people take for one. */
static const struct {
    const char *name, *meant;
} meant[] = {
    {"start", "serve"},          {"run", "serve"},
    {"server", "serve"},         {"list", "help"},
    {"encodings", "help table"}, {"config", "print-config"},
    {"health", "healthcheck"},   {"model", "models"},
    {"search", "models"},        {"config.json", "resolve config.json"},
    {"check", "verify"},         {"doctor", "verify"},
    {"diff", "verify"},          {"curl", "get"},
    {"packs", "pack list"},      {"pack", "pack list, pack make or pack check"},
};

static int refuse(const char *what, const char *name)
{
    const char *names[PE_LEN(commands)], *near = NULL;
    pe_problem why;
    for (size_t c = 0; c < PE_LEN(commands); c++)
        names[c] = commands[c].name;
    for (size_t i = 0; i < PE_LEN(meant); i++)
        if (strcmp(meant[i].name, name) == 0)
            near = meant[i].meant;
    (void)pe_arguments_no_name(what, name, near, names, PE_LEN(names), "posenc help", &why);
    return pe_cli_fail("start_failed", &why);
}

/* Says how the program, or a command of it, is called. */
static int misused(const char *expected, const char *got)
{
    pe_problem why;
    (void)pe_fail(&why, PE_INVALID_PARAMETER, "", "%s%.100s", expected, got);
    return pe_cli_fail("start_failed", &why);
}

static int run_version(int n_arguments, char **arguments)
{
    pe_buffer text = {0};
    if (n_arguments > 0)
        return misused("posenc version takes no arguments, got ", arguments[0]);
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
                         "  posenc table sinusoidal --d-model 512 --positions 0:2048 -o pe.npy\n"
                         "  posenc verify cos_sin.npy --config config.json\n"
                         "  posenc help                     all commands and settings\n"
                         "  posenc help table               the encodings\n"
                         "  posenc help rope/table          the parameters of one\n"
                         "\n"
                         "Documentation: README.md, and /docs of a running server.\n");
    const int printed = pe_cli_print(&text);
    return printed == PE_EXIT_OK ? PE_EXIT_USAGE : printed;
}

/* A command; or an encoding, which posenc table has as its first argument. */
static int explain(const pe_command *command, const pe_resource *resource)
{
    pe_buffer text = {0};
    if (resource != NULL) {
        pe_describe_resource(resource, &text);
        return pe_cli_print(&text);
    }
    pe_buffer_format(&text, "posenc %s %s\n\n%s\n\n", command->name, command->usage,
                     command->summary);
    if (command->ask != NULL)
        pe_describe_flags(command->flags, &text);
    if (command->ask == pe_ask_table)
        pe_describe_encodings(&text);
    if (command->settings)
        pe_config_help(&text);
    return pe_cli_print(&text);
}

/* A program that is told to explain itself: to people, or to `man`. */
static int run_help(int n_arguments, char **arguments)
{
    int words;
    pe_buffer text = {0};
    const pe_command *command = find(n_arguments, arguments, &words);
    const pe_resource *resource = n_arguments > 0 ? pe_registry_find(arguments[0]) : NULL;
    if (command != NULL || resource != NULL)
        return explain(command, resource);
    if (n_arguments == 0)
        pe_describe_program(commands, PE_LEN(commands), &text);
    else if (strcmp(arguments[0], "--man") == 0)
        pe_describe_manual(commands, PE_LEN(commands), &text);
    else
        return refuse("command or encoding", arguments[0]);
    return pe_cli_print(&text);
}

static int run_completions(int n_arguments, char **arguments)
{
    pe_buffer text = {0};
    const char *shell = n_arguments == 1 ? arguments[0] : "";
    if (pe_describe_completions(shell, commands, PE_LEN(commands), &text))
        return pe_cli_print(&text);
    return misused("expected: posenc completions bash, zsh or fish", "");
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* `posenc COMMAND ... --help`; of table, the encoding that is named. */
static int run_command(const pe_command *command, int n_arguments, char **arguments)
{
    for (int a = 0; a < n_arguments; a++)
        if (is_help(arguments[a]))
            return explain(command,
                           command->ask == pe_ask_table ? pe_registry_find(arguments[0]) : NULL);
    return command->ask != NULL ? pe_ask(command, n_arguments, arguments)
                                : command->run(n_arguments, arguments);
}

int main(int argc, char **argv)
{
    int words;
    static char table[] = "table";
    const pe_command *command = find(argc - 1, argv + 1, &words);
    if (argc > 1 && command == NULL && pe_registry_find(argv[1]) != NULL) {
        command = find(1, (char *[]){table}, &words); /* an encoding says which command is meant */
        words = 0;
    }
    if (command == NULL || command->run != pe_cli_serve)
        pe_log_set_of_command();
    pe_memory_prepare();
    if (argc < 2)
        return introduce();
    if (is_help(argv[1]))
        return run_help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return run_version(0, NULL);
    if (argv[1][0] == '-')
        return misused("a command comes first: posenc serve ", argv[1]);
    return command == NULL ? refuse("command", argv[1])
                           : run_command(command, argc - 1 - words, argv + 1 + words);
}
