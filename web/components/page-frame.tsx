import { type ReactNode, useEffect, useRef } from 'react';
import { useApp, useMessage, usePortalUrls } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';
import { LanguageMenu } from './language-menu.tsx';
import { OutsideLink, PortalLink } from './links.tsx';

type Props = { word: MessageKey | null; announcement: string; showing: number; children: ReactNode };

/** The frame that stays while the content changes: wall, door, header, floor, and the veil shown on leaving. */
export function PageFrame({ word, announcement, showing, children }: Props) {
  const message = useMessage();
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
export function PageHeader() {
  const { page, screen } = useApp();
  const { toScreen } = usePortalUrls();
  const { name, logo } = page.branding;
  const mark = logo ? (
    <picture>
      {logo.dark && <source srcSet={logo.dark} media="screen and (prefers-color-scheme:dark)" />}
      <img src={logo.src} alt={name} />
    </picture>
  ) : (
    <>
      <svg viewBox="0 0 26 30" width="26" height="30" fill="currentColor" aria-hidden="true">
        <path fillRule="evenodd" d="M1 30V13a12 12 0 0 1 24 0v17zm9 0h11V15.5a5.5 5.5 0 0 0-11 0z" />
      </svg>
      <span>{name}</span>
    </>
  );
  return (
    <header className="header">
      {screen.name === 'login' ? (
        <span className="logo">{mark}</span>
      ) : (
        <PortalLink className="logo" href={toScreen('login')}>
          {mark}
        </PortalLink>
      )}
    </header>
  );
}

export function PageFooter() {
  const message = useMessage();
  const { links } = useApp().page.branding;
  return (
    <footer className="floor">
      <OutsideLink href={links.solutions}>{message('tagline')}</OutsideLink>
      <nav aria-label={message('service-links')}>
        <OutsideLink href={links.support}>{message('support')}</OutsideLink>
        <OutsideLink href={links.imprint}>{message('imprint')}</OutsideLink>
        <LanguageMenu />
      </nav>
    </footer>
  );
}

const arch = 'M7 27V16a9 9 0 0 1 18 0v11';

/** Light moving round a small arch. The frame's status region announces its text, so it is hidden here. */
export function Veil({ text }: { text: string }) {
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
