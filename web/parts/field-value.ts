/**
 * Whether a field has a value. Browsers hide autofilled values until the visitor's first gesture. Uses the state's old
 * name: Chromium before 110 knows only that one, and every other browser supports it too.
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
