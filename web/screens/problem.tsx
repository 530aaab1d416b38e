import type { ServerPage } from '#contract/page.ts';
import { useLanguage, useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Reference } from '../parts/reference.tsx';
import { relativeTime } from '../parts/relative-time.ts';
import { Seal } from '../parts/seal.tsx';
import { SignInForm } from '../parts/sign-in-form.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { useVisit } from '../visit.ts';

type Props = Extract<ServerPage, { name: 'problem' }>;

/** A refusal by the server, with a next step. */
export function Problem({ status, retryAfterSeconds, hasForm }: Props) {
  const message = useMessage();
  const language = useLanguage();
  const { typedUsername } = useVisit();
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede" id="why">
        {message(`problem-${status}-text`)}
      </p>
      {retryAfterSeconds && (
        <p className="lede">{message('wait-until', { when: relativeTime(language, retryAfterSeconds) })}</p>
      )}
      {hasForm && <SignInForm username={typedUsername.current} why="why" />}
      <div className="stack">
        {!hasForm && <LoginLink className="button" />}
        <p className="links">
          <SupportLink />
        </p>
        <Reference />
      </div>
    </>
  );
}
