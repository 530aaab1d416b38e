import type { FastifyInstance } from 'fastify';

/** Longest JSON text of a code: a recovery code with its quotes, generously. */
const longestText = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A body that is no JSON string. */
class UnreadableCode extends Error {
  readonly statusCode = 400;
}

/** Lets the routes of a scope read a JSON string and no other JSON: there is nothing else in it to be read in two ways. */
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
