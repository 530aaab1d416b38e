/** A colour by lightness (0 to 1), chroma and hue (radians), as CSS Color 4 §9 defines OKLCH. */
export type Oklch = { l: number; c: number; h: number };

/** Reads `#rgb` or `#rrggbb`. */
export function oklchOf(hex: string): Oklch {
  const digits = hex.length === 4 ? hex.replace(/[^#]/g, '$&$&') : hex;
  const [r, g, b] = [1, 3, 5].map((at) => linear(Number.parseInt(digits.slice(at, at + 2), 16) / 255)) as Triple;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const lightness = 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
  const green = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const blue = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return { l: lightness, c: Math.hypot(green, blue), h: Math.atan2(blue, green) };
}

/** Writes `#rrggbb`; out-of-gamut colours are clipped, as in browsers. */
export function hexOfOklch({ l: lightness, c, h }: Oklch): string {
  const green = c * Math.cos(h);
  const blue = c * Math.sin(h);
  const l = (lightness + 0.3963377774 * green + 0.2158037573 * blue) ** 3;
  const m = (lightness - 0.1055613458 * green - 0.0638541728 * blue) ** 3;
  const s = (lightness - 0.0894841775 * green - 1.291485548 * blue) ** 3;
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `#${channels.map((channel) => hexByte(encoded(channel))).join('')}`;
}

type Triple = [number, number, number];

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

function encoded(channel: number): number {
  return channel <= 0.0031308 ? channel * 12.92 : 1.055 * channel ** (1 / 2.4) - 0.055;
}

function hexByte(channel: number): string {
  const byte = Math.round(Math.min(1, Math.max(0, channel)) * 255);
  return byte.toString(16).padStart(2, '0');
}
