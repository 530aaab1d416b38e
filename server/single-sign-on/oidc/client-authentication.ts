import { createPublicKey, X509Certificate } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { calculateJwkThumbprint, importPKCS8, type JWK } from 'jose';
import { type ClientAuth, ClientSecretPost, modifyAssertion, PrivateKeyJwt, type ServerMetadata } from 'openid-client';
import { unseal } from '../../crypto/keys.ts';
import type { Deps } from '../../deps.ts';
import { ConnectionBroken } from '../../http/provider-fetch.ts';
import { type PortalKey, portalKeys } from '../portal-keys.ts';
import { connectionPlace, type OidcConnection, type OidcSettings } from '../sso-connection.ts';

/** How the portal authenticates at the token endpoint (OpenID Connect Core §9). */
export async function clientAuthentication(
  deps: Pick<Deps, 'sql' | 'keys' | 'config' | 'now'>,
  { id, settings, sealedSecret }: OidcConnection,
  metadata: ServerMetadata,
): Promise<ClientAuth> {
  if (settings.clientAuthentication === 'privateKey') {
    const [key] = await portalKeys(deps);
    return await clientAssertion(key, metadata);
  }
  if (!sealedSecret) throw new ConnectionBroken('the connection has no client secret');
  const secret = unseal(deps.keys.seal, sealedSecret, connectionPlace(id));
  if (secret === null)
    throw new ConnectionBroken('the client secret cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it');
  return methodOfSecret(settings, metadata) === 'basic' ? clientSecretBasic(secret) : ClientSecretPost(secret);
}

/**
 * How to send a secret: as the operator says, otherwise as announced; by default in the header (OpenID Connect
 * Discovery §3).
 */
export function methodOfSecret({ clientAuthentication }: OidcSettings, metadata: ServerMetadata): 'basic' | 'post' {
  if (clientAuthentication === 'basic' || clientAuthentication === 'post') return clientAuthentication;
  const offered = metadata.token_endpoint_auth_methods_supported;
  return !Array.isArray(offered) || offered.includes('client_secret_basic') ? 'basic' : 'post';
}

/**
 * The secret in the header, form-encoded (RFC 6749 §2.3.1) except `-_.!~*'()`: the library encodes these as well,
 * though no reader needs it, and providers that don't decode would see a different secret.
 */
function clientSecretBasic(secret: string): ClientAuth {
  const encoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return (_provider, client, _body, headers) => {
    const credentials = `${encoded(client.client_id)}:${encoded(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  };
}

/**
 * A signature (private_key_jwt). The header names the key in both ways: by `kid`, as in our JWKS, and by the certificate
 * (RFC 7515 §4.1.7), for providers to which it was uploaded.
 */
export async function clientAssertion(key: PortalKey, metadata: ServerMetadata): Promise<ClientAuth> {
  const { kid = '' } = await publicJwk(key);
  const { fingerprint, fingerprint256 } = new X509Certificate(key.certificate);
  const privateKey = await importPKCS8(key.privateKey, assertionAlgorithm(metadata));
  return PrivateKeyJwt(
    { key: privateKey, kid },
    {
      [modifyAssertion](header) {
        header.typ = 'JWT';
        header.x5t = thumbprint(fingerprint);
        header['x5t#S256'] = thumbprint(fingerprint256);
      },
    },
  );
}

/**
 * RS256, which every provider can verify; PS256 if only that is announced, or for Entra ID, which requires it and
 * announces nothing.
 */
function assertionAlgorithm(metadata: ServerMetadata): 'RS256' | 'PS256' {
  const announced = metadata.token_endpoint_auth_signing_alg_values_supported;
  if (Array.isArray(announced)) return !announced.includes('RS256') && announced.includes('PS256') ? 'PS256' : 'RS256';
  return /^login\.(?:microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn)$/.test(new URL(metadata.issuer).hostname)
    ? 'PS256'
    : 'RS256';
}

function thumbprint(fingerprint: string): string {
  return Buffer.from(fingerprint.replaceAll(':', ''), 'hex').toString('base64url');
}

/** `GET authenticate/oidc/keys`: the keys that verify private_key_jwt, including the next one ahead of its use. */
export function oidcKeysRoute(deps: Deps) {
  return async function oidcKeys(_request: FastifyRequest, reply: FastifyReply) {
    const keys = await Promise.all((await portalKeys(deps)).map(publicJwk));
    return reply.header('content-type', 'application/jwk-set+json').send(JSON.stringify({ keys }));
  };
}

/**
 * The public part of a portal key (RFC 7517), which verifies our signatures; without `alg`, as providers differ in
 * wanting RS256 or PS256.
 */
export async function publicJwk({ certificate }: Pick<PortalKey, 'certificate'>): Promise<JWK> {
  const { kty, n, e } = createPublicKey(certificate).export({ format: 'jwk' }) as JWK & { kty: 'RSA' };
  const key = { kty, n, e } as JWK;
  return { ...key, kid: await calculateJwkThumbprint(key), use: 'sig' };
}
