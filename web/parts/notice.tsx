import { type Notice as NoticeName, noticeOfSearch } from '#contract/notices.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';

/** Nothing went wrong with these: they say how things stand. */
const calm: readonly NoticeName[] = ['signInExpired', 'codeSent', 'codeTooSoon', 'useSingleSignOn'];

/** What the step before has to say (`?notice=…`); a wrong code is told beside the code, a choice by what is chosen from. */
export function Notice({ notice }: { notice?: NoticeName | null | undefined }) {
  const message = useMessage();
  const { page, place } = useVisit();
  const name = notice === undefined ? noticeOfSearch(place.search) : notice;
  if (!name || name === 'codeWrong' || name === 'clockWrong' || name === 'chooseConnection') return null;
  return (
    <Alert
      kind={calm.includes(name) ? 'info' : 'bad'}
      title={message(`notice-${name}-title`)}
      answerTo={page.isAnswer ? page : null}
    >
      {message(`notice-${name}-text`)}
    </Alert>
  );
}
