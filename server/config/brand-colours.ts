import { hexOf, litFrom, mixed, type Oklch, oklchOf } from './colour.ts';

type Colours = Record<string, Oklch>;

const white: Oklch = { l: 1, c: 0, h: 0 };
const black: Oklch = { l: 0, c: 0, h: 0 };

/** The colours of a brand, `#rgb` or `#rrggbb`, as the style of a page has them. Throws if it is none. */
export function brandStyle(brand: string): string {
  if (!/^#(?:[\da-f]{3}){1,2}$/i.test(brand)) throw new Error(`Not a colour as #rgb or #rrggbb: ${brand}`);
  const { day, night } = brandColours(brand);
  // A page is printed as by day.
  return `:root{${day}}@media screen and (prefers-color-scheme:dark){:root{${night}}}`;
}

/**
 * The colours of the pages, as declarations of the properties that portal.css uses. In OKLCH equal lightness looks equally
 * light, so a fixed one keeps the contrast for every brand. Reads `#rgb` or `#rrggbb`.
 *
 * wall, order3 to order1 and door step toward the light; `return`s are the thickness of each order. By day these are warm
 * plaster for every brand (styles/plaster.css).
 */
export function brandColours(brand: string): { day: string; night: string } {
  const colour = oklchOf(brand);
  return { day: declarations(dayColours(colour)), night: declarations(nightColours(colour)) };
}

function dayColours({ l, c, h }: Oklch): Colours {
  const isLit = l > litFrom;
  const accent = { l: Math.min(l, 0.386), c: Math.min(c, 0.15), h };
  const fill = { l: isLit ? between(0.79, l, 0.87) : Math.min(l, 0.41), c: Math.min(c, 0.16), h };
  return {
    ...buttonColours(accent, fill, isLit ? white : black),
    'accent-quiet': mixed(accent, 0.08, white),
    'accent-edge': { l: Math.min(l, 0.56), c: Math.min(c, 0.15), h },
    'on-accent': isLit ? { l: 0.17, c: 0, h } : white,
    text: { l: 0.22, c: Math.min(c * 0.2, 0.03), h },
    muted: { l: 0.38, c: Math.min(c * 0.2, 0.025), h },
    line: { l: 0.885, c: Math.min(c * 0.1, 0.012), h },
    edge: { l: 0.64, c: Math.min(c * 0.15, 0.02), h },
    // A button that waits, by night too: light enough against that door, dark enough for a white label.
    off: { l: 0.56, c: Math.min(c * 0.4, 0.055), h },
  };
}

function nightColours({ l, c, h }: Oklch): Colours {
  const accent = { l: Math.max(l, 0.83), c: Math.min(c, 0.1), h };
  const fill = { l: between(0.83, l, 0.9), c: Math.min(c, 0.1), h };
  const door = { l: 0.24, c: Math.min(c * 0.27, 0.038), h };
  return {
    ...buttonColours(accent, fill, white),
    'accent-quiet': mixed(accent, 0.12, door),
    'accent-edge': fill,
    'on-accent': { l: 0.17, c: Math.min(c, 0.03), h },
    wall: { l: 0.15, c: Math.min(c * 0.12, 0.016), h },
    order3: { l: 0.167, c: Math.min(c * 0.15, 0.02), h },
    order2: { l: 0.186, c: Math.min(c * 0.18, 0.025), h },
    order1: { l: 0.208, c: Math.min(c * 0.22, 0.03), h },
    door,
    'door-lo': { l: 0.272, c: Math.min(c * 0.34, 0.05), h },
    floor: { l: 0.128, c: Math.min(c * 0.12, 0.016), h },
    return3: { l: 0.195, c: Math.min(c * 0.24, 0.034), h },
    return2: { l: 0.222, c: Math.min(c * 0.3, 0.042), h },
    return1: { l: 0.262, c: Math.min(c * 0.38, 0.054), h },
    return0: { l: 0.34, c: Math.min(c * 0.48, 0.07), h },
    text: { l: 0.965, c: Math.min(c * 0.05, 0.006), h },
    muted: { l: 0.82, c: Math.min(c * 0.12, 0.015), h },
    line: { l: 0.36, c: Math.min(c * 0.2, 0.025), h },
    edge: { l: 0.6, c: Math.min(c * 0.15, 0.02), h },
    field: { l: 0.2, c: Math.min(c * 0.2, 0.025), h },
  };
}

/** A button under the pointer moves toward `push`. */
const buttonColours = (accent: Oklch, fill: Oklch, push: Oklch) => ({
  accent,
  'accent-fill': fill,
  'accent-hover': mixed(fill, 0.82, push),
});

function declarations(colours: Colours): string {
  return Object.entries(colours)
    .map(([name, colour]) => `--${name}:${hexOf(colour)}`)
    .join(';');
}

const between = (least: number, value: number, most: number) => Math.min(Math.max(least, value), most);
