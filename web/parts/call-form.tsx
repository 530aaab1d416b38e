import type { ComponentProps } from 'react';
import type { Notice as NoticeName } from '#contract/notices.ts';
import { useMessage } from '../messages.tsx';
import type { CallFailure } from '../server-calls.ts';
import { Alert } from './alert.tsx';
import { useCallFailureText } from './call-failure-text.ts';
import { Notice } from './notice.tsx';
import { PortalForm } from './portal-form.tsx';

type Props = ComponentProps<typeof PortalForm> & {
  /** Why the last try did not succeed. */
  failure: CallFailure | null;
  /** What there is to say else; the address says it where nothing is given. */
  notice?: NoticeName | null;
  /** How long to wait, where the notice says so. */
  seconds?: number | undefined;
};

/** A form that the script sends: what became of the last try stands above it, and it is alive again. */
export function CallForm({ failure, notice, seconds, ...form }: Props) {
  const message = useMessage();
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
    </>
  );
}
