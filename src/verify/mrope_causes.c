/* SPDX-License-Identifier: MIT */
/* mrope_causes.c - pairs of several axes: which positions and sections made them. */
#include "verify/mrope_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/axis_frequencies.h"
#include "verify/findings.h"
#include "verify/mrope_changes.h"

/* How far from the claim a shift is looked for. */
#define FARTHEST 4096

#define RESTARTS "make one ladder of all pairs of the head, then cut it into sections"

/* ---- the claim ---- */

static pe_status make_axes(const pe_comparison *of, pe_mrope_axes *out, pe_problem *why)
{
    const pe_values *values = &of->guess->values;
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const pe_value *sections = pe_values_find(values, "mrope_section");
    const pe_value *interleaved = pe_values_find(values, "mrope_interleaved");
    *out = (pe_mrope_axes){.tokens = of->view->tokens, .moved = nan("")};
    out->at = calloc(PE_AXES * out->tokens, sizeof *out->at);
    if (out->at == NULL)
        return pe_fail_memory(why);
    for (size_t t = 0; t < PE_AXES * out->tokens; t++)
        out->at[t] = pe_positions_at(positions, t);
    for (size_t a = 0; a < PE_AXES; a++)
        out->section[a] = sections->list[a];
    out->interleaved = interleaved != NULL && interleaved->present && interleaved->truth;
    pe_mrope_find_image(out);
    return PE_OK;
}

/* Three axes and their sections. */
static bool has_axes(const pe_comparison *of)
{
    const pe_value *sections = pe_values_find(&of->guess->values, "mrope_section");
    return of->view->axes == PE_AXES && !of->view->width_differs && sections != NULL &&
           sections->present && sections->list_length == PE_AXES && of->view->tokens > 0;
}

/* The claimed axis of a pair, as Qwen2-VL and Qwen3-VL give pairs to axes. */
static size_t claimed_axis(const pe_mrope_axes *x, size_t i)
{
    if (x->interleaved)
        return i % PE_AXES > 0 && (double)i < PE_AXES * x->section[i % PE_AXES] ? i % PE_AXES
                                                                                : (size_t)PE_TIME;
    const double height = x->section[PE_TIME], width = height + x->section[PE_HEIGHT];
    return (double)i < height ? PE_TIME : (double)i < width ? PE_HEIGHT : PE_WIDTH;
}

/* ---- which row of positions it may be ---- */

/* Does the pair turn by about this position, moved as the guess does it? */
static bool is_near(const pe_comparison *of, const pe_expect *expect, size_t token, size_t i,
                    double position)
{
    const pe_distortion *by = &of->guess->distortion;
    const double w = expect->frequency[i], a = expect->amplitude;
    const double angle = w * (by->positions.times * position + by->positions.plus);
    const double slack = a * (0.05 + 0x1p-20 * fabs(angle));
    pe_wave got = pe_upload_view_wave(of->view, &expect->geometry, token, i);
    if (by->exchanged && of->view->rotated)
        got = (pe_wave){got.sine, got.cosine};
    return fabs(got.cosine - pe_guess_cosine_sign(of->guess) * a * cos(angle)) < slack &&
           fabs(got.sine - pe_guess_sine_sign(of->guess) * a * sin(angle)) < slack;
}

/* Do all pairs of the last row? */
static bool is_at(const pe_comparison *of, const pe_expect *expect, double position)
{
    const pe_geometry *g = &expect->geometry;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++)
        if (!is_near(of, expect, of->view->tokens - 1, i, position))
            return false;
    return true;
}

/* The nearest shift first. */
static double find_shift(const pe_comparison *of, const pe_expect *expect, double claimed)
{
    for (int by = 0; by <= 2 * FARTHEST; by++) {
        const int half = by / 2, shift = by % 2 == 0 ? half : -half;
        if (is_at(of, expect, claimed + shift))
            return shift;
    }
    return nan("");
}

/* ---- explaining ---- */

