import { limits } from '../limits.ts';

/** A form that cannot be read as one value per field; `field` is the one at fault, where it is known. */
export class UnreadableForm extends Error {
  readonly statusCode = 400;
  readonly field: string | undefined;
  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/**
 * Reads `application/x-www-form-urlencoded`, strictly: every field once, valid UTF-8, no NUL. Libraries are lenient
 * here (repeated fields become lists, broken escapes stay), and leniency is what attacks are made of.
 * Throws UnreadableForm.
 */
export function readForm(body: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  if (body === '') return fields;
  const pairs = body.split('&', limits.formFields + 1);
  if (pairs.length > limits.formFields) throw new UnreadableForm('The form has too many fields.');
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    if (Object.hasOwn(fields, name)) throw new UnreadableForm('A field was sent twice.', name);
    fields[name] = decode(at < 0 ? '' : pair.slice(at + 1), name);
  }
  return fields;
}

function decode(text: string, field?: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new UnreadableForm('The form is not valid UTF-8.', field);
  }
  if (decoded.includes('\0')) throw new UnreadableForm('A field has a character that no text has.', field);
  return decoded;
}
