import { useEffect } from 'react';
import { useApp } from '../app-context.ts';
import type { CallFailure } from '../server-calls.ts';
import { PortalLink } from './links.tsx';
import { useSignInAgain } from './screen-links.tsx';
import { Seal } from './seal.tsx';
import { TitleHeading } from './title-heading.tsx';

/** In place of the screen's content: one button to start again; name and destination are kept. */
export function SignInOver({ notice }: Extract<CallFailure, { name: 'signInExpired' }>) {
  const { message } = useApp();
  const { url } = useSignInAgain();

  useEffect(() => document.querySelector('h1')?.focus(), []);

  return (
    <>
      <Seal icon="bang" kind={notice === 'tooManyCodes' ? 'bad' : 'plain'} />
      <TitleHeading titleKey={`notice-${notice}-title`} />
      <p className="lede" role="alert">
        {message(`notice-${notice}-text`)}
      </p>
      <div className="stack">
        <PortalLink className="button" href={url} isDocument>
          {message('sign-in-again')}
        </PortalLink>
      </div>
    </>
  );
}
