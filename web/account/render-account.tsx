import { renderToStaticMarkup } from 'react-dom/server';
import { type AccountPage, needsScript } from '#contract/account.ts';
import { houseBrand } from '#contract/colour.ts';
import type { Page } from '#contract/page.ts';
import { placeOfUrl } from '../addresses.ts';
import { type AllTexts, allTexts } from '../all-texts.ts';
import { AppContext, type AppState } from '../app-context.ts';
import { documentTitle } from '../components/title-heading.tsx';
import { escaped, iconOf, metaOfScreen, type PageAssets } from '../render.tsx';
import { nothingSaved } from '../saved-values.ts';
import style from './account.css?inline';
import { AccountContext, sectionTitle } from './account-context.tsx';
import { AccountFrame, AccountScreen } from './account-screen.tsx';

/** What the account page adds to the style of the other screens. */
export const accountStyle = style;

/** Returns the whole HTML document of the account page: plain HTML, with no script but that of passkeys. */
export function renderAccount(page: Page, account: AccountPage, assets: PageAssets): string {
  const texts = { ...allTexts[page.language], ...assets.texts[page.language] };
  const tree = renderToStaticMarkup(
    <AppContext value={stillApp(page, texts)}>
      <AccountContext value={account}>
        <AccountFrame>
          <AccountScreen />
        </AccountFrame>
      </AccountContext>
    </AppContext>,
  );
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
${metaOfScreen}
<title>${escaped(documentTitle(texts[sectionTitle[account.section]], page))}</title>
<link rel="icon" href="${iconOf(assets.accentColour ?? houseBrand)}">
<style>${assets.style}</style>
<style>${accountStyle}</style>
</head>
<body>
${tree}
${needsScript(account) ? `<script type="module" src="${escaped(assets.passkeyScript)}"></script>\n` : ''}</body>
</html>
`;
}

/** What parts shared with the other screens read; nothing moves on a page without a script. */
function stillApp(page: Page, texts: AllTexts): AppState {
  const nothing = () => {};
  return {
    page,
    place: placeOfUrl(page.url, page.rules.basePath),
    screen: page.screen,
    saved: nothingSaved,
    language: page.language,
    texts,
    typedUsername: { current: '' },
    isLeaving: false,
    leave: () => false,
    comeBack: nothing,
    goTo: nothing,
    goToDocument: nothing,
    save: nothing,
    forgetWebbundle: nothing,
    setLanguage: nothing,
    announce: nothing,
  };
}
