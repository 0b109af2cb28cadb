// The dialogs in which something is recorded: a photo, sound, a video, a drawing on a picture, a barcode. Loaded when the first is wanted.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { widthOf } from '../fields/shown.tsx';
import { type Field, numberOf, textOf } from '../form/types.ts';
import { useUi } from '../views/context.ts';
import { canScan, scan } from './barcodes.ts';
import { CAMERA, openMedia, type Opened, toJpeg } from './camera.ts';
import { Markup } from './markup.tsx';
import { record, type Recording } from './recorder.ts';

interface CaptureProps {
  readonly field: Field;
  readonly onDone: (blob: Blob) => Promise<void>;
  readonly onClose: () => void;
}

const KIB = 1_024;

export function CaptureDialog({ field, onDone, onClose }: CaptureProps) {
  const { say } = useUi();
  const [photo, setPhoto] = useState<Blob | null>(null);
  const [isBroken, setBroken] = useState(false);
  const keeping = useFault();
  const isMarkup = field.type === 'markupImage';
  const source = textOf(field.source, 'source', 'camera');
  if (field.type === 'audio' || field.type === 'video')
    return (
      <Dialog field={field} onClose={onClose}>
        <Recorder field={field} onDone={onDone} />
      </Dialog>
    );
  if (isMarkup && (photo || (source !== 'camera' && !isBroken)))
    return (
      <Dialog field={field} onClose={onClose}>
        {keeping.fault !== '' && <p role="alert">{say('notRecorded', keeping.fault)}</p>}
        <Markup
          picture={photo ?? source}
          onDone={(blob) => keeping.attempt(async () => onDone(await blob))}
          onBroken={() => {
            setPhoto(null);
            setBroken(true);
          }}
        />
      </Dialog>
    );
  // Where the picture cannot be loaded, a photo does: else a field that is required could not be filled.
  return (
    <Dialog field={field} onClose={onClose}>
      {isBroken && <p role="alert">{say('noImage')}</p>}
      <Photo field={field} onDone={async (blob) => (isMarkup ? setPhoto(blob) : onDone(blob))} />
    </Dialog>
  );
}

/** A modal dialog: the browser keeps the focus inside, and Escape closes it. */
function Dialog({ field, onClose, children }: { field?: Field; onClose: () => void; children: ComponentChildren }) {
  const { say } = useUi();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  const name = field ? textOf(field.source, 'label') || textOf(field.source, 'placeholder') || field.id : say('scanBarcode');
  return (
    <dialog ref={dialog} class="capture" aria-label={name} onClose={onClose}>
      <div class="sheet">
        {children}
        <button type="button" class="quiet-button" onClick={() => dialog.current?.close()}>
          {say('cancel')}
        </button>
      </div>
    </dialog>
  );
}

