import type { MouseEvent } from 'react';
import type { ScreenOf } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { isPlainClick } from '../components/links.tsx';
import { HiddenFields, PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { Fact, SupportLine } from '../components/reference.tsx';
import { LoginLink } from '../components/screen-links.tsx';
import { useIsScripted } from '../is-scripted.tsx';
import { clockTime, relativeTime } from '../messages.ts';
import { SignInAgain } from './login-fail.tsx';

/** A refusal by the server, with a next step. */
export function Problem({ status, retryAfterSeconds, hasForm, again, proxy }: ScreenOf<'problem'>) {
  const { message, leave } = useApp();
  const text = proxy ? message('problem-proxy-text', { proxy }) : message(`problem-${status}-text`);
  const wait = useWait(retryAfterSeconds);
  const isSent = typeof again === 'object';
  const isOffered = isSent || again === 'open';

  /** The address of the document, with its fragment, which a link to it would drop. */
  function openAgain(event: MouseEvent) {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    if (leave('please-wait')) location.reload();
  }

  if (hasForm)
    return (
      <SignInAgain>
        {text} {wait}
      </SignInAgain>
    );
  return (
    <>
      <Heading icon="bang" kind="bad">
        {text} {wait}
      </Heading>
      {again === 'goBack' && <p className="lede">{message('problem-sent-text')}</p>}
      {isSent && (
        <PortalForm call={again.call} query={again.query ?? {}}>
          <HiddenFields of={Object.entries(again.fields ?? {})} />
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
        {!isOffered && <LoginLink className="button" />}
        <SupportLine>{isOffered && <LoginLink />}</SupportLine>
      </div>
    </>
  );
}

/** When to try again; a longer wait by the visitor's clock, which only the script knows. */
function useWait(seconds: number | null): string | null {
  const { message, language } = useApp();
  const isScripted = useIsScripted();
  if (!seconds) return null;
  const time = clockTime(language, performance.timeOrigin + seconds * 1000);
  const isLong = isScripted && seconds > 120;
  return message('wait-until', { when: isLong ? message('clock', { time }) : relativeTime(language, seconds) });
}

const longestShownAddress = 200;

export function NotFound() {
  const { message, page, place } = useApp();
  return (
    <>
      <svg className="numeral" width="150" height="64" viewBox="0 0 150 64" strokeWidth="9" aria-hidden="true">
        <path d="M34 64V7L8 43h37M58 64V24a17 17 0 0 1 34 0v40M134 64V7l-26 36h37" />
      </svg>
      <Heading prefix="404: ">{message('not-found-text')}</Heading>
      <div className="stack">
        <Fact label={message('not-found-address')}>{shortened(page.rules.origin + place.address)}</Fact>
        <LoginLink className="button" />
        <SupportLine />
      </div>
    </>
  );
}

const shortened = (address: string) =>
  address.length > longestShownAddress ? `${address.slice(0, longestShownAddress)}…` : address;

/** A page of the hub that is only for other customers (docs/hub.md). */
export function NotForYou({ username, comesBackTo }: ScreenOf<'notForYou'>) {
  const { message } = useApp();
  return (
    <>
      <Heading icon="bang" kind="bad">
        {message('not-for-you-text', { account: username })}
      </Heading>
      <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
        <SubmitButton>{message('not-for-you-button')}</SubmitButton>
        <SupportLine />
      </PortalForm>
    </>
  );
}
