import type { DeskPage, DeskView } from '#contract/desk.ts';
import type { Page } from '#contract/page.ts';
import { documentBehind } from '../account/document-behind.tsx';
import type { AllTexts } from '../all-texts.ts';
import { documentTitle } from '../components/title-heading.tsx';
import type { PageAssets } from '../render.tsx';
import { DeskContext } from './desk-context.tsx';
import { DeskFrame } from './desk-frame.tsx';

/** Returns the whole HTML document of a page of the desk; its script only searches while one types. */
export function renderDesk(page: Page, desk: DeskPage, assets: PageAssets): string {
  return documentBehind(page, assets, {
    title: (texts) => documentTitle(titleOf(desk.view, texts), page),
    tree: (
      <DeskContext value={desk}>
        <DeskFrame />
      </DeskContext>
    ),
    script: assets.deskScript,
  });
}

function titleOf(view: DeskView, texts: AllTexts): string {
  switch (view.name) {
    case 'person':
      return view.displayName ?? view.username;
    case 'customer':
    case 'import':
      return view.displayName;
    case 'customers':
      return texts['desk-customers'];
    case 'events':
      return texts['desk-events'];
    default:
      return texts['desk-title'];
  }
}
