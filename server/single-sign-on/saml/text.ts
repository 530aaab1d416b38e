import { limits } from '../../limits.ts';
import { readXml, type XmlReading } from './strict-xml.ts';

/**
 * The content of a SAMLResponse field. Read once for all steps: it costs a forger nothing, and this thread milliseconds
 * (SA-43).
 */
export function readSamlField(field: string): XmlReading {
  const text = samlText(field);
  return text.kind === 'ok' ? readXml(text.text) : text;
}

/**
 * The text in a SAMLResponse field (SAML bindings §3.5.4): canonical base64, except for line breaks, of UTF-8 without a
 * byte order mark. All later steps use this text, not a second reading of the field.
 */
export function samlText(field: string): { kind: 'ok'; text: string } | { kind: 'refused'; problem: string } {
  if (field.length > limits.samlBodyBytes) return { kind: 'refused', problem: 'it is too long' };
  const base64 = field.replace(/[\t\n\r ]/g, '');
  const bytes = Buffer.from(base64, 'base64');
  if (base64 === '' || bytes.toString('base64') !== base64) return { kind: 'refused', problem: 'it is not base64' };
  try {
    return { kind: 'ok', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { kind: 'refused', problem: 'it is not UTF-8' };
  }
}
