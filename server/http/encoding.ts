import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';

export type Encoding = 'br' | 'gzip' | 'identity';

/** The best encoding that the browser accepts. */
export function encodingOf(request: FastifyRequest): Encoding {
  const accepted = request.headers['accept-encoding'] ?? '';
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0+)?\b)/.test(accepted)) return 'br';
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\b)/.test(accepted) ? 'gzip' : 'identity';
}

export const bestQuality = constants.BROTLI_MAX_QUALITY;

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** A text as it is sent; `quality` is brotli's, from 0 to `bestQuality`. */
export async function encode(text: string, encoding: Encoding, quality: number): Promise<string | Buffer> {
  if (encoding === 'identity') return text;
  if (encoding === 'gzip') return await gzipped(text);
  return await brotli(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });
}
