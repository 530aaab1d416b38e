// The query of the address that only asks whether to sign out, whoever requests it: its value says why.

/** A page of another site, or one that was loaded ahead, has requested a sign-out. */
export const forOtherPage = { confirm: '' };
/** A provider has answered for somebody else: the question names the account that is signed in. */
export const forOtherAccount = { confirm: 'account' };

/** Why a query asks, or null if it does not. */
export function signOutQuestionOf(search: string): 'otherPage' | 'otherAccount' | null {
  const why = new URLSearchParams(search).get('confirm');
  if (why === null) return null;
  return why === forOtherAccount.confirm ? 'otherAccount' : 'otherPage';
}
