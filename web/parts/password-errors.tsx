import type { PasswordPolicy, PasswordRule } from '#contract/password-rules.ts';
import { useMessage } from '../messages.tsx';
import { Icon } from './icon.tsx';

type Props = { id: string; broken: readonly PasswordRule[]; policy: PasswordPolicy };

/** The specification's sentences for the broken rules; shown once both fields were touched (specification §5). */
export function PasswordErrors({ id, broken, policy }: Props) {
  const message = useMessage();
  return (
    <div className="errors" id={id} role="alert">
      {broken.map((rule) => (
        <p className="error" key={rule}>
          <Icon name="alert" size={16} />
          {message(`password-validation-${rule}`, policy)}
        </p>
      ))}
    </div>
  );
}
