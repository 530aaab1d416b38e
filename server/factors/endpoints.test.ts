import { expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const portal = portalOfFile();
const url = '/.well-known/passkey-endpoints';

it('programs that keep passkeys learn where they are added and looked after', async () => {
  const { statusCode, headers, body } = await portal.send({ url });
  expect([statusCode, headers['set-cookie']]).toEqual([200, undefined]);
  expect(headers['content-type']).toMatch(/^application\/json(?:;|$)/);
  const { origin } = portal.deps.config.publicUrl;
  expect(JSON.parse(body)).toEqual({
    enroll: `${origin}/portal/account/passkeys?do=enrol`,
    manage: `${origin}/portal/account/passkeys`,
  });
});

it('these are pages that ask who it is first', async () => {
  for (const address of Object.values(JSON.parse((await portal.send({ url })).body) as Record<string, string>)) {
    const { pathname, search } = new URL(address);
    const { statusCode, headers } = await portal.send({ url: pathname + search });
    const back = new URL(String(headers.location), address).searchParams.get('destination');
    expect([statusCode, back]).toEqual([302, pathname + search]);
  }
});

it('no other method is supported there', async () => {
  const { statusCode, headers } = await portal.send({ url, method: 'POST' });
  expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD']);
});
