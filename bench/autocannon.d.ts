// What the benchmarks use of autocannon, which ships no types.
declare module 'autocannon' {
  export interface Options {
    url: string;
    connections: number;
    duration: number;
    method: string;
    headers: Record<string, string>;
    body: string;
  }
  export interface Result {
    '2xx': number;
    non2xx: number;
    errors: number;
    latency: { p50: number; p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
