import type { FastifyInstance } from 'fastify';
import { beforeAll, expect, it } from 'vitest';
import { type Call, calls, callUrl } from '#contract/calls.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { addAccount } from '../account/add-account.ts';
import { addFactors } from '../factors/add-factors.ts';
import { addHub } from '../hub/add-hub.ts';
import { addSignIn } from '../sign-in/add-sign-in.ts';
import { addSingleSignOn } from '../single-sign-on/add-single-sign-on.ts';
import type { Caller } from './call-routes.ts';

const portal = portalOfFile();

/** Who may use each call, as its route says. */
const callers: Partial<Record<Call, Caller>> = {};
beforeAll(async () => {
  const app = {
    route: ({ config: { name, who } }: { config: { name: Call; who: Caller } }) => {
      callers[name] = who;
    },
    get() {},
    post() {},
    register: async (scope: (app: unknown) => Promise<void>) => await scope(app),
    addContentTypeParser() {},
  } as unknown as FastifyInstance;
  for (const add of [addSignIn, addFactors, addSingleSignOn, addAccount]) await add(app, portal.deps);
  addHub(app, portal.deps, 1000);
});

const all = Object.keys(calls) as Call[];

it('every call says who may use it', () => {
  expect(all.filter((call) => callers[call] === undefined)).toEqual([]);
});

it('nobody, and a half session, are kept out of what is for others', async () => {
  await addCustomer(portal, 'acme', { twoFactor: 'app' });
  await addUser(portal, { username: 'alice' });
  const half = cookiesOf(await portal.signIn('alice', testPassword));
  const answerTo = async (call: Call, cookies: Record<string, string>) => {
    const { method } = calls[call];
    const form = { code: '123456', credential: '{}', redirectURL: '' };
    const request = { method, url: callUrl('/portal', call), cookies, ...(method === 'POST' && { form }) };
    const { statusCode, headers } = await portal.send(request);
    return headers.location ? String(headers.location).split('?')[0] : statusCode;
  };
  const isFor = (...who: Caller[]) => all.filter((call) => who.includes(callers[call] ?? 'everybody'));
  const refused = expect.toBeOneOf([401, '/portal/login']);
  for (const call of isFor('half session', 'full session')) expect(await answerTo(call, {}), call).toEqual(refused);
  for (const call of isFor('full session')) expect(await answerTo(call, half), call).toEqual(refused);
});
