import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { upgrade } from './upgrade.ts';

type Create = (options: { mediation?: string; signal?: AbortSignal }) => Promise<unknown>;

/** What the page asks the server, in order. */
let asked: string[];
let statuses: Record<string, number>;
const options = { challenge: 'AAAA', rp: { id: 'portal.example' }, user: { id: 'AAAA' }, excludeCredentials: [] };
const at = 'https://portal.example/portal/passkeys/upgrade';
const buffer = new ArrayBuffer(3);
const made = {
  id: 'CCCC',
  rawId: buffer,
  type: 'public-key',
  response: { clientDataJSON: buffer, attestationObject: buffer },
};

beforeEach(() => {
  asked = [];
  statuses = { [`${at}/options`]: 200, [at]: 204 };
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    const status = statuses[url] ?? 500;
    return { status, ok: status < 300, json: async () => options };
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Loads the page in a browser; returns what the browser was asked to make, and told. */
async function load({ can = true, create = async () => made, tag = `${at}.js` as string | null } = {}) {
  const creates = vi.fn<Create>(create);
  const signalUnknownCredential = vi.fn(async () => {});
  const getClientCapabilities = async () => ({ conditionalCreate: can });
  vi.stubGlobal('PublicKeyCredential', { getClientCapabilities, signalUnknownCredential });
  vi.stubGlobal('navigator', { credentials: { create: creates } });
  vi.stubGlobal('document', { querySelector: () => (tag === null ? null : { src: tag }) });
  await upgrade();
  return { creates, told: signalUnknownCredential.mock.calls };
}

it('a browser that can is asked for a passkey without a window, and the server gets it', async () => {
  const { creates, told } = await load();
  expect(creates.mock.calls.map(([{ mediation }]) => mediation)).toEqual(['conditional']);
  expect([asked, told]).toEqual([[`${at}/options`, at], []]);
});

it('one that cannot asks the server nothing', async () => {
  await load({ can: false });
  expect(asked).toEqual([]);
});

it('nor does a page that has not asked for it', async () => {
  await load({ tag: null });
  expect(asked).toEqual([]);
});

it('where the server begins nothing, none is made', async () => {
  statuses[`${at}/options`] = 204;
  expect((await load()).creates).not.toHaveBeenCalled();
});

it('where the browser makes none, nothing is sent, and nothing fails', async () => {
  const create = async () => Promise.reject(new DOMException('', 'NotAllowedError'));
  await load({ create });
  expect(asked).toEqual([`${at}/options`]);
});

it('of one that the server does not store the browser hears', async () => {
  statuses[at] = 409;
  expect((await load()).told).toEqual([[{ rpId: 'portal.example', credentialId: 'CCCC' }]]);
});
