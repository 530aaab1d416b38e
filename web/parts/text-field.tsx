import { type ComponentProps, type ReactNode, useState } from 'react';

export type TextFieldProps = ComponentProps<'input'> & {
  id: string;
  label: string;
  /** In the frame of the field, after its text. */
  beside?: ReactNode;
  children?: ReactNode;
};

/** A text with its label; `checked-field.tsx` adds what is wrong with it. */
export function TextField({ id, label, beside, children, defaultValue, ...input }: TextFieldProps) {
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
          // Browsers bring an entry back with the page only if it differs from the default, which therefore stays.
          defaultValue={useState(defaultValue)[0]}
          {...input}
        />
        {beside}
      </div>
      {children}
    </div>
  );
}
