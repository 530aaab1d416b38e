import { renderToString } from 'react-dom/server';
import type { AccountPage } from '#contract/account.ts';
import { houseBrand } from '#contract/colour.ts';
import type { Page } from '#contract/page.ts';
import { allTexts } from '../all-texts.ts';
import { AppContext } from '../app-context.ts';
import { documentTitle } from '../components/title-heading.tsx';
import { dataOfPage, escaped, iconOf, metaOfScreen, type PageAssets } from '../render.tsx';
import style from './account.css?inline';
import { AccountContext, sectionTitle, stillApp } from './account-context.tsx';
import { AccountFrame, AccountScreen } from './account-screen.tsx';

/** What the account page adds to the style of the other screens. */
export const accountStyle = style;

/** Returns the whole HTML document of the account page, which a script only makes better; but for passkeys. */
export function renderAccount(page: Page, account: AccountPage, assets: PageAssets): string {
  const texts = { ...allTexts[page.language], ...assets.texts[page.language] };
  const tree = renderToString(
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
${dataOfPage(page, assets)}
<script type="module" async src="${escaped(assets.script)}"></script>
${account.section === 'passkeys' ? `<script type="module" src="${escaped(assets.passkeyScript)}"></script>\n` : ''}</body>
</html>
`;
}
