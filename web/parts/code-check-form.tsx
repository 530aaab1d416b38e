import type { ComponentProps } from 'react';
import { useMessage } from '../messages.tsx';
import type { CallFailure } from '../server-calls.ts';
import { CallForm } from './call-form.tsx';
import type { Said } from './code-check.ts';
import { SubmitButton } from './submit-button.tsx';
import { TwoFactorFields } from './two-factor-fields.tsx';

type Props = Pick<ComponentProps<typeof CallForm>, 'isReady' | 'onSend' | 'children'> & { said: Said };

/** What is shown above the form; everything else is shown beside the code, since another code may help. */
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

/** A form whose code is checked, with notices above it; a wrong code is reported beside the field. */
export function CodeCheckForm({ said, children, ...form }: Props) {
  const message = useMessage();
  return (
    <CallForm
      call="twoFactorVerify"
      // Set here and not on the tick box: Firefox would tick it again on a reload.
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
