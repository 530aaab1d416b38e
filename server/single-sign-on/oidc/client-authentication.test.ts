import { X509Certificate } from 'node:crypto';
import { decodeProtectedHeader, importX509, jwtVerify } from 'jose';
import type { ServerMetadata } from 'openid-client';
import { expect, it } from 'vitest';
import { makeCertificate } from '../portal-keys.ts';
import { clientAssertion } from './client-authentication.ts';

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
  expect({ x5t, typ }).toEqual({ x5t: await digest('SHA-1'), typ: 'JWT' });
  expect(header['x5t#S256']).toBe(await digest('SHA-256'));
  expect(kid).toMatch(/^[\w-]{43}$/);
});

it.each([
  ['Entra ID, which announces nothing', { issuer: entra }, 'PS256'],
  ['a provider that announces nothing', { issuer: elsewhere }, 'RS256'],
  ['a look-alike of Entra ID', { issuer: 'https://login.microsoftonline.com.evil.example/v2.0' }, 'RS256'],
  [
    'one that announces PS256 alone',
    { issuer: elsewhere, token_endpoint_auth_signing_alg_values_supported: ['PS256'] },
    'PS256',
  ],
  [
    'one that announces both',
    { issuer: entra, token_endpoint_auth_signing_alg_values_supported: ['PS256', 'RS256'] },
    'RS256',
  ],
  [
    'one that announces others',
    { issuer: elsewhere, token_endpoint_auth_signing_alg_values_supported: ['ES256'] },
    'RS256',
  ],
])('signs for %s as expected', async (_who, metadata, alg) => {
  const assertion = await shown(metadata);
  expect(decodeProtectedHeader(assertion).alg).toBe(alg);
  const verified = await jwtVerify(assertion, await importX509(key.certificate, alg));
  expect(verified.payload).toMatchObject({ iss: 'vestibule', sub: 'vestibule', aud: metadata.issuer });
});
