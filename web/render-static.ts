import type { Page } from '#contract/page.ts';
import { publicHash } from './page-load.ts';
import { documentOf, type PageAssets, renderContent } from './render.tsx';
import { prepareStaticPage } from './static-script.ts';

// What the server takes from this build besides.
export { styleText } from './render.tsx';

const pageScript = `(${prepareStaticPage})(${publicHash})`;

/** A document for a file, and the exact texts of its scripts, for the Content-Security-Policy. */
export type StaticDocument = { html: string; scripts: string[] };

/** A document that answers one address from a file. */
export function renderStaticDocument(page: Page, assets: PageAssets): StaticDocument {
  const html = documentOf(page, assets, {
    ...contentOf(page, assets),
    rest: `<script>${pageScript}</script>\n`,
  });
  return { html, scripts: [pageScript] };
}

/** Which address was not found is known to the script alone, which then renders all of it. */
function contentOf(page: Page, assets: PageAssets) {
  const { title, elements } = renderContent(page, assets);
  if (page.screen.name !== 'notFound') return { title, elements };
  return { title, elements: elements.replace(/<p class="fact">.*?<\/p>/, '') };
}
