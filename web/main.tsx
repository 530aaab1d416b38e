import { startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { redirectValue } from '#contract/destination.ts';
import type { Language } from '#contract/languages.ts';
import type { RenderedPage } from '#contract/page.ts';
import { languageOfSearch, placeOfUrl } from './addresses.ts';
import { App } from './app.tsx';
import { ErrorDoor } from './components/error-door.tsx';
import { isLater, loadLaterScreen } from './load-later-screen.ts';
import { loadTexts } from './load-texts.ts';
import { nextTask } from './next-task.ts';
import { isForeign, settle } from './page-load.ts';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';
import { followSignOuts } from './sign-outs.ts';
import { whenIdle } from './when-idle.ts';

/** The page as sent by the server, which works without JavaScript: a failure leaves or restores it. */
const address = location.href;
const portal = document.getElementById('portal') as HTMLElement;
const asSent = portal.cloneNode(true);
let isStarted = false;

// Not awaited at the top level: the modules loaded import from this file, and would wait forever.
start().catch((error) => {
  console.error(error);
  putAddressBack();
});

async function start(): Promise<void> {
  // A slow phone can paint and answer between reading the script and starting it.
  await nextTask();
  const page = JSON.parse(document.getElementById('page')?.textContent ?? '') as RenderedPage;
  // The answer to a posted form has the call's address. It gets the form's, so that a reload requests the form: Chromium would
  // post it again as ours, also if another site had posted it.
  if (page.isAnswer) history.replaceState(null, '', page.url);
  const store = new SavedValuesStore(() => sessionStorage);
  followSignOuts(page, store);
  const loadPageTexts = (language: Language) => loadTexts(language, page.ownTexts);
  const { place } = settle(location, store, page);
  const startedAt = location.href;
  if (page.serverPage?.name === 'signedIn') {
    const saved = store.read();
    // The next sign-in in this tab does not inherit the destination.
    store.write(nothingSaved);
    // Not arrived yet: another tab signed in while this one waited.
    if (saved.loginHashFragment && !isForeign(location.hash))
      location.replace(redirectValue(saved, page.url, page.rules));
  }
  const rendered = placeOfUrl(page.url, page.rules.basePath);
  const arrived = page.serverPage ? rendered : place;
  const language = languageOfSearch(arrived.search) ?? page.language;
  const isAsRendered =
    language === page.language &&
    arrived.search === rendered.search &&
    JSON.stringify(arrived.screen) === JSON.stringify(rendered.screen);
  const [texts, laterScreen] = await Promise.all([
    isAsRendered ? page.texts : loadPageTexts(language),
    isLater(arrived, page) ? loadLaterScreen() : null,
  ]);
  const app = (
    <ErrorDoor texts={texts} onError={putBack}>
      <App
        {...{ page, language, texts, laterScreen }}
        browser={{ store, startedAt, loadTexts: loadPageTexts, loadLaterScreen, loadRest, onStarted }}
        place={isAsRendered ? rendered : arrived}
        saved={isAsRendered ? nothingSaved : store.read()}
      />
    </ErrorDoor>
  );
  // As a transition it is done in slices; a press in between is answered at once.
  if (isAsRendered) startTransition(() => void hydrateRoot(portal, app));
  else createRoot(portal).render(app);
  // Other screens are other documents where the server's own page is shown.
  if (!page.serverPage) whenIdle(() => loadRest(language));
}

/** Whoever needs it and finds it missing asks again, or loads the document. */
function loadRest(language: Language): void {
  loadTexts(language).catch(() => {});
  loadLaterScreen().catch(() => {});
}

/** Not at once: failures in the same step are noticed first. */
function onStarted(): void {
  setTimeout(() => {
    isStarted = true;
  });
}

/** Later failures are handled by the error boundary, whose button leads here again. */
function putBack(): void {
  if (isStarted) return;
  portal.replaceWith(asSent);
  putAddressBack();
}

function putAddressBack(): void {
  if (location.href !== address) history.replaceState(null, '', address);
}
