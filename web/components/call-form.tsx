import type { ComponentProps } from 'react';
import type { Notice as NoticeName } from '#contract/notices.ts';
import { type AppState, useApp } from '../app-context.ts';
import { relativeTime } from '../messages.ts';
import type { CallFailure } from '../server-calls.ts';
import { Alert, Notice } from './notice.tsx';
import { PortalForm } from './portal-form.tsx';
import { Reference } from './reference.tsx';

type Props = ComponentProps<typeof PortalForm> & {
  /** Why the last attempt failed. */
  failure: CallFailure | null;
  /** Any other notice; taken from the address if absent. */
  notice?: NoticeName | null;
  /** How long to wait, if the notice mentions it. */
  seconds?: number | undefined;
};

/** A form sent by script; the result of the last attempt is shown above it, and the form can be used again. */
export function CallForm({ failure, notice, seconds, ...form }: Props) {
  const app = useApp();
  return (
    <>
      {failure ? (
        <Alert
          kind="bad"
          answerTo={failure}
          {...(failure.name === 'throttled' && { title: app.message('notice-tooManyAttempts-title') })}
        >
          {failureText(failure, app)}
        </Alert>
      ) : (
        <Notice notice={notice} seconds={seconds} />
      )}
      <PortalForm {...form} />
      <Reference />
    </>
  );
}

/** What a visitor is told about a failed call. */
function failureText(failure: CallFailure, { message, language }: AppState): string {
  const when = (seconds: number) => message('wait-until', { when: relativeTime(language, seconds) });
  switch (failure.name) {
    case 'throttled':
      return failure.seconds === null ? message('notice-tooManyAttempts-text') : when(failure.seconds);
    case 'unavailable':
      return `${message('problem-503-text')} ${when(failure.seconds)}`;
    case 'signInTooOld':
      return message('once-more-text');
    case 'signInExpired':
      return message('notice-signInExpired-text');
    case 'failed':
      return message('general-error-something-went-wrong');
  }
}
