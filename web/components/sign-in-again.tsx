import type { ReactNode } from 'react';
import { useApp } from '../app-context.ts';
import { Heading } from './heading.tsx';
import { Alert } from './notice.tsx';
import { SupportLine } from './reference.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Not without the form: a password manager would take the page for a success and offer to save the password. */
export function SignInAgain({ children }: { children: ReactNode }) {
  const { typedUsername } = useApp();
  return (
    <>
      <Heading />
      <Alert kind="bad" id="why">
        {children}
      </Alert>
      <SignInForm username={typedUsername.current} why="why" />
      <SupportLine />
    </>
  );
}
