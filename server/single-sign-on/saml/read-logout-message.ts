import { inflateRawSync } from 'node:zlib';
import type { SamlLogoutForm } from '#contract/payloads.ts';
import { limits } from '../../limits.ts';
import { isSignedBy, verify } from './verify.ts';
import { readXml, samlText, utf8, type XmlElement } from './xml.ts';

/** The fields a message can come in. */
const fields = ['SAMLRequest', 'SAMLResponse'] as const;
type Field = (typeof fields)[number];

/** A message that a browser brought; nothing in it counts before `verified`. */
export type LogoutMessage = {
  kind: 'ok';
  field: Field;
  root: XmlElement;
  relayState: string | null;
  /** The signed part, if the signature is valid by one of these certificates; otherwise null. */
  verified: (certificates: readonly string[]) => XmlElement | null;
};

type Reading = LogoutMessage | { kind: 'refused'; field: Field | null; problem: string };

/** Reads the fields of a form (SAML bindings §3.5.4): the message contains its signature. */
export function readPostedMessage(form: SamlLogoutForm): Reading {
  const field = theField((name) => form[name] !== undefined);
  const text = samlText((field && form[field]) ?? '');
  if (!field || text === null) return no(field, field && 'it is not base64 of UTF-8');
  return readMessage(field, text, form.RelayState ?? null, (root, certificates) => {
    const again = verify(text, root, certificates);
    return again.kind === 'ok' ? again.root : null;
  });
}

/**
 * Reads a query string as received (SAML bindings §3.4.4.1): the signature covers the exact characters of its parts, in
 * the standard's order. A part that occurs twice, or under a name spelled differently, could be signed once and read
 * the other time.
 */
export function readRedirectedMessage(query: string): Reading {
  const values = new URLSearchParams(query);
  const parts = query.split('&');
  const written = (name: string) => parts.filter((part) => part.startsWith(`${name}=`));
  const field = theField((name) => values.has(name));
  const unclear = [...fields, 'RelayState', 'SigAlg', 'Signature'].find(
    (name) => values.getAll(name).length > 1 || written(name).length !== values.getAll(name).length,
  );
  if (unclear) return no(field, `${unclear} is there twice, or its name is not written plainly`);
  const [algorithm, signature] = [values.get('SigAlg'), values.get('Signature')];
  if (!field || algorithm === null || signature === null) return no(field, field && 'it is not signed');
  const text = inflated(values.get(field) ?? '');
  if (text === null) return no(field, 'it cannot be decompressed');
  const signed = { algorithm, text: [field, 'RelayState', 'SigAlg'].flatMap(written).join('&'), signature };
  return readMessage(field, text, values.get('RelayState'), (root, certificates) =>
    isSignedBy(certificates, signed) ? root : null,
  );
}

function readMessage(
  field: Field,
  text: string,
  relayState: string | null,
  verified: (root: XmlElement, certificates: readonly string[]) => XmlElement | null,
): Reading {
  if ((relayState ?? '').length > limits.samlRelayState) return no(field, 'its RelayState is too long');
  const reading = readXml(text, { signs: limits.samlLogoutSigns });
  if (reading.kind === 'refused') return no(field, reading.problem);
  const { root } = reading;
  return { kind: 'ok', field, root, relayState, verified: (certificates) => verified(root, certificates) };
}

function theField(has: (name: Field) => boolean): Field | null {
  const [field = null, another] = fields.filter(has);
  return another ? null : field;
}

/** A few characters can unpack to gigabytes. */
function inflated(base64: string): string | null {
  try {
    return utf8(inflateRawSync(Buffer.from(base64, 'base64'), { maxOutputLength: limits.samlLogoutBytes }));
  } catch {
    return null;
  }
}

function no(field: Field | null, problem: string | null): Reading {
  return { kind: 'refused', field, problem: problem ?? 'it is neither a single request nor a single answer' };
}
