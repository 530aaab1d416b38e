import type { PasswordPolicy, PasswordRule } from '#contract/password-rules.ts';
import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';
import { shapes } from './shapes.tsx';

type Props = { id: string; broken: readonly PasswordRule[]; policy: PasswordPolicy };

const laterTexts: readonly `password-validation-${PasswordRule}`[] = [
  'password-validation-short',
  'password-validation-long',
  'password-validation-common',
  'password-validation-weak',
  'password-validation-match',
];

/** The specification's sentences for the broken rules; shown once both fields were touched (specification §5). */
export function PasswordErrors({ id, broken, policy }: Props) {
  const message = useMessage(...laterTexts);
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
