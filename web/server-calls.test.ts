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

const waits = json(429, { notice: 'codeNotSent' }, { 'retry-after': '60' });

it('another code is requested by a post, and told how it went', () =>
  eachRow(
    [
      [
        'sent',
        async () => new Response(null, { status: 204, headers: { 'retry-after': '30' } }),
        { name: 'sent', seconds: 30 },
      ],
      ['too soon', json(429, {}, { 'retry-after': '12' }), { name: 'throttled', seconds: 12 }],
      ['the account waits', waits, { name: 'throttled', seconds: 60, notice: 'codeNotSent' }],
      ['the half-session is gone', json(401, {}), gone],
      ['no network', offline, { name: 'failed' }],
    ],
    async ([_name, answer, expected]) => {
      answerWith(answer);
      expect(await sendNewCode('/portal/send')).toEqual(expected);
      expect(fetch).toHaveBeenCalledWith('/portal/send', expect.objectContaining({ method: 'POST' }));
    },
  ));

it('the reset request is told how it went', () =>
  eachRow(
    [
      ['2xx', nothing(204), 'done'],
      ['a redirect that is not followed', redirected, 'done'],
      ['a refusal', json(400, {}), { name: 'failed' }],
      ['401 by another backend, where no sign-in can be over', json(401, {}), { name: 'failed' }],
      ['away for a while', json(503, {}, { 'retry-after': '20' }), { name: 'unavailable', seconds: 20 }],
      ['no network', offline, { name: 'failed' }],
    ],
    async ([_name, answer, expected]) => {
      answerWith(answer);
      expect(await askForReset('/portal/password/forgotten?lang=de', 'a@b')).toEqual(expected);
      expect(String(vi.mocked(fetch).mock.lastCall?.[1]?.body)).toBe('username=a%40b');
    },
  ));

it('the registration is read, or fails', () => {
  const answer = { url: 'data:image/png;base64,AA', totpSecret: 'ABCD' };
  return eachRow(
    [
      ['an image and a key', json(200, answer), answer],
      ['no key', json(200, { url: 'x' }), { name: 'failed' }],
      ['null', json(200, null), { name: 'failed' }],
      ['no half-session', json(401, {}), gone],
      ['no network', offline, { name: 'failed' }],
    ],
    async ([_name, reply, expected]) => {
      answerWith(reply);
      expect(await fetchRegistration('/portal')).toEqual(expected);
    },
  );
});

it('signing out is told how it went', () =>
  eachRow(
    [
      ['204', nothing(204), 'done'],
      ['a redirect', redirected, 'done'],
      ['a refusal', json(403, {}), { name: 'failed' }],
      ['no network', offline, { name: 'failed' }],
    ],
    async ([_name, answer, expected]) => {
      answerWith(answer);
      expect(await logOut('/portal')).toEqual(expected);
    },
  ));
