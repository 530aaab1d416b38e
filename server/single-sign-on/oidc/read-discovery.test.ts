import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { readDiscovery } from './read-discovery.ts';

const issuer = 'https://provider.example';
const here = ['127.0.0.0/8', '::1/128'];
const honest = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
};

/** The answer of a remote provider, which tests don't have. */
function saying(document: object) {
  const answer = async () => Response.json(document);
  return { read: answer };
}

it('a remote provider is read', async () => {
  expect(await readDiscovery(issuer, here, saying(honest))).toMatchObject(honest);
});

it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'])(
  'OI-26 a remote provider does not reach services on this machine by its %s',
  async (name) => {
    const reading = readDiscovery(issuer, here, saying({ ...honest, [name]: 'http://127.0.0.1:5432/' }));
    await expect(reading).rejects.toThrow(`discovery: ${name} is not an https address`);
  },
);

it('OI-26 a provider for many tenants is not believed, though the library knows it', async () => {
  const common = 'https://login.microsoftonline.com/common/v2.0';
  const issuer = 'https://login.microsoftonline.com/{tenantid}/v2.0';
  const reading = readDiscovery(common, here, saying({ ...honest, issuer }));
  await expect(reading).rejects.toThrow(`the discovery document of ${common} names another issuer`);
});

it('OI-24 an untrusted certificate is reported as such', async () => {
  const pem = (name: string) => readFileSync(new URL(`../../../test/support/test-only-${name}.pem`, import.meta.url));
  const server = createServer({ cert: pem('localhost'), key: pem('server-key') }, (_request, response) =>
    response.end(),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const reading = readDiscovery(`https://localhost:${(server.address() as AddressInfo).port}`, here);
    await expect(reading).rejects.toThrow(/has a certificate that is not trusted here \([A-Z_]+\)$/);
  } finally {
    server.close();
  }
});
