import {
  type PasswordPolicy,
  type PasswordRule,
  passwordScore,
  smallestPasswordScore,
} from '#contract/password-rules.ts';
import { useMessage } from '../app-context.ts';
import { Icon, shapes } from './icon.tsx';
import { sealShapes } from './seal.tsx';

type Props = { password: string; broken: readonly PasswordRule[]; policy: PasswordPolicy };

/** The requirements for a new password, shown up front and ticked off while typing. */
export function PasswordChecks({ password, broken, policy }: Props) {
  const message = useMessage();
  const isMet = (...rules: PasswordRule[]) => password !== '' && !rules.some((rule) => broken.includes(rule));
  const rules: Rule[] = [
    [message('password-validation-between', policy), isMet('short', 'long')],
    [message('check-common'), isMet('common')],
    [message('check-strength'), isMet('weak')],
  ];
  return <Rules id="password-checks" rules={rules} />;
}

export function RepeatCheck({ isMet }: { isMet: boolean }) {
  return <Rules id="repeat-check" rules={[[useMessage()('check-match'), isMet]]} />;
}

type Rule = [text: string, isMet: boolean];

function Rules({ id, rules }: { id: string; rules: Rule[] }) {
  const message = useMessage();
  return (
    <ul className="rules" id={id} aria-live="polite">
      {rules.map(([text, isMet]) => (
        <li key={text} className={isMet ? 'met' : undefined} aria-atomic="true">
          <Icon shape={sealShapes[isMet ? 'ringChecked' : 'ring']} size={18} />
          <span>
            {text}
            <span className="sr"> {message(isMet ? 'check-done' : 'check-open')}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

type PasswordErrorsProps = { id: string; broken: readonly PasswordRule[]; policy: PasswordPolicy };

/** The specification's sentences for the broken rules; shown once both fields were touched (specification §5). */
export function PasswordErrors({ id, broken, policy }: PasswordErrorsProps) {
  const message = useMessage();
  return (
    <div className="errors" id={id} role="alert">
      {broken.map((rule) => (
        <p className="error" key={rule}>
          <Icon shape={shapes.alert} size={16} />
          {message(`password-validation-${rule}`, policy)}
        </p>
      ))}
    </div>
  );
}

/** Bars and a label: weak, fair, good (passes), strong. */
export function StrengthMeter({ password }: { password: string }) {
  const message = useMessage();
  const level: 0 | 1 | 2 | 3 | 4 = password === '' ? 0 : levelOf(passwordScore(password));
  return (
    <div className="strength" data-level={level}>
      <i />
      <i />
      <i />
      <i />
      <p aria-live="polite">
        {level !== 0 && (
          <>
            {message('strength')} <strong>{message(`strength-${level}`)}</strong>
          </>
        )}
      </p>
    </div>
  );
}

function levelOf(score: number): 1 | 2 | 3 | 4 {
  if (score < 3) return 1;
  if (score < smallestPasswordScore) return 2;
  return score < 9 ? 3 : 4;
}
