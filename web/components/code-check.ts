import { useState } from 'react';
import { destinationAfterTwoFactor, destinationInLanguage } from '#contract/destination.ts';
import type { Notice } from '#contract/notices.ts';
import { useApp } from '../app-context.ts';
import { type CallFailure, verifyCode } from '../server-calls.ts';

/** What a second-factor screen has to show: the result of the last call, or the notice in the address. */
export type Said =
  | { name: 'wrong' }
  | CallFailure
  | { name: 'notice'; notice: Notice; seconds?: number }
  | { name: 'malformed' }
  /** The check itself failed, so the code may have been right. */
  | { name: 'notChecked' }
  | null;

/** Has a code checked and continues if it is right; otherwise shows why and reactivates the page. */
export function useCodeCheck() {
  const { page, notice, asked, saved, save, comeBack, toCall, toScreen, askedLanguage, secondFactor } = useApp();
  // That no email is on its way is shown on every load, not only after a redirect.
  const notSent: Said = secondFactor?.isCodeNotSent ? { name: 'notice', notice: 'codeNotSent' } : null;
  const [said, say] = useState<Said>(() => saidOf(notice) ?? notSent);
  // Distinguishes consecutive wrong codes, since repeated identical text isn't announced.
  const [checks, setChecks] = useState(0);

  /** `wrong`, `right`, or the name of the failure. */
  async function check(code: string, isRemembered: boolean): Promise<string> {
    const answer = await verifyCode(page.rules.basePath, code, isRemembered);
    if (answer.name === 'right') location.assign(addressAfter(answer.next));
    else {
      console.error('Two-factor code not verified:', answer.name);
      // The server's page at this address says so, and what helps.
      if (answer.name === 'signInTooOld') location.reload();
      else say(answer.name === 'failed' ? { name: 'notChecked' } : answer);
      setChecks((count) => count + 1);
      comeBack();
    }
    return answer.name;
  }

  function addressAfter(next: string | null): string {
    if (next === 'registration')
      return toScreen('twoFactorRegistration', { redirectURL: asked('redirectUrl') ?? undefined });
    save({ loginHashFragment: null, redirectOldWebbundleUrl: null });
    const destination = destinationAfterTwoFactor(saved, page.rules);
    return next === 'recoveryCodes'
      ? toCall('twoFactorRecoveryCodes', { redirectURL: destination })
      : destinationInLanguage(destination, page.rules.basePath, askedLanguage);
  }

  return { said, say, check, checks };
}

function saidOf(notice: Notice | null): Said {
  if (notice === 'codeWrong') return { name: 'wrong' };
  if (notice === 'codeMalformed') return { name: 'malformed' };
  return notice && { name: 'notice', notice };
}
