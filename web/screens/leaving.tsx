import { useEffect, useRef } from 'react';
import type { ScreenOf } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import { PortalLink } from '../components/links.tsx';
import { HiddenFields } from '../components/portal-form.tsx';
import { TitleHeading } from '../components/title-heading.tsx';

/** Redirects to an identity provider automatically; the button is the fallback. */
export function Leaving({ isSignOut, url, provider, fields }: ScreenOf<'leaving'>) {
  const { message, leave } = useApp();
  const form = useRef<HTMLFormElement>(null);
  // Anyone returning from the provider isn't sent there again: they would never get out.
  useEffect(() => {
    const [opened] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    if (opened?.type !== 'back_forward') form.current?.submit();
  }, []);
  return (
    <>
      <TitleHeading titleKey={isSignOut ? 'leaving-sign-out-title' : 'leaving-title'} />
      <p className="lede">{message(isSignOut ? 'leaving-sign-out-text' : 'leaving-text', { provider })}</p>
      <div className="stack">
        {fields ? (
          <form ref={form} method="post" action={url} onSubmit={() => void leave('please-wait')}>
            <HiddenFields of={Object.entries(fields)} />
            <button type="submit">{message('leaving-button', { provider })}</button>
          </form>
        ) : (
          <PortalLink isDocument className="button" href={url}>
            {message('leaving-button', { provider })}
          </PortalLink>
        )}
      </div>
    </>
  );
}
