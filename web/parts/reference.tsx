import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { Fact } from './fact.tsx';

/** What a visitor reads out to support, who finds the refusal by it (decisions §13). */
export function Reference() {
  const message = useMessage();
  const { reference } = useVisit().page;
  return reference && <Fact label={message('reference')}>{reference}</Fact>;
}
