import type { ComponentProps } from 'react';
import { useMessage } from '../messages.tsx';
import type { CallFailure } from '../server-calls.ts';
import { CallForm } from './call-form.tsx';
import type { Said } from './code-check.ts';
import { SubmitButton } from './submit-button.tsx';
import { TwoFactorFields } from './two-factor-fields.tsx';

type Props = Pick<ComponentProps<typeof CallForm>, 'isReady' | 'onSend' | 'children'> & { said: Said };

/** What is told above the form; the rest is told beside the code, since another one may help. */
function failureOf(said: Said): CallFailure | null {
  switch (said?.name) {
    case undefined:
    case 'wrong':
    case 'malformed':
    case 'notChecked':
    case 'notice':
      return null;
    default:
      return said as CallFailure;
  }
}

/** A form whose code is checked, with what there is to say above it; a wrong one is told beside it. */
export function CodeCheckForm({ said, children, ...form }: Props) {
  const message = useMessage();
  return (
    <CallForm
      call="twoFactorVerify"
      // For the tick box, which must not carry it itself: Firefox would tick it again on a reload.
      autoComplete="off"
      word="checking-code"
      failure={failureOf(said)}
      notice={said?.name === 'notice' ? said.notice : null}
      seconds={said?.name === 'notice' ? said.seconds : undefined}
      {...form}
    >
      {children}
      <TwoFactorFields />
      <SubmitButton>{message('twofa-verify')}</SubmitButton>
    </CallForm>
  );
}
