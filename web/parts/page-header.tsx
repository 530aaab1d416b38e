import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';
import { PortalLink } from './portal-link.tsx';

/** The logo; links to the sign-in form except on that form (specification §2). */
export function PageHeader() {
  const { page, place } = useVisit();
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
      {!page.serverPage && place.screen.name === 'login' ? (
        <span className="logo">{mark}</span>
      ) : (
        <PortalLink className="logo" href={toScreen('login')}>
          {mark}
        </PortalLink>
      )}
    </header>
  );
}
