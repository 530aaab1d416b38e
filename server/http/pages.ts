import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bestLanguage, type Language, tagsOfAcceptLanguage } from '#contract/languages.ts';
import { hasAddress, type Page, type PageScreen } from '#contract/page.ts';
import { pathOfScreen, screenOfPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Pages } from '../deps.ts';
import type { BuiltPages } from './built-pages.ts';
import { forgetNextPage, toldToPage } from './next-page.ts';
import { languageOfRequest, splitUrl } from './request-url.ts';
import { pagePolicy } from './security-headers.ts';

/** Brotli's quality for a page sent once; cached ones get the best. */
const quickQuality = 4;

/** Pages with what nobody else may see: identity, codes, the state of a visit to a provider. */
const secretScreens: readonly PageScreen['name'][] = [
  'signedIn',
  'notForYou',
  'recoveryCodes',
  'leaving',
  'registerElsewhere',
];

/** What a page knows without a request. */
export function barePage(config: Config, page: Pick<Page, 'language' | 'url' | 'screen'>): Page {
  const { brand, destinationRules: rules, passwordPolicy } = config;
  return { branding: brand.branding, rules, passwordPolicy, typedUsername: '', reference: null, ...page };
}

/** The page for a request with more headers than are read, in the language that those name which came last. */
export function tooManyHeadersPage(config: Config, { render }: BuiltPages): (packet: string) => string {
  const rendered: Partial<Record<Language, string>> = {};
  const screen = { name: 'problem', status: 431, retryAfterSeconds: null } as const;
  return function pageFor(packet) {
    const [, accepted = ''] = /^accept-language:(.*)$/im.exec(packet) ?? [];
    const language = bestLanguage(tagsOfAcceptLanguage(accepted));
    rendered[language] ??= render(barePage(config, { language, url: config.basePath, screen }));
    return rendered[language];
  };
}

export function createPages({ config, built }: { config: Config; built: BuiltPages }): Pages {
  /** The pages that are the same for everybody: few, since their addresses are. */
  const kept = new Map<string, Promise<string | Buffer>>();
  const policy = pagePolicy(config, built.behind.styles);

  function pageOf(request: FastifyRequest, more: Partial<Page> = {}): Page {
    const refusal = toldToPage(request, config, more.url);
    // A screen without an address reports something that just happened: an earlier refusal's reference does not belong to it.
    const screen = more.screen ?? screenOfPath(splitUrl(more.url ?? request.url).path.slice(config.basePath.length));
    const reference = hasAddress(screen) ? refusal.reference : null;
    return {
      ...barePage(config, { language: languageOfRequest(request), url: request.url, screen }),
      typedUsername: refusal.username,
      reference,
      ...(refusal.isSignedOut && { isSignedOut: true as const }),
      ...(config.passkeys && { passkeys: true as const }),
      ...more,
    };
  }

  async function bodyOf(page: Page, encoding: Encoding, status: number): Promise<string | Buffer> {
    const isForEverybody = status === 200 && !isPersonal(page) && isOwnAddress(page.url);
    if (!isForEverybody) return await encode(built.render(page), encoding, quickQuality);
    const key = `${encoding} ${page.language} ${page.url}`;
    const body = kept.get(key) ?? encode(built.render(page), encoding, bestQuality);
    kept.set(key, body);
    body.catch(() => kept.delete(key));
    return await body;
  }

  function isPersonal({ screen, typedUsername, reference, isSignedOut }: Page): boolean {
    const isTold = Object.keys(screen).some((key) => key !== 'name' && key !== 'type');
    return Boolean(!hasAddress(screen) || isTold || typedUsername || reference || isSignedOut);
  }

  /** Secrets are not compressed together with text that a stranger can put into the address (BREACH). */
  function holdsSecret({ screen }: Page): boolean {
    return secretScreens.includes(screen.name) || 'resetHash' in screen || 'registration' in screen;
  }

  /** Whether we hand an address out; `/loginfail/anything` and `?x` show pages too, but would fill the memory. */
  function isOwnAddress(url: string): boolean {
    const below = url.slice(config.basePath.length);
    return below === '' || below === '/' || below === pathOfScreen(screenOfPath(below));
  }

  return {
    async send(reply, status, more) {
      const page = pageOf(reply.request, more);
      const encoding = holdsSecret(page) ? 'identity' : encodingOf(reply.request);
      const body = await bodyOf(page, encoding, status);
      if (page.isSignedOut) forgetNextPage(reply, config);
      reply
        .code(status)
        .header('content-type', 'text/html; charset=utf-8')
        .header('vary', 'Accept-Encoding, Accept-Language');
      reply.header('content-language', page.language);
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply.send(body);
    },

    async sendAccount(reply, status, account) {
      return sendBehind(reply, status, built.behind.renderAccount(pageOf(reply.request), account));
    },

    async sendDesk(reply, status, desk) {
      return sendBehind(reply, status, built.behind.renderDesk(pageOf(reply.request), desk));
    },
  };

  /** Not compressed: it holds what only its reader may see, and words of its address (BREACH). */
  function sendBehind(reply: FastifyReply, status: number, document: string): FastifyReply {
    return reply
      .code(status)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-language': languageOfRequest(reply.request),
        vary: 'Accept-Language',
        'content-security-policy': policy,
      })
      .send(document);
  }
}

type Encoding = 'br' | 'identity';

/** Every browser takes brotli over https; what does not gets the plain text. */
function encodingOf(request: FastifyRequest): Encoding {
  return /\bbr\b(?!\s*;\s*q=0(?:\.0+)?\b)/.test(request.headers['accept-encoding'] ?? '') ? 'br' : 'identity';
}

const bestQuality = constants.BROTLI_MAX_QUALITY;
const brotli = promisify(brotliCompress);

async function encode(text: string, encoding: Encoding, quality: number): Promise<string | Buffer> {
  if (encoding === 'identity') return text;
  return await brotli(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  });
}
