/* SPDX-License-Identifier: MIT */
/* mrope_changes.c - what may have become of the positions and sections of several axes. */
#include "verify/mrope_changes.h"

#include <math.h>

double *pe_mrope_axis(const pe_mrope_axes *x, size_t a)
{
    return x->at + a * x->tokens;
}

bool pe_mrope_differs(const pe_mrope_axes *x, size_t t)
{
    return pe_mrope_axis(x, PE_TIME)[t] != pe_mrope_axis(x, PE_HEIGHT)[t] ||
           pe_mrope_axis(x, PE_TIME)[t] != pe_mrope_axis(x, PE_WIDTH)[t];
}

void pe_mrope_find_image(pe_mrope_axes *x)
{
    size_t t = 0;
    while (t < x->tokens && !pe_mrope_differs(x, t))
        t++;
    x->first = t > 0 && t < x->tokens ? t - 1 : t;
    x->end = x->first;
    for (; t < x->tokens; t++)
        x->end = pe_mrope_differs(x, t) ? t + 1 : x->end;
}

/* ---- what rows change ---- */

static bool take_axes(const pe_mrope_row *of, pe_mrope_axes *x, size_t first, size_t end)
{
    for (size_t t = first; t < end; t++) {
        const double was[] = {pe_mrope_axis(x, PE_TIME)[t], pe_mrope_axis(x, PE_HEIGHT)[t],
                              pe_mrope_axis(x, PE_WIDTH)[t]};
        for (size_t a = 0; a < PE_AXES; a++)
            pe_mrope_axis(x, a)[t] = was[of->from[a]];
    }
    return end > first;
}

static bool change_axes(const pe_mrope_row *of, pe_mrope_axes *x)
{
    return take_axes(of, x, 0, x->tokens);
}

static bool change_image(const pe_mrope_row *of, pe_mrope_axes *x)
{
    return take_axes(of, x, x->first, x->end);
}

/* The largest position of tokens. */
static double largest(const pe_mrope_axes *x, size_t first, size_t end)
{
    double most = -HUGE_VAL;
    for (size_t a = 0; a < PE_AXES; a++)
        for (size_t t = first; t < end; t++)
            most = fmax(most, pe_mrope_axis(x, a)[t]);
    return most;
}

/* The first image from a token on. Patches of a video may have one position on all axes, too; that
 * of text is beyond those before it. */
static bool find_image_from(pe_mrope_axes *x, size_t t)
{
    const size_t from = t;
    while (t < x->tokens && !pe_mrope_differs(x, t))
        t++;
    x->first = x->end = t > from ? t - 1 : t;
    for (double most = HUGE_VAL; x->end < x->tokens && (pe_mrope_differs(x, x->end) ||
                                                        pe_mrope_axis(x, PE_TIME)[x->end] <= most);
         x->end++) {
        const double here = largest(x, x->end, x->end + 1);
        most = x->end == x->first ? here : fmax(most, here);
    }
    return t < x->tokens;
}

/* Each image may move all tokens behind it. */
#define MOST_IMAGES 64

static bool change_images(const pe_mrope_row *of, pe_mrope_axes *x)
{
    bool changed = false;
    size_t n = 0;
    double a = 0, b = 0; /* of the first one */
    for (size_t t = 0; find_image_from(x, t); t = x->end) {
        if (n++ == MOST_IMAGES)
            return false;
        const bool here = of->image(of, x);
        a = here && !changed ? x->a : a;
        b = here && !changed ? x->b : b;
        changed |= here;
    }
    x->a = a;
    x->b = b;
    return changed;
}

static bool count_tokens(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const double first = pe_mrope_axis(x, PE_TIME)[0];
    (void)of;
    for (size_t t = 0; t < PE_AXES * x->tokens; t++)
        x->at[t] = first + (double)(t % x->tokens);
    return true;
}

/* from[0] is 1 where pairs become interleaved, 0 where sections become blocks. */
static bool lay_out(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const bool is = x->interleaved;
    x->interleaved = of->from[0] != 0;
    return x->interleaved != is;
}

static bool take_thirds(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const double pairs = x->section[PE_TIME] + x->section[PE_HEIGHT] + x->section[PE_WIDTH];
    (void)of;
    x->section[PE_HEIGHT] = x->section[PE_WIDTH] = floor(pairs / 3);
    x->a = x->section[PE_TIME] = pairs - 2 * x->section[PE_WIDTH];
    x->b = x->section[PE_WIDTH];
    return x->b > 0;
}

