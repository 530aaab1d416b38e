import { type ComponentProps, type ReactNode, useState } from 'react';
import { useApp } from '../app-context.ts';
import { useIsScripted } from '../is-scripted.tsx';
import { Icon, shapes } from './icon.tsx';

export type TextFieldProps = ComponentProps<'input'> & {
  id: string;
  label: string;
  children?: ReactNode;
};

/** A text with its label; `checked-field.tsx` adds what is wrong with it. */
export function TextField({ id, label, children, defaultValue, ...input }: TextFieldProps) {
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
      </div>
      {children}
    </div>
  );
}

/** A password input with a reveal button, which the keyboard reaches after the children, such as the form's button. */
export function PasswordField({ id, children, ...field }: TextFieldProps) {
  const { message } = useApp();
  const isScripted = useIsScripted();
  const [isShown, setShown] = useState(false);
  return (
    <TextField id={id} name={id} type={isShown ? 'text' : 'password'} required {...field}>
      {children}
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
    </TextField>
  );
}
