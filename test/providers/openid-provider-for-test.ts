import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type Account, type ClientAuthMethod, type ClientMetadata, type Configuration, Provider } from 'oidc-provider';
import { fetchWithCookies } from '../support/fetch-with-cookies.ts';
import { freePort } from '../support/free-port.ts';

/** A user of the provider: claims that extend or replace those derived from the email address. */
export type Person = { sub?: string; acr?: string; amr?: string[] } & Record<string, unknown>;

export type OpenIdProviderOptions = {
  redirectUris: string[];
  postLogoutRedirectUris?: string[];
  clientId?: string;
  clientSecret?: string;
  clientAuthentication?: ClientAuthMethod;
  /** Where it reports sign-outs; its ID tokens then name its sessions. */
  backchannelLogoutUri?: string;
  /** For private_key_jwt. */
  clientKeys?: { keys: JWK[] };
  /** Whether claims are in the ID token, and not only at userinfo. */
  claimsInIdToken?: boolean;
  /** Names of claims in the scope openid: acr, amr or any other. */
  moreClaims?: string[];
};

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>;

/** What only the portal asks for. */
const portalPaths = ['/.well-known/openid-configuration', '/jwks', '/token', '/me'];

/** A certified OpenID provider on this machine, with its own sign-in page that only asks for an email address. */
export async function startOpenIdProvider(options: OpenIdProviderOptions) {
  const { clientId = 'vestibule', clientSecret = 'secret of the client' } = options;
  /** The users by the address that they sign in with. */
  const people = new Map<string, Person>();
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, await configuration({ ...options, clientId, clientSecret }, people));
  const callback = provider.callback();
  let isSilent = false;
  const server = createServer((request, response) => {
    if (isSilent && portalPaths.includes(request.url ?? '')) return;
    void (request.url?.startsWith(signInPath)
      ? signInPage(provider, people, request, response)
      : callback(request, response));
  });
  const listen = async () => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await listen();
  /** False: the portal's own requests are accepted and never answered; browsers are answered all the same. */
  const answerPortal = (isAnswering: boolean) => {
    isSilent = !isAnswering;
  };
  // Shut, nothing listens at its address until it is reopened.
  return { issuer, clientId, clientSecret, people, answerPortal, shut: close, reopen: listen, close };
}

const signInPath = '/sign-in/';

async function configuration(
  options: OpenIdProviderOptions & { clientId: string; clientSecret: string },
  people: Map<string, Person>,
): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const { moreClaims = [], claimsInIdToken = true } = options;
  return {
    clients: [clientOf(options)],
    clientAuthMethods: [options.clientAuthentication ?? 'client_secret_basic'],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [randomUUID()] },
    claims: {
      openid: ['sub', ...moreClaims],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'locale'],
    },
    conformIdTokenClaims: !claimsInIdToken,
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    // By default it sends no requests to this machine, where the portal is.
    fetch: (url, init) => fetch(url, { ...init, dispatcher: undefined } as unknown as RequestInit),
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: true },
    },
    interactions: { url: (_context, { uid }) => signInPath + uid },
    findAccount: (_context, subject) => accountOf(subject, people),
    renderError(context, { error, error_description }) {
      context.type = 'html';
      context.body = `<!doctype html><h1>${error}</h1><p>${error_description}</p>`;
    },
    // Consent is never asked for.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant();
      if (oidc.client) grant.clientId = oidc.client.clientId;
      if (oidc.session?.accountId) grant.accountId = oidc.session.accountId;
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
}

function clientOf(options: OpenIdProviderOptions & { clientId: string; clientSecret: string }): ClientMetadata {
  const { clientAuthentication = 'client_secret_basic', clientKeys, backchannelLogoutUri } = options;
  return {
    client_id: options.clientId,
    redirect_uris: options.redirectUris,
    post_logout_redirect_uris: options.postLogoutRedirectUris ?? [],
    token_endpoint_auth_method: clientAuthentication,
    ...(backchannelLogoutUri && {
      backchannel_logout_uri: backchannelLogoutUri,
      backchannel_logout_session_required: true,
    }),
    ...(clientAuthentication.startsWith('client_secret') && { client_secret: options.clientSecret }),
    ...(clientKeys && { jwks: clientKeys as NonNullable<ClientMetadata['jwks']> }),
  };
}

/** The provider's default identifier for a user. */
function subjectOf(email: string): string {
  return `subject of ${email}`;
}

function accountOf(accountId: string, people: Map<string, Person>): Account | undefined {
  const found = [...people].find(([, { sub }]) => sub === accountId);
  if (!found) return undefined;
  const [email, person] = found;
  return { accountId, claims: () => ({ email, email_verified: true, ...person, sub: accountId }) };
}

/** `GET` shows the page, `POST` signs in, `GET …/cancel` returns the visitor without access. */
async function signInPage(
  provider: Provider,
  people: Map<string, Person>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url?.endsWith('/cancel')) {
    const refusal = { error: 'access_denied', error_description: 'End-User aborted interaction' };
    return await provider.interactionFinished(request, response, refusal);
  }
  if (request.method === 'POST') {
    const email = new URLSearchParams(await text(request)).get('email') ?? '';
    const { sub = subjectOf(email), acr, amr } = people.get(email) ?? {};
    people.set(email, { ...people.get(email), sub });
    const login = { accountId: sub, ...(acr && { acr }), ...(amr && { amr }) };
    return await provider.interactionFinished(request, response, { login });
  }
  const { params } = await provider.interactionDetails(request, response);
  const hint = String(params.login_hint ?? '').replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>
<html lang="en"><title>Provider</title>
<h1>Sign in at the provider</h1>
<form method="post"><label>Email <input type="email" name="email" value="${hint}" required></label>
<button>Sign in</button></form>
<a href="${request.url}/cancel">Cancel</a>
</html>`);
}

/** Signs in like a browser, from the first address on; returns the address that leads back to the portal. */
export async function walkProvider(
  { issuer }: Pick<OpenIdProvider, 'issuer'>,
  start: string,
  person: { email: string },
): Promise<URL> {
  const send = fetchWithCookies();
  let address = new URL(start);
  let form: Record<string, string> | null = null;
  while (address.origin === issuer) {
    const response: Response = await send(address, form);
    const next: string | null = response.headers.get('location');
    const isPage: boolean = next === null && form === null && address.pathname.startsWith(signInPath);
    if (next === null && !isPage) throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
    form = isPage ? person : null;
    if (next !== null) address = new URL(next, address);
  }
  return address;
}
