import { type ReactNode, useState } from 'react';
import { isEmailAddress } from '#contract/addresses.ts';
import { loginOf } from '../addresses.ts';
import { useApp } from '../app-context.ts';
import { Icon, shapes } from './icon.tsx';
import { TextField, type TextFieldProps } from './text-field.tsx';

type Props = TextFieldProps & { error?: string | undefined };

/** A text field that may show what is wrong with its text; the sign-in form has none, and so loads none. */
export function CheckedField({ error, children, ...field }: Props) {
  const errorId = `${field.id}-error`;
  return (
    <TextField aria-invalid={error ? true : undefined} aria-describedby={error ? errorId : undefined} {...field}>
      {error && <FieldError id={errorId}>{error}</FieldError>}
      {children}
    </TextField>
  );
}

/**
 * A work email. Mistakes are shown on leaving the field, not while typing, but at once for a value that the browser fills
 * in, which may not be an address. Not of type `email`: browsers check that more strictly than the server
 * and rewrite international addresses.
 */
export function EmailField() {
  const { message, place, typedUsername, notice } = useApp();
  const wasRefused = notice === 'emailMalformed';
  const [isWrong, setWrong] = useState(wasRefused);
  // A refused entry is kept for correction; a name typed elsewhere isn't an address.
  const known = (!wasRefused && loginOf(place.search)) || typedUsername.current;

  function judge({ currentTarget: { value } }: { currentTarget: HTMLInputElement }) {
    setWrong(value !== '' && !isEmailAddress(value));
  }

  return (
    <CheckedField
      id="email"
      name="username"
      inputMode="email"
      label={message('email')}
      autoComplete="email"
      required
      autoFocus
      defaultValue={wasRefused || isEmailAddress(known) ? known : ''}
      error={isWrong ? message('email-invalid') : undefined}
      onBlur={judge}
      onAnimationStart={judge}
      onInput={({ currentTarget: { value } }) => {
        typedUsername.current = value;
        if (isEmailAddress(value)) setWrong(false);
      }}
    />
  );
}

export function FieldError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p className="error" id={id} role="alert">
      <Icon shape={shapes.alert} size={16} />
      {children}
    </p>
  );
}

/** Whose password it is, for password managers: unnamed, since it is not sent (specification §7). */
export function UsernameField({ username }: { username: string }) {
  return (
    <input className="sr" type="text" autoComplete="username" value={username} tabIndex={-1} aria-hidden readOnly />
  );
}
