import { reasonOfSearch } from '#contract/reasons.ts';
import { useMessage } from '../messages.tsx';
import { type Place, placeOfUrl } from '../place.ts';
import { useVisit } from '../visit.ts';
import { Fact } from './fact.tsx';

/**
 * What a visitor reads out to support, who finds the refusal by it (decisions §13). It belongs to the page that the server
 * sent: another failure page that this one became has none.
 */
export function Reference() {
  const message = useMessage();
  const { page, place } = useVisit();
  const sent = placeOfUrl(page.url, page.rules.basePath);
  if (!page.reference || pageKey(sent) !== pageKey(place)) return null;
  return <Fact label={message('reference')}>{page.reference}</Fact>;
}

function pageKey({ screen, search }: Place): string {
  return JSON.stringify([screen, reasonOfSearch(search)]);
}
