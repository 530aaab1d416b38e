import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changeTo, invitationFor, invite, newPassword, startAfresh, tokenIn } from '#test/support/reset-for-test.ts';
import { limits } from '../limits.ts';

const portal = portalOfFile({ each: startAfresh });

beforeEach(async () => {
  await addUser(portal, { username: 'grace', passwordHash: null });
  await addUser(portal, { username: 'heidi', passwordHash: null, language: 'de' });
});

const done = '/portal/portal.html';
const used = '/portal/forgottenChangedInfo?invited=true';
const over = '/portal/forgottenChangeFailedInfo?reason=3&invited=true';

const landing = async (token: string, password = newPassword) =>
  (await changeTo(portal, token, password)).headers.location;
const open = (token: string) => portal.send({ url: `/portal/forgottenChange?hash=${token}&invited=true` });
const headingOf = (body: string) => /<h1[^>]*>([^<]*)</.exec(body)?.[1];
const events = () =>
  portal.sql`select event, reason, username, customer_key as customer, steps from audit_event order by id`;

describe('an invitation', () => {
  it('is an email with a link to choose a first password, which signs in at once', async () => {
    expect(await invite(portal, 'grace@acme.test', 'heidi', 'grace')).toEqual({
      kind: 'invited',
      users: [
        { username: 'grace', email: 'grace@acme.test' },
        { username: 'heidi', email: 'heidi@acme.test' },
      ],
    });
    await portal.workOff();
    expect(portal.mails.map(({ recipient, subject }) => [recipient, subject]).sort()).toEqual([
      ['grace@acme.test', 'You’re invited to Vestibule'],
      ['heidi@acme.test', 'Einladung zu Vestibule'],
    ]);
    const mail = portal.mails.find(({ recipient }) => recipient === 'grace@acme.test');
    expect(mail?.text).toContain('within 72\u00a0hours');
    expect(mail?.text).toContain(`/portal/forgottenChange?hash=${tokenIn(mail)}&invited=true&lang=en`);
    const page = await open(tokenIn(mail));
    expect([page.statusCode, headingOf(page.body)]).toEqual([200, 'Choose your password']);
    expect(page.headers['referrer-policy']).toBe('strict-origin');
    expect(await landing(tokenIn(mail))).toBe(done);
    expect((await portal.signIn('grace', newPassword)).headers.location).toBe('/portal/portal.html');
    expect(await events()).toMatchObject([
      { event: 'invited', username: 'grace', customer: 'acme', steps: [{ step: 'email', outcome: 'grace@acme.test' }] },
      { event: 'invited', username: 'heidi', customer: 'acme' },
      {
        event: 'invitation-used',
        username: 'grace',
        customer: 'acme',
        steps: [{ step: 'sessions ended', outcome: '0' }],
      },
      { event: 'signed-in', username: 'grace' },
      { event: 'signed-in', username: 'grace' },
    ]);
  });

  it.each([
    ['app', '/portal/twoFactorRegistration', 'twoFactorRegistration'],
    ['email', '/portal/twoFactorRegistration', 'codeSentViaEmail=true'],
  ] as const)('leads on to the second factor that a customer asks for, by %s', async (twoFactor, page, query) => {
    await addCustomer(portal, 'careful', { twoFactor });
    await addUser(portal, { username: 'ivan', passwordHash: null, customers: ['careful'] });
    const changed = await changeTo(portal, await invitationFor(portal, 'ivan'), newPassword);
    expect(changed.headers.location).toContain(page);
    expect(changed.headers.location).toContain(query);
    const cookies = cookiesOf(changed);
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
    expect(await portal.sql`select stage, waits_for from session`).toEqual([{ stage: 'half', waits_for: [twoFactor] }]);
  });

  it('that is over, or was used, says what to do; the operator sees that it was an invitation', async () => {
    const [ofGrace, ofHeidi] = [await invitationFor(portal, 'grace'), await invitationFor(portal, 'heidi')];
    await landing(ofGrace);
    portal.wait(limits.invitation);
    const target = async (token: string) => {
      const { location } = (await portal.send({ url: `/portal/forgottenChange?hash=${token}` })).headers;
      return [location, headingOf((await portal.send({ url: String(location) })).body)];
    };
    expect(await target(ofGrace)).toEqual([used, 'Password changed']);
    expect(await target(ofHeidi)).toEqual([over, 'Password not saved']);
    expect((await portal.send({ url: over })).body).toContain('Ask whoever invited you');
    expect((await portal.send({ url: over })).body).toContain('href="/portal/forgotten"');
    expect(await landing(ofHeidi)).toBe(over);
    const [event] = (await events()).slice(-1);
    expect(event).toMatchObject({ event: 'password-change-refused', reason: '3', username: 'heidi' });
    expect(event?.steps).toContainEqual({ step: 'made for', outcome: 'an invitation' });
  });
});

describe('nobody is invited', () => {
  const refusalsOf = async (...names: string[]) => {
    const result = await invite(portal, ...names);
    return result.kind === 'refused' ? result.refusals.map(({ name, problem }) => `${name}: ${problem}`) : [];
  };

  it.each([
    ['nobody', 'there is no such user'],
    ['dave', 'the user is inactive'],
    ['alice@acme.test', 'the user has a password already; vestibule user reset-link alice makes a link for a new one'],
    ['sso-only', 'the user may not choose a password'],
    ['ivan', 'the user has no active customer'],
  ])('if one of them cannot be: %s, as %s', async (name, problem) => {
    await addUser(portal, { username: 'ivan', passwordHash: null, customers: [] });
    expect(await refusalsOf('grace', name, 'heidi')).toEqual([`${name}: ${problem}`]);
    expect(await portal.sql`select from job`).toHaveLength(0);
    expect(await portal.sql`select from reset_link`).toHaveLength(0);
    expect(await events()).toEqual([]);
  });
});
