import { inflateRawSync } from 'node:zlib';
import type { Response } from 'light-my-request';
import { makeCertificate } from '#server/single-sign-on/make-certificate.ts';
import type { NewSsoConnection } from '#server/storage/sso-connection.ts';
import type { SamlLogoutService } from '#server/storage/sso-settings.ts';
import { type AssertionParts, type ForgerKey, field, forger } from './forged-saml.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { addConnection, type BrowserForTest, keepCookies } from './sso-for-test.ts';

export const acs = 'http://localhost:8080/portal/authenticate/saml/acs';
export const ownEntityId = 'http://localhost:8080/portal/authenticate/saml/metadata';

/** A SAML provider that signs anything it is given. */
export type SamlProviderForTest = { entityId: string; key: ForgerKey };

export async function samlProvider(name: string, now: Date): Promise<SamlProviderForTest> {
  return { entityId: `https://${name}/idp`, key: await makeCertificate(name, now) };
}

export async function addSamlConnection(
  portal: PortalForTest,
  { entityId, key }: SamlProviderForTest,
  more: Partial<NewSsoConnection> & { customerKey?: string; mayBegin?: boolean; logout?: SamlLogoutService } = {},
): Promise<string> {
  const { mayBegin = false, logout, ...rest } = more;
  return await addConnection(portal, {
    key: 'acme-saml',
    trustsEmail: true,
    protocol: 'saml',
    settings: {
      entityId,
      signOnUrl: `${entityId}/sign-on`,
      logout,
      certificates: [key.certificate],
      metadataUrl: null,
      mayBegin,
      wantsEncryption: false,
    },
    ...rest,
  });
}

/** What an address asks of a provider. */
export function samlRequestAt(address: string): { id: string; state: string } {
  const asked = new URL(address).searchParams;
  const xml = inflateRawSync(Buffer.from(asked.get('SAMLRequest') ?? '', 'base64')).toString();
  return { id: / ID="([^"]+)"/.exec(xml)?.[1] ?? '', state: asked.get('RelayState') ?? '' };
}

let answers = 0;

/** The form that a provider has the browser post: a genuine answer, except for what is given. */
export function samlAnswer(
  { deps }: PortalForTest,
  { entityId, key }: SamlProviderForTest,
  request: { id: string; state: string } | null,
  {
    email = 'alice@acme.test',
    nameId = email,
    ...parts
  }: { email?: string; nameId?: string } & Omit<AssertionParts, 'nameId'> = {},
): Record<string, string> {
  answers += 1;
  const made = forger({ key, now: deps.now(), entityId, acs, audience: ownEntityId, requestId: request?.id ?? null });
  const id = parts.id ?? `_assertion${answers}`;
  const assertion = made.assertion({
    nameId: made.nameId(nameId),
    attributes: made.attributes({ email }),
    ...parts,
    id,
  });
  const xml = made.sign(made.response(assertion), id);
  return { SAMLResponse: field(xml), ...(request && { RelayState: request.state }) };
}

/** The headers browsers send for a link from the provider's page to us. */
export const crossSite = { headers: { origin: 'https://idp.acme.test', 'sec-fetch-site': 'cross-site' } };

/**
 * The provider's page has a browser post an answer: from another site, without our Lax cookies, and new cookies are
 * kept. On failure the browser follows the redirect with its cookies.
 */
export async function postSamlAnswer(
  portal: PortalForTest,
  browser: BrowserForTest,
  form: Record<string, string>,
): Promise<Response> {
  const url = new URL(acs).pathname;
  const answer = await portal.send({ method: 'POST', url, form, ...crossSite });
  keepCookies(browser, answer);
  const { location = '' } = answer.headers;
  if (!String(location).startsWith('/portal/authenticate/saml/failed?')) return answer;
  const next = await portal.send({ url: String(location), cookies: browser.cookies, ...crossSite });
  keepCookies(browser, next);
  return next;
}
