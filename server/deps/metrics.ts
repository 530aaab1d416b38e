/** Counts something, by its labels, which have few values, never a person's. */
export type Counter<Label extends string> = { inc: (labels: Record<Label, string>) => void };

/** The metrics for the operator's monitoring, in the Prometheus text format. */
export type Metrics = {
  text: () => Promise<string>;
  contentType: string;
  requests: { observe: (labels: Record<'route' | 'status', string>, seconds: number) => void };
  /** By the last proof, and what came of it. */
  signIns: Counter<'way' | 'outcome'>;
  mailsGivenUp: Counter<'kind'>;
  /** By connection: started, signed in, or refused with its reason. */
  singleSignOn: Counter<'connection' | 'outcome'>;
};
