import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { InjectOptions, Response } from 'light-my-request';
import { beforeAll, describe, expect, it } from 'vitest';
import { languageNames } from '#contract/languages.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { methods, paths, requests, type Sent, secondFactorRequests } from '#test/support/hostile-requests.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { codeNow, giveApp, halfSession, verify } from '#test/support/two-factor-for-test.ts';

let session: string;
let secret: string;
const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'app', { twoFactor: 'app' });
  await addUser(portal, { username: 'gwen', customers: ['app'] });
  secret = await giveApp(portal, 'gwen');
  session = cookiesOf(await portal.signIn('bob', testPassword))['vestibule-session'] ?? '';
});

async function send({ method, path, query, headers, body }: Sent): Promise<Response> {
  const search = query.map((pair) => pair.join('=')).join('&');
  return await portal.app.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url: { pathname: path, query: search },
    headers,
    remoteAddress: '198.51.100.7',
    ...(body !== null && { payload: body }),
  });
}

const tables = ['portal_user', 'login_name', 'customer', 'membership', 'session', 'device'] as const;
async function rowCounts(): Promise<number[]> {
  const counts = await Promise.all(
    tables.map((table) => portal.sql<{ n: number }[]>`select count(*) as n from ${portal.sql(table)}`),
  );
  return counts.map(([row]) => row?.n ?? -1);
}

function textOf({ headers, body, rawPayload }: Response): string {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(rawPayload).toString();
  return headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload).toString() : body;
}

/** What holds for every answer to any request. */
function expectSound(sent: Sent, answer: Response): void {
  const { statusCode, headers, body } = answer;
  const isNotSetUp = statusCode === 503 && /\/authenticate\//.test(sent.path);
  expect(statusCode < 500 || isNotSetUp, `${sent.method} ${sent.path}: ${statusCode}`).toBe(true);
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  if (headers.location !== undefined) expect(headers.location).toMatch(/^\/(?![/\\])[!-~]*$/);
  if (statusCode === 405) expect(headers.allow).toMatch(/^[A-Z, ]+$/);
  if (statusCode < 400 || sent.method === 'HEAD' || body === '') return;
  if (String(headers['content-type']).startsWith('text/html')) {
    const language = /^<!doctype html>\n<html lang="(\w\w)">/.exec(textOf(answer))?.[1] ?? '';
    expect(Object.keys(languageNames)).toContain(language);
    expect(headers['content-language']).toBe(language);
  } else expect(answer.json()).toMatchObject({ type: 'about:blank', status: statusCode });
}

describe('anything at all', () => {
  it('LM-10 LM-11 LM-13 LM-14 SE-07 IN-08 every route and method answers correctly, and a refusal changes nothing', async () => {
    const before = await rowCounts();
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        const answer = await send(sent);
        expectSound(sent, answer);
        expect(({} as Record<string, unknown>).x).toBeUndefined();
      }),
    );
    expect(await rowCounts()).toEqual(before);
    expect(portal.logs()).not.toContain('unexpected error');
    const alive = await portal.send({ url: '/portal/session', cookies: { 'vestibule-session': session } });
    expect(alive.statusCode).toBe(200);
  });

  it('LM-15 MF-05 SE-06 nothing sent in a half session gets further, and the right code works afterwards', async () => {
    const half = await halfSession(portal, 'gwen');
    const cookie = Object.entries(half)
      .map((pair) => pair.join('='))
      .join('; ');
    const before = await rowCounts();
    await fc.assert(
      fc.asyncProperty(secondFactorRequests, async (sent) => {
        const answer = await send({ ...sent, headers: { ...sent.headers, cookie } });
        expectSound(sent, answer);
        expect(answer.cookies).toEqual([]);
        await portal.sql`update session set code_tries = 0`;
        await portal.sql`delete from throttle`;
      }),
    );
    expect(await rowCounts()).toEqual(before);
    expect(portal.logs()).not.toContain('unexpected error');
    expect((await verify(portal, codeNow(portal, secret), half)).body).toBe('true');
  }, 60_000);

  it('every path answers every method', async () => {
    for (const path of paths)
      for (const method of methods) {
        const sent: Sent = { method, path, query: [], headers: { host: 'localhost:8080' }, body: null };
        expectSound(sent, await send(sent));
      }
  });
});
