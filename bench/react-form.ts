import { createElement, useState } from 'react';
import { hydrateRoot } from 'react-dom/client';

/** The floor for a page with React: the smallest form that is rendered beforehand and hydrated. */
export function ReactForm() {
  const [isFilled, setFilled] = useState(false);
  const field = (name: string, type: string) =>
    createElement(
      'label',
      null,
      name,
      createElement('input', { name, type, required: true, onInput: () => setFilled(true) }),
    );
  return createElement(
    'form',
    { method: 'post' },
    field('username', 'text'),
    field('password', 'password'),
    createElement('button', { type: 'submit', disabled: !isFilled }, 'Sign in'),
  );
}

// Also imported on the server, which renders it.
if (typeof document !== 'undefined')
  hydrateRoot(document.getElementById('form') as HTMLElement, createElement(ReactForm));
