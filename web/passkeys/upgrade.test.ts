import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startUpgrade } from './upgrade.ts';

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
  statuses = { [at]: 204 };
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    const status = statuses[url] ?? 500;
    return { status, ok: status < 300 };
  });
});
afterEach(() => vi.unstubAllGlobals());

/** Loads the page in a browser; returns what the browser was asked to make, and told. `begun`: by the script, when it runs. */
async function load({ can = true, create = async () => made, hasTag = true, begun = options as object | null } = {}) {
  const creates = vi.fn<Create>(create);
  const signalUnknownCredential = vi.fn(async () => {});
  const getClientCapabilities = async () => ({ conditionalCreate: can });
  vi.stubGlobal('PublicKeyCredential', { getClientCapabilities, signalUnknownCredential });
  vi.stubGlobal('navigator', { credentials: { create: creates } });
  let run = async () => {};
  const tag = {
    src: `${at}.js`,
    dataset: {} as { begun?: string },
    addEventListener: (_: 'load', listener: () => Promise<void>) => {
      run = listener;
    },
  };
  vi.stubGlobal('document', { querySelector: () => (hasTag ? tag : null) });
  startUpgrade();
  if (begun) tag.dataset.begun = JSON.stringify(begun);
  await run();
  return { creates, told: signalUnknownCredential.mock.calls };
}

it('a browser that can is asked for a passkey without a window, and the server gets it', async () => {
  const { creates, told } = await load();
  expect(creates.mock.calls.map(([{ mediation }]) => mediation)).toEqual(['conditional']);
  expect([asked, told]).toEqual([[at], []]);
});

it.each([
  ['one that cannot', { can: false }],
  ['a page that has not asked for it', { hasTag: false }],
  ['one for which the server begins nothing', { begun: null }],
])('%s makes none, and asks the server nothing', async (_, page) => {
  const { creates } = await load(page);
  expect(creates).not.toHaveBeenCalled();
  expect(asked).toEqual([]);
});

it('where the browser makes none, nothing is sent, and nothing fails', async () => {
  const create = async () => Promise.reject(new DOMException('', 'NotAllowedError'));
  await load({ create });
  expect(asked).toEqual([]);
});

it('of one that the server does not store the browser hears', async () => {
  statuses[at] = 409;
  expect((await load()).told).toEqual([[{ rpId: 'portal.example', credentialId: 'CCCC' }]]);
});
