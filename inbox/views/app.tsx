// The page: who is logged in, what is shown (by the address after `#`), the language, and what there is to say.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Scheme } from '../form/colors.ts';
import type { Inbox } from '../inbox.ts';
import type { Snapshot } from '../snapshot.ts';
import { canNotify, enablePush, type PushState } from '../service/push.ts';
import { directionOf, isLanguage, type Language, LANGUAGE_NAMES, sayIn } from '../texts/index.ts';
import { type FormServices, type Ui, UiContext, useUi } from './context.ts';
import { linkToTab, ListView } from './list-view.tsx';
import { LoginView } from './login-view.tsx';
import { MessageView } from './message-view.tsx';

interface Place {
  readonly messageId: string;
  readonly tab: string;
}

function placeIn(hash: string): Place {
  const [, kind, rest = ''] = /^#\/(message|tab)\/(.+)$/.exec(hash) ?? [];
  let name = '';
  try {
    name = decodeURIComponent(rest);
  } catch {
    // No address of ours: the list is shown.
  }
  return { messageId: kind === 'message' ? name : '', tab: kind === 'tab' ? name : '' };
}

export function usePlaceInPage(): Place {
  const [place, setPlace] = useState(() => placeIn(location.hash));
  useEffect(() => {
    const changed = (): void => setPlace(placeIn(location.hash));
    addEventListener('hashchange', changed);
    changed(); // a link may have been followed since the page was drawn
    return () => removeEventListener('hashchange', changed);
  }, []);
  return place;
}

export function useScheme(): Scheme {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), []);
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const changed = (): void => setDark(query.matches);
    query.addEventListener('change', changed);
    changed();
    return () => query.removeEventListener('change', changed);
  }, []);
  return isDark ? 'dark' : 'light';
}

function useSnapshot(inbox: Inbox): Snapshot {
  const [snapshot, setSnapshot] = useState(inbox.snapshot);
  useEffect(() => {
    setSnapshot(inbox.snapshot);
    return inbox.onChange(() => setSnapshot(inbox.snapshot));
  }, [inbox]);
  return snapshot;
}

/** Goes from a message that is done with to the list. It takes the message's place in the history, where it would lead here once more. */
const toList = (): void => location.replace('#/');

export function App({ inbox, first }: { inbox: Inbox; first: Language }) {
  const snapshot = useSnapshot(inbox);
  const scheme = useScheme();
  const [language, setLanguage] = useState(first);
  const say = useMemo(() => sayIn(language), [language]);
  const { person } = inbox;
  const services: FormServices = useMemo(
    () => ({
      keepMedium: (name, blob) => inbox.keepMedium(person, name, blob),
      medium: async (name) => (await inbox.medium(name))?.blob ?? null,
      documentBytes: (name) => inbox.documentBytes(name),
      openDashboard: (tab) => {
        location.hash = linkToTab(tab);
      },
    }),
    [inbox, person],
  );
  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = directionOf(language);
    document.title = say('inbox');
  }, [language]);
  const choose = (name: string): void => {
    if (!isLanguage(name)) return;
    setLanguage(name);
    void inbox.keepSetting('language', name);
  };
  const ui: Ui = { say, language, scheme, services };
  const { session, isExpired, notice, live } = snapshot;
  return (
    <UiContext.Provider value={ui}>
      <a class="skip" href="#content" onClick={skip}>
        {say('skip')}
      </a>
      <header class="top">
        <label class="language">
          <span class="hidden">{say('language')}</span>
          <select value={language} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {Object.entries(LANGUAGE_NAMES).map(([tag, name]) => (
              <option key={tag} value={tag} lang={tag}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {session && <Person inbox={inbox} snapshot={snapshot} />}
      </header>
      <div class="notices" role="status" aria-live="polite">
        {!inbox.databases.isKept && <p class="notice">{say('notKept')}</p>}
        {session && live === 'connecting' && <p class="notice quiet">{say(navigator.onLine ? 'connecting' : 'offline')}</p>}
        {notice && (
          <p class="notice">
            <span>{say(notice.text, ...notice.params)}</span>
            <button type="button" class="quiet-button" aria-label={say('clear')} onClick={() => inbox.hush()}>
              ×
            </button>
          </p>
        )}
      </div>
      <main id="content" tabIndex={-1}>
        {session && !isExpired ? (
          <Content inbox={inbox} snapshot={snapshot} />
        ) : (
          <LoginView inbox={inbox} username={session?.username ?? ''} />
        )}
      </main>
    </UiContext.Provider>
  );
}

/** The address after `#` is the page's own: the link moves the focus only. */
const skip = (event: Event): void => {
  event.preventDefault();
  document.getElementById('content')?.focus();
};

function Content({ inbox, snapshot }: { inbox: Inbox; snapshot: Snapshot }) {
  const { messageId, tab } = usePlaceInPage();
  const message = snapshot.kept.messages.find((one) => one.messageId === messageId);
  const isGone = messageId !== '' && !message && snapshot.isFresh;
  useEffect(() => {
    if (isGone) toList();
  }, [isGone]);
  if (!message) return <ListView snapshot={snapshot} tab={tab} />;
  // A message that was replaced is another form, and so is that of another person, who has logged in in another tab.
  return (
    <MessageView
      key={`${inbox.person} ${messageId} ${message.createdAt}`}
      inbox={inbox}
      message={message}
      snapshot={snapshot}
      onClose={toList}
    />
  );
}

function Person({ inbox, snapshot }: { inbox: Inbox; snapshot: Snapshot }) {
  const { say } = useUi();
  const [push, setPush] = useState<PushState>('unknown');
  useEffect(() => {
    void canNotify(inbox).then(setPush);
  }, [snapshot.session?.username]);
  const logOut = async (): Promise<void> => {
    if (snapshot.kept.answers.size === 0 || confirm(say('logOutUnsent'))) await inbox.logOut();
  };
  const enable = (): void => {
    const failed = (error: unknown): void => inbox.say('notifyFailed', error instanceof Error ? error.message : String(error));
    enablePush(inbox).then(setPush, failed);
  };
  const { messageId } = usePlaceInPage();
  const isInList = messageId === '';
  return (
    <>
      <div class="person">
        <span dir="auto">{snapshot.session?.shownName}</span>
        <button type="button" class="quiet-button" onClick={() => void logOut()}>
          {say('logOut')}
        </button>
      </div>
      {isInList && push === 'possible' && (
        <button type="button" class="quiet-button below" onClick={enable}>
          {say('notify')}
        </button>
      )}
      {isInList && push === 'denied' && <span class="quiet below">{say('notifyDenied')}</span>}
    </>
  );
}
