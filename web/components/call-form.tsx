import { type ComponentProps, useEffect, useState } from 'react';
import { destinationAfterTwoFactor, destinationInLanguage } from '#contract/destination.ts';
import type { Notice as NoticeName } from '#contract/notices.ts';
import { type AppState, useApp } from '../app-context.ts';
import { relativeTime } from '../messages.ts';
import { type CallFailure, verifyCode } from '../server-calls.ts';
import { PortalLink } from './links.tsx';
import { Alert, Notice } from './notice.tsx';
import { PortalForm } from './portal-form.tsx';
import { Reference } from './reference.tsx';
import { useSignInAgain } from './screen-links.tsx';
import { Seal } from './seal.tsx';
import { TitleHeading } from './title-heading.tsx';

type Props = ComponentProps<typeof PortalForm> & {
  /** What came of the last attempt; undefined before one, when what the address says is shown. */
  said: Said | undefined;
};

/** A form sent by script; the result of the last attempt is shown above it, and the form can be used again. */
export function CallForm({ said, ...form }: Props) {
  const app = useApp();
  const text = said ? failureText(said, app) : null;
  return (
    <>
      {said && text ? (
        <Alert
          kind="bad"
          answerTo={said}
          {...(said.name === 'throttled' && { title: app.message('notice-tooManyAttempts-title') })}
        >
          {text}
        </Alert>
      ) : (
        <Notice {...(said?.name === 'notice' ? said : { notice: said && null })} />
      )}
      <PortalForm {...form} />
      <Reference />
    </>
  );
}

/** What a visitor is told about a failed call; null for what is said beside the code, since another one may help. */
function failureText(failure: NonNullable<Said>, { message, language }: AppState): string | null {
  const when = (seconds: number) => message('wait-until', { when: relativeTime(language, seconds) });
  switch (failure.name) {
    case 'throttled':
      return failure.seconds === null ? message('notice-tooManyAttempts-text') : when(failure.seconds);
    case 'unavailable':
      return `${message('problem-503-text')} ${when(failure.seconds)}`;
    case 'signInExpired':
      return message('notice-signInExpired-text');
    case 'failed':
      return message('general-error-something-went-wrong');
    case 'wrong':
    case 'malformed':
    case 'notChecked':
    case 'notice':
      return null;
  }
}

/** What a second-factor screen has to show: the result of the last call, or the notice in the address. */
export type Said =
  | { name: 'wrong' }
  | CallFailure
  | { name: 'notice'; notice: NoticeName; seconds?: number }
  | { name: 'malformed' }
  /** The check itself failed, so the code may have been right. */
  | { name: 'notChecked' }
  | null;

/** Has a code checked and continues if it is right; otherwise shows why and reactivates the page. */
export function useCodeCheck() {
  const { page, notice, asked, saved, save, comeBack, toCall, toScreen, askedLanguage, secondFactor } = useApp();
  // That no email is on its way is shown on every load, not only after a redirect.
  const notSent: Said = secondFactor?.isCodeNotSent ? { name: 'notice', notice: 'codeNotSent' } : null;
  const [said, say] = useState<Said>(() => saidOf(notice) ?? notSent);
  // Distinguishes consecutive wrong codes, since repeated identical text isn't announced.
  const [checks, setChecks] = useState(0);

  /** `wrong`, `right`, or the name of the failure. */
  async function check(code: string, isRemembered: boolean): Promise<string> {
    const answer = await verifyCode(page.rules.basePath, code, isRemembered);
    if (answer.name === 'right') location.assign(addressAfter(answer.next));
    else {
      console.error('Two-factor code not verified:', answer.name);
      // The server's page at this address says so, and what helps.
      if (answer.name === 'signInTooOld') location.reload();
      else say(answer.name === 'failed' ? { name: 'notChecked' } : answer);
      setChecks((count) => count + 1);
      comeBack();
    }
    return answer.name;
  }

  function addressAfter(next: string | null): string {
    if (next === 'registration')
      return toScreen('twoFactorRegistration', { redirectURL: asked('redirectUrl') ?? undefined });
    save({ loginHashFragment: null, redirectOldWebbundleUrl: null });
    const destination = destinationAfterTwoFactor(saved, page.rules);
    return next === 'recoveryCodes'
      ? toCall('twoFactorRecoveryCodes', { redirectURL: destination })
      : destinationInLanguage(destination, page.rules.basePath, askedLanguage);
  }

  return { said, say, check, checks };
}

function saidOf(notice: NoticeName | null): Said {
  if (notice === 'codeWrong') return { name: 'wrong' };
  if (notice === 'codeMalformed') return { name: 'malformed' };
  return notice && { name: 'notice', notice };
}

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
