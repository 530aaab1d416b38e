import type { Branding, OwnTexts } from '#contract/page.ts';
import { type Logo, readLogo } from './read-logo.ts';
import { readTexts } from './read-texts.ts';

/** What makes pages and emails look like the operator's. */
export type Brand = {
  branding: Branding;
  accentColour: string | null;
  texts: OwnTexts;
  /** The files that pages load. */
  logos: readonly Logo[];
};

/** The settings, after their schema. */
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
    return path === undefined ? null : readLogo({ field, path, basePath }, problems);
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
