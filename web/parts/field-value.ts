/**
 * Whether a field holds something. A browser hides what it has autofilled until the visitor's first gesture. By the old
 * name of the state: Chromium before 110 knows no other, and all others know it too.
 */
export function isFilled(form: HTMLFormElement, name: string): boolean {
  const input = form.elements.namedItem(name);
  return input instanceof HTMLInputElement && (input.value !== '' || input.matches(':-webkit-autofill'));
}

/** The text of a field. */
export function fieldValue(form: HTMLFormElement, name: string): string {
  const input = form.elements.namedItem(name);
  return input instanceof HTMLInputElement ? input.value : '';
}
