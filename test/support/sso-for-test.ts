import { randomBytes, randomUUID } from 'node:crypto';
import type { Response } from 'light-my-request';
import { seal } from '#server/crypto/keys.ts';
import type { Deps } from '#server/deps.ts';
import type { OidcKept } from '#server/single-sign-on/claim-visit.ts';
import { readOidcAnswer } from '#server/single-sign-on/oidc/callback-route.ts';
import { startOidc } from '#server/single-sign-on/oidc/provider.ts';
import type { ProviderAnswer } from '#server/single-sign-on/provider-answer.ts';
import type { OidcSettings } from '#server/single-sign-on/sso-connection.ts';
import {
  connectionPlace,
  insertSsoConnection,
  type NewSsoConnection,
  type OidcConnection,
} from '#server/single-sign-on/sso-connection.ts';
import type { ForgedProvider } from '../providers/forged-openid-provider.ts';
import { cookiesOf, type PortalForTest, type TestRequest } from './portal-for-test.ts';

type ConnectionForTest = Partial<NewSsoConnection> & { customerKey?: string; secret?: string };

/** Adds a connection of a customer. */
export async function addConnection(
  { sql, deps }: PortalForTest,
  { customerKey = 'acme', key = 'acme', secret, ...more }: ConnectionForTest,
): Promise<string> {
  const [customer] = await sql<{ id: string }[]>`select id from customer where key = ${customerKey}`;
  const id = randomUUID();
  const made = {
    id,
    key,
    name: `Provider ${key}`,
    customerId: customer?.id ?? '',
    required: false,
    makesUsers: false,
    trustsEmail: false,
    secondFactorValues: [],
    attributes: {},
    domains: ['acme.test'],
    sealedSecret: secret === undefined ? null : seal(deps.keys.seal, secret, connectionPlace(id)),
    secretEndsAt: null,
    providerNetworks: ['127.0.0.0/8', '::1/128'],
    ...more,
  };
  await insertSsoConnection(sql, made as NewSsoConnection, deps.now());
  return id;
}

/** Adds a connection to an OpenID provider on this machine. */
export async function addOidcConnection(
  portal: PortalForTest,
  { issuer, clientId, clientSecret }: Pick<ForgedProvider, 'issuer' | 'clientId' | 'clientSecret'>,
  more: ConnectionForTest = {},
): Promise<string> {
  const settings = { issuer, clientId, clientAuthentication: 'secret' as const, scopes: ['email', 'profile'] };
  return await addConnection(portal, { key: 'acme-oidc', secret: clientSecret, protocol: 'oidc', settings, ...more });
}

/** A browser, reduced to its cookies. */
export type BrowserForTest = {
  cookies: Record<string, string>;
  get: (url: string, more?: Partial<TestRequest>) => Promise<Response>;
  post: (url: string, form: Record<string, string>, more?: Partial<TestRequest>) => Promise<Response>;
};

/** A browser with an empty jar, filled by the portal's answers. */
export function browserForTest(portal: PortalForTest): BrowserForTest {
  const browser: BrowserForTest = {
    cookies: {},
    get: (url, more = {}) => send({ url, ...more }),
    post: (url, form, more = {}) => send({ method: 'POST', url, form, ...more }),
  };
  async function send(request: TestRequest): Promise<Response> {
    const response = await portal.send({ cookies: browser.cookies, ...request });
    keepCookies(browser, response);
    return response;
  }
  return browser;
}

/** Adds an answer's cookies to the jar, or removes them. */
export function keepCookies(browser: Pick<BrowserForTest, 'cookies'>, response: Response): void {
  for (const [name, value] of Object.entries(cookiesOf(response))) {
    if (value === '') delete browser.cookies[name];
    else browser.cookies[name] = value;
  }
}

/** Types an address on the single sign-on form; returns the provider's address that the browser is redirected to. */
export async function departFor(
  browser: BrowserForTest,
  username = 'alice@acme.test',
  form: Record<string, string> = {},
): Promise<string> {
  const pressed = await browser.post('/portal/authenticate/performSsoLogin', { username, ...form });
  return await followLeavePage(browser, pressed);
}