static bool move_sections(const pe_mrope_row *of, pe_mrope_axes *x)
{
    x->section[PE_TIME] += of->by;
    x->section[PE_WIDTH] -= of->by;
    return x->section[PE_TIME] > 0 && x->section[PE_WIDTH] > 0;
}

static bool order_sections(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const double was[] = {x->section[PE_TIME], x->section[PE_HEIGHT], x->section[PE_WIDTH]};
    for (size_t a = 0; a < PE_AXES; a++)
        x->section[a] = was[of->from[a]];
    x->a = x->section[PE_TIME];
    x->b = x->section[PE_HEIGHT];
    return true;
}

static void add(pe_mrope_axes *x, size_t first, size_t end, double plus)
{
    for (size_t a = 0; a < PE_AXES; a++)
        for (size_t t = first; t < end; t++)
            pe_mrope_axis(x, a)[t] += plus;
}

static bool shift_all(const pe_mrope_row *of, pe_mrope_axes *x)
{
    (void)of;
    x->a = x->moved;
    add(x, 0, x->tokens, x->a);
    return isfinite(x->a) && x->a != 0;
}

static bool shift_after(const pe_mrope_row *of, pe_mrope_axes *x)
{
    (void)of;
    x->a = x->moved;
    x->b = (double)x->end;
    add(x, x->end, x->tokens, x->a);
    return isfinite(x->a) && x->a != 0 && x->end > x->first && x->end < x->tokens;
}

static bool shift_axis(const pe_mrope_row *of, pe_mrope_axes *x)
{
    x->a = of->by;
    for (size_t t = 0; t < x->tokens; t++)
        pe_mrope_axis(x, of->axis)[t] += x->a;
    return true;
}

/* axis: the first one that is not moved. by: how many axes at the end are. */
static bool hold_image(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const double start = pe_mrope_axis(x, PE_TIME)[x->first];
    x->a = start;
    x->b = (double)x->first;
    for (size_t a = of->axis; a < PE_AXES - (size_t)of->by; a++)
        for (size_t t = x->first; t < x->end; t++)
            pe_mrope_axis(x, a)[t] -= start;
    return x->end > x->first && start != 0;
}

/* Patches of which each has the position of the first. */
static bool stay_in_image(const pe_mrope_row *of, pe_mrope_axes *x)
{
    (void)of;
    x->a = (double)x->first;
    x->b = (double)x->end - 1;
    for (size_t k = 0; k < PE_AXES; k++)
        for (size_t t = x->first; t < x->end; t++)
            pe_mrope_axis(x, k)[t] = pe_mrope_axis(x, k)[x->first];
    return x->end > x->first;
}

/* Text after the image begins anew at 0. */
static bool restart_after(const pe_mrope_row *of, pe_mrope_axes *x)
{
    (void)of;
    x->a = (double)x->end;
    x->b = 0;
    for (size_t k = 0; k < PE_AXES; k++)
        for (size_t t = x->end; t < x->tokens; t++)
            pe_mrope_axis(x, k)[t] = (double)(t - x->end);
    return x->end > x->first && x->end < x->tokens;
}

/* Text goes on at the number of patches, where it was uploaded, or one less. */
enum { AT_NUMBER, AT_UPLOADED, ONE_LESS };

static bool move_text(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const double *time = pe_mrope_axis(x, PE_TIME);
    if (x->end == x->tokens || x->end == x->first || (of->by == AT_UPLOADED && x->got == NULL))
        return false;
    x->a = of->by == AT_NUMBER     ? time[x->first] + (double)(x->end - x->first) - time[x->end]
           : of->by == AT_UPLOADED ? x->got[x->end] - time[x->end]
                                   : -1;
    x->b = (double)x->end;
    add(x, x->end, x->tokens, x->a);
    return x->a != 0;
}

/* Text goes on behind it, too (by), or stays. */
static bool double_image(const pe_mrope_row *of, pe_mrope_axes *x)
{
    const double start = pe_mrope_axis(x, PE_TIME)[x->first], was = largest(x, x->first, x->end);
    x->a = (double)x->first;
    x->b = (double)x->end - 1;
    for (size_t k = PE_HEIGHT; k < PE_AXES; k++)
        for (size_t t = x->first; t < x->end; t++)
            pe_mrope_axis(x, k)[t] = start + 2 * (pe_mrope_axis(x, k)[t] - start);
    add(x, x->end, x->tokens, of->by * (largest(x, x->first, x->end) - was));
    return x->end > x->first;
}

