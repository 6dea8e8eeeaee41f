/* SPDX-License-Identifier: MIT */
/* strokes.c - a font of strokes: no file to be found, and the same pixels everywhere. */
#include "formats/figure/pixels.h"

#include <string.h>

/*
 * A glyph: how wide it is, and its strokes. A stroke begins with how it is drawn, '-' straight from
 * point to point, '~' as a quadratic B-spline that begins and ends at its outer points, 'o' as a
 * closed one; then two hexadecimal digits for each point, x and y. The baseline is y = 3, small
 * letters rise to 9, capitals to c, tails go down to 0.
 */
typedef struct glyph {
    unsigned char width;
    const char *strokes;
} glyph;

static const glyph box = {5, "-03535c0c03"};
static const glyph glyphs[95] = {
    {2, ""},                                      /* space */
    {0, "-0c06 -0304"},                           /* ! */
    {2, "-0c0a -2c2a"},                           /* " */
    {6, "-2c13 -5c43 -0969 -0666"},               /* # */
    {6, "~6a6c0c0867630305 -3d32"},               /* $ */
    {7, "o090c3c39 o43467673 -6c13"},             /* % */
    {6, "~630a1c4c4a06033367"},                   /* & */
    {0, "-0c0a"},                                 /* ' */
    {2, "~2d0b0520"},                             /* ( */
    {2, "~0d2b2500"},                             /* ) */
    {4, "-2c28 -0b49 -4b09"},                     /* * */
    {6, "-0767 -3a34"},                           /* + */
    {1, "-1401"},                                 /* , */
    {4, "-0747"},                                 /* - */
    {0, "-0304"},                                 /* . */
    {5, "-015c"},                                 /* / */
    {6, "o030c6c63"},                             /* 0 */
    {6, "-1a4c43"},                               /* 1 */
    {6, "~0a0c6c6803 -0363"},                     /* 2 */
    {6, "~0a0c6c6828 ~2868630305"},               /* 3 */
    {6, "-4c0666 -4c43"},                         /* 4 */
    {6, "-5c0c08 ~0869630305"},                   /* 5 */
    {6, "~5c0c06 o03096963"},                     /* 6 */
    {6, "-0c6c23"},                               /* 7 */
    {6, "o181c5c58 o03086863"},                   /* 8 */
    {6, "o060c6c66 ~696313"},                     /* 9 */
    {0, "-0304 -0809"},                           /* : */
    {1, "-1401 -1819"},                           /* ; */
    {5, "-5a0754"},                               /* < */
    {6, "-0969 -0565"},                           /* = */
    {5, "-0a5704"},                               /* > */
    {5, "~0a0c5c592926 -2324"},                   /* ? */
    {8, "o030b8b83 o25296965"},                   /* @ */
    {6, "-033c63 -1656"},                         /* A */
    {6, "-33030c3c ~3c6c6838 -0838 ~38686333"},   /* B */
    {6, "~6a6c0c036365"},                         /* C */
    {6, "-23030c2c ~2c6c6323"},                   /* D */
    {5, "-53030c5c -0848"},                       /* E */
    {5, "-030c5c -0848"},                         /* F */
    {6, "~6a6c0c036367 -3767"},                   /* G */
    {6, "-030c -636c -0868"},                     /* H */
    {0, "-0c03"},                                 /* I */
    {4, "~4c430305"},                             /* J */
    {5, "-030c -5c07 -2953"},                     /* K */
    {5, "-0c0353"},                               /* L */
    {8, "-030c468c83"},                           /* M */
    {6, "-030c636c"},                             /* N */
    {7, "o030c7c73"},                             /* O */
    {6, "-030c3c ~3c6c6737 -3707"},               /* P */
    {7, "o030c7c73 -4672"},                       /* Q */
    {6, "-030c3c ~3c6c6737 -3707 -3763"},         /* R */
    {6, "~6a6c0c0867630305"},                     /* S */
    {6, "-0c6c -3c33"},                           /* T */
    {6, "-0c06 ~06036366 -666c"},                 /* U */
    {6, "-0c336c"},                               /* V */
    {8, "-0c234b638c"},                           /* W */
    {6, "-0c63 -036c"},                           /* X */
    {6, "-0c386c -3833"},                         /* Y */
    {6, "-0c6c0363"},                             /* Z */
    {2, "-2d0d0020"},                             /* [ */
    {5, "-0c51"},                                 /* \ */
    {2, "-0d2d2000"},                             /* ] */
    {4, "-0a2c4a"},                               /* ^ */
    {6, "-0161"},                                 /* _ */
    {2, "-0c2a"},                                 /* ` */
    {5, "o03095953 -5953"},                       /* a */
    {5, "-0c03 o03095953"},                       /* b */
    {5, "~585909035354"},                         /* c */
    {5, "o03095953 -5c53"},                       /* d */
    {5, "-0656 ~565909035354"},                   /* e */
    {3, "~3c1c1a -1a13 -0939"},                   /* f */
    {5, "o03095953 -5952 ~52500001"},             /* g */
    {5, "-0c03 ~06095956 -5653"},                 /* h */
    {0, "-0903 -0c0b"},                           /* i */
    {2, "-2922 ~222000 -2c2b"},                   /* j */
    {4, "-0c03 -4905 -1643"},                     /* k */
    {0, "-0c03"},                                 /* l */
    {8, "-0903 ~06094946 -4643 ~46498986 -8683"}, /* m */
    {5, "-0903 ~06095956 -5653"},                 /* n */
    {5, "o03095953"},                             /* o */
    {5, "-0900 o03095953"},                       /* p */
    {5, "-5950 o03095953"},                       /* q */
    {3, "-0903 ~060939"},                         /* r */
    {4, "~4849090646430304"},                     /* s */
    {3, "-1c14 ~141333 -0939"},                   /* t */
    {5, "-0906 ~06035356 -5953"},                 /* u */
    {4, "-092349"},                               /* v */
    {8, "-0923486389"},                           /* w */
    {4, "-0943 -0349"},                           /* x */
    {4, "-0924 -4910"},                           /* y */
    {4, "-09490343"},                             /* z */
    {3, "~3d1d1707 ~07171030"},                   /* { */
    {0, "-0d00"},                                 /* | */
    {3, "~0d2d2737 ~37272000"},                   /* } */
    {6, "~063a3468"},                             /* ~ */
};

