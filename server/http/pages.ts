import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import type { Page, ServerPage } from '#contract/page.ts';
import { pathOfScreen, screenOfPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Pages } from '../deps/deps.ts';
import type { BuiltPages } from './built-pages.ts';
import { readLastRefusal } from './last-refusal.ts';
import { languageOfRequest } from './request-url.ts';
import { turnsOf } from './turns.ts';

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** Brotli's quality for a page sent once; cached ones get the best. */
const quickQuality = 4;

/** Pages with what nobody else may see: identity, codes, the state of a visit to a provider. */
const secretPages: readonly ServerPage['name'][] = [
  'signedIn',
  'notForYou',
  'recoveryCodes',
  'leaving',
  'providerBegan',
  'otherAccount',
  'oneMoment',
  'registerElsewhere',
];

type Encoding = 'br' | 'gzip' | 'identity';

export function createPages(config: Config, built: BuiltPages): Pages {
  const cache = new Map<string, Promise<string | Buffer>>();

  function pageOf(request: FastifyRequest, more: Partial<Page> = {}): Page {
    const refusal = readLastRefusal(request, config, more.url);
    // A server page reports something that just happened: an earlier refusal's reference does not belong to it.
    const reference = more.serverPage ? null : refusal.reference;
    const turns = turnsOf(request, config);
    return {
      language: languageOfRequest(request),
      url: request.url,
      branding: config.branding,
      rules: config.destinationRules,
      passwordPolicy: config.passwordPolicy,
      typedUsername: refusal.username,
      reference,
      ...(turns && { turns }),
      serverPage: null,
      ...more,
    };
  }

  async function bodyOf(page: Page, encoding: Encoding, status: number): Promise<string | Buffer> {
    const isForEverybody = status === 200 && !isPersonal(page) && isOwnAddress(page.url);
    if (!isForEverybody) return await encode(built.render(page), encoding, quickQuality);
    const key = `${encoding} ${page.language} ${page.url}`;
    let body = cache.get(key);
    if (!body) {
      body = encode(built.render(page), encoding, constants.BROTLI_MAX_QUALITY);
      cache.set(key, body);
      body.catch(() => cache.delete(key));
    }
    return await body;
  }

  function isPersonal(page: Page): boolean {
    const { serverPage, typedUsername, reference, resetHash, secondFactor, registration, connections, turns } = page;
    return Boolean(
      serverPage || typedUsername || reference || resetHash || secondFactor || registration || connections || turns,
    );
  }

  /** Secrets are not compressed together with text that a stranger can put into the address (BREACH). */
  function holdsSecret({ serverPage, resetHash, registration }: Page): boolean {
    const isSecret = serverPage !== null && secretPages.includes(serverPage.name);
    return isSecret || Boolean(resetHash || registration);
  }

  /** Whether we hand an address out; `/loginfail/anything` and `?x` show pages too, but would fill the memory. */
  function isOwnAddress(url: string): boolean {
    const below = url.slice(config.basePath.length);
    return below === '' || below === '/' || below === pathOfScreen(screenOfPath(below));
  }

  return {
    async send(request, reply, status, more) {
      const page = pageOf(request, more);
      const encoding = holdsSecret(page) ? 'identity' : encodingOf(request);
      const body = await bodyOf(page, encoding, status);
      reply
        .code(status)
        .header('content-type', 'text/html; charset=utf-8')
        .header('vary', 'Accept-Encoding, Accept-Language');
      reply.header('content-language', page.language);
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply.send(body);
    },
  };
}

function encodingOf(request: FastifyRequest): Encoding {
  const accepted = request.headers['accept-encoding'] ?? '';
  if (/\bbr\b(?!\s*;\s*q=0(?:\.0+)?\b)/.test(accepted)) return 'br';
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\b)/.test(accepted) ? 'gzip' : 'identity';
}

async function encode(html: string, encoding: Encoding, quality: number): Promise<string | Buffer> {
  if (encoding === 'identity') return html;
  if (encoding === 'gzip') return await gzipped(html);
  return await brotli(html, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });
}
