import { noticeOfSearch } from '#contract/notices.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';

/** What the step before has to say (`?notice=…`); a wrong code is told beside the code. */
export function Notice() {
  const message = useMessage();
  const { page, place } = useVisit();
  const notice = noticeOfSearch(place.search);
  if (!notice || notice === 'codeWrong') return null;
  return (
    <Alert
      kind={notice === 'signInExpired' ? 'info' : 'bad'}
      title={message(`notice-${notice}-title`)}
      answerTo={page.isAnswer ? page : null}
    >
      {message(`notice-${notice}-text`)}
    </Alert>
  );
}
