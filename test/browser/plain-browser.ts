import { type APIRequestContext, request } from '@playwright/test';
import { appCode } from '../support/authenticator-app.ts';
import type { MailInbox } from './mail-inbox.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** What a user with a registered app has. */
export type App = { key: string; recoveryCodes: string[] };

const secondFactor = '/portal/two-factor-authentication';

/** Sends a browser's requests without one, to prepare tests. */
export class PlainBrowser {
  readonly #requests: APIRequestContext;

  private constructor(requests: APIRequestContext) {
    this.#requests = requests;
  }

  /** Submits name and password; the second factor is then open if required. Throws if they are refused. */
  static async signIn(portal: PortalUnderTest, username: string, password: string): Promise<PlainBrowser> {
    const browser = await PlainBrowser.#post(portal, 'performlogin', { username, password });
    const cookies = await browser.cookies();
    if (!cookies.some(({ name }) => name === 'vestibule-session')) throw new Error(`${username} cannot sign in`);
    return browser;
  }

  /** Types an address whose domain has several providers: its cookie tells the next page. */
  static async chooseProvider(portal: PortalUnderTest, username: string): Promise<PlainBrowser> {
    return await PlainBrowser.#post(portal, 'authenticate/performSsoLogin', { username });
  }

  static async #post(portal: PortalUnderTest, call: string, form: Record<string, string>): Promise<PlainBrowser> {
    const extraHTTPHeaders = { accept: 'text/html', origin: portal.origin };
    const requests = await request.newContext({ baseURL: portal.origin, extraHTTPHeaders });
    await requests.post(`/portal/${call}`, { form, maxRedirects: 0 });
    return new PlainBrowser(requests);
  }

  /** All that a browser keeps. */
  async cookies() {
    return (await this.#requests.storageState()).cookies;
  }

  /** Who is signed in, or undefined. */
  async user(): Promise<string | undefined> {
    const answer = await this.#requests.get('/portal/session');
    return answer.ok() ? (await answer.json()).username : undefined;
  }

  /** Registers an app with the code of half a minute ago, so that the current one stays valid. */
  async registerApp(): Promise<App> {
    const { totpSecret: key } = await (await this.#requests.get(`${secondFactor}/registration`)).json();
    // The second attempt is for when a new step has begun meanwhile.
    if (!(await this.#verify(appCode(key, -30))) && !(await this.#verify(appCode(key, -30))))
      throw new Error('The app is not registered');
    const page = await (await this.#requests.get(`${secondFactor}/recovery-codes`)).text();
    const recoveryCodes = [...new Set(page.match(/\b(?:[0-9A-Z]{4}-){2}[0-9A-Z]{4}\b/g))];
    return { key, recoveryCodes };
  }

  /** Proves that emailed codes arrive. */
  async registerEmail(inbox: MailInbox, email: string): Promise<void> {
    const { code } = await inbox.take(email, 'signInCode');
    if (!(await this.#verify(code))) throw new Error('The code by email is wrong');
  }

  async #verify(code: string): Promise<boolean> {
    const headers = { accept: 'application/json', 'content-type': 'application/json' };
    const answer = await this.#requests.post(`${secondFactor}/verify`, { data: JSON.stringify(code), headers });
    return (await answer.text()) === 'true';
  }
}
