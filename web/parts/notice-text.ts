import type { Notice } from '#contract/notices.ts';
import { useLanguage, useMessage } from '../messages.tsx';
import { relativeTime } from './relative-time.ts';

/** Notices that are shown beside what they concern. */
const inPlace = ['codeWrong', 'codeMalformed', 'emailMalformed', 'chooseConnection'] as const;
type InPlace = (typeof inPlace)[number];
type SpokenNotice = Exclude<Notice, InPlace>;

export function hasOwnPlace(notice: Notice): notice is InPlace {
  return (inPlace as readonly Notice[]).includes(notice);
}

/** The text of a notice; `seconds` is the wait before another code, if the notice mentions it. */
export function useNoticeText(): (notice: SpokenNotice, seconds: number) => string {
  const message = useMessage();
  const language = useLanguage();
  return (notice, seconds) => {
    if (notice !== 'codeNotSent') return message(`notice-${notice}-text`);
    if (seconds === 0) return message('notice-codeNotSent-now');
    return message('notice-codeNotSent-text', { when: relativeTime(language, seconds) });
  };
}
