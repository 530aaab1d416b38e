import { hashOf, linkFor } from '../reset-forms.ts';
import { textsOf } from '../texts.ts';
import { isHere } from './engines.ts';
import { giveNameAndPassword, signedIn } from './sign-in.ts';
import { expect, test } from './test.ts';
import type { Visitor } from './visitor.ts';

// As ../history-of-turns.spec.ts, where the browser may show a page again as it left it: over plain HTTP, WebKit does.

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');

const shown = (visitor: Visitor) =>
  visitor.inPage(() => ({
    address: location.href,
    values: Array.from(document.querySelectorAll('input'), ({ value }) => value).join(' '),
  }));

/** The form of a link is open when another person signs in. */
async function openAndLeave(visitor: Visitor, link: string, next: { username: string }): Promise<void> {
  await visitor.open(link);
  await visitor.sees(texts['change-title']);
  await visitor.isScripted();
  await visitor.open('/portal/login');
  await giveNameAndPassword(visitor, next.username);
  await visitor.sees(signedIn);
}

/** Steps back until the browser shows the page. */
async function goBackTo(visitor: Visitor, address: RegExp): Promise<void> {
  await expect(async () => {
    // Firefox reports what a page left early was still loading.
    await visitor.isScripted();
    await visitor.inPage(() => void setTimeout(() => history.back()));
    await expect.poll(async () => (await shown(visitor)).address, { timeout: 2_000 }).toMatch(address);
  }).toPass();
}

test('SE-15 Back over another person’s turn shows neither a name, a destination nor a link of before', {
  tag: '@other-engine',
}, async ({ visitor, portal, inbox, newPerson }) => {
  const [first, next] = [await newPerson(), await newPerson()];
  await visitor.open('/portal/login?destination=%2Fportal%2Fportal.html%3Ftab%3D7');
  await visitor.isScripted();
  await visitor.fill(texts['login-username'], first.username);
  const link = await linkFor({ portal, inbox }, first.email);
  await openAndLeave(visitor, link, next);
  await visitor.press('button', texts['sign-out-button']);
  await visitor.sees(texts['login-title']);
  await goBackTo(visitor, /forgottenChange/);
  await expect.poll(async () => (await shown(visitor)).values).not.toContain(hashOf(link));
  await goBackTo(visitor, /\/portal\/login$/);
  await expect.poll(async () => (await shown(visitor)).values).not.toContain(first.username);
  await giveNameAndPassword(visitor, next.username);
  await visitor.isAt('/portal/portal.html');
});

test('SE-15 Back from another person’s account shows no link of before', {
  tag: '@other-engine',
}, async ({ visitor, portal, inbox, newPerson }) => {
  const [first, next] = [await newPerson(), await newPerson()];
  const link = await linkFor({ portal, inbox }, first.email);
  await openAndLeave(visitor, link, next);
  await goBackTo(visitor, /forgottenChange/);
  await expect.poll(async () => (await shown(visitor)).values).not.toContain(hashOf(link));
});
