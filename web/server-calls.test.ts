import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { askForReset, fetchRegistration, logOut, sendNewCode, verifyCode } from './server-calls.ts';

const json =
  (status: number, body: unknown, headers = {}) =>
  async () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const nothing = (status: number) => async () => new Response(null, { status });
const redirected = async () => ({ ok: false, status: 0, type: 'opaqueredirect', headers: new Headers() }) as Response;
const followed = (body: unknown) => async () =>
  Object.defineProperty(new Response(JSON.stringify(body)), 'redirected', { value: true });
const offline = async () => {
  throw new TypeError('Failed to fetch');
};

const answerWith = (answer: () => Promise<Response>) => vi.stubGlobal('fetch', vi.fn(answer));
beforeEach(() => vi.stubGlobal('document', { documentElement: { lang: 'pl' } }));
afterEach(() => vi.unstubAllGlobals());

const right = { name: 'right', next: null };
const wrong = { name: 'wrong' };
const gone = { name: 'signInExpired', notice: 'signInExpired' };

it('verify sends the code as a JSON string, and the language of the page for what is sent by email', async () => {
  answerWith(json(200, true));
  await verifyCode('/portal', '012345', true);
  const headers = { accept: 'application/json', 'accept-language': 'pl', 'content-type': 'application/json' };
  const url = '/portal/two-factor-authentication/verify?remember=true';
  expect(fetch).toHaveBeenCalledWith(url, { method: 'POST', body: '"012345"', redirect: 'manual', headers });
});

it('its outcome is told from status and body', () =>
  eachRow(
    [
      ['right: 200 and true', json(200, true), right],
      ['wrong: 200 and false', json(200, false), wrong],
      ['an object', json(200, { success: true }), right],
      ['null is wrong', json(202, null), wrong],
      ['nothing at all', nothing(204), { name: 'failed' }],
      ['a redirect', redirected, { name: 'failed' }],
      ['a redirect that was followed', followed(true), { name: 'failed' }],
      ['the half-session is gone', json(401, true), gone],
      ['it ended for too many tries', json(401, { notice: 'tooManyCodes' }), { ...gone, notice: 'tooManyCodes' }],
      ['too often', json(429, {}, { 'retry-after': '90' }), { name: 'throttled', seconds: 90 }],
      ['a date', json(429, {}, { 'retry-after': 'Wed, 21 Oct' }), { name: 'throttled', seconds: null }],
      ['too old', json(409, {}, { 'vestibule-notice': 'signInTooOld' }), { name: 'signInTooOld' }],
      ['409 by another backend', json(409, { title: 'Conflict' }), { name: 'failed' }],
      ['away, without a time: no more is known than of any failure', json(503, {}), { name: 'failed' }],
      ['away for a while', json(503, {}, { 'retry-after': '20' }), { name: 'unavailable', seconds: 20 }],
      ['a mistake of the server', json(500, true), { name: 'failed' }],
      ['no network', offline, { name: 'failed' }],
      ['codes first', json(200, true, { 'vestibule-next': 'recoveryCodes' }), { ...right, next: 'recoveryCodes' }],
      ['the last', json(200, false, { 'vestibule-notice': 'tooManyCodes' }), { ...gone, notice: 'tooManyCodes' }],
    ],
    async ([_name, answer, expected]) => {
      answerWith(answer);
      expect(await verifyCode('/portal', '123456', false)).toEqual(expected);
    },
  ));

const sendsAnother = () => sendNewCode('/portal/send');
const asksForReset = () => askForReset('/portal/password/forgotten?lang=de', 'a@b');
const registers = () => fetchRegistration('/portal');
const registration = { url: 'data:image/png;base64,AA', totpSecret: 'ABCD' };
const waits = json(429, { notice: 'codeNotSent' }, { 'retry-after': '60' });
const sent = async () => new Response(null, { status: 204, headers: { 'retry-after': '30' } });

it('every other call is told how it went', () =>
  eachRow<[string, () => Promise<unknown>, () => Promise<Response>, unknown]>(
    [
      ['another code is sent', sendsAnother, sent, { name: 'sent', seconds: 30 }],
      ['too soon', sendsAnother, json(429, {}, { 'retry-after': '12' }), { name: 'throttled', seconds: 12 }],
      ['the account waits', sendsAnother, waits, { name: 'throttled', seconds: 60, notice: 'codeNotSent' }],
      ['no half-session', sendsAnother, json(401, {}), gone],
      ['a reset', asksForReset, nothing(204), 'done'],
      ['a redirect that is not followed', asksForReset, redirected, 'done'],
      ['a refusal', asksForReset, json(400, {}), { name: 'failed' }],
      ['401 by another backend, where no sign-in can be over', asksForReset, json(401, {}), { name: 'failed' }],
      ['away', asksForReset, json(503, {}, { 'retry-after': '20' }), { name: 'unavailable', seconds: 20 }],
      ['an image and a key', registers, json(200, registration), registration],
      ['no key', registers, json(200, { url: 'x' }), { name: 'failed' }],
      ['null', registers, json(200, null), { name: 'failed' }],
      ['no half-session for a key', registers, json(401, {}), gone],
      ['signed out', () => logOut('/portal'), nothing(204), 'done'],
      ['signing out is redirected', () => logOut('/portal'), redirected, 'done'],
      ['signing out is refused', () => logOut('/portal'), json(403, {}), { name: 'failed' }],
      ...[sendsAnother, asksForReset, registers, () => logOut('/portal')].map(
        (call): [string, typeof call, typeof offline, unknown] => ['no network', call, offline, { name: 'failed' }],
      ),
    ],
    async ([_name, call, answer, expected]) => {
      answerWith(answer);
      expect(await call()).toEqual(expected);
      const request = vi.mocked(fetch).mock.lastCall?.[1];
      if (call === sendsAnother) expect(request?.method).toBe('POST');
      if (call === asksForReset) expect(String(request?.body)).toBe('username=a%40b');
    },
  ));
