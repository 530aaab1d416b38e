import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { houseBrand } from '#contract/colour.ts';
import type { Page } from '#contract/page.ts';
import { type AllTexts, allTexts } from '../all-texts.ts';
import { AppContext } from '../app-context.ts';
import deskStyle from '../desk/desk.css?inline';
import { dataOfPage, escaped, iconOf, metaOfScreen, type PageAssets } from '../render.tsx';
import style from './account.css?inline';
import { stillApp } from './account-context.tsx';

/** What the pages behind the door add to the style of the other screens. */
export const styles = [style + deskStyle];

type Behind = { title: (texts: AllTexts) => string; tree: ReactNode; script: string | null };

/** The whole HTML document of a page behind the door, rendered by the server alone; `script`: one of its own. */
export function documentBehind(page: Page, assets: PageAssets, { title, tree, script }: Behind): string {
  const texts = { ...allTexts[page.language], ...assets.texts[page.language] };
  const content = renderToString(<AppContext value={stillApp(page, texts)}>{tree}</AppContext>);
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
${metaOfScreen}
<title>${escaped(title(texts))}</title>
<link rel="icon" href="${iconOf(assets.accentColour ?? houseBrand)}">
<style>${assets.style}</style>
<style>${styles[0]}</style>
</head>
<body>
${content}
${dataOfPage(page, assets)}
<script type="module" async src="${escaped(assets.script)}"></script>
${script === null ? '' : `<script type="module" src="${escaped(script)}"></script>\n`}</body>
</html>
`;
}
