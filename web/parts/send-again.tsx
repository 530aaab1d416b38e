import { useEffect, useState } from 'react';
import { type MessageKey, useLanguage, useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { sendNewCode } from '../server-calls.ts';
import { useVisit } from '../visit.ts';
import { ChangeUserLinks } from './change-user-links.tsx';
import type { Said } from './code-check.ts';
import { useNoticeText } from './notice-text.ts';
import { PortalForm } from './portal-form.tsx';
import { relativeTime } from './relative-time.ts';
import { useSecondsUntil } from './seconds-until.ts';
import { TwoFactorFields } from './two-factor-fields.tsx';

type Props = { cancelKey: MessageKey; onAnswer: (answer: Said) => void };

const laterTexts = [
  'twofa-send',
  'twofa-send-wait',
  'twofa-send-over',
  'notice-codeSent-title',
  'notice-codeSent-text',
  'notice-codeTooSoon-title',
  'notice-codeTooSoon-text',
  'notice-codeNotSent-title',
  'notice-codeNotSent-text',
  'notice-codeNotSent-now',
] as const;

/** Sends another code by email once the wait is over; and the way out, which is the only link when no more are sent. */
export function SendAgain({ cancelKey, onAnswer }: Props) {
  const message = useMessage(...laterTexts);
  const language = useLanguage();
  const { page, comeBack, announce } = useVisit();
  const { toCall } = usePortalUrls();
  const textOf = useNoticeText();
  const first = page.secondFactor?.sendAgainAfter;
  const [isOver, setOver] = useState(first === null);
  const [until, setUntil] = useState(0);
  const seconds = useSecondsUntil(until);

  // Counted from when the page was requested, so a page shown again doesn't restart the wait.
  useEffect(() => {
    if (first) setUntil(performance.timeOrigin + first * 1000);
  }, [first]);

  async function send() {
    const answer = await sendNewCode(toCall('twoFactorSend'));
    comeBack();
    if (answer.name !== 'sent' && answer.name !== 'throttled') return onAnswer(answer);
    if (answer.seconds === null) {
      setOver(true);
      announce(message('twofa-send-over'));
      return onAnswer(null);
    }
    setUntil(Date.now() + answer.seconds * 1000);
    const { seconds } = answer;
    const notice =
      answer.name === 'sent' ? 'codeSent' : answer.notice === 'codeNotSent' ? 'codeNotSent' : 'codeTooSoon';
    announce(`${message(`notice-${notice}-title`)}. ${textOf(notice, seconds)}`);
    onAnswer({ name: 'notice', notice, seconds });
  }

  return (
    <>
      {page.isStatic ? null : isOver ? (
        <p className="hint over">{message('twofa-send-over')}</p>
      ) : (
        <PortalForm call="twoFactorSend" onSend={send}>
          <TwoFactorFields />
          {/* A disabled button isn't announced when its label counts down. */}
          <button className="button quiet" type="submit" disabled={seconds > 0}>
            {seconds > 0
              ? message('twofa-send-wait', { when: relativeTime(language, seconds) })
              : message('twofa-send')}
          </button>
        </PortalForm>
      )}
      <ChangeUserLinks textKey={isOver ? 'sign-in-again' : cancelKey} />
    </>
  );
}
