import { type Forger, type ForgerKey, field } from '../forged-saml.ts';

/** Additional inputs: the portal's certificate, and keys that are not the provider's. */
export type ForgeryTools = { portalCertificate: string; otherKey: ForgerKey; endedKey: ForgerKey };

export type Forgery = {
  name: string;
  /** What the operator reads of it. */
  words: RegExp;
  /** The field as posted. */
  make: (forger: Forger, tools: ForgeryTools) => string | Promise<string>;
};

export function forged(name: string, words: RegExp, make: Forgery['make']): Forgery {
  return { name, words, make };
}

/** Forgeries by a message in XML. */
export function inXml(rows: [name: string, words: RegExp, make: Forgery['make']][]): Forgery[] {
  return rows.map(([name, words, make]) => forged(name, words, async (f, tools) => field(await make(f, tools))));
}

/** A response with an assertion that the provider signed. */
export const genuine = (f: Forger) => f.response(f.sign(f.assertion()));

/** A status of a response. */
export const status = (code: string) => `<samlp:Status><samlp:StatusCode Value="${code}"/></samlp:Status>`;

/** An unsigned assertion for the forger's target. */
export const evil = (f: Forger, id = '_evil', end = '') => f.assertion({ id, nameId: f.nameId('admin-1'), end });

/** A response with a signed assertion whose parts are changed. */
export const answer = (f: Forger, parts: Parameters<Forger['assertion']>[0] = {}, response = {}) =>
  field(f.response(f.sign(f.assertion(parts)), response));

/** A signed response with this inside. */
export const signedResponse = (f: Forger, inside: string) => f.sign(f.response(inside), '_r1');

/** A text with a part replaced, which must be present. */
export function changed(xml: string, from: string | RegExp, to: string | ((found: string) => string)): string {
  const result = xml.replace(from, to as string);
  if (result === xml) throw new Error(`There is no ${from} in ${xml}`);
  return result;
}
