import { inflateRawSync } from 'node:zlib';
import type { SamlLogoutForm } from '#contract/payloads.ts';
import { limits } from '../../limits.ts';
import { said } from '../provider-words.ts';
import { isSignedBy, verify } from './verify.ts';
import { readXml, samlText, type XmlElement } from './xml.ts';

/** The fields a message can come in. */
const fields = ['SAMLRequest', 'SAMLResponse'] as const;
type Field = (typeof fields)[number];

/** A message that a browser brought; nothing in it counts before `verified`. */
export type CarriedMessage = {
  kind: 'ok';
  field: Field;
  root: XmlElement;
  relayState: string | null;
  /** The signed part, if the signature is valid by one of these certificates; otherwise null. */
  verified: (certificates: readonly string[]) => XmlElement | null;
};

type Reading = CarriedMessage | { kind: 'refused'; field: Field | null; problem: string };

/** Reads the fields of a form (SAML bindings §3.5.4): the message contains its signature. */
export function readPostedMessage(form: SamlLogoutForm): Reading {
  const field = theField(fields.filter((name) => form[name] !== undefined));
  if (!field) return no('it is neither a single request nor a single answer');
  const text = samlText(form[field] ?? '');
  if (text.kind === 'refused') return no(text.problem, field);
  const reading = readMessage(text.text, form.RelayState ?? null);
  if (typeof reading === 'string') return no(reading, field);
  const { root } = reading;
  const verified = (certificates: readonly string[]) => {
    const again = verify(text.text, root, certificates);
    return again.kind === 'ok' ? again.root : null;
  };
  return { kind: 'ok', field, ...reading, verified };
}

const ours = [...fields, 'RelayState', 'SigAlg', 'Signature', 'SAMLEncoding'];
const deflate = 'urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE';

/**
 * Reads a query string as received (SAML bindings §3.4.4.1): the signature covers the exact characters of its parts, in
 * the standard's order. A part that occurs twice, or under a name spelled differently, could be signed once and read
 * the other time.
 */
export function readRedirectedMessage(query: string): Reading {
  const raw = new Map<string, string>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', ...rest] = pair.split('=');
    const means = decoded(name);
    if (means === null || !ours.includes(means)) continue;
    if (means !== name || raw.has(name)) return no(`${means} is there twice, or its name is not written plainly`);
    raw.set(name, rest.join('='));
  }
  const field = theField(fields.filter((name) => raw.has(name)));
  if (!field) return no('it is neither a single request nor a single answer');
  const values = new Map([...raw].map(([name, value]) => [name, decoded(value)]));
  if ([...values.values()].includes(null)) return no('it is not UTF-8', field);
  const encoding = values.get('SAMLEncoding') ?? deflate;
  if (encoding !== deflate) return no(`it is encoded by ${said(encoding)}`, field);
  const algorithm = values.get('SigAlg') ?? null;
  if (algorithm === null || !raw.has('Signature')) return no('it is not signed', field);
  const signature = values.get('Signature') ?? '';
  const packed = bytesOf(values.get(field) ?? '');
  const text = packed && inflated(packed);
  if (text === null) return no('it cannot be decompressed', field);
  const reading = readMessage(text, values.get('RelayState') ?? null);
  if (typeof reading === 'string') return no(reading, field);
  const { root } = reading;
  const signed = [field, 'RelayState', 'SigAlg'].filter((name) => raw.has(name));
  const octets = signed.map((name) => `${name}=${raw.get(name)}`).join('&');
  const verified = (certificates: readonly string[]) =>
    isSignedBy(certificates, { algorithm, text: octets, signature }) ? root : null;
  return { kind: 'ok', field, ...reading, verified };
}

function readMessage(text: string, relayState: string | null): Pick<CarriedMessage, 'root' | 'relayState'> | string {
  if ((relayState ?? '').length > limits.samlRelayState) return 'its RelayState is too long';
  const reading = readXml(text);
  if (reading.kind === 'refused') return reading.problem;
  return { root: reading.root, relayState };
}

function theField(found: readonly Field[]): Field | null {
  return found.length === 1 ? (found[0] ?? null) : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function bytesOf(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return base64 !== '' && bytes.toString('base64') === base64 ? bytes : null;
}

/** A few characters can unpack to gigabytes. */
function inflated(packed: Buffer): string | null {
  try {
    const bytes = inflateRawSync(packed, { maxOutputLength: limits.samlLogoutBytes });
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function no(problem: string, field: Field | null = null): Reading {
  return { kind: 'refused', field, problem };
}