#define BASELINE 3
#define BETWEEN  2.1 /* glyphs */
/* Capitals are nine units high, and 0.7 of the size. */
#define UNIT      (0.7 / 9)
#define POINTS    16 /* of a stroke */
#define PER_CURVE 6  /* lines that stand for each arc of a spline */

static const glyph *glyph_of(unsigned char c)
{
    return c >= ' ' && c < 127 ? &glyphs[c - ' '] : &box;
}

/* A character of several bytes is one box. */
static bool goes_on(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

double pe_strokes_width(const char *text, double size)
{
    double units = 0;
    for (; *text != '\0'; text++)
        if (!goes_on((unsigned char)*text))
            units += glyph_of((unsigned char)*text)->width + BETWEEN;
    return units > 0 ? (units - BETWEEN) * size * UNIT : 0;
}

/* A text being drawn: where the next glyph begins, in units. */
typedef struct hand {
    pe_canvas *canvas;
    const pe_caption *caption;
    double at;
    pe_pen pen;
} hand;

static pe_point place(const hand *by, pe_point p)
{
    const pe_caption *caption = by->caption;
    const double unit = caption->size * UNIT, x = (by->at + p.x) * unit,
                 y = (p.y - BASELINE) * unit;
    return caption->upwards ? (pe_point){caption->at.x - y, caption->at.y - x}
                            : (pe_point){caption->at.x + x, caption->at.y - y};
}

static pe_point between(pe_point a, pe_point b)
{
    return (pe_point){(a.x + b.x) / 2, (a.y + b.y) / 2};
}

/* The arc from a to c that b draws to itself, without its first point. */
static size_t add_arc(const pe_point *corner, pe_point *out)
{
    for (size_t i = 1; i <= PER_CURVE; i++) {
        const double t = (double)i / PER_CURVE, s = 1 - t;
        out[i - 1] =
            (pe_point){s * s * corner[0].x + 2 * s * t * corner[1].x + t * t * corner[2].x,
                       s * s * corner[0].y + 2 * s * t * corner[1].y + t * t * corner[2].y};
    }
    return PER_CURVE;
}

static size_t curve(const pe_point *p, size_t n, bool closed, pe_point *out)
{
    size_t made = 1;
    const size_t arcs = closed ? n : n - 2;
    out[0] = closed ? between(p[n - 1], p[0]) : p[0];
    for (size_t i = 0; i < arcs; i++) {
        const size_t b = closed ? i : i + 1;
        const bool last = !closed && i + 1 == arcs;
        const pe_point arc[3] = {out[made - 1], p[b],
                                 last ? p[n - 1] : between(p[b], p[(b + 1) % n])};
        made += add_arc(arc, out + made);
    }
    return made;
}

static double digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void draw_stroke(const hand *by, const char *stroke, size_t bytes)
{
    pe_point corner[POINTS], line[POINTS * PER_CURVE + 1];
    const size_t n = bytes / 2;
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        corner[i] = place(by, (pe_point){digit(stroke[1 + 2 * i]), digit(stroke[2 + 2 * i])});
    if (stroke[0] == '-')
        by->canvas->line(by->canvas, corner, n, &by->pen, false);
    else
        by->canvas->line(by->canvas, line, curve(corner, n, stroke[0] == 'o', line), &by->pen,
                         false);
}

static void draw_glyph(hand *by, const glyph *shape)
{
    for (const char *at = shape->strokes; *at != '\0'; at += *at == ' ') {
        const size_t bytes = strcspn(at, " ");
        draw_stroke(by, at, bytes);
        at += bytes;
    }
    by->at += shape->width + BETWEEN;
}

void pe_strokes_draw(pe_canvas *canvas, const pe_caption *caption)
{
    const double width = pe_strokes_width(caption->text, caption->size);
    hand own = {
        .canvas = canvas,
        .caption = caption,
        .at = -caption->anchor * width / (caption->size * UNIT),
        .pen = {caption->colour, caption->size * (caption->strong ? 0.125 : 0.085)},
    };
    for (const char *c = caption->text; *c != '\0'; c++)
        if (!goes_on((unsigned char)*c))
            draw_glyph(&own, glyph_of((unsigned char)*c));
}
