import { type ComponentProps, type ReactNode, useState } from 'react';

export type TextFieldProps = ComponentProps<'input'> & { id: string; label: string; children?: ReactNode };

/** A text with its label; `checked-field.tsx` adds what is wrong with it. */
export function TextField({ id, label, children, defaultValue, ...input }: TextFieldProps) {
  // Browsers keep an entry for Back only if it differs from the default.
  const [first] = useState(defaultValue);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="control">
        <input id={id} type="text" autoCapitalize="none" autoCorrect="off" spellCheck={false} defaultValue={first} {...input} />
      </div>
      {children}
    </div>
  );
}
