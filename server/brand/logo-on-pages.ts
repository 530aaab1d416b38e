import { brotliCompressSync } from 'node:zlib';
import type { Branding } from '#contract/page.ts';
import { limits } from '../limits.ts';
import { digestOf } from './digest-of.ts';
import type { Logo } from './read-logo.ts';

/** The most that a logo may be wide on a page, and high by its shape, in CSS pixels: a square one needs more height. */
const widest = 208;
const heights = { square: 48, wide: 30 };

/**
 * How pages show a logo: within the document while it costs next to nothing there, else as a file that a browser keeps
 * for a year. `folder` is the address of those files.
 */
export function logoOnPages(
  { logo, logoDark }: { logo: Logo | null; logoDark: Logo | null },
  folder: string,
): { logo: Branding['logo']; files: Map<string, Logo> } {
  const files = new Map<string, Logo>();
  if (!logo) return { logo: null, files };
  const images = [logo, ...(logoDark ? [logoDark] : [])];
  const [src = '', srcSet] =
    inlined(images) ??
    images.map((image) => {
      const name = `${digestOf(image.bytes)}.${image.type}`;
      files.set(name, image);
      return `${folder}/${name}`;
    });
  const dark = srcSet === undefined ? null : { srcSet, media: 'screen and (prefers-color-scheme:dark)' };
  return { logo: { img: { src, ...shownSize(logo) }, dark }, files };
}

/** The images as data addresses, if they cost next to nothing; null otherwise. Compresses only what may be little. */
function inlined(images: readonly Logo[]): string[] | null {
  const bytesOf = (some: readonly Logo[]) => some.reduce((sum, { bytes }) => sum + bytes.length, 0);
  // Their bytes are compressed already.
  if (bytesOf(images.filter(({ type }) => type !== 'svg')) > limits.logoInlineBytes) return null;
  if (bytesOf(images) > limits.logoInlineText) return null;
  const addresses = images.map(dataAddress);
  return brotliCompressSync(addresses.join(' ')).length <= limits.logoInlineBytes ? addresses : null;
}

/** With its size known, the page does not move when the logo arrives. */
function shownSize({ width, height }: Logo): { width: number; height: number } {
  const ratio = width / height;
  // From square to three times as wide as high.
  const share = Math.min(Math.max((ratio - 1) / 2, 0), 1);
  const shown = Math.min(heights.square + share * (heights.wide - heights.square), widest / ratio);
  return { width: Math.round(shown * ratio), height: Math.max(1, Math.round(shown)) };
}

/** The media type of each kind of logo, by the ending of its file. */
export const mediaTypes = {
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  jpg: 'image/jpeg',
} satisfies Record<Logo['type'], string>;

/** The media type of a logo's file. */
export function mediaTypeOf({ type }: Pick<Logo, 'type'>): string {
  return mediaTypes[type];
}

function dataAddress(logo: Logo): string {
  if (logo.type !== 'svg') return `data:${mediaTypeOf(logo)};base64,${logo.bytes.toString('base64')}`;
  // Only what an address may not hold is encoded: the rest stays readable, and short. A space would end it in `srcset`.
  const text = logo.bytes.toString().replace(/[%#<>&"{}|\\^`\s]|[^ -~]+/gu, encodeURIComponent);
  return `data:image/svg+xml,${text}`;
}
