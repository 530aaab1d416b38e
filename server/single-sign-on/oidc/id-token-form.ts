import { nameToldTwice } from './name-told-twice.ts';

/** Parameters that change how a token is read (RFC 7515 §4.1.11, RFC 7797, RFC 7516 §4.1.3). */
const changesReading = ['crit', 'b64', 'zip'];

/**
 * What is wrong with the form of an ID token, whatever it says, or null (RFC 8725). Its signature has been verified:
 * what is refused here was signed by the provider, perhaps for another purpose, or is ambiguous.
 */
export function wrongInForm(idToken: string): string | null {
  const [, head, body] = /^([\w-]+)\.([\w-]+)\.[\w-]+$/.exec(idToken) ?? [];
  if (!head || !body) return 'ID token: it is not three parts in base64url and nothing else';
  const [header, claims] = [textOf(head), textOf(body)];
  const twice = nameToldTwice(header) ?? nameToldTwice(claims);
  if (twice !== null) return `ID token: it repeats ${JSON.stringify(twice)}`;
  const parameters = JSON.parse(header) as Record<string, unknown>;
  const unusual = changesReading.find((name) => name in parameters);
  if (unusual) return `ID token: its header has ${unusual}`;
  if (parameters.typ !== undefined && !isJwt(parameters.typ))
    return 'ID token: its typ is that of another kind of token';
  return null;
}

/** Media types are case-insensitive, and may be written in full (RFC 7515 §4.1.9). */
function isJwt(typ: unknown): boolean {
  return typeof typ === 'string' && /^(?:application\/)?jwt$/i.test(typ);
}

function textOf(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8');
}