static void set_sections(pe_guess *guess, const pe_mrope_axes *x)
{
    pe_value *interleaved = pe_values_find(&guess->values, "mrope_interleaved");
    pe_value *sections = pe_values_find(&guess->values, "mrope_section");
    memcpy(sections->list, x->section, sizeof x->section);
    if (interleaved == NULL || interleaved->truth == x->interleaved)
        return;
    interleaved->truth = x->interleaved;
    (void)pe_guess_set_choice(&guess->values, "mrope_layout",
                              x->interleaved ? "interleaved" : "sections");
}

/* With the positions and sections of a row. */
static pe_status try_axes(pe_search *s, const pe_mrope_axes *x, pe_guess *guess, pe_try *next,
                          pe_problem *why)
{
    const pe_status status = pe_axes_set_positions(guess, x->at, PE_AXES * x->tokens, why);
    if (status != PE_OK) /* a position beyond the bounds: no such guess */
        return pe_status_is_ours(status) ? status : PE_OK;
    set_sections(guess, x);
    return next(s, guess, why);
}

/* May positions and sections be these? False: some pair turns otherwise at the end, or in the midst
 * of the image. */
static bool may_be(const pe_comparison *of, const pe_expect *expect, const pe_mrope_axes *x)
{
    const pe_geometry *g = &expect->geometry;
    const size_t tokens[] = {x->tokens - 1, (x->first + x->end) / 2, x->end - 1, 0};
    for (size_t k = 0; k < PE_LEN(tokens); k++)
        for (size_t i = 0; i < g->cos_n && i < g->sin_n && tokens[k] < x->tokens; i++)
            if (!is_near(of, expect, tokens[k], i, pe_mrope_axis(x, claimed_axis(x, i))[tokens[k]]))
                return false;
    return true;
}

/* expect: of the guess that rows change; NULL: they are tried unseen. */
static pe_status try_row(pe_search *s, pe_guess *claim, const pe_expect *expect,
                         const pe_mrope_axes *claimed, const pe_mrope_row *by, pe_try *next,
                         pe_problem *why)
{
    pe_mrope_axes x = *claimed;
    pe_guess guess;
    x.at = malloc(PE_AXES * x.tokens * sizeof *x.at);
    if (x.at == NULL)
        return pe_fail_memory(why);
    memcpy(x.at, claimed->at, PE_AXES * x.tokens * sizeof *x.at);
    pe_status status = PE_OK;
    const bool changed = by->change(by, &x);
    if (changed &&
        (expect == NULL || may_be(&(pe_comparison){s->whole, claim, &s->work}, expect, &x))) {
        status = pe_guess_copy(claim, &guess, why);
        if (status == PE_OK) {
            pe_guess_say(&guess, &by->fault, by->fault.remedy);
            pe_guess_format(&guess, by->fault.rule, x.a, x.b);
            status = try_axes(s, &x, &guess, next, why);
            pe_guess_free(&guess);
        }
    }
    free(x.at);
    return status;
}

/* Was all sent, are pairs given to axes as claimed_axis says it, and positions moved along a line? */
static bool is_plain(const pe_comparison *of)
{
    const char *layout = pe_geometry_choice_text(&of->guess->values, "mrope_layout");
    const pe_position_map *map = &of->guess->distortion.positions;
    return of->view->unsent_n == 0 && map->move == NULL && map->round == NULL &&
           (layout[0] == '\0' || strcmp(layout, "sections") == 0 ||
            strcmp(layout, "interleaved") == 0);
}

