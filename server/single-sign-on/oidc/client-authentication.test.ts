import { X509Certificate } from 'node:crypto';
import { decodeProtectedHeader, importX509, jwtVerify } from 'jose';
import type { ServerMetadata } from 'openid-client';
import { expect, it } from 'vitest';
import { makeCertificate } from '../portal-keys.ts';
import { clientAssertion } from './client-authentication.ts';
import { freshSignInParameters } from './start.ts';

const entra = 'https://login.microsoftonline.com/7f1c8a52-0000-4000-8000-000000000000/v2.0';
const elsewhere = 'https://idp.example';
const key = { id: 'id', stage: 'current' as const, ...(await makeCertificate('portal.example', new Date())) };

/** The assertion sent to a provider. */
async function shown(metadata: ServerMetadata): Promise<string> {
  const body = new URLSearchParams();
  const authenticate = await clientAssertion(key, metadata);
  await authenticate(metadata, { client_id: 'vestibule' }, body, new Headers());
  return body.get('client_assertion') ?? '';
}

it('names the key, and the certificate in both ways', async () => {
  const { kid, x5t, typ, ...header } = decodeProtectedHeader(await shown({ issuer: elsewhere }));
  const { raw } = new X509Certificate(key.certificate);
  const digest = async (name: string) =>
    Buffer.from(await crypto.subtle.digest(name, new Uint8Array(raw))).toString('base64url');
  expect([x5t, header['x5t#S256'], typ]).toEqual([await digest('SHA-1'), await digest('SHA-256'), 'JWT']);
  expect(kid).toMatch(/^[\w-]{43}$/);
});

it.each([
  ['Entra ID, which announces nothing', entra, undefined, 'PS256'],
  ['a provider that announces nothing', elsewhere, undefined, 'RS256'],
  ['a look-alike of Entra ID', 'https://login.microsoftonline.com.evil.example/v2.0', undefined, 'RS256'],
  ['one that announces PS256 alone', elsewhere, ['PS256'], 'PS256'],
  ['one that announces both', entra, ['PS256', 'RS256'], 'RS256'],
  ['one that announces others', elsewhere, ['ES256'], 'RS256'],
])('signs for %s as expected', async (_who, issuer, announced, alg) => {
  const more = announced && { token_endpoint_auth_signing_alg_values_supported: announced };
  const assertion = await shown({ issuer, ...more });
  expect(decodeProtectedHeader(assertion).alg).toBe(alg);
  const verified = await jwtVerify(assertion, await importX509(key.certificate, alg));
  expect(verified.payload).toMatchObject({ iss: 'vestibule', sub: 'vestibule', aud: issuer });
});

it.each([
  [elsewhere, undefined, { max_age: '0', prompt: 'login' }],
  [elsewhere, ['none', 'login', 'select_account'], { max_age: '0', prompt: 'login' }],
  [elsewhere, ['none', 'select_account'], { prompt: 'select_account' }],
  [elsewhere, ['none', 'consent'], { max_age: '0' }],
  ['https://accounts.google.com', undefined, { prompt: 'select_account' }],
])('a fresh sign-in is asked of %s, which lists %j, by parameters it supports', (issuer, known, parameters) => {
  expect(freshSignInParameters({ issuer, ...(known && { prompt_values_supported: known }) })).toEqual(parameters);
});
