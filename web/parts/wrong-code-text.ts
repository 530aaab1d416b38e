import { minutesOff } from '../clock-offset.ts';
import { useLanguage, useMessage } from '../messages.tsx';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { useVisit } from '../visit.ts';
import type { Said } from './code-check.ts';

const laterTexts = [
  'twofa-email-wrong',
  'twofa-error-try-again-with-code',
  'twofa-clock-fast',
  'twofa-clock-slow',
] as const;

/**
 * What a visitor is told about a wrong code and the code wanted instead; null if none was wrong. A failed check is
 * reported the same way (decisions §5).
 */
export function useWrongCodeText(): (said: Said) => string | null {
  const message = useMessage(...laterTexts);
  const language = useLanguage();
  const isEmail = isCodeSentViaEmail(useVisit().place);
  return (said) => {
    if (said?.name !== 'wrong' && said?.name !== 'notChecked') return null;
    if (said.name === 'notChecked' || said.clockOffset === null)
      return message(isEmail ? 'twofa-email-wrong' : 'twofa-error-try-again-with-code');
    const minutes = minutesOff(said.clockOffset).toLocaleString(language);
    return message(said.clockOffset > 0 ? 'twofa-clock-fast' : 'twofa-clock-slow', { minutes });
  };
}
