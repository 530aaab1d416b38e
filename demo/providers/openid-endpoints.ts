import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { formOf } from '../start-server.ts';
import { anHourAgo, type Behaviour, type PersonAtProvider, type Switch, slowness } from './provider-pages.ts';

/** What the portal itself asks the provider (OpenID Connect Core §3.1.3, Discovery §4). */
export async function addOpenIdEndpoints(app: FastifyInstance, state: OpenIdState): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' };
  /** The address of the person whom an access token is for. */
  const tokens = new Map<string, string>();

  app.addHook('preHandler', async (request, reply) => {
    // People still see its pages: that is where the fault is switched off.
    const isForPortal = /^\/(?:\.well-known|keys|token|userinfo)/.test(request.url);
    if (state.behaviour.current === 'down' && isForPortal) return await reply.code(503).send({ error: 'out of order' });
  });

  app.get('/.well-known/openid-configuration', () => metadataOf(state.issuer));
  app.get('/keys', () => ({ keys: [key] }));

  app.post('/token', async (request, reply) => {
    const form = formOf(request);
    const code = form.get('code') ?? '';
    const granted = state.codes.get(code);
    state.codes.delete(code);
    if (!granted || !isClient(request, granted.client) || !isSameVisit(granted, form))
      return reply.code(400).send({ error: 'invalid_grant' });
    if (granted.behaviour === 'slow') await pause(slowness);
    const accessToken = randomUUID();
    tokens.set(accessToken, granted.email);
    return { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: await idToken(granted) };
  });

  app.get('/userinfo', (request, reply) => {
    const email = tokens.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    return email ? claimsOf(state, email) : reply.code(401).send({ error: 'invalid_token' });
  });

  function isClient({ headers }: FastifyRequest, client: string): boolean {
    const given = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    return given === `${client}:${state.secrets.get(client)}`;
  }

  async function idToken({ asked, client, email, behaviour }: Granted): Promise<string> {
    const now = Math.floor((Date.now() + (behaviour === 'expired' ? anHourAgo : 0)) / 1000);
    return await new SignJWT({ ...claimsOf(state, email), nonce: asked.get('nonce'), auth_time: now })
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .setIssuer(state.issuer)
      .setAudience(behaviour === 'audience' ? 'another-application' : client)
      .setIssuedAt(now)
      .setExpirationTime(now + 300)
      .sign(privateKey);
  }
}

function metadataOf(issuer: string) {
  return {
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
  };
}

function claimsOf({ people }: OpenIdState, email: string) {
  const { name, groups } = people.find((person) => person.email === email) ?? {};
  return { sub: `id-of-${email}`, email, email_verified: true, preferred_username: email.split('@')[0], name, groups };
}

/** Whether the code is taken by whoever began the visit (RFC 7636 §4.6). */
function isSameVisit({ asked }: Granted, form: URLSearchParams): boolean {
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  return challenge === asked.get('code_challenge') && form.get('redirect_uri') === asked.get('redirect_uri');
}

/** What the pages and the endpoints of the OpenID provider share. */
export type OpenIdState = {
  /** Known once it listens. */
  issuer: string;
  behaviour: Switch;
  /** The secret of each client: one client for each connection. */
  secrets: ReadonlyMap<string, string>;
  /** Who was picked, by the code that the browser carries to the portal; each can be taken once. */
  codes: Map<string, Granted>;
  people: readonly PersonAtProvider[];
};

/** A visit: what the portal asked for, as which client. */
export type Visit = { asked: URLSearchParams; client: string };

type Granted = Visit & { email: string; behaviour: Behaviour };