/* Sides of the grid that the image has. False: it is none. */
static bool read_grid(const pe_mrope_axes *x, size_t *height, size_t *width)
{
    double least[PE_AXES], most[PE_AXES];
    for (size_t a = 0; a < PE_AXES; a++) {
        least[a] = most[a] = pe_mrope_axis(x, a)[x->first];
        for (size_t t = x->first; t < x->end; t++) {
            least[a] = fmin(least[a], pe_mrope_axis(x, a)[t]);
            most[a] = fmax(most[a], pe_mrope_axis(x, a)[t]);
        }
    }
    const size_t patches = x->end - x->first;
    for (size_t a = PE_HEIGHT; a <= PE_WIDTH; a++)
        if (!(most[a] - least[a] < (double)patches))
            return false;
    *height = (size_t)(most[PE_HEIGHT] - least[PE_HEIGHT]) + 1;
    *width = (size_t)(most[PE_WIDTH] - least[PE_WIDTH]) + 1;
    return *height <= patches / *width && patches % (*height * *width) == 0;
}

/* Patches go down the columns. */
static bool turn_image(const pe_mrope_row *of, pe_mrope_axes *x)
{
    size_t height, width;
    const double start = pe_mrope_axis(x, PE_HEIGHT)[x->first];
    const double left = pe_mrope_axis(x, PE_WIDTH)[x->first];
    (void)of;
    if (!read_grid(x, &height, &width))
        return false;
    for (size_t t = x->first; t < x->end; t++) {
        const size_t at = (t - x->first) % (height * width), column = at / height;
        pe_mrope_axis(x, PE_HEIGHT)[t] = start + (double)(at % height);
        pe_mrope_axis(x, PE_WIDTH)[t] = left + (double)column;
    }
    return height > 1 && width > 1;
}

/* Frames of a video have other times, and text after it follows its largest position. */
enum { FIRST_TIME, FRAME_NUMBERS, ROUNDED_SECONDS, UPLOADED_TIMES };

/* Does one speed give the claimed times where it is cut, and those of the upload where it is
 * rounded? Numbers of frames need no rounding. */
static bool is_rounded(const pe_mrope_axes *x, size_t patches)
{
    const double *time = pe_mrope_axis(x, PE_TIME) + x->first, *got = x->got + x->first;
    double least = 0, most = HUGE_VAL;
    bool counted = true;
    for (size_t t = patches; t < x->end - x->first; t++) {
        const size_t of = t / patches;
        const double frame = (double)of, to = got[t] - got[0];
        counted = counted && time[t] - time[0] == frame;
        least = fmax(least, fmax(time[t] - time[0], to - 0.5) / frame);
        most = fmin(most, fmin(time[t] - time[0] + 1, to + 0.5) / frame);
    }
    return !counted && least <= most;
}

static bool change_times(const pe_mrope_row *of, pe_mrope_axes *x)
{
    size_t height = 1, width = 1;
    double *time = pe_mrope_axis(x, PE_TIME);
    const double was = largest(x, x->first, x->end), start = time[x->first];
    bool changed = false;
    const bool counted = of->by == FRAME_NUMBERS || of->by == ROUNDED_SECONDS;
    if ((of->by >= ROUNDED_SECONDS && x->got == NULL) ||
        (counted && !read_grid(x, &height, &width)) ||
        (of->by == ROUNDED_SECONDS && !is_rounded(x, height * width)))
        return false;
    for (size_t t = x->first; t < x->end; t++) {
        const size_t frame = (t - x->first) / (height * width);
        const double to = of->by == FIRST_TIME      ? start
                          : of->by == FRAME_NUMBERS ? start + (double)frame
                                                    : x->got[t] - x->got[x->first] + start;
        if (to != time[t] && !changed) {
            changed = true;
            x->a = to - start;
            x->b = time[t] - start;
        }
        time[t] = to;
    }
    add(x, x->end, x->tokens, largest(x, x->first, x->end) - was);
    return changed;
}

static bool hold_padding(const pe_mrope_row *of, pe_mrope_axes *x)
{
    (void)of;
    if (x->got == NULL || x->padding == 0)
        return false;
    x->a = x->got[0];
    x->b = x->at[0];
    add(x, 0, x->padding, x->a - x->b);
    return x->a != x->b;
}

static bool count_padding(const pe_mrope_row *of, pe_mrope_axes *x)
{
    (void)of;
    x->a = (double)x->padding;
    for (size_t k = 0; k < PE_AXES; k++)
        for (size_t t = 0; t < x->padding; t++)
            pe_mrope_axis(x, k)[t] = (double)t;
    add(x, x->padding, x->tokens, x->a);
    return x->padding > 0;
}

#define TIMES "take floor(frame * second_per_grid_ts * tokens_per_second)"

