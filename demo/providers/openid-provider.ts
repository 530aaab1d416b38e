import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { html } from '../html.ts';
import { demoApp, listen, sendPage } from '../start-server.ts';
import { anHourAgo, type Behaviour, isBehaviour, type Switch, slowness } from './behaviour.ts';
import {
  behaviourChoice,
  type PersonAtProvider,
  type ProviderLook,
  peopleButtons,
  providerPage,
} from './provider-pages.ts';

export type OpenIdProvider = {
  issuer: string;
  behaviour: Switch;
  /** The secret of each client: one client for each connection. */
  secrets: ReadonlyMap<string, string>;
  close: () => Promise<void>;
};

export type OpenIdProviderOptions = {
  look: ProviderLook;
  /** Its styles, as soon as the pages are built. */
  css: Promise<string>;
  clients: readonly string[];
  people: readonly PersonAtProvider[];
  /** The portal's address, base path included. */
  portal: string;
};

type Visit = { asked: URLSearchParams; client: string };
type Granted = Visit & { email: string; behaviour: Behaviour };

/**
 * A small OpenID provider (OpenID Connect Core §3.1, Discovery §3) that can also answer wrongly, which a real one cannot be
 * told to. It asks for no password and keeps no session: whoever comes picks an account.
 */
export async function startOpenIdProvider(options: OpenIdProviderOptions): Promise<OpenIdProvider> {
  const { look, portal } = options;
  const app = demoApp();
  const behaviour: Switch = { current: 'right' };
  const secrets = new Map(options.clients.map((client) => [client, randomBytes(32).toString('base64url')]));
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' };
  const visits = new Map<string, Visit>();
  const codes = new Map<string, Granted>();
  const tokens = new Map<string, string>();

  app.addHook('preHandler', async (request, reply) => {
    // People still see its pages, so that the fault can be switched off, and the portal has something to be sent back from.
    const isForPortal = /^\/(?:\.well-known|keys|token|userinfo)/.test(request.url);
    if (behaviour.current === 'down' && isForPortal) return await reply.code(503).send({ error: 'out of order' });
  });

  app.get('/look.css', async (_request, reply) => reply.type('text/css').send(await options.css));
  app.get('/.well-known/openid-configuration', () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    end_session_endpoint: `${issuer}/sign-out`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }));
  app.get('/keys', () => ({ keys: [key] }));

  app.get('/authorize', (request, reply) => {
    const asked = new URL(request.url, issuer).searchParams;
    const client = asked.get('client_id') ?? '';
    if (!secrets.has(client) || asked.get('redirect_uri') !== redirectUri(client))
      return reply.code(400).send('This application is not registered here.');
    const visit = randomUUID();
    visits.set(visit, { asked, client });
    return sendPage(
      reply,
      providerPage(
        look,
        'Who are you?',
        html`<p class="lede">No password here: pick an account.</p>
<form method="post" action="/sign-in"><input type="hidden" name="visit" value="${visit}">
${peopleButtons(options.people, asked.get('login_hint') ?? '')}
<button class="button quiet" name="cancel" value="yes">Cancel</button>
${behaviourChoice(behaviour.current, ['right', 'audience', 'expired', 'slow'])}</form>`,
      ),
    );
  });

  app.post('/sign-in', (request, reply) => {
    const form = request.body as URLSearchParams;
    const visit = visits.get(form.get('visit') ?? '');
    visits.delete(form.get('visit') ?? '');
    if (!visit) return reply.redirect(`${portal}/singleSignOn`, 303);
    const answer = new URL(visit.asked.get('redirect_uri') as string);
    answer.searchParams.set('state', visit.asked.get('state') ?? '');
    answer.searchParams.set('iss', issuer);
    if (form.has('cancel')) {
      answer.searchParams.set('error', 'access_denied');
      answer.searchParams.set('error_description', 'The person pressed cancel');
      return reply.redirect(answer.href, 303);
    }
    const chosen = form.get('behaviour');
    const code = randomUUID();
    const email = form.get('person') ?? '';
    codes.set(code, { ...visit, email, behaviour: isBehaviour(chosen) ? chosen : behaviour.current });
    answer.searchParams.set('code', code);
    return reply.redirect(answer.href, 303);
  });

  app.post('/token', async (request, reply) => {
    const form = request.body as URLSearchParams;
    const granted = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    if (!granted || !isClient(request, granted.client) || !isSameVisit(granted, form))
      return reply.code(400).send({ error: 'invalid_grant' });
    if (granted.behaviour === 'slow') await pause(slowness);
    const accessToken = randomUUID();
    tokens.set(accessToken, granted.email);
    return { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: await idToken(granted) };
  });

  app.get('/userinfo', (request, reply) => {
    const email = tokens.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    return email ? claimsOf(email) : reply.code(401).send({ error: 'invalid_token' });
  });

  app.get('/sign-out', (request, reply) => {
    const asked = new URL(request.url, issuer).searchParams;
    const backTo = new URL(`${portal}/login`);
    if (asked.has('state')) backTo.searchParams.set('state', asked.get('state') as string);
    return sendPage(
      reply,
      providerPage(
        look,
        'Signed out here too',
        html`<p class="lede">The portal signed you out and sent you on, so that this provider forgets you as well.</p>
<div class="stack"><a class="button" href="${backTo.href}">Back to the portal</a></div>`,
      ),
    );
  });

  app.get('/', (_request, reply) => showSettings(reply));
  app.post('/', (request, reply) => {
    const chosen = (request.body as URLSearchParams).get('behaviour');
    if (isBehaviour(chosen)) behaviour.current = chosen;
    return reply.redirect('/', 303);
  });

  function showSettings(reply: FastifyReply): FastifyReply {
    return sendPage(
      reply,
      providerPage(
        look,
        'An OpenID provider',
        html`<p class="lede">Choose how it answers, then sign in at the portal by single sign-on.</p>
<form method="post">${behaviourChoice(behaviour.current)}<button class="button">Save</button></form>
<p class="after"><a href="${portal}/singleSignOn">To single sign-on</a></p>`,
      ),
    );
  }

  const redirectUri = (client: string) => `${portal}/authenticate/oidc/callback/${client}`;

  function isClient({ headers }: FastifyRequest, client: string): boolean {
    const given = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    return given === `${client}:${secrets.get(client)}`;
  }

  async function idToken({ asked, client, email, behaviour }: Granted): Promise<string> {
    const now = Math.floor((Date.now() + (behaviour === 'expired' ? anHourAgo : 0)) / 1000);
    return await new SignJWT({ ...claimsOf(email), nonce: asked.get('nonce'), auth_time: now })
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .setIssuer(issuer)
      .setAudience(behaviour === 'audience' ? 'another-application' : client)
      .setIssuedAt(now)
      .setExpirationTime(now + 300)
      .sign(privateKey);
  }

  const server = await listen(app);
  // By address: to a browser another site than the portal on localhost, as a real provider is.
  const issuer = `http://127.0.0.1:${server.port}`;
  return { issuer, behaviour, secrets, close: server.close };
}

function claimsOf(email: string) {
  return { sub: `id-of-${email}`, email, email_verified: true, preferred_username: email.split('@')[0] };
}

/** Whether the code is taken by whoever began the visit (RFC 7636 §4.6). */
function isSameVisit({ asked }: Granted, form: URLSearchParams): boolean {
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  return challenge === asked.get('code_challenge') && form.get('redirect_uri') === asked.get('redirect_uri');
}
