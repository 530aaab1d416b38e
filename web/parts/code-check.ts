import { useState } from 'react';
import { destinationAfterTwoFactor } from '#contract/destination.ts';
import { type Notice, noticeOfSearch } from '#contract/notices.ts';
import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { clockOffsetOf } from '../clock-offset.ts';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { type CallFailure, type CodeAnswer, verifyCode } from '../server-calls.ts';
import { useVisit } from '../visit.ts';

export type WrongCode = Extract<CodeAnswer, { name: 'wrong' }>;

/** What a second-factor screen has to say: how the last call ended, or what the step before left in the address. */
export type Said =
  | WrongCode
  | CallFailure
  | { name: 'notice'; notice: Notice; seconds?: number }
  | { name: 'malformed' }
  /** Nobody knows whether the code was right: the check itself failed. */
  | { name: 'notChecked' }
  | null;

/** Has a code checked and goes on where it was right; anything else is said, on the page alive again (decisions §5). */
export function useCodeCheck() {
  const { page, place, saved, save, comeBack, goToDocument } = useVisit();
  const { toCall } = usePortalUrls();
  const [said, say] = useState<Said>(() => saidBySearch(place.search) ?? saidByPage(page));
  // Tells one wrong code from the next, since the same words said again are not heard.
  const [checks, setChecks] = useState(0);

  /** `wrong`, `right`, or the name of the failure. */
  async function check(code: string, isRemembered: boolean): Promise<string> {
    const answer = await verifyCode(page.rules.basePath, code, isRemembered);
    if (answer.name === 'right') {
      save({ loginHashFragment: null });
      const destination = destinationAfterTwoFactor(saved, page.rules);
      const codesFirst = answer.next === 'recoveryCodes';
      goToDocument(
        codesFirst ? toCall('twoFactorRecoveryCodes', { [queryNames.redirectUrl]: destination }) : destination,
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
  if (notice === 'codeWrong') return { name: 'wrong', clockOffset: null };
  if (notice === 'clockWrong')
    return { name: 'wrong', clockOffset: clockOffsetOf(parameterOf(search, queryNames.clockOffset)) };
  if (notice === 'codeMalformed') return { name: 'malformed' };
  return notice && { name: 'notice', notice };
}

/** That no mail is on its way is said on every load, not only after a redirect. */
function saidByPage({ secondFactor }: Page): Said {
  return secondFactor?.isCodeNotSent ? { name: 'notice', notice: 'codeNotSent' } : null;
}
