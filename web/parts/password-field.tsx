import { useState } from 'react';
import { useIsScripted } from '../is-scripted.ts';
import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';
import { shapes } from './shapes.tsx';
import { TextField, type TextFieldProps } from './text-field.tsx';

/** A password input with a reveal button, which is shown only where it works. */
export function PasswordField({ id, ...field }: TextFieldProps) {
  const message = useMessage('show-password');
  const isScripted = useIsScripted();
  const [isShown, setShown] = useState(false);
  const reveal = (
    <button
      className="peek"
      type="button"
      aria-controls={id}
      aria-pressed={isShown}
      aria-label={message('show-password')}
      onClick={() => setShown(!isShown)}
    >
      <Icon shape={shapes[isShown ? 'eyeClosed' : 'eye']} />
    </button>
  );
  return (
    <TextField
      id={id}
      name={id}
      type={isShown ? 'text' : 'password'}
      required
      beside={isScripted && reveal}
      {...field}
    />
  );
}
