// Live updates and shortcuts. Every page works without it.
"use strict";
(() => {
  const main = document.getElementById("main");
  if (!main || main.dataset.event === undefined) return;
  const log = document.getElementById("log");
  const live = log && log.dataset.live !== undefined ? log : null;
  const formToken = () => document.querySelector("input[name=form_token]")?.value ?? "";

  // ---- one stream: news of the project, and the lines of the log that is shown
  let cursor = `${main.dataset.event}-${live ? live.dataset.next : 0}`;
  let source = null;
  const open = () => {
    const run = live ? `&run=${encodeURIComponent(live.dataset.run)}` : "";
    source = new EventSource(`/events?from=${cursor}${run}`);
    source.addEventListener("lines", (message) => {
      cursor = message.lastEventId;
      addLines(JSON.parse(message.data));
    });
    source.addEventListener("changed", (message) => {
      cursor = message.lastEventId;
      refreshSoon();
    });
    source.onopen = () => document.body.classList.remove("offline");
    source.onerror = () => {
      document.body.classList.add("offline");
      // the browser comes back by itself unless the answer was an error
      if (source?.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(() => { if (!source && !document.hidden) open(); }, 2000);
      }
    };
  };
  const close = () => { source?.close(); source = null; };
  // browsers have six connections for a server, so that a tab that is not seen must not hold one; it catches up by its cursor
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close(); else if (!source) open();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted && !source) open(); });

  // ---- the log
  const follow = document.querySelector("input[data-follow]");
  const addLines = (html) => {
    const part = new DOMParser().parseFromString(html, "text/html").body;
    live.querySelector(":scope > .none")?.remove();
    live.append(...part.childNodes);
    if (follow?.checked) live.scrollTop = live.scrollHeight;
  };
  if (log) {
    for (const tool of document.querySelectorAll(".js[hidden]")) tool.hidden = false;
    if (live) {
      live.scrollTop = live.scrollHeight;
      live.addEventListener("scroll", () => {
        if (follow) follow.checked = live.scrollHeight - live.scrollTop - live.clientHeight < 40;
      }, { passive: true });
    }
    document.querySelector("[data-next-error]")?.addEventListener("click", () => {
      const errors = [...log.querySelectorAll(".bad")];
      const top = log.getBoundingClientRect().top;
      const next = errors.find((error) => error.getBoundingClientRect().top > top + 8) ?? errors[0];
      if (!next) return;
      if (follow) follow.checked = false;
      next.closest("details")?.setAttribute("open", "");
      next.scrollIntoView({ block: "start" });
    });
    document.addEventListener("click", async (event) => {
      const older = event.target.closest("a[data-older]");
      if (!older) return;
      event.preventDefault();
      const page = await load(older.href);
      if (!page) { location.href = older.href; return; }
      const height = log.scrollHeight;
      log.prepend(...page.querySelector("#log").childNodes);
      log.scrollTop += log.scrollHeight - height;
      const further = page.querySelector("a[data-older]");
      if (further) older.href = further.href; else older.parentElement.remove();
    });
  }

  // ---- the page itself is reloaded when something has happened, at most once a second, and never under somebody's hands
  const load = async (url) => {
    try {
      const answer = await fetch(url, { headers: { accept: "text/html" } });
      if (!answer.ok) return null;
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch { return null; }
  };
  const busy = () => {
    const at = document.activeElement;
    if (at && at.closest("form") && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && at.type !== "search") return true;
    return [...main.querySelectorAll("textarea, input[type=text], input:not([type])")]
      .some((field) => field.value !== field.defaultValue);
  };
  let waiting = null;
  const refreshSoon = () => { waiting ??= setTimeout(refresh, 400); };
  const refresh = async () => {
    if (document.hidden || busy()) { waiting = setTimeout(refresh, 1500); return; }
    const page = await load(location.href);
    if (page && busy()) { waiting = setTimeout(refresh, 1500); return; }
    if (page) replace(page);
    waiting = null;
    // what happened while the page was loaded may not be on it
    const shown = page?.getElementById("main")?.dataset.event;
    if (shown !== undefined && Number(shown) < Number(cursor.split("-")[0])) refreshSoon();
  };
  const replace = (page) => {
    const fresh = page.getElementById("main");
    if (!fresh || fresh.dataset.event === undefined) { location.reload(); return; }
    const focused = document.activeElement?.closest("[data-key]")?.dataset.key;
    const opened = new Set([...main.querySelectorAll("details[id][open]")].map((one) => one.id));
    const header = page.querySelector("body > header");
    if (header) document.querySelector("body > header").replaceWith(header);
    const freshLog = fresh.querySelector("#log");
    const wasLive = live && freshLog && freshLog.dataset.live === undefined;
    // the log goes on growing where it is: only what is around it is replaced
    if (log && freshLog) freshLog.replaceWith(log);
    // what was said about an order stays until somebody goes on
    const said = main.querySelector(".notice[role=status]");
    if (said && !fresh.querySelector(".notice[role=status]")) fresh.prepend(said);
    document.title = page.title;
    const scroll = log ? log.scrollTop : 0;
    main.replaceChildren(...fresh.childNodes);
    if (log) log.scrollTop = scroll;
    for (const tool of main.querySelectorAll(".js[hidden]")) tool.hidden = false;
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    if (focused) main.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (wasLive) delete log.dataset.live;
  };
  if (!document.hidden) open();

  // ---- cards are moved by dragging them to another column, as the menu on the issue's page does
  let dragged = null;
  for (const type of ["dragstart", "dragover", "drop"]) {
    main.addEventListener(type, (event) => {
      const card = event.target.closest?.(".card");
      const column = event.target.closest?.(".col");
      if (type === "dragstart" && card) dragged = card.dataset.key;
      if (type === "dragover" && dragged && column) event.preventDefault();
      if (type === "drop" && dragged && column) {
        event.preventDefault();
        move(dragged, column.dataset.status);
        dragged = null;
      }
    });
  }
  const move = async (issue, status) => {
    const body = new URLSearchParams({ status, form_token: formToken() });
    const answer = await fetch(`/issues/${issue}/move`, { method: "POST", body, redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.ok) { refresh(); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    say(page.querySelector(".notice")?.textContent ?? "It could not be moved.");
  };
  const say = (text) => {
    const notice = document.createElement("p");
    notice.className = "notice bad";
    notice.setAttribute("role", "alert");
    notice.textContent = text;
    main.prepend(notice);
  };

  // ---- keyboard: j and k go through what a page lists, g and a letter to another page, / to the search
  let went = false;
  const rooms = { b: "/", i: "/inbox", r: "/runs", p: "/prs", l: "/plans", s: "/spending", h: "/health" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (went) {
      went = false;
      if (rooms[event.key]) { event.preventDefault(); location.href = rooms[event.key]; }
      return;
    }
    const items = [...main.querySelectorAll(".card, .item, tr[data-key]")];
    const at = items.indexOf(document.activeElement);
    const go = (item) => { item?.setAttribute("tabindex", "-1"); item?.focus(); item?.scrollIntoView({ block: "nearest" }); };
    switch (event.key) {
      case "j": go(items[Math.min(at + 1, items.length - 1)]); break;
      case "k": go(items[Math.max(at - 1, 0)]); break;
      case "Enter": if (at >= 0) items[at].querySelector("a")?.click(); return;
      case "/": main.querySelector("input[type=search]")?.focus(); event.preventDefault(); break;
      case "g": went = true; break;
      case "?": document.getElementById("keys")?.showModal?.(); break;
      default: return;
    }
  });
})();
