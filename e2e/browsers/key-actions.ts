const special: Record<string, string> = { '\n': '\uE007', '\t': '\uE004' };

/** Typing on a keyboard as both WebDriver protocols say it (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
export function keyActions(text: string): { type: 'keyDown' | 'keyUp'; value: string }[] {
  const keys = [...text].map((letter) => special[letter] ?? letter);
  return keys.flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]);
}
