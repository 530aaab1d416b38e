/** Counts something, by its labels. */
export type Counter<Label extends string> = { inc: (labels: Partial<Record<Label, string>>) => void };

/** The metrics for the operator's monitoring, in the Prometheus text format. */
export type Metrics = {
  text: () => Promise<string>;
  contentType: string;
  mailsSent: Counter<'kind'>;
  mailsRefused: Counter<'kind'>;
  mailsGivenUp: Counter<'kind'>;
  /** By connection: started, signed in, or refused with its reason. */
  singleSignOn: Counter<'connection' | 'outcome'>;
};
