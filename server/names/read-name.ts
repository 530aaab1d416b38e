import { isEmailAddress, typedName } from '#contract/addresses.ts';

/** In Unicode code points. */
export const passkeyName = 60;

/** A value to store, or one sentence that names the field and the problem. */
export type Reading<T = string> = { kind: 'ok'; value: T } | { kind: 'refused'; problem: string };

const longestUsername = 100;
const longestName = 200;
/** RFC 5321 §4.5.3.1.3: 256 octets with the angle brackets. */
const longestEmailInOctets = 254;

/** Control, format, private and unassigned characters, and other invisible ones (soft hyphen, fillers, selectors). */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}]/u;

/** Reads a username: 1 to 100 characters without whitespace or invisible ones, in the form in which it is compared. */
export function readUsername(text: string): Reading {
  const value = typedName(text);
  const problem = problemOfName(value);
  if (problem) return { kind: 'refused', problem: `username: ${problem}` };
  if (value.includes('@') && readEmail(value).kind === 'refused') {
    return { kind: 'refused', problem: 'username: one with an @ must be an email address' };
  }
  return { kind: 'ok', value };
}

function problemOfName(value: string): string | null {
  const length = [...value].length;
  if (length === 0) return 'must not be empty';
  if (length > longestUsername) return `must not be longer than ${longestUsername} characters`;
  if (/\s/u.test(value)) return 'must not contain spaces';
  return hasUnseen(value) ? 'must not contain invisible characters' : null;
}

const hasUnseen = (value: string) => !value.isWellFormed() || unseen.test(value);

/** Reads an email address whose recipient is unambiguous. */
export function readEmail(text: string): Reading {
  const value = typedName(text);
  const no = (problem: string): Reading => ({ kind: 'refused', problem: `email: ${problem}` });
  if (hasUnseen(value)) return no('must not contain invisible characters');
  if (!isEmailAddress(value)) return no(`${JSON.stringify(value.slice(0, 100))} is not an email address`);
  if (Buffer.byteLength(value) > longestEmailInOctets)
    return no(`must not be longer than ${longestEmailInOctets} bytes`);
  const at = value.indexOf('@');
  const domain = value
    .slice(at + 1)
    .replace(/\.$/, '')
    .toLowerCase();
  if (!isDomain(domain)) return no(`${JSON.stringify(domain.slice(0, 100))} is not a domain`);
  return { kind: 'ok', value: `${value.slice(0, at)}@${domain}` };
}

function isDomain(domain: string): boolean {
  return /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(canonicalDomain(domain));
}

/** Reads the key of a customer or a connection, its short name in commands and headers: lower-case letters, digits and dashes. */
export function readShortName(text: string): Reading {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) return { kind: 'ok', value: text };
  return {
    kind: 'refused',
    problem: 'key: must be 1 to 63 lower-case letters, digits and dashes, and start with a letter or digit',
  };
}

/** Reads how a person, a customer or a connection is shown, or the name of a group. */
export function readDisplayName(text: string): Reading {
  return readLabel(text, longestName);
}

/** A name that people give to a passkey. */
export function readPasskeyName(text: string): Reading {
  return readLabel(text, passkeyName);
}

function readLabel(text: string, longest: number): Reading {
  const value = text.trim().normalize('NFC');
  if (value === '' || [...value].length > longest) {
    return { kind: 'refused', problem: `name: must have 1 to ${longest} characters` };
  }
  if (!value.isWellFormed() || /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(value)) {
    return { kind: 'refused', problem: 'name: must not contain control characters' };
  }
  return { kind: 'ok', value };
}

/**
 * The form in which usernames and emails are compared and stored as login names: as they were meant, case-insensitive, and with one form for an email's domain. Folding twice changes nothing. Letters that
 * only look or case-fold alike stay distinct (ı and i, ß and ss): people who type one never mean the other.
 */
export function foldLoginName(text: string): string {
  // Lower-casing can undo normalization and vice versa; a third pass would change nothing.
  const plain = foldOnce(foldOnce(text));
  const at = plain.lastIndexOf('@');
  return at < 0 ? plain : plain.slice(0, at + 1) + canonicalDomain(plain.slice(at + 1));
}

function foldOnce(text: string): string {
  return typedName(text.normalize('NFKC').toLowerCase());
}

/**
 * The ASCII form of a lower-case domain without the root's dot (UTS 46, by the URL parser). Anything but a host name is
 * returned unchanged: the parser would also read `%61` as a letter, `1` as an address, and skip soft hyphens.
 */
export function canonicalDomain(domain: string): string {
  const plain = domain.replace(/\.+$/, '');
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(plain) || /(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(plain)) return plain;
  return URL.parse(`http://${plain}/`)?.hostname ?? plain;
}

/** The domain of a typed email address in ASCII form, or null if it is not an address. */
export function domainOfAddress(text: string): string | null {
  const fold = foldLoginName(text);
  return isEmailAddress(fold) ? fold.slice(fold.indexOf('@') + 1) : null;
}

/** In this order: most browsers also claim to be the ones below. */
const browsers = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS)\//],
  ['Safari', /\bVersion\/[\d.]+.*\bSafari\//],
] as const;

const systems = [
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** A readable name such as `Firefox, Windows`, from what the browser claims; undefined if that is unreadable. */
export function browserName(userAgent = ''): string | undefined {
  const named = (list: readonly (readonly [string, RegExp])[]) => list.find(([, mark]) => mark.test(userAgent))?.[0];
  const [browser, system] = [named(browsers), named(systems)];
  return browser && system ? `${browser}, ${system}` : (browser ?? system);
}
