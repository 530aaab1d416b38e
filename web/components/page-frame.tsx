import { type ReactNode, useEffect, useRef } from 'react';
import { type Language, languageNames, languages } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';
import { Icon, shapes } from './icon.tsx';
import { PortalLink } from './links.tsx';
import { HiddenFields } from './portal-form.tsx';

type Props = { word: MessageKey | null; announcement: string; showing: number; children: ReactNode };

/** The frame that stays while the content changes: wall, door, header, floor, and the veil shown on leaving. */
export function PageFrame({ word, announcement, showing, children }: Props) {
  const { message } = useApp();
  const content = useRef<HTMLDivElement>(null);
  const lastShowing = useRef(showing);

  // On a new screen the heading takes the focus unless a field has.
  useEffect(() => {
    if (lastShowing.current === showing) return;
    lastShowing.current = showing;
    if (!content.current?.contains(document.activeElement)) content.current?.querySelector('h1')?.focus();
  }, [showing]);

  return (
    <div className={word ? 'portal busy' : 'portal'}>
      <div className="wall">
        <div className="door">
          <div className="column">
            <PageHeader />
            <main aria-busy={word !== null}>
              <div className="content" ref={content} inert={word !== null}>
                {children}
              </div>
              {word && <Veil text={message(word)} />}
            </main>
          </div>
        </div>
      </div>
      <PageFooter />
      <p className="sr" role="status">
        {word ? message(word) : announcement}
      </p>
    </div>
  );
}

/** The logo; links to the sign-in form except on that form (specification §2). */
function PageHeader() {
  const { screen, toScreen } = useApp();
  return (
    <header className="header">
      {screen.name === 'login' ? (
        <span className="logo">
          <Mark />
        </span>
      ) : (
        <PortalLink className="logo" href={toScreen('login')}>
          <Mark />
        </PortalLink>
      )}
    </header>
  );
}

/** The hub's own logo, or our mark with its name. */
export function Mark() {
  const { name, logo } = useApp().page.branding;
  return logo ? (
    <picture>
      {logo.dark && <source srcSet={logo.dark} media="screen and (prefers-color-scheme:dark)" />}
      <img src={logo.src} alt={name} />
    </picture>
  ) : (
    <>
      <svg viewBox="0 0 26 30" aria-hidden="true">
        <path fill="currentColor" stroke="none" d="M1 30V13a12 12 0 0 1 24 0v17zm9 0h11V15.5a5.5 5.5 0 0 0-11 0z" />
      </svg>
      <span>{name}</span>
    </>
  );
}

export function PageFooter() {
  const { message, page } = useApp();
  const { links } = page.branding;
  return (
    <footer className="floor">
      <PortalLink isDocument href={links.solutions}>
        {message('tagline')}
      </PortalLink>
      <nav aria-label={message('service-links')}>
        <PortalLink isDocument href={links.support}>
          {message('support')}
        </PortalLink>
        <PortalLink isDocument href={links.imprint}>
          {message('imprint')}
        </PortalLink>
        <LanguageMenu />
      </nav>
    </footer>
  );
}

const arch = 'M7 27V16a9 9 0 0 1 18 0v11';

/** Light moving round a small arch. The frame's status region announces its text, so it is hidden here. */
function Veil({ text }: { text: string }) {
  return (
    <div className="veil" aria-hidden="true">
      <svg className="spin" viewBox="0 0 32 32" width="48" height="48" aria-hidden="true">
        <path d={arch} />
        <path d={arch} pathLength="100" />
      </svg>
      <span>{text}</span>
    </div>
  );
}

/** A GET form, so that it works without JavaScript; the script translates the page in place. */
function LanguageMenu() {
  const { message, language, page, place, setLanguage, toScreen } = useApp();
  // The answer to a posted form has the call's address, which answers no GET itself.
  const isProblem = page.screen.name === 'problem';
  const action = isProblem ? toScreen('login') : page.isAnswer && toScreen(place.screen);
  // A GET form drops its query. The reset secret stays only where the form needs it, and there the address has it already.
  const isChange = place.screen.name === 'forgottenChange';
  const dropped: string[] = [queryNames.language, ...(isChange ? [] : [queryNames.hash])];
  const kept = [...new URLSearchParams(place.search)].filter(([name]) => !dropped.includes(name));
  return (
    <form className="language" method="get" action={action}>
      {!isProblem && <HiddenFields of={kept} />}
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
