import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import type { HubAudience } from '../config/hub.ts';
import { limits, minute, second } from '../limits.ts';
import { keepHouse } from '../operations/housekeeping.ts';
import { hubKeysRemembered } from './hub-keys.ts';
import { hubTokens } from './hub-tokens.ts';
import { rollHubKeys } from './roll-hub-keys.ts';

const audience: HubAudience = { name: 'crm', algorithm: 'ES256', logoutUrl: null, logoutNetworks: [] };
const portal = portalOfFile({ config: { hubAudiences: [audience] }, once: addAttackFixtures });
const person = {
  username: 'alice',
  email: 'a@acme.test',
  language: null,
  customers: [],
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

const published = async (): Promise<JSONWebKeySet> => (await portal.send({ url: '/.well-known/jwks.json' })).json();
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const newToken = async () => await makeToken(signedIn, audience);
const verify = async (token: string, keys: JSONWebKeySet) =>
  await jwtVerify(token, createLocalJWKSet(keys), { audience: 'crm', currentDate: portal.deps.now() });

it('a hub that caches the keys for an hour never meets a token that it cannot verify', async () => {
  let cached = { keys: await published(), at: portal.deps.now().getTime() };
  const kids = new Set<unknown>();
  await newToken();
  for (let minutes = 0; minutes < 240; minutes += 5) {
    if (minutes === 20) await rollHubKeys(portal.deps);
    const now = portal.deps.now().getTime();
    if (now - cached.at >= limits.hubKeyAhead) cached = { keys: await published(), at: now };
    const token = await newToken();
    kids.add(kidOf(token));
    await verify(token, cached.keys);
    // Until its last moment, by freshly read keys too.
    portal.wait(limits.hubToken - second);
    await verify(token, await published());
    portal.wait(5 * minute - limits.hubToken + second);
    await keepHouse(portal.deps);
  }
  expect(kids.size).toBe(2);
  expect((await published()).keys).toHaveLength(2);
  expect(await portal.sql`select from hub_key`).toHaveLength(2);
});

it('keys that were copied are withdrawn at once', async () => {
  const before = await newToken();
  await rollHubKeys(portal.deps);
  await rollHubKeys(portal.deps, { atOnce: true });
  portal.wait(hubKeysRemembered);
  const after = await newToken();
  expect(kidOf(after)).not.toBe(kidOf(before));
  const keys = await published();
  expect(keys.keys).toHaveLength(2);
  await verify(after, keys);
  await expect(verify(before, keys)).rejects.toThrow('no applicable key');
});

it('a second roll waits for the first, and the operator’s are recorded', async () => {
  await newToken();
  await portal.sql`delete from audit_event`;
  const results = await Promise.all([rollHubKeys(portal.deps), rollHubKeys(portal.deps)]);
  expect(results.map(({ kind }) => kind).sort()).toEqual(['rolled', 'underWay']);
  expect(results[0]?.signsFrom).toEqual(results[1]?.signsFrom);
  expect(await portal.sql`select event from audit_event`).toEqual([{ event: 'hub-keys-rolled' }]);
});

it('keys are replaced by age, once', async () => {
  const first = kidOf(await newToken());
  portal.wait(limits.hubKeyAge - second);
  await keepHouse(portal.deps);
  expect((await published()).keys).toHaveLength(2);
  portal.wait(second);
  await Promise.all([keepHouse(portal.deps), keepHouse(portal.deps)]);
  await keepHouse(portal.deps);
  portal.wait(hubKeysRemembered);
  expect((await published()).keys).toHaveLength(4);
  expect(kidOf(await newToken())).toBe(first);
  portal.wait(limits.hubKeyAhead);
  expect(kidOf(await newToken())).not.toBe(first);
});

it('a key that no secret opens signs nothing, and says so', async () => {
  await newToken();
  const keys = { ...portal.deps.keys, seal: [Buffer.alloc(32, 99)] };
  const makeWithout = hubTokens({ ...portal.deps, keys });
  await expect(makeWithout(signedIn, audience)).rejects.toThrow('VESTIBULE_SECRET');
});
