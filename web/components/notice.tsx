import { type ReactNode, useEffect, useRef } from 'react';
import type { Notice as NoticeName } from '#contract/notices.ts';
import { type AppState, useApp } from '../app-context.ts';
import { relativeTime } from '../messages.ts';
import { Icon, shapes } from './icon.tsx';

type Props = {
  id?: string;
  kind?: 'info' | 'bad';
  title?: string;
  /** Answers something the visitor did: it interrupts and takes the focus, every time. */
  answerTo?: object | null;
  children: ReactNode;
};

export function Alert({ id, kind = 'info', title, answerTo = null, children }: Props) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (answerTo) element.current?.focus();
  }, [answerTo]);
  return (
    <div
      id={id}
      className={kind === 'bad' ? 'alert bad' : 'alert'}
      role={answerTo ? 'alert' : 'note'}
      tabIndex={answerTo ? -1 : undefined}
      ref={element}
    >
      <Icon shape={shapes[kind === 'bad' ? 'alert' : 'info']} />
      <p>
        {title && (
          <strong>
            {title}
            <span className="sr">. </span>
          </strong>
        )}
        {children}
      </p>
    </div>
  );
}

/** These report a state, not an error. */
const calm: readonly NoticeName[] = [
  'signInExpired',
  'codeSent',
  'codeTooSoon',
  'codeNotSent',
  'useSingleSignOn',
  'signOutIncomplete',
];

type NoticeProps = { notice?: NoticeName | null | undefined; seconds?: number | undefined };

/**
 * The notice from the previous step (`?notice=…`); wrong codes and choices are shown beside their fields. `seconds`: how long to
 * wait for a code, when not given by the page.
 */
export function Notice({ notice, seconds }: NoticeProps) {
  const app = useApp();
  const { message, page, secondFactor } = app;
  const name = notice === undefined ? app.notice : notice;
  if (!name || hasOwnPlace(name)) return null;
  return (
    <Alert
      kind={calm.includes(name) ? 'info' : 'bad'}
      title={message(`notice-${name}-title`)}
      answerTo={page.isAnswer ? page : null}
    >
      {noticeText(app, name, seconds ?? secondFactor?.sendAgainAfter ?? 0)}
    </Alert>
  );
}

/** Notices that are shown beside what they concern. */
const inPlace = ['codeWrong', 'codeMalformed', 'emailMalformed', 'chooseConnection'] as const;
type InPlace = (typeof inPlace)[number];
type SpokenNotice = Exclude<NoticeName, InPlace>;

function hasOwnPlace(notice: NoticeName): notice is InPlace {
  return (inPlace as readonly NoticeName[]).includes(notice);
}

/** The text of a notice; `seconds` is the wait before another code, if the notice mentions it. */
export function noticeText({ message, language }: AppState, notice: SpokenNotice, seconds: number): string {
  if (notice !== 'codeNotSent') return message(`notice-${notice}-text`);
  if (seconds === 0) return message('notice-codeNotSent-now');
  return message('notice-codeNotSent-text', { when: relativeTime(language, seconds) });
}
