import { renderToString } from 'react-dom/server';
import type { Language } from '#contract/languages.ts';
import type { OwnTexts, Page, RenderedPage } from '#contract/page.ts';
import { placeOfUrl } from './addresses.ts';
import { allTexts, invitationTexts } from './all-texts.ts';
import { App } from './app.tsx';
import { documentTitle } from './components/title-heading.tsx';
import { filled, serverTexts, type Texts } from './messages.ts';
import { titleKey } from './screen-title.ts';
import { isLater } from './screens/current-screen.tsx';
import { LaterScreen } from './screens/later-screen.tsx';
import plaster from './styles/plaster.css?inline';
import portal from './styles/portal.css?inline';
import screens from './styles/screens.css?inline';
import tokens from './styles/tokens.css?inline';

/** Addresses of what a page loads, and the result of `styleText`. */
export type PageAssets = {
  script: string;
  laterScript: string;
  passkeyScript: string;
  deskScript: string;
  messages: Record<Language, string>;
  style: string;
  /** Of the brand. */
  accentColour: string;
  texts: Partial<Record<Language, Partial<Texts>>>;
};

/** The style of every document, with the colours of its brand. */
export const styleText = (colours: string) => plaster + colours + tokens + portal + screens;

export function renderDocument(page: Page, assets: PageAssets): string {
  return documentOf(page, assets, renderContent(page, assets));
}

/** What a document has in its language: its title, the two elements that the script reads, and what comes before that and after its style. */
type Content = { title: string; elements: string; rest?: string; style?: string };

export function renderContent(page: Page, assets: PageAssets): Content {
  const { language } = page;
  const texts = textsFor(page, assets);
  const place = placeOfUrl(page.url, page.rules.basePath);
  const tree = renderToString(<App {...{ page, place, language, texts, LaterScreen }} browser={null} />);
  const title = documentTitle(texts[titleKey(page.screen, place.search)], page);
  return { title, elements: `<div id="portal">${tree}</div>\n${dataOfPage(page, assets)}` };
}

/** The page as its script reads it. */
export function dataOfPage(page: Page, assets: Pick<PageAssets, 'texts'>): string {
  const sent: RenderedPage = { ...page, ...ownTexts(page, assets) };
  return `<script type="application/json" id="page">${jsonForScript(sent)}</script>`;
}

/** The document around it; the colours in its head are those of the wall. */
export function documentOf(
  page: Page,
  assets: PageAssets,
  { title, elements, rest = '', style = '' }: Content,
): string {
  const later = isLater(page.screen);
  // What the script would ask for only when it runs.
  const preloads = [assets.messages[page.language], ...(later ? [assets.laterScript] : [])]
    .map((file) => `<link rel="modulepreload" href="${escaped(file)}">\n`)
    .join('');
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1,interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f1efeb" media="(prefers-color-scheme:light)">
<meta name="theme-color" content="#0b0f19" media="(prefers-color-scheme:dark)">
<meta name="description" content="${escaped(filled(textsFor(page, assets).description, { name: page.branding.name }))}">
<title>${escaped(title)}</title>
${onwards(page)}<link rel="icon" href="${iconOf(assets.accentColour)}">
${preloads}<style>${assets.style}</style>${style}
</head>
<body>
${elements}
${rest}<script type="module" async src="${escaped(assets.script)}"></script>
</body>
</html>
`;
}

/** The texts of a page, those of the brand among them, and those of an invitation in place of others. */
function textsFor({ language, screen }: Page, { texts }: Pick<PageAssets, 'texts'>): Texts {
  const all = { ...allTexts[language], ...texts[language] };
  return 'invitation' in screen ? { ...all, ...invitationTexts(all) } : all;
}

/** The operator's own texts that the script may come to show, and those of an invitation. */
function ownTexts({ language, screen }: Page, { texts }: Pick<PageAssets, 'texts'>): Pick<RenderedPage, 'ownTexts'> {
  const shown: OwnTexts = Object.fromEntries(
    Object.entries(texts).map(([tag, own]) => {
      return [tag, Object.fromEntries(Object.entries(own).filter(([key]) => !serverTexts.test(key)))];
    }),
  );
  if ('invitation' in screen)
    shown[language] = { ...shown[language], ...invitationTexts({ ...allTexts[language], ...texts[language] }) };
  return Object.keys(shown).length === 0 ? {} : { ownTexts: shown };
}

/** In Chromium an immediate redirect replaces the history entry: Back leads to the previous page. */
function onwards({ screen }: Page): string {
  if (screen.name !== 'leaving' || screen.fields) return '';
  return `<meta http-equiv="refresh" content="0;url=${escaped(screen.url)}">\n`;
}

const iconOf = (colour: string) =>
  `data:image/svg+xml,${`<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><path fill='${colour}' d='M4 31V14a12 12 0 0 1 24 0v17zm9 0h11V16.5a5.5 5.5 0 0 0-11 0z'/></svg>`.replace(/[<>#\s]/g, encodeURIComponent)}`;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** JSON that cannot end its script element or break as script in an old parser. */
const jsonForScript = (value: unknown) =>
  JSON.stringify(value).replace(/[<\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
