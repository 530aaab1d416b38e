import { useEffect, useRef, useState } from 'react';
import { isEmailAddress } from '#contract/email-address.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';
import { TextField } from './text-field.tsx';

/**
 * A work e-mail; what is wrong with it is said when the visitor leaves it, not while typing, and at once of what a
 * password manager fills in, which may be another kind of name. Not of type `email`:
 * browsers check that more strictly than the server does (decisions §5), and rewrite international addresses.
 */
export function EmailField() {
  const message = useMessage();
  const { place, typedUsername } = useVisit();
  const wasRefused = noticeOfSearch(place.search) === 'emailMalformed';
  const [isWrong, setWrong] = useState(wasRefused);
  // What was refused is there to be put right; a name that was typed elsewhere is no address.
  const known = (!wasRefused && parameterOf(place.search, queryNames.login)) || typedUsername.current;
  const field = useRef<HTMLInputElement>(null);

  function judge(value: string) {
    setWrong(value !== '' && !isEmailAddress(value));
  }

  // What the browser filled in before the script came.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (field.current?.value) judge(field.current.value);
  }, []);

  return (
    <TextField
      ref={field}
      id="email"
      name="username"
      inputMode="email"
      label={message('email')}
      autoComplete="email"
      required
      autoFocus
      defaultValue={wasRefused || isEmailAddress(known) ? known : ''}
      error={isWrong ? message('email-invalid') : undefined}
      onBlur={({ currentTarget }) => judge(currentTarget.value)}
      onAnimationStart={({ currentTarget }) => judge(currentTarget.value)}
      onInput={({ currentTarget: { value }, nativeEvent }) => {
        typedUsername.current = value;
        if (isEmailAddress(value) || !isTyped(nativeEvent as InputEvent)) judge(value);
      }}
    />
  );
}

/** Filling in by browser or manager is an input of no kind, or a replacement. */
function isTyped({ inputType }: InputEvent): boolean {
  return Boolean(inputType) && inputType !== 'insertReplacementText';
}
