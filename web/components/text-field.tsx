import { type ComponentProps, type ReactNode, useState } from 'react';
import { useMessage } from '../app-context.ts';
import { useIsScripted } from '../is-scripted.tsx';
import { Icon, shapes } from './icon.tsx';

export type TextFieldProps = ComponentProps<'input'> & {
  id: string;
  label: string;
  /** In the frame of the field, after its text. */
  beside?: ReactNode;
  children?: ReactNode;
};

/** A text with its label; `checked-field.tsx` adds what is wrong with it. */
export function TextField({ id, label, beside, children, defaultValue, ...input }: TextFieldProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="control">
        <input
          id={id}
          type="text"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          // Browsers bring an entry back with the page only if it differs from the default, which therefore stays.
          defaultValue={useState(defaultValue)[0]}
          {...input}
        />
        {beside}
      </div>
      {children}
    </div>
  );
}

/** A password input with a reveal button, which is shown only where it works. */
export function PasswordField({ id, ...field }: TextFieldProps) {
  const message = useMessage();
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
