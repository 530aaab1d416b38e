import { type Account, landingOf, noAccount, signIn } from './account.ts';
import { visitBackend } from './backend-visit.ts';
import { advised, type Finding, notTried, passed, type Verdict } from './finding.ts';

/** Pages from files keep a destination in the tab until the browser is told to forget it (docs/pages-only.md). */
export async function* signOutAdvice(base: URL, account: Account): AsyncGenerator<Finding> {
  yield { call: 'GET logout', what: 'clears what the tab keeps', ...(await judgeSignOut(base, account)) };
}

async function judgeSignOut(base: URL, account: Account): Promise<Verdict> {
  if (account.username === null) return notTried(noAccount);
  const visit = visitBackend(base);
  const landing = landingOf(await signIn(visit, account, base.pathname), base);
  if (landing === 'refused') return notTried('the account cannot sign in');
  const { clears } = await visit.send('logout');
  if (/"(?:storage|\*)"/.test(clears)) return passed;
  if (landing !== 'destination') return notTried('nobody is signed in before the second factor');
  return advised('with pages from files, send Clear-Site-Data: "storage", or the next person gets a saved destination');
}
