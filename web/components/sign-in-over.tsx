import { useEffect } from 'react';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import type { CallFailure } from '../server-calls.ts';
import type { Said } from './code-check.ts';
import { PortalLink } from './links.tsx';
import { PortalForm, SubmitButton } from './portal-form.tsx';
import { useSignInAgain } from './screen-links.tsx';
import { Seal } from './seal.tsx';
import { TitleHeading } from './title-heading.tsx';

type Over = Extract<CallFailure, { name: 'signInExpired' | 'signInTooOld' }>;

/** Whether this sign-in accepts no more codes. */
export function isOver(said: Said): said is Over {
  return said?.name === 'signInExpired' || said?.name === 'signInTooOld';
}

/** In place of the screen's content: one button to start again; name and destination are kept. */
export function SignInOver({ said }: { said: Over }) {
  const { message, toScreen } = useApp();
  const { destination, url } = useSignInAgain();
  const isTooOld = said.name === 'signInTooOld';
  const notice = !isTooOld && said.notice === 'tooManyCodes' ? 'tooManyCodes' : 'signInExpired';

  useEffect(() => document.querySelector('h1')?.focus(), []);

  return (
    <>
      <Seal icon={isTooOld ? 'key' : 'bang'} kind={notice === 'tooManyCodes' ? 'bad' : 'plain'} />
      <TitleHeading titleKey={isTooOld ? 'once-more-title' : `notice-${notice}-title`} />
      <p className="lede" role="alert">
        {message(isTooOld ? 'once-more-text' : `notice-${notice}-text`)}
      </p>
      {isTooOld ? (
        <SignInOnceMoreForm
          comesBackTo={toScreen('twoFactorRegistration', { [queryNames.redirectUrl]: destination })}
        />
      ) : (
        <div className="stack">
          <PortalLink className="button" href={url} isDocument>
            {message('sign-in-again')}
          </PortalLink>
        </div>
      )}
    </>
  );
}

/** Signs out a user who signed in too long ago to set up an app, and returns here once they are signed in again. */
export function SignInOnceMoreForm({ comesBackTo }: { comesBackTo: string }) {
  const { message, save } = useApp();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; what the tab remembers would lead past this page
  useEffect(() => save({ loginHashFragment: null, redirectOldWebbundleUrl: null }), []);

  return (
    <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
      <SubmitButton>{message('once-more-button')}</SubmitButton>
    </PortalForm>
  );
}