/** What goes wrong when something is recorded, or is to be kept (a browser's room may be full), is said in the dialog. */
function useFault(): { fault: string; attempt(work: () => Promise<void>): Promise<void> } {
  const [fault, setFault] = useState('');
  return {
    fault,
    async attempt(work) {
      setFault('');
      try {
        await work();
      } catch (error) {
        setFault(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

/** The stream of the camera or microphone while the dialog is there. */
function useMedia(constraints: MediaStreamConstraints | null): { stream: MediaStream | null; fault: string } {
  const [state, setState] = useState<{ stream: MediaStream | null; fault: string }>({ stream: null, fault: '' });
  useEffect(() => {
    if (!constraints) return;
    let opened: Opened | null = null;
    let isOver = false;
    openMedia(constraints).then(
      (media) => {
        if (isOver) return media.close();
        opened = media;
        setState({ stream: media.stream, fault: '' });
      },
      (error: unknown) => setState({ stream: null, fault: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isOver = true;
      opened?.close();
    };
  }, []);
  return state;
}

function LiveVideo({ stream, onVideo }: { stream: MediaStream; onVideo: (video: HTMLVideoElement) => (() => void) | void }) {
  const video = useRef<HTMLVideoElement>(null);
  // Before the page is painted: a tap on the button beside it may come at once.
  useLayoutEffect(() => {
    const element = video.current;
    if (!element) return;
    element.srcObject = stream;
    void element.play().catch(() => undefined); // not yet allowed to play: the person has not touched the page
    return onVideo(element) ?? undefined;
  }, [stream]);
  return <video ref={video} class="live" muted playsInline />;
}

/** Before it a camera shows nothing. */
function firstFrame(video: HTMLVideoElement): Promise<void> {
  if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) return Promise.resolve();
  return new Promise((resolve) => video.addEventListener('loadeddata', () => resolve(), { once: true }));
}

function Photo({ field, onDone }: { field: Field; onDone: (blob: Blob) => Promise<void> }) {
  const { say } = useUi();
  const { stream, fault } = useMedia(CAMERA);
  const keeping = useFault();
  const video = useRef<HTMLVideoElement | null>(null);
  const [isBroken, setBroken] = useState(false);
  const take = async (): Promise<void> => {
    const from = video.current;
    if (!from) return;
    await keeping.attempt(async () => {
      await firstFrame(from);
      await onDone(await toJpeg(from, from.videoWidth, from.videoHeight, widthOf(field)));
    });
  };
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const picture = await createImageBitmap(file).catch(() => null);
    setBroken(picture === null); // what was chosen is no picture
    if (!picture) return;
    await keeping.attempt(async () => onDone(await toJpeg(picture, picture.width, picture.height, widthOf(field))));
    picture.close();
  };
  return (
    <>
      {stream && (
        <LiveVideo
          stream={stream}
          onVideo={(element) => {
            video.current = element;
          }}
        />
      )}
      {fault !== '' && <p role="alert">{say('noCamera', fault)}</p>}
      {isBroken && <p role="alert">{say('noImage')}</p>}
      {keeping.fault !== '' && <p role="alert">{say('notRecorded', keeping.fault)}</p>}
      {stream && (
        <button type="button" class="button primary" onClick={() => void take()}>
          {say('takePhoto')}
        </button>
      )}
      <FileButton accept="image/*" capture="environment" onFile={(file) => void choose(file)} />
    </>
  );
}

/** What a phone offers by itself: its own camera, its recorder, its files. */
function FileButton({
  accept,
  capture,
  onFile,
}: {
  accept: string;
  capture: 'environment' | 'user';
  onFile: (file: File | undefined) => void;
}) {
  const { say } = useUi();
  return (
    <label class="button">
      {say('chooseFile')}
      <input
        class="hidden"
        type="file"
        accept={accept}
        capture={capture}
        onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])}
      />
    </label>
  );
}

const SOUND: MediaStreamConstraints = { audio: true };
const PICTURE: MediaStreamConstraints = { audio: true, video: { facingMode: 'environment' } };

function Recorder({ field, onDone }: { field: Field; onDone: (blob: Blob) => Promise<void> }) {
  const { say } = useUi();
  const kind = field.type === 'video' ? 'video' : 'audio';
  const maxSeconds = Math.max(1, numberOf(field.source, 'maxDurationSeconds', 10));
  const maxKib = Math.max(1, numberOf(field.source, 'maxSizeK', kind === 'audio' ? 100 : 1_000));
  const { stream, fault } = useMedia(kind === 'audio' ? SOUND : PICTURE);
  const keeping = useFault();
  const [recording, setRecording] = useState<Recording | null>(null);
  const [seconds, setSeconds] = useState(0);
  const [isTooLarge, setTooLarge] = useState(false);
  const latest = useRef<Recording | null>(null);
  const wanted = useRef(true);
  useEffect(
    () => () => {
      wanted.current = false;
      latest.current?.stop();
    },
    [],
  );
  useEffect(() => {
    if (!recording) return;
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, [recording]);
  const take = async (blob: Blob): Promise<void> => {
    if (!wanted.current || blob.size === 0) return; // the dialog was closed meanwhile, or nothing was recorded before the end
    if (blob.size > maxKib * KIB) return setTooLarge(true);
    await onDone(blob);
  };
  const begin = async (from: MediaStream): Promise<void> => {
    const begun = record(kind, from, { maxSeconds, maxBytes: maxKib * KIB });
    latest.current = begun;
    setTooLarge(false);
    setSeconds(0);
    setRecording(begun);
    try {
      await take(await begun.done);
    } finally {
      setRecording(null);
    }
  };
  return (
    <>
      {stream && kind === 'video' && <LiveVideo stream={stream} onVideo={() => undefined} />}
      {fault !== '' && <p role="alert">{say(kind === 'video' ? 'noCamera' : 'noMicrophone', fault)}</p>}
      {keeping.fault !== '' && <p role="alert">{say('notRecorded', keeping.fault)}</p>}
      {isTooLarge && <p role="alert">{say('tooLarge', maxKib)}</p>}
      {recording ? (
        <>
          <p role="status">{say('recording', seconds, maxSeconds)}</p>
          <button type="button" class="button primary" onClick={() => recording.stop()}>
            {say('stop')}
          </button>
        </>
      ) : (
        stream && (
          <button type="button" class="button primary" onClick={() => void keeping.attempt(() => begin(stream))}>
            {say('record')}
          </button>
        )
      )}
      {!recording && (
        <FileButton accept={`${kind}/*`} capture="environment" onFile={(file) => void (file && keeping.attempt(() => take(file)))} />
      )}
    </>
  );
}

export function ScanDialog({ onDone, onClose }: { onDone: (code: string) => void; onClose: () => void }) {
  const { say } = useUi();
  const { stream, fault } = useMedia(canScan() ? CAMERA : null);
  const [typed, setTyped] = useState('');
  return (
    <Dialog onClose={onClose}>
      <p>{say(canScan() ? 'barcodeHint' : 'barcodeTyped')}</p>
      {stream && <LiveVideo stream={stream} onVideo={(video) => scan(video, onDone)} />}
      {fault !== '' && <p role="alert">{say('noCamera', fault)}</p>}
      <div class="row">
        <input
          type="text"
          aria-label={say('scanBarcode')}
          autoComplete="off"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="button" class="button primary" disabled={typed === ''} onClick={() => onDone(typed)}>
          {say('use')}
        </button>
      </div>
    </Dialog>
  );
}
