import { FieldError } from './field-error.tsx';
import { TextField, type TextFieldProps } from './text-field.tsx';

type Props = TextFieldProps & { error?: string | undefined };

/** A text field that may show what is wrong with its text; the sign-in form has none, and so loads none. */
export function CheckedField({ error, children, ...field }: Props) {
  const errorId = `${field.id}-error`;
  return (
    <TextField aria-invalid={error ? true : undefined} aria-describedby={error ? errorId : undefined} {...field}>
      {error && <FieldError id={errorId}>{error}</FieldError>}
      {children}
    </TextField>
  );
}
