import type { FastifyReply, FastifyRequest } from 'fastify';
import { needsScript } from '#contract/account-page.ts';
import type { Page, ServerPage } from '#contract/page.ts';
import { pathOfScreen, queryNames, screenOfPath } from '#contract/screens.ts';
import type { Brand } from '../brand/brand.ts';
import type { Config } from '../config/config.ts';
import type { Brands } from '../deps/brands.ts';
import type { Pages } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { brandOfRequest } from './brand-of-request.ts';
import type { BuiltPages } from './built-pages.ts';
import { bestQuality, type Encoding, encode, encodingOf } from './encoding.ts';
import { withCustomer } from './keep-customer.ts';
import { readLastRefusal } from './last-refusal.ts';
import { languageOfRequest } from './request-url.ts';
import { pagePolicy } from './security-headers.ts';
import { turnsOfAnswer } from './turns.ts';

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

type Needs = { config: Config; brands: Brands; built: BuiltPages };

export function createPages({ config, brands, built }: Needs): Pages {
  const ownPages = new Map<string, Promise<string | Buffer>>();
  const customersPages = new Map<string, Promise<string | Buffer>>();
  const policies = new WeakMap<Brand, string>();
  const accountPolicies = new WeakMap<Brand, string>();

  function pageOf(request: FastifyRequest, { key, branding }: Brand, more: Partial<Page> = {}): Page {
    const refusal = readLastRefusal(request, config, more.url);
    // A server page reports something that just happened: an earlier refusal's reference does not belong to it.
    const reference = more.serverPage ? null : refusal.reference;
    const { unknownPasskey } = refusal;
    const rpId = config.passkeys?.id;
    const turns = turnsOfAnswer(request, config);
    return {
      language: languageOfRequest(request),
      url: request.url,
      branding,
      rules: config.destinationRules,
      passwordPolicy: config.passwordPolicy,
      typedUsername: refusal.username,
      reference,
      ...(turns && { turns }),
      ...(config.passkeys && { passkeys: true as const }),
      ...(reference && rpId && unknownPasskey && { unknownPasskey: { rpId, credentialId: unknownPasskey } }),
      serverPage: null,
      ...more,
      // Where the script takes the address from it, the brand must not be lost.
      ...(more.url !== undefined && key !== null && { url: withCustomer(more.url, key) }),
    };
  }

  async function bodyOf(page: Page, brand: Brand, encoding: Encoding, status: number): Promise<string | Buffer> {
    const { render } = built.ofBrand(brand);
    const isForEverybody = status === 200 && !isPersonal(page) && isOwnAddress(page.url, brand);
    if (!isForEverybody) return await encode(render(page), encoding, quickQuality);
    // However many brands are asked for, the installation's own pages stay.
    const cache = brand === brands.own ? ownPages : customersPages;
    const isFull = customersPages.size >= limits.customersPagesKept;
    const key = `${encoding} ${page.language} ${brand.digest} ${page.url}`;
    // A page that may soon go again is not worth the time of the best quality.
    const quality = cache === customersPages && isFull ? quickQuality : bestQuality;
    const body = cache.get(key) ?? encode(render(page), encoding, quality);
    // The last used is the last to go: brands may be many, and replaced.
    cache.delete(key);
    cache.set(key, body);
    if (customersPages.size > limits.customersPagesKept)
      customersPages.delete(customersPages.keys().next().value as string);
    body.catch(() => cache.delete(key));
    return await body;
  }

  function policyOf(brand: Brand): string {
    const policy = policies.get(brand) ?? pagePolicy(config, built.ofBrand(brand).styles);
    policies.set(brand, policy);
    return policy;
  }

  function accountPolicyOf(brand: Brand, styles: readonly string[]): string {
    const policy =
      accountPolicies.get(brand) ?? pagePolicy(config, styles).replace("script-src 'self'", "script-src 'none'");
    accountPolicies.set(brand, policy);
    return policy;
  }

  function isPersonal(page: Page): boolean {
    return Boolean(
      page.serverPage ||
        page.typedUsername ||
        page.reference ||
        page.resetHash ||
        page.secondFactor ||
        page.registration ||
        page.connections ||
        page.turns ||
        page.invitation,
    );
  }

  /** Secrets are not compressed together with text that a stranger can put into the address (BREACH). */
  function holdsSecret({ serverPage, resetHash, registration }: Page): boolean {
    const isSecret = serverPage !== null && secretPages.includes(serverPage.name);
    return isSecret || Boolean(resetHash || registration);
  }

  /** Whether we hand an address out; `/loginfail/anything` and `?x` show pages too, but would fill the memory. */
  function isOwnAddress(url: string, { key }: Brand): boolean {
    const branded = `?${queryNames.customer}=${key}`;
    const below = url.slice(
      config.basePath.length,
      key !== null && url.endsWith(branded) ? -branded.length : undefined,
    );
    return below === '' || below === '/' || below === pathOfScreen(screenOfPath(below));
  }

  return {
    async send(request, reply, status, more) {
      const brand = brandOfRequest(brands, request);
      const page = pageOf(request, brand, more);
      const encoding = holdsSecret(page) ? 'identity' : encodingOf(request);
      const body = await bodyOf(page, brand, encoding, status);
      reply
        .code(status)
        .header('content-type', 'text/html; charset=utf-8')
        .header('vary', 'Accept-Encoding, Accept-Language');
      reply.header('content-language', page.language);
      // A page may have a policy of its own already (form-policy.ts).
      if (brand !== brands.own) reply.header('content-security-policy', inPolicyOf(reply, policyOf(brand)));
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply.send(body);
    },

    // Not compressed: it holds what only its reader may see, and words of its address (BREACH).
    async sendAccount(request, reply, status, account) {
      const brand = brandOfRequest(brands, request);
      const { styles, render } = built.ofBrand(brand).account;
      const page = pageOf(request, brand);
      const policy = accountPolicyOf(brand, styles);
      return reply
        .code(status)
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-language': page.language,
          vary: 'Accept-Language',
          'content-security-policy': needsScript(account)
            ? policy.replace("script-src 'none'", "script-src 'self'")
            : policy,
        })
        .send(render(page, account));
    },
  };
}

/** The policy of a brand, with the answer's own rule for forms. */
function inPolicyOf(reply: FastifyReply, policy: string): string {
  const [rule = ''] = /form-action [^;]*/.exec(String(reply.getHeader('content-security-policy'))) ?? [];
  return rule === '' ? policy : policy.replace(/form-action [^;]*/, () => rule);
}