/** Where the page leads after its button is pressed. */
export async function followLeavePage(browser: BrowserForTest, pressed: Response): Promise<string> {
  const location = String(pressed.headers.location);
  if (!location.startsWith('/portal/authenticate/leave?')) throw new Error(`led to ${location} instead`);
  const page = await browser.get(location);
  const [, url] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.body) ?? [];
  if (!url) throw new Error('the page leads nowhere');
  return url.replaceAll('&#38;', '&');
}

/** Path and query of an address, as requested by a browser. */
export function pathOf(url: URL): string {
  return url.pathname + url.search;
}

/** The newest event of single sign-on. */
export async function lastFailure({
  sql,
}: PortalForTest): Promise<{ reason: string; username: string | null; steps: { outcome: string }[] } | null> {
  const [row] = await sql<{ reason: string; username: string | null; steps: { outcome: string }[] }[]>`
    select reason, username, steps from audit_event where event = 'sso-refused' order by id desc limit 1`;
  return row ?? null;
}

type Provider = Pick<ForgedProvider, 'issuer' | 'clientId' | 'clientSecret'>;

/** A connection as stored. */
export function oidcConnection(
  { keys, now }: Deps,
  { issuer, clientId, clientSecret }: Provider,
  { settings, ...more }: Partial<Omit<OidcConnection, 'settings'>> & { settings?: Partial<OidcSettings> } = {},
): OidcConnection {
  const id = randomUUID();
  return {
    id,
    key: 'customer',
    name: 'Customer',
    customerId: randomUUID(),
    customerKey: 'customer',
    active: true,
    required: false,
    makesUsers: false,
    trustsEmail: false,
    secondFactorValues: [],
    attributes: {},
    domains: ['customer.example'],
    sealedSecret: seal(keys.seal, clientSecret, connectionPlace(id)),
    secretEndsAt: null,
    providerNetworks: ['127.0.0.0/8', '::1/128'],
    createdAt: now(),
    version: 1,
    protocol: 'oidc',
    settings: { issuer, clientId, clientAuthentication: 'secret', scopes: ['email', 'profile'], ...settings },
    ...more,
  };
}

/** A visitor at the provider: where the portal redirected them, and what it keeps of that. */
export type Visit = { url: string; state: string; kept: OidcKept };

export async function startVisit(deps: Deps, connection: OidcConnection): Promise<Visit> {
  const state = randomBytes(16).toString('base64url');
  const started = await startOidc(deps, connection, { state, loginHint: null, language: 'en' });
  if (started.kind === 'refused') throw new Error(`${started.reason}: ${started.words}`);
  return { ...started, state };
}

/** One visit from the portal to the provider and back, as far as it gets. */
export async function visitProvider(
  deps: Deps,
  connection: OidcConnection,
  provider: Pick<ForgedProvider, 'visit'>,
): Promise<ProviderAnswer> {
  const started = await startOidc(deps, connection, { state: 'state', loginHint: null, language: 'en' });
  if (started.kind === 'refused') return started;
  return await readOidcAnswer(deps, connection, { ...started, url: provider.visit(started.url), state: 'state' });
}

/** Makes the sessions of a user, half ones too, sessions by a new connection of a customer, proven when they began. */
export async function sessionByConnection({ sql }: PortalForTest, username: string, customer = 'acme'): Promise<void> {
  await sql`
    with made as (
      insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
      select 'idp-' || key, 'Acme Login', id, 'oidc', '{}', now() from customer where key = ${customer}
      on conflict (key) do update set name = excluded.name returning id, customer_id
    )
    update session s set connection_id = made.id, customer_ids = array[made.customer_id], proof = 'provider', proven_at = s.created_at
    from made, portal_user u where u.id = s.user_id and u.username = ${username}`;
}

/** Signs in from the form to an OpenID provider and back; returns where that leads. */
export async function signInByOidc(
  provider: Pick<ForgedProvider, 'visit'>,
  browser: BrowserForTest,
  typed?: string,
  form?: Record<string, string>,
): Promise<string> {
  const callback = pathOf(provider.visit(await departFor(browser, typed, form)));
  return String((await browser.get(callback)).headers.location);
}
