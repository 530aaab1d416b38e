import type { MouseEvent } from 'react';
import type { ServerPage } from '#contract/page.ts';
import { useLanguage, useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { LoginLink } from '../parts/login-link.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { Reference } from '../parts/reference.tsx';
import { relativeTime } from '../parts/relative-time.ts';
import { Seal } from '../parts/seal.tsx';
import { SignInForm } from '../parts/sign-in-form.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { SupportLink } from '../parts/support-link.tsx';
import { isPlainClick } from '../plain-click.ts';
import { useVisit } from '../visit.ts';

type Props = Extract<ServerPage, { name: 'problem' }>;

/** A refusal by the server, with a next step. */
export function Problem({ status, retryAfterSeconds, hasForm, again }: Props) {
  const message = useMessage();
  const language = useLanguage();
  const { typedUsername, leave } = useVisit();
  const isSent = typeof again === 'object';
  const isOffered = isSent || again === 'open';

  /** The address of the document, with its fragment, which a link to it would drop. */
  function openAgain(event: MouseEvent) {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    if (leave('please-wait')) location.reload();
  }

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
      {again === 'goBack' && <p className="lede">{message('problem-sent-text')}</p>}
      {hasForm && <SignInForm username={typedUsername.current} why="why" />}
      {isSent && (
        <PortalForm call={again.call} query={again.query ?? {}}>
          {Object.entries(again.fields ?? {}).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <SubmitButton>{message('try-again')}</SubmitButton>
        </PortalForm>
      )}
      <div className="stack">
        {again === 'open' && (
          // biome-ignore lint/a11y/useValidAnchor: it leads to the document's own address, without a script too
          <a className="button" href="" onClick={openAgain}>
            {message('try-again')}
          </a>
        )}
        {!hasForm && !isOffered && <LoginLink className="button" />}
        <p className="links">
          {isOffered && <LoginLink />}
          <SupportLink />
        </p>
        <Reference />
      </div>
    </>
  );
}
