import type { BrowserContext } from '@playwright/test';
import type { MailInbox } from './mail-inbox.ts';
import { PlainBrowser } from './plain-browser.ts';
import { addCustomerTo, addUserTo } from './portal-accounts.ts';
import {
  codeMailsAreLongAgo,
  deviceIsRemembered,
  keptPasskey,
  passkeysAreKept,
  sessionIsElsewhere,
  signInIsOld,
  signInWasByProvider,
} from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** How far a sign-in has come; an open one shows screens that nobody else sees. */
export type Stage =
  | 'app'
  | 'new app'
  | 'email'
  | 'new email'
  | 'recovery codes'
  | 'account'
  | 'choice'
  | 'old'
  | 'signed in'
  | 'elsewhere';

type Needs = { portal: PortalUnderTest; inbox: MailInbox; password: string };
type Cookies = Awaited<ReturnType<PlainBrowser['cookies']>>;

/** Brings browsers to a stage of sign-in, each as a separate user, created when first needed. */
export class Stages {
  readonly #needs: Needs;
  readonly #users = new Map<Stage, Promise<string>>();
  #account: Cookies = [];

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Brings a browser to a stage, or signs it out completely. */
  async enter(context: BrowserContext, stage: Stage | undefined): Promise<void> {
    await context.clearCookies();
    if (stage) await context.addCookies(await this.#cookiesAt(stage));
  }

  async #cookiesAt(stage: Stage): Promise<Cookies> {
    const { portal } = this.#needs;
    if (stage === 'choice') {
      await this.#once(stage, () => addTwoConnections(portal));
      return await (await PlainBrowser.chooseProvider(portal, 'somebody@choice.test')).cookies();
    }
    const username = await this.#once(stage, () => this.#addUser(stage));
    if (stage === 'account') {
      await signInIsOld(portal, username, 0);
      return this.#account;
    }
    if (stage === 'recovery codes') {
      // The codes are shown only for a short time after registration, so it is repeated.
      await portal.mustRun(['user', 'reset-two-factor', username, '--yes']);
      return await this.#registered(username);
    }
    // An account gets a dozen codes in a row; these stages are entered more often.
    if (stage.endsWith('email')) await codeMailsAreLongAgo(portal);
    const browser = await this.#signIn(username);
    if (stage === 'old') await signInIsOld(portal, username);
    if (stage === 'elsewhere') await signInWasByProvider(portal, username);
    return await browser.cookies();
  }

  #once(stage: Stage, prepare: () => Promise<string>): Promise<string> {
    const ready = this.#users.get(stage) ?? prepare();
    this.#users.set(stage, ready);
    return ready;
  }

  /** The user of a stage; that of the account page has everything that it lists. */
  async #addUser(stage: Stage): Promise<string> {
    const { portal, inbox, password } = this.#needs;
    const username = `at-${stage.replaceAll(' ', '-')}`;
    const customer = stage.endsWith('email') ? 'mails' : /app|codes/.test(stage) ? 'apps' : 'acme';
    await addUserTo(portal, username, password, { customers: [customer] });
    if (stage === 'app') await this.#registered(username);
    if (stage === 'email') await (await this.#signIn(username)).registerEmail(inbox, `${username}@acme.test`);
    if (stage === 'old') await passkeysAreKept(portal, username);
    if (stage !== 'account') return username;
    this.#account = await this.#registered(username);
    await deviceIsRemembered(portal, username, 'Firefox, Windows');
    await sessionIsElsewhere(portal, username, 'Safari, iOS');
    await passkeysAreKept(portal, username, keptPasskey);
    return username;
  }

  async #registered(username: string): Promise<Cookies> {
    const browser = await this.#signIn(username);
    await browser.registerApp();
    return await browser.cookies();
  }

  async #signIn(username: string): Promise<PlainBrowser> {
    return await PlainBrowser.signIn(this.#needs.portal, username, this.#needs.password);
  }
}

/** Sets up two providers for one domain. */
async function addTwoConnections(portal: PortalUnderTest): Promise<string> {
  await addCustomerTo(portal, 'choice', { name: 'Choice' });
  for (const [key, name] of [
    ['choice-one', 'Choice Entra ID'],
    ['choice-two', 'Choice Okta for Contractors'],
  ] as const)
    await portal.mustRun([
      ...['connection', 'add', 'oidc', key, '--customer', 'choice', '--name', name, '--domain', 'choice.test'],
      ...['--issuer', `https://${key}.example`, '--client-id', 'vestibule', '--client-auth', 'private-key'],
    ]);
  return 'choice';
}
