import type { Notice } from '#contract/notices.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import type { happenedSince } from '#contract/turn-of-form.ts';
import type { Config } from '../config/config.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { foldsOfUser } from '../storage/names-of-user.ts';
import { personOf, type Who } from '../visitor/who.ts';
import { destinationToKeep } from './destination-to-keep.ts';

/**
 * Whether a sign-in's form belongs to an earlier person: one whose post failed waits in the tab's history with what proves who
 * they are, also for the next person. Ask before anything in it is looked at. `username`: as typed, if it has a name.
 */
export function isOfEarlierTurn(
  since: ReturnType<typeof happenedSince>,
  who: Who,
  username: string | undefined,
): boolean {
  if (since !== 'signIn') return since === 'signOut';
  const person = personOf(who);
  return person === null || (username !== undefined && !foldsOfUser(person).includes(foldLoginName(username)));
}

/** The address of a new form, without the name, which may be an earlier person's. `accepted`: the destination, if any. */
export function formWithNotice(
  { basePath }: Config,
  notice: Notice,
  accepted: string | null,
  lang: string | undefined,
): string {
  return screenUrl(basePath, 'login', {
    [queryNames.notice]: notice,
    [queryNames.destination]: accepted ? destinationToKeep(basePath, accepted) : undefined,
    lang,
  });
}
