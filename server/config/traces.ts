/** Which traces are sent, by the standard names of OTEL_TRACES_SAMPLER. */
export type Sampling = {
  /** Whether a trace that a trusted proxy began is sent if, and only if, the proxy sends it. */
  isParentBased: boolean;
  /** The share of the others, 0 to 1. */
  share: number;
};

const samplers: Record<string, (share: number) => Sampling> = {
  always_on: () => ({ isParentBased: false, share: 1 }),
  always_off: () => ({ isParentBased: false, share: 0 }),
  traceidratio: (share) => ({ isParentBased: false, share }),
  parentbased_always_on: () => ({ isParentBased: true, share: 1 }),
  parentbased_always_off: () => ({ isParentBased: true, share: 0 }),
  parentbased_traceidratio: (share) => ({ isParentBased: true, share }),
};

/**
 * Which traces are sent, or null for none, from OpenTelemetry's own variables (OpenTelemetry specification, Environment
 * Variable Specification). The exporter reads the collector's address and headers by itself.
 */
export function readTraces(env: NodeJS.ProcessEnv, problems: string[]): Sampling | null {
  const endpointName = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const endpoint = env[endpointName];
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  if (!endpoint || isOff) return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    problems.push(`${endpointName}: must be an address such as http://collector.example.com:4318`);
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf';
  if (protocol !== 'http/protobuf')
    problems.push('OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is supported (port 4318 of most collectors)');
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const sampler = samplers[name];
  if (!sampler) problems.push(`OTEL_TRACES_SAMPLER: must be one of ${Object.keys(samplers).join(', ')}`);
  const share = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  if (!(share >= 0 && share <= 1)) problems.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1');
  return sampler?.(share) ?? null;
}
