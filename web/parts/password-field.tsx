import { type InputHTMLAttributes, type ReactNode, useState } from 'react';
import { useIsScripted } from '../is-scripted.ts';
import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';
import { shapes } from './shapes.tsx';

type Props = InputHTMLAttributes<HTMLInputElement> & { id: string; label: string; children?: ReactNode };

/** A password input with a reveal button, which is shown only where it works. */
export function PasswordField({ id, label, children, ...input }: Props) {
  const message = useMessage('show-password');
  const isScripted = useIsScripted();
  const [isShown, setShown] = useState(false);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="control">
        <input
          id={id}
          name={id}
          type={isShown ? 'text' : 'password'}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          required
          {...input}
        />
        {isScripted && (
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
        )}
      </div>
      {children}
    </div>
  );
}
