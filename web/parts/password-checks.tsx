import type { PasswordPolicy, PasswordRule } from '#contract/password-rules.ts';
import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';
import { laterShapes } from './later-shapes.tsx';

type Props = { password: string; broken: readonly PasswordRule[]; policy: PasswordPolicy };

/** The requirements for a new password, shown up front and ticked off while typing. */
export function PasswordChecks({ password, broken, policy }: Props) {
  const message = useMessage();
  const isMet = (...rules: PasswordRule[]) => password !== '' && !rules.some((rule) => broken.includes(rule));
  return (
    <ul className="rules" id="password-checks" aria-live="polite">
      <Check isMet={isMet('short', 'long')}>{message('password-validation-between', policy)}</Check>
      <Check isMet={isMet('common')}>{message('check-common')}</Check>
      <Check isMet={isMet('weak')}>{message('check-strength')}</Check>
    </ul>
  );
}

export function RepeatCheck({ isMet }: { isMet: boolean }) {
  const message = useMessage();
  return (
    <ul className="rules" id="repeat-check" aria-live="polite">
      <Check isMet={isMet}>{message('check-match')}</Check>
    </ul>
  );
}

function Check({ isMet, children }: { isMet: boolean; children: string }) {
  const message = useMessage('check-done', 'check-open');
  return (
    <li className={isMet ? 'met' : undefined} aria-atomic="true">
      <Icon shape={laterShapes[isMet ? 'ringChecked' : 'ring']} size={18} />
      <span>
        {children}
        <span className="sr"> {message(isMet ? 'check-done' : 'check-open')}</span>
      </span>
    </li>
  );
}
