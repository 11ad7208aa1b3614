// Unwedge: live updates. The server says what changed; the page is fetched
// again and what differs is put in place, so that focus, selection, open
// details and what is being typed stay as they are.
(() => {
  "use strict";
  const root = document.documentElement;
  const kinds = (document.getElementById("main")?.dataset.live ?? "").split(" ").filter(Boolean);
  if (kinds.length === 0 || !window.EventSource) return;
  const regions = ["sheet", "readings", "rail"];
  const pause = 1000; // at most one refresh a second, however fast events come

  // What the reader did to an element is the reader's: it is never taken over.
  const theirs = { DETAILS: ["open"], INPUT: ["checked", "value"], DIALOG: ["open"] };

  const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE ? node.dataset?.key ?? (node.id || null) : null;
  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

  const morph = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    const keep = theirs[old.nodeName] ?? [];
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !keep.includes(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (!keep.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    if (old.dataset.hold !== undefined) hold(old, fresh); else children(old, fresh);
  };

  const children = (old, fresh) => {
    const keyed = new Map([...old.childNodes].filter(keyOf).map((n) => [keyOf(n), n]));
    let at = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      const mine = keyOf(next) ? keyed.get(keyOf(next)) : at && !keyOf(at) && alike(at, next) ? at : null;
      if (mine && alike(mine, next)) {
        if (mine === at) at = at.nextSibling; else old.insertBefore(mine, at);
        morph(mine, next);
      } else old.insertBefore(document.importNode(next, true), at);
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  };

  // hold updates the rows of a list that somebody works through. New rows are
  // told of and not pushed in; rows that are no longer in the list stay where
  // they are, marked, unless new ones only pushed them off its end.
  const hold = (old, fresh) => {
    const rows = [...old.children], news = new Map([...fresh.children].map((r) => [keyOf(r), r]));
    const arrived = [...news.keys()].filter((k) => !rows.some((r) => keyOf(r) === k)).length;
    let pushed = 0;
    for (const row of rows.reverse()) {
      const next = news.get(keyOf(row));
      if (next) { morph(row, next); pushed = arrived; continue; }
      if (pushed++ < arrived) continue;
      row.dataset.gone = "";
      for (const box of row.querySelectorAll("input[type=checkbox]")) { box.checked = false; box.disabled = true; }
    }
    const note = old.closest("form, section")?.querySelector("[data-arrived]");
    if (note && arrived > 0) {
      note.hidden = false;
      note.firstElementChild.textContent = `${arrived} new ${old.dataset.hold}${arrived === 1 ? "" : "s"} came: show`;
    }
  };

  const say = (text) => {
    const place = document.getElementById("stream");
    if (place && place.textContent !== text) place.textContent = text;
  };

  let asked = false, busy = false, last = 0;
  const refresh = async () => {
    if (busy || document.hidden) { asked = true; return; }
    asked = false;
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      root.dataset.now = page.documentElement.dataset.now;
      document.title = page.title;
      for (const id of regions) {
        const old = document.getElementById(id), fresh = page.getElementById(id);
        if (old && fresh) morph(old, fresh);
      }
      document.dispatchEvent(new Event("unwedge:fresh"));
      say("");
    } catch (e) {
      say(`Not up to date: this page could not be read again (${e.message}).`);
    }
    busy = false;
    last = performance.now();
    if (asked) later();
  };
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, Math.max(50, pause - (performance.now() - last)));
  };

  // A stream that comes back has missed what happened meanwhile: everything is
  // read afresh.
  let lost = false;
  const listen = () => {
    const stream = new EventSource(`${root.dataset.base ?? ""}/api/v1/events`);
    for (const kind of kinds) stream.addEventListener(kind, later);
    stream.addEventListener("open", () => { if (lost) { lost = false; later(); } });
    stream.addEventListener("error", () => {
      lost = true;
      say("Not live: the connection to Unwedge is lost. What you see is as old as the page.");
      if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden && asked) later(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-reload]")) { event.preventDefault(); location.reload(); }
  });
  listen();
})();
