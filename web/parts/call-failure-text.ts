import { useLanguage, useMessage } from '../messages.tsx';
import type { CallFailure } from '../server-calls.ts';
import { relativeTime } from './relative-time.ts';

const laterTexts = [
  'notice-tooManyAttempts-text',
  'wait-until',
  'problem-503-text',
  'once-more-text',
  'notice-signInExpired-text',
] as const;

/** What a visitor is told about a failed call. */
export function useCallFailureText(): (failure: CallFailure) => string {
  const message = useMessage(...laterTexts);
  const language = useLanguage();
  return (failure) => {
    switch (failure.name) {
      case 'throttled':
        return failure.seconds === null
          ? message('notice-tooManyAttempts-text')
          : message('wait-until', { when: relativeTime(language, failure.seconds) });
      case 'unavailable':
        return `${message('problem-503-text')} ${message('wait-until', { when: relativeTime(language, failure.seconds) })}`;
      case 'signInTooOld':
        return message('once-more-text');
      case 'signInExpired':
        return message('notice-signInExpired-text');
      case 'failed':
        return message('general-error-something-went-wrong');
    }
  };
}
