import { appCode } from '../support/authenticator-app.ts';
import type { MailInbox } from './mail-inbox.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

/** What a user with a registered app has. */
export type App = { key: string; recoveryCodes: string[] };

/** Sends a browser's requests without one, to prepare tests. */
export class PlainBrowser {
  readonly #portal: PortalUnderTest;
  readonly #kept = new Map<string, string>();

  private constructor(portal: PortalUnderTest) {
    this.#portal = portal;
  }

  /** Submits name and password; the second factor is then open if required. */
  static async signIn(portal: PortalUnderTest, username: string, password: string): Promise<PlainBrowser> {
    const browser = new PlainBrowser(portal);
    browser.#keep(await portal.cookiesOfSignIn(username, password));
    if (!browser.cookie.value) throw new Error(`${username} cannot sign in`);
    return browser;
  }

  /** Types an address whose domain has several providers; returns the cookie by which the next page knows it. */
  static async chooseProvider(portal: PortalUnderTest, address: string) {
    const answer = await fetch(`${portal.origin}/portal/authenticate/performSsoLogin`, {
      method: 'POST',
      body: new URLSearchParams({ username: address }),
      headers: { origin: portal.origin },
      redirect: 'manual',
    });
    const [name = '', value = ''] = answer.headers.getSetCookie()[0]?.split(/[=;]/) ?? [];
    return { name, value, url: portal.origin };
  }

  /** The session as a browser cookie. */
  get cookie(): { name: string; value: string; url: string } {
    const name = 'vestibule-session';
    return { name, value: this.#kept.get(name) ?? '', url: this.#portal.origin };
  }

  /** All that a browser keeps, as its cookies. */
  get cookies(): { name: string; value: string; url: string }[] {
    return [...this.#kept].map(([name, value]) => ({ name, value, url: this.#portal.origin }));
  }

  /** Registers an app with the code of half a minute ago, so that the current one stays valid. */
  async registerApp(): Promise<App> {
    const answer = await this.#call('registration');
    const { totpSecret: key } = (await answer.json()) as { totpSecret: string };
    // The second attempt is for when a new step has begun meanwhile.
    if (!(await this.verify(appCode(key, -30))) && !(await this.verify(appCode(key, -30))))
      throw new Error('The app is not registered');
    const page = await (await this.#call('recovery-codes')).text();
    const recoveryCodes = [...new Set(page.match(/\b(?:[0-9A-Z]{4}-){2}[0-9A-Z]{4}\b/g))];
    return { key, recoveryCodes };
  }

  /** Proves that emailed codes arrive. */
  async registerEmail(inbox: MailInbox, email: string): Promise<void> {
    const { code } = await inbox.take(email, 'signInCode');
    if (!(await this.verify(code))) throw new Error('The code by email is wrong');
  }

  /** Whether a code is right. */
  async verify(code: string): Promise<boolean> {
    const answer = await this.#call('verify', {
      method: 'POST',
      body: JSON.stringify(code),
      headers: { 'content-type': 'application/json' },
    });
    return (await answer.text()) === 'true';
  }

  /** The session's cookie, and those without which a copy of it is shown nothing. */
  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [name = '', value = ''] = line.split(/[=;]/);
      if (/^vestibule-(?:session|registration|device)$/.test(name)) this.#kept.set(name, value);
    }
  }

  async #call(name: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
    const { origin } = this.#portal;
    const cookie = [...this.#kept].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(`${origin}/portal/two-factor-authentication/${name}`, {
      ...init,
      headers: { ...headers, origin, cookie },
    });
    this.#keep(answer.headers.getSetCookie());
    return answer;
  }
}
