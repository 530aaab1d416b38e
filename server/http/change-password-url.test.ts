import { expect, it } from 'vitest';
import { portalOfFile } from '#testing/portal-of-file.ts';

const portal = portalOfFile();

it('/.well-known/change-password leads to the forgotten password form', async () => {
  const { statusCode, headers } = await portal.send({ url: '/.well-known/change-password' });
  expect([statusCode, headers.location]).toEqual([302, '/portal/forgotten']);
});

it('the address by which password managers test the reliability of our 404 answers 404', async () => {
  const name = 'resource-that-should-not-exist-whose-status-code-should-not-be-200';
  expect((await portal.send({ url: `/.well-known/${name}` })).statusCode).toBe(404);
});

it('no other method is supported there', async () => {
  const { statusCode, headers } = await portal.send({ url: '/.well-known/change-password', method: 'POST' });
  expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD']);
});
