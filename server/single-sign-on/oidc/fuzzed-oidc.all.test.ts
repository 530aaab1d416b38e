import { KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
import { type Bend, startForgedProvider } from '#test/providers/forged-openid-provider.ts';
import { portalOfFile, sharedByFile } from '#test/support/portal-of-file.ts';
import { oidcConnection } from '#test/support/sso-for-test.ts';
import type { Deps } from '../../deps.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { readOidcAnswer } from './callback-route.ts';
import { startOidc } from './start.ts';

let deps: Deps;
let connection: OidcConnection;
const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(() => {
  deps = portal.deps;
  // A generated endpoint may be a slow address.
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((time) => timeout.call(AbortSignal, Math.min(time, 300)));
  connection = oidcConnection(deps, provider);
});

const names = {
  discovery: [
    ...['issuer', 'authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri', 'end_session_endpoint'],
    ...['id_token_signing_alg_values_supported', 'userinfo_signing_alg_values_supported'],
    ...['token_endpoint_auth_methods_supported', 'authorization_response_iss_parameter_supported'],
  ],
  keys: ['keys'],
  key: ['kty', 'n', 'e', 'kid', 'alg', 'use', 'key_ops', 'crv', 'x', 'ext', 'oth'],
  token: ['access_token', 'token_type', 'expires_in', 'scope', 'id_token', 'error', 'error_description'],
  header: ['alg', 'kid', 'typ', 'crit', 'jku', 'jwk', 'x5c', 'b64', 'cty', 'zip'],
  claims: ['iss', 'aud', 'exp', 'iat', 'nbf', 'nonce', 'azp', 'at_hash', 'auth_time', 'acr', 'amr', 'email', 'locale'],
  userInfo: ['sub', 'email', 'email_verified', 'locale'],
};

/** Replaces one part of an otherwise honest answer by an arbitrary value. */
const change = fc
  .constantFrom(...(Object.keys(names) as (keyof typeof names)[]))
  .chain((place) => fc.tuple(fc.constant(place), fc.constantFrom(...names[place]), fc.jsonValue({ maxDepth: 2 })));

function bendOf(place: keyof typeof names, name: string, value: unknown): Bend {
  const put = (honest: object) => ({ ...honest, [name]: value });
  if (place === 'key') return { keys: () => ({ keys: [put(provider.key.jwk)] }) };
  if (place === 'userInfo') return { claims: (honest) => ({ ...honest, email: undefined }), userInfo: put };
  if (place === 'header') return { idToken: (claims, honest) => signedWhateverItSays(claims, put(honest)) };
  return { [place]: put };
}

/** A library refuses to sign what it does not understand. */
function signedWhateverItSays(claims: object, header: object): string {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const data = `${part(header)}.${part(claims)}`;
  return `${data}.${sign('sha256', Buffer.from(data), KeyObject.from(provider.key.privateKey)).toString('base64url')}`;
}

/** Checks that the words are safe in a record. */
function expectHarmless(words: string): void {
  expect(words).toMatch(/^[\x20-\x7e]+$/);
}

it('OI-11 any answer of a provider is read as the person it honestly names, or refused', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(change, async ([place, name, value]) => {
      deps.providers.clear();
      provider.bend(bendOf(place, name, value));
      const started = await startOidc(deps, connection, { state: 'state', loginHint: null, language: 'en' });
      if (started.kind === 'refused') return expectHarmless(started.words);
      const url = provider.visit(started.url);
      const answer = await readOidcAnswer(deps, connection, { url, state: 'state', kept: started.kept });
      if (answer.kind === 'refused') return expectHarmless(answer.words);
      accepted++;
      expect(answer.identity.subject).toBe('subject of alice');
    }),
    { endOnFailure: true },
  );
  expect(accepted).toBeGreaterThan(10);
});
