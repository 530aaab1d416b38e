import type { ComponentProps } from 'react';
import type { Notice as NoticeName } from '#contract/notices.ts';
import { useMessage } from '../messages.tsx';
import type { CallFailure } from '../server-calls.ts';
import { Alert } from './alert.tsx';
import { useCallFailureText } from './call-failure-text.ts';
import { Notice } from './notice.tsx';
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
  const message = useMessage('notice-tooManyAttempts-title');
  const textOf = useCallFailureText();
  return (
    <>
      {failure ? (
        <Alert
          kind="bad"
          answerTo={failure}
          {...(failure.name === 'throttled' && { title: message('notice-tooManyAttempts-title') })}
        >
          {textOf(failure)}
        </Alert>
      ) : (
        <Notice notice={notice} seconds={seconds} />
      )}
      <PortalForm {...form} />
      <Reference />
    </>
  );
}
