/* SPDX-License-Identifier: MIT */
/* describe.c - what the program says of itself: help, the manual page, completions of shells. */
#include "cli/ask.h"

#include <stdio.h>
#include <string.h>

#include "encodings/registry.h"
#include "formats/format.h"
#include "version.h"

static const char title[] = "exact positional encodings, over HTTP or into a file";

static const char statuses[] =
    "Exit status of commands that ask: 0 right, 1 different, 2 wrong use, 3 a file that cannot be "
    "read or written.";

/* ---- help ---- */

void pe_describe_flags(unsigned flags, pe_buffer *out)
{
    for (const pe_flag_row *flag = pe_flags; flag->name != NULL; flag++)
        if ((flags & flag->flag) != 0)
            pe_buffer_format(out, "  --%-8s %-6s %s\n", flag->name, flag->value, flag->help);
    if ((flags & PE_FLAG_PARAMETERS) != 0)
        pe_buffer_str(out, "  --NAME     VALUE  A parameter, by the name that the server has.\n");
    pe_buffer_format(out,
                     "  --settings FILE   Settings of the server; each is a flag, too.\n\n%s\n\n",
                     statuses);
}

void pe_describe_encodings(pe_buffer *out)
{
    pe_buffer_str(out, "Encodings:\n");
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        pe_buffer_format(out, "  %-24s %s%s\n", pe_registry[r]->name, pe_registry[r]->summary,
                         pe_registry[r]->kind == PE_TRANSFORM ? " (needs --body)" : "");
    pe_buffer_str(out, "\nposenc table ENCODING --help lists its parameters.\n");
}

void pe_describe_resource(const pe_resource *resource, pe_buffer *out)
{
    pe_buffer_format(out, "posenc table %s [--name value ...] -o FILE\n\n%s\n\n  %s\n  %s\n\n",
                     resource->name, resource->summary, resource->formula, resource->source);
    const pe_param *param;
    for (size_t p = 0; (param = pe_params_at(resource->param_sets, p)) != NULL; p++) {
        if (param->kind == PE_KIND_TENSOR)
            continue;
        pe_buffer_format(out, "  --%-24s %s%s", param->name, param->help,
                         param->required ? " Required." : "");
        const bool one = param->kind == PE_KIND_CHOICE, some = param->kind == PE_KIND_CHOICES;
        for (size_t c = 0; (one || some) && param->choices[c] != NULL; c++)
            pe_buffer_format(out, "%s%s",
                             c != 0 ? ", "
                             : one  ? " One of: "
                                    : " Some of: ",
                             param->choices[c]);
        pe_buffer_str(out, "\n");
    }
    pe_buffer_str(out, "  --tensor                   Which tensor, where the format holds one.\n"
                       "  --encoding_format          float or base64 (JSON).\n"
                       "  --view, --theme, --width, --height   of figures (SVG, PNG).\n"
                       "  --format                   ");
    for (size_t f = 0; pe_formats[f] != NULL; f++)
        pe_buffer_format(out, "%s%s", f == 0 ? "" : ", ", pe_formats[f]->name);
    pe_buffer_str(out, "; default by FILE's extension.\n");
}

void pe_describe_program(const pe_command *commands, size_t n, pe_buffer *out)
{
    pe_buffer_format(out, "posenc - %s.\n\n", title);
    for (size_t c = 0; c < n; c++)
        pe_buffer_format(out, "  posenc %-13s %s\n", commands[c].name, commands[c].summary);
    pe_buffer_str(
        out,
        "\nSettings. Each is a flag, a variable POSENC_NAME and a key of the settings file:\n\n");
    pe_config_help(out);
    pe_buffer_format(out,
                     "\n%s\n\nExamples:\n\n"
                     "  posenc serve --port 8080\n"
                     "  posenc table sinusoidal --d-model 512 --positions 0:2048 -o pe.npy\n"
                     "  posenc verify model.gguf --config config.json\n"
                     "  posenc help table\n",
                     statuses);
}

/* ---- the manual page ---- */

/* Lines of help, whose leading spaces and dots man would take for its own. */
static void put_verbatim(pe_buffer *text, pe_buffer *out)
{
    pe_buffer_str(out, ".nf\n");
    for (pe_slice left = pe_slice_of(pe_buffer_text(text)); left.bytes > 0;) {
        const pe_slice line = pe_slice_next(&left, '\n');
        pe_buffer_str(out, "\\&");
        for (size_t i = 0; i < line.bytes; i++)
            pe_buffer_format(out,
                             line.text[i] == '\\'  ? "\\e"
                             : line.text[i] == '-' ? "\\-"
                                                   : "%c",
                             line.text[i]);
        pe_buffer_str(out, "\n");
    }
    pe_buffer_str(out, ".fi\n");
    pe_buffer_free(text);
}

