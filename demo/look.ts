import { readFileSync } from 'node:fs';
import { loadBuiltPages } from '#server/http/built-pages.ts';

const own = readFileSync(new URL('files/demo.css', import.meta.url), 'utf8');

/** The portal's own styles in a colour, and after them what only the demo's pages have. */
export async function lookIn(accentColour: string): Promise<string> {
  const { styles } = await loadBuiltPages({ basePath: '/portal', accentColour });
  return [...styles, own].join('\n');
}
