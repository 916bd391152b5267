// What happens, as messages: tabs of one browser share one stream. A tab that shows a growing log has a stream of its own, since a
// stream follows one log. A browser has six connections for a server; a tab that nobody sees holds none, and catches up later.
"use strict";
const symphonyStream = ({ event, run, offset, changed, lines, online }) => {
  let cursor = `${event}-${offset}`;
  let source = null;
  const number = () => Number(cursor.split("-")[0]);
  const shares = !run && navigator.locks && window.BroadcastChannel;
  const channel = shares ? new BroadcastChannel("symphony") : null;
  const tell = (message) => channel?.postMessage(message);

  // ---- the stream itself
  const open = () => {
    const of = run ? `&run=${encodeURIComponent(run)}` : "";
    source = new EventSource(`/events?from=${cursor}${of}`);
    source.addEventListener("lines", (message) => { cursor = message.lastEventId; lines(JSON.parse(message.data)); });
    source.addEventListener("changed", (message) => {
      cursor = message.lastEventId;
      tell({ event: number(), live: true });
      changed();
    });
    source.onopen = () => { online(true); tell({ online: true }); };
    source.onerror = () => {
      online(false);
      tell({ online: false });
      // the browser comes back by itself unless the answer was an error
      if (source?.readyState === EventSource.CLOSED) {
        const ended = source;
        setTimeout(() => { if (source === ended) open(); }, 2000);
      }
    };
  };
  const close = () => { source?.close(); source = null; };

  // ---- who leads holds the lock and the stream, and tells the others; when it goes, the browser gives the lock to another tab
  let wish = null;
  let leave = null;
  const lead = () => {
    const mine = new AbortController();
    wish = mine;
    // the lock may come when the tab has just been hidden
    const leading = () => wish !== mine ? null : new Promise((end) => {
      leave = end;
      open();
      // who heard less than this tab catches up; what nobody heard yet, the stream tells
      tell({ event: number() });
    });
    navigator.locks.request("symphony-stream", { signal: mine.signal }, leading).catch(() => {});
  };
  channel?.addEventListener("message", ({ data }) => {
    if (data.online !== undefined) online(data.online);
    // this tab was made before the leader's last message, and came too late to hear it
    if (data.hello !== undefined && source && data.hello < number()) tell({ event: number() });
    // after a restore of the database, numbers may be lower
    if (data.event > number() || (data.live && data.event !== number())) {
      cursor = `${data.event}-0`;
      changed();
    }
  });

  return {
    number,
    resume: () => {
      if (wish || source) return;
      if (!shares) { open(); return; }
      lead();
      tell({ hello: number() });
    },
    pause: () => {
      wish?.abort();
      leave?.();
      wish = leave = null;
      close();
    },
  };
};
