import type { Page } from '#contract/page.ts';
import { publicHash } from './page-load.ts';
import { documentOf, escaped, type PageAssets, renderContent } from './render.tsx';
import { chooseLanguage, prepareStaticPage } from './static-scripts.ts';

// What the server takes from this build besides.
export { laterStyle, styleText } from './render.tsx';

/** Starts the script of a document with templates. */
const languageScript = (languages: readonly string[]) =>
  `(${chooseLanguage})(${JSON.stringify(languages)},${publicHash})`;

const pageScript = `(${prepareStaticPage})(${publicHash})`;

/** A document for a file, and the exact texts of its scripts, for the Content-Security-Policy. */
export type StaticDocument = { html: string; scripts: string[] };

/**
 * A document that answers one address from a file. It shows the first page; `others` are the same page in other languages,
 * of which its script puts the visitor's in place before anything is shown.
 */
export function renderStaticDocument(page: Page, others: readonly Page[], assets: PageAssets): StaticDocument {
  const templates = others.map((other) => {
    const { title, elements } = contentOf(other, assets);
    return `<template lang="${other.language}" title="${escaped(title)}">${elements}</template>\n`;
  });
  const first = others.length > 0 ? languageScript([page, ...others].map(({ language }) => language)) : null;
  const html = documentOf(page, assets, {
    ...contentOf(page, assets),
    head: first === null ? '' : `<script>${first}</script>\n`,
    rest: `${templates.join('')}<script>${pageScript}</script>\n`,
  });
  return { html, scripts: first === null ? [pageScript] : [first, pageScript] };
}

/** Which address was not found is known to the script alone, which then renders all of it. */
function contentOf(page: Page, assets: PageAssets) {
  const { title, elements } = renderContent(page, assets);
  if (page.url !== 'none' || page.serverPage) return { title, elements };
  return { title, elements: elements.replace(/<p class="fact">.*?<\/p>/, '') };
}
