// Live updates and shortcuts. Every page works without it.
"use strict";
(() => {
  const main = document.getElementById("main");
  if (!main || main.dataset.event === undefined) return;
  const log = document.getElementById("log");
  const live = log && log.dataset.live !== undefined ? log : null;
  const formToken = () => document.querySelector("input[name=form_token]")?.value ?? "";

  // ---- news of the project, and the lines of the log that is shown
  const stream = symphonyStream({
    event: main.dataset.event,
    run: live?.dataset.run,
    offset: live ? live.dataset.next : 0,
    changed: () => refreshSoon(),
    lines: (html) => addLines(html),
    online: (is) => document.body.classList.toggle("offline", !is),
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stream.pause(); return; }
    stream.resume();
    if (isStale) refreshSoon();
  });
  addEventListener("pagehide", stream.pause);
  addEventListener("pageshow", (event) => { if (event.persisted) stream.resume(); });

  let isAway = false;
  const load = async (url, after = "news") => {
    isAway = false;
    const headers = { accept: "text/html" };
    // the sentence about an order is for the page that the order leads to
    if (after !== "order") headers["x-symphony-refresh"] = "1";
    try {
      const answer = await fetch(url, { headers });
      isAway = answer.status >= 500;
      if (!answer.ok) return null;
      return new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch { isAway = true; return null; }
  };

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
    const addOlder = async (older) => {
      const page = await load(older.href);
      if (!page) return false;
      const height = log.scrollHeight;
      log.prepend(...page.querySelector("#log").childNodes);
      log.scrollTop += log.scrollHeight - height;
      const further = page.querySelector("a[data-older]");
      if (further) older.href = further.href; else older.parentElement.remove();
      return true;
    };
    document.addEventListener("click", async (event) => {
      const older = event.target.closest("a[data-older]");
      if (!older) return;
      event.preventDefault();
      if (!await addOlder(older)) location.href = older.href;
    });
    // a link to a line opens earlier parts until the line is there, or goes to where it is if that is too far
    const partsMax = 8;
    const aim = async () => {
      const place = /^#L(\d+)$/.exec(location.hash);
      if (!place) return;
      for (const before of log.querySelectorAll(".aim")) before.classList.remove("aim");
      const first = () => log.querySelector("[id^=L]")?.id.slice(1);
      for (let parts = 0; parts < partsMax && Number(place[1]) < Number(first()); parts++) {
        const older = document.querySelector("a[data-older]");
        if (!older || !await addOlder(older)) break;
      }
      const line = document.getElementById(`L${place[1]}`);
      if (!line) {
        if (Number(place[1]) < Number(first())) location.href = `/runs/${log.dataset.run}/lines?at=${place[1]}${place[0]}`;
        return;
      }
      if (follow) follow.checked = false;
      line.classList.add("aim");
      line.querySelector("details")?.setAttribute("open", "");
      line.scrollIntoView({ block: "center" });
    };
    addEventListener("hashchange", aim);
    aim();
  }

  // ---- the page itself is reloaded when something has happened, at most once a second, and never under somebody's hands
  const busy = () => {
    const at = document.activeElement;
    if (at && at.closest("form") && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && at.type !== "search") return true;
    return [...main.querySelectorAll("textarea, input[type=text], input:not([type])")]
      .some((field) => field.value !== field.defaultValue);
  };
  let waiting = null;
  let isStale = false;
  const refreshSoon = () => { waiting ??= setTimeout(refresh, 400); };
  const later = (ms) => { waiting = setTimeout(refresh, ms); };
  let after = "news";
  const refresh = async () => {
    isStale = document.hidden;
    if (isStale) { waiting = null; return; }
    if (busy()) { later(1500); return; }
    const page = await load(location.href, after);
    if (page && after === "news" && busy()) { later(1500); return; }
    // the server is away: what has happened is still to be shown
    if (!page && isAway) { later(3000); return; }
    if (page) { replace(page); after = "news"; }
    waiting = null;
    // what happened while the page was loaded may not be on it
    const shown = page?.getElementById("main")?.dataset.event;
    if (shown !== undefined && Number(shown) < stream.number()) refreshSoon();
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
  if (!document.hidden) stream.resume();

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
    if (answer.type === "opaqueredirect" || answer.ok) { after = "order"; refresh(); return; }
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
