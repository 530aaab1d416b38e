import {
  createLocalJWKSet,
  decodeProtectedHeader,
  generateKeyPair,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
} from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import type { HubAudience } from '../config/hub.ts';
import { limits, minute, second } from '../limits.ts';
import { keepHouse } from '../operations/housekeeping.ts';
import { hubKeysRemembered, withdrawHubKeys } from './hub-keys.ts';
import { hubTokens } from './hub-tokens.ts';

const hub = { logoutUrl: null, logoutNetworks: [] };
const crm: HubAudience = { name: 'crm', ...hub };
const hubAudiences: HubAudience[] = [crm, { name: 'https://reports.example.com', ...hub }];
const issuer = 'http://localhost:8080/portal';
const portal = portalOfFile({ config: { hubAudiences }, once: addAttackFixtures });

type From = Pick<typeof portal, 'send' | 'deps'>;

async function sessionOf(username: string): Promise<Record<string, string>> {
  const { 'vestibule-session': session = '' } = cookiesOf(await portal.signIn(username, testPassword));
  return { 'vestibule-session': session };
}

async function tokenOf(cookies: Record<string, string>, audience = 'crm', from: From = portal): Promise<string> {
  const url = `/portal/session?${new URLSearchParams({ audience })}`;
  const { statusCode, headers } = await from.send({ url, cookies });
  expect(statusCode).toBe(200);
  return String(headers['x-vestibule-token']);
}

async function keysOf(from: From = portal): Promise<JSONWebKeySet> {
  return (await from.send({ url: '/.well-known/jwks.json' })).json();
}

/** Verifies a token as a hub does. */
async function verified(token: string, audience = 'crm', from: From = portal) {
  const keys = createLocalJWKSet(await keysOf(from));
  return await jwtVerify(token, keys, { issuer, audience, typ: 'JWT', currentDate: from.deps.now() });
}

it('a token says who is signed in, since when, in which session and for how long', async () => {
  const id = await addUser(portal, {
    ...{ username: 'Zoë', email: 'zoe@acme.test', language: 'de', name: 'O’Neil, Zoë' },
    groups: ['acme:Vertrieb, Süd', 'acme:hr'],
  });
  const cookies = await sessionOf('Zoë');
  const since = portal.deps.now().getTime() / 1000;
  portal.wait(90_000);
  const { payload, protectedHeader } = await verified(await tokenOf(cookies));
  expect(payload).toEqual({
    iss: issuer,
    aud: 'crm',
    sub: id,
    sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    preferred_username: 'Zoë',
    email: 'zoe@acme.test',
    name: 'O’Neil, Zoë',
    customers: ['acme'],
    groups: ['acme:Vertrieb, Süd', 'acme:hr'],
    locale: 'de',
    auth_time: since,
    iat: since + 90,
    exp: since + 90 + 120,
  });
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.any(String) });
  // The second answer is the cached one of the first.
  expect((await verified(await tokenOf(cookies))).payload).toEqual(payload);
});

it('each hub gets a token for itself alone', async () => {
  const cookies = await sessionOf('alice');
  const token = await tokenOf(cookies, 'https://reports.example.com');
  await verified(token, 'https://reports.example.com');
  await expect(verified(token, 'crm')).rejects.toThrow('"aud"');
});

it('the keys are public to scripts everywhere, can be cached, and hold nothing secret', async () => {
  const { headers, statusCode } = await portal.send({ url: '/.well-known/jwks.json' });
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toMatch(/^application\/jwk-set\+json/);
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['cross-origin-resource-policy']).toBe('cross-origin');
  expect(headers['cache-control']).toBe('public, max-age=300');
  const { keys } = await keysOf();
  expect(keys).toMatchObject([{ alg: 'ES256', kty: 'EC', crv: 'P-256', use: 'sig' }]);
  for (const key of keys) expect(key).not.toHaveProperty('d');
});

it('GT-16 whoever reaches a hub directly has no token that it accepts', async () => {
  const claims = (await verified(await tokenOf(await sessionOf('alice')))).payload;
  const { kid = '' } = decodeProtectedHeader(await tokenOf(await sessionOf('alice')));
  const { privateKey } = await generateKeyPair('ES256');
  const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' }).sign(privateKey);
  await expect(verified(forged)).rejects.toThrow('signature verification failed');
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  await expect(verified(`${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`)).rejects.toThrow();
});

describe('replaced keys', () => {
  const person = {
    username: 'alice',
    ...{ email: 'a@acme.test', name: null, language: null },
    ...{ customers: [], groups: [] },
    signedInAt: '',
    expiresAt: '',
  };
  const signedIn = { userId: 'u', id: 's', provenAt: null, person };
  let makeToken: ReturnType<typeof hubTokens>;
  beforeEach(async () => {
    await portal.sql`delete from hub_key`;
    portal.wait(hubKeysRemembered);
    makeToken = hubTokens(portal.deps);
  });
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  const newToken = async () => await makeToken(signedIn, crm);
  const verify = async (token: string, keys: JSONWebKeySet) =>
    await jwtVerify(token, createLocalJWKSet(keys), { audience: 'crm', currentDate: portal.deps.now() });

  it('a hub that caches the keys for an hour never meets a token that it cannot verify', async () => {
    let cached = { keys: await keysOf(), at: portal.deps.now().getTime() };
    const kids = new Set<unknown>();
    await newToken();
    for (let minutes = 0; minutes < 240; minutes += 5) {
      if (minutes === 20) await portal.sql`update hub_key set made_at = made_at - interval '90 days'`;
      const now = portal.deps.now().getTime();
      if (now - cached.at >= limits.hubKeyAhead) cached = { keys: await keysOf(), at: now };
      const token = await newToken();
      kids.add(kidOf(token));
      await verify(token, cached.keys);
      // Until its last moment, by freshly read keys too.
      portal.wait(limits.hubToken - second);
      await verify(token, await keysOf());
      portal.wait(5 * minute - limits.hubToken + second);
      await keepHouse(portal.deps);
    }
    expect(kids.size).toBe(2);
    expect((await keysOf()).keys).toHaveLength(1);
    expect(await portal.sql`select from hub_key`).toHaveLength(1);
  });

  it('keys that were copied are withdrawn at once', async () => {
    const before = await newToken();
    await withdrawHubKeys({ ...portal.deps, actor: 'os:alice' });
    portal.wait(hubKeysRemembered);
    const after = await newToken();
    expect(kidOf(after)).not.toBe(kidOf(before));
    const keys = await keysOf();
    expect(keys.keys).toHaveLength(1);
    await verify(after, keys);
    await expect(verify(before, keys)).rejects.toThrow('no applicable key');
  });
});
