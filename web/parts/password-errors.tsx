import type { PasswordPolicy, PasswordRule } from '#contract/password-rules.ts';
import { useMessage } from '../messages.tsx';
import { FieldError } from './field-error.tsx';

/** The specification's sentences for what the two entries break; shown once both were touched (specification §5). */
export function PasswordErrors({ broken, policy }: { broken: readonly PasswordRule[]; policy: PasswordPolicy }) {
  const message = useMessage();
  return broken.map((rule) => (
    <FieldError key={rule} id={`password-error-${rule}`}>
      {message(`password-validation-${rule}`, policy)}
    </FieldError>
  ));
}
