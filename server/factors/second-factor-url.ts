import { queryNames, screenUrl } from '#contract/screens.ts';
import type { SecondFactor } from '../people/second-factor.ts';

/** The address of a half session's screen (decisions §6), with its parameters. */
export function secondFactorUrl(
  basePath: string,
  { factor, mustRegister }: { factor: SecondFactor; mustRegister: boolean },
  {
    destination,
    lang,
    ...more
  }: { destination: string | undefined; lang: string | undefined; [name: string]: string | undefined },
): string {
  return screenUrl(basePath, mustRegister ? 'twoFactorRegistration' : 'twoFactor', {
    [queryNames.redirectUrl]: destination,
    [queryNames.codeSentViaEmail]: factor === 'email' ? 'true' : undefined,
    ...more,
    lang,
  });
}