const pe_mrope_row pe_mrope_rows[] = {
    PE_ROW("mrope_axes_exchanged", "the axes of height and width are exchanged", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_TIME, PE_WIDTH, PE_HEIGHT}),
    PE_ROW("mrope_axes_exchanged",
           "the axes of time and width are exchanged: sections stand in reverse order",
           PE_MROPE_ORDER, .change = change_axes, .from = {PE_WIDTH, PE_HEIGHT, PE_TIME}),
    PE_ROW("mrope_axes_exchanged", "the axes of time and height are exchanged", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_HEIGHT, PE_TIME, PE_WIDTH}),
    PE_ROW("mrope_one_axis", "all sections have the positions of one axis, time", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_TIME, PE_TIME, PE_TIME}),
    PE_ROW("mrope_one_axis", "all sections have the positions of one axis, height", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_HEIGHT, PE_HEIGHT, PE_HEIGHT}),
    PE_ROW("mrope_one_axis", "all sections have the positions of one axis, width", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_WIDTH, PE_WIDTH, PE_WIDTH}),
    PE_ROW("mrope_text_positions", "all axes have plain consecutive positions, as text has",
           "pass the position_ids of the three axes", .change = count_tokens),
    PE_ROW("mrope_interleaved", "pairs of the axes were interleaved, not in blocks (sections)",
           "set mrope_interleaved as claimed", .change = lay_out, .from = {1}),
    PE_ROW("mrope_interleaved", "pairs of the axes were in blocks (sections), not interleaved",
           "set mrope_interleaved as claimed", .change = lay_out, .from = {0}),
    PE_ROW("mrope_sections",
           "sections were equal thirds: {a} pairs of time, {b} of height and width",
           PE_MROPE_SECTION, .change = take_thirds),
    PE_ROW("mrope_sections",
           "sizes of sections are in another order: {a} pairs of time, {b} of height",
           PE_MROPE_SECTION, .change = order_sections, .from = {PE_HEIGHT, PE_WIDTH, PE_TIME}),
    PE_ROW("mrope_sections",
           "sizes of sections are in another order: {a} pairs of time, {b} of height",
           PE_MROPE_SECTION, .change = order_sections, .from = {PE_WIDTH, PE_TIME, PE_HEIGHT}),
    PE_ROW("mrope_sections", "sections begin one pair later: that of time has one pair more",
           PE_MROPE_SECTION, .change = move_sections, .by = 1),
    PE_ROW("mrope_sections", "sections begin one pair earlier: that of time has one pair fewer",
           PE_MROPE_SECTION, .change = move_sections, .by = -1),
    PE_ROW("mrope_image_axes",
           "patches of the image are in columns: height and width are exchanged", PE_MROPE_IMAGE,
           .change = change_images, .image = change_image, .from = {PE_TIME, PE_WIDTH, PE_HEIGHT}),
    PE_ROW("mrope_image_time",
           "the image's time runs with its rows: its axis has those of the height", PE_MROPE_IMAGE,
           .change = change_images, .image = change_image,
           .from = {PE_HEIGHT, PE_HEIGHT, PE_WIDTH}),
    PE_ROW("mrope_image_start",
           "the image is not moved behind the text: from row {b} on patches are shifted by -{a}",
           PE_MROPE_IMAGE, .change = change_images, .image = hold_image),
    PE_ROW("mrope_image_start",
           "height and width of the image count from 0, not behind the text: from row {b} on they "
           "are shifted by -{a}",
           PE_MROPE_IMAGE, .change = change_images, .image = hold_image, .axis = PE_HEIGHT),
    PE_ROW("mrope_image_start",
           "the time of the image counts from 0, not behind the text: from row {b} on it is "
           "shifted by -{a}",
           PE_MROPE_IMAGE, .change = change_images, .image = hold_image, .by = 2),
    PE_ROW("mrope_image_stride",
           "patches of rows {a} to {b}, the image, have a stride of 2: their merge was ignored",
           "divide grid_thw by spatial_merge_size", .change = change_images, .image = double_image),
    PE_ROW("mrope_image_stride",
           "patches of rows {a} to {b}, the image, have a stride of 2, and text goes on behind "
           "them: their merge was ignored",
           "divide grid_thw by spatial_merge_size", .change = change_images, .image = double_image,
           .by = 1),
    PE_ROW("mrope_image_place",
           "rows {a} to {b}, the image, have one position: all patches are stuck", PE_MROPE_IMAGE,
           .change = change_images, .image = stay_in_image),
    PE_ROW("mrope_image_columns",
           "patches of the image are in the order of columns: they go down, not along rows",
           PE_MROPE_IMAGE, .change = change_images, .image = turn_image),
    PE_ROW("mrope_image_time", "all frames of the video have the time of the first",
           "let the time of frames grow (tokens_per_second, second_per_grid_ts)",
           .change = change_images, .image = change_times, .by = FIRST_TIME),
    PE_ROW("mrope_image_time",
           "frames of the video are counted 0, 1, 2, ...: tokens_per_second and "
           "second_per_grid_ts were ignored",
           TIMES, .change = change_images, .image = change_times, .by = FRAME_NUMBERS),
    PE_ROW("mrope_image_time",
           "times of frames were rounded, not cut (floor): the first that differs is {a} behind "
           "its start, not {b}",
           TIMES, .change = change_images, .image = change_times, .by = ROUNDED_SECONDS),
    PE_ROW("mrope_image_time",
           "frames of the video have other times: the first that differs is {a} behind its start, "
           "not {b}",
           TIMES, .change = change_images, .image = change_times, .by = UPLOADED_TIMES,
           .bare = true),
    PE_ROW("mrope_padding", "padding on the left is at {a}, not at {b}",
           "give padding the claimed position, and mask it", .change = hold_padding),
    PE_ROW("mrope_padding",
           "padding on the left counts as text: all tokens behind it are shifted by {a}",
           "count positions from the attention mask", .change = count_padding),
    PE_ROW("mrope_text_after",
           "text after the image, from row {a} on, begins anew at {b}: it restarts",
           PE_MROPE_BEHIND, .change = restart_after),
    PE_ROW("mrope_axes_exchanged",
           "the axes are in the order height, width, time: sections are turned by one",
           PE_MROPE_ORDER, .change = change_axes, .from = {PE_HEIGHT, PE_WIDTH, PE_TIME}),
    PE_ROW("mrope_axes_exchanged",
           "the axes are in the order width, time, height: sections are turned by one",
           PE_MROPE_ORDER, .change = change_axes, .from = {PE_WIDTH, PE_TIME, PE_HEIGHT}),
    PE_ROW("mrope_one_axis", "the axis of width has the positions of the height", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_TIME, PE_HEIGHT, PE_HEIGHT}),
    PE_ROW("mrope_one_axis", "the axis of height has the positions of the width", PE_MROPE_ORDER,
           .change = change_axes, .from = {PE_TIME, PE_WIDTH, PE_WIDTH}),
    PE_ROW("mrope_text_after",
           "text after an image counts its patches: positions go on at their number, shifted by "
           "{a} from row {b} on",
           PE_MROPE_BEHIND, .change = change_images, .image = move_text, .by = AT_NUMBER),
    PE_ROW("mrope_text_after",
           "text after an image begins at its largest position again: plus 1 is missing, from row "
           "{b} on",
           PE_MROPE_BEHIND, .change = change_images, .image = move_text, .by = ONE_LESS),
    PE_ROW("mrope_text_after",
           "text after an image goes on behind the largest position by {a}: it is shifted",
           PE_MROPE_BEHIND, .change = change_images, .image = move_text, .by = AT_UPLOADED,
           .bare = true),
    PE_ROW("mrope_text_after", "text after the image, from row {b} on, is shifted by {a}",
           PE_MROPE_BEHIND, .change = shift_after, .bare = true),
    PE_ROW("mrope_positions_shifted", "all positions are shifted: an offset of {a}",
           "check padding on the left and the offset of the cache", .change = shift_all),
    PE_ROW("mrope_axis_shifted", "the axis of the width is shifted by {a}", PE_MROPE_IMAGE,
           .change = shift_axis, .by = 1, .axis = PE_WIDTH),
    PE_ROW("mrope_axis_shifted", "the axis of the width is shifted by {a}", PE_MROPE_IMAGE,
           .change = shift_axis, .by = -1, .axis = PE_WIDTH),
    PE_ROW("mrope_axis_shifted", "the axis of the height is shifted by {a}", PE_MROPE_IMAGE,
           .change = shift_axis, .by = 1, .axis = PE_HEIGHT),
    PE_ROW("mrope_axis_shifted", "the axis of the height is shifted by {a}", PE_MROPE_IMAGE,
           .change = shift_axis, .by = -1, .axis = PE_HEIGHT),
    PE_ROW("mrope_axis_shifted", "the axis of time is shifted by {a}", PE_MROPE_IMAGE,
           .change = shift_axis, .by = 1, .axis = PE_TIME),
    PE_ROW("mrope_axis_shifted", "the axis of time is shifted by {a}", PE_MROPE_IMAGE,
           .change = shift_axis, .by = -1, .axis = PE_TIME),
};
const size_t pe_mrope_rows_n = PE_LEN(pe_mrope_rows);
