// The browser's own reader of barcodes, where it has one.

interface Detector {
  detect(source: CanvasImageSource): Promise<readonly { readonly rawValue: string }[]>;
}
type DetectorClass = new () => Detector;

const EVERY_MS = 200;

const detectorClass = (): DetectorClass | undefined => (globalThis as { BarcodeDetector?: DetectorClass }).BarcodeDetector;

export const canScan = (): boolean => detectorClass() !== undefined;

/** Looks at the picture again and again until a code is found. @returns ends the search */
export function scan(video: HTMLVideoElement, onFound: (code: string) => void): () => void {
  const Class = detectorClass();
  if (!Class) return () => undefined;
  const detector = new Class();
  let isOver = false;
  const look = async (): Promise<void> => {
    // A picture in which nothing can be looked for is followed by one in which it can.
    const [code] = video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA ? await detector.detect(video).catch(() => []) : [];
    if (isOver) return;
    if (!code || code.rawValue === '') return void setTimeout(() => void look(), EVERY_MS);
    isOver = true;
    onFound(code.rawValue);
  };
  void look();
  return () => {
    isOver = true;
  };
}
