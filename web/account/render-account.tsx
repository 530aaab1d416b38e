import type { AccountPage } from '#contract/account.ts';
import type { Page } from '#contract/page.ts';
import { documentTitle } from '../components/title-heading.tsx';
import type { PageAssets } from '../render.tsx';
import { AccountContext, sectionTitle } from './account-context.tsx';
import { AccountFrame } from './account-screen.tsx';
import { documentBehind } from './document-behind.tsx';

/** Returns the whole HTML document of the account page, which a script only makes better; but for passkeys. */
export function renderAccount(page: Page, account: AccountPage, assets: PageAssets): string {
  return documentBehind(page, assets, {
    title: (texts) => documentTitle(texts[sectionTitle[account.section]], page),
    tree: (
      <AccountContext value={account}>
        <AccountFrame />
      </AccountContext>
    ),
    script: account.section === 'passkeys' ? assets.passkeyScript : null,
  });
}
