import { type Notice as NoticeName, noticeOfSearch } from '#contract/notices.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';
import { hasOwnPlace, useNoticeText } from './notice-text.ts';

/** These report a state, not an error. */
const calm: readonly NoticeName[] = [
  'signInExpired',
  'codeSent',
  'codeTooSoon',
  'codeNotSent',
  'useSingleSignOn',
  'signOutIncomplete',
];

type Props = {
  notice?: NoticeName | null | undefined;
  /** How long to wait for a code, when not given by the page. */
  seconds?: number | undefined;
};

/** The notice from the previous step (`?notice=…`); wrong codes and choices are shown beside their fields. */
export function Notice({ notice, seconds }: Props) {
  const message = useMessage();
  const textOf = useNoticeText();
  const { page, place } = useVisit();
  const name = notice === undefined ? noticeOfSearch(place.search) : notice;
  if (!name || hasOwnPlace(name)) return null;
  return (
    <Alert
      kind={calm.includes(name) ? 'info' : 'bad'}
      title={message(`notice-${name}-title`)}
      answerTo={page.isAnswer ? page : null}
    >
      {textOf(name, seconds ?? page.secondFactor?.sendAgainAfter ?? 0)}
    </Alert>
  );
}
