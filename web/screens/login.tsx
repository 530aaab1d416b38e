import { useEffect } from 'react';
import { loginOf } from '../addresses.ts';
import { useApp } from '../app-context.ts';
import { Notice } from '../components/notice.tsx';
import { SignInForm } from '../components/sign-in-form.tsx';
import { TitleHeading } from '../components/title-heading.tsx';

/** Specification §9. */
const focusDelayMilliseconds = 100;

export function Login() {
  const { place, typedUsername } = useApp();
  const username = loginOf(place.search) || typedUsername.current;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the name that was there at first
  useEffect(() => {
    if (!username) return;
    const timer = setTimeout(() => {
      // A visitor who is already in a field stays there: they may be changing the name.
      if (!document.querySelector('form :focus')) document.getElementById('password')?.focus();
    }, focusDelayMilliseconds);
    return () => clearTimeout(timer);
  }, []);

  return (
    <>
      <TitleHeading titleKey="login-title" />
      <Notice />
      <SignInForm username={username} />
    </>
  );
}