static pe_status try_each_row(pe_search *s, const pe_comparison *of, const pe_expect *expect,
                              pe_mrope_axes *x, pe_try *next, pe_problem *why)
{
    pe_status status = PE_OK;
    const bool seen = next == pe_attempts_try && is_plain(of);
    if (!pe_mrope_differs(x, x->tokens - 1))
        x->moved = find_shift(of, expect, pe_mrope_axis(x, PE_TIME)[x->tokens - 1]);
    *of->work += pe_upload_view_plan_work(of->view) + 8 * FARTHEST;
    for (size_t r = 0; r < pe_mrope_rows_n && status == PE_OK && !pe_attempts_spent(s); r++)
        if (!pe_mrope_rows[r].bare || !pe_attempts_found(s))
            status = try_row(s, of->guess, seen ? expect : NULL, x, &pe_mrope_rows[r], next, why);
    return status;
}

pe_status pe_mrope_causes_each(pe_search *s, pe_guess *guess, pe_try *next, pe_problem *why)
{
    pe_expect expect;
    pe_mrope_axes claimed;
    const pe_comparison of = {s->whole, guess, &s->work};
    if (!has_axes(&of) || guess->n_faults == PE_FAULTS_MAX)
        return PE_OK;
    pe_status status = pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = make_axes(&of, &claimed, why);
    if (status == PE_OK)
        status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        status = try_each_row(s, &of, &expect, &claimed, next, why);
    free(claimed.at);
    pe_expect_free(&expect);
    return status;
}

/* ---- which axis a pair follows ---- */

/* Does the pair turn by the positions of the axis times w, in all rows? */
static bool turns_by(const pe_comparison *of, const pe_expect *expect, const pe_mrope_axes *x,
                     size_t i, size_t a, double w)
{
    const pe_geometry *g = &expect->geometry;
    const double size = expect->amplitude;
    const double roundoff = pe_upload_view_roundoff(of->view);
    pe_turn_spend(8 * x->tokens);
    *of->work += 2 * x->tokens;
    for (size_t t = 0; t < x->tokens; t++) {
        const pe_wave got = pe_upload_view_wave(of->view, g, t, i);
        const double angle = w * pe_mrope_axis(x, a)[t];
        const pe_wave want = {size * cos(angle), size * sin(angle)};
        const double slack = size * 0x1p-20 * (1 + fabs(angle)), u = 2 * roundoff;
        const bool vectors = of->view->rotated; /* whose roundings mix */
        if (!(fabs(got.cosine - want.cosine) <= slack + u * (vectors ? size : fabs(want.cosine))) ||
            !(fabs(got.sine - want.sine) <= slack + u * (vectors ? size : fabs(want.sine))))
            return false;
    }
    return true;
}

/* Which axes each pair follows, as bits; of the second copies, too: [2][pairs], the first ones again
 * where there is no copy. */
static void read_followed(const pe_comparison *of, pe_expect *expect, const pe_mrope_axes *x,
                          unsigned char *out)
{
    pe_geometry *g = &expect->geometry;
    const pe_geometry first = *g;
    for (size_t i = 0; i < (first.copy > 0 ? 2 : 1) * g->pairs; i++) {
        g->cos_at = first.cos_at + (i < g->pairs ? 0 : g->copy);
        g->sin_at = first.sin_at + (i < g->pairs ? 0 : g->copy);
        const size_t pair = i % g->pairs;
        for (size_t a = 0; a < PE_AXES; a++)
            if (turns_by(of, expect, x, pair, a, expect->frequency[pair]))
                out[i] |= (unsigned char)(1U << a);
    }
    *g = first;
    if (g->copy == 0)
        memcpy(out + g->pairs, out, g->pairs);
}

/* The claimed one or that of the pair before it where several do; PE_AXES: none. */
static size_t axis_of(const pe_mrope_axes *x, unsigned followed, size_t i, size_t before)
{
    const size_t first[] = {claimed_axis(x, i), before};
    for (size_t k = 0; k < PE_LEN(first); k++)
        if (first[k] < PE_AXES && (followed >> first[k] & 1) != 0)
            return first[k];
    for (size_t a = 0; a < PE_AXES; a++)
        if ((followed >> a & 1) != 0)
            return a;
    return PE_AXES;
}

