import { beforeEach, expect, it, vi } from 'vitest';
import type { Page } from '#contract/page.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import { pageForTest } from './page-for-test.ts';

const rendered = vi.fn();
const root = { hydrateRoot: vi.fn(), createRoot: vi.fn(() => ({ render: rendered })) };
vi.mock('react-dom/client', () => root);
const { whenIdle } = vi.hoisted(() => ({ whenIdle: vi.fn() }));
vi.mock('./when-idle.ts', () => ({ whenIdle }));

/** What the pages were started with. */
function started() {
  const made = [...root.hydrateRoot.mock.calls.map((call) => call[1]), ...rendered.mock.calls.map((call) => call[0])];
  expect(made).toHaveLength(1);
  return made[0].props.children.props;
}

/** Starts the pages as a browser does that shows `page` at an address; returns the addresses that it showed then. */
async function startAt(address: string, page: Page): Promise<string[]> {
  const shown: string[] = [];
  const location = { pathname: '', search: '', hash: '' };
  const show = (url: string) => {
    const { pathname, search, hash } = new URL(url, page.rules.origin);
    Object.assign(location, { pathname, search, hash });
  };
  show(address);
  vi.stubGlobal('location', location);
  vi.stubGlobal('document', {
    getElementById: (id: string) => ({
      textContent: id === 'page' && JSON.stringify(page),
      cloneNode: () => null,
    }),
  });
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('history', {
    replaceState: (_state: unknown, _title: string, url: string) => {
      shown.push(url);
      show(url);
    },
  });
  vi.resetModules();
  await import('./main.tsx');
  await vi.waitFor(() => expect(root.hydrateRoot.mock.calls.length + root.createRoot.mock.calls.length).toBe(1));
  return shown;
}

beforeEach(() => {
  vi.clearAllMocks();
  sessionStorage.clear();
});

it('the answer to a posted form takes the form’s address, is hydrated as rendered, and says its notice once', async () => {
  const page = pageForTest('/portal/forgotten?notice=unavailable&lang=en', { isAnswer: true });
  expect(await startAt('/portal/password/forgotten', page)).toEqual([page.url, '/portal/forgotten?lang=en']);
  expect(root.hydrateRoot).toHaveBeenCalledOnce();
  expect(root.createRoot).not.toHaveBeenCalled();
});

it('any other page keeps its address', async () => {
  expect(await startAt('/portal/forgotten', pageForTest('/portal/forgotten'))).toEqual([]);
  expect(root.hydrateRoot).toHaveBeenCalledOnce();
});

it.each([
  { name: 'signedIn', username: '', email: '', customers: [] },
  { name: 'signOutConfirm', query: {}, account: 'anna' },
] as const)(
  'a page of the server’s own hides a reset link in the fragment, and is shown as it is: $name',
  async (serverPage) => {
    const page = pageForTest('/portal/portal.html', { screen: serverPage });
    const shown = await startAt(`/portal/portal.html#/forgottenChange?hash=${'A'.repeat(43)}`, page);
    expect(shown).toEqual(['/portal/portal.html#/forgottenChange']);
    expect(root.hydrateRoot).toHaveBeenCalledOnce();
  },
);

it('a fragment that names another screen is rendered again', async () => {
  expect(await startAt('/portal/#/forgotten', pageForTest('/portal/'))).toEqual([]);
  expect(root.createRoot).toHaveBeenCalledOnce();
  expect(root.hydrateRoot).not.toHaveBeenCalled();
});

it.each([
  ['/portal/login', en],
  ['/portal/#/reports/7', en],
  ['/portal/#/login?lang=de', de],
])('%s starts with the texts of its language; the other screens come when idle', async (address, texts) => {
  await startAt(address, pageForTest(address.replace(/#.*/, '')));
  expect(started().texts).toEqual(texts);
  expect(whenIdle).toHaveBeenCalledOnce();
});

it('the server’s own pages lead to other documents only, and load nothing more', async () => {
  await startAt(
    '/portal/x',
    pageForTest('/portal/x', { screen: { name: 'signOutConfirm', query: {}, account: 'anna' } }),
  );
  expect(whenIdle).not.toHaveBeenCalled();
});
