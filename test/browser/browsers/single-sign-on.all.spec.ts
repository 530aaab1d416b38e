import { startOpenIdProviderOf } from '../openid-provider-of-portal.ts';
import { startSamlProviderOf } from '../saml-provider-of-portal.ts';
import { textsOf } from '../texts.ts';
import { test } from './test.ts';
import type { Visitor } from './visitor.ts';

// The providers are at another site than the portal: what a browser sends along from there, and keeps, is its own.

test.describe.configure({ mode: 'default', timeout: 120_000 });

const texts = textsOf('en');
const asked = '/portal/portal.html?tab=2#/reports/7';

/** As far as the provider's page. */
async function leaveFor(visitor: Visitor, provider: string, email: string): Promise<void> {
  await visitor.open(asked);
  await visitor.press('button', texts['login-sso']);
  await visitor.sees(texts['sso-title']);
  await visitor.fill(texts.email, email);
  await visitor.press('button', texts['sso-button']);
  await visitor.sees(provider);
}

test('a deep link with a fragment survives the way to an OpenID provider and back', async ({
  visitor,
  portal,
  oncePerWorker,
}) => {
  await oncePerWorker.get(startOpenIdProviderOf, portal);
  await leaveFor(visitor, 'Sign in at the provider', 'olga@oidc.test');
  await visitor.expectValue('Email', 'olga@oidc.test');
  await visitor.press('button', 'Sign in');
  await visitor.isAt(asked);
  await visitor.seesText('Username olga');
});

test('a deep link with a fragment survives the way to a SAML provider and back', async ({
  visitor,
  portal,
  oncePerWorker,
}) => {
  await oncePerWorker.get(startSamlProviderOf, portal);
  await leaveFor(visitor, 'Sign in at the identity provider', 'sam@saml.test');
  await visitor.fill('Email', 'sam@saml.test');
  // The provider's page with the answer posts itself.
  await visitor.press('button', 'Sign in');
  await visitor.isAt(asked);
  await visitor.seesText('Username sam');
});

test('who cancels at the provider comes back to a page with a way on', async ({ visitor, portal, oncePerWorker }) => {
  await oncePerWorker.get(startOpenIdProviderOf, portal);
  await leaveFor(visitor, 'Sign in at the provider', 'olga@oidc.test');
  await visitor.press('link', 'Cancel');
  await visitor.sees(texts['login-fail-oidc-title']);
  await visitor.press('link', texts['return-to-login']);
  await visitor.sees(texts['login-title']);
});

test('Back from a provider leads to a form that works', async ({ engine, visitor, portal, oncePerWorker }) => {
  test.skip(engine === 'WebKit', 'the driver of WebKitGTK 2.50 loses a kept page after another site’s');
  await oncePerWorker.get(startOpenIdProviderOf, portal);
  await leaveFor(visitor, 'Sign in at the provider', 'olga@oidc.test');
  await visitor.back();
  await visitor.sees(texts['sso-title']);
  await visitor.fill(texts.email, 'olga@oidc.test');
  await visitor.press('button', texts['sso-button']);
  await visitor.sees('Sign in at the provider');
});
