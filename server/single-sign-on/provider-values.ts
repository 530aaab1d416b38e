import { trimmed } from './saml/xml.ts';
import type { Attributes } from './sso-connection.ts';

/** What a provider tells of a person: the texts of each claim or attribute, by its name. Empty ones are absent. */
export type ProviderValues = Map<string, string[]>;

const longestText = 255;

/**
 * Reads what providers send, claims and attributes alike: a list of one is that text, white space around it is the
 * pretty-printer's, letters are composed (NFC), and what cannot be stored and shown is as absent as null.
 */
export function readProviderValues(sent: Iterable<readonly [name: string, value: unknown]>): ProviderValues {
  const values: ProviderValues = new Map();
  for (const [name, value] of sent) {
    const texts = [value].flat().flatMap((one) => providerText(one) ?? []);
    if (texts.length > 0) values.set(name, [...(values.get(name) ?? []), ...texts]);
  }
  return values;
}

/** A text fit to store and show, otherwise null. */
export function providerText(value: unknown): string | null {
  if (typeof value !== 'string' || !value.isWellFormed()) return null;
  const text = trimmed(value).normalize('NFC');
  return text !== '' && text.length <= longestText && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) ? text : null;
}

/** Whether a person can be known by it: not blank, and nothing in it or around it that people do not see. */
export function isSubject(text: string): boolean {
  const isSeen = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u.test(text) && text.trim() === text;
  return isSeen && !/^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}

/** The texts that differ in more than case: the first of each. */
export function differentTexts(texts: readonly string[]): string[] {
  return [...Map.groupBy(texts, (text) => text.toLowerCase()).values()].flatMap(([first]) => first ?? []);
}

/** The one text in a claim or attribute; null of none, and of different ones: choosing would be a guess. */
export function oneText(values: ProviderValues, name: string | undefined): string | null {
  const [text = null, another] = differentTexts(values.get(name ?? '') ?? []);
  return another === undefined ? text : null;
}

/** What is taken over of a person: two where a provider's word makes a user, name and groups at every sign-in. */
export function userFrom(values: ProviderValues, { username, language, name, groups }: Attributes) {
  return {
    username: oneText(values, username),
    language: oneText(values, language),
    name: oneText(values, name),
    groups: groups === undefined ? null : (values.get(groups) ?? []),
  };
}
