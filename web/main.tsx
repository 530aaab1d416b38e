import { lazy, startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { redirectValue } from '#contract/destination.ts';
import { hasAddress, type RenderedPage } from '#contract/page.ts';
import { languageOfSearch, placeOfUrl, screenAt } from './addresses.ts';
import { App } from './app.tsx';
import { loadTexts } from './load-texts.ts';
import { isForeign, settle } from './page-load.ts';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';
import { isLater, loadLaterScreen } from './screens/current-screen.tsx';
import { followSignOuts } from './sign-outs.ts';
import { whenIdle } from './when-idle.ts';

/** The page as sent by the server, which works without JavaScript: a failure leaves or restores it. */
const address = location.href;
const portal = document.getElementById('portal');
const asSent = portal?.cloneNode(true);

const LaterScreen = lazy(loadLaterScreen);

// Not awaited at the top level: the modules loaded import from this file, and would wait forever.
start().catch((error) => {
  console.error(error);
  putAddressBack();
});

async function start(): Promise<void> {
  const page = JSON.parse(document.getElementById('page')?.textContent ?? '') as RenderedPage;
  // The account page is the server's; this makes it better.
  if (!portal) return (await import('./screens/later-screen.tsx')).enlivenAccount(page);
  // The answer to a posted form has the call's address. It gets the form's, so that a reload requests the form: Chromium would
  // post it again as ours, also if another site had posted it.
  if (page.isAnswer) history.replaceState(null, '', page.url);
  const store = new SavedValuesStore(() => sessionStorage);
  followSignOuts(page, store);
  const { place } = settle(location, store, page);
  const startedAt = location.href;
  if (page.screen.name === 'signedIn') {
    const saved = store.read();
    // The next sign-in in this tab does not inherit the destination.
    store.write(nothingSaved);
    // Not arrived yet: another tab signed in while this one waited.
    if (saved.loginHashFragment && !isForeign(location.hash))
      location.replace(redirectValue(saved, page.url, page.rules));
  }
  const rendered = placeOfUrl(page.url, page.rules.basePath);
  const arrived = hasAddress(page.screen) ? place : rendered;
  const language = languageOfSearch(arrived.search) ?? page.language;
  const isAsRendered =
    language === page.language &&
    arrived.search === rendered.search &&
    JSON.stringify(arrived.screen) === JSON.stringify(rendered.screen);
  const [texts] = await Promise.all([
    loadTexts(language, page.ownTexts),
    // Before anything is rendered, so that a failure leaves the server's page.
    isLater(screenAt(page, arrived)) && loadLaterScreen(),
  ]);
  const app = (
    <App
      {...{ page, language, texts, LaterScreen }}
      browser={{ store, startedAt }}
      place={isAsRendered ? rendered : arrived}
      saved={isAsRendered ? nothingSaved : store.read()}
    />
  );
  /** An error in the script never leaves an empty page: the server's works without; of another screen it is asked for. */
  function onUncaughtError(error: unknown): void {
    console.error(error);
    if (asSent && location.href === startedAt) {
      portal?.replaceWith(asSent);
      putAddressBack();
    } else location.reload();
  }
  // As a transition it is done in slices; a press in between is answered at once.
  startTransition(() => {
    if (isAsRendered) hydrateRoot(portal, app, { onUncaughtError });
    else createRoot(portal, { onUncaughtError }).render(app);
  });
  // Other screens are other documents where the server's own page is shown. A link that needs it asks again.
  if (hasAddress(page.screen)) whenIdle(() => loadLaterScreen().catch(() => {}));
}

function putAddressBack(): void {
  if (location.href !== address) history.replaceState(null, '', address);
}
