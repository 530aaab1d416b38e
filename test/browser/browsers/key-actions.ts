const enter = '\uE007';

/** Typing on a keyboard as both WebDriver protocols say it (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
export function keyActions(text: string): { type: 'keyDown' | 'keyUp'; value: string }[] {
  const keys = [...text].map((letter) => (letter === '\n' ? enter : letter));
  return keys.flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]);
}
