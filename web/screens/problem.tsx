import { Fragment, type MouseEvent } from 'react';
import type { PageScreen } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp, useMessage } from '../app-context.ts';
import { Heading } from '../components/heading.tsx';
import { isPlainClick } from '../components/links.tsx';
import { PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { Fact, Reference } from '../components/reference.tsx';
import { AccountLink, LoginLink, SupportLink } from '../components/screen-links.tsx';
import { Seal } from '../components/seal.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';
import { relativeTime } from '../messages.ts';

type Props = Extract<PageScreen, { name: 'problem' }>;

/** A refusal by the server, with a next step. */
export function Problem({ status, retryAfterSeconds, hasForm, again, proxy }: Props) {
  const message = useMessage();
  const { language, typedUsername, leave } = useApp();
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
        {proxy ? message('problem-proxy-text', { proxy }) : message(`problem-${status}-text`)}
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

const longestShownAddress = 200;

export function NotFound({ hasAccount }: Extract<PageScreen, { name: 'notFound' }>) {
  const message = useMessage();
  const { page, place } = useApp();
  return (
    <>
      <svg
        className="numeral"
        width="140"
        height="60"
        viewBox="0 0 140 60"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.5"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <path d="M32 60V2L2 42h40M53 60V19a17 17 0 0 1 34 0v41M128 60V2L98 42h40" />
      </svg>
      <Heading prefix="404: " />
      <p className="lede">{message('not-found-text')}</p>
      <div className="stack">
        <Fact label={message('not-found-address')}>
          {partsOfAddress(page.rules.origin + place.address).map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity but their order
            <Fragment key={index}>
              {index > 0 && <wbr />}
              {part}
            </Fragment>
          ))}
        </Fact>
        <LoginLink className="button" />
        <p className="links">
          <SupportLink />
          {hasAccount && <AccountLink />}
        </p>
      </div>
    </>
  );
}

/** The address, truncated, split where a line may break. */
function partsOfAddress(address: string): string[] {
  const shown = address.length > longestShownAddress ? `${address.slice(0, longestShownAddress)}…` : address;
  return shown.split(/(?<=[/?&])(?=[^/?&])/);
}

type NotForYouProps = Extract<PageScreen, { name: 'notForYou' }>;

/** A page of the hub that is only for other customers (docs/hub.md). */
export function NotForYou({ username, comesBackTo }: NotForYouProps) {
  const message = useMessage();
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message('not-for-you-text', { account: username })}</p>
      <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
        <SubmitButton>{message('not-for-you-button')}</SubmitButton>
        <p className="links">
          <SupportLink />
        </p>
        <Reference />
      </PortalForm>
    </>
  );
}
