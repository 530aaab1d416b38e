import { codeDigest } from '../secrets/code-digest.ts';
import type { Keys } from '../secrets/keys.ts';
import { browserHash } from '../visitor/browser-hash.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/** What makes two posts the same press: session, code, browser and address, and whether a form or a script sends them. */
export type Press = Pick<KnownVisitor, 'deviceToken' | 'address' | 'userAgent'> & {
  sessionToken: string;
  /** Six digits or a recovery code, as sent. */
  code: string;
  /** A form without JavaScript may be sent twice by one double click; a script prevents that. */
  isForm: boolean;
};

/** The tokens that a right code gives to a browser. */
export type TokensOfPress = { session: string; device: string; remembered: string };

/**
 * The tokens of a press. They are derived with a server's key, so that the second press of one button gets those of the
 * first, in whichever order they arrive, and nothing is stored for it. The press contains the secret token of the
 * session that they replace, so neither the key nor that token alone yields them.
 */
export function tokensOfPress(key: Buffer, press: Press): TokensOfPress {
  const token = (kind: keyof TokensOfPress) => digestOf(key, press, kind).toString('base64url');
  return { session: token('session'), device: token('device'), remembered: token('remembered') };
}

/** The tokens for the answer to a right code. */
export function tokensForAnswer({ code }: Keys, press: Press): TokensOfPress {
  return tokensOfPress(code[0] as Buffer, press);
}

/** The stored form of a press's code. */
export function pressDigest({ code }: Keys, press: Press): Buffer {
  return digestOf(code[0] as Buffer, press, 'code');
}

function digestOf(key: Buffer, press: Press, purpose: keyof TokensOfPress | 'code'): Buffer {
  const browser = browserHash(press).toString('hex');
  return codeDigest(
    [key],
    press.code,
    JSON.stringify(['press', purpose, browser, press.address, ...(press.isForm ? [] : ['script'])]),
  );
}
