/** The plain accents of a brand: what tokens.css derives as --accent, for browsers that cannot. */
export type PlainAccent = { day: string; night: string };

/** Null unless the colour is #rgb or #rrggbb: the default brand's accents then apply. */
export function plainAccent(brand: string): PlainAccent | null {
  const digits = /^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(brand) ? brand.slice(1) : null;
  if (!digits) return null;
  const pairs = digits.length === 3 ? [...digits].map((digit) => digit + digit) : (digits.match(/../g) ?? []);
  const { l, c, h } = oklchOf(pairs.map((pair) => linear(Number.parseInt(pair, 16) / 255)));
  return {
    day: hexOf({ l: Math.min(l, 0.386), c: Math.min(c, 0.15), h }),
    night: hexOf({ l: Math.max(l, 0.83), c: Math.min(c, 0.1), h }),
  };
}

type Oklch = { l: number; c: number; h: number };

// The matrices of OKLab, CSS Color 4 §10.
function oklchOf([r = 0, g = 0, b = 0]: number[]): Oklch {
  const [x, y, z] = [
    Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
    Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b),
    Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b),
  ];
  const a = 1.9779984951 * x - 2.428592205 * y + 0.4505937099 * z;
  const d = 0.0259040371 * x + 0.7827717662 * y - 0.808675766 * z;
  return { l: 0.2104542553 * x + 0.793617785 * y - 0.0040720468 * z, c: Math.hypot(a, d), h: Math.atan2(d, a) };
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

/** Out-of-gamut channels are clipped to sRGB, as Chromium does. */
function hexOf(colour: Oklch): string {
  return `#${linearOf(colour)
    .map((channel) => byte(encoded(channel)).toString(16).padStart(2, '0'))
    .join('')}`;
}

const byte = (part: number) => Math.round(Math.min(Math.max(part, 0), 1) * 255);
const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const encoded = (part: number) => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055);
