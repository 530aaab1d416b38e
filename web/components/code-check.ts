import { useState } from 'react';
import { destinationAfterTwoFactor, destinationInLanguage } from '#contract/destination.ts';
import { type Notice, noticeOfSearch } from '#contract/notices.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../addresses.ts';
import { useApp } from '../app-context.ts';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { type CallFailure, type CodeAnswer, verifyCode } from '../server-calls.ts';

type WrongCode = Extract<CodeAnswer, { name: 'wrong' }>;

/** What a second-factor screen has to show: the result of the last call, or the notice in the address. */
export type Said =
  | WrongCode
  | CallFailure
  | { name: 'notice'; notice: Notice; seconds?: number }
  | { name: 'malformed' }
  /** The check itself failed, so the code may have been right. */
  | { name: 'notChecked' }
  | null;

/** Has a code checked and continues if it is right; otherwise shows why and reactivates the page. */
export function useCodeCheck() {
  const { page, place, saved, save, comeBack, toCall, toScreen, askedLanguage, secondFactor } = useApp();
  // That no email is on its way is shown on every load, not only after a redirect.
  const notSent: Said = secondFactor?.isCodeNotSent ? { name: 'notice', notice: 'codeNotSent' } : null;
  const [said, say] = useState<Said>(() => saidBySearch(place.search) ?? notSent);
  // Distinguishes consecutive wrong codes, since repeated identical text isn't announced.
  const [checks, setChecks] = useState(0);

  /** `wrong`, `right`, or the name of the failure. */
  async function check(code: string, isRemembered: boolean): Promise<string> {
    const answer = await verifyCode(page.rules.basePath, code, isRemembered);
    if (answer.name === 'right' && answer.next === 'registration') {
      const asked = parameterOf(place.search, queryNames.redirectUrl) ?? undefined;
      location.assign(toScreen('twoFactorRegistration', { [queryNames.redirectUrl]: asked }));
      return answer.name;
    }
    if (answer.name === 'right') {
      save({ loginHashFragment: null, redirectOldWebbundleUrl: null });
      const destination = destinationAfterTwoFactor(saved, page.rules);
      const codesFirst = answer.next === 'recoveryCodes';
      location.assign(
        codesFirst
          ? toCall('twoFactorRecoveryCodes', { [queryNames.redirectUrl]: destination })
          : destinationInLanguage(destination, page.rules.basePath, askedLanguage),
      );
      return answer.name;
    }
    console.error('Two-factor code not verified:', answer.name);
    say(answer.name === 'failed' ? { name: 'notChecked' } : answer);
    setChecks((count) => count + 1);
    comeBack();
    return answer.name;
  }

  return { said, say, check, checks };
}

function saidBySearch(search: string): Said {
  const notice = noticeOfSearch(search);
  if (notice === 'codeWrong') return { name: 'wrong' };
  if (notice === 'codeMalformed') return { name: 'malformed' };
  return notice && { name: 'notice', notice };
}

/** What a visitor is told about a wrong or unchecked code, and the code wanted instead; null if none was wrong. */
export function useWrongCodeText(): (said: Said) => string | null {
  const { message } = useApp();
  const isEmail = isCodeSentViaEmail(useApp().place.search);
  return (said) => {
    if (said?.name !== 'wrong' && said?.name !== 'notChecked') return null;
    return message(isEmail ? 'twofa-email-wrong' : 'twofa-error-try-again-with-code');
  };
}
