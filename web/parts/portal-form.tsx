import {
  createContext,
  type ReactNode,
  type SubmitEvent,
  use,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { PageCall } from '#contract/page-calls.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { useVisit } from '../visit.ts';

const ReadyContext = createContext(true);

/** Whether the enclosing form may be sent. */
export const useIsReady = () => use(ReadyContext);

type Props = {
  call: PageCall;
  /** Query parameters for the address of the call. */
  query?: Record<string, string | undefined>;
  /** Shown while the form is being sent. */
  word?: MessageKey;
  autoComplete?: 'off';
  /** Whether it may be sent; only asked once the script runs, until then the server decides. */
  isReady?: (form: HTMLFormElement) => boolean;
  /** Sends it by script; without JavaScript the browser posts the form. */
  onSend?: (form: HTMLFormElement) => void;
  children: ReactNode;
};

/** A form that posts to one of the calls, works without JavaScript, and is sent once however often it is submitted. */
export function PortalForm({
  call,
  query,
  word = 'please-wait',
  autoComplete,
  isReady = always,
  onSend,
  children,
}: Props) {
  const { leave, forgetWebbundle } = useVisit();
  // The veil shows it once the form is sent, so the document must carry it.
  useMessage(word);
  const { toCall } = usePortalUrls();
  const form = useRef<HTMLFormElement>(null);
  const [ready, setReady] = useState(true);

  function look() {
    if (form.current) setReady(isReady(form.current));
  }

  // After every render: the browser may have filled in a field, or a child may have changed one.
  useLayoutEffect(look);

  // Some password managers fill in fields at any time, without events.
  useEffect(() => {
    const timer = setInterval(look, 500);
    return () => clearInterval(timer);
  });

  function onSubmit(event: SubmitEvent<HTMLFormElement>) {
    const isFirst = leave(word);
    if (!isFirst || onSend) event.preventDefault();
    if (isFirst && signInCalls.includes(call)) forgetWebbundle();
    if (isFirst) onSend?.(event.currentTarget);
  }

  return (
    <form
      ref={form}
      autoComplete={autoComplete}
      method="post"
      action={toCall(call, query)}
      onSubmit={onSubmit}
      onInput={look}
      onChange={look}
      onAnimationStart={look}
    >
      <ReadyContext value={ready}>{children}</ReadyContext>
    </form>
  );
}

const always = () => true;

/** Their answers carry on where the sign-in was to lead. */
const signInCalls: readonly PageCall[] = ['performLogin', 'checkSsoLogin', 'performSsoLogin', 'passkeySignIn'];
