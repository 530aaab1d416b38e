import { type CDPSession, expect, type Page } from '@playwright/test';
import { textsOf } from './texts.ts';

const texts = textsOf('en');

/** An authenticator of Chromium's own, which answers as soon as it is asked (Web Authentication Level 3, §11). */
export class VirtualAuthenticator {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  /** Built into the device, keeps passkeys, knows its person, and is touched as soon as it asks. */
  static async addTo(page: Page): Promise<VirtualAuthenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable', { enableUI: false });
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new VirtualAuthenticator(session, authenticatorId);
  }

  async passkeys() {
    return (await this.#session.send('WebAuthn.getCredentials', { authenticatorId: this.#id })).credentials;
  }

  /** Whether it knows who is there; if not, every request ends as one that the person cancels. */
  async recognises(isUserVerified: boolean): Promise<void> {
    await this.#session.send('WebAuthn.setUserVerified', { authenticatorId: this.#id, isUserVerified });
  }
}

/** Keeps the field from offering passkeys, which an authenticator that answers at once would take before any press. */
export const withoutOffer = (page: Page) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });

export const passkeyButton = (page: Page) => page.getByRole('button', { name: texts['login-passkey'] });

/** Adds a passkey on the account page of somebody who has just signed in. */
export async function addPasskey(page: Page): Promise<void> {
  await page.goto('/portal/account/passkeys');
  await page.getByRole('link', { name: texts['account-passkeys-add'] }).click();
  await page.getByRole('button', { name: texts['account-passkeys-add'] }).click();
  await expect(page.getByText(texts['account-notice-passkeyAdded'])).toBeVisible();
}
