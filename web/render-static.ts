import type { Page } from '#contract/page.ts';
import { publicHash } from './page-load.ts';
import { documentOf, type PageAssets, renderContent } from './render.tsx';

/**
 * The script inside a document that is written to a file; its text stands in the document, so it reaches nothing outside
 * itself. Before the script of the pages, it tells the page its origin. Content that the script is about to replace, because
 * of the address, is held back, so that nothing typed into it is lost; not for long, and not if the script does not come.
 */
function prepareStaticPage(publicHash: RegExp): void {
  const data = document.getElementById('page') as Element;
  const page = JSON.parse(data.textContent ?? '');
  page.rules.origin = location.origin;
  const isOther = page.url[0] !== '/' || location.search !== page.url.replace(/^[^?]*/, '');
  if (page.screen.name !== 'problem' && (isOther || publicHash.test(location.hash))) {
    // Not an address of any document, so that the script renders its own.
    page.url = '?';
    const show = (visibility: string) => {
      const main = document.querySelector('main');
      if (main) main.style.visibility = visibility;
    };
    show('hidden');
    setTimeout(show, 4000, '');
    addEventListener('error', () => show(''), true);
  }
  // Not a script: changing the text of one violates the policy (Trusted Types), data or not; Firefox says so.
  const changed = document.createElement('template');
  changed.id = data.id;
  changed.textContent = JSON.stringify(page);
  data.replaceWith(changed);
}

// What the server takes from this build besides.
export { styleText } from './render.tsx';

const pageScript = `(${prepareStaticPage})(${publicHash})`;

/** A document for a file, and the exact texts of its scripts, for the Content-Security-Policy. */
export type StaticDocument = { html: string; scripts: string[] };

/** A document that answers one address from a file. */
export function renderStaticDocument(page: Page, assets: PageAssets): StaticDocument {
  const { title, elements } = renderContent(page, assets);
  // Which address was not found is known to the script alone, which then renders all of it.
  const known = page.screen.name === 'notFound' ? elements.replace(/<p class="fact">.*?<\/p>/, '') : elements;
  const html = documentOf(page, assets, { title, elements: known, rest: `<script>${pageScript}</script>\n` });
  return { html, scripts: [pageScript] };
}