/* "pairs 0 to 31 follow time, ..."; false: too many follow none, or all the claimed one. */
static bool tell_axes(const pe_mrope_axes *x, const unsigned char *followed, size_t pairs,
                      pe_buffer *out)
{
    enum { MOST = 6 };
    static const char *const names[] = {"time", "height", "width", "no axis"};
    size_t first = 0, before = PE_AXES, runs = 0, none = 0, others = 0;
    for (size_t i = 0; i <= pairs; i++) {
        const size_t is = i < pairs ? axis_of(x, followed[i], i, before) : PE_AXES + 1;
        none += is == PE_AXES;
        others += i < pairs && is != claimed_axis(x, i);
        if (i > 0 && is != before && ++runs <= MOST)
            pe_buffer_format(out, "%s %zu to %zu follow %s", runs > 1 ? "," : " pairs", first,
                             i - 1, names[before]);
        first = i == 0 || is != before ? i : first;
        before = is;
    }
    pe_buffer_str(out, runs > MOST ? " and so on, interleaved" : "");
    return others > 0 && none * 2 < pairs;
}

/* Are sections cut once, twice as long, over both copies of the waves? */
static bool is_cut_once(const pe_mrope_axes *x, const unsigned char *followed, size_t pairs)
{
    pe_mrope_axes twice = *x;
    for (size_t a = 0; a < PE_AXES; a++)
        twice.section[a] *= 2;
    for (size_t i = 0; i < 2 * pairs; i++)
        if (x->interleaved || (followed[i] >> claimed_axis(&twice, i) & 1) == 0)
            return false;
    return true;
}

/* Each copy for itself where they differ. */
static bool tell_copies(const pe_mrope_axes *x, const unsigned char *followed, size_t pairs,
                        pe_buffer *out)
{
    bool same = true;
    pe_buffer second = {0};
    for (size_t i = 0; i < pairs; i++)
        same = same && followed[i] == followed[pairs + i];
    if (!same && is_cut_once(x, followed, pairs)) {
        pe_buffer_str(out, "sections of twice the size are cut once over both copies of the "
                           "waves: of one pair they follow different axes");
        return true;
    }
    pe_buffer_str(out, "axes or sections are others:");
    bool others = tell_axes(x, followed, pairs, out);
    pe_buffer_str(&second, "; of the second copies of the waves");
    if (!same && tell_axes(x, followed + pairs, pairs, &second)) {
        pe_buffer_str(out, pe_buffer_text(&second));
        others = true;
    }
    pe_buffer_free(&second);
    return others;
}

/* ---- which sections that is ---- */

static bool follows_sections(const pe_mrope_axes *x, const unsigned char *followed, size_t pairs)
{
    for (size_t i = 0; i < pairs; i++)
        if (((followed[i] & followed[pairs + i]) >> claimed_axis(x, i) & 1) == 0)
            return false;
    return true;
}

/* The first ones of this layout that all pairs follow; those with as many of height and width, as
 * models have them, before others. */
static bool find_sections(pe_mrope_axes *x, const unsigned char *followed, size_t pairs)
{
    enum { FEW = 256 };
    const int last = pairs > FEW ? 1 : 0; /* of too many pairs only those before */
    for (int even = 1; even >= last; even--)
        for (size_t h = 0; h <= pairs; h++)
            for (size_t w = even ? h : 0; h + w <= pairs && (!even || w == h); w++) {
                x->section[PE_TIME] = (double)(pairs - h - w);
                x->section[PE_HEIGHT] = (double)h;
                x->section[PE_WIDTH] = (double)w;
                if (follows_sections(x, followed, pairs))
                    return true;
            }
    return false;
}

static void say_sections(const pe_mrope_axes *x, pe_buffer *out)
{
    pe_buffer_format(out, " %g,%g,%g%s", x->section[PE_TIME], x->section[PE_HEIGHT],
                     x->section[PE_WIDTH], x->interleaved ? " interleaved" : " in blocks");
}

