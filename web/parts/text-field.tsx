import type { ComponentProps, ReactNode } from 'react';

export type TextFieldProps = ComponentProps<'input'> & { id: string; label: string; children?: ReactNode };

/** A text with its label; `checked-field.tsx` adds what is wrong with it. */
export function TextField({ id, label, children, ...input }: TextFieldProps) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="control">
        <input id={id} type="text" autoCapitalize="none" autoCorrect="off" spellCheck={false} {...input} />
      </div>
      {children}
    </div>
  );
}
