import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import type { CallFailure } from '../server-calls.ts';
import { Alert } from './alert.tsx';
import type { Said } from './code-check.ts';
import { PortalLink } from './portal-link.tsx';
import { useSignInAgain } from './sign-in-again.ts';
import { SignInOnceMoreForm } from './sign-in-once-more-form.tsx';

type Over = Extract<CallFailure, { name: 'signInExpired' | 'signInTooOld' }>;

/** Whether this sign-in accepts no more codes. */
export function isOver(said: Said): said is Over {
  return said?.name === 'signInExpired' || said?.name === 'signInTooOld';
}

/** Stays on the screen, with one button to start again; name and destination are kept (decisions §5). */
export function SignInOver({ said }: { said: Over }) {
  const message = useMessage();
  const { toScreen } = usePortalUrls();
  const { destination, url } = useSignInAgain();
  if (said.name === 'signInTooOld') {
    const comesBackTo = toScreen('twoFactorRegistration', { [queryNames.redirectUrl]: destination });
    return (
      <>
        <Alert title={message('once-more-title')} answerTo={said}>
          {message('once-more-text')}
        </Alert>
        <SignInOnceMoreForm comesBackTo={comesBackTo} />
      </>
    );
  }
  const notice = said.notice === 'tooManyCodes' ? 'tooManyCodes' : 'signInExpired';
  return (
    <>
      <Alert
        kind={notice === 'tooManyCodes' ? 'bad' : 'info'}
        title={message(`notice-${notice}-title`)}
        answerTo={said}
      >
        {message(`notice-${notice}-text`)}
      </Alert>
      <PortalLink className="button" href={url()} isDocument>
        {message('sign-in-again')}
      </PortalLink>
    </>
  );
}
