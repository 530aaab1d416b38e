// The floor for a page with React: the smallest form that is rendered beforehand and hydrated.
import { createElement, useState } from 'react';

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
