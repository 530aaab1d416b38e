import { readFileSync } from 'node:fs';
import { loadBuiltPages } from '#server/http/built-pages.ts';
import { brand } from './portal-config.ts';

/** The colour of each part of the demo, so that a visitor sees whose page it is. The hub has the portal's. */
const colours = { desk: '#21489c', hub: brand, oidc: '#2f6b3c', saml: '#8a3a12' };

/** The styles of each part. */
export type Looks = Record<keyof typeof colours, string>;

export const noLooks: Looks = { desk: '', hub: '', oidc: '', saml: '' };

const own = readFileSync(new URL('files/demo.css', import.meta.url), 'utf8');

/** The portal's own styles in each colour, and after them what only the demo's pages have. Needs the built pages. */
export async function loadLooks(): Promise<Looks> {
  const styled = Object.entries(colours).map(async ([part, accentColour]) => {
    const { styles } = await loadBuiltPages({ basePath: '/portal', brand: { accentColour, texts: {} } });
    return [part, [...styles, own].join('\n')];
  });
  return Object.fromEntries(await Promise.all(styled));
}
