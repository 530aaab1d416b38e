import type { Language } from '#contract/languages.ts';
import type { Branding } from '#contract/page.ts';
import { digestOf } from './digest-of.ts';
import { logoOnPages } from './logo-on-pages.ts';
import type { Logo } from './read-logo.ts';

/** Texts that replace those of messages/, by language and key. */
export type BrandTexts = Partial<Record<Language, Readonly<Record<string, string>>>>;

/** What a customer's brand sets; the rest is the installation's. */
export type BrandParts = {
  name: string | null;
  logo: Logo | null;
  logoDark: Logo | null;
  accentColour: string | null;
  links: Partial<Branding['links']>;
  texts: BrandTexts;
};

/** What pages and emails need of a brand. */
export type Brand = {
  /** The customer's key; null for the installation's own. */
  key: string | null;
  branding: Branding;
  accentColour: string | null;
  texts: BrandTexts;
  /** The logos that pages load, by the names of their files. */
  files: ReadonlyMap<string, Logo>;
  /** Differs when anything of the brand does. */
  digest: string;
};

/** The folder of what a brand's pages load, below the base path. */
export const brandFolder = '/assets/brand';

/** The installation's own brand. */
export function ownBrand(
  { logo, logoDark, accentColour, texts, ...rest }: BrandParts & Pick<Branding, 'name' | 'links'>,
  basePath: string,
): Brand {
  const shown = logoOnPages({ logo, logoDark }, basePath + brandFolder);
  const branding = { name: rest.name, logo: shown.logo, links: rest.links };
  return withDigest({ key: null, branding, accentColour, texts, files: shown.files });
}

/** A customer's brand above the installation's. A name of its own never stands beside the installation's logo. */
export function customersBrand(key: string, parts: BrandParts, own: Brand, basePath: string): Brand {
  const isLogoKept = parts.name === null && parts.logo === null;
  const shown = isLogoKept ? { logo: own.branding.logo, files: own.files } : logoOnPages(parts, basePath + brandFolder);
  return withDigest({
    key,
    branding: {
      name: parts.name ?? own.branding.name,
      logo: shown.logo,
      links: { ...own.branding.links, ...parts.links },
    },
    accentColour: parts.accentColour ?? own.accentColour,
    texts: merged(own.texts, parts.texts),
    files: shown.files,
  });
}

function merged(below: BrandTexts, above: BrandTexts): BrandTexts {
  const languages = [...new Set([...Object.keys(below), ...Object.keys(above)])] as Language[];
  return Object.fromEntries(languages.map((language) => [language, { ...below[language], ...above[language] }]));
}

function withDigest(brand: Omit<Brand, 'digest'>): Brand {
  const { key, branding, accentColour, texts, files } = brand;
  const content = JSON.stringify([key, branding, accentColour, texts, [...files.keys()]]);
  return { ...brand, digest: digestOf(content) };
}
