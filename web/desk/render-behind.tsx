import type { DeskPage, DeskView } from '#contract/desk.ts';
import type { Page } from '#contract/page.ts';
import { documentBehind } from '../account/document-behind.tsx';
import type { AllTexts } from '../all-texts.ts';
import { documentTitle } from '../components/title-heading.tsx';
import type { PageAssets } from '../render.tsx';
import { DeskFrame } from './desk-frame.tsx';

export { styles } from '../account/document-behind.tsx';
export { renderAccount } from '../account/render-account.tsx';

/** Returns the whole HTML document of a page of the desk; its script only searches while one types. */
export function renderDesk(page: Page, desk: DeskPage, assets: PageAssets): string {
  return documentBehind(page, assets, {
    title: (texts) => documentTitle(titleOf(desk.view, texts), page),
    tree: <DeskFrame {...desk} />,
    script: assets.deskScript,
  });
}

function titleOf(view: DeskView, texts: AllTexts): string {
  if (view.name === 'person') return view.displayName ?? view.username;
  if ('displayName' in view) return view.displayName;
  if (view.name === 'customers' || view.name === 'events') return texts[`desk-${view.name}`];
  return texts['desk-title'];
}
