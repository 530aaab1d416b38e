import { PlainBrowser } from '../plain-browser.ts';
import type { PortalUnderTest } from '../portal-under-test.ts';
import { textsOf } from '../texts.ts';
import type { Line } from './line.ts';
import { password } from './test.ts';
import type { Visitor } from './visitor.ts';

const texts = textsOf('en');

/** The heading of the page behind the sign-in. */
export const signedIn = texts['signed-in-title'];

/** The name of one of the six boxes for a code. */
export function box(position: number): string {
  return texts['code-digit'].replace('{position}', String(position)).replace('{length}', '6');
}

/** Fills in the sign-in form and presses its button. */
export async function giveNameAndPassword(visitor: Visitor, username: string, secret = password): Promise<void> {
  await visitor.fill(texts['login-username'], username);
  await visitor.fill(texts['login-password'], secret);
  await visitor.press('button', texts['login-button']);
}

/** Gives the browser at the end of a line a sign-in of which only the code is missing, if any. */
export async function signInAhead(portal: PortalUnderTest, line: Line, username: string): Promise<PlainBrowser> {
  const browser = await PlainBrowser.signIn(portal, username, password);
  line.give([browser.cookie]);
  return browser;
}