static pe_status try_sections(pe_search *s, const pe_guess *claim, const pe_mrope_axes *claimed,
                              const unsigned char *followed, size_t pairs, pe_problem *why)
{
    static const pe_fault other = {.name = "mrope_sections", .remedy = PE_MROPE_SECTION};
    pe_status status = PE_OK;
    for (int flip = 0; flip < 2 && status == PE_OK && pe_attempts_go_on(s); flip++) {
        pe_guess guess;
        pe_mrope_axes x = *claimed;
        x.interleaved = claimed->interleaved != (flip == 1);
        if (!find_sections(&x, followed, pairs))
            continue;
        status = pe_guess_copy(claim, &guess, why);
        if (status != PE_OK)
            return status;
        pe_guess_say(&guess, &other, other.remedy);
        pe_buffer_str(&guess.rule, "mrope_section was");
        say_sections(&x, &guess.rule);
        pe_buffer_str(&guess.rule, ", not");
        say_sections(claimed, &guess.rule);
        status = try_axes(s, &x, &guess, pe_attempts_try, why);
        pe_guess_free(&guess);
    }
    return status;
}

/* ---- frequencies that begin again ---- */

/* Of pair k in a section of its own: claimed exponents, or those of a ladder as short as that. */
static double section_frequency(const pe_expect *expect, const pe_mrope_axes *x, size_t k, size_t a,
                                bool own)
{
    const double w = expect->frequency[k];
    return own ? pow(w, (double)expect->geometry.pairs / x->section[a]) : w;
}

/* The ladder of a section: the claimed one from its start, its own, or its own as if sections were
 * blocks. */
enum { AS_CLAIMED, OWN, IN_BLOCKS };

/* False: some pair turns otherwise. Of the claimed one pairs may also begin again in the midst of a
 * section. */
static bool read_restarts(const pe_comparison *of, const pe_expect *expect, const pe_mrope_axes *x,
                          size_t own, double *ladder)
{
    const size_t n = own != AS_CLAIMED ? 1 : 3;
    pe_mrope_axes blocks = *x;
    blocks.interleaved = x->interleaved && own != IN_BLOCKS;
    size_t count[PE_AXES] = {0}, next = 0, restarts = 0;
    for (size_t i = 0; i < expect->geometry.pairs; i++) {
        const size_t a = claimed_axis(x, i), in = claimed_axis(&blocks, i);
        const size_t choices[] = {count[in]++, next, 0};
        size_t c = 0;
        do
            ladder[i] = section_frequency(expect, x, choices[c], in, own != AS_CLAIMED);
        while (!turns_by(of, expect, x, i, a, ladder[i]) && ++c < n);
        if (c == n || !(ladder[i] > 0 && expect->frequency[i] > 0))
            return false;
        restarts += choices[c] < i;
        next = choices[c] + 1;
    }
    return restarts > 0;
}

/* With freq_factors that turn the claimed frequencies into these, which it frees. */
static pe_status try_ladder(pe_search *s, const pe_guess *claim, const pe_fault *fault,
                            const pe_expect *expect, double *ladder, pe_problem *why)
{
    pe_guess guess;
    pe_status status = pe_guess_copy(claim, &guess, why);
    if (status != PE_OK) {
        free(ladder);
        return status;
    }
    pe_value *factors = pe_values_find(&guess.values, "freq_factors");
    for (size_t i = 0; i < expect->geometry.pairs; i++)
        ladder[i] = expect->frequency[i] / ladder[i];
    factors->list = ladder;
    factors->list_length = expect->geometry.pairs;
    factors->present = true;
    guess.distortion.values_inexact = true;
    pe_guess_say(&guess, fault, fault->remedy);
    pe_guess_format(&guess, fault->rule, 0, 0);
    status = pe_attempts_try(s, &guess, why);
    pe_guess_free(&guess);
    return status;
}

