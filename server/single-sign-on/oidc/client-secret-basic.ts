import type { ClientAuth } from 'openid-client';

/**
 * The secret in the header, form-encoded (RFC 6749 §2.3.1) except `-_.!~*'()`: the library encodes these as well,
 * though no reader needs it, and providers that don't decode would see a different secret.
 */
export function clientSecretBasic(secret: string): ClientAuth {
  return (_provider, client, _body, headers) => {
    const credentials = `${encoded(client.client_id)}:${encoded(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  };
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+');
}
