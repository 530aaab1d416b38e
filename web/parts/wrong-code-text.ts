import { minutesOff } from '../clock-offset.ts';
import { useLanguage, useMessage } from '../messages.tsx';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { useVisit } from '../visit.ts';
import type { WrongCode } from './code-check.ts';

/** What a visitor is told of a wrong code, and which code is wanted instead. */
export function useWrongCodeText(): (wrong: WrongCode) => string {
  const message = useMessage();
  const language = useLanguage();
  const isEmail = isCodeSentViaEmail(useVisit().place);
  return ({ clockOffset }) => {
    if (clockOffset === null) return message(isEmail ? 'twofa-email-wrong' : 'twofa-error-try-again-with-code');
    const minutes = minutesOff(clockOffset).toLocaleString(language);
    return message(clockOffset > 0 ? 'twofa-clock-fast' : 'twofa-clock-slow', { minutes });
  };
}
