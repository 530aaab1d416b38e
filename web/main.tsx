import type { ComponentType } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import type { Page } from '#contract/page.ts';
import { languageOfSearch } from './address-language.ts';
import { App } from './app.tsx';
import { isSecondFactor, loadSecondFactor } from './load-second-factor.ts';
import { loadTexts } from './load-texts.ts';
import type { Texts } from './messages.tsx';
import { ErrorDoor } from './parts/error-door.tsx';
import { placeOfUrl } from './place.ts';
import { nothingSaved, SavedValuesStore } from './saved-values.ts';
import { settle } from './settle.ts';

const page = JSON.parse(document.getElementById('page')?.textContent ?? '') as Page;
// The answer to a posted form stands under the call's address. From here on it is the form's: a reload asks for that.
if (page.isAnswer) history.replaceState(null, '', page.url);
const store = new SavedValuesStore(() => sessionStorage);
// Whoever is signed in has arrived: who signs in next in this tab does not inherit the destination.
if (page.serverPage?.name === 'signedIn') store.write(nothingSaved);
const rendered = placeOfUrl(page.url, page.rules.basePath);
const arrived = page.serverPage ? rendered : settle(location, store, page).place;
const language = languageOfSearch(arrived.search) ?? page.language;

// Not awaited at the top: what is loaded imports from this file, and would wait for it for ever.
Promise.all([loadTexts(language), isSecondFactor(arrived, page) ? loadSecondFactor() : null]).then(start);

function start([texts, secondFactor]: [Texts, ComponentType | null]): void {
  const isAsRendered =
    language === page.language &&
    arrived.search === rendered.search &&
    JSON.stringify(arrived.screen) === JSON.stringify(rendered.screen);
  const app = (
    <ErrorDoor texts={texts}>
      <App
        {...{ page, language, texts, secondFactor }}
        browser={{ store, loadTexts, loadSecondFactor }}
        place={isAsRendered ? rendered : arrived}
      />
    </ErrorDoor>
  );
  const portal = document.getElementById('portal') as HTMLElement;
  if (isAsRendered) hydrateRoot(portal, app);
  else createRoot(portal).render(app);
}
