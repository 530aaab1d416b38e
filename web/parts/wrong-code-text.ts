import { useMessage } from '../messages.tsx';
import { isCodeSentViaEmail } from '../screen-title.ts';
import { useVisit } from '../visit.ts';
import type { Said } from './code-check.ts';

/**
 * What a visitor is told about a wrong code and the code wanted instead; null if none was wrong. A failed check is
 * reported the same way (decisions §5).
 */
export function useWrongCodeText(): (said: Said) => string | null {
  const message = useMessage('twofa-email-wrong', 'twofa-error-try-again-with-code');
  const isEmail = isCodeSentViaEmail(useVisit().place);
  return (said) => {
    if (said?.name !== 'wrong' && said?.name !== 'notChecked') return null;
    return message(isEmail ? 'twofa-email-wrong' : 'twofa-error-try-again-with-code');
  };
}