void pe_describe_manual(const pe_command *commands, size_t n, pe_buffer *out)
{
    pe_buffer text = {0};
    pe_buffer_format(out,
                     ".TH POSENC 1 \"\" \"posenc " PE_VERSION "\"\n.SH NAME\nposenc \\- %s\n"
                     ".SH SYNOPSIS\n.B posenc\nCOMMAND [ARGUMENTS]\n.SH COMMANDS\n",
                     title);
    for (size_t c = 0; c < n; c++)
        pe_buffer_format(out, ".TP\n.B posenc %s \\fR%s\n%s\n", commands[c].name, commands[c].usage,
                         commands[c].summary);
    pe_buffer_str(out, ".SH FLAGS OF COMMANDS\n");
    pe_describe_flags(~0U, &text);
    put_verbatim(&text, out);
    pe_buffer_str(out, ".SH SETTINGS\nEach is a flag, a variable POSENC_NAME and a key of the "
                       "settings file.\n");
    pe_config_help(&text);
    put_verbatim(&text, out);
    pe_buffer_str(out, ".SH ENCODINGS\n");
    pe_describe_encodings(&text);
    put_verbatim(&text, out);
}

/* ---- completions ---- */

/* The first words of commands, and the second ones of those that have two. */
static void put_names(const pe_command *commands, size_t n, bool second, pe_buffer *out)
{
    const char *before = "";
    for (size_t c = 0; c < n; c++) {
        const size_t bytes = strcspn(commands[c].name, " ");
        const bool has_second = commands[c].name[bytes] != '\0';
        const bool repeated = strncmp(before, commands[c].name, bytes + 1) == 0;
        before = commands[c].name;
        if (second && has_second)
            pe_buffer_format(out, " %s", commands[c].name + bytes + 1);
        else if (!second && !repeated)
            pe_buffer_format(out, " %.*s", (int)bytes, commands[c].name);
    }
}

/* zsh reads bash's. It loads the file when a completion is first asked for, and wants that one, too. */
static const char zsh_begin[] = "#compdef posenc\nautoload -U +X bashcompinit && bashcompinit\n";
static const char zsh_end[] =
    "if [ \"${funcstack[1]}\" = _posenc ]; then _bash_complete -o default -F _posenc; fi\n";

/* %1: commands, %2: second words of pack, %3: encodings, %4: flags. */
static const char bash[] = "_posenc()\n{\n"
                           "    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
                           "    case ${COMP_CWORD}:${COMP_WORDS[1]}:$word in\n"
                           "    1:*) words='%s' ;;\n"
                           "    2:pack:*) words='%s' ;;\n"
                           "    2:table:[!-]*|2:table:|2:help:*) words='%s' ;;\n"
                           "    *:*:-*) words='%s' ;;\n"
                           "    esac\n"
                           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                           "}\n"
                           "complete -o default -F _posenc posenc\n";

static const char fish[] =
    "complete -c posenc -n __fish_use_subcommand -f -a '%s'\n"
    "complete -c posenc -n '__fish_seen_subcommand_from pack' -f -a '%s'\n"
    "complete -c posenc -n '__fish_seen_subcommand_from table help' -a '%s'\n"
    "for flag in %s\n"
    "    complete -c posenc -n 'not __fish_use_subcommand' -l (string sub -s 3 -- $flag)\n"
    "end\n";

bool pe_describe_completions(const char *shell, const pe_command *commands, size_t n,
                             pe_buffer *out)
{
    enum { NAMES, SECONDS, ENCODINGS, FLAGS, LISTS };
    pe_buffer lists[LISTS] = {{0}}, help = {0};
    const char *of[LISTS];
    const bool zsh = strcmp(shell, "zsh") == 0, of_fish = strcmp(shell, "fish") == 0;
    if (!zsh && !of_fish && strcmp(shell, "bash") != 0)
        return false;
    put_names(commands, n, false, &lists[NAMES]);
    put_names(commands, n, true, &lists[SECONDS]);
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        pe_buffer_format(&lists[ENCODINGS], " %s", pe_registry[r]->name);
    for (const pe_flag_row *flag = pe_flags; flag->name != NULL; flag++)
        pe_buffer_format(&lists[FLAGS], " --%s", flag->name);
    pe_config_help(&help);
    for (pe_slice left = pe_buffer_slice(&help); left.bytes > 0;) {
        const pe_slice line = pe_slice_next(&left, '\n');
        pe_buffer_format(&lists[FLAGS], " %.*s", (int)strcspn(line.text + 2, " \n"), line.text + 2);
    }
    for (size_t i = 0; i < LISTS; i++)
        of[i] = pe_buffer_text(&lists[i]) + 1;
    pe_buffer_str(out, zsh ? zsh_begin : "");
    pe_buffer_format(out, of_fish ? fish : bash, of[NAMES], of[SECONDS], of[ENCODINGS], of[FLAGS]);
    pe_buffer_str(out, zsh ? zsh_end : "");
    for (size_t i = 0; i < LISTS; i++)
        pe_buffer_free(&lists[i]);
    pe_buffer_free(&help);
    return true;
}
