import type { BrowserContext } from '@playwright/test';
import type { MailInbox } from './mail-inbox.ts';
import { PlainBrowser } from './plain-browser.ts';
import { addCustomerTo, addUserTo } from './portal-accounts.ts';
import {
  codeMailsAreLongAgo,
  deviceIsRemembered,
  keptPasskey,
  passkeysAreKept,
  passwordIsThatOf,
  recoveryCodesAreUsed,
  sessionHasProven,
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
  | 'few recovery codes'
  | 'account'
  | 'account long ago'
  | 'choice'
  | 'old'
  | 'old without password'
  | 'signed in'
  | 'elsewhere'
  | 'elsewhere without password'
  | 'other network';

type Needs = { portal: PortalUnderTest; inbox: MailInbox; password: string };

/** Brings browsers to a stage of sign-in, each as a separate user, created when first needed. */
export class Stages {
  readonly #needs: Needs;
  #account: Promise<PlainBrowser['cookies']> | undefined;
  readonly #ready = new Map<Stage, Promise<string>>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Brings a browser to a stage, or signs it out completely. */
  async enter(context: BrowserContext, stage: Stage | undefined): Promise<void> {
    await context.clearCookies();
    if (!stage) return;
    const cookies = await this.cookiesOf(stage);
    await context.addCookies(cookies);
  }

  /** The cookies of a browser at a stage. */
  async cookiesOf(stage: Stage) {
    return await this.#cookiesFor(stage, await this.#prepared(stage));
  }

  #prepared(stage: Stage): Promise<string> {
    const ready = this.#ready.get(stage) ?? this.#prepare(stage);
    this.#ready.set(stage, ready);
    return ready;
  }

  /** The user for a stage; none if it needs no sign-in. */
  async #prepare(stage: Stage): Promise<string> {
    const { portal, inbox, password } = this.#needs;
    if (stage === 'choice') return await addTwoConnections(portal);
    if (stage.startsWith('account ')) return await this.#prepared('account');
    const username = `at-${stage.replaceAll(/\W+/g, '-')}`;
    const customer = stage.endsWith('email') ? 'mails' : /app|codes/.test(stage) ? 'apps' : 'acme';
    const customers = stage === 'other network' ? [customer, await addOffice(portal)] : [customer];
    await addUserTo(portal, username, password, { customers });
    if (stage === 'app') await (await this.#signIn(username)).registerApp();
    if (stage.startsWith('old')) await passkeysAreKept(portal, username);
    if (stage === 'email') await (await this.#signIn(username)).registerEmail(inbox, `${username}@acme.test`);
    return username;
  }

  async #cookiesFor(stage: Stage, username: string) {
    return [await this.#cookiesAt(stage, username)].flat();
  }

  async #cookiesAt(stage: Stage, username: string) {
    if (stage.startsWith('account')) {
      const cookies = await this.#accountCookies(username);
      await sessionHasProven(this.#needs.portal, username, stage === 'account long ago' ? 'long ago' : 'just now');
      return cookies;
    }
    if (stage === 'choice') return await PlainBrowser.chooseProvider(this.#needs.portal, username);
    if (stage.startsWith('old')) {
      const { portal } = this.#needs;
      await passwordIsThatOf(portal, username, 'ada');
      const { cookie } = await this.#signIn(username);
      await signInIsOld(portal, username);
      if (stage !== 'old') await passwordIsThatOf(portal, username, null);
      return cookie;
    }
    if (stage.startsWith('elsewhere')) {
      const { portal } = this.#needs;
      await passwordIsThatOf(portal, username, 'ada');
      const { cookie } = await this.#signIn(username);
      await signInWasByProvider(portal, username);
      if (stage !== 'elsewhere') await passwordIsThatOf(portal, username, null);
      return cookie;
    }
    // An account gets a dozen codes in a row; these stages are entered more often.
    if (stage.endsWith('email')) await codeMailsAreLongAgo(this.#needs.portal);
    if (!stage.endsWith('recovery codes')) return (await this.#signIn(username)).cookie;
    // The codes are shown only for a short time after registration, so it is repeated.
    const { portal } = this.#needs;
    await portal.mustRun(['user', 'reset-two-factor', username]);
    const browser = await this.#signIn(username);
    await browser.registerApp();
    if (stage === 'few recovery codes') await recoveryCodesAreUsed(portal, username, 2);
    return browser.cookies;
  }

  /** A person with everything that the account page lists. It changes nothing, so the sign-in goes on. */
  #accountCookies(username: string) {
    this.#account ??= (async () => {
      const { portal } = this.#needs;
      const browser = await this.#signIn(username);
      await browser.registerApp();
      await deviceIsRemembered(portal, username, 'Firefox, Windows');
      await sessionIsElsewhere(portal, username, 'Safari, iOS');
      await passkeysAreKept(portal, username, keptPasskey);
      return browser.cookies;
    })();
    return this.#account;
  }

  async #signIn(username: string): Promise<PlainBrowser> {
    return await PlainBrowser.signIn(this.#needs.portal, username, this.#needs.password);
  }
}

/** A customer whose network no test is in, and that requires a code there; returns its key. */
async function addOffice(portal: PortalUnderTest): Promise<string> {
  await addCustomerTo(portal, 'office', { name: 'Office', twoFactor: 'email', allowedNetworks: ['203.0.113.0/24'] });
  return 'office';
}

/** Sets up two providers for one domain; returns an address of it. */
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
  return 'somebody@choice.test';
}
