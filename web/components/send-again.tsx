import { useEffect, useState } from 'react';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { type MessageKey, relativeTime } from '../messages.ts';
import { sendNewCode } from '../server-calls.ts';
import type { Said } from './call-form.tsx';
import { noticeText } from './notice.tsx';
import { PortalForm } from './portal-form.tsx';
import { ChangeUserLinks } from './screen-links.tsx';

type Props = { cancelKey: MessageKey; onAnswer: (answer: Said) => void };

/** Sends another code by email once the wait is over; and the way out, which is the only link when no more are sent. */
export function SendAgain({ cancelKey, onAnswer }: Props) {
  const app = useApp();
  const { message, language, page, comeBack, announce, toCall } = app;
  const first = app.secondFactor?.sendAgainAfter;
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
    const notice = answer.name === 'sent' ? 'codeSent' : (answer.notice ?? 'codeTooSoon');
    announce(`${message(`notice-${notice}-title`)}. ${noticeText(app, notice, seconds)}`);
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

/** Query values sent along, so that without JavaScript an answer can lead back here or on to the destination. */
export function TwoFactorFields() {
  const { asked } = useApp();
  return (['redirectUrl', 'codeSentViaEmail', 'recovery'] as const).map((name) => {
    const value = asked(name);
    return value !== null && <input key={name} type="hidden" name={queryNames[name]} value={value} />;
  });
}

/** The whole seconds until a moment, counting down; 0 on the server and once it has passed. */
function useSecondsUntil(moment: number): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const look = () => {
      const left = Math.max(0, Math.ceil((moment - Date.now()) / 1000));
      setSeconds(left);
      if (left === 0) clearInterval(timer);
    };
    const timer = setInterval(look, 1000);
    look();
    return () => clearInterval(timer);
  }, [moment]);
  return seconds;
}
