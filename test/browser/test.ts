import { type BrowserContext, type BrowserContextOptions, test as base, expect, type Page } from '@playwright/test';
import { type Engine, startEngine } from './browsers/engines.ts';
import type { Browser } from './browsers/visit.ts';
import { MailInbox } from './mail-inbox.ts';
import { type App, PlainBrowser } from './plain-browser.ts';
import { addCustomerTo, addUserTo, type UserOptions } from './portal-accounts.ts';
import { PortalUnderTest, type Settings } from './portal-under-test.ts';
import { Stages } from './stages.ts';
import { Watch } from './watch.ts';

type Closable = { close: () => Promise<void> };

/**
 * Starts what the tests of a file share, once in each worker, and closes it with the worker. A worker-scoped fixture of
 * that file alone would make Playwright end the worker, with its portal, before and after the file.
 */
class OncePerWorker {
  readonly #started = new Map<unknown, Promise<Closable>>();

  /** What `start` resolves to, started by the first test that needs it. */
  async get<Needs, Started extends Closable>(
    start: (needs: Needs) => Promise<Started>,
    needs: Needs,
  ): Promise<Started> {
    const started = (this.#started.get(start) as Promise<Started> | undefined) ?? start(needs);
    this.#started.set(start, started);
    return await started;
  }

  async close(): Promise<void> {
    for (const started of await Promise.allSettled(this.#started.values()))
      if (started.status === 'fulfilled') await started.value.close();
  }
}

export { expect };

/** Of a test that runs with JavaScript and without. */
export const both = { tag: '@without-script' };

/** The password of every user that these portals have from the start. */
export const password = 'Lantern-Harbour-42';

/** A user of only one test. */
type Person = { username: string; email: string };

type TestFixtures = {
  portal: PortalUnderTest;
  /** Adds a user with the common password: of acme by default. */
  newPerson: (options?: Partial<UserOptions>) => Promise<Person>;
  /** Adds a user with a registered app, required at every sign-in. */
  newPersonWithApp: (options?: Partial<UserOptions>) => Promise<Person & App>;
  /** Fails the test on errors in any page; see watch.ts. */
  watch: Watch;
  world: World;
  /** Another browser with no shared state. */
  anotherBrowser: (options?: BrowserContextOptions) => Promise<{ context: BrowserContext; page: Page }>;
};

/** What brings a browser to a screen. */
export type World = Pick<TestFixtures, 'portal' | 'newPerson' | 'newPersonWithApp'> &
  Pick<WorkerFixtures, 'inbox' | 'stages'> & { context: BrowserContext };

type WorkerFixtures = {
  /** Where the portal's emails arrive. */
  inbox: MailInbox;
  /** The portal of all tests but those that have their own. */
  sharedPortal: PortalUnderTest;
  oncePerWorker: OncePerWorker;
  /** Brings browsers to an open second factor. */
  stages: Stages;
  /** Which browser a project of test/browser/browsers is for. */
  engine: Engine;
  /** What test/browser/browsers uses; here, since a worker ends where the next test has other fixtures of workers. */
  browserUnderTest: Browser;
};

/** For unique names. */
let people = 0;

/**
 * A running portal with customers and users: `ada` and `bob` are of acme, `fen` of a customer with networks. Members of
 * `apps` need an authenticator app, those of `mails` emailed codes.
 */
export async function startPortalWithUsers(settings: Settings = {}): Promise<PortalUnderTest> {
  const portal = await PortalUnderTest.prepare(settings);
  await portal.start();
  await Promise.all([
    addCustomerTo(portal, 'acme', { name: 'Acme' }),
    addCustomerTo(portal, 'fenced', { name: 'Fenced', allowedNetworks: ['203.0.113.0/24'] }),
    addCustomerTo(portal, 'apps', { name: 'Apps', twoFactor: 'app' }),
    addCustomerTo(portal, 'mails', { name: 'Mails', twoFactor: 'email' }),
  ]);
  await Promise.all([
    addUserTo(portal, 'ada', password, { customers: ['acme'] }),
    addUserTo(portal, 'bob', password, { customers: ['acme'] }),
    addUserTo(portal, 'fen', password, { customers: ['fenced'] }),
  ]);
  return portal;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  inbox: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
    async ({}, use) => {
      const inbox = await MailInbox.open();
      await use(inbox);
      await inbox.close();
    },
    { scope: 'worker' },
  ],
  sharedPortal: [
    async ({ inbox }, use) => {
      const portal = await startPortalWithUsers({ env: inbox.env });
      await use(portal);
      await portal.discard();
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  oncePerWorker: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
    async ({}, use) => {
      const once = new OncePerWorker();
      await use(once);
      await once.close();
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  stages: [
    async ({ sharedPortal, inbox }, use) => await use(new Stages({ portal: sharedPortal, inbox, password })),
    { scope: 'worker' },
  ],
  engine: ['old Chromium', { option: true, scope: 'worker' }],
  browserUnderTest: [
    async ({ engine, playwright, launchOptions }, use) => {
      const browser = await startEngine(engine, (options) =>
        playwright.chromium.launch({ ...launchOptions, ...options }),
      );
      await use(browser);
      await browser.close();
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  portal: async ({ sharedPortal }, use) => await use(sharedPortal),
  newPersonWithApp: async ({ portal, newPerson }, use) => {
    await use(async (options) => {
      const person = await newPerson({ customers: ['apps'], ...options });
      const browser = await PlainBrowser.signIn(portal, person.username, password);
      return { ...person, ...(await browser.registerApp()) };
    });
  },
  newPerson: async ({ portal }, use) => {
    await use(async (options) => {
      people += 1;
      const username = `grace-hopper-${people}`;
      await addUserTo(portal, username, password, { customers: ['acme'], ...options });
      return { username, email: `${username}@acme.test` };
    });
  },
  world: async ({ context, portal, inbox, stages, newPerson, newPersonWithApp }, use) =>
    await use({ context, portal, inbox, stages, newPerson, newPersonWithApp }),
  baseURL: async ({ portal }, use) => await use(portal.origin),
  watch: [
    async ({ context, portal }, use) => {
      const watch = new Watch([portal.origin]);
      await watch.over(context);
      await use(watch);
      expect(watch.faults, 'errors, policy violations and requests to strangers').toEqual([]);
    },
    { auto: true },
  ],
  anotherBrowser: async ({ browser, contextOptions, baseURL, watch }, use) => {
    const opened: BrowserContext[] = [];
    await use(async (options = {}) => {
      const context = await browser.newContext({ ...contextOptions, ...(baseURL && { baseURL }), ...options });
      opened.push(context);
      await watch.over(context);
      return { context, page: await context.newPage() };
    });
    await Promise.all(opened.map((context) => context.close()));
  },
});
