import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import type { Page } from '#contract/page.ts';
import { type AllTexts, allTexts } from '../all-texts.ts';
import { AppContext } from '../app-context.ts';
import deskStyle from '../desk/desk.css?inline';
import { dataOfPage, documentOf, type PageAssets } from '../render.tsx';
import style from './account.css?inline';
import { stillApp } from './account-context.tsx';

/** What the pages behind the door add to the style of the other screens. */
export const styles = [style + deskStyle];

type Behind = { title: (texts: AllTexts) => string; tree: ReactNode; script: string | null };

/** The whole HTML document of a page behind the door, rendered by the server alone; `script`: one of its own. */
export function documentBehind(page: Page, assets: PageAssets, { title, tree, script }: Behind): string {
  const texts = { ...allTexts[page.language], ...assets.texts[page.language] };
  const content = renderToString(<AppContext value={stillApp(page, texts)}>{tree}</AppContext>);
  return documentOf(page, assets, {
    title: title(texts),
    elements: `${content}\n${dataOfPage(page, assets)}`,
    style: `\n<style>${styles[0]}</style>`,
    rest: script === null ? '' : `<script type="module" src="${script}"></script>\n`,
  });
}
