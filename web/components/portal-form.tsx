import { createContext, type ReactNode, type SubmitEvent, use, useLayoutEffect, useRef, useState } from 'react';
import type { Call } from '#contract/calls.ts';
import { redirectValue } from '#contract/destination.ts';
import { useApp } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';

const ReadyContext = createContext(true);

/** Whether the enclosing form may be sent. */
export const useIsReady = () => use(ReadyContext);

type Props = {
  id?: string;
  call: Call;
  query?: Record<string, string | undefined>;
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
  isReady = () => true,
  onSend,
  children,
  ...more
}: Props) {
  const { leave, forgetWebbundle, toCall } = useApp();
  const form = useRef<HTMLFormElement>(null);
  const [ready, setReady] = useState(true);

  function look() {
    if (form.current) setReady(isReady(form.current));
  }

  // After every render: the browser may have filled in a field, or a child may have changed one.
  useLayoutEffect(look);

  function onSubmit(event: SubmitEvent<HTMLFormElement>) {
    const isFirst = leave(word);
    if (!isFirst || onSend) event.preventDefault();
    if (isFirst && signInCalls.includes(call)) forgetWebbundle();
    if (isFirst) onSend?.(event.currentTarget);
  }

  return (
    <form
      ref={form}
      {...more}
      method="post"
      action={toCall(call, query)}
      onSubmit={onSubmit}
      onInput={look}
      onChange={look}
      onAnimationStart={look}
      // Some password managers fill in fields without events: asked again before a press of the button.
      onPointerMove={look}
      onKeyDown={look}
    >
      <ReadyContext value={ready}>{children}</ReadyContext>
    </form>
  );
}

/** Their answers carry on where the sign-in was to lead. */
const signInCalls: readonly Call[] = ['performLogin', 'performSsoLogin', 'passkeySignIn'];

export function SubmitButton({ isQuiet = false, children }: { isQuiet?: boolean; children: ReactNode }) {
  const isReady = useIsReady();
  return (
    <button className={isQuiet ? 'button quiet' : 'button'} type="submit" disabled={!isReady}>
      {children}
    </button>
  );
}

export function HiddenFields({ of }: { of: readonly [name: string, value: string | undefined][] }) {
  return of.map(([name, value]) => <input key={name + value} type="hidden" name={name} value={value} />);
}

/** The destination after sign-in. `from`: the parameter of the address that has it. */
export function useRedirectValue(from: 'destination' | 'redirectUrl' = 'destination'): string {
  const { saved, page, asked } = useApp();
  return redirectValue(saved, asked(from), page.rules);
}

/** The same, sent along. */
export function RedirectField({ from }: { from?: 'destination' | 'redirectUrl' }) {
  return <input type="hidden" name="redirectURL" value={useRedirectValue(from)} />;
}

/**
 * Whether a field has a value. Browsers hide autofilled values until the visitor's first gesture. Uses the state's old
 * name: Chromium before 110 knows only that one, and every other browser supports it too.
 */
export function isFilled(form: HTMLFormElement, name: string): boolean {
  const input = form.elements.namedItem(name);
  return input instanceof HTMLInputElement && (input.value !== '' || input.matches(':-webkit-autofill'));
}

export function fieldValue(form: HTMLFormElement, name: string): string {
  const input = form.elements.namedItem(name);
  return input instanceof HTMLInputElement ? input.value : '';
}
