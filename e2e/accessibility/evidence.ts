/** A test by its file and a part of its title or of one of its steps; `everyScreen`: it covers each screen. */
type NamedTest = { file: string; title: string };

/** What a person looked at, because no test can judge it. */
export type Reading = { what: string; how: string; by: string; when: string };

const each = 'e2e/every-screen.spec.ts';
const states = 'e2e/accessibility.spec.ts';

export const tests = {
  axe: { file: each, title: 'axe finds nothing' },
  tree: { file: each, title: 'names, headings, landmarks and errors are in the accessibility tree' },
  contrast: { file: each, title: 'texts, icons and edges stand out' },
  forced: { file: each, title: 'forced colours keep edges, icons and focus' },
  cut: { file: each, title: 'nothing is cut or covered on a narrow phone, with wide spacing, or with large text' },
  keyboard: { file: each, title: 'the keyboard reaches everything in reading order, seen, and gets out' },
  targets: { file: each, title: 'links, buttons and fields are easy to hit' },
  found: { file: 'e2e/faults-are-found.spec.ts', title: 'a fault of each kind is found' },
  zoom: { file: 'e2e/screens.spec.ts', title: 'says what it is in the requested language' },
  states: { file: states, title: 'on a form with errors' },
  codeStates: { file: states, title: 'on a wrong code, a code being checked, and a failed check' },
  veil: { file: states, title: 'while the veil is up' },
  byKeys: { file: states, title: 'signing in and out with only the keyboard' },
  appByKeys: { file: states, title: 'registering an app and signing in with it with only the keyboard' },
  resetByKeys: { file: 'e2e/change-form.spec.ts', title: 'keyboard only: from the sign-in form through the email' },
  colours: { file: 'web/brand-colours.test.ts', title: 'BR-01 the pages and emails of any brand are legible' },
  pointer: { file: 'web/input-rules.test.ts', title: 'nothing happens on the press of a pointer' },
  keys: { file: 'web/input-rules.test.ts', title: 'no key alone does anything but Escape' },
  motion: { file: 'web/input-rules.test.ts', title: 'nothing plays, blinks or scrolls by itself' },
  orientation: { file: 'web/input-rules.test.ts', title: 'no style depends on the orientation' },
  paste: { file: 'web/input-rules.test.ts', title: 'nothing keeps anybody from pasting' },
  pasteCode: { file: 'web/parts/code-box-moves.test.ts', title: 'six pasted digits complete the code' },
  pastePassword: { file: 'e2e/change-form.spec.ts', title: 'a password may be pasted' },
  managers: { file: 'e2e/sign-in.spec.ts', title: 'fields are labelled for password managers' },
  newPasswordManagers: { file: 'e2e/change-form.spec.ts', title: 'a password manager finds the account' },
  reduced: { file: 'e2e/leaving.spec.ts', title: 'with reduced motion there is no fade and no wait' },
  focusMoves: { file: 'e2e/screens.spec.ts', title: 'on a screen change the focus goes to the first field' },
  focusFails: { file: 'e2e/screens.spec.ts', title: 'after a wrong password the focus is in the password' },
  languageInPlace: { file: 'e2e/languages.spec.ts', title: 'the menu changes the language in place' },
  languageNames: { file: 'e2e/languages.spec.ts', title: 'each language in the menu has its own name' },
  errorsLate: { file: 'e2e/change-form.spec.ts', title: 'no error is shown before both fields were touched' },
  rules: { file: 'e2e/change-form.spec.ts', title: 'the rules are ticked off while typing' },
  kept: { file: 'e2e/screens.spec.ts', title: 'the name typed on one form is there on the next' },
  escape: { file: 'e2e/leaving.spec.ts', title: 'a sign-in that hangs can be cancelled with Escape' },
  expiredLink: { file: 'e2e/forgotten.spec.ts', title: 'an expired link says so at once, and offers a new one' },
  newCode: { file: 'e2e/two-factor-email.spec.ts', title: 'a new code is sent after a wait' },
  lateCode: { file: 'e2e/two-factor-app.spec.ts', title: 'a code that comes too late leads to the sign-in form' },
  tooOld: { file: 'e2e/two-factor-app.spec.ts', title: 'a sign-in too old to set up an app says so' },
  question: { file: 'server/single-sign-on/other-account.test.ts', title: 'the question ends with a sign-in' },
  idle: { file: 'server/session/session-ends.test.ts', title: 'an unused session ends after the idle time' },
  absolute: { file: 'server/session/session-ends.test.ts', title: 'however much it is used, it ends' },
  waits: { file: 'e2e/forgotten.spec.ts', title: 'the form says when to try again' },
  oneTitle: { file: 'e2e/screens.spec.ts', title: 'a screen change moves title and address' },
  expiredInvitation: {
    file: 'server/password/invite-users.test.ts',
    title: 'that is over, or was used, says what to do',
  },
  proofAgain: {
    file: 'server/account/account-forms.test.ts',
    title: 'is asked for in place once the sign-in is ten minutes old',
  },
} satisfies Record<string, NamedTest>;

export type TestKey = keyof typeof tests;

const maintainer = 'a maintainer';
const when = '2026-11-23';

export const readings = {
  pictures: {
    what: 'pictures of every screen, by day or by night, with colours forced and with more contrast; of two thirds of them with text spacing, of one third with 200 % text, at 320 px; of states with errors, filled fields and the focus',
    how: 'Chromium 156, contact sheets in English',
    by: maintainer,
    when,
  },
  words: {
    what: 'every English text in messages/en.json and where it stands: headings, labels, link texts, errors, hints, names of pictures',
    how: 'the file, and the screens in Chromium 156',
    by: maintainer,
    when,
  },
  source: {
    what: 'every component in web/parts and web/screens, for the order of the document, what reacts to the pointer, the keyboard and changes of a field, and what is announced',
    how: 'the source',
    by: maintainer,
    when,
  },
} satisfies Record<string, Reading>;

export type ReadingKey = keyof typeof readings;
