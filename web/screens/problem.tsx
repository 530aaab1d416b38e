import type { ServerPage } from '#contract/page.ts';
import { useLanguage, useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { Reference } from '../parts/reference.tsx';
import { relativeTime } from '../parts/relative-time.ts';
import { Seal } from '../parts/seal.tsx';
import { SupportLink } from '../parts/support-link.tsx';

type Props = Extract<ServerPage, { name: 'problem' }>;

/** A refusal by the server, with a next step. */
export function Problem({ status, retryAfterSeconds }: Props) {
  const message = useMessage();
  const language = useLanguage();
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message(`problem-${status}-text`)}</p>
      {retryAfterSeconds !== null && (
        <p className="lede">{message('wait-until', { when: relativeTime(language, retryAfterSeconds) })}</p>
      )}
      <div className="stack">
        <LoginLink className="button" />
        <p className="links">
          <SupportLink />
        </p>
        <Reference />
      </div>
    </>
  );
}
