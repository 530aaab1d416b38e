import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { Branding, OwnTexts } from '#contract/page.ts';
import { readTexts } from './texts.ts';

/** What makes pages and emails look like the operator's. */
export type Brand = {
  branding: Branding;
  accentColour: string | null;
  texts: OwnTexts;
  logos: readonly Logo[];
};

type Settings = {
  basePath?: string;
  name?: string;
  logo?: string;
  logoDark?: string;
  accentColour?: string;
  links?: Partial<Branding['links']>;
  texts?: OwnTexts;
};

/** Link targets until the configuration file sets them. */
export const placeholderLinks: Branding['links'] = {
  support: 'https://example.com/support',
  imprint: 'https://example.com/imprint',
  solutions: 'https://example.com/solutions',
};

/** Reads the brand, with the logos that it names. Adds what does not fit to `problems`, each naming its setting. */
export function readBrand(settings: Settings, problems: string[]): Brand {
  const { basePath = '/portal' } = settings;
  const logoOf = (field: 'logo' | 'logoDark') => {
    const path = settings[field];
    return path === undefined ? null : readLogo(field, path, basePath, problems);
  };
  const logo = logoOf('logo');
  const logoDark = logoOf('logoDark');
  if (settings.logoDark && !settings.logo) problems.push('logoDark: needs logo');
  return {
    branding: {
      name: settings.name ?? 'Vestibule',
      logo: logo && { src: logo.address, ...(logoDark && { dark: logoDark.address }) },
      links: { ...placeholderLinks, ...settings.links },
    },
    accentColour: settings.accentColour ?? null,
    texts: readTexts(settings.texts ?? {}, problems),
    logos: [logo, logoDark].filter((one) => one !== null),
  };
}

export const logoBytes = 64 * 1024;

type Logo = { address: string; mediaType: string; bytes: Buffer };

const mediaTypes: Record<string, string> = {
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
};

/** The folder of logos, below the base path. */
export const logoFolder = '/assets/logo';

/** An SVG can hold scripts: opened by itself it is drawn, and nothing more. */
export const logoPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/** Reads a logo, whose kind its name says, and whose address changes with its content. Null with a problem noted. */
function readLogo(field: string, path: string, basePath: string, problems: string[]): Logo | null {
  try {
    if (statSync(path).size > logoBytes) {
      problems.push(`${field}: ${path} is larger than ${logoBytes / 1024} KB`);
      return null;
    }
    const bytes = readFileSync(path);
    const ending = extname(path).slice(1);
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
    const address = `${basePath}${logoFolder}/${digest}.${ending}`;
    return { address, mediaType: mediaTypes[ending] as string, bytes };
  } catch (error) {
    problems.push(`${field}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return null;
  }
}
