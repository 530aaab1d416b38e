import { textsOf } from '../texts.ts';
import { isHere } from './engines.ts';
import { test } from './test.ts';

// Firefox fills a username that it saved at the sign-in form into the field for an email, too
// (../password-managers.spec.ts has what Chromium does).

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');

for (const [address, heading, button] of [
  ['/portal/forgotten', texts['forgotten-title'], texts['forgotten-button']],
  ['/portal/singleSignOn', texts['sso-title'], texts['sso-button']],
] as const) {
  const fill = (name: string) => {
    const field = document.querySelector('#email') as HTMLInputElement;
    field.value = name;
    field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertReplacementText' }));
  };

  test(`${address}: a saved name that is no email is reported, and an email enables the button`, {
    tag: '@other-engine',
  }, async ({ visitor }) => {
    await visitor.open(address);
    await visitor.sees(heading);
    await visitor.isScripted();
    await visitor.expectDisabled(button);
    await visitor.inPage(fill, 'ada');
    await visitor.seesText(texts['email-invalid']);
    await visitor.inPage(fill, 'ada@acme.test');
    await visitor.press('button', button);
  });
}
