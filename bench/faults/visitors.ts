import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { keysOf } from '#server/crypto/keys.ts';
import { limits } from '#server/limits.ts';
import { type OpenIdProvider, startOpenIdProvider, walkProvider } from '#test/providers/openid-provider-for-test.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { portalSecret } from '#test/support/run-vestibule.ts';
import { addOidcConnection } from '#test/support/sso-for-test.ts';
import type { TwoPortals } from '#test/support/two-portals.ts';
import { type Crowd, countedCrowd } from './world.ts';

/** People who sign in at an identity provider; one begins after the other, however long it takes them. */
type Visitors = Crowd & { stop: () => Promise<void> };

/** So many that nobody gets more sessions than they may keep. */
const people = Array.from({ length: 40 }, (_, index) => `visitor-${index}@sso.test`);
/** In milliseconds. */
const pace = 500;
/** What a page may take that tells people that their provider does not answer. */
const bounded = limits.providerAnswer + 2000;
const patience = 60_000;
/** More than any visit needs. */
const longestWay = 12;

/** Starts a provider for a customer of its own. */
export async function startProvider({ sql, env }: TwoPortals): Promise<OpenIdProvider> {
  const provider = await startOpenIdProvider({
    redirectUris: [`${env.PUBLIC_URL}/portal/authenticate/oidc/callback/sso`],
  });
  const deps = { keys: keysOf([portalSecret]), now: () => new Date() };
  const portal = { sql, deps } as PortalForTest;
  await addCustomer(portal, 'sso');
  for (const email of people)
    await addUser(portal, { username: email.split('@', 1)[0] as string, email, customers: ['sso'] });
  await addOidcConnection(portal, provider, { customerKey: 'sso', key: 'sso', domains: ['sso.test'] });
  return provider;
}

/** Lets people sign in at the provider until stopped; the sessions that they get count among those of the load. */
export function visitorsOf({ env, load }: TwoPortals, provider: OpenIdProvider): Visitors {
  const origin = env.PUBLIC_URL as string;
  const crowd = countedCrowd();
  const underWay = new Set<Promise<void>>();
  let stopped = false;

  async function visit(email: string): Promise<void> {
    const { ask, session, longest } = browserOf(origin);
    let answer = await ask('/portal/authenticate/performSsoLogin', new URLSearchParams({ username: email }));
    for (let step = 0; step < longestWay; step += 1) {
      if (answer.isRefusal) return crowd.refused();
      if (answer.location === '/portal/portal.html') {
        load.sessions.add(session());
        return crowd.well();
      }
      if (answer.location.startsWith('/portal/loginfail/oidc')) {
        const { status } = await ask(answer.location);
        if (status === 200 && longest() <= bounded) return crowd.refused();
        return crowd.lost(`sso ${status} after ${Math.round(longest() / 1000)} s`);
      }
      const next = answer.location || answer.leadsTo;
      if (!next) break;
      const back = next.startsWith(provider.issuer) ? await atProvider(next, email) : next;
      if (back === null) return;
      answer = await ask(back);
    }
    crowd.lost(`sso ${answer.status} ${answer.location}`);
  }

  /** Where the provider leads back to; null if its own pages are away, which is no answer of the portal's. */
  async function atProvider(address: string, email: string): Promise<string | null> {
    const walk = walkProvider(provider, address, { email });
    return await walk.then(
      ({ href }) => href,
      (error) => (error instanceof TypeError ? null : Promise.reject(error)),
    );
  }

  const working = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      const visiting = visit(people[turn % people.length] as string)
        .catch((error: Error) => crowd.lost(`sso ${error.message}`))
        .finally(() => underWay.delete(visiting));
      underWay.add(visiting);
      await pause(pace);
    }
    await Promise.all(underWay);
  })();
  return {
    ...crowd,
    stop: async () => {
      stopped = true;
      await working;
    },
  };
}

type Answer = { status: number; location: string; isRefusal: boolean; leadsTo: string };

/** A browser, reduced to its cookies. */
function browserOf(origin: string) {
  const cookies = new Map<string, string>();
  let longest = 0;
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    /** Of its requests so far, in milliseconds. */
    longest: () => longest,
    session: () => `vestibule-session=${cookies.get('vestibule-session')}`,
    ask: async (address: string, form?: URLSearchParams): Promise<Answer> => {
      const from = performance.now();
      // Unlike the global fetch, it doesn't say that it is a script.
      const response = await request(new URL(address, origin), {
        method: form ? 'POST' : 'GET',
        headers: { cookie: cookie(), ...(form && { origin, 'content-type': 'application/x-www-form-urlencoded' }) },
        body: form?.toString() ?? null,
        signal: AbortSignal.timeout(patience),
      });
      const { statusCode: status, headers } = response;
      for (const one of [headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
        if (value) cookies.set(name, value);
        else cookies.delete(name);
      }
      const page = await response.body.text();
      longest = Math.max(longest, performance.now() - from);
      const [, leadsTo = ''] = /http-equiv="refresh" content="\d+;url=([^"]+)"/.exec(page) ?? [];
      return {
        status,
        location: String(headers.location ?? ''),
        isRefusal: status === 503 && headers['retry-after'] !== undefined,
        leadsTo: leadsTo.replaceAll('&#38;', '&'),
      };
    },
  };
}
