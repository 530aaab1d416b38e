import { randomBytes } from 'node:crypto';
import { reasonOfSearch } from '#contract/reasons.ts';
import type { Account } from './account.ts';
import { type Answer, visitBackend } from './backend-visit.ts';
import { type Finding, isScreen, judge, judgeRefusal, judgeTarget, notTried, type Verdict } from './finding.ts';
import type { Target } from './target.ts';

/** `POST password/forgotten` and `POST password/change` (specification §7 and §8, decisions §6). */
export async function* passwordChecks(base: URL, account: Account): AsyncGenerator<Finding> {
  yield* forgottenChecks(base, account);
  yield* changeChecks(base, account);
}

async function* forgottenChecks(base: URL, { email }: Account): AsyncGenerator<Finding> {
  const call = 'POST password/forgotten';
  const ask = (username: string, by: 'script' | 'page') =>
    visitBackend(base).send('passwordForgotten', { form: { username }, by });
  const nobody = () => `nobody-${randomBytes(8).toString('hex')}@unknown.invalid`;
  const unknown = await ask(nobody(), 'script');
  const isDone = ({ status }: Answer) => status >= 200 && status < 400;
  yield {
    call,
    what: 'an unknown address, by script',
    ...judge(isDone(unknown), '2xx, or a redirect', unknown, base),
  };
  const plain = await ask(nobody(), 'page');
  yield {
    call,
    what: 'the form without JavaScript',
    ...judgeTarget(plain, base, 'emailInfo', (target) => isScreen(target, 'emailInfo')),
  };
  const known = email === null ? null : await ask(email, 'script');
  yield {
    call,
    what: 'a known address, as an unknown one',
    ...(known
      ? judge(known.status === unknown.status, `${unknown.status}`, known, base)
      : notTried('needs --email, which gets a reset link')),
  };
  const empty = await visitBackend(base).send('passwordForgotten', { form: {}, by: 'script' });
  yield { call, what: 'no fields', ...judgeRefusal(empty, base) };
}

async function* changeChecks(base: URL, { reset }: Account): AsyncGenerator<Finding> {
  const call = 'POST password/change';
  const change = (password: string, repeat: string, hash: string) =>
    visitBackend(base).send('passwordChange', { form: { password, repeat, hash } });
  const fresh = `Zeltplatz-${randomBytes(6).toString('base64url')}-9!`;
  const unknown = await change(fresh, fresh, randomBytes(32).toString('base64url'));
  yield { call, what: 'an unknown link', ...judgeReason(unknown, base, [4]) };
  const empty = await visitBackend(base).send('passwordChange', { form: {} });
  yield { call, what: 'no fields', ...judgeRefusal(empty, base) };
  const steps: [string, (link: NonNullable<Account['reset']>) => Promise<Verdict>][] = [
    ['two different passwords', async ({ hash }) => judgeReason(await change(fresh, `${fresh}x`, hash), base, [5])],
    ['a weak password', async ({ hash }) => judgeReason(await change('aaaaaaaa', 'aaaaaaaa', hash), base, [1])],
    ['a short password', async ({ hash }) => judgeReason(await change('Zx-9', 'Zx-9', hash), base, [9])],
    [
      'a new password',
      async ({ hash, password }) =>
        judgeTarget(await change(password, password, hash), base, 'forgottenChangedInfo', (target) =>
          isScreen(target, 'forgottenChangedInfo'),
        ),
    ],
    ['the same link again', async ({ hash }) => judgeReason(await change(fresh, fresh, hash), base, [3, 4])],
  ];
  for (const [what, step] of steps)
    yield { call, what, ...(reset ? await step(reset) : notTried('needs --reset-link')) };
}

/** The failure page with one of these reasons; for the weak password, the form itself as well. */
function judgeReason(answer: Answer, base: URL, reasons: readonly number[]): Verdict {
  const words = `forgottenChangeFailedInfo?reason=${reasons.join(' or ')}`;
  return judgeTarget(answer, base, words, (target: Target) => {
    const isPage = isScreen(target, 'forgottenChangeFailedInfo') || isScreen(target, 'forgottenChange');
    const reason = target.kind === 'screen' ? reasonOfSearch(target.search) : null;
    return isPage && reason !== null && reasons.includes(reason);
  });
}
