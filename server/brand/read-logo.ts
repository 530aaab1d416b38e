import { limits } from '../limits.ts';
import { rasterOf } from './raster.ts';
import { readSvg } from './read-svg.ts';

/** A logo that was checked: what it is, and how large it is in its own pixels. */
export type Logo = { type: 'svg' | 'png' | 'webp' | 'jpg'; bytes: Buffer; width: number; height: number };

export type LogoReading = { kind: 'ok'; logo: Logo } | { kind: 'refused'; problem: string };

/**
 * Reads a logo by its content, whatever its file is called: an SVG, written anew from what is allowed in one, or a PNG,
 * WebP or JPEG. Otherwise one sentence without its subject says why not.
 */
export function readLogo(bytes: Buffer): LogoReading {
  if (bytes.length > limits.logoBytes) return refused(`is larger than ${limits.logoBytes / 1024} KB`);
  const raster = rasterOf(bytes);
  if (raster) return withSaneSize({ ...raster, bytes });
  if (!/^\uFEFF?\s*</.test(bytes.toString('utf8', 0, 200)))
    return refused('is not an image: it must be SVG, PNG, WebP or JPEG');
  const svg = readSvg(bytes.toString());
  if (svg.kind === 'refused') return svg;
  const written = Buffer.from(svg.text);
  // What is kept is read again by every instance: it must hold there as well.
  if (written.length > limits.logoBytes) return refused(`is larger than ${limits.logoBytes / 1024} KB as it is kept`);
  const again = readSvg(written.toString());
  if (again.kind === 'refused') return refused(`${again.problem}, as it is kept`);
  return withSaneSize({ type: 'svg', bytes: written, width: svg.width, height: svg.height });
}

/** A picture with huge sides takes a browser's memory, however small its file is. */
function withSaneSize(logo: Logo): LogoReading {
  const { width, height } = logo;
  const isSane = [width, height].every((side) => side > 0 && side <= limits.logoPixels);
  if (!isSane) return refused(`must be 1 to ${limits.logoPixels} pixels wide and high, not ${width} × ${height}`);
  if (width > height * limits.logoRatio || height > width * 2)
    return refused(`must be at most ${limits.logoRatio} times as wide as high, and 2 times as high as wide`);
  return { kind: 'ok', logo };
}

function refused(problem: string): LogoReading {
  return { kind: 'refused', problem };
}
