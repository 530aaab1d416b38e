import { useLayoutEffect, useRef, useState } from 'react';
import { brokenPasswordRules, type PasswordRule, passwordScore, popularEntryIn } from '#contract/password-rules.ts';
import { useApp } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';
import { Icon } from './icon.tsx';
import { useIsReady } from './portal-form.tsx';
import { sealShapes } from './seal.tsx';
import { PasswordField } from './text-field.tsx';

/** The lines of the list: what each asks for, and the rules that break it. */
const lines: readonly [MessageKey, ...PasswordRule[]][] = [
  ['password-validation-between', 'short', 'long'],
  ['check-common', 'common'],
  ['check-strength', 'weak'],
  ['check-match', 'match'],
];

/**
 * A new password and its repeat, with one list that says everything once: a line asks for something, is ticked off or, once both
 * fields were left, says what is wrong instead (specification §5). The keyboard comes to both fields before their eyes.
 */
export function NewPasswordFields({ isFirst }: { isFirst: boolean }) {
  const { message, page } = useApp();
  const fields = useRef<HTMLDivElement>(null);
  const [{ password, repeat }, setEntries] = useState({ password: '', repeat: '' });
  const [left, setLeft] = useState({ password: false, repeat: false });
  const broken = brokenPasswordRules(password, repeat, page.passwordPolicy);
  const shown = left.password && left.repeat ? broken : [];
  const ofPassword = (rule: PasswordRule) => rule !== 'match';

  function read() {
    const [password = '', repeat = ''] = [...(fields.current?.querySelectorAll('input') ?? [])].map(
      ({ value }) => value,
    );
    setEntries((last) => (last.password === password && last.repeat === repeat ? last : { password, repeat }));
  }

  // What was filled in before the script ran, or without an event: then the form has noticed.
  useIsReady();
  useLayoutEffect(read);

  return (
    <div className="new-password" ref={fields} onInput={read} onAnimationStart={read}>
      <PasswordField
        id="password"
        label={message('change-password')}
        autoComplete="new-password"
        autoFocus={isFirst}
        aria-describedby="why rules"
        aria-invalid={shown.some(ofPassword)}
        onBlur={() => setLeft((now) => ({ ...now, password: true }))}
      >
        <StrengthMeter password={password} wrong={broken.filter(ofPassword).length} />
        <PasswordField
          id="repeat"
          label={message('change-repeat')}
          autoComplete="new-password"
          aria-describedby="rules"
          aria-invalid={shown.includes('match')}
          onBlur={() => setLeft((now) => ({ ...now, repeat: true }))}
        />
      </PasswordField>
      <ul className="rules" id="rules" aria-live="polite">
        {lines.map(([asked, ...rules]) => {
          const wrong = shown.find((rule) => rules.includes(rule));
          const entry = asked === 'check-match' ? repeat : password;
          const isMet = entry !== '' && !rules.some((rule) => broken.includes(rule));
          const state = wrong ? 'broken' : isMet ? 'met' : 'open';
          return (
            <li key={asked} className={state} aria-atomic="true">
              <Icon shape={sealShapes[state]} size={18} />
              <span>
                <span className="sr">{message(`check-${state}`)} </span>
                {message(wrong ? `password-validation-${wrong}` : asked, {
                  ...page.passwordPolicy,
                  entry: popularEntryIn(password) ?? '',
                })}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Four bars and a word. They are lit once the password would be taken, whatever its score. */
function StrengthMeter({ password, wrong }: { password: string; wrong: number }) {
  const { message } = useApp();
  const level = wrong > 0 ? (wrong > 1 ? 1 : 2) : passwordScore(password) < 9 ? 3 : 4;
  return (
    <div className={wrong > 0 ? 'strength' : 'strength lit'}>
      {[1, 2, 3, 4].map((bar) => (
        <i key={bar} className={password !== '' && bar <= level ? 'on' : undefined} />
      ))}
      <p aria-live="polite">
        {password === '' ? (
          '\u00a0'
        ) : (
          <>
            <span className="sr">{message('strength')} </span>
            {message(`strength-${level}`)}
          </>
        )}
      </p>
    </div>
  );
}
