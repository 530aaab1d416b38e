import { sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { PortalKey } from '../portal-keys.ts';

/** How a message is sent by the browser: an address that contains it, or one to post form fields to. */
export type Carried = { url: string; fields: Record<string, string> | null };

type Message = {
  field: 'SAMLRequest' | 'SAMLResponse';
  xml: string;
  to: string;
  binding: 'redirect' | 'post';
  relayState: string | null;
};

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

/**
 * Signs a message for its binding: the address that contains it, or the message itself (SAML bindings §3.4.4.1,
 * §3.5.4).
 */
export async function carryMessage({ field, xml, to, binding, relayState }: Message, key: PortalKey): Promise<Carried> {
  const state = relayState === null ? {} : { RelayState: relayState };
  if (binding === 'post') {
    const { signSamlPost } = await import('@node-saml/node-saml/lib/saml-post-signing.js');
    const options = {
      privateKey: key.privateKey,
      signatureAlgorithm: 'sha256' as const,
      digestAlgorithm: 'sha256' as const,
    };
    const signed = signSamlPost(xml, '/*', options);
    return { url: to, fields: { [field]: Buffer.from(signed).toString('base64'), ...state } };
  }
  const packed = deflateRawSync(xml).toString('base64');
  const query = queryOf({ [field]: packed, ...state, SigAlg: rsaSha256 });
  const signature = sign('sha256', Buffer.from(query), key.privateKey).toString('base64');
  return { url: `${to}${to.includes('?') ? '&' : '?'}${query}&${queryOf({ Signature: signature })}`, fields: null };
}

/** In the order and the exact characters that are signed. */
function queryOf(parameters: Record<string, string>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}
