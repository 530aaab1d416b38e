import { hydrateRoot } from 'react-dom/client';
import type { RenderedPage } from '#contract/page.ts';
import { AppContext } from '../app-context.ts';
import { NewPasswordFields } from '../components/new-password-fields.tsx';
import { loadTexts } from '../load-texts.ts';
import { stillApp } from './account-context.tsx';
import { showLocalTimes } from './times.tsx';

/** What a script adds to the account page: the reader's own time zone, and rules that are ticked off while typing. */
export async function enlivenAccount(page: RenderedPage): Promise<void> {
  showLocalTimes(page.language);
  // What the desk finds while somebody types.
  document.addEventListener('found', () => showLocalTimes(page.language));
  const menu = document.querySelector<HTMLSelectElement>('.language select');
  menu?.addEventListener('change', () => menu.form?.requestSubmit());
  const fields = document.getElementById('new-password');
  if (!fields) return;
  const app = stillApp(page, await loadTexts(page.language, page.ownTexts));
  hydrateRoot(
    fields,
    <AppContext value={app}>
      <NewPasswordFields isFirst={false} />
    </AppContext>,
  );
}
