// Records sound or pictures with the browser's own recorder, within a time and a size.

export interface Recording {
  /** Ends it; what was recorded is in `done`. */
  stop(): void;
  /** @throws Error what the recorder says */
  readonly done: Promise<Blob>;
}

export interface Bounds {
  readonly maxSeconds: number;
  readonly maxBytes: number;
}

const TYPES = {
  audio: ['audio/mp4', 'audio/webm;codecs=opus', 'audio/webm'],
  video: ['video/mp4', 'video/webm;codecs=vp9,opus', 'video/webm'],
} as const;
const PIECE_MS = 250;
/** Containers take a part of what is allowed. */
const SHARE = 0.85;
const BITS = { audio: { least: 8_000, most: 64_000 }, video: { least: 100_000, most: 2_500_000 } } as const;

export function record(kind: 'audio' | 'video', stream: MediaStream, { maxSeconds, maxBytes }: Bounds): Recording {
  const mimeType = TYPES[kind].find((type) => MediaRecorder.isTypeSupported(type));
  const { least, most } = BITS[kind];
  const bits = Math.round(Math.min(most, Math.max(least, (maxBytes * 8 * SHARE) / maxSeconds)));
  const options = kind === 'audio' ? { audioBitsPerSecond: bits } : { bitsPerSecond: bits };
  const recorder = new MediaRecorder(stream, { ...(mimeType && { mimeType }), ...options });
  const pieces: Blob[] = [];
  let bytes = 0;
  const stop = (): void => {
    if (recorder.state !== 'inactive') recorder.stop();
  };
  const done = new Promise<Blob>((resolve, reject) => {
    recorder.ondataavailable = ({ data }) => {
      pieces.push(data);
      bytes += data.size;
      if (bytes >= maxBytes * SHARE) stop();
    };
    recorder.onstop = () => resolve(new Blob(pieces, { type: recorder.mimeType.split(';', 1)[0] ?? '' }));
    recorder.onerror = () => reject(new Error(kind));
  });
  recorder.start(PIECE_MS);
  const timer = setTimeout(stop, maxSeconds * 1_000);
  return { stop, done: done.finally(() => clearTimeout(timer)) };
}
