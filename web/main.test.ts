import { beforeEach, expect, it, vi } from 'vitest';
import type { Page } from '#contract/page.ts';
import { pageForTest } from './page-for-test.ts';

const rendered = vi.fn();
const root = { hydrateRoot: vi.fn(), createRoot: vi.fn(() => ({ render: rendered })) };
vi.mock('react-dom/client', () => root);
const loadTexts = vi.fn(async (language: string) => ({ of: language }));
vi.mock('./load-texts.ts', () => ({ loadTexts }));
const { whenIdle } = vi.hoisted(() => ({ whenIdle: vi.fn() }));
vi.mock('./when-idle.ts', () => ({ whenIdle }));

/** The texts in the document. */
const sent = { reload: 'Reload' };

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
      textContent: id === 'page' && JSON.stringify({ ...page, texts: sent }),
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
    const page = pageForTest('/portal/portal.html', { serverPage } as Partial<Page>);
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
  ['/portal/twoFactor', {}, true],
  ['/portal/twoFactorRegistration', {}, true],
  ['/portal/#/twoFactor', {}, true],
  ['/portal/x', { serverPage: { name: 'recoveryCodes', codes: null, left: 7, destination: '/a' } }, true],
  ['/portal/login', {}, false],
  ['/portal/', {}, false],
  ['/portal/#/login', {}, false],
  ['/portal/forgotten', {}, true],
  ['/portal/#/forgotten', {}, true],
  ['/portal/loginfail/default', {}, true],
  ['/portal/nowhere', {}, true],
  ['/portal/x', { serverPage: { name: 'signedIn', username: '', email: '', customers: [] } }, true],
  ['/portal/twoFactor', { serverPage: { name: 'leaving', isSignOut: false, url: '/x', provider: '' } }, false],
] as const)('%s, %j: the later screens are there from the start: %s', async (url, more, isThere) => {
  await startAt(url, pageForTest(url.replace(/#.*/, ''), more as Partial<Page>));
  expect(started().laterScreen !== null).toBe(isThere);
});

it.each([
  ['/portal/login', '/portal/login'],
  ['/portal/#/reports/7', '/portal/'],
  ['/portal/forgotten?lang=en', '/portal/forgotten?lang=en'],
])('%s starts with the texts of its document and waits for no others', async (address, url) => {
  await startAt(address, pageForTest(url));
  expect(started().texts).toEqual(sent);
  expect(loadTexts).not.toHaveBeenCalled();
});

it.each([
  ['/portal/#/forgotten', 'en'],
  ['/portal/#/login?lang=de', 'de'],
])('%s is not what the server rendered, and waits for all texts', async (address, language) => {
  await startAt(address, pageForTest('/portal/'));
  expect(started().texts).toEqual({ of: language });
});

it('the rest of the language is loaded when idle, and a failure is nobody’s business yet', async () => {
  await startAt('/portal/login?lang=de', pageForTest('/portal/login?lang=de', { language: 'de' }));
  expect(loadTexts).not.toHaveBeenCalled();
  expect(whenIdle).toHaveBeenCalledOnce();
  loadTexts.mockRejectedValueOnce(new Error('No line'));
  whenIdle.mock.lastCall?.[0]();
  expect(loadTexts.mock.calls.map(([language]) => language)).toEqual(['de']);
});

it('the server’s own pages lead to other documents only, and load nothing more', async () => {
  await startAt(
    '/portal/x',
    pageForTest('/portal/x', { serverPage: { name: 'signOutConfirm', query: {}, account: 'anna' } }),
  );
  expect(whenIdle).not.toHaveBeenCalled();
});
