import { beforeEach, expect, it, vi } from 'vitest';

type Get = { mediation?: string; signal?: AbortSignal; publicKey: { challenge: Uint8Array } };

/** What the page asks the server and the browser for, answered by hand. */
let fetches: ((challenge: string) => void)[];
let gets: (Get & { refuse: () => void })[];
let ceremony: typeof import('./ceremony.ts');

beforeEach(async () => {
  [fetches, gets] = [[], []];
  vi.resetModules();
  vi.stubGlobal('document', { querySelector: () => null, querySelectorAll: () => [], hasFocus: () => true });
  vi.stubGlobal('fetch', () => {
    return new Promise((resolve) => {
      fetches.push((challenge) => resolve({ ok: true, json: async () => ({ challenge }) }));
    });
  });
  vi.stubGlobal('navigator', {
    credentials: {
      get: (asked: Get) =>
        new Promise((_resolve, reject) => {
          const refuse = () => reject(new DOMException('', 'AbortError'));
          if (asked.signal?.aborted) return refuse();
          asked.signal?.addEventListener('abort', refuse);
          gets.push({ ...asked, refuse });
        }),
    },
  });
  vi.stubGlobal('removeEventListener', () => {});
  ceremony = await import('./ceremony.ts');
});

const settled = () => new Promise((resolve) => setTimeout(resolve));
const challenges = () => gets.map(({ publicKey }) => Buffer.from(publicKey.challenge).toString('base64url'));

it('a press while the field asks for its challenge takes that one: two at once would race for the cookie', async () => {
  void ceremony.offerPasskeys('/options', new AbortController().signal);
  void ceremony.askForPasskey('/options');
  expect(fetches).toHaveLength(1);
  fetches[0]?.('AAAA');
  await settled();
  expect([challenges(), gets[0]?.mediation]).toEqual([['AAAA'], undefined]);
});

it('a field that is left while it asks offers nothing', async () => {
  const over = new AbortController();
  const offered = ceremony.offerPasskeys('/options', over.signal);
  over.abort();
  fetches[0]?.('AAAA');
  expect(await offered).toBeNull();
  expect(gets).toEqual([]);
});

it('the field offers passkeys again after a press that was cancelled', async () => {
  void ceremony.offerPasskeys('/options', new AbortController().signal);
  fetches[0]?.('AAAA');
  await settled();
  const pressed = ceremony.askForPasskey('/options');
  fetches[1]?.('BBBB');
  await settled();
  expect(gets).toHaveLength(2);
  gets[1]?.refuse();
  expect(await pressed).toBeNull();
  await settled();
  fetches[2]?.('CCCC');
  await settled();
  expect([challenges(), gets[2]?.mediation]).toEqual([['AAAA', 'BBBB', 'CCCC'], 'conditional']);
});
