import { askForOptions, makePasskey } from './make-passkey.ts';

/** On the account page: shows the button that makes a passkey, where one can be made. Elsewhere it finds nothing to do. */
export function startEnrolment(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-old]');
  if (form) offerToEnrol(form);
}

/**
 * Shows a form that makes a passkey, in place of what its page says without (`data-without`), if the browser can make one; and
 * makes it when the form is sent. What the form says of a failure is in its data; it is sent without an answer where that has no
 * words, for the server's. What says for whom it is goes along: the session of an account page, or the hash of a link. A form with
 * the latter says first whose account it is for, if its page does not (`data-account`), and stays hidden if the link makes no
 * passkey. `onSend` is called before it is sent.
 */
export async function offerToEnrol(form: HTMLFormElement, onSend?: () => void): Promise<void> {
  const field = form.querySelector<HTMLInputElement>('input[name="credential"]');
  if (!field || typeof PublicKeyCredential === 'undefined') return;
  const { options = '' } = form.dataset;
  const status = form.querySelector('[aria-live]:not([data-account])');
  const button = form.querySelector('button');
  const whose = form.querySelectorAll<HTMLInputElement>('[name=session], [name=hash]');
  const bodyOfOptions = new URLSearchParams(Array.from(whose, ({ name, value }) => [name, value]));
  const account = form.querySelector<HTMLElement>('[data-account]');
  if (account) {
    const asked = await askForOptions(options, bodyOfOptions).catch(() => null);
    if (!asked || typeof asked === 'number') return;
    account.textContent = (account.dataset.account ?? '').replace('{account}', () => asked.user.name);
  }
  const without = document.querySelectorAll<HTMLElement>('[data-without]');
  for (const part of without) part.hidden = true;
  form.hidden = false;
  if (without.length > 0) button?.focus();
  function pause(words: string): void {
    if (button) button.disabled = false;
    button?.focus();
    if (status) status.textContent = words;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button?.disabled) return;
    if (button) button.disabled = true;
    if (status) status.textContent = '';
    const answer = await makePasskey(options, bodyOfOptions);
    const problem = typeof answer === 'string' ? undefined : form.dataset[answer.problem];
    if (problem !== undefined) return pause(problem);
    field.value = typeof answer === 'string' ? answer : '';
    onSend?.();
    form.submit();
  });
}
