import { inflateRawSync } from 'node:zlib';
import type { Response } from 'light-my-request';
import { entityId, publicAddress } from '#server/single-sign-on/addresses.ts';
import type { SamlKept } from '#server/single-sign-on/claim-visit.ts';
import { makeCertificate, portalKeys } from '#server/single-sign-on/portal-keys.ts';
import type { ProviderAnswer } from '#server/single-sign-on/provider-answer.ts';
import { readSamlAnswer } from '#server/single-sign-on/saml/sign-in.ts';
import type {
  NewSsoConnection,
  SamlConnection,
  SamlLogoutService,
  SamlSettings,
} from '#server/single-sign-on/sso-connection.ts';
import { type AssertionParts, type Forger, type ForgerKey, field, forger } from '../forgeries/forged-saml.ts';
import type { PortalForTest } from './portal-for-test.ts';
import { sharedByFile } from './portal-of-file.ts';
import { addConnection, type BrowserForTest, departFor, keepCookies } from './sso-for-test.ts';

const samlEntityId = 'https://idp.corp-b.example/saml';
export const keptForTest: SamlKept = { requestId: '_request-1' };

/** A handmade provider, and the portal's side of a connection with it. */
export type SamlForTest = {
  keys: { provider: ForgerKey; other: ForgerKey; ended: ForgerKey; portalCertificate: string };
  forger: (more?: { requestId?: string | null }) => Forger;
  connection: (settings?: Partial<SamlSettings>, attributes?: SamlConnection['attributes']) => SamlConnection;
  read: (samlResponse: string, to?: SamlConnection, kept?: SamlKept) => Promise<ProviderAnswer>;
};

export async function samlForTest({ deps }: PortalForTest): Promise<SamlForTest> {
  const now = deps.now();
  const longAgo = new Date(now.getTime() - 4 * 365 * 24 * 3_600_000);
  const [provider, other, ended] = await Promise.all([
    makeCertificate('provider', now),
    makeCertificate('forger', now),
    makeCertificate('ended', longAgo),
  ]);
  const [{ certificate: portalCertificate }] = await portalKeys(deps);
  const connection: SamlForTest['connection'] = (settings = {}, attributes = {}) =>
    ({
      protocol: 'saml',
      settings: {
        entityId: samlEntityId,
        signOnUrl: 'https://idp.corp-b.example/sso',
        certificates: [ended.certificate, provider.certificate],
        metadataUrl: null,
        mayBegin: false,
        wantsEncryption: false,
        ...settings,
      },
      attributes,
    }) as SamlConnection;
  return {
    keys: { provider, other, ended, portalCertificate },
    forger: ({ requestId = keptForTest.requestId } = {}) =>
      forger({
        key: provider,
        now: deps.now(),
        entityId: samlEntityId,
        acs: publicAddress(deps.config, 'samlAnswer'),
        audience: entityId(deps.config),
        requestId,
      }),
    connection,
    read: (samlResponse, to = connection(), kept = keptForTest) =>
      readSamlAnswer(deps, to, { field: samlResponse, kept }),
  };
}

export const acs = 'http://localhost:8080/portal/authenticate/saml/acs';
export const ownEntityId = 'http://localhost:8080/portal/authenticate/saml/metadata';

/** A SAML provider that signs anything it is given. */
export type SamlProviderForTest = { entityId: string; key: ForgerKey };

export async function samlProvider(name: string, now: Date): Promise<SamlProviderForTest> {
  return { entityId: `https://${name}/idp`, key: await makeCertificate(name, now) };
}

/** One that the tests of a file share. */
export function samlProviderOfFile(portal: PortalForTest, name: string): SamlProviderForTest {
  return sharedByFile(async () => ({ ...(await samlProvider(name, portal.deps.now())), close: async () => {} }));
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

/** What a provider publishes of itself. */
export function metadataXml({
  entityId,
  signOnUrl,
  certificates,
}: Pick<SamlSettings, 'entityId' | 'signOnUrl' | 'certificates'>): string {
  const keys = certificates.map((pem) => {
    const key = pem.replace(/-----[A-Z ]+-----/g, '');
    return `<KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${key}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`;
  });
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${entityId}"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${signOnUrl}"/></IDPSSODescriptor></EntityDescriptor>`;
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
    more = {},
    ...parts
  }: { email?: string; nameId?: string; more?: Record<string, string | string[]> } & Omit<
    AssertionParts,
    'nameId'
  > = {},
): Record<string, string> {
  answers += 1;
  const made = forger({ key, now: deps.now(), entityId, acs, audience: ownEntityId, requestId: request?.id ?? null });
  const id = parts.id ?? `_assertion${answers}`;
  const assertion = made.assertion({
    nameId: made.nameId(nameId),
    attributes: made.attributes({ email, ...more }),
    ...parts,
    id,
  });
  const xml = made.sign(made.response(assertion), id);
  return { SAMLResponse: field(xml), ...(request && { RelayState: request.state }) };
}

/** An AuthnStatement: the person signed in a second ago, except for what is given. */
export function authnStatement(now: Date, attributes: Record<string, string | null> = {}): string {
  return forger({ key: {} as ForgerKey, now, entityId: '', acs, audience: '', requestId: null }).authn(attributes);
}

/** The headers browsers send for a link from the provider's page to us. */
export const crossSite = { headers: { origin: 'https://idp.acme.test', 'sec-fetch-site': 'cross-site' } };

/** The form of our page that posts an answer on: what a provider's page has a browser post, without our Lax cookies. */
export async function bounced(
  portal: PortalForTest,
  form: Record<string, string>,
): Promise<{ page: Response; url: string; form: Record<string, string> }> {
  const page = await portal.send({ method: 'POST', url: new URL(acs).pathname, form, ...crossSite });
  const [, url = ''] = /<form method="post" action="([^"]+)">/.exec(page.body) ?? [];
  const fields = [...page.body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  return { page, url, form: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)])) };
}

/** A browser brings an answer: the provider's page has it posted, and our page posts it on, with the browser's cookies. */
export async function postSamlAnswer(
  portal: PortalForTest,
  browser: BrowserForTest,
  form: Record<string, string>,
): Promise<Response> {
  const { page, ...next } = await bounced(portal, form);
  if (page.statusCode !== 200) return page;
  const answer = await portal.send({ method: 'POST', ...next, cookies: browser.cookies });
  keepCookies(browser, answer);
  return answer;
}

function unescaped(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => named[name] ?? String.fromCharCode(code));
}

/** Signs in from the form to a SAML provider and back; returns where that leads. */
export async function signInBySaml(
  portal: PortalForTest,
  provider: SamlProviderForTest,
  browser: BrowserForTest,
  { typed, form, ...said }: Parameters<typeof samlAnswer>[3] & { typed?: string; form?: Record<string, string> } = {},
): Promise<string> {
  const request = samlRequestAt(await departFor(browser, typed ?? said.email, form));
  return String((await postSamlAnswer(portal, browser, samlAnswer(portal, provider, request, said))).headers.location);
}
