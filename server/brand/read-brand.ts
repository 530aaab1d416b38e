import type { BrandParts, BrandTexts } from './brand.ts';
import { type Logo, readLogo } from './read-logo.ts';
import { readTexts } from './read-texts.ts';

/** The content of the image files that a brand names; null where it names none, or where one cannot be read. */
export type BrandImages = { logo: Buffer | null; logoDark: Buffer | null };

/** A brand's settings, after their schema. */
export type BrandSettings = {
  name?: string;
  accentColour?: string;
  links?: BrandParts['links'];
  texts?: BrandTexts;
};

/** Reads a brand. What does not fit is left out and added to `problems`, each naming its setting. */
export function readBrand(settings: BrandSettings, images: BrandImages, problems: string[]): BrandParts {
  const logo = logoOf('logo', images.logo, problems);
  const logoDark = logoOf('logoDark', images.logoDark, problems);
  if (images.logoDark && !images.logo) problems.push('logoDark: needs logo');
  return {
    name: settings.name ?? null,
    logo,
    logoDark,
    accentColour: settings.accentColour ?? null,
    links: settings.links ?? {},
    texts: readTexts(settings.texts ?? {}, problems),
  };
}

function logoOf(field: keyof BrandImages, bytes: Buffer | null, problems: string[]): Logo | null {
  if (!bytes) return null;
  const reading = readLogo(bytes);
  if (reading.kind === 'ok') return reading.logo;
  problems.push(`${field}: ${reading.problem}`);
  return null;
}
