import type { AccountSignIn } from '#contract/account-page.ts';
import type { Section } from './section.ts';
import { listSignInsOfUser, type PastSignIn } from './sign-in-history.ts';

/** How many of their sign-ins people see on their account page. */
const signInsShown = 20;

/** The last sign-ins of the account; of a session that speaks for a part of it, those of its connection. */
export const signIns: Section = {
  name: 'signIns',
  kept: [],
  actions: {},
  view: async (deps, { session, account }) => {
    const past = await listSignInsOfUser(deps.sql, {
      userId: session.userId,
      connectionId: account.isPart ? session.connectionId : null,
      limit: signInsShown,
    });
    return {
      name: 'signIns',
      signIns: past.map((signIn) => ({
        at: signIn.at.toISOString(),
        outcome: outcomeOf(signIn),
        address: signIn.address,
        provider: signIn.provider,
        isByPasskey: signIn.isByPasskey,
      })),
    };
  },
};

/** In words for its person, who need not learn more than they could see at the time. */
function outcomeOf({ event, reason }: PastSignIn): AccountSignIn['outcome'] {
  if (event === 'signed-in') return 'signedIn';
  if (event === 'code-refused') return 'codeWrong';
  if (event === 'code-throttled' || event === 'second-factor-ended' || reason?.startsWith('throttled'))
    return 'tooManyAttempts';
  return reason === 'wrong-password' ? 'passwordWrong' : 'refused';
}
