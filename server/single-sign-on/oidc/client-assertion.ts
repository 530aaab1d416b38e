import { X509Certificate } from 'node:crypto';
import { importPKCS8 } from 'jose';
import { type ClientAuth, modifyAssertion, PrivateKeyJwt, type ServerMetadata } from 'openid-client';
import type { PortalKey } from '../portal-keys.ts';
import { publicJwk } from './keys.ts';

/**
 * Authenticates the portal by a signature (private_key_jwt, OpenID Connect Core §9). The header names the key in both
 * ways: by `kid`, as in our JWKS, and by the certificate (RFC 7515 §4.1.7), for providers to which it was uploaded.
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
