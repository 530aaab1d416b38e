/** A colour by lightness (0 to 1), chroma and hue (radians), as CSS Color 4 §9 defines OKLCH. */
export type Oklch = { l: number; c: number; h: number };

/** Reads `#rgb` or `#rrggbb`. */
export function oklchOf(hex: string): Oklch {
  const digits = hex.length === 4 ? hex.replace(/\w/g, '$&$&') : hex;
  const [r = 0, g = 0, b = 0] = (digits.match(/\w\w/g) ?? []).map((pair) => linear(Number.parseInt(pair, 16) / 255));
  const [x, y, z] = [
    Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
    Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b),
    Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b),
  ];
  const a = 1.9779984951 * x - 2.428592205 * y + 0.4505937099 * z;
  const d = 0.0259040371 * x + 0.7827717662 * y - 0.808675766 * z;
  return { l: 0.2104542553 * x + 0.793617785 * y - 0.0040720468 * z, c: Math.hypot(a, d), h: Math.atan2(d, a) };
}

/** `color-mix(in oklab, one part%, other)`. */
export function mixed(one: Oklch, part: number, other: Oklch): Oklch {
  const mean = (of: (colour: Oklch) => number) => of(one) * part + of(other) * (1 - part);
  const [a, d] = [mean(({ c, h }) => c * Math.cos(h)), mean(({ c, h }) => c * Math.sin(h))];
  return { l: mean(({ l }) => l), c: Math.hypot(a, d), h: Math.atan2(d, a) };
}

/** Writes `#rrggbb`. Out-of-gamut channels are clipped to sRGB, as Chromium does. */
export function hexOf(colour: Oklch): string {
  return `#${linearOf(colour)
    .map((channel) => byte(encoded(channel)).toString(16).padStart(2, '0'))
    .join('')}`;
}

function linearOf({ l, c, h }: Oklch): number[] {
  const [a, b] = [c * Math.cos(h), c * Math.sin(h)];
  const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const z = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
    -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
    -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
  ];
}

const byte = (part: number) => Math.round(Math.min(Math.max(part, 0), 1) * 255);
const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const encoded = (part: number) => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055);

export const houseBrand = '#21489c';

/** Brands lighter than this keep a bright button with a dark label; the rest get a deep one with a white label. */
export const litFrom = 0.66;
