import type { ComponentProps } from 'react';
import { type AppState, useApp } from '../app-context.ts';
import { relativeTime } from '../messages.ts';
import type { Said } from './code-check.ts';
import { Alert, Notice } from './notice.tsx';
import { PortalForm } from './portal-form.tsx';
import { Reference } from './reference.tsx';

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
