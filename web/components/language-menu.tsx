import { type Language, languageNames, languages } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import { Icon, shapes } from './icon.tsx';

/** A GET form, so that it works without JavaScript; the script translates the page in place. */
export function LanguageMenu() {
  const message = useMessage();
  const { language } = useApp();
  const { page, place, setLanguage } = useApp();
  const { toScreen } = usePortalUrls();
  // The answer to a posted form has the call's address, which answers no GET itself.
  const isProblem = page.screen.name === 'problem';
  const action = isProblem ? toScreen('login') : page.isAnswer && toScreen(place.screen);
  return (
    <form className="language" method="get" action={action}>
      {!isProblem && <OtherParameters />}
      <label htmlFor="lang">
        <Icon shape={shapes.globe} size={18} />
        <span className="sr">{message('language')}</span>
      </label>
      <select
        id="lang"
        name={queryNames.language}
        autoComplete="off"
        value={language}
        onChange={(event) => setLanguage(event.target.value as Language)}
      >
        {languages.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {languageNames[tag]}
          </option>
        ))}
      </select>
      <noscript>
        <button type="submit">{message('language-apply')}</button>
      </noscript>
    </form>
  );
}

/** The rest of the query, which a GET form would drop. */
function OtherParameters() {
  const { place } = useApp();
  const dropped: string[] = [queryNames.language];
  // The reset secret is kept only where the form needs it, and there it is in the address already.
  if (place.screen.name !== 'forgottenChange') dropped.push(queryNames.hash);
  const kept = [...new URLSearchParams(place.search)].filter(([name]) => !dropped.includes(name));
  return kept.map(([name, value]) => <input key={name + value} type="hidden" name={name} value={value} />);
}
