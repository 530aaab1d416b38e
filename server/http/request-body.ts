import type { FastifyInstance, FastifyRequest } from 'fastify';
import { limits } from '../limits.ts';

const longestFieldName = 64;

/** A body that cannot be read; `field` is the invalid one of a form, if known. */
export class UnreadableBody extends Error {
  readonly statusCode: 400 | 415;
  readonly field: string | undefined;
  constructor(
    message: string,
    { statusCode = 400, field }: { statusCode?: 400 | 415; field?: string | undefined } = {},
  ) {
    super(message);
    this.statusCode = statusCode;
    this.field = field?.slice(0, longestFieldName);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads `application/x-www-form-urlencoded` strictly: every field once, valid UTF-8, no NUL. Libraries are lenient here
 * (repeated fields become lists, broken escapes stay), and attacks exploit leniency. Throws UnreadableBody.
 */
export function readForm(body: Uint8Array, encoding?: string): Record<string, string> {
  // RFC 9110 §8.4: nothing is decompressed, so nothing can expand.
  if (encoding !== undefined) throw new UnreadableBody('The form is encoded.', { statusCode: 415 });
  const fields: Record<string, string> = Object.create(null);
  const text = readable(() => utf8.decode(body), notUtf8);
  if (text === '') return fields;
  const pairs = text.split('&', limits.formFields + 1);
  if (pairs.length > limits.formFields) throw new UnreadableBody('The form has too many fields.');
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    if (Object.hasOwn(fields, name)) throw new UnreadableBody('A field was sent twice.', { field: name });
    fields[name] = decode(at < 0 ? '' : pair.slice(at + 1), name);
  }
  return fields;
}

const notUtf8 = 'The form is not valid UTF-8.';

function readable<T>(read: () => T, problem: string, field?: string): T {
  try {
    return read();
  } catch {
    throw new UnreadableBody(problem, { field });
  }
}

function decode(text: string, field?: string): string {
  const decoded = readable(() => decodeURIComponent(text.replaceAll('+', ' ')), notUtf8, field);
  if (decoded.includes('\0')) throw new UnreadableBody('A field contains an invalid character.', { field });
  return decoded;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The file of a form that has one. */
    file?: Uint8Array;
  }
}

/** Lets the routes of a scope accept a form with one file at most (`multipart/form-data`), as strictly as one without. */
export function readFilesIn(scope: FastifyInstance): void {
  const read = async (request: FastifyRequest, body: Buffer<ArrayBuffer>) => {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const form = await new Response(body, { headers }).formData().catch(() => {
      throw new UnreadableBody('The form cannot be read.');
    });
    const fields = new URLSearchParams();
    for (const [name, value] of form) {
      if (typeof value === 'string') fields.append(name, value);
      else if (request.file) throw new UnreadableBody('A second file was sent.', { field: name });
      else request.file = await value.bytes();
    }
    return readForm(Buffer.from(fields.toString()), request.headers['content-encoding']);
  };
  scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, read);
}

/** Longest JSON text of a code: a recovery code with its quotes, with some margin. */
const longestText = 100;

/** Lets the routes of a scope accept a JSON string and no other JSON, so that nothing in it is ambiguous. */
export function readCodesIn(scope: FastifyInstance): void {
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length > longestText) throw new UnreadableBody('The code is too long.');
    const value: unknown = readable(() => JSON.parse(utf8.decode(body)), 'The body is not valid JSON.');
    if (typeof value !== 'string') throw new UnreadableBody('The body must be a JSON string.');
    return value;
  });
}
