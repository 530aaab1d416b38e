import type { FastifyInstance } from 'fastify';

/** Longest JSON text of a code: a recovery code with its quotes, with some margin. */
const longestText = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body is not a JSON string. */
class UnreadableCode extends Error {
  readonly statusCode = 400;
}

/** Lets the routes of a scope accept a JSON string and no other JSON, so that nothing in it is ambiguous. */
export function readCodesIn(scope: FastifyInstance): void {
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length > longestText) throw new UnreadableCode('The code is too long.');
    const value = parse(body);
    if (typeof value !== 'string') throw new UnreadableCode('The body must be a JSON string.');
    return value;
  });
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new UnreadableCode('The body is not valid JSON.');
  }
}
