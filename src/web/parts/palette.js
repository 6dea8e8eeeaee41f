// palette.js - the colours of values: blue below zero, white at zero, red above.

const STEPS = 256;
// Lightness falls alike on both sides; hue and chroma are of OKLCH.
const LIGHTNESS = [1, 0.42];
const BLUE = { hue: 255, chroma: 0.17 };
const RED = { hue: 27, chroma: 0.17 };

/** @param {number} linear */
function gamma(linear) {
    const c = Math.min(1, Math.max(0, linear));
    return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
}

/**
 * A colour of OKLCH as bytes of sRGB. Source: Ottosson 2020, "A perceptual color space for image processing".
 * @param {number} lightness
 * @param {number} chroma
 * @param {number} hue in degrees
 */
function rgb(lightness, chroma, hue) {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ];
}

/** @param {number} t from -1 to 1 */
function shade(t) {
    const { hue, chroma } = t < 0 ? BLUE : RED;
    const strength = Math.abs(t);
    const lightness = LIGHTNESS[0] + (LIGHTNESS[1] - LIGHTNESS[0]) * strength;
    return rgb(lightness, chroma * Math.sin((Math.PI / 2) * Math.min(1, strength * 1.25)), hue);
}

/** Little-endian RGBA words: index STEPS is zero. */
const words = Uint32Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
    const [r, g, b] = shade((i - STEPS) / STEPS);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
});

/**
 * The word of each value; what is no number or infinite has the word `none`.
 * @param {number} limit the value of full colour
 * @param {number} none
 * @returns {(value: number) => number}
 */
export function painter(limit, none) {
    const factor = STEPS / (limit || 1);
    return (value) => {
        const t = Math.round(value * factor);
        if (!(t > -1e9 && t < 1e9)) return none;
        return words[STEPS + (t < -STEPS ? -STEPS : t > STEPS ? STEPS : t)];
    };
}

/** @param {number} t from -1 to 1 */
export function colour(t) {
    const [r, g, b] = shade(Math.max(-1, Math.min(1, t)));
    return `rgb(${r} ${g} ${b})`;
}
