import type { ComponentProps, ReactNode } from 'react';
import { FieldError } from './field-error.tsx';

type Props = ComponentProps<'input'> & {
  id: string;
  label: string;
  error?: string | undefined;
  children?: ReactNode;
};

export function TextField({ id, label, error, children, ...input }: Props) {
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
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          {...input}
        />
      </div>
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
      {children}
    </div>
  );
}
