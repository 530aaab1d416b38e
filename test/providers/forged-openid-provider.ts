import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';

type Json = Record<string, unknown>;
type Change = (honest: Json) => unknown;

/** How the provider's answers differ from honest ones. Absent means honest. */
export type Bend = {
  /** What the browser brings back to the portal. */
  callback?: (parameters: URLSearchParams) => void;
  /** Claims and header of the ID token, before it is signed. */
  claims?: Change;
  header?: Change;
  /** Creates an ID token itself. */
  idToken?: (claims: Json, header: Json) => Promise<string> | string;
  /** Documents; a string is sent verbatim. */
  discovery?: Change;
  keys?: Change;
  token?: Change;
  userInfo?: Change;
  /** Replaces an answer entirely: for failures, not forgeries. */
  instead?: Partial<Record<Endpoint, (response: ServerResponse) => void>>;
};

export type Endpoint = 'discovery' | 'keys' | 'token' | 'userInfo';

export type KeyOfProvider = { kid: string; alg: string; privateKey: CryptoKey; publicKey: CryptoKey; jwk: JWK };

export type ForgedProvider = Awaited<ReturnType<typeof startForgedProvider>>;

const paths: Record<string, Endpoint> = {
  '/.well-known/openid-configuration': 'discovery',
  '/keys': 'keys',
  '/token': 'token',
  '/userinfo': 'userInfo',
};

/** An OpenID provider whose every answer can be changed: generates forged answers and honest ones. */
export async function startForgedProvider({ now }: { now: () => Date }) {
  const clientId = 'vestibule';
  const clientSecret = 'a secret with : and % and ü';
  /** The requested paths, in order, and the headers and bodies received by the token endpoint. */
  const requests: string[] = [];
  const tokenRequests: { authorization: string | undefined; form: URLSearchParams }[] = [];
  const codes = new Map<string, URLSearchParams>();
  let key = await newKey('RS256');
  let bend: Bend = {};

  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://provider').pathname;
    requests.push(path);
    const endpoint = paths[path];
    if (!endpoint) return void response.writeHead(404).end();
    const form = new URLSearchParams(await text(request));
    if (endpoint === 'token') tokenRequests.push({ authorization: request.headers.authorization, form });
    const instead = bend.instead?.[endpoint];
    if (instead) return instead(response);
    const honest = await documents[endpoint](form, request.headers.authorization);
    const document = bend[endpoint] ? bend[endpoint](honest) : honest;
    response.writeHead('error' in honest ? 400 : 200, { 'content-type': 'application/json' });
    response.end(typeof document === 'string' ? document : JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const documents: Record<Endpoint, (form: URLSearchParams, authorization?: string) => Json | Promise<Json>> = {
    discovery: () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      end_session_endpoint: `${issuer}/end`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    }),
    keys: () => ({ keys: [key.jwk] }),
    token: async (form) => {
      const asked = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (asked?.get('code_challenge') !== challenge || asked.get('redirect_uri') !== form.get('redirect_uri')) {
        return { error: 'invalid_grant', error_description: 'unknown code' };
      }
      const idToken = await makeIdToken(asked);
      return { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: idToken };
    },
    userInfo: () => ({ sub: 'subject of alice', email: 'alice@customer.example', email_verified: true }),
  };

  async function makeIdToken(asked: URLSearchParams): Promise<string> {
    const iat = Math.floor(now().getTime() / 1000);
    const honest = {
      iss: issuer,
      aud: clientId,
      sub: 'subject of alice',
      exp: iat + 300,
      iat,
      nonce: asked.get('nonce') ?? '',
      // OpenID Connect Core §2: required if a maximum age was asked for.
      ...(asked.has('max_age') && { auth_time: iat }),
      email: 'alice@customer.example',
      email_verified: true,
    };
    const claims = (bend.claims?.(honest) ?? honest) as Json;
    const header = (bend.header?.({ alg: key.alg, kid: key.kid }) ?? { alg: key.alg, kid: key.kid }) as Json;
    return await (bend.idToken?.(claims, header) ?? signed(claims, header, key.privateKey));
  }

  return {
    issuer,
    clientId,
    clientSecret,
    get key() {
      return key;
    },
    /** Stays in effect until the next call. */
    bend: (next: Bend) => {
      bend = next;
    },
    /** From now on it signs with another key, and publishes only that one. */
    rotate: (next: KeyOfProvider) => {
      key = next;
    },
    /** Signs in the person who opened this address, and returns where the browser is redirected. */
    visit(address: string) {
      const asked = new URL(address).searchParams;
      const code = randomUUID();
      codes.set(code, asked);
      const parameters = new URLSearchParams({ code, state: asked.get('state') ?? '' });
      bend.callback?.(parameters);
      return new URL(`${asked.get('redirect_uri')}?${parameters}`);
    },
    requests,
    tokenRequests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function newKey(alg: string, kid: string = randomUUID()): Promise<KeyOfProvider> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** A JWS in its compact form (RFC 7515 §7.1), with any key. */
export async function signed(claims: Json, header: Json, key: CryptoKey | Uint8Array): Promise<string> {
  const payload = new TextEncoder().encode(JSON.stringify(claims));
  return await new CompactSign(payload).setProtectedHeader(header as { alg: string }).sign(key);
}

/** A JWS without a signature. */
export function unsigned(claims: Json, header: Json, signature = ''): string {
  const part = (json: Json) => Buffer.from(JSON.stringify(json)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature}`;
}