static pe_status try_restarts(pe_search *s, pe_guess *claim, const pe_expect *expect,
                              const pe_mrope_axes *x, pe_problem *why)
{
    static const pe_fault faults[] = {
        {.name = "mrope_ladder_restarts",
         .rule = "frequencies restart in each section: its pairs count from 0",
         .remedy = RESTARTS},
        {.name = "mrope_ladder_restarts",
         .rule = "frequencies restart in each section: it has a ladder of its own, whose exponents "
                 "are divided by the size of the section",
         .remedy = RESTARTS},
        {.name = "mrope_ladder_restarts",
         .rule = "frequencies restart in blocks as long as the sections, each a ladder of its own, "
                 "whose exponents are divided by its size; pairs interleave all the same",
         .remedy = RESTARTS},
    };
    const pe_comparison of = {s->whole, claim, &s->work};
    const pe_value *factors = pe_values_find(&claim->values, "freq_factors");
    pe_status status = PE_OK;
    if (factors == NULL || factors->present)
        return PE_OK;
    for (size_t own = 0; own < PE_LEN(faults) - !x->interleaved && status == PE_OK; own++) {
        double *ladder = calloc(expect->geometry.pairs, sizeof *ladder);
        if (ladder == NULL)
            return pe_fail_memory(why);
        if (read_restarts(&of, expect, x, own, ladder))
            status = try_ladder(s, claim, &faults[own], expect, ladder, why);
        else
            free(ladder);
    }
    return status;
}

/* As sections that explain the upload; or bare. */
static pe_status use_followed(pe_search *s, pe_guess *guess, pe_expect *expect,
                              const pe_mrope_axes *x, bool bare, pe_problem *why)
{
    static const pe_fault others = {.name = "mrope_sections",
                                    .remedy = PE_MROPE_SECTION "; " PE_MROPE_ORDER};
    const pe_comparison of = {s->whole, guess, &s->work};
    pe_buffer rule = {0};
    const size_t pairs = expect->geometry.pairs;
    unsigned char *followed = calloc(2 * pairs + 1, 1);
    if (followed == NULL)
        return pe_fail_memory(why);
    read_followed(&of, expect, x, followed);
    pe_status status = PE_OK;
    if (!bare)
        status = try_sections(s, guess, x, followed, pairs, why);
    else if (tell_copies(x, followed, pairs, &rule))
        status = pe_findings_tell(s->report, guess,
                                  &(pe_told){&others, pe_buffer_text(&rule), .fitted = true}, why,
                                  "each pair was held against the claimed positions of each axis");
    pe_buffer_free(&rule);
    free(followed);
    return status;
}

static pe_status measure_axes(pe_search *s, pe_guess *guess, bool bare, pe_problem *why)
{
    pe_mrope_axes x;
    pe_expect expect;
    const pe_comparison of = {s->whole, guess, &s->work};
    pe_status status = pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = make_axes(&of, &x, why);
    if (status == PE_OK)
        status = pe_expect_probe(&expect, why);
    if (status == PE_OK && !bare)
        status = try_restarts(s, guess, &expect, &x, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = use_followed(s, guess, &expect, &x, bare, why);
    free(x.at);
    pe_expect_free(&expect);
    return status;
}

static pe_status try_rows(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = pe_mrope_causes_each(s, guess, pe_attempts_try, why);
    return status == PE_OK && pe_attempts_go_on(s) ? measure_axes(s, guess, false, why) : status;
}

static pe_status tell_bare(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return measure_axes(s, guess, true, why);
}

static pe_status try_whole(pe_search *s, pe_guess *guess, pe_try *next, pe_problem *why)
{
    const pe_upload_view *view = s->view;
    if (!has_axes(&(pe_comparison){s->whole, guess, &s->work}))
        return PE_OK;
    s->view = s->whole;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = next(s, guess, why);
    s->view = view;
    return status;
}

pe_status pe_mrope_causes_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_whole(s, guess, try_rows, why);
}

pe_status pe_mrope_causes_measure(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_whole(s, guess, tell_bare, why);
}
