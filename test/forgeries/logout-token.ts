import { randomUUID } from 'node:crypto';
import type { Response } from 'light-my-request';
import { type ForgedProvider, signed } from '../providers/forged-openid-provider.ts';
import type { PortalForTest, TestRequest } from '../support/portal-for-test.ts';

/** A provider's logout token for alice (OpenID Connect Back-Channel Logout 1.0 §2.4); `claims` and `header` replace honest ones. */
export async function logoutToken(
  portal: PortalForTest,
  { issuer: iss, clientId: aud, key }: ForgedProvider,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const iat = Math.floor(portal.deps.now().getTime() / 1000);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const honest = { iss, aud, iat, exp: iat + 120, jti: randomUUID(), sub: 'subject of alice', events };
  return await signed(
    { ...honest, ...claims },
    { alg: key.alg, kid: key.kid, typ: 'logout+jwt', ...header },
    key.privateKey,
  );
}

/** Posts a token as a provider's server does: unrelated to our pages. */
export async function postLogoutToken(
  portal: PortalForTest,
  token: string,
  { connection = 'acme-oidc', ...more }: Partial<TestRequest> & { connection?: string } = {},
): Promise<Response> {
  const url = `/portal/authenticate/oidc/backchannel-logout/${connection}`;
  const headers = { origin: '', 'sec-fetch-site': '' };
  return await portal.send({ method: 'POST', url, form: { logout_token: token }, headers, ...more });
}
